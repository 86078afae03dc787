//! Every metric against naive oracles: textbook formulas for the distances, and sorted lists of all
//! distances for the searches.

use proptest::prelude::*;

use super::outside::OutsidePair;
use super::*;
use crate::distance::{DistanceMatrix, Metric};
use crate::error::Error;
use crate::points::{Numbers, Points, Precision};
use crate::progress::Run;
use crate::random::{Draws, Stage, Stream};

fn random_points(n: usize, d: usize, seed: u64) -> Points {
    let stream = Stream::new(seed, Stage::Generator);
    let values = (0..n).flat_map(|i| {
        let mut draws = stream.at(i as u32, 0);
        (0..d).map(|_| draws.normal()).collect::<Vec<_>>()
    });
    Points::new(values.collect(), d).unwrap()
}

/// Coordinates on a coarse grid, none of them 0: ties and duplicates everywhere.
fn points_on_grid(n: usize, d: usize, grid: usize, shift: f64, draws: &mut Draws) -> Points {
    Points::new((0..n * d).map(|_| shift + 1.0 + draws.below(grid) as f64).collect(), d).unwrap()
}

fn any_metric() -> impl Strategy<Value = Metric> {
    prop::sample::select(Metric::all().collect::<Vec<_>>())
}

/// The distance between two raw rows. A new metric gets its formula here.
fn textbook(metric: Metric, a: Numbers<'_>, b: Numbers<'_>) -> f64 {
    let sum = |term: fn(f64, f64) -> f64| -> f64 { a.iter().zip(b.iter()).map(|(a, b)| term(a, b)).sum() };
    match metric {
        Metric::Euclidean => sum(|a, b| (a - b).powi(2)).sqrt(),
        Metric::Manhattan => sum(|a, b| (a - b).abs()),
        Metric::Cosine => 1.0 - sum(|a, b| a * b) / (sum(|a, _| a * a).sqrt() * sum(|_, b| b * b).sqrt()),
    }
}

/// Equal up to rounding; 1 − cos loses everything below 1e-15.
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{found} and {expected}");
}

/// The `k` nearest of all candidates, ties by id.
fn sorted(mut all: Vec<(f64, u32)>, k: usize) -> (Vec<u32>, Vec<f64>) {
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.truncate(k);
    all.into_iter().map(|(distance, id)| (id, distance)).unzip()
}

fn naive(space: &Space, k: usize) -> NeighborGraph {
    let n = space.len();
    let of_point =
        |i: usize| sorted((0..n).filter(|&j| j != i).map(|j| (space.distance(i, j), j as u32)).collect(), k);
    let (ids, distances): (Vec<_>, Vec<_>) = (0..n).map(of_point).unzip();
    NeighborGraph { n, k, ids: ids.concat(), distances: distances.concat() }
}

