//! Trained estimators on sampled pairs compared with the same on all pairs: what is lost, what is gained.

use std::fs;
use std::io::Write;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use taugraph::affinity::{AffinityKind, Similarities};
use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::edges::{Edges, Symmetrize};
use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, pinwheel, two_spirals, uneven_blobs};
use taugraph::metrics::nmi;
use taugraph::neighbors::{Space, nearest_neighbors};
use taugraph::params::{CandidatePairs, Preset};
use taugraph::points::Standardize;
use taugraph::progress::{Progress, Run};
use taugraph::quantile::{AutoEncoder, Estimator, Factorization, Schedule, Taus, TrainingPairs};
use taugraph::robust::robust_graph;
use taugraph::scale::{FirstScale, first_scales};

use crate::data::{Error, LABEL_SETS, LabeledSet, missing_sets};
use crate::paper::Set;
use crate::statistics::{correlation, deviation, mean, paired};

/// Candidates of each point.
const CANDIDATES: usize = 40;
/// Similarity above which an edge is present, as in the preset `paper`.
const THRESHOLD: f64 = 0.2;
/// Seeds of the paper's sets, and of the larger ones.
const SEEDS: u64 = 5;
const SEEDS_OF_LARGE: u64 = 2;
/// For this many of them the models on all pairs are trained again with another seed, to see what seeds alone change.
const TRAINED_TWICE: u64 = 2;
/// Points of the larger sets.
const LARGE: usize = 1500;
/// Points of the sets whose epochs are timed, and the size beyond which training on all pairs is not.
const TIMED: [usize; 6] = [500, 1000, 2000, 4000, 16_000, 64_000];
const MAX_WITH_ALL_PAIRS: usize = 4000;
const TIMED_EPOCHS: usize = 10;

const SAMPLED: TrainingPairs = TrainingPairs::Sampled { per_edge: 1.0 };

fn auto_encoder(pairs: TrainingPairs) -> Estimator {
    Estimator::AutoEncoder(AutoEncoder::default().with(|params| params.pairs = pairs))
}

fn factorization(pairs: TrainingPairs) -> Estimator {
    Estimator::Factorization(Factorization::default().with(|params| params.pairs = pairs))
}

/// The control, then each model on all pairs and on sampled ones.
fn estimators() -> [Estimator; 5] {
    [
        Estimator::Constant,
        auto_encoder(TrainingPairs::All),
        auto_encoder(SAMPLED),
        factorization(TrainingPairs::All),
        factorization(SAMPLED),
    ]
}

/// The result of one estimator on one set.
struct Made {
    nmi: f64,
    n_nodes: usize,
    persistence: Vec<f64>,
}

fn make(set: &LabeledSet, estimator: Estimator, seed: u64) -> Result<Made, Error> {
    let run = Run::new(seed);
    let space = Space::from_points(set.points.clone(), Metric::Euclidean)?;
    let candidates = CandidatePairs::Neighbors { k: CANDIDATES, symmetrize: Symmetrize::Union };
    let params = Preset::ConstantControl.params().with(|params| {
        params.candidates = candidates;
        params.estimator = estimator;
        params.threshold = THRESHOLD;
    });
    let robust = robust_graph(&space, &params.check()?, &run)?;
    let clusters = ClusterParams::exactly(set.labels.n_classes());
    let found = spectral_clustering(&robust.graph, &clusters, &run)?;
    let labels = robust.duplicates.restore(&found.labels);
    let (nmi, n_nodes) = (nmi(&set.labels, &labels)?, robust.graph.n_nodes());
    Ok(Made { nmi, n_nodes, persistence: robust.stochastic.persistence().to_vec() })
}

/// A row of a table: a name, and the set for each seed.
struct Row {
    name: String,
    /// Its name in the registry, if it is a table.
    registered: Option<&'static str>,
    n_seeds: u64,
    load: Box<dyn Fn(u64) -> Result<LabeledSet, Error> + Sync>,
}

