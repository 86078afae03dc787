//! Out-of-core tables change only where a run stores its points: the results are the same to the bit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::error::Error;
use taugraph::generators::uneven_blobs;
use taugraph::memory::{Scratch, ScratchTable};
use taugraph::neighbors::{NeighborGraph, SearchMethod, Space, search_neighbors};
use taugraph::params::{GraphParams, Preset};
use taugraph::points::{Missing, Numbers, Points, Precision, PreparationParams, SharedValues, prepare};
use taugraph::progress::Run;
use taugraph::robust::{RowSize, memory_estimate, robust_graph};

/// Counted tables on the heap: where they are does not matter to the library.
#[derive(Default)]
struct Counted {
    tables: AtomicUsize,
    values: AtomicUsize,
}

impl Scratch for Counted {
    fn table(&self, n_values: usize) -> Result<Box<dyn ScratchTable>, String> {
        self.tables.fetch_add(1, Ordering::Relaxed);
        self.values.fetch_add(n_values, Ordering::Relaxed);
        Ok(Box::new(vec![0.0; n_values]))
    }
}

/// A full disk.
struct Full;

impl Scratch for Full {
    fn table(&self, _: usize) -> Result<Box<dyn ScratchTable>, String> {
        Err("the disk is full".into())
    }
}

/// Uneven blobs with missing cells, copies of rows and a constant column.
fn raw_table(n: usize, d: usize) -> Vec<f64> {
    let blobs = uneven_blobs(n, d - 1, 5, 8).unwrap().points;
    let mut table = Vec::with_capacity(n * d);
    for row in 0..n {
        // Every seventh row is the one before it.
        let source = if row % 7 == 6 { row - 1 } else { row };
        table.extend(
            blobs
                .row(source)
                .iter()
                .enumerate()
                .map(|(column, value)| if (source * 31 + column * 17) % 97 == 0 { f64::NAN } else { value }),
        );
        table.push(2.5);
    }
    table
}

/// Every number of a whole run, as bits.
fn all_bits(table: &[f64], d: usize, metric: Metric, params: &GraphParams, run: &Run<'_>) -> Vec<u64> {
    let prepared = prepare(table, d, &PreparationParams::default(), run).unwrap();
    assert_eq!(prepared.constant_columns, [d - 1]);
    assert!(prepared.n_imputed() > 0);
    let mut bits: Vec<u64> = prepared.points.values().iter().map(|value| value.to_bits()).collect();
    let space = Space::from_points_with(prepared.points, metric, run.scratch).unwrap();
    let robust = robust_graph(&space, &params.clone().check().unwrap(), run).unwrap();
    assert!(robust.duplicates.n_copies() > 0);
    let clustering = spectral_clustering(&robust.graph, &ClusterParams::exactly(5), run).unwrap();
    bits.extend(clustering.labels.iter().map(|&label| u64::from(label)));
    bits.extend(robust.graph.ids().iter().map(|&id| u64::from(id)));
    for values in [robust.scales.values(), robust.stochastic.probabilities(), robust.graph.weights()] {
        bits.extend(values.iter().map(|value| value.to_bits()));
    }
    bits
}

#[test]
fn the_same_bits_in_memory_and_outside() {
    let d = 9;
    let table = raw_table(1500, d);
    for metric in [Metric::Euclidean, Metric::Cosine, Metric::Manhattan] {
        let params = Preset::Robust.params();
        let expected = all_bits(&table, d, metric, &params, &Run::new(3));
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let scratch = Counted::default();
            let found =
                pool.install(|| all_bits(&table, d, metric, &params, &Run::new(3).with_scratch(&scratch)));
            assert!(found == expected, "{metric:?} on {threads} threads");
            // The scaled points and the distinct ones; unit rows, panels of the search.
            let least = match metric {
                Metric::Euclidean => 3,
                Metric::Cosine => 4,
                Metric::Manhattan => 2,
            };
            assert!(scratch.tables.load(Ordering::Relaxed) >= least, "{metric:?}");
        }
    }
}

