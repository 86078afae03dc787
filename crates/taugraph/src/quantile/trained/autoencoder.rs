//! The paper's estimator: for each τ an auto-encoder of the rows of W, trained with a quantile loss.
//!
//! ŵ = φ(Ψ φ(Ψᵀ w + b) + c) for a row w of W, Ψ of P columns (rank), minimizing ρ_τ(w − ŵ) over all rows
//! (Section "Non-linear Spectral Decomposition using Auto-Encoders"). With the identity as activation this is the
//! paper's linear decomposition L·Rᵀ, with L = Ψ and Rᵀ = Ψᵀ W.
//!
//! Non-candidates enter as similarity 0. The rows pass through the net in batches, so memory is linear in edges
//! and parameters. Over whole rows ([`whole_rows`](super::whole_rows)) the time is N²·P for each epoch; over the candidates and
//! sampled non-edges ([`sampled_rows`](super::sampled_rows)) it is linear in the edges, too. The reconstruction of an edge is the
//! mean of Ŵ_ij and Ŵ_ji.

use super::activation::Activation;
use super::loss::Loss;
use super::matrix::{AffinityMatrix, transposed};
use super::network::{Architecture, Biases, DecoderWeights, Network, Objective};
use super::optimize::{Optimizer, Stopping, minimize};
use super::pairs::TrainingPairs;
use super::sampled_rows::SampledRows;
use super::whole_rows::{FULL_BATCH, RowTraining, Setting, WholeRows};
use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus, crossing_rate, rearrange};
use crate::affinity::Similarities;
use crate::error::{Error, Result};
use crate::parameter::{choices, parameters};
use crate::progress::Run;
use crate::random::{Stage, Stream};

choices! {
    /// How training begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Initialization = "spectral" {
        /// The first layer from the leading eigenvectors of W, the rest random.
        "spectral" => Spectral,
        /// Uniform in ±√(6/(fan-in + fan-out)) (Glorot and Bengio 2010).
        "random" => Random,
    }
}

choices! {
    /// Where the training of the second and later τ begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StartOfTau = "warm" {
        /// At the solution for the τ before.
        "warm" => Warm,
        /// Anew.
        "fresh" => Fresh,
    }
}

choices! {
    /// How crossings are avoided.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NonCrossing = "rearrange" {
        /// One net for each τ; the values of each edge are sorted afterwards.
        "rearrange" => Rearrange,
        /// One net for all τ, whose outputs differ by positive decrements.
        "joint" => Joint,
        /// One net for each τ, left as they come.
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
        /// φ.
        activation: Activation = Activation::Sigmoid;
        /// Tied or free decoder weights.
        decoder: DecoderWeights = DecoderWeights::Tied;
        /// With or without biases.
        biases: Biases = Biases::Yes;
        /// Check or quantile Huber.
        loss: Loss = Loss::Huber { kappa: 0.05 };
        /// How to fit.
        optimizer: Optimizer = Optimizer::Adam { learning_rate: 0.02, batch: 100 };
        /// The most epochs (SGD, Adam) or iterations (L-BFGS) for each net.
        max_epochs: usize = 150, "at least 1" => |most| *most >= 1;
        /// Stop once the loss falls by less than this share within `patience` epochs.
        tolerance: f64 = 1e-3, "at least 0" => |tolerance| *tolerance >= 0.0;
        /// Epochs that the loss is watched for.
        patience: usize = 10, "at least 1" => |patience| *patience >= 1;
        /// λ in ½·λ·|weights|².
        weight_decay: f64 = 1e-4, "finite and at least 0" => |decay| *decay >= 0.0 && decay.is_finite();
        /// λ in λ·Σ|code|.
        code_sparsity: f64 = 0.0, "finite and at least 0" => |sparsity| *sparsity >= 0.0 && sparsity.is_finite();
        /// How training begins.
        initialization: Initialization = Initialization::Spectral;
        /// How training goes on from τ to τ.
        start_of_tau: StartOfTau = StartOfTau::Warm;
        /// How crossings are avoided.
        non_crossing: NonCrossing = NonCrossing::Rearrange;
        /// Which pairs it learns from.
        pairs: TrainingPairs = TrainingPairs::Automatic;
    }
}

