//! Feed-forward networks on a flat vector of parameters, with hand-written back-propagation.
//!
//! Samples are columns. A layer maps a ↦ φ(Sᵀa + b), or φ(S a + b) where it shares the matrix S of an encoder
//! layer (tied weights). The last hidden layer feeds one head for a single quantile, or several for a joint
//! model: ŵ_1 = φ(z_1), ŵ_t = ŵ_{t−1} − softplus(z_t), which cannot cross.

use std::ops::Range;

use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;

use super::activation::{Activation, through_activation};
use super::loss::Loss;
use crate::dense::multiply;
use crate::parameter::choices;
use crate::vectorized::vectorized;

/// Values handed to a thread at once.
const CHUNK: usize = 8192;

vectorized! {
    /// The summed loss of reconstructions, and its gradient by them, times `rate`.
    fn loss_of_part<'a>(
        loss: Loss,
        tau: f64,
        rate: f64,
        target: &'a [f64],
        output: &'a [f64],
        gradient: &'a mut [f64],
    ) -> f64 {
        // A single sum would have every addition wait for the one before.
        let mut sums = [0.0; 16];
        for ((g, w), predicted) in gradient.chunks_mut(16).zip(target.chunks(16)).zip(output.chunks(16)) {
            for (((g, w), predicted), sum) in g.iter_mut().zip(w).zip(predicted).zip(&mut sums) {
                let residual = w - predicted;
                *sum += loss.value(tau, residual);
                *g = -loss.derivative(tau, residual) * rate;
            }
        }
        sums.iter().sum()
    }
}

choices! {
    /// Whether the decoder has weights of its own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DecoderWeights = "tied" {
        /// The transposed weights of the encoder, as in the paper.
        "tied" => Tied,
        /// Its own.
        "free" => Free,
    }
}

choices! {
    /// Whether layers have biases.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Biases = "yes" {
        /// One for each unit.
        "yes" => Yes,
        /// None, as the paper's formulas are printed.
        "no" => No,
    }
}

#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub n_in: usize,
    pub n_out: usize,
    /// Place of S in the parameters, column-major.
    pub weights: Range<usize>,
    /// Whether S is n_out × n_in (shared with an encoder layer) and not n_in × n_out.
    tied: bool,
    pub bias: Option<Range<usize>>,
    pub activation: Activation,
}

impl Layer {
    fn matrix<'a>(&self, parameters: &'a [f64]) -> MatRef<'a, f64> {
        let stored = &parameters[self.weights.clone()];
        // As the map from inputs to outputs: n_out × n_in.
        if self.tied {
            MatRef::from_column_major_slice(stored, self.n_out, self.n_in)
        } else {
            MatRef::from_column_major_slice(stored, self.n_in, self.n_out).transpose()
        }
    }

    pub fn forward(&self, parameters: &[f64], input: &[f64], output: &mut Vec<f64>) {
        let samples = input.len() / self.n_in;
        output.resize(self.n_out * samples, 0.0);
        let accum = match &self.bias {
            None => Accum::Replace,
            Some(bias) => {
                output
                    .chunks_exact_mut(self.n_out)
                    .for_each(|z| z.copy_from_slice(&parameters[bias.clone()]));
                Accum::Add
            }
        };
        let input = MatRef::from_column_major_slice(input, self.n_in, samples);
        let out = MatMut::from_column_major_slice_mut(output, self.n_out, samples);
        multiply(out, accum, self.matrix(parameters), input, 1.0);
        self.activation.apply(output);
    }

    /// Turns the gradient by the output into that by z, adds the parameters' share, and gives that by the input.
    pub fn backward(
        &self,
        parameters: &[f64],
        input: &[f64],
        output: &[f64],
        delta: &mut [f64],
        gradient: &mut [f64],
        input_delta: Option<(&mut Vec<f64>, Accum)>,
    ) {
        let samples = input.len() / self.n_in;
        if self.activation != Activation::Identity {
            delta
                .par_chunks_mut(CHUNK)
                .zip(output.par_chunks(CHUNK))
                .for_each(|(delta, output)| through_activation(self.activation, delta, output));
        }
        if let Some(bias) = &self.bias {
            let sums = &mut gradient[bias.clone()];
            for column in delta.chunks_exact(self.n_out) {
                sums.iter_mut().zip(column).for_each(|(sum, d)| *sum += d);
            }
        }
        let delta = MatRef::from_column_major_slice(delta, self.n_out, samples);
        let input_matrix = MatRef::from_column_major_slice(input, self.n_in, samples);
        let stored = &mut gradient[self.weights.clone()];
        if self.tied {
            let out = MatMut::from_column_major_slice_mut(stored, self.n_out, self.n_in);
            multiply(out, Accum::Add, delta, input_matrix.transpose(), 1.0);
        } else {
            let out = MatMut::from_column_major_slice_mut(stored, self.n_in, self.n_out);
            multiply(out, Accum::Add, input_matrix, delta.transpose(), 1.0);
        }
        if let Some((input_delta, accum)) = input_delta {
            input_delta.resize(self.n_in * samples, 0.0);
            let out = MatMut::from_column_major_slice_mut(input_delta, self.n_in, samples);
            multiply(out, accum, self.matrix(parameters).transpose(), delta, 1.0);
        }
    }
}

