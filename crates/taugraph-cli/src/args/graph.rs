//! Every parameter of the robust graph.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use taugraph::affinity::AffinityKind;
use taugraph::edges::Symmetrize;
use taugraph::neighbors::SearchMethod;
use taugraph::params::{LinkComponents, Preset};
use taugraph::quantile::{
    Activation, Biases, DecoderWeights, Initialization, NonCrossing, PoolStatistic, StartOfTau,
};

use super::choice::one_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EstimatorName {
    /// Empirical quantiles over the neighborhoods of an edge's ends
    Neighborhood,
    /// The paper's networks
    AutoEncoder,
    /// Symmetric low-rank factorization
    Factorization,
    /// Shared neighbors of an edge's ends
    Overlap,
    /// Common communities of an edge's ends
    Community,
    /// Control: the similarities themselves
    Identity,
    /// Control: every candidate is certain
    Constant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FirstScaleName {
    /// Distance to the k-th neighbor
    Kth,
    /// Mean distance to k neighbors
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProbabilityName {
    /// The highest quantile at which an edge persists
    Persistence,
    /// The paper's formula
    Decay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RobustScaleName {
    /// Median over --realizations of the stochastic graph
    Median,
    /// Expected distance, in closed form
    Expectation,
    /// The first scales
    Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FinalName {
    /// The locally scaled affinity
    Plain,
    /// Only edges that persist at some quantile
    Masked,
    /// Times a power of the probability
    Weighted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LossName {
    /// The check loss
    Check,
    /// Quantile Huber; see --kappa
    Huber,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OptimizerName {
    Sgd,
    Adam,
    Lbfgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairsName {
    /// All pairs where that is quick, else sampled
    Automatic,
    /// All pairs (the time of an epoch grows with N²)
    All,
    /// Candidates and sampled non-edges; see --non-edges
    Sampled,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Graph")]
pub struct GraphArgs {
    /// Named set of parameters [default: robust]
    #[arg(long, value_name = "NAME", value_parser = Preset::ALL.map(Preset::name))]
    pub preset: Option<String>,
    /// Neighbors of each point that may become edges
    #[arg(long, short = 'k', value_name = "K")]
    pub neighbors: Option<usize>,
    /// Take every pair as a candidate (memory grows with N²)
    #[arg(long, conflicts_with_all = ["neighbors", "symmetrize"], hide_short_help = true)]
    pub all_pairs: bool,
    /// An edge where one of two points chose the other, or both did
    #[arg(long, value_parser = one_of::<Symmetrize>(&["union", "mutual"]), hide_short_help = true)]
    pub symmetrize: Option<Symmetrize>,
    /// Search of the neighbors: 'auto' is exact up to 50,000 points or 6 columns, and above that as good as --recall asks
    #[arg(long, value_parser = one_of::<SearchMethod>(&["auto", "exact", "approximate"]), hide_short_help = true)]
    pub search: Option<SearchMethod>,
    /// Share of the true neighbors that an approximate search must find
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    pub recall: Option<f64>,
    /// First local scale
    #[arg(long, value_enum, hide_short_help = true)]
    pub first_scale: Option<FirstScaleName>,
    /// Its neighbors
    #[arg(long, value_name = "K", hide_short_help = true)]
    pub scale_neighbors: Option<usize>,
    /// First local scales from a file instead: one number for each row
    #[arg(long, value_name = "FILE", conflicts_with_all = ["first_scale", "scale_neighbors"], hide_short_help = true)]
    pub given_scales: Option<PathBuf>,
    /// Least scale, as a share of the median scale
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    pub scale_floor: Option<f64>,
    /// Exponent of the affinity: d²/(σσ), or d/(σσ) as printed in the paper
    #[arg(long, value_parser = one_of::<AffinityKind>(&["squared-distance", "plain-distance"]), hide_short_help = true)]
    pub affinity: Option<AffinityKind>,
    /// Similarity above which an edge is present
    #[arg(long, hide_short_help = true)]
    pub threshold: Option<f64>,
    /// How persistence becomes probability
    #[arg(long, value_enum, hide_short_help = true)]
    pub probability: Option<ProbabilityName>,
    /// Least probability
    #[arg(long, value_name = "P", hide_short_help = true)]
    pub probability_floor: Option<f64>,
    /// How the robust local scales follow
    #[arg(long, value_enum, hide_short_help = true)]
    pub robust_scale: Option<RobustScaleName>,
    /// Graphs drawn for the median scale
    #[arg(long, value_name = "R", hide_short_help = true)]
    pub realizations: Option<usize>,
    /// What the final graph weighs
    #[arg(long = "final", value_name = "WEIGHT", value_enum, hide_short_help = true)]
    pub final_affinity: Option<FinalName>,
    /// Power of the probability in weighted graphs
    #[arg(long, hide_short_help = true)]
    pub power: Option<f64>,
    /// Least weight in weighted graphs
    #[arg(long, value_name = "WEIGHT", hide_short_help = true)]
    pub weight_floor: Option<f64>,
    /// Whether components of the graph are joined by weak links
    #[arg(long, value_parser = one_of::<LinkComponents>(&["weakly", "no"]), hide_short_help = true)]
    pub link_components: Option<LinkComponents>,

    /// How the conditional quantiles are estimated; several with commas between them are multiplied
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Quantiles", hide_short_help = true)]
    pub estimator: Option<Vec<EstimatorName>>,
    /// The quantiles [default: 0.1,0.2,…,0.9]
    #[arg(long, value_name = "T,…", value_delimiter = ',', help_heading = "Quantiles")]
    pub taus: Option<Vec<f64>>,
    /// Neighborhood and overlap: neighbors of each end
    #[arg(long, value_name = "K", help_heading = "Quantiles", hide_short_help = true)]
    pub pool: Option<usize>,
    /// Neighborhood: share of the pool above the threshold, or its mean
    #[arg(long, value_parser = one_of::<PoolStatistic>(&["share", "mean"]), help_heading = "Quantiles", hide_short_help = true)]
    pub statistic: Option<PoolStatistic>,
    /// Communities: resolutions of the partitions
    #[arg(
        long,
        value_name = "R,…",
        value_delimiter = ',',
        help_heading = "Quantiles",
        hide_short_help = true
    )]
    pub resolutions: Option<Vec<f64>>,
    /// Communities: partitions at each resolution
    #[arg(long, value_name = "N", help_heading = "Quantiles", hide_short_help = true)]
    pub partitions: Option<usize>,
    /// Communities: persistence of an edge that every partition cuts
    #[arg(long, value_name = "P", help_heading = "Quantiles", hide_short_help = true)]
    pub community_floor: Option<f64>,
    /// Units of the auto-encoder's hidden layers, or rank of the factorization
    #[arg(long, value_name = "P,…", value_delimiter = ',', help_heading = "Quantiles")]
    pub rank: Option<Vec<usize>>,
    /// Trained estimators: most epochs or iterations
    #[arg(long, value_name = "N", help_heading = "Quantiles", hide_short_help = true)]
    pub epochs: Option<usize>,
    /// Trained estimators: relative fall of the loss that counts as progress
    #[arg(long, value_name = "SHARE", help_heading = "Quantiles", hide_short_help = true)]
    pub training_tolerance: Option<f64>,
    /// Trained estimators: width of the quadratic part of the Huber loss
    #[arg(long, help_heading = "Quantiles", hide_short_help = true)]
    pub kappa: Option<f64>,
    /// Trained estimators: pairs they learn from
    #[arg(long, value_name = "PAIRS", value_enum, help_heading = "Quantiles", hide_short_help = true)]
    pub training_pairs: Option<PairsName>,
    /// Sampled training pairs: non-edges for each edge
    #[arg(long, value_name = "N", help_heading = "Quantiles", hide_short_help = true)]
    pub non_edges: Option<f64>,
    /// Auto-encoder: loss
    #[arg(long, value_enum, help_heading = "Quantiles", hide_short_help = true)]
    pub loss: Option<LossName>,
    /// Auto-encoder: epochs without progress before it stops
    #[arg(long, value_name = "N", help_heading = "Quantiles", hide_short_help = true)]
    pub patience: Option<usize>,
    /// Auto-encoder: non-linearity
    #[arg(long, value_parser = one_of::<Activation>(&["sigmoid", "tanh", "relu", "identity", "softplus"]), help_heading = "Quantiles", hide_short_help = true)]
    pub activation: Option<Activation>,
    /// Auto-encoder: weights of the decoder
    #[arg(long, value_parser = one_of::<DecoderWeights>(&["tied", "free"]), help_heading = "Quantiles", hide_short_help = true)]
    pub decoder: Option<DecoderWeights>,
    /// Auto-encoder: biases
    #[arg(long, value_parser = one_of::<Biases>(&["yes", "no"]), help_heading = "Quantiles", hide_short_help = true)]
    pub biases: Option<Biases>,
    /// Auto-encoder: optimizer
    #[arg(long, value_enum, help_heading = "Quantiles", hide_short_help = true)]
    pub optimizer: Option<OptimizerName>,
    /// SGD and Adam: learning rate
    #[arg(long, value_name = "RATE", help_heading = "Quantiles", hide_short_help = true)]
    pub learning_rate: Option<f64>,
    /// SGD: momentum
    #[arg(long, help_heading = "Quantiles", hide_short_help = true)]
    pub momentum: Option<f64>,
    /// SGD and Adam: rows of a batch
    #[arg(long, value_name = "N", help_heading = "Quantiles", hide_short_help = true)]
    pub batch: Option<usize>,
    /// L-BFGS: steps remembered
    #[arg(long, value_name = "N", help_heading = "Quantiles", hide_short_help = true)]
    pub lbfgs_memory: Option<usize>,
    /// Auto-encoder: weight decay
    #[arg(long, help_heading = "Quantiles", hide_short_help = true)]
    pub weight_decay: Option<f64>,
    /// Auto-encoder: sparsity penalty on the codes
    #[arg(long, help_heading = "Quantiles", hide_short_help = true)]
    pub code_sparsity: Option<f64>,
    /// Auto-encoder: first weights
    #[arg(long, value_parser = one_of::<Initialization>(&["spectral", "random"]), help_heading = "Quantiles", hide_short_help = true)]
    pub initialization: Option<Initialization>,
    /// Auto-encoder: whether each quantile starts from the one before
    #[arg(long, value_parser = one_of::<StartOfTau>(&["warm", "fresh"]), help_heading = "Quantiles", hide_short_help = true)]
    pub start_of_tau: Option<StartOfTau>,
    /// Auto-encoder: how crossing quantiles are mended
    #[arg(long, value_parser = one_of::<NonCrossing>(&["rearrange", "joint", "leave"]), help_heading = "Quantiles", hide_short_help = true)]
    pub non_crossing: Option<NonCrossing>,
}
