//! Points in single precision: what has the bits of double precision, and what is rounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use taugraph::generators::{LabeledPoints, uneven_blobs};
use taugraph::memory::{Scratch, ScratchTable};
use taugraph::metrics::ari;
use taugraph::model::Model;
use taugraph::points::{Numbers, Precision, PreparationParams, SharedValues, Standardize, prepare};
use taugraph::progress::Run;
use taugraph::robust::{RowSize, memory_estimate};
use taugraph::{Config, Error, FittedGraph, Input, RobustGraph, SpectralClustering, Table};

/// Blobs whose values single precision holds, with copies of rows.
fn blobs(n: usize, d: usize) -> (Vec<f32>, Vec<f64>, LabeledPoints) {
    let data = uneven_blobs(n, d, 4, 8).unwrap();
    let mut single: Vec<f32> = data.points.values().iter().map(|value| value as f32).collect();
    single.copy_within(0..3 * d, 7 * d);
    let double = single.iter().map(|&value| value.into()).collect();
    (single, double, data)
}

fn config(metric: &str, standardize: &str) -> Config {
    let mut config = Config::default();
    config.set("metric", metric).unwrap();
    config.set("preparation.standardize", standardize).unwrap();
    config
}

fn graph_of<'a>(input: impl Into<Input<'a>>, config: &Config) -> FittedGraph {
    RobustGraph::with_config(config.clone()).fit(input).unwrap()
}

/// Every number of a graph, as bits.
fn bits(graph: &FittedGraph) -> Vec<u64> {
    let of_rows = graph.graph();
    let weights = of_rows.weights().iter().map(|weight| weight.to_bits());
    let scales = graph.local_scales().unwrap().into_iter().map(f64::to_bits);
    weights.chain(scales).collect()
}

/// Without scaling nothing is rounded: in a tree, by tiles, by scans, in memory and shared.
#[test]
fn unscaled_graphs_have_the_same_bits() {
    for (metric, d) in [("euclidean", 3), ("euclidean", 20), ("manhattan", 8)] {
        let (single, double, _) = blobs(400, d);
        let config = config(metric, "none");
        let expected = bits(&graph_of(Table::new(double, d).unwrap(), &config));
        let shared = SharedValues::F32(Arc::new(single.clone()));
        for table in [
            Table::from_f32(&single[..], d).unwrap(),
            Table::from_f32(single.clone(), d).unwrap(),
            Table::out_of_core(shared, d).unwrap(),
        ] {
            assert_eq!(table.precision(), Precision::Single);
            assert_eq!(bits(&graph_of(&table, &config)), expected, "{metric} {d}");
            assert_eq!(bits(&graph_of(table, &config)), expected, "{metric} {d}");
        }
    }
}

/// Scaled cells are those of double precision, rounded once; new points are rounded as the known ones were.
#[test]
fn prepared_cells_are_rounded_once() {
    let (mut single, mut double, _) = blobs(300, 7);
    (single[12], double[12]) = (f32::NAN, f64::NAN);
    let run = Run::new(0);
    for standardize in Standardize::all() {
        let params = PreparationParams::default().with(|params| params.standardize = standardize);
        let exact = prepare(&double, 7, &params, &run).unwrap();
        let found = prepare(&single, 7, &params, &run).unwrap();
        assert_eq!(
            (found.points.precision(), exact.points.precision()),
            (Precision::Single, Precision::Double)
        );
        assert_eq!(found.columns, exact.columns, "statistics are those of double precision");
        let rounded: Vec<f32> = exact.points.values().iter().map(|value| value as f32).collect();
        assert_eq!(found.points.values(), Numbers::from(&rounded), "{standardize:?}");
        assert_eq!(found.rule().apply(&double, 7).unwrap().0, found.points);
        assert_eq!(exact.rule().apply(&single, 7).unwrap().0, exact.points);
        // The precision can be requested.
        for (wanted, expected) in [(Precision::Single, &found), (Precision::Double, &exact)] {
            let params = params.with(|params| params.precision = Some(wanted));
            assert_eq!(prepare(&double, 7, &params, &run).unwrap().points.precision(), wanted);
            assert_eq!(prepare(&double, 7, &params, &run).unwrap().points, expected.points);
            assert_eq!(prepare(&single, 7, &params, &run).unwrap().points, expected.points);
        }
    }
    let pca = PreparationParams::default().with(|params| params.pca = Some(2));
    let (exact, found) = (prepare(&double, 7, &pca, &run).unwrap(), prepare(&single, 7, &pca, &run).unwrap());
    assert_eq!(found.points.precision(), Precision::Single);
    for (a, b) in exact.points.values().iter().zip(found.points.values().iter()) {
        assert!((a - b).abs() < 1e-5, "{a} and {b}");
    }
}