/// The shape of an auto-encoder.
#[derive(Debug, Clone)]
pub(super) struct Architecture<'a> {
    pub n_inputs: usize,
    /// Units of the encoder's layers; the last one is the code.
    pub hidden: &'a [usize],
    pub activation: Activation,
    pub decoder: DecoderWeights,
    pub biases: Biases,
    pub n_heads: usize,
}

/// An auto-encoder without its parameters.
#[derive(Debug, Clone)]
pub(super) struct Network {
    pub layers: Vec<Layer>,
    pub heads: Vec<Layer>,
    /// Which of the layers is the code.
    pub code_layer: usize,
    n_parameters: usize,
}

/// What the loss is made of.
#[derive(Debug, Clone)]
pub(super) struct Objective<'a> {
    pub loss: Loss,
    /// One τ for each head.
    pub taus: &'a [f64],
    /// ½·λ·|weights|², biases excluded.
    pub weight_decay: f64,
    /// λ·Σ|code| for each sample.
    pub code_sparsity: f64,
}

/// Buffers that one training reuses.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub activations: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
    deltas: Vec<Vec<f64>>,
    pub delta: Vec<f64>,
    pub next_delta: Vec<f64>,
}

impl Network {
    pub fn new(architecture: &Architecture<'_>) -> Self {
        let Architecture { n_inputs, hidden, activation, decoder, biases, n_heads } = *architecture;
        let mut n_parameters = 0;
        let mut reserve = |count: usize| {
            n_parameters += count;
            n_parameters - count..n_parameters
        };
        let mut new_layer = |n_in: usize, n_out: usize, shared: Option<Range<usize>>, activation| Layer {
            n_in,
            n_out,
            tied: shared.is_some(),
            weights: shared.unwrap_or_else(|| reserve(n_in * n_out)),
            bias: (biases == Biases::Yes).then(|| reserve(n_out)),
            activation,
        };
        let sizes: Vec<usize> = std::iter::once(n_inputs).chain(hidden.iter().copied()).collect();
        let mut layers: Vec<Layer> =
            sizes.windows(2).map(|pair| new_layer(pair[0], pair[1], None, activation)).collect();
        let code_layer = layers.len() - 1;
        let mut heads = Vec::new();
        for level in (0..=code_layer).rev() {
            let shared = (decoder == DecoderWeights::Tied).then(|| layers[level].weights.clone());
            let layer = new_layer(sizes[level + 1], sizes[level], shared, activation);
            if level > 0 { layers.push(layer) } else { heads.push(layer) }
        }
        for _ in 1..n_heads {
            heads.push(new_layer(sizes[1], n_inputs, None, Activation::Softplus));
        }
        Self { layers, heads, code_layer, n_parameters }
    }

    pub fn n_parameters(&self) -> usize {
        self.n_parameters
    }

    /// Places of all weight matrices with their fan-in and fan-out, each once.
    pub fn weight_matrices(&self) -> Vec<(Range<usize>, usize, usize)> {
        let all = self.layers.iter().chain(&self.heads);
        all.filter(|layer| !layer.tied)
            .map(|layer| (layer.weights.clone(), layer.n_in, layer.n_out))
            .collect()
    }

    /// Places of the biases of the heads, first to last.
    pub fn head_biases(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.heads.iter().filter_map(|head| head.bias.clone())
    }

