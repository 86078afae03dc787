//! Neighborhoods for few points: what was not asked for is made as small as the points need, what was asked for is refused.

use serde_json::Value;

use super::Config;
use crate::error::Result;
use crate::parameter::ParameterTree;
use crate::params::{CandidatePairs, CheckedGraphParams, GraphParams};
use crate::quantile::Estimator;
use crate::scale::FirstScale;

/// A parameter that was made smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shrunk {
    /// Its path.
    pub path: String,
    /// Its usual value.
    pub usual: usize,
    /// What was used.
    pub used: usize,
}

impl Config {
    /// The graph's parameters for points of which `n_known` (itself included) are known around each: the distinct points, or what
    /// a neighbor graph has. Gives what had to be made smaller, too.
    pub(crate) fn graph_for(&self, n_known: usize) -> Result<(CheckedGraphParams, Vec<Shrunk>)> {
        let most = n_known.saturating_sub(1).max(1);
        let mut graph = self.graph.clone();
        let mut shrunk = Vec::new();
        let mut limit = |path: &str, k: &mut usize| {
            if *k > most && !self.is_asked_for(path) {
                shrunk.push(Shrunk { path: path.into(), usual: *k, used: most });
                *k = most;
            }
        };
        if let CandidatePairs::Neighbors { k, .. } = &mut graph.candidates {
            limit("graph.candidates.k", k);
        }
        if let FirstScale::KthNeighbor { k } | FirstScale::MeanOfNeighbors { k } = &mut graph.first_scale {
            limit("graph.first_scale.k", k);
        }
        limit_pools(&mut graph.estimator, "graph.estimator", &mut limit);
        Ok((graph.check()?, shrunk))
    }

    /// Neighbors of each point for a graph that is not of the presets: those that were asked for, or the usual number as far as
    /// the points allow it.
    pub(crate) fn neighbors_for(&self, usual: usize, n_known: usize) -> (usize, Vec<Shrunk>) {
        let path = "graph.candidates.k";
        match self.graph.candidates {
            CandidatePairs::Neighbors { k, .. } if self.is_asked_for(path) => (k, Vec::new()),
            _ => {
                let used = usual.min(n_known.saturating_sub(1).max(1));
                let shrunk = (used < usual).then(|| Shrunk { path: path.into(), usual, used });
                (used, shrunk.into_iter().collect())
            }
        }
    }

    /// Parameters of the graph that were set, by their paths.
    pub(crate) fn set_of_graph(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(String::as_str).filter(|path| path.starts_with("graph."))
    }

    /// Whether a parameter was set, or differs from that of the preset.
    fn is_asked_for(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('.').skip(1).collect();
        let at = |graph: &GraphParams| {
            names.iter().try_fold(graph.to_json(), |value: Value, name| value.get(name).cloned())
        };
        let usual = at(&self.preset.params());
        self.given.contains(path) || (usual.is_some() && at(&self.graph) != usual)
    }
}

fn limit_pools(estimator: &mut Estimator, path: &str, limit: &mut impl FnMut(&str, &mut usize)) {
    match estimator {
        Estimator::Neighborhood(settings) => limit(&format!("{path}.pool"), &mut settings.pool),
        Estimator::Overlap(settings) => limit(&format!("{path}.pool"), &mut settings.pool),
        Estimator::Product(settings) => {
            for part in &mut settings.parts {
                let path = format!("{path}.parts.{}", part.name());
                limit_pools(part, &path, limit);
            }
        }
        Estimator::AutoEncoder(_)
        | Estimator::Factorization(_)
        | Estimator::Community(_)
        | Estimator::Identity
        | Estimator::Constant => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Preset;

    #[test]
    fn only_what_was_not_asked_for_shrinks() {
        let mut config = Config::default();
        let (params, shrunk) = config.graph_for(10).unwrap();
        assert_eq!((params.n_neighbors(), shrunk.len()), (9, 2));
        assert_eq!(config.graph_for(16).unwrap().1, []);
        config.set("graph.candidates.k", 15).unwrap();
        let (params, shrunk) = config.graph_for(10).unwrap();
        assert_eq!((params.n_neighbors(), shrunk.len()), (15, 1));
        config.set("preset", "robust").unwrap();
        config.graph.estimator = Estimator::named("overlap").unwrap();
        assert_eq!(config.graph_for(20).unwrap().1[0].used, 19);
        assert_eq!(Config::from(Preset::Paper).graph_for(4).unwrap().1[0].path, "graph.first_scale.k");
    }
}