/// The sets of the paper's tables, and one with heavy noise.
fn paper_sets() -> Vec<Row> {
    let complete =
        Set::Table { set: "breast-cancer-wisconsin", standardize: Standardize::ZScore, complete_rows: true };
    let leaf = Set::Table { set: "leaf", standardize: Standardize::None, complete_rows: false };
    let of_clusters = [
        ("two spirals", Set::Spirals { sigma: 0.0, share: 0.0 }),
        ("two spirals, σ = 0.2", Set::Spirals { sigma: 0.2, share: 1.0 }),
        ("pinwheel", Set::Pinwheel),
        ("Glass", Set::table("glass")),
        ("Breast Cancer, complete rows", complete),
        ("Wine", Set::table("wine")),
        ("E. coli", Set::table("ecoli")),
        ("Leaf", leaf),
        ("Parkinsons", Set::table("parkinsons")),
    ];
    let of_labels = LABEL_SETS.map(|(name, id)| (name, Set::table(id)));
    let row = |(name, set): (&str, Set)| Row {
        name: name.to_string(),
        registered: set.registered(),
        n_seeds: SEEDS,
        load: Box::new(move |seed| set.load(seed)),
    };
    of_clusters.into_iter().chain(of_labels).map(row).collect()
}

fn prepared(made: &LabeledPoints) -> Result<LabeledSet, Error> {
    let (points, labels) = (&made.points, made.labels.clone());
    LabeledSet::new("", points.values(), points.n_columns(), labels, Standardize::ZScore)
}

/// Sets in which the sample is a small part of all pairs.
fn large_sets() -> Vec<Row> {
    let row = |name: &str, load: fn(u64) -> Result<LabeledSet, Error>| Row {
        name: name.to_string(),
        registered: None,
        n_seeds: SEEDS_OF_LARGE,
        load: Box::new(load),
    };
    vec![
        row("two spirals, σ = 0.2", |seed| {
            let clean = two_spirals(LARGE, SpiralDensity::UniformAngle, seed)?;
            prepared(&add_noise(&clean, 0.2, 1.0, seed)?)
        }),
        row("pinwheel", |seed| prepared(&pinwheel(LARGE, seed)?)),
        row("eight uneven blobs in 10 dimensions", |seed| prepared(&uneven_blobs(LARGE, 10, 8, seed)?)),
    ]
}

/// The study as Markdown.
pub fn write(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "# Sparse training\n")?;
    writeln!(
        out,
        "What `taugraph-lab sparse-training` prints. How to read it: docs/decisions/0016-sparse-training.md."
    )?;
    write_times(out)?;
    let rows = paper_sets();
    let missing = missing_sets(rows.iter().filter_map(|row| row.registered));
    if missing.is_empty() {
        writeln!(out, "\n## The paper's sets\n")?;
        write_quality(out, &rows)?;
    } else {
        writeln!(out, "\nSkipped: these datasets are missing: {}.", missing.join(", "))?;
    }
    writeln!(out, "\n## Larger sets\n\n{LARGE} points each.\n")?;
    write_quality(out, &large_sets())
}

