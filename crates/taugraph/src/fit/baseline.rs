//! Baseline graphs to compare the robust graph with, from the same inputs and the same preparation.

use super::graph::{FittedGraph, GivenGraph, Prepared, PreparedSpace, prepared};
use super::input::Input;
use crate::baselines::{
    BaselineGraph, Gamma, NeighborWeights, PathBasedParams, PathWeights, neighbor_graph, path_based_graph,
    rbf_graph,
};
use crate::config::Config;
use crate::edges::Symmetrize;
use crate::error::{Error, Result};
use crate::neighbors::Space;
use crate::parameter::choices;
use crate::progress::Run;

/// Default number of neighbors of each point.
const NEIGHBORS: usize = 10;

choices! {
    /// Graphs without quantiles, for comparison.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Baseline = "nearest-neighbors" {
        /// An edge if one of two points is among the nearest of the other.
        "nearest-neighbors" => NearestNeighbors,
        /// An edge if each is among the nearest of the other.
        "mutual-neighbors" => MutualNeighbors,
        /// The Gaussian kernel of all pairs.
        "rbf" => Rbf,
        /// Path-based similarity of all pairs.
        "path-based" => PathBased,
        /// The same with less weight for points in sparse regions.
        "robust-path-based" => RobustPathBased,
    }
}

impl Baseline {
    /// Builds the graph of an input. Of the graph's parameters only `graph.candidates.k` applies here; any other that was
    /// set is refused.
    pub fn fit<'a>(self, input: impl Into<Input<'a>>, config: &Config, run: &Run<'_>) -> Result<FittedGraph> {
        config.check()?;
        self.refuse_without_effect(config)?;
        let input = input.into();
        let row_size = input.row_size(config);
        let PreparedSpace { space, preparation, zero_rows, .. } = match prepared(input, config, run)? {
            Prepared::Space(prepared) => *prepared,
            Prepared::Graph(_) => return Err(Error::NeedsPoints { stage: "a baseline" }),
        };
        if !space.knows_all_pairs() && !matches!(self, Baseline::NearestNeighbors | Baseline::MutualNeighbors)
        {
            let advice = "use nearest-neighbors or mutual-neighbors";
            return Err(Error::NeedsAllPairs { stage: "this baseline", advice });
        }
        let n_known = match &space {
            Space::Neighbors(graph) => graph.k() + 1,
            _ => space.distinct(run)?.1.n_nodes(),
        };
        let (k, shrunk) = config.neighbors_for(NEIGHBORS, n_known);
        let shrunk = if self == Baseline::Rbf { Vec::new() } else { shrunk };
        let BaselineGraph { graph, duplicates } = self.graph(&space, k, run)?;
        Ok(FittedGraph::given(
            GivenGraph { graph, duplicates, preparation, shrunk },
            config,
            row_size,
            zero_rows,
        ))
    }

    fn graph(self, space: &Space, k: usize, run: &Run<'_>) -> Result<BaselineGraph> {
        let neighbors = |symmetrize| neighbor_graph(space, k, symmetrize, NeighborWeights::One, run);
        let paths = |weights| {
            path_based_graph(
                space,
                &PathBasedParams { weights, neighbors: k, ..PathBasedParams::default() },
                run,
            )
        };
        match self {
            Baseline::NearestNeighbors => neighbors(Symmetrize::Union),
            Baseline::MutualNeighbors => neighbors(Symmetrize::Mutual),
            Baseline::Rbf => rbf_graph(space, Gamma::default(), run),
            Baseline::PathBased => paths(PathWeights::Plain),
            Baseline::RobustPathBased => paths(PathWeights::Robust),
        }
    }

    fn refuse_without_effect(self, config: &Config) -> Result<()> {
        let known: &[&str] = match self {
            Baseline::Rbf => &[],
            _ => &["graph.candidates", "graph.candidates.kind", "graph.candidates.k"],
        };
        match config.set_of_graph().find(|path| !known.contains(path)) {
            None => Ok(()),
            Some(path) => Err(Error::ParameterOfOther {
                path: path.into(),
                choice: "the graph".into(),
                chosen: self.name().into(),
                others: "the presets".into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{SpectralClustering, Table, Warning};

    #[test]
    fn few_points_copies_and_parameters_without_effect() {
        let table = Table::new(vec![0.0, 1.0, 3.0, 3.0, 7.0], 1).unwrap();
        let run = Run::new(0);
        for name in Baseline::NAMES {
            let baseline = Baseline::named(name).unwrap();
            let graph = baseline.fit(&table, &Config::default(), &run).unwrap();
            assert_eq!(
                (graph.n_rows(), graph.graph().n_nodes(), graph.node_graph().n_nodes()),
                (5, 5, 4),
                "{name}"
            );
            assert_eq!(graph.graph().weight(2, 3), Some(1.0), "{name}");
            let is_few = graph.warnings().iter().any(|warning| matches!(warning, Warning::FewPoints { .. }));
            assert_eq!(is_few, baseline != Baseline::Rbf, "{name}");
            let clusters = SpectralClustering::new().n_clusters(2).fit_graph(graph, &run).unwrap();
            assert_eq!(clusters.labels()[2], clusters.labels()[3], "{name}");
            assert!(clusters.model().is_err(), "{name}");
            let mut config = Config::default();
            config.set("graph.threshold", 0.5).unwrap();
            let error = baseline.fit(&table, &config, &run).unwrap_err();
            assert_eq!(error.name(), "ParameterOfOther", "{name}");
        }
        let mut config = Config::default();
        config.set("graph.candidates.k", 10).unwrap();
        assert!(matches!(Baseline::default().fit(&table, &config, &run), Err(Error::TooFewPoints { .. })));
        assert!(matches!(Baseline::Rbf.fit(&table, &config, &run), Err(Error::ParameterOfOther { .. })));
    }
}
