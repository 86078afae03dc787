//! The number of clusters: which level of the merge tree is the answer, how sure it is, and what else it might be.
//!
//! The tree merges what resists least. A level stays while the threshold rises from where it was reached to the resistance of its
//! weakest boundary: its lifetime. Structureless sets merge into one group at low thresholds. The answer is the finest level whose
//! weakest boundary resists enough ([`SUFFICIENT`]), or a little less if the level also lives long ([`WITH_LIFETIME`]: two Gaussians
//! in ten dimensions). Thin shapes of few points have gaps by chance, weak boundaries inside and one strong boundary outside: a
//! coarser level that lives much longer, after weak boundaries only, is then the answer ([`DISSOLVED`]).

use super::agglomerate::{Level, MergeTree};
use crate::labels::Labels;

/// A boundary of this resistance separates two clusters.
pub(super) const SUFFICIENT: f64 = 3.12;
/// Less is not distinguishable from one group.
pub(super) const NEGLIGIBLE: f64 = 2.0;
/// Between the two: resistance and lifetime together.
const WITH_LIFETIME: f64 = 3.6;
/// Boundaries of at most this resistance dissolve …
const DISSOLVED: f64 = 6.5;
/// … into a level of at least this lifetime …
const LONG_LIFETIME: f64 = 4.0;
/// … that is so many times that of the finer level.
const LIFETIME_RATIO: f64 = 1.5;
/// A level with this lifetime is worth mentioning beside the answer.
const NOTABLE_LIFETIME: f64 = 1.4;
/// Above this threshold only separate components are left, and how far apart they are says nothing about their number.
const SEPARATE: f64 = 8.0;
/// At most so many are mentioned.
const MAX_ALTERNATIVES: usize = 3;

/// How strong the evidence for several clusters is, by the resistance of the weakest boundary between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Not distinguishable from one group.
    None,
    /// Seen in about one structureless set in twenty.
    Weak,
    /// Seen in about one structureless set in a hundred.
    Moderate,
    /// Seen in fewer.
    Strong,
}

impl Evidence {
    /// The word for a resistance; docs/CLUSTERS.md has the rates on structureless sets.
    pub fn of_resistance(resistance: f64) -> Self {
        match resistance {
            r if r < NEGLIGIBLE => Evidence::None,
            r if r < SUFFICIENT => Evidence::Weak,
            r if r < 5.0 => Evidence::Moderate,
            _ => Evidence::Strong,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::None => "none",
            Evidence::Weak => "weak",
            Evidence::Moderate => "moderate",
            Evidence::Strong => "strong",
        }
    }
}

/// Another number of clusters that is worth a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// Number of clusters.
    pub n_clusters: usize,
    /// Resistance of its weakest boundary.
    pub resistance: f64,
}

/// How many clusters the boundaries of the merge tree suggest.
#[derive(Debug, Clone, PartialEq)]
pub struct CountByBoundaries {
    /// Number of clusters.
    pub n_clusters: usize,
    /// Resistance of the weakest boundary between two of them; of the strongest boundary that was given up if there is one cluster;
    /// infinite if nothing connects them, or pairs keep them apart.
    pub resistance: f64,
    /// The evidence for as many clusters.
    pub evidence: Evidence,
    /// Other numbers, ascending.
    pub alternatives: Vec<Alternative>,
    /// The two groups of the weakest boundary, by their numbers in the tree; `None` for one cluster.
    pub weakest: Option<[u32; 2]>,
}

impl CountByBoundaries {
    /// The answer of a tree merged with vetoes.
    pub(super) fn new(tree: &MergeTree) -> Self {
        let levels = tree.levels();
        let Some(answer) = answer(&levels) else {
            // Groups that never merge: separate components, or kept apart by pairs.
            let n_clusters = tree.min_groups();
            let strongest = levels.last().map_or(f64::NEG_INFINITY, |level| level.left);
            let (resistance, evidence) = match n_clusters {
                1 => (strongest, Evidence::None),
                _ => (f64::INFINITY, Evidence::Strong),
            };
            let alternatives = alternatives(&levels, n_clusters);
            return Self { n_clusters, resistance, evidence, alternatives, weakest: None };
        };
        let level = levels[answer];
        Self {
            n_clusters: level.n_groups,
            resistance: level.left,
            evidence: Evidence::of_resistance(level.left),
            alternatives: alternatives(&levels, level.n_groups),
            weakest: Some(level.weakest),
        }
    }
}

