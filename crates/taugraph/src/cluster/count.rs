//! The number of clusters: which level of the merge tree is the answer, how sure it is, and what else it might be.
//!
//! The tree merges what resists least. A level stays while the threshold rises from where it was reached to the resistance of its
//! weakest boundary: its lifetime. Structureless sets merge into one group at low thresholds. The answer is the finest level whose
//! weakest boundary resists enough ([`SUFFICIENT`]), or a little less if the level also lives long ([`WITH_LIFETIME`]: two Gaussians
//! in ten dimensions). Thin shapes of few points have gaps by chance, weak boundaries inside and one strong boundary outside: a
//! coarser level that lives much longer, after weak boundaries only, is then the answer ([`DISSOLVED`]); boundaries that barely suffice
//! give way to a level that lives long already ([`BARELY`]).
//!
//! Of several trees of the same graph the mean threshold at each number of groups counts: near the bounds one tree is a matter of luck.

use super::agglomerate::{LOWEST_THRESHOLD, Level, MergeTree};
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
/// The same for boundaries of at most this resistance …
const BARELY: f64 = 3.6;
/// … and a level of at least this lifetime.
const CLEAR_LIFETIME: f64 = 1.8;
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
}

impl CountByBoundaries {
    /// The answer of trees of the same graph, merged with vetoes.
    pub(crate) fn new(trees: &[&MergeTree]) -> Self {
        let levels = mean_levels(trees);
        let (n_clusters, resistance, evidence) = match answer(&levels) {
            Some(index) => {
                let Level { n_groups, left, .. } = levels[index];
                (n_groups, left, Evidence::of_resistance(left))
            }
            // Groups that never merge: separate components, or kept apart by pairs.
            None => match trees.iter().map(|tree| tree.min_groups()).max() {
                None | Some(1) => {
                    (1, levels.last().map_or(f64::NEG_INFINITY, |level| level.left), Evidence::None)
                }
                Some(n_groups) => (n_groups, f64::INFINITY, Evidence::Strong),
            },
        };
        Self { n_clusters, resistance, evidence, alternatives: alternatives(&levels, n_clusters) }
    }
}

/// The levels of the mean over trees of the threshold at each number of groups.
fn mean_levels(trees: &[&MergeTree]) -> Vec<Level> {
    let of_trees: Vec<Vec<Level>> = trees.iter().map(|tree| tree.levels()).collect();
    let finest = of_trees.iter().filter_map(|levels| levels.first()).map(|level| level.n_groups).max();
    let mut sums = vec![0.0; finest.unwrap_or(0) + 1];
    for levels in &of_trees {
        // From fine to coarse; a number of groups that is no level is passed at the threshold before.
        let (mut level, mut threshold) = (0, LOWEST_THRESHOLD);
        for n_groups in (0..sums.len()).rev() {
            while levels.get(level).is_some_and(|level| level.n_groups >= n_groups) {
                threshold = levels[level].left;
                level += 1;
            }
            sums[n_groups] += threshold;
        }
    }
    let mut levels: Vec<Level> = Vec::new();
    for n_groups in (2..sums.len()).rev() {
        let left = sums[n_groups] / trees.len() as f64;
        let reached = levels.last().map_or(f64::NEG_INFINITY, |level| level.left);
        if left > reached {
            levels.push(Level { n_groups, reached, left });
        }
    }
    levels
}

/// Which level is the answer, if any but one group is.
fn answer(levels: &[Level]) -> Option<usize> {
    let resists = |level: &Level| {
        level.left >= SUFFICIENT || level.left >= NEGLIGIBLE && level.left + level.lifetime() >= WITH_LIFETIME
    };
    let finest = levels.iter().position(resists)?;
    let coarser = |dissolved: f64, lifetime: f64| {
        let least_lifetime = lifetime.max(LIFETIME_RATIO * levels[finest].lifetime());
        let dissolves = |level: &Level| level.reached <= dissolved && level.lifetime() >= least_lifetime;
        (finest + 1..levels.len()).rev().find(|&index| dissolves(&levels[index]))
    };
    Some(coarser(DISSOLVED, LONG_LIFETIME).or_else(|| coarser(BARELY, CLEAR_LIFETIME)).unwrap_or(finest))
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

/// The partitions at fixed thresholds, and the answer with its resistance, from coarse to fine: each is nested in the one before. None
/// for one group.
pub(super) fn layers(tree: &MergeTree, n_clusters: usize, resistance: Option<f64>) -> Vec<Layer> {
    let levels = tree.levels();
    let at = |threshold: &f64| levels.iter().find(|level| level.left >= *threshold);
    let mut chosen: Vec<(usize, f64)> =
        LAYERS.iter().filter_map(at).map(|level| (level.n_groups, level.left)).collect();
    if n_clusters > 1 {
        chosen.retain(|(n_groups, _)| *n_groups != n_clusters);
        let of_tree = levels.iter().rfind(|level| level.n_groups >= n_clusters).map(|level| level.left);
        chosen.extend(resistance.or(of_tree).map(|resistance| (n_clusters, resistance)));
    }
    chosen.sort_by_key(|(n_groups, _)| *n_groups);
    chosen.dedup_by_key(|(n_groups, _)| *n_groups);
    chosen.iter().filter_map(|&(n, resistance)| Some(Layer { labels: tree.cut(n)?, resistance })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (number of groups, resistance of the weakest boundary), from fine to coarse.
    fn levels(of: &[(usize, f64)]) -> Vec<Level> {
        let mut reached = f64::NEG_INFINITY;
        of.iter()
            .map(|&(n_groups, left)| {
                let level = Level { n_groups, reached, left };
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
        let unscaled = [
            (15, 2.75),
            (14, 3.0),
            (13, 3.2),
            (12, 3.3),
            (11, 3.4),
            (10, 5.4),
            (8, 5.8),
            (6, 7.3),
            (2, 10.7),
        ];
        assert_eq!(n_clusters(&unscaled), 10, "digits as they are");
    }

    #[test]
    fn long_lives_are_mentioned() {
        let found = alternatives(&levels(&[(12, 2.9), (10, 3.0), (8, 3.2), (7, 4.9), (2, 9.4)]), 10);
        let found: Vec<usize> = found.iter().map(|other| other.n_clusters).collect();
        assert_eq!(found, [2, 7, 12]);
    }
}