fn write_quality(out: &mut dyn Write, rows: &[Row]) -> Result<(), Error> {
    writeln!(
        out,
        "NMI of spectral clustering with the true number of clusters, means ± standard deviations over the seeds from 0 on. The same {CANDIDATES} \
         nearest neighbors are the candidates of every column; parameters of the preset `robust` except for the estimator \
         and the threshold {THRESHOLD}. `control`: no quantile step, every candidate has probability 1. `all`: trained on all pairs, \
         `sampled`: on the candidates and one non-edge for each. `difference`: sampled − all, paired by seed, mean ± standard \
         error. `correlation`: between the persistences of all edges, sampled with all, mean over the seeds; in brackets that between two \
         trainings on all pairs with different seeds (means of the first {TRAINED_TWICE}); – if no edge persists. The last rows are paired comparisons of the means of \
         the sets, with wins / ties / losses. `pairs`: share of all pairs in the sample.\n"
    )?;
    writeln!(
        out,
        "| set | seeds | points | pairs | control | auto-encoder, all | sampled | difference | correlation \
         | factorization, all | sampled | difference | correlation |"
    )?;
    writeln!(out, "|---|{}", "---|".repeat(12))?;
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); estimators().len()];
    for row in rows {
        eprintln!("sparse training: {}", row.name);
        let of_seeds: Vec<OfSeed> =
            (0..row.n_seeds).into_par_iter().map(|seed| of_seed(row, seed)).collect::<Result<_, Error>>()?;
        let scores = |which: usize| -> Vec<f64> { of_seeds.iter().map(|made| made.scores[which]).collect() };
        let mut line = format!(
            "| {} | {} | {} | {:.0} % | {} |",
            row.name,
            row.n_seeds,
            of_seeds[0].n_nodes,
            100.0 * of_seeds[0].share,
            spread(&scores(0))
        );
        for (model, all) in [1, 3].into_iter().enumerate() {
            let differences: Vec<f64> =
                scores(all + 1).iter().zip(scores(all)).map(|(sampled, all)| sampled - all).collect();
            line += &format!(
                " {} | {} | {:+.3} ± {:.3} | {} ({}) |",
                spread(&scores(all)),
                spread(&scores(all + 1)),
                mean(&differences),
                deviation(&differences) / (differences.len() as f64).sqrt(),
                mean_known(of_seeds.iter().map(|made| made.with_sampled[model])),
                mean_known(of_seeds.iter().map(|made| made.with_another_seed[model])),
            );
        }
        writeln!(out, "{line}")?;
        means.iter_mut().enumerate().for_each(|(which, means)| means.push(mean(&scores(which))));
    }
    let cells: Vec<String> = means.iter().map(|of_estimator| format!("{:.3}", mean(of_estimator))).collect();
    writeln!(
        out,
        "| **mean** | | | | {} | {} | {} | | | {} | {} | | |",
        cells[0], cells[1], cells[2], cells[3], cells[4]
    )?;
    writeln!(
        out,
        "\n| paired comparison, one pair per set | difference | wins / ties / losses |\n|---|---|---|"
    )?;
    for (name, a, b) in [
        ("auto-encoder, sampled − all", 2, 1),
        ("factorization, sampled − all", 4, 3),
        ("auto-encoder, all − control", 1, 0),
        ("auto-encoder, sampled − control", 2, 0),
        ("factorization, all − control", 3, 0),
        ("factorization, sampled − control", 4, 0),
    ] {
        writeln!(out, "| {name} | {}", paired(&means[a], &means[b], 3))?;
    }
    Ok(())
}

/// The results of one seed: a score for each estimator, correlations of the persistences for each model.
struct OfSeed {
    n_nodes: usize,
    /// Share of all pairs of distinct points that the candidates and as many non-edges make up.
    share: f64,
    scores: Vec<f64>,
    with_sampled: [Option<f64>; 2],
    with_another_seed: [Option<f64>; 2],
}

fn of_seed(row: &Row, seed: u64) -> Result<OfSeed, Error> {
    let set = (row.load)(seed)?;
    let made: Vec<Made> = estimators()
        .into_iter()
        .map(|estimator| make(&set, estimator, seed))
        .collect::<Result<_, Error>>()?;
    let [_, net, sampled_net, factors, sampled_factors] = &made[..] else { unreachable!("five estimators") };
    let of = |a: &Made, b: &Made| correlation(&a.persistence, &b.persistence);
    let mut with_another_seed = [None, None];
    if seed < TRAINED_TWICE {
        let other = seed + 1000;
        with_another_seed = [
            of(net, &make(&set, auto_encoder(TrainingPairs::All), other)?),
            of(factors, &make(&set, factorization(TrainingPairs::All), other)?),
        ];
    }
    let n_nodes = made[0].n_nodes;
    let n_pairs = n_nodes as f64 * (n_nodes as f64 - 1.0) / 2.0;
    Ok(OfSeed {
        n_nodes,
        share: (2.0 * made[0].persistence.len() as f64 / n_pairs).min(1.0),
        scores: made.iter().map(|made| made.nmi).collect(),
        with_sampled: [of(net, sampled_net), of(factors, sampled_factors)],
        with_another_seed,
    })
}

