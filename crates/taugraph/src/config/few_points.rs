//! Neighborhoods for few points: defaults are made as small as the points require; explicit values that do not fit are refused.

use super::Config;
use crate::error::Result;
use crate::params::{CandidatePairs, CheckedGraphParams};
use crate::quantile::{AutoEncoder, Estimator, Factorization, Neighborhood, Overlap};
use crate::scale::FirstScale;

/// A parameter that was made smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shrunk {
    /// Its path.
    pub path: String,
    /// Its default.
    pub usual: usize,
    /// The value used.
    pub used: usize,
}

impl Config {
    /// The graph's parameters when `n_known` points (itself included) are known around each: the distinct points, or what
    /// a neighbor graph has. Also returns what had to be made smaller.
    pub fn graph_for(&self, n_known: usize) -> Result<(CheckedGraphParams, Vec<Shrunk>)> {
        let most = n_known.saturating_sub(1).max(1);
        let mut graph = self.graph.clone();
        let mut shrunk = Vec::new();
        let mut limit = |path: &str, k: &mut usize, usual: usize| {
            let is_asked_for = *k != usual || self.given.contains(path);
            if *k > most && !is_asked_for {
                shrunk.push(Shrunk { path: path.into(), usual, used: most });
                *k = most;
            }
        };
        if let (CandidatePairs::Neighbors { k, .. }, CandidatePairs::Neighbors { k: usual, .. }) =
            (&mut graph.candidates, CandidatePairs::default())
        {
            limit("graph.candidates.k", k, usual);
        }
        match &mut graph.first_scale {
            FirstScale::KthNeighbor { k } | FirstScale::MeanOfNeighbors { k } => {
                limit("graph.first_scale.k", k, FirstScale::default().n_neighbors());
            }
            FirstScale::Given { .. } => {}
        }
        limit_pools(&mut graph.estimator, "graph.estimator", &mut limit);
        Ok((graph.check()?, shrunk))
    }

    /// Neighbors of each point for a graph outside the presets: the number set, or the default as far as
    /// the points allow.
    pub(crate) fn neighbors_for(&self, usual: usize, n_known: usize) -> (usize, Vec<Shrunk>) {
        let path = "graph.candidates.k";
        match (self.graph.candidates, CandidatePairs::default()) {
            (CandidatePairs::Neighbors { k, .. }, CandidatePairs::Neighbors { k: preset, .. })
                if k != preset || self.given.contains(path) =>
            {
                (k, Vec::new())
            }
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
}

fn limit_pools(estimator: &mut Estimator, path: &str, limit: &mut impl FnMut(&str, &mut usize, usize)) {
    match estimator {
        Estimator::Neighborhood(settings) => {
            limit(&format!("{path}.pool"), &mut settings.pool, Neighborhood::default().pool);
        }
        Estimator::Overlap(settings) => {
            limit(&format!("{path}.pool"), &mut settings.pool, Overlap::default().pool);
        }
        Estimator::Product(settings) => {
            for part in &mut settings.parts {
                let path = format!("{path}.parts.{}", part.name());
                limit_pools(part, &path, limit);
            }
        }
        Estimator::AutoEncoder(settings) => {
            let usual = AutoEncoder::default().target_neighbors;
            limit(&format!("{path}.target_neighbors"), &mut settings.target_neighbors, usual);
        }
        Estimator::Factorization(settings) => {
            let usual = Factorization::default().target_neighbors;
            limit(&format!("{path}.target_neighbors"), &mut settings.target_neighbors, usual);
        }
        Estimator::Community(_) | Estimator::Identity | Estimator::Constant => {}
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
        config.take_preset(Preset::Robust);
        assert_eq!(config.graph_for(10).unwrap().1.len(), 2, "a preset discards what was set for the graph");
        config.graph.estimator = Estimator::named("overlap").unwrap();
        assert_eq!(config.graph_for(20).unwrap().1[0].used, 19);
        assert_eq!(Config::from(Preset::Paper).graph_for(4).unwrap().1[0].path, "graph.first_scale.k");
    }
}
