//! The paper's estimator: for each τ an auto-encoder of the rows of W, trained with a quantile loss.
//!
//! ŵ = φ(Ψ φ(Ψᵀ w + b) + c) for a row w of W, Ψ of P columns (rank), minimising ρ_τ(w − ŵ) over all rows
//! (Section "Non-linear Spectral Decomposition using Auto-Encoders"). With the identity as activation this is the
//! paper's linear decomposition L·Rᵀ, with L = Ψ and Rᵀ = Ψᵀ W.
//!
//! Non-candidates enter as similarity 0. The rows pass through the net in batches, so memory is linear in edges
//! and parameters; time is N²·P for each epoch. The reconstruction of an edge is the mean of Ŵ_ij and Ŵ_ji.

use super::activation::Activation;
use super::loss::Loss;
use super::matrix::AffinityMatrix;
use super::network::{Architecture, Biases, DecoderWeights, Network, Objective, Scratch};
use super::optimize::{Optimizer, Problem, Stopping, minimize};
use super::{ConditionalQuantiles, ProblemSize, Quantiles, Taus, crossing_rate, rearrange};
use crate::affinity::Similarities;
use crate::error::{Error, Result, require};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Rows passed through the net at once where the whole of W is needed.
const FULL_BATCH: usize = 128;

/// How training begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Initialization {
    /// The first layer from the leading eigenvectors of W, the rest random.
    #[default]
    Spectral,
    /// Uniform in ±√(6/(fan-in + fan-out)) (Glorot and Bengio 2010).
    Random,
}

/// Where the training of the second and later τ begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum StartOfTau {
    /// At the solution for the τ before.
    #[default]
    Warm,
    /// Anew.
    Fresh,
}

/// How crossings are avoided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum NonCrossing {
    /// One net for each τ; the values of each edge are sorted afterwards.
    #[default]
    Rearrange,
    /// One net for all τ, whose outputs differ by positive decrements.
    Joint,
    /// One net for each τ, left as they come.
    Leave,
}

/// Parameters of the auto-encoder.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct AutoEncoder {
    /// Units of the encoder's layers, the code last; the decoder mirrors them. At most one less than the points.
    pub hidden: Vec<usize>,
    /// φ.
    pub activation: Activation,
    /// Tied or free decoder weights.
    pub decoder: DecoderWeights,
    /// With or without biases.
    pub biases: Biases,
    /// Check or quantile Huber.
    pub loss: Loss,
    /// How to fit.
    pub optimizer: Optimizer,
    /// Most epochs (SGD, Adam) or iterations (L-BFGS) for each net.
    pub max_epochs: usize,
    /// Stop once the loss falls by less than this share …
    pub tolerance: f64,
    /// … within so many epochs.
    pub patience: usize,
    /// λ in ½·λ·|weights|².
    pub weight_decay: f64,
    /// λ in λ·Σ|code|.
    pub code_sparsity: f64,
    /// How training begins.
    pub initialization: Initialization,
    /// How training goes on from τ to τ.
    pub start_of_tau: StartOfTau,
    /// How crossings are avoided.
    pub non_crossing: NonCrossing,
}