/// Also with inverted lists, and in the few columns of a tree.
#[test]
fn every_search_gives_the_same_bits() {
    for (n, d, method) in
        [(6000, 8, SearchMethod::Approximate), (900, 8, SearchMethod::Exact), (900, 3, SearchMethod::Exact)]
    {
        let points = uneven_blobs(n, d, 6, 4).unwrap().points;
        let shared = Points::from_shared(SharedValues::F64(Arc::new(points.values().to_vec())), d).unwrap();
        assert_eq!(points, shared);
        let mut params = Preset::Robust.params().search;
        params.method = method;
        let scratch = Counted::default();
        let search = |points: Points, run: &Run<'_>| -> NeighborGraph {
            let space = Space::from_points_with(points, Metric::Euclidean, run.scratch).unwrap();
            search_neighbors(&space, 10, &params, run).unwrap().0
        };
        let inside = search(points, &Run::new(1));
        assert_eq!(search(shared, &Run::new(1).with_scratch(&scratch)), inside, "{method:?} in {d} columns");
        assert_eq!(scratch.tables.load(Ordering::Relaxed) > 0, d > 6, "{method:?} in {d} columns");
    }
}

#[test]
fn shared_values_are_checked_as_others_are() {
    let shared = |values: Vec<f64>, d| Points::from_shared(SharedValues::F64(Arc::new(values)), d);
    assert_eq!(shared(vec![], 2), Err(Error::Empty { what: "rows" }));
    assert!(matches!(shared(vec![1.0; 5], 2), Err(Error::Shape { .. })));
    assert!(matches!(shared(vec![1.0, f64::NAN], 2), Err(Error::NotFinite { row: 0, column: 1, .. })));
    let points = shared(vec![0.0, 3.0, 4.0, 0.0], 2).unwrap();
    assert_eq!(points.clone().row(1), Numbers::from(&[4.0, 0.0]));
    assert_eq!(format!("{points:?}"), format!("{:?}", Points::new(vec![0.0, 3.0, 4.0, 0.0], 2).unwrap()));
    let zero = Space::from_points(shared(vec![1.0, 0.0, 0.0, 0.0], 2).unwrap(), Metric::Cosine);
    assert!(matches!(zero, Err(Error::ZeroRow { row: 1 })));
}

#[test]
fn a_refusal_of_the_scratch_is_an_error() {
    let table = raw_table(300, 8);
    let run = Run::new(0).with_scratch(&Full);
    let refused = prepare(&table, 8, &PreparationParams::default(), &run);
    let expected = Error::Scratch { bytes: 8 * 300 * 7, problem: "the disk is full".into() };
    assert_eq!(refused.unwrap_err(), expected);
}

/// Points that do not fit in memory with their copies fit without them.
#[test]
fn tables_outside_memory_do_not_count() {
    let (n, d) = (2000, 400);
    let table = raw_table(n, d);
    let params = Preset::Robust.params().check().unwrap();
    let outside = memory_estimate(n, RowSize::OutOfCore(d), &params).peak().1;
    let limit = outside + (1 << 20);
    assert!(memory_estimate(n, RowSize::Columns(d, Precision::Double), &params).peak().1 > limit + (4 << 20));
    let build = |run: &Run<'_>| {
        let preparation = PreparationParams::default().with(|params| params.missing = Missing::Median);
        let points = prepare(&table, d, &preparation, run)?.points;
        let space = Space::from_points_with(points, Metric::Euclidean, run.scratch)?;
        robust_graph(&space, &params, run).map(|robust| robust.graph)
    };
    let run = Run::new(0).with_memory_limit(Some(limit));
    assert!(matches!(build(&run), Err(Error::Memory { .. })));
    let scratch = Counted::default();
    let outside = build(&run.with_scratch(&scratch)).unwrap();
    assert_eq!(outside, build(&Run::new(0)).unwrap());
}

/// Principal components need their copies in memory, scratch or not.
#[test]
fn principal_components_count() {
    let table = raw_table(2000, 100);
    let preparation = PreparationParams::default().with(|params| params.pca = Some(5));
    let scratch = Counted::default();
    let run = Run::new(0).with_scratch(&scratch);
    let refused = prepare(&table, 100, &preparation, &run.with_memory_limit(Some(1 << 20)));
    assert!(matches!(refused, Err(Error::Memory { stage: "principal components", .. })));
    let outside = prepare(&table, 100, &preparation, &run).unwrap();
    assert_eq!(outside, prepare(&table, 100, &preparation, &Run::new(0)).unwrap());
}
