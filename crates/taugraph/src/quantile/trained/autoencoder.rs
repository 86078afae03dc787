//! The paper's estimator: for each τ an auto-encoder of the rows of W, trained with a quantile loss.
//!
//! ŵ_i = φ(Ψ φ(Ψᵀ w_i + b) + c) for a row w_i of W, Ψ of P columns (rank), minimizing ρ_τ(w_k − ŵ_i) over all rows
//! (Section "Non-linear Spectral Decomposition using Auto-Encoders"). The target w_k is the row of a point like i
//! ([`targets`](super::targets)); the paper, read literally, has k = i. With the identity as activation this is the
//! paper's linear decomposition L·Rᵀ, with L = Ψ and Rᵀ = Ψᵀ W.
//!
//! The nets of all τ start from one net and see the same mini-batches and targets, so that they differ by τ alone.
//!
//! Non-candidates enter as similarity 0. The rows pass through the net in batches, so memory is linear in edges
//! and parameters. Over whole rows ([`whole_rows`](super::whole_rows)) the time is N²·P for each epoch; over the candidates and
//! sampled non-edges ([`sampled_rows`](super::sampled_rows)) it is linear in the edges, too. The reconstruction of an edge is the
//! mean of Ŵ_ij and Ŵ_ji.

use super::activation::Activation;
use super::loss::Loss;
use super::matrix::AffinityMatrix;
use super::nets::Nets;
use super::network::{Architecture, Biases, DecoderWeights, Network};
use super::optimize::Optimizer;
use super::pairs::TrainingPairs;
use super::sampled_rows::SampledRows;
use super::schedule::Schedule;
use super::targets::Targets;
use super::whole_rows::FULL_BATCH;
use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus, crossing_rate, rearrange};
use crate::affinity::Similarities;
use crate::error::{Error, Result};
use crate::parameter::{choices, parameters};
use crate::progress::Run;
use crate::random::{Stage, Stream};

choices! {
    /// The weights that training starts from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Initialization = "spectral" {
        /// The first layer from the leading eigenvectors of W, the rest random.
        "spectral" => Spectral,
        /// Uniform in ±√(6/(fan-in + fan-out)) (Glorot and Bengio 2010).
        "random" => Random,
    }
}

choices! {
    /// Where the training of each τ starts.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum StartOfTau = "common" {
        /// From one network, trained at a τ as low as the mean similarity. Most similarities are 0: at a higher τ the outputs
        /// collapse to 0 first, and where the points are many they stay there. A joint network does these steps before its own.
        "common" => Common {
            /// Its number of steps; with the schedule `until-converged` it is trained until it converges.
            steps: usize = 200, "at least 1" => |steps| *steps >= 1;
        },
        /// From the solution of the previous τ.
        "warm" => Warm,
        /// From the initial weights.
        "fresh" => Fresh,
    }
}

choices! {
    /// How crossing quantiles are avoided.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NonCrossing = "rearrange" {
        /// One network for each τ; the values of each edge are sorted afterwards.
        "rearrange" => Rearrange,
        /// One network for all τ, whose outputs differ by positive decrements.
        "joint" => Joint,
        /// One network for each τ; crossings stay.
        "leave" => Leave,
    }
}

