//! Times single stages for scripts/bench.py and scripts/bench_large.py, which run the peers on the same data.
//!
//!     bench points FILE SHAPE N SEED          writes n, d, points (f64) and labels (f64) to FILE
//!     bench neighbors FILE K REPEATS          time of the exact neighbors
//!     bench search FILE K RECALL REPEATS [OUT]
//!                                             time, n_probe and recall of the approximate neighbors; OUT gets the ids, K of
//!                                             each point (f64)
//!     bench graph FILE OUT                    writes the robust graph as n, nnz, offsets, ids, weights (f64)
//!     bench eigen GRAPH PAIRS REPEATS         time of the smallest eigenpairs of that graph
//!     bench autoencoder N RANK BATCH EPOCHS   time of an epoch
//!     bench networks N OUT                    time of the nine networks of the preset paper, of the literal ones, and of networks
//!                                             with the new schedule at the loss of the literal ones; OUT gets n, W row by row and
//!                                             12 neighbors of each point (f64)
//!     bench cluster FILE PRESET CLUSTERS [SCALING [METHOD [SEED [METRIC]]]]
//!                                             time, peak memory and NMI of the whole pipeline; CLUSTERS is a number or auto, SCALING
//!                                             zscore or none, METHOD auto, spectral or agglomerate
//!     bench pca FILE D OUT                    the points in their principal components, as FILE
//!     bench labels FILE GRAPH RULE DRAWS      labels from labeled points; DRAWS has the rows of one draw on each line; GRAPH is
//!                                             plain, robust, communities, ladder or default (with what large graphs get)
//!
//! FILE is what `points` writes, or an NPY file NAME.npy with labels in NAME-labels.npy, as scripts/hard_sets.py makes them. Every line
//! it prints is `key value`. `cluster` and `labels` say on standard error when each stage begins, and let a profiler see only one (stages.rs).

mod files;
mod stages;

use std::fs;
use std::time::Instant;

use taugraph::affinity::{AffinityKind, Similarities};
use taugraph::cluster::{ClusterMethod, ClusterParams, cluster, whole_run_estimate};
use taugraph::distance::Metric;
use taugraph::edges::Edges;
use taugraph::generators::{SpiralDensity, two_spirals, uneven_blobs};
use taugraph::graph::SparseGraph;
use taugraph::metrics::{ari, nmi};
use taugraph::neighbors::{SearchMethod, SearchParams, Space, nearest_neighbors, search_neighbors};
use taugraph::params::{GraphParams, Preset};
use taugraph::points::{PreparationParams, Standardize, prepare, principal_components};
use taugraph::progress::Run;
use taugraph::propagate::{Groups, LabeledNodes, Ladder, PropagateParams, Propagator, Rule};
use taugraph::quantile::{AutoEncoder, Community, Estimator, Optimizer, Product, Schedule, StartOfTau, Taus};
use taugraph::robust::{RowSize, robust_graph};
use taugraph::scale::{FirstScale, first_scales};
use taugraph::spectral::{EigenParams, Laplacian, LaplacianKind, smallest_eigenpairs};

