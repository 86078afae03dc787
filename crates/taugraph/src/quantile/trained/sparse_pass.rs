//! The passes through a network where only some pairs of each row of W count: time and memory linear in the pairs.
//!
//! The first layer and the heads are as wide as W. Of them a row needs only what belongs to its pairs, so here each node's share of
//! their weights lies together: the first layer's matrix stands node by node and not unit by unit as in the dense passes (the heads
//! of their own have that order anyway). All layers between are the dense ones.

use faer::Accum;
use rayon::prelude::*;

use super::activation::{Activation, through_activation};
use super::network::{Network, Objective, Scratch};
use super::pairs::RowPairs;
use crate::dense::{add_scaled, dot};
use crate::vectorized::vectorized;

/// Most chunks that the nodes are cut into when gradients are gathered, and fewest nodes of a chunk: with more, finding
/// the pairs of a chunk in every row would take longer than adding them.
const MAX_CHUNKS: usize = 32;
const MIN_NODES: usize = 64;

vectorized! {
    /// `out[p] ← out[p] + matrix[nodes[p]]·vector`, a row of the matrix for each node.
    fn add_products<'a>(out: &'a mut [f64], matrix: &'a [f64], nodes: &'a [u32], vector: &'a [f64]) -> () {
        const LANES: usize = 8;
        let width = vector.len();
        for (out, &node) in out.iter_mut().zip(nodes) {
            let row = &matrix[node as usize * width..][..width];
            let (chunks, others) = (row.chunks_exact(LANES), vector.chunks_exact(LANES));
            let rest: f64 = chunks.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
            let mut sums = [0.0; LANES];
            for (a, b) in chunks.zip(others) {
                for lane in 0..LANES {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            *out += sums.iter().sum::<f64>() + rest;
        }
    }
}

vectorized! {
    /// `out ← out + Σ factors[p]·matrix[nodes[p]]`.
    fn add_rows<'a>(out: &'a mut [f64], matrix: &'a [f64], nodes: &'a [u32], factors: &'a [f64]) -> () {
        let width = out.len();
        for (&node, &factor) in nodes.iter().zip(factors) {
            // Non-edges have no input.
            if factor != 0.0 {
                let row = &matrix[node as usize * width..][..width];
                out.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
            }
        }
    }
}

vectorized! {
    /// `part[nodes[p] − begin] ← … + factors[p]·vector`: the transpose of [`add_rows`] for the nodes from `begin` on.
    fn add_to_rows<'a>(
        part: &'a mut [f64],
        begin: usize,
        nodes: &'a [u32],
        factors: &'a [f64],
        vector: &'a [f64],
    ) -> () {
        let width = vector.len();
        for (&node, &factor) in nodes.iter().zip(factors) {
            if factor != 0.0 {
                let row = &mut part[(node as usize - begin) * width..][..width];
                row.iter_mut().zip(vector).for_each(|(sum, value)| *sum += factor * value);
            }
        }
    }
}

/// The pairs of some rows, found by chunks of the nodes.
struct Chunks<'a> {
    rows: &'a [RowPairs],
    /// Nodes of a chunk.
    n_nodes: usize,
    /// Where each chunk begins in each row, row by row.
    begins: Vec<usize>,
    n_chunks: usize,
}

impl<'a> Chunks<'a> {
    fn new(rows: &'a [RowPairs], n_all_nodes: usize) -> Self {
        let n_nodes = n_all_nodes.div_ceil(MAX_CHUNKS).max(MIN_NODES);
        let n_chunks = n_all_nodes.div_ceil(n_nodes);
        let mut begins = vec![0; rows.len() * n_chunks];
        begins.par_chunks_exact_mut(n_chunks).zip(rows).for_each(|(begins, row)| {
            for (chunk, begin) in begins.iter_mut().enumerate() {
                *begin = row.nodes.partition_point(|&node| (node as usize) < chunk * n_nodes);
            }
        });
        Self { rows, n_nodes, begins, n_chunks }
    }

