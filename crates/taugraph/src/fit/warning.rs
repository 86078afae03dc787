//! Warnings about a fit that succeeded.

use std::fmt;

use crate::config::Shrunk;

/// A warning about a result. Its text says what to do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// There are too few points for the default neighborhoods, so they were made smaller.
    FewPoints {
        /// Distinct points, or each point's known neighbors plus itself.
        n_known: usize,
        /// What was made smaller.
        shrunk: Vec<Shrunk>,
    },
    /// Columns that were dropped because all their cells are equal.
    ConstantColumns(Vec<String>),
    /// Columns that were dropped because all their cells are missing.
    EmptyColumns(Vec<String>),
    /// Missing cells were filled with the median of their column.
    FilledCells {
        /// How many.
        n_cells: usize,
        /// The columns.
        columns: Vec<String>,
    },
    /// All-zero sparse rows, for which the cosine is undefined; all distances are Euclidean instead.
    ZeroRows {
        /// How many.
        n_rows: usize,
    },
    /// Every edge has the same probability.
    FlatDecay {
        /// Neighbors whose rows a trained estimator predicts; `None` for an estimator that is not trained.
        target_neighbors: Option<usize>,
    },
    /// Models that were still improving when they ran out of iterations.
    UnfinishedTraining {
        /// How many models.
        n_unfinished: usize,
        /// Out of how many.
        n_models: usize,
    },
    /// The graph had several connected components, which were joined by weak links.
    Linked {
        /// How many components.
        n_components: usize,
    },
    /// The graph has several connected components.
    Disconnected {
        /// How many.
        n_components: usize,
    },
    /// A given graph had several connected components, which were joined by weak links before clustering.
    LinkedForClusters {
        /// How many.
        n_components: usize,
    },
    /// The eigensolver could not confirm that it missed no smaller eigenvalue.
    UnconfirmedEigenpairs,
    /// The eigensolver did not converge, so the clusters are those of the agglomeration, without a choice between both.
    UnconvergedEigenpairs {
        /// Pairs within the tolerance.
        converged: usize,
        /// Pairs that were sought.
        wanted: usize,
    },
}

impl Warning {
    /// The name of its kind, for front ends with their own warning types.
    pub fn name(&self) -> &'static str {
        match self {
            Warning::FewPoints { .. } => "few-points",
            Warning::ConstantColumns(_) => "constant-columns",
            Warning::EmptyColumns(_) => "empty-columns",
            Warning::FilledCells { .. } => "filled-cells",
            Warning::ZeroRows { .. } => "zero-rows",
            Warning::FlatDecay { .. } => "flat-decay",
            Warning::UnfinishedTraining { .. } => "unfinished-training",
            Warning::Linked { .. } => "linked",
            Warning::Disconnected { .. } => "disconnected",
            Warning::LinkedForClusters { .. } => "linked-for-clusters",
            Warning::UnconfirmedEigenpairs => "unconfirmed-eigenpairs",
            Warning::UnconvergedEigenpairs { .. } => "unconverged-eigenpairs",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::FewPoints { n_known, shrunk } => {
                let each =
                    shrunk.iter().map(|one| format!("{} is {} instead of {}", one.path, one.used, one.usual));
                write!(f, "few points ({n_known}): {}", each.collect::<Vec<_>>().join(", "))
            }
            Warning::ConstantColumns(names) => write!(f, "dropped constant columns: {}", some_of(names)),
            Warning::EmptyColumns(names) => write!(f, "dropped empty columns: {}", some_of(names)),
            Warning::FilledCells { n_cells, columns } => write!(
                f,
                "{n_cells} missing cells were filled with the median of their column: {}",
                some_of(columns)
            ),
            Warning::ZeroRows { n_rows } => write!(
                f,
                "{n_rows} rows are all zero and have no cosine, so distances are Euclidean; drop these rows, or set metric"
            ),
            Warning::FlatDecay { target_neighbors } => {
                let advice = match target_neighbors {
                    None => "raise graph.threshold, or use the preset robust",
                    Some(0) => "raise graph.estimator.target_neighbors, or lower the rank",
                    Some(_) => "lower graph.threshold, or raise the rank of graph.estimator",
                };
                write!(f, "the decay is flat: every edge has the same probability; {advice}")
            }
            Warning::UnfinishedTraining { n_unfinished, n_models } => write!(
                f,
                "{n_unfinished} of {n_models} models were still improving when their training ended; raise the iterations of \
                 graph.estimator"
            ),
            Warning::Linked { n_components } => write!(
                f,
                "the graph had {n_components} connected components, which were joined by weak links; more neighbors \
                 (graph.candidates.k) connect them better"
            ),
            Warning::Disconnected { n_components } => {
                write!(f, "the graph has {n_components} connected components")
            }
            Warning::LinkedForClusters { n_components } => write!(
                f,
                "the graph had {n_components} connected components, which were joined by weak links; \
                 cluster.components=separately clusters each on its own"
            ),
            Warning::UnconfirmedEigenpairs => f.write_str(
                "the eigensolver could not confirm that it missed no eigenvalue; request fewer clusters",
            ),
            Warning::UnconvergedEigenpairs { converged, wanted } => write!(
                f,
                "{converged} of {wanted} eigenpairs converged, so the clusters are those of the agglomeration alone; \
                 cluster.method=agglomerate does not try them"
            ),
        }
    }
}

/// The first names of a list, and how many more there are.
fn some_of(names: &[String]) -> String {
    const MAX: usize = 12;
    let shown = names[..names.len().min(MAX)].join(", ");
    match names.len() > MAX {
        true => format!("{shown} and {} more", names.len() - MAX),
        false => shown,
    }
}
