//! What a user should know about a fit that nevertheless succeeded.

use std::fmt;

use crate::config::Shrunk;

/// Something to know about a result. Its text says what to do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// There are too few points for the usual neighborhoods, which were made smaller.
    FewPoints {
        /// Distinct points, or known neighbors and the point itself.
        n_known: usize,
        /// What was made smaller.
        shrunk: Vec<Shrunk>,
    },
    /// Columns that were left out because all their cells are equal.
    ConstantColumns(Vec<String>),
    /// Columns that were left out because they have no cell.
    EmptyColumns(Vec<String>),
    /// Missing cells were filled with the median of their column.
    FilledCells {
        /// How many.
        n_cells: usize,
        /// The columns.
        columns: Vec<String>,
    },
    /// Sparse rows without a cosine, because of which all distances are Euclidean.
    ZeroRows {
        /// How many.
        n_rows: usize,
    },
    /// Every edge has the same probability.
    FlatDecay {
        /// Whether the estimator was trained.
        is_trained: bool,
    },
    /// Models whose iterations were used up while they were still improving.
    UnfinishedTraining {
        /// How many models.
        n_unfinished: usize,
        /// Of how many.
        n_models: usize,
    },
    /// The graph fell into connected components, which were joined by weak links.
    Linked {
        /// How many components.
        n_components: usize,
    },
    /// The graph is in several connected components.
    Disconnected {
        /// How many.
        n_components: usize,
    },
    /// A given graph came in several connected components, which were joined by weak links before it was clustered.
    LinkedForClusters {
        /// How many.
        n_components: usize,
    },
    /// The eigensolver could not make sure that it missed no smaller eigenvalue.
    UnconfirmedEigenpairs,
}

impl Warning {
    /// Its kind by name, for front ends with warnings of their own.
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
            Warning::ConstantColumns(names) => write!(f, "left out, because constant: {}", some_of(names)),
            Warning::EmptyColumns(names) => write!(f, "left out, because empty: {}", some_of(names)),
            Warning::FilledCells { n_cells, columns } => write!(
                f,
                "{n_cells} missing cells were filled with the median of their column: {}",
                some_of(columns)
            ),
            Warning::ZeroRows { n_rows } => write!(
                f,
                "{n_rows} rows are all zero and have no cosine, so that distances are Euclidean; leave them out, or set metric"
            ),
            Warning::FlatDecay { is_trained } => {
                let advice = match is_trained {
                    true => "lower the rank of graph.estimator",
                    false => "raise graph.threshold, or use the preset robust",
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
                "the graph fell into {n_components} connected components, which were joined by weak links; more neighbors \
                 (graph.candidates.k) join them better"
            ),
            Warning::Disconnected { n_components } => {
                write!(f, "the graph has {n_components} connected components")
            }
            Warning::LinkedForClusters { n_components } => write!(
                f,
                "the graph came in {n_components} connected components, which were joined by weak links; \
                 cluster.components=separately clusters each"
            ),
            Warning::UnconfirmedEigenpairs => f.write_str(
                "the eigensolver could not make sure that it missed no eigenvalue; ask for fewer clusters",
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