/// The shortest pair leaving each group but group 0, ties by the lower id, then by the higher.
fn naive_outside(space: &Space, group: &[u32], n_groups: usize) -> Vec<Option<(f64, u32, u32)>> {
    let n = space.len() as u32;
    let shortest = |own: u32| {
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        pairs
            .filter(|&(i, j)| own > 0 && group[i as usize] == own && group[j as usize] != own)
            .map(|(i, j)| (space.distance(i as usize, j as usize), i.min(j), i.max(j)))
            .min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))))
    };
    (0..n_groups as u32).map(shortest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn distances_are_those_of_the_textbook(
        d in 1usize..12, grid in 1usize..60, seed in any::<u64>(), shift in prop::sample::select(vec![-3.5, 0.0, 1e3]),
    ) {
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let points = points_on_grid(30, d, grid, shift, &mut draws);
        let ids: Vec<u32> = (0..30).rev().collect();
        for metric in Metric::all() {
            let space = Space::from_points(points.clone(), metric).unwrap();
            for i in 0..30 {
                let mut squared = vec![0.0; 30];
                space.squared_distances(i, &ids, &mut squared);
                for (&j, squared) in ids.iter().zip(squared) {
                    let expected = textbook(metric, points.row(i), points.row(j as usize));
                    let found = space.distance(i, j as usize);
                    assert_close(found, expected);
                    prop_assert_eq!(squared, space.squared_distance(i, j as usize));
                    prop_assert!((squared - found * found).abs() <= 1e-14 * squared);
                    prop_assert!(found > 0.0 || squared == 0.0);
                }
                prop_assert_eq!(space.distance(i, i), 0.0);
            }
        }
    }

    /// In few columns and in many.
    #[test]
    fn every_search_equals_the_oracle(
        d in 1usize..12, n in 2usize..90, k in 1usize..20, grid in 1usize..60, seed in any::<u64>(), metric in any_metric(),
        shift in prop::sample::select(vec![0.0, 1e4]),
    ) {
        let k = k.min(n - 1);
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let points = points_on_grid(n, d, grid, shift, &mut draws);
        let space = Space::from_points(points, metric).unwrap();
        prop_assert_eq!(nearest_neighbors(&space, k, &Run::new(0)).unwrap(), naive(&space, k));
    }

    #[test]
    fn queries_of_new_points_equal_the_oracle(
        d in 1usize..12, n in 1usize..90, n_new in 1usize..40, k in 1usize..20, grid in 1usize..60, seed in any::<u64>(),
        metric in any_metric(),
    ) {
        let k = k.min(n);
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let raw = points_on_grid(n, d, grid, 0.0, &mut draws);
        let new = points_on_grid(n_new, d, grid, 0.0, &mut draws);
        let Space::Points(known) = Space::from_points(raw.clone(), metric).unwrap() else { unreachable!() };
        let found = neighbors_of_new(&known, &new, k, &Run::new(0)).unwrap();
        let prepared = known.prepare_new(&new, &Run::new(0)).unwrap();
        for row in 0..n_new {
            let distance = |id: usize| metric.distance(prepared.row(row), known.points().row(id));
            let (ids, distances) = sorted((0..n).map(|id| (distance(id), id as u32)).collect(), k);
            prop_assert_eq!((found.ids(row), found.distances(row)), (&ids[..], &distances[..]));
            for (id, distance) in ids.into_iter().zip(distances) {
                assert_close(distance, textbook(metric, new.row(row), raw.row(id as usize)));
            }
        }
    }

    #[test]
    fn nearest_points_outside_a_group_equal_the_oracle(
        d in 1usize..12, n in 2usize..70, grid in 1usize..60, n_groups in 1usize..6, seed in any::<u64>(),
        metric in any_metric(),
    ) {
        let mut draws = Stream::new(seed, Stage::Generator).at(0, 0);
        let space = Space::from_points(points_on_grid(n, d, grid, 0.0, &mut draws), metric).unwrap();
        let group: Vec<u32> = (0..n).map(|_| draws.below(n_groups) as u32).collect();
        let params = SearchParams::default();
        let found = OutsideSearch::new(&space, &params).nearest(&group, n_groups, 0, &Run::new(0)).unwrap();
        prop_assert!(found.is_exact);
        let ends = |pair: OutsidePair| {
            (pair.distance, pair.inside.min(pair.outside), pair.inside.max(pair.outside))
        };
        let found: Vec<_> = found.shortest.into_iter().map(|pair| pair.map(ends)).collect();
        prop_assert_eq!(found, naive_outside(&space, &group, n_groups));
    }

    #[test]
    fn smooth_points_and_outliers_equal_the_oracle(d in 1usize..40, seed in any::<u64>(), far in -120i32..120) {
        let mut values = random_points(150, d, seed).values().to_vec();
        values[0] = 10f64.powi(far);
        values[d] = -3.0 * 10f64.powi(far / 2);
        let space = Space::from_points(Points::new(values, d).unwrap(), Metric::Euclidean).unwrap();
        prop_assert_eq!(nearest_neighbors(&space, 7, &Run::new(0)).unwrap(), naive(&space, 7));
    }
}