use files::{read, read_points, write};
use stages::{Stages, peak_memory};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Shortest of several runs, in seconds.
fn fastest(repeats: usize, mut work: impl FnMut() -> Outcome) -> Result<f64, Box<dyn std::error::Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn label_graph(name: &str) -> Result<GraphParams, Box<dyn std::error::Error>> {
    let robust = Preset::Robust.params();
    let parts = vec![robust.estimator.clone(), Estimator::Community(Community::default())];
    match name {
        "plain" => Ok(Preset::ConstantControl.params()),
        "robust" | "ladder" | "default" => Ok(robust),
        "communities" => Ok(robust.with(|params| params.estimator = Estimator::Product(Product::of(parts)))),
        _ => Err(format!("no graph is called {name}").into()),
    }
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = Run::new(0);
    match words[..] {
        ["points", file, shape, n, seed] => {
            let (n, seed) = (n.parse()?, seed.parse()?);
            let data = match shape {
                "spirals" => two_spirals(n, SpiralDensity::EvenLength, seed)?,
                "mixture" => uneven_blobs(n, 10, 10, seed)?,
                "large" => uneven_blobs(n, 16, 20, seed)?,
                "wide" => uneven_blobs(n, 50, 20, seed)?,
                _ => return Err(format!("no shape is called {shape}").into()),
            };
            let size = [n as f64, data.points.n_columns() as f64];
            let labels = data.labels.iter().map(|&label| f64::from(label));
            write(file, size.into_iter().chain(data.points.values().iter()).chain(labels))
        }
        ["neighbors", file, k, repeats] => {
            let space = Space::from_points(read_points(file)?.points, Metric::Euclidean)?;
            let k = k.parse()?;
            let mut checksum = 0u64;
            let seconds = fastest(repeats.parse()?, || {
                let found = nearest_neighbors(&space, k, &run)?;
                checksum = (0..space.len()).flat_map(|i| found.ids(i)).map(|&id| u64::from(id)).sum();
                Ok(())
            })?;
            println!("seconds {seconds}\nchecksum {checksum}");
            Ok(())
        }
        ["search", file, k, recall, repeats, ref out @ ..] => {
            let space = Space::from_points(read_points(file)?.points, Metric::Euclidean)?;
            let recall = recall.parse()?;
            let params = SearchParams::default().with(|params| {
                params.method = SearchMethod::Approximate;
                params.recall = recall;
            });
            let mut last = None;
            let seconds = fastest(repeats.parse()?, || {
                last = Some(search_neighbors(&space, k.parse()?, &params, &run)?);
                Ok(())
            })?;
            let (found, info) = last.expect("at least one repeat");
            if let [out] = out {
                write(out, (0..space.len()).flat_map(|i| found.ids(i)).map(|&id| f64::from(id)))?;
            }
            println!("seconds {seconds}\nrecall {}\nused {:?}", info.recall, info.used);
            println!("peak_bytes {}", peak_memory());
            Ok(())
        }
        ["graph", file, out] => {
            let space = Space::from_points(read_points(file)?.points, Metric::Euclidean)?;
            let graph = robust_graph(&space, &Preset::Robust.params().check()?, &run)?.graph;
            let size = [graph.n_nodes() as f64, graph.ids().len() as f64];
            let offsets = graph.offsets().iter().map(|&offset| offset as f64);
            let ids = graph.ids().iter().map(|&id| f64::from(id));
            write(out, size.into_iter().chain(offsets).chain(ids).chain(graph.weights().iter().copied()))
        }
        ["eigen", file, pairs, repeats] => {
            let all = read(file)?;
            let (n, entries) = (all[0] as usize, all[1] as usize);
            let (offsets, rest) = all[2..].split_at(n + 1);
            let (ids, weights) = rest.split_at(entries);
            let graph = SparseGraph::new(
                offsets.iter().map(|&v| v as u64).collect(),
                ids.iter().map(|&v| v as u32).collect(),
                weights.to_vec(),
            )?;
            let laplacian = Laplacian::new(&graph, LaplacianKind::Symmetric);
            let mut last = None;
            let seconds = fastest(repeats.parse()?, || {
                last = Some(smallest_eigenpairs(&laplacian, pairs.parse()?, &EigenParams::default(), &run)?);
                Ok(())
            })?;
            let found = last.expect("at least one repeat");
            let worst = found.residuals.iter().copied().fold(0.0, f64::max);
            println!(
                "seconds {seconds}\nresidual {worst:e}\nsolver {:?}",
                found.info.solver.expect("a solver ran")
            );
            println!("last {}", found.values.last().expect("at least one pair"));
            Ok(())
        }
        ["networks", n, out] => {
            let data = two_spirals(n.parse()?, SpiralDensity::EvenLength, 1)?;
            let space = Space::from_points(data.points, Metric::Euclidean)?;
            let neighbors = nearest_neighbors(&space, 12, &run)?;
            let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: 7 }, 0.5)?;
            let edges = Edges::all_pairs(space.len());
            let distances = edges.map(|_, i, j| space.distance(i as usize, j as usize));
            let kind = AffinityKind::SquaredDistance;
            let similarities = Similarities::new(&space, &neighbors, &scales, kind, &edges, &distances);
            let n = space.len();
            let rows =
                (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| similarities.between(i, j));
            let ids = (0..n).flat_map(|i| neighbors.ids(i)).map(|&id| f64::from(id));
            write(out, [n as f64].into_iter().chain(rows).chain(ids))?;
            let train = |net: &AutoEncoder| -> Result<(f64, Vec<f64>), Box<dyn std::error::Error>> {
                let start = Instant::now();
                let found = Estimator::AutoEncoder(net.clone()).as_dyn().estimate(
                    &similarities,
                    &Taus::default(),
                    0.6,
                    &run,
                )?;
                let losses = found.training.iter().map(|training| training.losses[training.losses.len() - 1]);
                Ok((start.elapsed().as_secs_f64(), losses.collect()))
            };
            // What all trainings have in common, the start and the reconstruction, is left out.
            let one_step = AutoEncoder::default().with(|params| {
                params.schedule = Schedule::Steps { steps: 1, min_epochs: 0, constant: 1.0, last_rate: 1.0 };
                params.start_of_tau = StartOfTau::Common { steps: 1 };
            });
            let beside = train(&one_step)?.0.min(train(&one_step)?.0);
            println!("beside_seconds {beside}");
            println!("seconds {}", train(&AutoEncoder::default())?.0 - beside);
            let (literal_seconds, literal) = train(&AutoEncoder::literal())?;
            println!("literal_seconds {}", literal_seconds - beside);
            // Own rows as targets, so that the losses can be compared; as few steps as it takes.
            for steps in [250, 300, 350, 400, 500, 1000, 2000] {
                let net = AutoEncoder::default().with(|params| {
                    params.target_neighbors = 0;
                    params.start_of_tau = StartOfTau::Common { steps: 500 };
                    params.optimizer = Optimizer::Adam { learning_rate: 0.05, batch: 100 };
                    params.schedule =
                        Schedule::Steps { steps, min_epochs: 0, constant: 0.4, last_rate: 0.02 };
                });
                let (seconds, losses) = train(&net)?;
                let sum = |losses: &[f64]| losses.iter().sum::<f64>();
                if sum(&losses) <= sum(&literal) || steps == 2000 {
                    println!("equal_loss_seconds {}", seconds - beside);
                    println!("equal_loss_steps {steps}");
                    println!("equal_loss {} against {}", sum(&losses), sum(&literal));
                    break;
                }
            }
            Ok(())
        }
        ["autoencoder", n, rank, batch, epochs] => {
            let data = uneven_blobs(n.parse()?, 5, 5, 1)?;
            let space = Space::from_points(data.points, Metric::Euclidean)?;
            let neighbors = nearest_neighbors(&space, 7, &run)?;
            let scales = first_scales(&neighbors, &FirstScale::KthNeighbor { k: 7 }, 0.5)?;
            let edges = Edges::all_pairs(space.len());
            let distances = edges.map(|_, i, j| space.distance(i as usize, j as usize));
            let kind = AffinityKind::SquaredDistance;
            let similarities = Similarities::new(&space, &neighbors, &scales, kind, &edges, &distances);
            let epochs: usize = epochs.parse()?;
            let with = |max_epochs: usize| {
                Estimator::AutoEncoder(AutoEncoder::literal().with(|params| {
                    params.hidden = vec![rank.parse().expect("a number")];
                    params.optimizer =
                        Optimizer::Adam { learning_rate: 0.01, batch: batch.parse().expect("a number") };
                    params.schedule =
                        Schedule::UntilConverged { max_epochs, tolerance: 0.0, patience: usize::MAX };
                }))
            };
            // The difference of two lengths leaves out the start and the reconstruction.
            let taus = Taus::new(vec![0.3])?;
            let time = |max_epochs: usize| {
                fastest(3, || {
                    with(max_epochs).as_dyn().estimate(&similarities, &taus, 0.1, &run)?;
                    Ok(())
                })
            };
            println!("seconds {}", (time(epochs + 5)? - time(5)?) / epochs as f64);
            Ok(())
        }
        ["cluster", file, preset, clusters, ref scaling @ ..] => {
            let data = read_points(file)?;
            let (n, d) = (data.points.len(), data.points.n_columns());
            let params = Preset::named(preset).ok_or("no such preset")?.params().check()?;
            let standardize = match scaling {
                [] | ["zscore", ..] => Standardize::ZScore,
                ["none", ..] => Standardize::None,
                _ => return Err(format!("no scaling is called {scaling:?}").into()),
            };
            let preparation = PreparationParams::default().with(|params| params.standardize = standardize);
            let before = peak_memory();
            let start = Instant::now();
            let stages = Stages::new(start);
            let seed = scaling.get(2).map_or(Ok(0), |seed| seed.parse())?;
            let run = run.with_progress(&stages).with_seed(seed);
            let prepared = prepare(data.points.values(), d, &preparation, &run)?;
            let metric = scaling.get(3).map_or(Some(Metric::Euclidean), |name| Metric::named(name));
            let precision = prepared.points.precision();
            let space = Space::from_points(prepared.points, metric.ok_or("no such metric")?)?;
            let robust = robust_graph(&space, &params, &run)?;
            let graph_seconds = start.elapsed().as_secs_f64();
            let method = match scaling {
                [_, method, ..] => ClusterMethod::named(method).ok_or("no such method")?,
                _ => ClusterMethod::Auto,
            };
            let cluster_params = ClusterParams::default().with(|params| {
                params.n_clusters = clusters.parse().ok();
                params.method = method;
            });
            let found = cluster(&robust, &cluster_params, &run)?;
            stages.end();
            let seconds = start.elapsed().as_secs_f64();
            let labels = robust.duplicates.restore(&found.labels);
            let estimate =
                whole_run_estimate(n, RowSize::Columns(d, precision), &params, &cluster_params).most();
            println!("seconds {seconds}\ngraph_seconds {graph_seconds}");
            println!("peak_bytes {}\nbefore_bytes {before}", peak_memory());
            println!("estimated_bytes {estimate}");
            println!("nmi {}\nari {}", nmi(&data.labels, &labels)?, ari(&data.labels, &labels)?);
            if let Some(embedding) = &found.embedding {
                println!("applications {}", embedding.info.applications);
            }
            println!("recall {}", robust.search.recall);
            let solver = found.embedding.as_ref().and_then(|e| e.info.solver);
            let solver = solver.map_or("none".to_string(), |solver| format!("{solver:?}"));
            println!("components {}\nsolver {solver}", robust.components.len());
            println!("clusters {}\nmethod {:?}", found.n_clusters(), found.method);
            println!("choice {:?}\ncount {:?}", found.choice, found.count);
            Ok(())
        }
        ["pca", file, d, out] => {
            let data = read_points(file)?;
            let start = Instant::now();
            let (points, _) = principal_components(&data.points, d.parse()?, &run)?;
            println!("seconds {}", start.elapsed().as_secs_f64());
            let size = [points.len() as f64, points.n_columns() as f64];
            let labels = data.labels.iter().map(|&label| f64::from(label));
            write(out, size.into_iter().chain(points.values().iter()).chain(labels))
        }
        ["labels", file, graph, rule, draws] => {
            let data = read_points(file)?;
            let start = Instant::now();
            let stages = Stages::new(start);
            let run = run.with_progress(&stages);
            let space = Space::from_points(data.points, Metric::Euclidean)?;
            let robust = robust_graph(&space, &label_graph(graph)?.check()?, &run)?;
            println!("graph_seconds {}", start.elapsed().as_secs_f64());
            let rule = match rule {
                "harmonic" => Rule::Harmonic,
                "poisson" => Rule::Poisson,
                _ => return Err(format!("no rule is called {rule}").into()),
            };
            let (ladder, groups) = match graph {
                "default" => (Ladder::Auto, Groups::Auto),
                "ladder" => (Ladder::Yes, Groups::No),
                _ => (Ladder::No, Groups::No),
            };
            let params = PropagateParams::default()
                .with(|params| (params.rule, params.ladder, params.groups) = (rule, ladder, groups));
            let start = Instant::now();
            let propagator = Propagator::new(&robust, data.labels.n_classes(), &params, &run)?;
            println!("hierarchy_seconds {}", start.elapsed().as_secs_f64());
            let nodes = robust.duplicates.node_of_row();
            for line in fs::read_to_string(draws)?.lines() {
                let rows: Vec<usize> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
                let mut given = vec![None; robust.graph.n_nodes()];
                rows.iter().for_each(|&row| given[nodes[row] as usize] = Some(data.labels[row]));
                let start = Instant::now();
                let found =
                    propagator.propagate(&LabeledNodes::new(given, data.labels.n_classes())?, &run)?;
                let seconds = start.elapsed().as_secs_f64();
                let found = robust.duplicates.restore(&found.labels);
                let is_right = |row: &usize| found[*row] == Some(data.labels[*row]);
                let right = (0..found.len()).filter(|row| is_right(row) && !rows.contains(row)).count();
                println!("draw {seconds} {}", right as f64 / (found.len() - rows.len()) as f64);
            }
            stages.end();
            println!("peak_bytes {}", peak_memory());
            Ok(())
        }
        _ => Err("see the top of examples/bench/main.rs".into()),
    }
}
