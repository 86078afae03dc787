//! The search of sparse points against the definition and the dense search.

use super::transposed::TILE;
use super::*;
use crate::error::Error;
use crate::neighbors::{NeighborGraph, OutsideSearch, SearchParams, Space, nearest_neighbors};
use crate::points::Points;
use crate::random::{Draws, Stage, Stream};
use proptest::prelude::*;

/// The same points twice: sparse, and as a dense table.
fn both_forms(rows: &[Vec<f64>], metric: Metric) -> (Space, Space) {
    let d = rows[0].len();
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            columns.push(column as u32);
            values.push(value);
        }
        offsets.push(values.len() as u64);
    }
    let points = SparsePoints::new(d, offsets, columns, values).unwrap();
    let dense = Points::new(rows.concat(), d).unwrap();
    (Space::from_sparse(points, metric).unwrap(), Space::from_points(dense, metric).unwrap())
}

/// Rows in which a share of the values is zero; the others from `draw`. No row is empty.
fn random_rows(
    n: usize,
    d: usize,
    share: f64,
    draws: &mut Draws,
    draw: impl Fn(&mut Draws) -> f64,
) -> Vec<Vec<f64>> {
    let mut row = || {
        let mut row: Vec<f64> =
            (0..d).map(|_| if draws.uniform() < share { 0.0 } else { draw(draws) }).collect();
        if row.iter().all(|value| *value == 0.0) {
            row[draws.below(d)] = 1.0;
        }
        row
    };
    (0..n).map(|_| row()).collect()
}

/// The definition, computed naively.
fn by_definition(space: &Space, k: usize) -> (Vec<u32>, Vec<f64>) {
    let (mut ids, mut distances) = (Vec::new(), Vec::new());
    for i in 0..space.len() {
        let mut row: Vec<(f64, u32)> =
            (0..space.len()).filter(|&j| j != i).map(|j| (space.distance(i, j), j as u32)).collect();
        row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ids.extend(row[..k].iter().map(|pair| pair.1));
        distances.extend(row[..k].iter().map(|pair| pair.0));
    }
    (ids, distances)
}

fn parts(graph: &NeighborGraph) -> (Vec<u32>, Vec<f64>) {
    let n = graph.len();
    let ids = (0..n).flat_map(|i| graph.ids(i)).copied().collect();
    (ids, (0..n).flat_map(|i| graph.distances(i)).copied().collect())
}

fn is_supported(metric: Metric) -> bool {
    matches!(metric.geometry(), Geometry::SquaredEuclidean(_))
}

fn supported() -> Vec<Metric> {
    Metric::all().filter(|&metric| is_supported(metric)).collect()
}

fn any_metric() -> impl Strategy<Value = Metric> {
    prop::sample::select(supported())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Values from a few whole numbers, of either sign: ties, copies, rows that share no column, empty columns.
    #[test]
    fn the_search_has_the_bits_of_the_definition(
        n in 2usize..150, d in 1usize..40, k in 1usize..20, share in 0.0f64..1.0, grid in 1usize..5,
        least in -2i32..2, seed in any::<u64>(), metric in any_metric(),
    ) {
        let k = k.min(n - 1);
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let rows = random_rows(n, d, share, &mut draws, |draws| f64::from(least) + draws.below(grid) as f64);
        let (space, _) = both_forms(&rows, metric);
        let found = nearest_neighbors(&space, k, &Run::new(0)).unwrap();
        prop_assert_eq!(parts(&found), by_definition(&space, k));
    }

    /// Without ties the dense search finds the same neighbors, at the same distances up to rounding.
    #[test]
    fn dense_points_have_the_same_neighbors(
        d in 7usize..60, share in 0.0f64..0.9, seed in any::<u64>(), metric in any_metric(),
    ) {
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let mut rows = random_rows(120, d, share, &mut draws, |draws| draws.normal());
        // A common column, so that no two rows are equally far from a third because they share nothing with it.
        rows.iter_mut().for_each(|row| row[0] = 3.0 + draws.normal());
        let (sparse, dense) = both_forms(&rows, metric);
        let of_sparse = nearest_neighbors(&sparse, 9, &Run::new(0)).unwrap();
        let of_dense = nearest_neighbors(&dense, 9, &Run::new(0)).unwrap();
        prop_assert_eq!(parts(&of_sparse).0, parts(&of_dense).0);
        for (a, b) in parts(&of_sparse).1.iter().zip(parts(&of_dense).1) {
            prop_assert!((a - b).abs() <= 1e-12 * b, "{} {}", a, b);
        }
        let distinct = |space: &Space| space.distinct(&Run::new(0)).unwrap().1;
        let (of_sparse, of_dense) = (distinct(&sparse), distinct(&dense));
        prop_assert_eq!(of_sparse.node_of_row(), of_dense.node_of_row());
    }

    /// Very different magnitudes, including those whose squares overflow or underflow.
    #[test]
    fn extreme_values_have_the_bits_of_the_definition(
        seed in any::<u64>(), most in 0i32..200, metric in any_metric(),
    ) {
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let rows = random_rows(90, 12, 0.6, &mut draws, |draws| {
            draws.normal() * 10f64.powi(draws.below(2 * most as usize + 1) as i32 - most)
        });
        let (space, _) = both_forms(&rows, metric);
        let found = nearest_neighbors(&space, 5, &Run::new(0)).unwrap();
        prop_assert_eq!(parts(&found), by_definition(&space, 5));
    }

    #[test]
    fn the_nearest_of_other_groups_are_those_of_a_scan(
        n in 2usize..150, d in 1usize..30, share in 0.3f64..1.0, n_groups in 1usize..6, seed in any::<u64>(),
        metric in any_metric(),
    ) {
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let rows = random_rows(n, d, share, &mut draws, |draws| draws.below(4) as f64 - 1.0);
        let group: Vec<u32> = (0..n).map(|_| draws.below(n_groups) as u32).collect();
        let (space, _) = both_forms(&rows, metric);
        let found = OutsideSearch::new(&space, &SearchParams::default()).nearest(&group, n_groups, 0, &Run::new(0)).unwrap().shortest;
        for (own, found) in found.iter().enumerate() {
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let expected = pairs
                .filter(|&(i, j)| own > 0 && group[i] == own as u32 && group[j] != own as u32)
                .map(|(i, j)| (space.distance(i, j), i.min(j) as u32, i.max(j) as u32))
                .min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            let ends = |a: u32, b: u32| (a.min(b), a.max(b));
            let found = found.map(|pair| {
                let (low, high) = ends(pair.inside, pair.outside);
                (pair.distance, low, high)
            });
            prop_assert_eq!(found, expected);
        }
    }
}