#[test]
fn several_tiles_equal_the_oracle() {
    let space = Space::from_points(random_points(2500, 9, 1), Metric::Euclidean).unwrap();
    assert_eq!(nearest_neighbors(&space, 15, &Run::new(0)).unwrap(), naive(&space, 15));
}

/// An even and an odd number of blocks, the last one incomplete; a far point, whose scores prove nothing, copies, and ties.
#[test]
fn pairs_of_blocks_equal_the_oracle() {
    for (n, k) in [(1300, 15), (1100, 40), (257, 200)] {
        let d = 33;
        let mut values = random_points(n, d, 4).values().to_vec();
        values[0] = 1e6;
        values.copy_within(5 * d..9 * d, (n - 4) * d);
        let space = Space::from_points(Points::new(values, d).unwrap(), Metric::Euclidean).unwrap();
        assert_eq!(nearest_neighbors(&space, k, &Run::new(0)).unwrap(), naive(&space, k), "{n} {k}");
        let mut draws = Stream::new(9, Stage::Generator).at(0, 0);
        let space = Space::from_points(points_on_grid(n, d, 2, 0.0, &mut draws), Metric::Cosine).unwrap();
        assert_eq!(
            nearest_neighbors(&space, k, &Run::new(0)).unwrap(),
            naive(&space, k),
            "{n} {k} on a grid"
        );
    }
}

#[test]
fn precomputed_inputs_give_the_same_neighbors() {
    let space = Space::from_points(random_points(60, 3, 2), Metric::Euclidean).unwrap();
    let graph = nearest_neighbors(&space, 9, &Run::new(0)).unwrap();
    let matrix = (0..60 * 60).map(|cell| space.distance(cell / 60, cell % 60)).collect();
    let distances = Space::Distances(DistanceMatrix::new(matrix, 60).unwrap());
    assert_eq!(nearest_neighbors(&distances, 9, &Run::new(0)).unwrap(), graph);
    let shorter = nearest_neighbors(&space, 4, &Run::new(0)).unwrap();
    let given = Space::Neighbors(graph);
    assert_eq!(nearest_neighbors(&given, 4, &Run::new(0)).unwrap(), shorter);
    assert!(matches!(nearest_neighbors(&given, 10, &Run::new(0)), Err(Error::Parameter { .. })));
}

#[test]
fn impossible_requests_are_refused() {
    let space = Space::from_points(random_points(5, 2, 3), Metric::Euclidean).unwrap();
    let too_many = nearest_neighbors(&space, 5, &Run::new(0));
    assert_eq!(too_many, Err(Error::TooFewPoints { needed: 5, distinct: 5 }));
    assert!(nearest_neighbors(&space, 0, &Run::new(0)).is_err());
    let one = Space::from_points(random_points(1, 2, 3), Metric::Euclidean).unwrap();
    assert_eq!(nearest_neighbors(&one, 1, &Run::new(0)), Err(Error::TooFewPoints { needed: 1, distinct: 1 }));
}

/// Points prepared for a metric in single precision, and the same values widened.
fn in_both_precisions(points: &Points, metric: Metric) -> [Space; 2] {
    let single = points.clone().in_precision(Precision::Single);
    let single = Space::from_points(single, metric).unwrap();
    let Space::Points(prepared) = &single else { unreachable!() };
    let wide = prepared.points().clone().in_precision(Precision::Double);
    [Space::Points(MetricPoints::restored(wide, metric).unwrap()), single]
}

