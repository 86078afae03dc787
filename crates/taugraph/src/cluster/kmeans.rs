//! k-means++ with restarts; the same bits on any number of threads.
//!
//! With very many points the restarts run on a sample; the best of them then continues on all points.

use rayon::prelude::*;

use crate::distance::squared_euclidean;
use crate::error::{Error, Result, require};
use crate::labels::Labels;
use crate::parameter::{ParameterTree, parameters};
use crate::points::Points;
use crate::progress::Run;
use crate::random::{Draws, Stage, Stream};
use crate::vectorized::vectorized;

/// Up to this many points, every restart uses all of them.
const MANY: usize = 20_000;
/// Beyond that, the restarts use one in this many points, but at least [`MANY`].
const SAMPLED: usize = 8;
/// Points per chunk of parallel work.
const CHUNK: usize = 4096;

parameters! {
    /// Parameters of k-means.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct KMeansParams {
        /// Number of restarts; the best result is used.
        restarts: usize = 10, "at least 1" => |restarts| (1..=u32::MAX as usize).contains(restarts);
        /// Maximum number of assignment rounds per restart.
        max_rounds: usize = 300, "at least 1" => |most| *most >= 1;
        /// Stop once the sum of squared distances falls by less than this fraction.
        tolerance: f64 = 1e-7, "at least 0" => |tolerance| *tolerance >= 0.0;
    }
}

/// Groups of points.
#[derive(Debug, Clone, PartialEq)]
pub struct KMeans {
    /// Group of each point: 0, 1, … in the order of their first points; every group has a point.
    pub labels: Labels,
    /// Center of each group, row-major.
    pub centers: Vec<f64>,
    /// Sum of squared distances of the points to their centers.
    pub inertia: f64,
    /// Rounds of the best restart.
    pub rounds: usize,
    /// Whether the best restart converged before its rounds ran out.
    pub converged: bool,
}

/// Groups row-major points of `n_columns` columns into exactly `k` groups, or says why that is impossible.
pub fn kmeans(
    points: &[f64],
    n_columns: usize,
    k: usize,
    params: &KMeansParams,
    run: &Run<'_>,
) -> Result<KMeans> {
    params.check_ranges("cluster.kmeans")?;
    let n = Points::check_table(points.into(), n_columns)?;
    require(k >= 1, "clusters", k, "must be at least 1")?;
    let distinct = distinct_rows(points, n_columns, k);
    if distinct.len() < k {
        return Err(Error::TooManyClusters { clusters: k, distinct: distinct.len() });
    }
    run.stage("k-means", Some(params.restarts as u64))?;
    let problem = Problem { points, n_columns, n, k };
    let best = if n <= MANY {
        problem.best_start(params, run)?
    } else {
        // The sample has at least k distinct points, too.
        let order = Stream::new(run.seed, Stage::KMeans).at(u32::MAX, k as u32).permutation(n);
        let mut rows: Vec<usize> = order[..MANY.max(n / SAMPLED)].iter().map(|&i| i as usize).collect();
        rows.extend(distinct);
        let sample: Vec<f64> = rows.iter().flat_map(|&row| problem.row(row)).copied().collect();
        let of_sample = Problem { points: &sample, n_columns, n: rows.len(), k };
        let start = of_sample.best_start(params, run)?;
        problem.improve(start.centers, params, run)?
    };
    Ok(in_order_of_appearance(best, n_columns))
}

/// The first row of each of the first `enough` distinct points, or of all if there are fewer.
fn distinct_rows(points: &[f64], n_columns: usize, enough: usize) -> Vec<usize> {
    let row = |i: usize| &points[i * n_columns..(i + 1) * n_columns];
    let mut seen: Vec<usize> = Vec::new();
    for i in 0..points.len() / n_columns {
        if seen.len() == enough {
            break;
        }
        if !seen.iter().any(|&known| row(known) == row(i)) {
            seen.push(i);
        }
    }
    seen
}

struct Problem<'a> {
    points: &'a [f64],
    n_columns: usize,
    n: usize,
    k: usize,
}