parameters! {
    /// Parameters of the auto-encoder.
    #[derive(Debug, Clone, PartialEq)]
    pub struct AutoEncoder {
        /// Units of the encoder's layers, the code last; the decoder mirrors them. At most one less than the points.
        hidden: Vec<usize> = vec![32], "at least one layer, each of at least one unit" =>
            |hidden| !hidden.is_empty() && hidden.iter().all(|&units| units >= 1);
        /// Activation function φ of every unit.
        activation: Activation = Activation::Sigmoid;
        /// Whether the decoder shares the weights of the encoder.
        decoder: DecoderWeights = DecoderWeights::Tied;
        /// Whether the units have biases.
        biases: Biases = Biases::Yes;
        /// The loss of a residual.
        loss: Loss = Loss::Huber { kappa: 0.05 };
        /// The optimizer.
        optimizer: Optimizer = Optimizer::Adam { learning_rate: 0.02, batch: 100 };
        /// How long each network is trained, and how its learning rate falls.
        schedule: Schedule = Schedule::default();
        /// Neighbors of a point whose rows, beside its own, are the targets of its row; 0 for its own row alone.
        target_neighbors: usize = 12;
        /// Weight decay: λ in ½·λ·|weights|².
        weight_decay: f64 = 1e-4, "finite and at least 0" => |decay| *decay >= 0.0 && decay.is_finite();
        /// Penalty on the code: λ in λ·Σ|code|.
        code_sparsity: f64 = 0.0, "finite and at least 0" => |sparsity| *sparsity >= 0.0 && sparsity.is_finite();
        /// The weights that training starts from.
        initialization: Initialization = Initialization::Spectral;
        /// Where the training of each τ starts.
        start_of_tau: StartOfTau = StartOfTau::default();
        /// How crossing quantiles are avoided.
        non_crossing: NonCrossing = NonCrossing::Rearrange;
        /// The pairs of points to train on.
        pairs: TrainingPairs = TrainingPairs::Automatic;
    }
}

impl AutoEncoder {
    /// The paper read literally: every row is its own target, and each τ starts from the one before.
    pub fn literal() -> Self {
        Self {
            target_neighbors: 0,
            start_of_tau: StartOfTau::Warm,
            schedule: Schedule::named("until-converged").expect("a schedule has this name"),
            ..Self::default()
        }
    }

    /// The linear decomposition L·Rᵀ of the paper: identity activation, no biases, weights of its own.
    pub fn linear(rank: usize) -> Self {
        Self {
            hidden: vec![rank],
            activation: Activation::Identity,
            decoder: DecoderWeights::Free,
            biases: Biases::No,
            optimizer: Optimizer::Lbfgs { memory: 10 },
            ..Self::default()
        }
    }

    /// Rows of a mini-batch; `None` where every step needs all rows.
    pub(super) fn batch(&self) -> Option<usize> {
        match self.optimizer {
            Optimizer::Sgd { batch, .. } | Optimizer::Adam { batch, .. } => Some(batch),
            Optimizer::Lbfgs { .. } => None,
        }
    }

    fn network(&self, n: usize, n_heads: usize) -> Network {
        // A code as wide as the input would learn nothing.
        let hidden: Vec<usize> =
            self.hidden.iter().map(|&units| units.min(n.saturating_sub(1)).max(1)).collect();
        Network::new(&Architecture {
            n_inputs: n,
            hidden: &hidden,
            activation: self.activation,
            decoder: self.decoder,
            biases: self.biases,
            n_heads,
        })
    }

    pub(super) fn initial_parameters(
        &self,
        network: &Network,
        matrix: &AffinityMatrix,
        run: &Run<'_>,
    ) -> Result<Vec<f64>> {
        let mut parameters = vec![0.0; network.n_parameters()];
        for (index, (place, n_in, n_out)) in network.weight_matrices().into_iter().enumerate() {
            let bound = (6.0 / (n_in + n_out) as f64).sqrt();
            let mut draws = Stream::new(run.seed, Stage::Weights).at(1, index as u32);
            parameters[place].iter_mut().for_each(|w| *w = bound * (2.0 * draws.uniform() - 1.0));
        }
        if self.initialization == Initialization::Spectral {
            let matrices = network.weight_matrices();
            let (place, _, n_out) = matrices[0].clone();
            let (vectors, _) = matrix.leading_eigenvectors(n_out, run)?;
            parameters[place].copy_from_slice(&vectors);
            // The free linear decoder completes the projection on those eigenvectors.
            if self.decoder == DecoderWeights::Free && self.hidden.len() == 1 {
                let (place, n_in, n_out) = matrices[1].clone();
                for (unit, column) in parameters[place].chunks_exact_mut(n_in).enumerate() {
                    debug_assert!(unit < n_out);
                    column.iter_mut().enumerate().for_each(|(t, w)| *w = vectors[t * matrix.len() + unit]);
                }
            }
        }
        if self.activation == Activation::Sigmoid {
            // Most similarities are near 0, where a sigmoid starts at 1/2.
            network.head_biases().take(1).for_each(|place| parameters[place].fill(-4.0));
        }
        // The decrements of a joint model start small, too: each softplus would begin at 0.69.
        network.head_biases().skip(1).for_each(|place| parameters[place].fill(-4.0));
        Ok(parameters)
    }
}