/// Several tiles, blocks and chunks of work, most chunks untouched.
#[test]
fn many_points_with_rare_columns() {
    let (n, k) = (2 * TILE + 77, 4);
    let mut draws = Stream::new(5, Stage::Generator).at(0, 0);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let mut own: Vec<u32> = (0..3).map(|_| draws.below(3000) as u32).collect();
        own.sort_unstable();
        own.dedup();
        values.extend(own.iter().map(|_| 1.0 + draws.below(3) as f64));
        columns.extend(own);
        offsets.push(values.len() as u64);
    }
    let points = SparsePoints::new(3000, offsets, columns, values).unwrap();
    for metric in supported() {
        let space = Space::from_sparse(points.clone(), metric).unwrap();
        let found = nearest_neighbors(&space, k, &Run::new(0)).unwrap();
        for i in (0..n).step_by(509) {
            let mut row: Vec<(f64, u32)> =
                (0..n).filter(|&j| j != i).map(|j| (space.distance(i, j), j as u32)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let ids: Vec<u32> = row[..k].iter().map(|pair| pair.1).collect();
            assert_eq!(found.ids(i), ids, "{metric:?}, row {i}");
            assert!(found.distances(i).iter().zip(&row).all(|(a, b)| *a == b.0));
        }
    }
}

#[test]
fn rows_without_a_common_column_are_at_distance_one() {
    let rows: Vec<Vec<f64>> =
        (0..6).map(|i| (0..6).map(|j| if i == j { 0.1 + j as f64 } else { 0.0 }).collect()).collect();
    let (space, _) = both_forms(&rows, Metric::Cosine);
    let found = nearest_neighbors(&space, 2, &Run::new(0)).unwrap();
    for (i, lowest) in [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]].iter().enumerate() {
        assert_eq!((found.ids(i), found.distances(i)), (&lowest[..], &[1.0, 1.0][..]));
    }
    let (space, _) = both_forms(&rows, Metric::Euclidean);
    let found = nearest_neighbors(&space, 2, &Run::new(0)).unwrap();
    assert_eq!(found.ids(5), [0, 1]);
    assert_eq!(space.distance(5, 0), (5.1f64 * 5.1 + 0.1 * 0.1).sqrt());
}

#[test]
fn close_rows_keep_their_digits() {
    // 1 − cos is 5e-21 here, which a difference from 1 would lose.
    let (space, _) = both_forms(&[vec![1.0, 0.0], vec![1.0, 1e-10], vec![0.0, 1.0]], Metric::Cosine);
    let found = space.distance(0, 1);
    assert!((found / 5e-21 - 1.0).abs() < 1e-9, "{found}");
    assert_eq!(space.distance(0, 0), 0.0);
}

#[test]
fn other_metrics_are_refused_and_told_which_are_not() {
    let points = SparsePoints::new(1, vec![0, 1], vec![0], vec![1.0]).unwrap();
    for metric in Metric::all() {
        let made = Space::from_sparse(points.clone(), metric);
        let is_refused = matches!(made, Err(Error::Parameter { .. }));
        assert_eq!(
            (is_refused, UNSUPPORTED.contains(metric.name())),
            (!is_supported(metric), is_supported(metric))
        );
    }
}
