//! Every parameter of the clustering.

use clap::Args;
use taugraph::cluster::ComponentPolicy;
use taugraph::spectral::{EigenSolver, LaplacianKind, RowNormalization};

use super::choice::one_of;

#[derive(Debug, Args)]
#[command(next_help_heading = "Clusters")]
pub struct ClusterArgs {
    /// Number of clusters [default: found from the eigenvalues]
    #[arg(long, short = 'c', value_name = "K")]
    pub clusters: Option<usize>,
    /// Most clusters considered when the number is found
    #[arg(long, value_name = "K", conflicts_with = "clusters", hide_short_help = true)]
    pub max_clusters: Option<usize>,
    /// Measure the stability of each label over this many drawn graphs; 0 does not
    #[arg(long, value_name = "DRAWS", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub stability: Option<usize>,
    /// Which Laplacian
    #[arg(long, value_parser = one_of::<LaplacianKind>(&["symmetric", "random-walk", "unnormalized"]), hide_short_help = true)]
    pub laplacian: Option<LaplacianKind>,
    /// What becomes of the eigenvectors' rows
    #[arg(long, value_parser = one_of::<RowNormalization>(&["unit-length", "diffusion", "plain"]), hide_short_help = true)]
    pub rows: Option<RowNormalization>,
    /// A graph in components: join them weakly, cluster each, take them together, or refuse
    #[arg(long, value_parser = one_of::<ComponentPolicy>(&["link", "separately", "joint", "refuse"]), hide_short_help = true)]
    pub components: Option<ComponentPolicy>,
    /// Eigensolver [default: the one that fits the graph]
    #[arg(long, value_parser = one_of::<EigenSolver>(&["dense", "lanczos", "shift-invert", "multigrid"]), hide_short_help = true)]
    pub solver: Option<EigenSolver>,
    /// Largest residual of an eigenpair, as a share of the largest eigenvalue
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    pub eigen_tolerance: Option<f64>,
    /// Most applications of the Laplacian
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_applications: Option<usize>,
    /// k-means: starts
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub restarts: Option<usize>,
    /// k-means: most rounds of a start
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub kmeans_rounds: Option<usize>,
    /// k-means: relative fall of the inertia that ends a start
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    pub kmeans_tolerance: Option<f64>,
}