impl AutoEncoder {
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

    fn initial_parameters(
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
    fn bytes(&self, size: ProblemSize) -> u64 {
        let heads = if self.non_crossing == NonCrossing::Joint { size.n_taus } else { 1 };
        let parameters = self.network(size.n_nodes as usize, heads as usize).n_parameters() as u64;
        let copies = match self.optimizer {
            Optimizer::Sgd { .. } => 5,
            Optimizer::Adam { .. } => 6,
            Optimizer::Lbfgs { memory } => 10 + 2 * memory as u64,
        };
        let batch = match self.optimizer {
            Optimizer::Sgd { batch, .. } | Optimizer::Adam { batch, .. } => batch,
            Optimizer::Lbfgs { .. } => 1,
        };
        let whole_rows = 8 * batch.max(FULL_BATCH) as u64 * size.n_nodes * (1 + 2 * heads);
        let units: u64 = self.hidden.iter().map(|&units| units as u64).sum();
        let passing = self.pairs.bytes(size.n_nodes, size.n_edges, whole_rows, |per_edge| {
            SampledRows::bytes(size, per_edge, batch, units, heads)
        });
        let spectral = 8 * 3 * size.n_nodes * self.hidden.first().map_or(0, |&units| units as u64);
        8 * size.n_edges * size.n_taus
            + AffinityMatrix::bytes(size.n_nodes, size.n_edges)
            + 8 * parameters * copies
            + passing
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
        run.stage("auto-encoders", Some((groups.len() * self.max_epochs) as u64))?;
        let edges = similarities.edges();
        let network = self.network(matrix.len(), groups[0].len());
        let mut initial = self.initial_parameters(&network, &matrix, run)?;
        let per_edge = self.pairs.per_edge(matrix.len() as u64, edges.len() as u64);
        if per_edge.is_some() {
            // The sparse passes have the first layer node by node.
            let place = network.layers[0].weights.clone();
            let by_node = transposed(&initial[place.clone()], matrix.len());
            initial[place].copy_from_slice(&by_node);
        }
        let mut parameters = initial.clone();
        let mut reconstructions = vec![0.0; edges.len() * n_taus];
        let mut training = Vec::new();
        for (group, &of_group) in groups.iter().enumerate() {
            if self.start_of_tau == StartOfTau::Fresh {
                parameters.copy_from_slice(&initial);
            }
            let objective = Objective {
                loss: self.loss,
                taus: of_group,
                weight_decay: self.weight_decay,
                code_sparsity: self.code_sparsity,
            };
            let setting = Setting { matrix: &matrix, network: &network, objective, run, group };
            let mut problem: Box<dyn RowTraining> = match per_edge {
                None => Box::new(WholeRows::new(setting)),
                Some(per_edge) => Box::new(SampledRows::new(setting, per_edge)),
            };
            let stopping =
                Stopping { limit: self.max_epochs, tolerance: self.tolerance, patience: self.patience };
            let tau = (of_group.len() == 1).then(|| of_group[0]);
            training.push(minimize(&mut *problem, &mut parameters, self.optimizer, stopping, tau)?);
            run.progress.advance((self.max_epochs - problem.iterations()) as u64);
            problem.add_reconstructions(&parameters, edges, n_taus, &mut reconstructions)?;
        }
        if let Some(cell) = reconstructions.iter().position(|value| !value.is_finite()) {
            // The last step of a training can still run away.
            return Err(Error::Diverged {
                tau: Some(taus.values()[cell % n_taus]),
                iteration: self.max_epochs,
            });
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