impl Problem<'_> {
    fn row(&self, i: usize) -> &[f64] {
        &self.points[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// The best of the restarts, which run in parallel.
    fn best_start(&self, params: &KMeansParams, run: &Run<'_>) -> Result<KMeans> {
        let stream = Stream::new(run.seed, Stage::KMeans);
        let starts: Vec<KMeans> = (0..params.restarts)
            .into_par_iter()
            .map(|restart| {
                run.check()?;
                let centers = self.seed(&mut stream.at(restart as u32, self.k as u32));
                let found = self.improve(centers, params, run)?;
                run.progress.advance(1);
                Ok(found)
            })
            .collect::<Result<_>>()?;
        let best =
            starts.into_iter().reduce(|best, next| if next.inertia < best.inertia { next } else { best });
        Ok(best.expect("at least one start"))
    }

    /// Lloyd's rounds.
    fn improve(&self, mut centers: Vec<f64>, params: &KMeansParams, run: &Run<'_>) -> Result<KMeans> {
        let mut labels = vec![0u32; self.n];
        let mut distances = vec![0.0; self.n];
        let mut inertia = f64::INFINITY;
        for round in 1..=params.max_rounds {
            run.check()?;
            self.assign(&centers, &mut labels, &mut distances);
            self.fill_empty(&mut labels, &mut distances);
            let before = inertia;
            inertia = distances.iter().sum();
            self.move_centers(&labels, &mut centers);
            let converged = before - inertia <= params.tolerance * inertia;
            if converged || round == params.max_rounds {
                let labels = Labels::new(labels, self.k)?;
                return Ok(KMeans { labels, centers, inertia, rounds: round, converged });
            }
        }
        unreachable!("the last round returns")
    }

    /// Greedy k-means++ (Arthur and Vassilvitskii 2007): of a few points drawn by squared distance, the one that
    /// lowers the sum most.
    fn seed(&self, draws: &mut Draws) -> Vec<f64> {
        let trials = 2 + (self.k as f64).ln() as usize;
        let first = draws.below(self.n);
        let mut centers = self.row(first).to_vec();
        let mut nearest = vec![f64::INFINITY; self.n];
        nearer(self.points, self.row(first), &mut nearest);
        while centers.len() < self.k * self.n_columns {
            let total: f64 = nearest.iter().sum();
            let mut best: Option<(f64, usize, Vec<f64>)> = None;
            for _ in 0..trials {
                let chosen = self.draw_by_distance(&nearest, total, draws);
                let mut updated = nearest.clone();
                nearer(self.points, self.row(chosen), &mut updated);
                let sum: f64 = updated.iter().sum();
                if best.as_ref().is_none_or(|(least, _, _)| sum < *least) {
                    best = Some((sum, chosen, updated));
                }
            }
            let (_, chosen, updated) = best.expect("at least two trials");
            centers.extend_from_slice(self.row(chosen));
            nearest = updated;
        }
        centers
    }

    fn draw_by_distance(&self, nearest: &[f64], total: f64, draws: &mut Draws) -> usize {
        let mut target = draws.uniform() * total;
        let mut last = 0;
        for (i, &weight) in nearest.iter().enumerate() {
            if weight > 0.0 {
                last = i;
                if target < weight {
                    return i;
                }
                target -= weight;
            }
        }
        // Rounding used up the whole sum: take the last point that is not yet a center.
        last
    }

    /// Nearest center of each point; ties to the lower one.
    fn assign(&self, centers: &[f64], labels: &mut [u32], distances: &mut [f64]) {
        let rows = self.points.par_chunks(CHUNK * self.n_columns);
        let out = labels.par_chunks_mut(CHUNK).zip(distances.par_chunks_mut(CHUNK));
        out.zip(rows).for_each(|((labels, distances), rows)| {
            assign_rows(rows, self.n_columns, centers, labels, distances);
        });
    }

    /// Gives each empty group the point farthest from its center that its own group can spare.
    fn fill_empty(&self, labels: &mut [u32], distances: &mut [f64]) {
        let mut sizes = vec![0usize; self.k];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        for empty in 0..self.k {
            if sizes[empty] > 0 {
                continue;
            }
            let mut farthest: Option<usize> = None;
            for i in 0..self.n {
                let spare = sizes[labels[i] as usize] > 1;
                if spare && farthest.is_none_or(|known| distances[i] > distances[known]) {
                    farthest = Some(i);
                }
            }
            let i = farthest.expect("there are at least as many points as groups");
            sizes[labels[i] as usize] -= 1;
            sizes[empty] += 1;
            (labels[i], distances[i]) = (empty as u32, 0.0);
        }
    }

    fn move_centers(&self, labels: &[u32], centers: &mut [f64]) {
        centers.fill(0.0);
        let mut sizes = vec![0.0; self.k];
        for (i, &label) in labels.iter().enumerate() {
            let place = label as usize * self.n_columns;
            sizes[label as usize] += 1.0;
            centers[place..place + self.n_columns].iter_mut().zip(self.row(i)).for_each(|(sum, v)| *sum += v);
        }
        for (center, size) in centers.chunks_exact_mut(self.n_columns).zip(&sizes) {
            center.iter_mut().for_each(|v| *v /= size);
        }
    }
}

vectorized! {
    pub(crate) fn assign_rows<'a>(
        rows: &'a [f64], n_columns: usize, centers: &'a [f64], labels: &'a mut [u32], distances: &'a mut [f64],
    ) -> () {
        for ((row, label), distance) in rows.chunks_exact(n_columns).zip(labels).zip(distances) {
            let (mut best, mut least) = (0, f64::INFINITY);
            for (center, values) in centers.chunks_exact(n_columns).enumerate() {
                let squared = squared_euclidean(row, values);
                if squared < least {
                    (best, least) = (center, squared);
                }
            }
            (*label, *distance) = (best as u32, least);
        }
    }
}

