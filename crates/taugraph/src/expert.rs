//! The stages of the pipeline, in order, for those who build their own.
//!
//! Stages work on nodes, the distinct points; [`Duplicates`] maps them back to rows. A [`Space`] holds points or distances, a
//! [`Run`](crate::progress::Run) the seed, the progress listener and the memory limit.
//!
//! ```
//! use taugraph::expert::params::{ClusterParams, GraphParams};
//! use taugraph::expert::{Metric, Space, cluster, robust_graph};
//! use taugraph::progress::Run;
//!
//! # fn main() -> taugraph::Result<()> {
//! let data = taugraph::generators::moons(300, 0.05, 1)?;
//! let space = Space::from_points(data.points, Metric::Euclidean)?;
//! let found = robust_graph(&space, &GraphParams::default().check()?, &Run::new(1))?;
//! let clusters = cluster(&found, &ClusterParams::default(), &Run::new(1))?;
//! assert_eq!(found.duplicates.restore(&clusters.labels).len(), 300);
//! # Ok(())
//! # }
//! ```

// 1. A table of numbers: missing cells filled, columns scaled, duplicates collapsed.
pub use crate::fit::PreparationReport;
pub use crate::points::{
    ColumnModel, Duplicates, Numbers, PcaModel, Points, Preparation, PreparationRule, SharedValues,
    SparsePoints, prepare,
};
// 2. Distances.
pub use crate::distance::{DistanceMatrix, Metric};
// 3. Nearest neighbors, and the candidate edges that they give.
pub use crate::edges::Edges;
pub use crate::neighbors::{
    MetricPoints, NeighborGraph, SearchInfo, Space, SparseMetricPoints, UsedSearch, nearest_neighbors,
};
// 4. First local scales, and 5. locally scaled similarities.
pub use crate::affinity::Similarities;
pub use crate::scale::{LocalScales, first_scales};
// 6. Conditional quantiles of the similarities.
pub use crate::quantile::{ConditionalQuantiles, ProblemSize, Quantiles, StopReason, Taus, Training};
// 7. Persistence and probability of each edge.
pub use crate::stochastic::StochasticGraph;
// 8. All of that: Algorithm 1.
pub use crate::fit::RobustPart;
pub use crate::robust::{NodeGraph, RowEdge, RowSize, robust_graph};
// 9. The sparse graph, its connected components and how they are joined.
pub use crate::graph::{Changes, Components, SparseGraph};
pub use crate::links::{Link, Linked, link_components};
// 10. Eigenpairs and embedding.
pub use crate::spectral::{
    EigenInfo, EigenSolver, Eigenpairs, Embedding, Laplacian, embed, smallest_eigenpairs,
};
// 11. Clusters, their number and their stability.
pub use crate::cluster::{
    Alternative, ClusterInput, Clustering, Condition, CountByBoundaries, CutQuality, DistinctColumn,
    Eigengap, Evidence, Explanation, Layer, Level, Merge, MergeTree, MethodChoice, ShallowRule, Stability,
    Unconverged, cluster, spectral_clustering,
};
// 12. Labels from a few labeled nodes.
pub use crate::fit::SuggestedRow;
pub use crate::propagate::{
    Evaluation, LabeledNodes, Propagation, Reason, Reliability, ReliabilityBin, RowLabels, SolveInfo,
    Suggestion, Trials, WalkInfo, propagate, suggest,
};
// Long runs: named arrays, where finished stages are kept, and tables outside memory.
pub use crate::arrays::{Array, Arrays, Element, Values};
pub use crate::checkpoint::Checkpoints;
pub use crate::memory::{Scratch, ScratchTable};

/// The types of the parameters, as fields of [`Config`](crate::Config) have them; `Config::set` needs none of them.
pub mod params {
    pub use crate::affinity::AffinityKind;
    pub use crate::cluster::{
        ClusterMethod, ClusterParams, ComponentPolicy, Constraints, CountRule, KMeansParams, Outliers,
    };
    pub use crate::config::EmbeddingParams;
    pub use crate::edges::Symmetrize;
    pub use crate::graph::Asymmetry;
    pub use crate::neighbors::{SearchMethod, SearchParams};
    pub use crate::params::{
        CandidatePairs, CheckedGraphParams, FinalAffinity, GraphParams, LinkComponents, OwnEstimator, Preset,
    };
    pub use crate::points::{Missing, Precision, PreparationParams, Standardize};
    pub use crate::propagate::{
        Background, Calibration, Clamping, Groups, Ladder, Priors, PropagateParams, Rule, Solver,
    };
    pub use crate::quantile::loss::Loss;
    pub use crate::quantile::{
        Activation, AutoEncoder, Biases, Community, DecoderWeights, Estimator, Factorization, Initialization,
        KeepReconstructions, Neighborhood, NonCrossing, Optimizer, Overlap, PoolStatistic, Product, Schedule,
        StartOfTau, TrainingPairs,
    };
    pub use crate::scale::{FirstScale, ScaleShrinkage};
    pub use crate::spectral::{EigenParams, LaplacianKind, RowNormalization, SolverChoice};
    pub use crate::stochastic::{Probability, RobustScale};
}