    /// The outputs of all heads for the samples in the columns of `input`.
    pub fn forward<'s>(&self, parameters: &[f64], input: &[f64], scratch: &'s mut Scratch) -> &'s [Vec<f64>] {
        scratch.activations.resize_with(self.layers.len(), Vec::new);
        scratch.outputs.resize_with(self.heads.len(), Vec::new);
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, rest) = scratch.activations.split_at_mut(index);
            layer.forward(parameters, before.last().map_or(input, Vec::as_slice), &mut rest[0]);
        }
        let last = scratch.activations.last().expect("at least one hidden layer");
        for (t, head) in self.heads.iter().enumerate() {
            let (before, rest) = scratch.outputs.split_at_mut(t);
            head.forward(parameters, last, &mut rest[0]);
            if let Some(previous) = before.last() {
                rest[0]
                    .iter_mut()
                    .zip(previous)
                    .for_each(|(decrement, above)| *decrement = above - *decrement);
            }
        }
        &scratch.outputs
    }

    /// Mean loss over the samples, whose outputs shall be `target`, plus penalties; its gradient is written to `gradient`.
    pub fn loss_and_gradient(
        &self,
        parameters: &[f64],
        input: &[f64],
        target: &[f64],
        objective: &Objective<'_>,
        gradient: &mut [f64],
        scratch: &mut Scratch,
    ) -> f64 {
        debug_assert_eq!(objective.taus.len(), self.heads.len());
        let n_inputs = self.layers[0].n_in;
        let samples = input.len() / n_inputs;
        self.forward(parameters, input, scratch);
        gradient.fill(0.0);
        let Scratch { activations, outputs, deltas, delta, next_delta } = scratch;
        let mut total = head_deltas(objective, target, outputs, deltas, samples);

        // Gradient by the last hidden layer: the sum over the heads.
        let last = activations.last().expect("at least one hidden layer");
        for (t, head) in self.heads.iter().enumerate().rev() {
            if t > 0 {
                // The head's softplus was subtracted from the output above: recover it, and turn the sign.
                let (above, own) = outputs.split_at_mut(t);
                own[0]
                    .iter_mut()
                    .zip(&above[t - 1])
                    .for_each(|(value, above)| *value = (above - *value).max(0.0));
                deltas[t].iter_mut().for_each(|d| *d = -*d);
            }
            let accum = if t + 1 == self.heads.len() { Accum::Replace } else { Accum::Add };
            head.backward(parameters, last, &outputs[t], &mut deltas[t], gradient, Some((delta, accum)));
        }
        for index in (0..self.layers.len()).rev() {
            let layer = &self.layers[index];
            let input = if index == 0 { input } else { &activations[index - 1] };
            if index == self.code_layer && objective.code_sparsity > 0.0 {
                let rate = objective.code_sparsity / samples as f64;
                total += rate * activations[index].iter().map(|a| a.abs()).sum::<f64>();
                for (d, a) in delta.iter_mut().zip(&activations[index]) {
                    *d += rate * if *a == 0.0 { 0.0 } else { a.signum() };
                }
            }
            let below = (index > 0).then_some((&mut *next_delta, Accum::Replace));
            layer.backward(parameters, input, &activations[index], delta, gradient, below);
            std::mem::swap(delta, next_delta);
        }
        if objective.weight_decay > 0.0 {
            for (place, _, _) in self.weight_matrices() {
                for (g, w) in gradient[place.clone()].iter_mut().zip(&parameters[place]) {
                    *g += objective.weight_decay * w;
                    total += 0.5 * objective.weight_decay * w * w;
                }
            }
        }
        total
    }
}