vectorized! {
    /// Lowers each squared distance to that from the new center, if it is smaller.
    fn nearer<'a>(rows: &'a [f64], center: &'a [f64], squared: &'a mut [f64]) -> () {
        for (row, squared) in rows.chunks_exact(center.len()).zip(squared) {
            *squared = squared_euclidean(row, center).min(*squared);
        }
    }
}

/// Renumbers the groups by their first points.
fn in_order_of_appearance(found: KMeans, n_columns: usize) -> KMeans {
    let labels = Labels::in_order_of_appearance(found.labels.iter());
    let mut centers = vec![0.0; found.centers.len()];
    for (&new, &old) in labels.iter().zip(found.labels.iter()) {
        let (to, from) = (new as usize * n_columns, old as usize * n_columns);
        centers[to..to + n_columns].copy_from_slice(&found.centers[from..from + n_columns]);
    }
    KMeans { labels, centers, ..found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn obvious_groups_are_found() {
        let points = [0.0, 0.1, 10.0, 10.1, 20.0, 0.2];
        let found = kmeans(&points, 1, 3, &KMeansParams::default(), &Run::new(1)).unwrap();
        assert_eq!(found.labels[..], [0, 0, 1, 1, 2, 0]);
        assert!(found.converged);
        assert!((found.centers[0] - 0.1).abs() < 1e-12);
    }

    /// So many points that the restarts use a sample. One group is so rare that the sample may contain none of it.
    #[test]
    fn very_many_points() {
        let n = 2 * MANY;
        let points: Vec<f64> = (0..n)
            .map(|i| if i == 77 { 1e3 } else { 10.0 * (i % 3) as f64 + (i % 7) as f64 / 7.0 })
            .collect();
        let found = kmeans(&points, 1, 4, &KMeansParams::default(), &Run::new(1)).unwrap();
        let expected = Labels::in_order_of_appearance((0..n).map(|i| if i == 77 { 9 } else { i as u32 % 3 }));
        assert_eq!(found.labels, expected);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let again = one.install(|| kmeans(&points, 1, 4, &KMeansParams::default(), &Run::new(1)).unwrap());
        assert_eq!(again, found);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let points = [1.0, 1.0, 2.0];
        let error = kmeans(&points, 1, 3, &KMeansParams::default(), &Run::new(1));
        assert_eq!(error, Err(Error::TooManyClusters { clusters: 3, distinct: 2 }));
        assert!(kmeans(&points, 1, 0, &KMeansParams::default(), &Run::new(1)).is_err());
        for (bad, n_columns) in
            [(&[][..], 1), (&[1.0][..], 0), (&[1.0, 2.0, 3.0][..], 2), (&[f64::NAN][..], 1)]
        {
            assert!(kmeans(bad, n_columns, 1, &KMeansParams::default(), &Run::new(1)).is_err());
        }
    }

    proptest! {
        #[test]
        fn every_group_has_a_point_and_the_center_of_it(
            values in prop::collection::vec(0i32..6, 4..60), k in 1usize..5, seed in any::<u64>(),
        ) {
            let points: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
            let mut distinct = values.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assume!(distinct.len() >= k);
            let found = kmeans(&points, 1, k, &KMeansParams::default(), &Run::new(seed)).unwrap();
            for group in 0..k as u32 {
                let members: Vec<f64> =
                    points.iter().zip(found.labels.iter()).filter(|(_, l)| **l == group).map(|(p, _)| *p).collect();
                prop_assert!(!members.is_empty());
                let mean = members.iter().sum::<f64>() / members.len() as f64;
                prop_assert!((mean - found.centers[group as usize]).abs() < 1e-9);
            }
        }
    }
}