    /// Adds to the gradient of a matrix with a row for each node the outer products of the samples' factors, one for each
    /// pair, and their vectors.
    ///
    /// Every chunk of the nodes is gathered by one thread, the samples in their order: the sums do not depend on the threads.
    fn gather<'f>(&self, gradient: &mut [f64], factors: impl Fn(usize) -> &'f [f64] + Sync, vectors: &[f64]) {
        let width = vectors.len() / self.rows.len();
        gradient.par_chunks_mut(self.n_nodes * width).enumerate().for_each(|(chunk, part)| {
            for ((sample, row), vector) in self.rows.iter().enumerate().zip(vectors.chunks_exact(width)) {
                let of_row = &self.begins[sample * self.n_chunks..(sample + 1) * self.n_chunks];
                let pairs = of_row[chunk]..of_row.get(chunk + 1).copied().unwrap_or(row.nodes.len());
                let factors = &factors(sample)[pairs.clone()];
                add_to_rows(part, chunk * self.n_nodes, &row.nodes[pairs], factors, vector);
            }
        });
    }
}

impl Network {
    /// What the heads see of each row: the activations of the last hidden layer, one row after the other.
    pub fn encode<'s>(&self, parameters: &[f64], rows: &[RowPairs], scratch: &'s mut Scratch) -> &'s [f64] {
        let first = &self.layers[0];
        let width = first.n_out;
        scratch.activations.resize_with(self.layers.len(), Vec::new);
        let output = &mut scratch.activations[0];
        output.resize(width * rows.len(), 0.0);
        let matrix = &parameters[first.weights.clone()];
        output.par_chunks_exact_mut(width).zip(rows).for_each(|(out, row)| {
            match &first.bias {
                Some(bias) => out.copy_from_slice(&parameters[bias.clone()]),
                None => out.fill(0.0),
            }
            add_rows(out, matrix, &row.nodes, &row.similarities);
        });
        first.activation.apply(output);
        for (index, layer) in self.layers.iter().enumerate().skip(1) {
            let (before, rest) = scratch.activations.split_at_mut(index);
            layer.forward(parameters, &before[index - 1], &mut rest[0]);
        }
        &scratch.activations[self.layers.len() - 1]
    }

    /// The outputs that belong to `nodes`, for what [`Network::encode`] gave of a row: all of the first head, then of the second …
    pub fn decode(&self, parameters: &[f64], code: &[f64], nodes: &[u32], outputs: &mut [f64]) {
        let mut above: Option<&[f64]> = None;
        for (head, out) in self.heads.iter().zip(outputs.chunks_exact_mut(nodes.len())) {
            match &head.bias {
                Some(bias) => {
                    let biases = &parameters[bias.clone()];
                    out.iter_mut().zip(nodes).for_each(|(z, &node)| *z = biases[node as usize]);
                }
                None => out.fill(0.0),
            }
            add_products(out, &parameters[head.weights.clone()], nodes, code);
            head.activation.apply(out);
            if let Some(above) = above {
                out.iter_mut().zip(above).for_each(|(decrement, above)| *decrement = above - *decrement);
            }
            above = Some(out);
        }
    }

    /// `rate` times the loss of the rows on their pairs, without weight decay; `rate` times its gradient is added to `gradient`.
    pub fn add_gradient_of_pairs(
        &self,
        parameters: &[f64],
        rows: &[RowPairs],
        objective: &Objective<'_>,
        rate: f64,
        gradient: &mut [f64],
        scratch: &mut Scratch,
    ) -> f64 {
        self.encode(parameters, rows, scratch);
        let first = &self.layers[0];
        let width = first.n_out;
        let Scratch { activations, delta, next_delta, .. } = scratch;
        let codes = &activations[self.layers.len() - 1];
        delta.resize(codes.len(), 0.0);
        let of_rows: Vec<(f64, Vec<f64>)> = delta
            .par_chunks_exact_mut(width)
            .zip(codes.par_chunks_exact(width))
            .zip(rows)
            .map(|((delta, code), row)| self.through_heads(parameters, row, code, objective, rate, delta))
            .collect();
        let chunks = Chunks::new(rows, first.n_in);
        let mut total: f64 = of_rows.iter().map(|(loss, _)| loss).sum();
        for (t, head) in self.heads.iter().enumerate() {
            let of_head = |sample: usize| {
                let n_pairs = rows[sample].nodes.len();
                &of_rows[sample].1[t * n_pairs..][..n_pairs]
            };
            chunks.gather(&mut gradient[head.weights.clone()], of_head, codes);
            if let Some(bias) = &head.bias {
                chunks.gather(&mut gradient[bias.clone()], of_head, &vec![1.0; rows.len()]);
            }
        }
        for (index, layer) in self.layers.iter().enumerate().rev() {
            if index == self.code_layer && objective.code_sparsity > 0.0 {
                let penalty = rate * objective.code_sparsity;
                total += penalty * activations[index].iter().map(|a| a.abs()).sum::<f64>();
                for (d, a) in delta.iter_mut().zip(&activations[index]) {
                    *d += penalty * if *a == 0.0 { 0.0 } else { a.signum() };
                }
            }
            if index > 0 {
                let below = Some((&mut *next_delta, Accum::Replace));
                let (input, output) = (&activations[index - 1], &activations[index]);
                layer.backward(parameters, input, output, delta, gradient, below);
                std::mem::swap(delta, next_delta);
            }
        }
        through_activation(first.activation, delta, &activations[0]);
        if let Some(bias) = &first.bias {
            let sums = &mut gradient[bias.clone()];
            for of_row in delta.chunks_exact(width) {
                sums.iter_mut().zip(of_row).for_each(|(sum, d)| *sum += d);
            }
        }
        let inputs = |sample: usize| rows[sample].similarities.as_slice();
        chunks.gather(&mut gradient[first.weights.clone()], inputs, delta);
        total
    }

    /// The loss of a row, and its gradient by what each head's activation takes, head by head; that by the row's code goes to
    /// `code_delta`.
    fn through_heads(
        &self,
        parameters: &[f64],
        row: &RowPairs,
        code: &[f64],
        objective: &Objective<'_>,
        rate: f64,
        code_delta: &mut [f64],
    ) -> (f64, Vec<f64>) {
        let n_pairs = row.nodes.len();
        let mut values = vec![0.0; self.heads.len() * n_pairs];
        self.decode(parameters, code, &row.nodes, &mut values);
        code_delta.fill(0.0);
        let mut loss = 0.0;
        // A later head hangs below the earlier ones: head t collects the gradients of all heads from t on.
        let mut collected = vec![0.0; n_pairs];
        for (t, head) in self.heads.iter().enumerate().rev() {
            let tau = objective.taus[t];
            let (above, own) = values[..(t + 1) * n_pairs].split_at_mut(t * n_pairs);
            for (p, (value, sum)) in own.iter_mut().zip(&mut collected).enumerate() {
                let residual = row.targets[p] - *value;
                loss += row.weights[p] * objective.loss.value(tau, residual);
                *sum -= row.weights[p] * rate * objective.loss.derivative(tau, residual);
                *value = if t == 0 {
                    *sum * head.activation.derivative_from_value(*value)
                } else {
                    let decrement = (above[(t - 1) * n_pairs + p] - *value).max(0.0);
                    -*sum * Activation::Softplus.derivative_from_value(decrement)
                };
            }
            add_rows(code_delta, &parameters[head.weights.clone()], &row.nodes, own);
        }
        (rate * loss, values)
    }

    /// The penalty on the weights; its gradient is added to `gradient`.
    pub fn add_weight_decay(&self, parameters: &[f64], weight_decay: f64, gradient: &mut [f64]) -> f64 {
        if weight_decay == 0.0 {
            return 0.0;
        }
        let matrices = self.weight_matrices().into_iter().map(|(place, _, _)| {
            let weights = &parameters[place.clone()];
            add_scaled(&mut gradient[place], weight_decay, weights);
            0.5 * weight_decay * dot(weights, weights)
        });
        matrices.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::loss::Loss;
    use super::super::matrix::transposed;
    use super::super::network::{Architecture, Biases, DecoderWeights};
    use super::super::pairs::Candidate;
    use super::*;
    use crate::random::{Draws, Stage, Stream};

    const N: usize = 9;
    const ACTIVATIONS: [Activation; 3] = [Activation::Sigmoid, Activation::Tanh, Activation::Identity];

    fn draws(case: u32) -> Draws {
        Stream::new(3, Stage::Weights).at(case, 0)
    }

    /// Every kind of network, with parameters, and a loss without kinks.
    fn for_each_network(mut visit: impl FnMut(&Network, Vec<f64>, &Objective<'_>, u32)) {
        let mut case = 0;
        for activation in ACTIVATIONS {
            for decoder in [DecoderWeights::Tied, DecoderWeights::Free] {
                for biases in [Biases::Yes, Biases::No] {
                    for hidden in [&[3][..], &[5, 3]] {
                        for n_heads in [1, 3] {
                            case += 1;
                            let shape =
                                Architecture { n_inputs: N, hidden, activation, decoder, biases, n_heads };
                            let network = Network::new(&shape);
                            let mut draws = draws(case);
                            let parameters =
                                (0..network.n_parameters()).map(|_| 0.5 * draws.normal()).collect();
                            let objective = Objective {
                                loss: Loss::Huber { kappa: 0.7 },
                                taus: &[0.2, 0.5, 0.9][..n_heads],
                                weight_decay: 0.01,
                                code_sparsity: 0.02,
                            };
                            visit(&network, parameters, &objective, case);
                        }
                    }
                }
            }
        }
    }

    /// Rows with some candidates, the node itself among them, targets of their own, and samples of the others.
    fn random_rows(case: u32, n_samples: usize) -> Vec<RowPairs> {
        let mut draws = draws(1000 + case);
        (0..N)
            .map(|i| {
                let candidates: Vec<Candidate> = (0..N)
                    .filter_map(|j| {
                        let similarity = match draws.uniform() {
                            _ if i == j => 1.0,
                            u if u < 0.4 => draws.uniform(),
                            _ => return None,
                        };
                        Some(Candidate { node: j as u32, similarity, target: draws.uniform() })
                    })
                    .collect();
                RowPairs::sample(0, N, &candidates, n_samples, &mut draws)
            })
            .collect()
    }

    fn loss_and_gradient(
        network: &Network,
        parameters: &[f64],
        rows: &[RowPairs],
        objective: &Objective<'_>,
    ) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; parameters.len()];
        let mut scratch = Scratch::default();
        let rate = 1.0 / rows.len() as f64;
        let loss =
            network.add_gradient_of_pairs(parameters, rows, objective, rate, &mut gradient, &mut scratch);
        (loss + network.add_weight_decay(parameters, objective.weight_decay, &mut gradient), gradient)
    }

    #[test]
    fn gradients_of_a_sample_match_finite_differences() {
        for_each_network(|network, mut parameters, objective, case| {
            let rows = random_rows(case, 2);
            assert!(rows.iter().any(|row| row.weights.iter().any(|&weight| weight > 1.0)));
            let (_, gradient) = loss_and_gradient(network, &parameters, &rows, objective);
            let scale = gradient.iter().fold(1e-3f64, |m, g| m.max(g.abs()));
            for index in 0..parameters.len() {
                let kept = parameters[index];
                let h = 1e-6;
                let mut loss_at = |value: f64| {
                    parameters[index] = value;
                    loss_and_gradient(network, &parameters, &rows, objective).0
                };
                let slope = (loss_at(kept + h) - loss_at(kept - h)) / (2.0 * h);
                parameters[index] = kept;
                let error = (slope - gradient[index]).abs();
                assert!(error < 1e-5 * scale, "{index}: {slope} and {} in {network:?}", gradient[index]);
            }
        });
    }

    /// The dense passes are the oracle: with every non-edge in the sample, loss and gradient are theirs.
    #[test]
    fn with_every_pair_it_is_the_dense_pass() {
        for_each_network(|network, parameters, objective, case| {
            let rows = random_rows(case, N);
            let input: Vec<f64> = rows.iter().flat_map(|row| row.similarities.clone()).collect();
            let target: Vec<f64> = rows.iter().flat_map(|row| row.targets.clone()).collect();
            assert_eq!(input.len(), N * N);
            let (mut expected, mut scratch) = (vec![0.0; parameters.len()], Scratch::default());
            let gradient = &mut expected;
            let dense =
                network.loss_and_gradient(&parameters, &input, &target, objective, gradient, &mut scratch);
            // The dense passes have the first layer unit by unit.
            let first = network.layers[0].weights.clone();
            let mut by_node = parameters.clone();
            by_node[first.clone()].copy_from_slice(&transposed(&parameters[first.clone()], N));
            let matrix = transposed(&expected[first.clone()], N);
            expected[first].copy_from_slice(&matrix);
            let (sparse, gradient) = loss_and_gradient(network, &by_node, &rows, objective);
            assert!((sparse - dense).abs() < 1e-13 * dense.abs(), "{sparse} and {dense}");
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-13;
            assert!(gradient.iter().zip(&expected).all(close), "{network:?}");

            let dense = network.forward(&parameters, &input, &mut scratch).to_vec();
            let codes = network.encode(&by_node, &rows, &mut scratch).to_vec();
            let mut outputs = vec![0.0; network.heads.len() * N];
            for (sample, code) in codes.chunks_exact(network.layers[0].n_out).enumerate() {
                network.decode(&by_node, code, &rows[sample].nodes, &mut outputs);
                for (dense, sparse) in dense.iter().zip(outputs.chunks_exact(N)) {
                    assert!(dense[sample * N..(sample + 1) * N].iter().zip(sparse).all(close));
                }
            }
        });
    }
}