/// Scan, tree, tiles and inverted lists; every distance, and the pairs that leave groups.
#[test]
fn single_precision_has_the_bits_of_the_same_values_widened() {
    let run = Run::new(0);
    for (metric, n, d, method) in [
        (Metric::Manhattan, 300, 9, SearchMethod::Exact),
        (Metric::Euclidean, 500, 3, SearchMethod::Exact),
        (Metric::Cosine, 500, 5, SearchMethod::Exact),
        (Metric::Euclidean, 700, 17, SearchMethod::Exact),
        (Metric::Cosine, 700, 30, SearchMethod::Exact),
        (Metric::Euclidean, 4000, 12, SearchMethod::Approximate),
    ] {
        let spaces = in_both_precisions(&random_points(n, d, 7), metric);
        let params = SearchParams { method, ..SearchParams::default() };
        let [wide, single] =
            spaces.each_ref().map(|space| search_neighbors(space, 10, &params, &run).unwrap());
        assert_eq!(wide, single, "{metric:?} {d}");
        let ids: Vec<u32> = (0..50).collect();
        let group: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let [wide, single] = spaces.each_ref().map(|space| {
            let (mut squared, mut gathered) = (vec![0.0; 50], Gathered::default());
            space.squared_distances(60, &ids, &mut squared);
            let mut distances = vec![0.0; 50];
            space.gather(ids.iter().copied(), &mut gathered);
            space.distances_to(60, &gathered, &mut distances);
            let outside = OutsideSearch::new(space, &params).nearest(&group, 3, 0, &run).unwrap();
            (squared, distances, outside.shortest, space.distinct(&run).unwrap().1)
        });
        assert_eq!(wide, single, "{metric:?} {d}");
    }
}

/// New points in the other precision: found as if both were double.
#[test]
fn precisions_mix() {
    let run = Run::new(0);
    for (metric, d) in [(Metric::Manhattan, 4), (Metric::Euclidean, 3), (Metric::Euclidean, 20)] {
        let [wide, single] = in_both_precisions(&random_points(200, d, 5), metric);
        let new = random_points(30, d, 6).in_precision(Precision::Single);
        let wide_new = new.clone().in_precision(Precision::Double);
        let expected = found_among(&wide, &wide_new, &run);
        for (known, new) in [(&wide, &new), (&single, &wide_new), (&single, &new)] {
            assert_eq!(found_among(known, new, &run), expected, "{metric:?} {d}");
        }
    }
}

fn found_among(known: &Space, new: &Points, run: &Run<'_>) -> NeighborQuery {
    let Space::Points(known) = known else { unreachable!() };
    neighbors_of_new(known, new, 8, run).unwrap()
}

#[test]
fn restored_points_must_be_prepared() {
    for metric in Metric::all() {
        let space = Space::from_points(random_points(20, 3, 4), metric).unwrap();
        let Space::Points(known) = &space else { unreachable!() };
        let again = MetricPoints::restored(known.points().clone(), metric).unwrap();
        assert_eq!((again.points(), again.metric()), (known.points(), metric));
    }
    let stretched = MetricPoints::restored(random_points(20, 3, 4), Metric::Cosine);
    assert!(matches!(stretched, Err(Error::BadStructure { row: 0, .. })));
}

#[test]
fn distinct_points_of_every_input() {
    let rows = [0.5, 2.0, 0.5, 3.0, 2.0];
    let points = Points::new(rows.to_vec(), 1).unwrap();
    let space = Space::from_points(points, Metric::Euclidean).unwrap();
    let matrix = (0..25).map(|cell| space.distance(cell / 5, cell % 5)).collect();
    let distances = Space::Distances(DistanceMatrix::new(matrix, 5).unwrap());
    for space in [&space, &distances] {
        let (distinct, duplicates) = space.distinct(&Run::new(0)).unwrap();
        assert_eq!((distinct.len(), duplicates.node_of_row()), (3, &[0, 1, 0, 2, 1][..]));
        assert_eq!(distinct.distance(0, 2), 2.5);
    }
    let given = Space::Neighbors(nearest_neighbors(&space, 2, &Run::new(0)).unwrap());
    let (distinct, duplicates) = given.distinct(&Run::new(0)).unwrap();
    assert_eq!((distinct.len(), duplicates.n_copies()), (5, 0));
}
