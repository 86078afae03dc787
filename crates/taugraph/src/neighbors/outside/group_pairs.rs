//! The shortest pair between every two groups, found once: the groups of later rounds consist of those of the first.

use rayon::prelude::*;

use super::OutsidePair;
use super::by_tiles::Shortest;
use crate::distance::SquareTransform;
use crate::error::Result;
use crate::neighbors::f32_points::F32Points;
use crate::neighbors::panels::Panels;
use crate::neighbors::tiles::QUERIES;
use crate::points::Points;
use crate::progress::Run;

/// Maximum number of groups: each starts a panel of its own, and there is a pair for every two.
const MAX_GROUPS: usize = 256;
/// Groups have at least so many points on average, a few panels.
const POINTS_PER_GROUP: usize = 64;

/// The groups of the first round, and the shortest pair between every two of them.
pub(super) struct GroupPairs {
    of_points: Vec<u32>,
    n_groups: usize,
    shortest: Vec<OutsidePair>,
}

impl GroupPairs {
    /// Whether one search of all pairs takes less time than searches from so many points in every round.
    pub fn pays(n: usize, n_groups: usize, n_searching: usize) -> bool {
        n_groups <= MAX_GROUPS && n_groups * POINTS_PER_GROUP <= n && 2 * n_searching > n
    }

    pub fn new(
        points: &Points,
        transform: SquareTransform,
        of_points: &[u32],
        n_groups: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        let mut members = vec![Vec::new(); n_groups];
        (0..).zip(of_points).for_each(|(i, &own)| members[own as usize].push(i));
        let f32_points = F32Points::new(points);
        let (panels, bounds) = Panels::new(&f32_points, members.iter().map(Vec::as_slice), run)?;
        let new = Shortest::new(points, transform, &f32_points, of_points, None);
        let blocks: Vec<(usize, &[u32])> = members
            .iter()
            .enumerate()
            .flat_map(|(own, members)| members.chunks(QUERIES).map(move |rows| (own, rows)))
            .collect();
        let found: Vec<Vec<OutsidePair>> = blocks
            .into_par_iter()
            .with_max_len(1)
            .map(|(own, rows)| {
                run.check()?;
                let others = (own + 1..n_groups).map(|other| bounds[other]..bounds[other + 1]);
                Ok(new.clone().of_block_by_range(rows, &panels, others))
            })
            .collect::<Result<_>>()?;
        let mut found: Vec<OutsidePair> = found.concat();
        let groups_of = |pair: &OutsidePair| [pair.inside, pair.outside].map(|i| of_points[i as usize]);
        found.sort_unstable_by(|a, b| {
            let (a_key, b_key) = (a.key(), b.key());
            let ids = |key: (f64, u32, u32)| (key.1, key.2);
            groups_of(a)
                .cmp(&groups_of(b))
                .then(a_key.0.total_cmp(&b_key.0))
                .then(ids(a_key).cmp(&ids(b_key)))
        });
        found.dedup_by_key(|pair| groups_of(pair));
        Ok(Self { of_points: of_points.to_vec(), n_groups, shortest: found })
    }

    /// The shortest pairs between these groups, seen from either end; `None` if the groups do not consist of those of the first round.
    pub fn between(&self, group: &[u32], skipped: u32) -> Option<Vec<OutsidePair>> {
        let mut group_of = vec![0; self.n_groups];
        self.of_points.iter().zip(group).for_each(|(&first, &group)| group_of[first as usize] = group);
        if self.of_points.iter().zip(group).any(|(&first, &group)| group_of[first as usize] != group) {
            return None;
        }
        let apart =
            self.shortest.iter().filter(|pair| group[pair.inside as usize] != group[pair.outside as usize]);
        let both = apart
            .flat_map(|&pair| [pair, OutsidePair { inside: pair.outside, outside: pair.inside, ..pair }]);
        Some(both.filter(|pair| group[pair.inside as usize] != skipped).collect())
    }
}