/// The loss, and its gradient by the output of each head before decrements are undone: since every later head
/// hangs below the earlier ones, head t collects the gradients of all heads from t on.
fn head_deltas(
    objective: &Objective<'_>,
    target: &[f64],
    outputs: &[Vec<f64>],
    deltas: &mut Vec<Vec<f64>>,
    samples: usize,
) -> f64 {
    deltas.resize_with(outputs.len(), Vec::new);
    let mut total = 0.0;
    let rate = 1.0 / samples as f64;
    for t in (0..outputs.len()).rev() {
        let tau = objective.taus[t];
        let (own, later) = deltas.split_at_mut(t + 1);
        let own = &mut own[t];
        own.resize(target.len(), 0.0);
        let below = later.first().map(Vec::as_slice);
        let partial: Vec<f64> = own
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, own)| {
                let begin = chunk * CHUNK;
                let end = begin + own.len();
                let sum = loss_of_part(
                    objective.loss,
                    tau,
                    rate,
                    &target[begin..end],
                    &outputs[t][begin..end],
                    own,
                );
                if let Some(below) = below {
                    own.iter_mut().zip(&below[begin..end]).for_each(|(d, b)| *d += b);
                }
                sum
            })
            .collect();
        total += partial.iter().sum::<f64>() / samples as f64;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stage, Stream};

    /// Every layer, loss, penalty and kind of weights, against central differences.
    #[test]
    fn gradients_match_finite_differences() {
        let n = 7;
        let samples = 5;
        let mut case = 0;
        for activation in [
            Activation::Sigmoid,
            Activation::Tanh,
            Activation::Relu,
            Activation::Identity,
            Activation::Softplus,
        ] {
            for decoder in [DecoderWeights::Tied, DecoderWeights::Free] {
                for biases in [Biases::Yes, Biases::No] {
                    for hidden in [&[3][..], &[5, 3], &[5, 4, 3]] {
                        for n_heads in [1, 3] {
                            for loss in [Loss::Huber { kappa: 0.7 }, Loss::Check] {
                                case += 1;
                                let network = Network::new(&Architecture {
                                    n_inputs: n,
                                    hidden,
                                    activation,
                                    decoder,
                                    biases,
                                    n_heads,
                                });
                                let mut draws = Stream::new(case, Stage::Weights).at(0, 0);
                                let mut parameters: Vec<f64> =
                                    (0..network.n_parameters()).map(|_| 0.6 * draws.normal()).collect();
                                let mut values = || (0..n * samples).map(|_| draws.uniform()).collect();
                                let (input, other): (Vec<f64>, Vec<f64>) = (values(), values());
                                let taus = &[0.2, 0.5, 0.9][..n_heads];
                                let objective =
                                    Objective { loss, taus, weight_decay: 0.01, code_sparsity: 0.02 };
                                check(&network, &mut parameters, (&input, &input), &objective);
                                check(&network, &mut parameters, (&input, &other), &objective);
                            }
                        }
                    }
                }
            }
        }
    }

    fn check(
        network: &Network,
        parameters: &mut [f64],
        (input, target): (&[f64], &[f64]),
        objective: &Objective<'_>,
    ) {
        let mut scratch = Scratch::default();
        let (mut gradient, mut unused) = (vec![0.0; parameters.len()], vec![0.0; parameters.len()]);
        network.loss_and_gradient(parameters, input, target, objective, &mut gradient, &mut scratch);
        let scale = gradient.iter().fold(1e-3f64, |m, g| m.max(g.abs()));
        let mut wrong = 0;
        for index in 0..parameters.len() {
            let kept = parameters[index];
            let h = 1e-6;
            let mut loss_at = |value: f64| {
                parameters[index] = value;
                network.loss_and_gradient(parameters, input, target, objective, &mut unused, &mut scratch)
            };
            let slope = (loss_at(kept + h) - loss_at(kept - h)) / (2.0 * h);
            parameters[index] = kept;
            wrong += usize::from((slope - gradient[index]).abs() > 1e-5 * scale);
        }
        // A kink (check loss, relu, |code|) within h of an evaluated point spoils a single difference.
        assert!(wrong * 50 <= parameters.len(), "{wrong} of {}: {network:?}", parameters.len());
    }

    #[test]
    fn joint_heads_never_cross() {
        let network = Network::new(&Architecture {
            n_inputs: 6,
            hidden: &[3],
            activation: Activation::Sigmoid,
            decoder: DecoderWeights::Tied,
            biases: Biases::Yes,
            n_heads: 4,
        });
        let mut draws = Stream::new(9, Stage::Weights).at(0, 0);
        let parameters: Vec<f64> = (0..network.n_parameters()).map(|_| draws.normal()).collect();
        let input: Vec<f64> = (0..6 * 8).map(|_| draws.uniform()).collect();
        let mut scratch = Scratch::default();
        let outputs = network.forward(&parameters, &input, &mut scratch);
        for pair in outputs.windows(2) {
            assert!(pair[0].iter().zip(&pair[1]).all(|(above, below)| above > below));
        }
    }
}