impl Default for AutoEncoder {
    fn default() -> Self {
        Self {
            hidden: vec![32],
            activation: Activation::Sigmoid,
            decoder: DecoderWeights::Tied,
            biases: Biases::Yes,
            loss: Loss::Huber { kappa: 0.05 },
            optimizer: Optimizer::Adam { learning_rate: 0.02, batch: 100 },
            max_epochs: 150,
            tolerance: 1e-3,
            patience: 10,
            weight_decay: 1e-4,
            code_sparsity: 0.0,
            initialization: Initialization::Spectral,
            start_of_tau: StartOfTau::Warm,
            non_crossing: NonCrossing::Rearrange,
        }
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
    fn check(&self) -> Result<()> {
        let widths = self.hidden.iter().all(|&units| units >= 1) && !self.hidden.is_empty();
        require(
            widths,
            "hidden",
            format!("{:?}", self.hidden),
            "must name at least one layer, each of at least one unit",
        )?;
        if let Loss::Huber { kappa } = self.loss {
            require(kappa > 0.0 && kappa.is_finite(), "kappa", kappa, "must be finite and above 0")?;
        }
        self.optimizer.check()?;
        require(self.max_epochs >= 1, "max_epochs", self.max_epochs, "must be at least 1")?;
        require(self.patience >= 1, "patience", self.patience, "must be at least 1")?;
        require(self.tolerance >= 0.0, "tolerance", self.tolerance, "must be at least 0")?;
        let decay = self.weight_decay >= 0.0 && self.weight_decay.is_finite();
        require(decay, "weight_decay", self.weight_decay, "must be finite and at least 0")?;
        let sparsity = self.code_sparsity >= 0.0 && self.code_sparsity.is_finite();
        require(sparsity, "code_sparsity", self.code_sparsity, "must be finite and at least 0")
    }

    fn bytes(&self, size: ProblemSize) -> u64 {
        let heads = if self.non_crossing == NonCrossing::Joint { size.n_taus } else { 1 };
        let parameters = self.network(size.n_nodes as usize, heads as usize).n_parameters() as u64;
        let copies = match self.optimizer {
            Optimizer::Sgd { .. } => 5,
            Optimizer::Adam { .. } => 6,
            Optimizer::Lbfgs { memory } => 10 + 2 * memory as u64,
        };
        let batch = match self.optimizer {
            Optimizer::Sgd { batch, .. } | Optimizer::Adam { batch, .. } => batch.max(FULL_BATCH) as u64,
            Optimizer::Lbfgs { .. } => FULL_BATCH as u64,
        };
        let passing = 8 * batch * size.n_nodes * (1 + 2 * heads);
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
        let network = self.network(matrix.len(), groups[0].len());
        let initial = self.initial_parameters(&network, &matrix, run)?;
        let mut parameters = initial.clone();
        let mut reconstructions = vec![0.0; similarities.edges().len() * n_taus];
        let mut training = Vec::new();
        for (index, &group) in groups.iter().enumerate() {
            if self.start_of_tau == StartOfTau::Fresh {
                parameters.copy_from_slice(&initial);
            }
            let objective = Objective {
                loss: self.loss,
                taus: group,
                weight_decay: self.weight_decay,
                code_sparsity: self.code_sparsity,
            };
            let mut problem = Rows {
                matrix: &matrix,
                network: &network,
                objective,
                run,
                group: index,
                buffers: Default::default(),
                advanced: 0,
            };
            let stopping =
                Stopping { limit: self.max_epochs, tolerance: self.tolerance, patience: self.patience };
            let tau = (group.len() == 1).then(|| group[0]);
            let trained = minimize(&mut problem, &mut parameters, self.optimizer, stopping, tau)?;
            run.progress.advance((self.max_epochs - problem.advanced) as u64);
            training.push(trained);
            problem.add_reconstructions(&parameters, similarities, index, n_taus, &mut reconstructions)?;
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

/// The rows of W as the samples of a training.
struct Rows<'a> {
    matrix: &'a AffinityMatrix,
    network: &'a Network,
    objective: Objective<'a>,
    run: &'a Run<'a>,
    /// Which τ, so that each training has its own order of batches.
    group: usize,
    buffers: Buffers,
    /// Iterations done.
    advanced: usize,
}

#[derive(Default)]
struct Buffers {
    input: Vec<f64>,
    gradient: Vec<f64>,
    scratch: Scratch,
}

impl Rows<'_> {
    fn batch(&mut self, nodes: &[u32], parameters: &[f64]) -> f64 {
        let Buffers { input, gradient, scratch } = &mut self.buffers;
        self.matrix.write_columns(nodes, input);
        gradient.resize(parameters.len(), 0.0);
        self.network.loss_and_gradient(parameters, input, &self.objective, gradient, scratch)
    }

    /// Adds half of Ŵ_ij and half of Ŵ_ji to each edge, for the τ of this training.
    fn add_reconstructions(
        &mut self,
        parameters: &[f64],
        similarities: &Similarities<'_>,
        group: usize,
        n_taus: usize,
        reconstructions: &mut [f64],
    ) -> Result<()> {
        let n = self.matrix.len();
        let nodes: Vec<u32> = (0..n as u32).collect();
        for part in nodes.chunks(FULL_BATCH) {
            self.run.check()?;
            self.matrix.write_columns(part, &mut self.buffers.input);
            let outputs = self.network.forward(parameters, &self.buffers.input, &mut self.buffers.scratch);
            for (head, output) in outputs.iter().enumerate() {
                for (&node, column) in part.iter().zip(output.chunks_exact(n)) {
                    for (other, edge) in similarities.edges().incident(node as usize) {
                        reconstructions[edge * n_taus + group + head] += 0.5 * column[other as usize];
                    }
                }
            }
        }
        Ok(())
    }
}

impl Problem for Rows<'_> {
    fn advance(&mut self) {
        self.advanced += 1;
        self.run.progress.advance(1);
    }

    fn full(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let n = self.matrix.len();
        let nodes: Vec<u32> = (0..n as u32).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in nodes.chunks(FULL_BATCH) {
            self.run.check()?;
            let share = part.len() as f64 / n as f64;
            loss += share * self.batch(part, parameters);
            gradient.iter_mut().zip(&self.buffers.gradient).for_each(|(sum, g)| *sum += share * g);
        }
        Ok(loss)
    }

    fn epoch(
        &mut self,
        epoch: usize,
        batch: usize,
        parameters: &mut [f64],
        step: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> Result<f64> {
        let n = self.matrix.len();
        let order =
            Stream::new(self.run.seed, Stage::Batches).at(self.group as u32, epoch as u32).permutation(n);
        let mut loss = 0.0;
        for part in order.chunks(batch) {
            self.run.check()?;
            loss += self.batch(part, parameters) * part.len() as f64 / n as f64;
            step(parameters, &self.buffers.gradient);
        }
        Ok(loss)
    }
}