/// Which level is the answer, if any but one group is.
fn answer(levels: &[Level]) -> Option<usize> {
    let resists = |level: &Level| {
        level.left >= SUFFICIENT || level.left >= NEGLIGIBLE && level.left + level.lifetime() >= WITH_LIFETIME
    };
    let finest = levels.iter().position(resists)?;
    let least_lifetime = LONG_LIFETIME.max(LIFETIME_RATIO * levels[finest].lifetime());
    let dissolves = |level: &Level| level.reached <= DISSOLVED && level.lifetime() >= least_lifetime;
    let coarser = (finest + 1..levels.len()).rev().find(|&index| dissolves(&levels[index]));
    Some(coarser.unwrap_or(finest))
}

/// Levels that live long, other than the answer.
fn alternatives(levels: &[Level], n_clusters: usize) -> Vec<Alternative> {
    let is_notable = |level: &&Level| {
        level.n_groups != n_clusters
            && level.left >= NEGLIGIBLE
            && level.reached <= SEPARATE
            && level.lifetime() >= NOTABLE_LIFETIME
    };
    let mut notable: Vec<&Level> = levels.iter().filter(is_notable).collect();
    notable.sort_by(|a, b| b.lifetime().total_cmp(&a.lifetime()));
    notable.truncate(MAX_ALTERNATIVES);
    notable.sort_by_key(|level| level.n_groups);
    notable.iter().map(|level| Alternative { n_clusters: level.n_groups, resistance: level.left }).collect()
}

/// One of the nested answers from coarse to fine.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The cluster of each node.
    pub labels: Labels,
    /// Resistance of the weakest boundary between two of its clusters.
    pub resistance: f64,
}

/// Thresholds whose partitions are layers.
const LAYERS: [f64; 7] = [NEGLIGIBLE, SUFFICIENT, 4.0, 5.0, 6.0, 8.0, 12.0];

/// The partitions at fixed thresholds, and the answer, from coarse to fine: each is nested in the one before. None for one group.
pub(super) fn layers(tree: &MergeTree, n_clusters: usize) -> Vec<Layer> {
    let levels = tree.levels();
    let mut chosen: Vec<&Level> =
        LAYERS.iter().filter_map(|&threshold| levels.iter().find(|level| level.left >= threshold)).collect();
    chosen.extend(levels.iter().find(|level| level.n_groups == n_clusters));
    chosen.sort_by_key(|level| level.n_groups);
    chosen.dedup_by_key(|level| level.n_groups);
    let layer = |level: &&Level| Some(Layer { labels: tree.cut(level.n_groups)?, resistance: level.left });
    chosen.iter().filter_map(layer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (number of groups, resistance of the weakest boundary), from fine to coarse.
    fn levels(of: &[(usize, f64)]) -> Vec<Level> {
        let mut reached = f64::NEG_INFINITY;
        of.iter()
            .map(|&(n_groups, left)| {
                let level = Level { n_groups, reached, left, weakest: [0, 1] };
                reached = left;
                level
            })
            .collect()
    }

    fn n_clusters(of: &[(usize, f64)]) -> usize {
        let levels = levels(of);
        answer(&levels).map_or(1, |index| levels[index].n_groups)
    }

    /// Levels as they came out for generated sets.
    #[test]
    fn the_answer_is_what_resists() {
        assert_eq!(n_clusters(&[]), 1);
        assert_eq!(n_clusters(&[(9, 0.6), (4, 1.1), (2, 1.6)]), 1, "one Gaussian");
        assert_eq!(n_clusters(&[(4, 1.1), (2, 2.6)]), 2, "two Gaussians in ten dimensions");
        assert_eq!(n_clusters(&[(7, 1.7), (4, 2.1), (3, 2.4)]), 1, "a ring");
        assert_eq!(n_clusters(&[(12, 0.9), (9, 6.0), (8, 7.3), (2, 10.9)]), 9, "a grid");
        assert_eq!(n_clusters(&[(4, 1.0), (3, 3.9), (2, 13.5)]), 2, "two moons with a gap by chance");
        assert_eq!(
            n_clusters(&[(13, 2.5), (12, 3.0), (10, 3.2), (8, 3.4), (7, 4.9), (5, 6.4), (2, 9.4)]),
            10,
            "digits"
        );
    }

    #[test]
    fn long_lives_are_mentioned() {
        let found = alternatives(&levels(&[(12, 2.9), (10, 3.0), (8, 3.2), (7, 4.9), (2, 9.4)]), 10);
        let found: Vec<usize> = found.iter().map(|other| other.n_clusters).collect();
        assert_eq!(found, [2, 7, 12]);
    }
}