/// Mean of the known values, a dash if there are none.
fn mean_known(values: impl Iterator<Item = Option<f64>>) -> String {
    let known: Vec<f64> = values.flatten().collect();
    if known.is_empty() { "–".to_string() } else { format!("{:.3}", mean(&known)) }
}

fn spread(values: &[f64]) -> String {
    format!("{:.3} ± {:.3}", mean(values), deviation(values))
}

fn write_times(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "\n## Time of an epoch\n")?;
    writeln!(
        out,
        "Milliseconds of CPU time on one thread for one τ: auto-encoder with 32 units and batches of 100 rows, factorization of rank 20; eight uneven blobs \
         in 10 dimensions, {CANDIDATES} candidates. Means over the epochs 2 to {TIMED_EPOCHS}.\n"
    )?;
    writeln!(
        out,
        "| points | candidates | auto-encoder, all | sampled | factorization, all | sampled |\n|---|{}",
        "---|".repeat(5)
    )?;
    for n in TIMED {
        eprintln!("sparse training: time with {n} points");
        let set = prepared(&uneven_blobs(n, 10, 8, 1)?)?;
        let space = Space::from_points(set.points, Metric::Euclidean)?;
        let neighbors = nearest_neighbors(&space, CANDIDATES, &Run::new(0))?;
        let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: 7 }, 0.25)?;
        let edges = Edges::from_neighbors(&neighbors, CANDIDATES, Symmetrize::Union);
        let distances = edges.map(|_, i, j| space.distance(i as usize, j as usize));
        let kind = AffinityKind::SquaredDistance;
        let similarities = Similarities::new(&space, &neighbors, &scales, kind, &edges, &distances);
        let mut line = format!("| {n} | {} |", edges.len());
        for model in [timed_auto_encoder, timed_factorization] {
            for pairs in [TrainingPairs::All, SAMPLED] {
                if pairs == TrainingPairs::All && n > MAX_WITH_ALL_PAIRS {
                    line += " – |";
                } else {
                    let seconds = seconds_of_an_epoch(&similarities, &model(pairs))?;
                    line += &format!(" {:.1} |", 1000.0 * seconds);
                }
            }
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn timed_auto_encoder(pairs: TrainingPairs) -> Estimator {
    Estimator::AutoEncoder(AutoEncoder::literal().with(|params| {
        params.pairs = pairs;
        params.schedule =
            Schedule::UntilConverged { max_epochs: TIMED_EPOCHS, tolerance: 0.0, patience: usize::MAX };
    }))
}

fn timed_factorization(pairs: TrainingPairs) -> Estimator {
    Estimator::Factorization(Factorization::literal().with(|params| {
        params.tolerance = 0.0;
        params.pairs = pairs;
        params.max_iterations = TIMED_EPOCHS;
    }))
}

/// When each epoch of a training ended, in seconds.
#[derive(Default)]
struct Ends(Mutex<Vec<f64>>);

impl Progress for Ends {
    fn advance(&self, steps: u64) {
        // Training that stops early reports the remaining steps at once.
        if steps == 1 {
            self.0.lock().expect("no thread panicked").push(seconds_of_this_thread());
        }
    }
}

/// CPU time of this thread; wall time if the system does not provide it, in which case nothing else should be running.
fn seconds_of_this_thread() -> f64 {
    let scheduler = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduler.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    let since_1970 = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    nanoseconds.map_or_else(since_1970, |nanoseconds| nanoseconds as f64 * 1e-9)
}

/// The mean duration without the first epoch, which includes the start-up.
fn seconds_of_an_epoch(similarities: &Similarities<'_>, estimator: &Estimator) -> Result<f64, Error> {
    let taus = Taus::new(vec![0.5])?;
    let ends = Ends::default();
    let run = Run::new(0).with_progress(&ends);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one_thread.install(|| estimator.as_dyn().estimate(similarities, &taus, THRESHOLD, &run))?;
    let ends = ends.0.into_inner().expect("no thread panicked");
    Ok((ends[ends.len() - 1] - ends[0]) / (ends.len() - 1) as f64)
}