impl ConditionalQuantiles for AutoEncoder {
    fn n_neighbors(&self) -> usize {
        self.target_neighbors
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let heads = if self.non_crossing == NonCrossing::Joint { size.n_taus } else { 1 };
        let parameters = self.network(size.n_nodes as usize, heads as usize).n_parameters() as u64;
        let copies = match self.optimizer {
            Optimizer::Sgd { .. } => 5,
            Optimizer::Adam { .. } => 6,
            Optimizer::Lbfgs { memory } => 10 + 2 * memory as u64,
        };
        let batch = self.batch().unwrap_or(1);
        // Nets over whole rows are trained side by side.
        let nets = size.n_taus / heads;
        let whole_rows = 8 * nets * batch.max(FULL_BATCH) as u64 * size.n_nodes * (2 + 2 * heads);
        let units: u64 = self.hidden.iter().map(|&units| units as u64).sum();
        let of_nets = self.pairs.bytes(
            size.n_nodes,
            size.n_edges,
            whole_rows + 8 * nets * parameters * copies,
            |per_edge| SampledRows::bytes(size, per_edge, batch, units, heads) + 8 * parameters * copies,
        );
        let spectral = 8 * 3 * size.n_nodes * self.hidden.first().map_or(0, |&units| units as u64);
        // What the nets give, and the same edge by edge.
        2 * 8 * size.n_edges * size.n_taus
            + AffinityMatrix::bytes(size.n_nodes, size.n_edges)
            + of_nets
            + spectral
    }

    fn estimate(
        &self,
        similarities: &Similarities<'_>,
        taus: &Taus,
        _: f64,
        run: &Run<'_>,
    ) -> Result<Quantiles> {
        let n_taus = taus.len();
        let matrix = AffinityMatrix::new(similarities)?;
        let groups: Vec<&[f64]> = match self.non_crossing {
            NonCrossing::Joint => vec![taus.values()],
            _ => taus.values().chunks(1).collect(),
        };
        let edges = similarities.edges();
        let network = self.network(matrix.len(), groups[0].len());
        let per_edge = self.pairs.per_edge(matrix.len() as u64, edges.len() as u64);
        let targets = Targets::new(similarities.neighbors(), self.target_neighbors, run.seed)?;
        let nets = Nets { params: self, matrix: &matrix, network: &network, targets, per_edge, edges, run };
        let common_epochs = nets.common_schedule().map_or(0, |schedule| nets.max_epochs(schedule));
        let n_epochs = common_epochs + groups.len() * nets.max_epochs(nets.schedule());
        run.stage("auto-encoders", Some(n_epochs as u64))?;
        let trained = nets.train(&groups)?;
        let mut reconstructions = vec![0.0; edges.len() * n_taus];
        let mut training = Vec::new();
        for (group, (of_group, how)) in trained.into_iter().enumerate() {
            let n_heads = groups[group].len();
            let by_edge = reconstructions.chunks_exact_mut(n_taus).zip(of_group.chunks_exact(n_heads));
            by_edge.for_each(|(all, own)| all[group..group + n_heads].copy_from_slice(own));
            training.push(how);
        }
        if let Some(cell) = reconstructions.iter().position(|value| !value.is_finite()) {
            // The last step of a training can still run away.
            let tau = Some(taus.values()[cell % n_taus]);
            return Err(Error::Diverged { tau, iteration: nets.max_epochs(nets.schedule()) });
        }
        let crossing = crossing_rate(&reconstructions, n_taus);
        if self.non_crossing == NonCrossing::Rearrange {
            rearrange(&mut reconstructions, n_taus);
        }
        Ok(Quantiles {
            taus: taus.clone(),
            reconstructions: Some(reconstructions),
            persistence: None,
            training,
            crossing_rate: Some(crossing),
        })
    }
}