#[test]
fn what_single_precision_cannot_hold_is_refused() {
    let params = PreparationParams::default().with(|params| {
        params.standardize = Standardize::None;
        params.precision = Some(Precision::Single);
    });
    let refused = prepare(&[1.0, 2.0, 3.0, 1e300], 2, &params, &Run::new(0)).unwrap_err();
    assert!(matches!(refused, Error::Parameter { .. }), "{refused}");
    assert!(refused.to_string().contains("row 1, column 1 is beyond single precision"), "{refused}");
    let infinite = prepare(&[1.0f32, 2.0, f32::INFINITY, 4.0], 2, &params, &Run::new(0)).unwrap_err();
    assert!(matches!(infinite, Error::NotFinite { row: 1, column: 0, .. }), "{infinite}");
}

/// Scaling and unit rows are rounded to 7 digits: the clusters are the same.
#[test]
fn rounded_points_have_the_same_clusters_on_any_number_of_threads() {
    let (single, double, data) = blobs(500, 30);
    for metric in ["euclidean", "cosine"] {
        let clustering =
            SpectralClustering::with_config(config(metric, "auto")).set("cluster.n_clusters", 4).unwrap();
        let exact = clustering.fit(Table::new(&double[..], 30).unwrap()).unwrap();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let found = clustering.fit(Table::from_f32(&single[..], 30).unwrap()).unwrap();
                (found.labels().to_vec(), bits(found.graph()))
            })
        };
        let (labels, graph) = on(1);
        assert_eq!(ari(exact.labels(), &labels).unwrap(), 1.0, "{metric}");
        assert_eq!(labels.len(), data.labels.len());
        for threads in [2, 4] {
            assert_eq!(on(threads), (labels.clone(), graph.clone()), "{threads} threads, {metric}");
        }
    }
}

/// A model stores its points as they are; rows in either precision are placed alike.
#[test]
fn models_keep_their_precision() {
    let (single, double, _) = blobs(300, 9);
    for metric in ["euclidean", "cosine"] {
        let clustering =
            SpectralClustering::with_config(config(metric, "auto")).set("cluster.n_clusters", 4).unwrap();
        let [small, large] = [Table::from_f32(&single[..], 9), Table::new(&double[..], 9)].map(|table| {
            let model = clustering.fit(table.unwrap()).unwrap().model().unwrap();
            model.to_bytes().unwrap()
        });
        // 293 nodes, 9 columns, half of the bytes.
        assert!(large.len() - small.len() > 4 * 290 * 9, "{} and {}", large.len(), small.len());
        for bytes in [small, large] {
            let model = Model::from_bytes(&bytes).unwrap();
            assert_eq!(model.to_bytes().unwrap(), bytes);
            let [a, b] = [Numbers::from(&single), Numbers::from(&double)].map(|rows| {
                let (points, _) = model.prepare(rows, 9).unwrap();
                model.place(&points, &Run::new(0)).unwrap()
            });
            assert_eq!(a, b);
            assert!(a.same_as.iter().all(Option::is_some), "every row is one of its own");
        }
    }
}

/// Counts the slots of tables on the heap.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Scratch for Counted {
    fn table(&self, n_values: usize) -> Result<Box<dyn ScratchTable>, String> {
        self.0.fetch_add(n_values, Ordering::Relaxed);
        Ok(Box::new(vec![0.0; n_values]))
    }
}

/// Odd numbers of values included: two share a slot.
#[test]
fn out_of_core_tables_take_half_the_space() {
    let (single, double, _) = blobs(301, 9);
    let params = PreparationParams::default();
    let in_memory = prepare(&single, 9, &params, &Run::new(0)).unwrap();
    let (small, large) = (Counted::default(), Counted::default());
    let found = prepare(&single, 9, &params, &Run::new(0).with_scratch(&small)).unwrap();
    prepare(&double, 9, &params, &Run::new(0).with_scratch(&large)).unwrap();
    assert_eq!(found, in_memory);
    assert_eq!((small.0.into_inner(), large.0.into_inner()), ((301usize * 9).div_ceil(2), 301 * 9));
}

#[test]
fn estimates_count_bytes_not_values() {
    let config = Config::default();
    let of = |row| memory_estimate(10_000, row, &config.graph).peak().1;
    let [small, large] = [Precision::Single, Precision::Double]
        .map(|precision| of(RowSize::prepared(384, precision, &config, false)));
    assert_eq!(large - small, 2 * 4 * 10_000 * 384);
}

#[test]
fn values_given_away_give_the_same_graph() {
    // A borrowed table is unchanged by a fit; the same values given away give the same graph.
    let (single, _, _) = blobs(200, 5);
    let config = config("euclidean", "auto");
    let table = Table::from_f32(&single[..], 5).unwrap();
    let borrowed = bits(&graph_of(&table, &config));
    assert_eq!(table.values(), Numbers::from(&single));
    assert_eq!(bits(&graph_of(Table::from_f32(single, 5).unwrap(), &config)), borrowed);
}
