//! New points placed into a model get the results of known points like them.

use serde_json::{Value, json};
use taugraph::arrays::{Arrays, Values};
use taugraph::cluster::{
    ClusterParams, Clustering, ComponentPolicy, Layer, memberships, spectral_clustering,
};
use taugraph::distance::{DistanceMatrix, Metric};
use taugraph::edges::Symmetrize;
use taugraph::error::Error;
use taugraph::generators::{LabeledPoints, SpiralDensity, moons, pinwheel, two_spirals, uneven_blobs};
use taugraph::labels::Labels;
use taugraph::metrics::matched_accuracy;
use taugraph::model::{Model, Placement, VERSION};
use taugraph::neighbors::Space;
use taugraph::params::{CandidatePairs, GraphParams, LinkComponents, Preset};
use taugraph::points::{Points, Precision, PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph::propagate::{LabeledNodes, PropagateParams, Propagation, propagate};
use taugraph::quantile::{AutoEncoder, Community, Estimator, Neighborhood, Overlap, Schedule};
use taugraph::robust::{NodeGraph, robust_graph};
use taugraph::scale::FirstScale;
use taugraph::spectral::{LaplacianKind, RowNormalization};

/// Points, their graph, clusters and labels, and the model of all.
struct Trained {
    robust: NodeGraph,
    clustering: Clustering,
    propagation: Propagation,
    model: Model,
}

fn train(
    points: &Points,
    params: &GraphParams,
    metric: Metric,
    cluster: &ClusterParams,
    truth: &Labels,
) -> Trained {
    let run = Run::new(3);
    let params = params.clone().check().unwrap();
    let space = Space::from_points(points.clone(), metric).unwrap();
    let robust = robust_graph(&space, &params, &run).unwrap();
    let clustering = spectral_clustering(&robust.graph, cluster, &run).unwrap();
    // Ten labeled points per class.
    let mut left = vec![10; truth.n_classes()];
    let of_node = |&row: &u32| {
        let class = truth[row as usize];
        let left = &mut left[class as usize];
        (*left > 0).then(|| {
            *left -= 1;
            class
        })
    };
    let labels = robust.duplicates.row_of_node().iter().map(of_node).collect();
    let labeled = LabeledNodes::new(labels, truth.n_classes()).unwrap();
    let propagation = propagate(&robust.graph, &labeled, &PropagateParams::default(), &run).unwrap();
    let model = Model::new(&space, &robust, &params).unwrap();
    let model = model.with_clusters(&robust, &clustering, cluster).unwrap();
    let model = model.with_classes(&propagation).unwrap();
    Trained { robust, clustering, propagation, model }
}

fn train_default(data: &LabeledPoints, clusters: usize) -> Trained {
    let params = Preset::Robust.params();
    train(&data.points, &params, Metric::Euclidean, &ClusterParams::exactly(clusters), &data.labels)
}

fn place(model: &Model, new: &Points) -> Placement {
    model.place(new, &Run::new(0)).unwrap()
}

/// Rows of one parity.
fn half(data: &LabeledPoints, parity: usize) -> LabeledPoints {
    let rows: Vec<u32> = (0..data.points.len() as u32).filter(|row| *row as usize % 2 == parity).collect();
    let labels = rows.iter().map(|&row| data.labels[row as usize]).collect();
    LabeledPoints {
        points: data.points.select(&rows),
        labels: Labels::new(labels, data.labels.n_classes()).unwrap(),
    }
}

fn shares_agreement(a: &[u32], b: &[u32]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}

fn sets() -> Vec<(LabeledPoints, usize)> {
    vec![
        (two_spirals(600, SpiralDensity::EvenLength, 1).unwrap(), 2),
        (moons(600, 0.06, 2).unwrap(), 2),
        (pinwheel(600, 3).unwrap(), 5),
        (uneven_blobs(600, 9, 4, 4).unwrap(), 4),
    ]
}

#[test]
fn known_points_moved_a_little_keep_their_cluster_and_label() {
    for (data, clusters) in sets() {
        let trained = train_default(&data, clusters);
        let moved = data
            .points
            .values()
            .iter()
            .enumerate()
            .map(|(place, value)| value + if place % 2 == 0 { 1e-9 } else { -1e-9 });
        let moved = Points::new(moved.collect(), data.points.n_columns()).unwrap();
        let placed = place(&trained.model, &moved);
        assert!(placed.same_as.iter().all(Option::is_none));
        let own = shares_agreement(&placed.clusters.unwrap().labels, &trained.clustering.labels);
        assert!(own >= 0.99, "{own} of the clusters");
        let classes = placed.classes.unwrap();
        let same = classes.labels.iter().zip(&trained.propagation.labels).filter(|(a, b)| a == b).count();
        assert!(same as f64 >= 0.99 * moved.len() as f64, "{same} of {} labels", moved.len());
        assert!(placed.outlier.iter().all(|far| !far));
    }
}

/// One half is learned, the other placed; compared with clusters and labels of both halves together.
#[test]
fn held_out_points_are_placed_as_if_they_had_been_there() {
    for (data, clusters) in sets() {
        let (known, new) = (half(&data, 0), half(&data, 1));
        let trained = train_default(&known, clusters);
        let placed = place(&trained.model, &new.points);
        let all = train_default(&data, clusters);
        let of_all: Vec<u32> = all.clustering.labels.iter().skip(1).step_by(2).copied().collect();
        let of_all = Labels::new(of_all, clusters).unwrap();
        let agreement = matched_accuracy(&of_all, &placed.clusters.unwrap().labels).unwrap();
        assert!(agreement > 0.95, "clusters of {:?}: {agreement}", data.points.row(0));
        let labels: Vec<u32> = placed.classes.unwrap().labels.into_iter().map(Option::unwrap).collect();
        let of_all: Vec<u32> =
            all.propagation.labels.iter().skip(1).step_by(2).map(|label| label.unwrap()).collect();
        let agreement = shares_agreement(&labels, &of_all);
        assert!(agreement > 0.95, "labels of {:?}: {agreement}", data.points.row(0));
    }
}

#[test]
fn a_point_equal_to_a_known_one_gets_exactly_what_that_has() {
    let data = uneven_blobs(300, 4, 3, 5).unwrap();
    for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
        let params = Preset::Robust.params();
        let trained = train(&data.points, &params, metric, &ClusterParams::exactly(3), &data.labels);
        let placed = place(&trained.model, &data.points);
        let nodes: Vec<Option<u32>> = (0..300).map(Some).collect();
        assert_eq!(placed.same_as, nodes, "{metric:?}");
        assert_eq!(placed.scales, trained.robust.scales.values());
        assert_eq!(placed.first_scales, trained.robust.first_scales.values());
        let clusters = placed.clusters.unwrap();
        assert_eq!(clusters.labels, trained.clustering.labels[..]);
        assert_eq!(clusters.embedding.unwrap(), trained.clustering.embedding.unwrap().coordinates);
        let classes = placed.classes.unwrap();
        assert_eq!(classes.labels, trained.propagation.labels);
        assert_eq!(classes.probabilities, trained.propagation.probabilities);
        assert_eq!(classes.margins, trained.propagation.margins);
        assert!(placed.affinities.iter().all(|&weight| weight == 1.0) && placed.nodes.len() == 300);
    }
}

/// Copies in the table share a node, and the rotation of new points may round differently.
#[test]
fn raw_points_are_prepared_as_before() {
    let data = uneven_blobs(200, 12, 3, 6).unwrap();
    let mut raw = data.points.values().to_vec();
    let first = raw[..12].to_vec();
    raw.extend_from_slice(&first);
    raw[5 * 12 + 3] = f64::NAN;
    let run = Run::new(0);
    for pca in [None, Some(5)] {
        let prepared =
            prepare(&raw, 12, &PreparationParams::default().with(|params| params.pca = pca), &run).unwrap();
        let space = Space::from_points(prepared.points.clone(), Metric::Euclidean).unwrap();
        let params = Preset::Robust.params().check().unwrap();
        let robust = robust_graph(&space, &params, &run).unwrap();
        let model = Model::new(&space, &robust, &params).unwrap().with_preparation(&prepared).unwrap();
        assert_eq!((model.n_rows(), model.n_nodes()), (201, 200));
        let (points, n_filled) = model.prepare(&raw, 12).unwrap();
        assert_eq!(n_filled, 1);
        let placed = place(&model, &points);
        let nodes: Vec<Option<u32>> = (0..200).chain([0]).map(Some).collect();
        assert_eq!(placed.same_as, nodes, "{pca:?}");
        assert!(placed.clusters.is_none() && placed.classes.is_none());
        assert!(model.prepare(&raw, 11).is_err());
    }
}

#[test]
fn what_is_farther_away_than_anything_seen_is_placed_and_flagged() {
    let data = moons(400, 0.05, 1).unwrap();
    let trained = train_default(&data, 2);
    let new = Points::new(vec![0.0, 1.0, 1e6, -1e6, 1.5, -3.0, 1.0, -0.5], 2).unwrap();
    let placed = place(&trained.model, &new);
    assert_eq!(placed.outlier, [false, true, true, false]);
    assert!(placed.novelty[1] > trained.model.max_novelty());
    let classes = placed.classes.unwrap();
    assert!(classes.labels.iter().all(Option::is_some));
    assert!(classes.probabilities.chunks_exact(2).all(|row| (row[0] + row[1] - 1.0).abs() < 1e-12));
    assert!(placed.clusters.unwrap().embedding.unwrap().iter().all(|v| v.is_finite()));
    // So far away that every affinity underflows in a graph without a floor.
    let params = Preset::LocalScaling.params();
    let trained = train(&data.points, &params, Metric::Euclidean, &ClusterParams::exactly(2), &data.labels);
    let placed = place(&trained.model, &new);
    assert_eq!(placed.outlier, [false, true, true, false]);
    assert!(
        placed
            .classes
            .unwrap()
            .probabilities
            .chunks_exact(2)
            .all(|row| (row[0] + row[1] - 1.0).abs() < 1e-12)
    );
    assert!(trained.model.place(&Points::new(vec![1e200, 1e200], 2).unwrap(), &Run::new(0)).is_err());
    assert!(trained.model.place(&Points::new(vec![1.0], 1).unwrap(), &Run::new(0)).is_err());
}

/// The likeliest of several shares, the lowest in case of ties, and its lead.
fn likeliest(shares: &[f64]) -> (u32, f64) {
    let first = (0..shares.len()).fold(0, |best, at| if shares[at] > shares[best] { at } else { best });
    let others = shares.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, share)| *share);
    (first as u32, shares[first] - others.fold(0.0, f64::max))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
            "{what} {at}: {found}, not {expected}"
        );
    }
}

/// Scores, memberships, layers, classes and margins of new points, computed again from their edges and from what the nodes have.
#[test]
fn placements_follow_from_their_edges() {
    let data = uneven_blobs(240, 4, 4, 5).unwrap();
    let Trained { robust, mut clustering, propagation, model } = train_default(&data, 4);
    for merged in [2, 1] {
        let labels = clustering.labels.iter().map(|label| label / merged).collect();
        let labels = Labels::new(labels, 4 / merged as usize).unwrap();
        clustering.layers.push(Layer { labels, resistance: 1.0 });
    }
    let model = &model.with_clusters(&robust, &clustering, &ClusterParams::exactly(4)).unwrap();
    assert_eq!((model.n_layers(), model.layer_sizes()), (2, vec![2, 4]));
    // Between the clusters, too.
    let mut values: Vec<f64> = uneven_blobs(60, 4, 4, 6).unwrap().points.values().iter().collect();
    values.extend((0..40).flat_map(|at| {
        let (a, b) = (data.points.row(at), data.points.row(239 - 5 * at));
        a.iter().zip(b.iter()).map(|(a, b)| 0.5 * (a + b)).collect::<Vec<_>>()
    }));
    values.extend(data.points.row(17).iter());
    let new = Points::new(values, 4).unwrap();
    let placed = place(model, &new);
    let (stochastic, edges) = (&robust.stochastic, robust.stochastic.edges());
    let mean_probability = |node: usize| {
        let own: Vec<f64> = edges.incident(node).map(|(_, edge)| stochastic.probabilities()[edge]).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let embedding = clustering.embedding.as_ref().unwrap();
    let d = embedding.n_columns;
    let centers: Vec<Vec<f64>> = (0..4u32)
        .map(|cluster| {
            let rows = embedding.coordinates.chunks_exact(d).zip(clustering.labels.iter());
            let rows: Vec<&[f64]> = rows.filter(|row| *row.1 == cluster).map(|row| row.0).collect();
            (0..d).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64).collect()
        })
        .collect();
    let (clusters, classes) = (placed.clusters.as_ref().unwrap(), placed.classes.as_ref().unwrap());
    assert_eq!((placed.same_as[100], placed.offsets.len()), (Some(17), 102));
    for row in 0..100 {
        let own = placed.offsets[row] as usize..placed.offsets[row + 1] as usize;
        let (nodes, weights) = (&placed.nodes[own.clone()], &placed.affinities[own.clone()]);
        let (total, n) = (weights.iter().sum::<f64>(), nodes.len() as f64);
        let votes = |labels: &[u32], n_labels: usize| {
            let mut votes = vec![0.0; n_labels];
            nodes
                .iter()
                .zip(weights)
                .for_each(|(&node, weight)| votes[labels[node as usize] as usize] += weight / total);
            votes
        };
        assert_close(
            &clusters.memberships[4 * row..4 * row + 4],
            &votes(&clustering.labels, 4),
            "memberships",
        );
        for (found, layer) in clusters.layers.iter().zip(&clustering.layers) {
            assert_eq!(found[row], likeliest(&votes(&layer.labels, 240)).0);
        }
        let mut of_classes = vec![0.0; 4];
        for (&node, weight) in nodes.iter().zip(weights) {
            let known = &propagation.probabilities[4 * node as usize..4 * node as usize + 4];
            of_classes.iter_mut().zip(known).for_each(|(sum, share)| *sum += weight * share);
        }
        let sum: f64 = of_classes.iter().sum();
        of_classes.iter_mut().for_each(|share| *share /= sum);
        assert_close(&classes.probabilities[4 * row..4 * row + 4], &of_classes, "classes");
        let (label, lead) = likeliest(&of_classes);
        assert_eq!(classes.labels[row], Some(label));
        assert_close(&[classes.margins[row]], &[lead], "lead");

        let embedded = &clusters.embedding.as_ref().unwrap()[d * row..d * (row + 1)];
        let mut far: Vec<(f64, u32)> =
            (0..4).map(|at| (distance(&centers[at as usize], embedded), at)).collect();
        far.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(clusters.labels[row], far[0].1);
        assert_close(&[clusters.margins[row]], &[1.0 - far[0].0 / far[1].0], "margin");

        let nearest = placed.distances[own.start] / robust.first_scales.get(nodes[0] as usize);
        assert_close(&[placed.novelty[row]], &[nearest], "novelty");
        let mean = |of: &dyn Fn(usize) -> f64| nodes.iter().map(|&node| of(node as usize)).sum::<f64>() / n;
        let probability = placed.probabilities[own].iter().sum::<f64>() / n;
        let score = placed.scales[row] / mean(&|node| robust.scales.get(node))
            * (mean(&mean_probability) / probability.max(1e-3)).sqrt();
        assert_close(&[placed.outlier_scores[row]], &[score], "outlier score");
    }
    // The copy of a node has what the node has.
    let beside = robust.neighbors.ids(17);
    let mean = |of: &dyn Fn(usize) -> f64| {
        beside.iter().map(|&node| of(node as usize)).sum::<f64>() / beside.len() as f64
    };
    let score = robust.scales.get(17) / mean(&|node| robust.scales.get(node))
        * (mean(&mean_probability) / mean_probability(17).max(1e-3)).sqrt();
    assert_close(&[placed.outlier_scores[100]], &[score], "score of a node");
    let known = memberships(&robust.graph, &clustering.labels);
    assert_close(&clusters.memberships[400..], &known[68..72], "memberships of a node");
    assert!(
        clusters.layers.iter().zip(&clustering.layers).all(|(found, layer)| found[100] == layer.labels[17])
    );
}

/// What a model says of itself, with copies among its rows, in both precisions, and what placing takes.
#[test]
fn models_describe_themselves() {
    let data = uneven_blobs(80, 3, 2, 1).unwrap();
    let mut values = data.points.values().to_vec();
    values.splice(30..30, data.points.values().to_vec()[..9].iter().copied());
    let labels = Labels::new((0..83).map(|row| row % 2).collect(), 2).unwrap();
    let points = Points::new(values, 3).unwrap();
    for precision in [Precision::Double, Precision::Single] {
        let points = match precision {
            Precision::Double => points.clone(),
            Precision::Single => {
                Points::from_f32(points.values().iter().map(|value| value as f32).collect(), 3).unwrap()
            }
        };
        let given = FirstScale::Given { values: (0..83).map(|row| 0.5 + f64::from(row)).collect() };
        let params = Preset::Robust.params().with(|params| params.first_scale = given);
        let trained = train(&points, &params, Metric::Euclidean, &ClusterParams::exactly(3), &labels);
        let model = restored(&trained.model);
        assert_eq!((model.n_rows(), model.n_nodes(), model.n_columns()), (83, 80, 3));
        let rows: Vec<u32> = (0..10).chain(13..83).collect();
        assert_eq!(model.row_of_node(), rows);
        assert_eq!((model.n_clusters(), model.n_classes()), (Some(3), Some(2)));
        assert_eq!(model.n_embedded(), trained.clustering.embedding.as_ref().map(|found| found.n_columns));
        assert!(trained.robust.first_scales.values()[12] > 15.0, "scales were given by row");
        let (raw, _) = model.prepare(points.values(), 3).unwrap();
        assert_eq!(raw.precision(), precision);
        assert_eq!(place(&model, &points), place(&trained.model, &points));

        // Neighbors and edges, the latter twice, and 17 numbers besides the results of each point, twice.
        let k = params.check().unwrap().n_neighbors();
        let results = 17 + model.n_embedded().unwrap() + 2 + 3 + model.n_layers();
        let needed = 83 * (12 * k + 2 * 40 * k + 16 * results) as u64;
        let within = |limit| model.place(&points, &Run { memory_limit: Some(limit), ..Run::new(0) });
        assert!(matches!(within(needed - 1), Err(Error::Memory { needed: said, .. }) if said == needed));
        within(needed).unwrap();
    }
}

/// Every kind of graph and embedding.
fn variants() -> Vec<(GraphParams, ClusterParams)> {
    let robust = || Preset::Robust.params();
    let two = ClusterParams::exactly(2);
    let with = |estimator| robust().with(|params| params.estimator = estimator);
    let short = AutoEncoder::default().with(|params| {
        params.schedule = Schedule::Steps { steps: 20, min_epochs: 0, constant: 0.5, last_rate: 0.1 }
    });
    let mutual = CandidatePairs::Neighbors { k: 12, symmetrize: Symmetrize::Mutual };
    let mut all: Vec<(GraphParams, ClusterParams)> = vec![
        (robust(), two),
        (Preset::RobustMean.params(), two),
        (Preset::LocalScaling.params(), two),
        (Preset::ThresholdControl.params(), two),
        (Preset::ConstantControl.params(), two),
        (Preset::Paper.params().with(|params| params.estimator = Estimator::AutoEncoder(short)), two),
        (with(Estimator::Overlap(Overlap::default().with(|params| params.pool = 10))), two),
        (with(Estimator::Community(Community::default())), two),
        (robust().with(|params| params.candidates = mutual), two),
        (robust().with(|params| params.first_scale = FirstScale::Given { values: vec![0.2; 200] }), two),
        (robust().with(|params| params.first_scale = FirstScale::MeanOfNeighbors { k: 5 }), two),
        (
            robust().with(|params| params.link_components = LinkComponents::No),
            two.with(|params| params.components = ComponentPolicy::Separately),
        ),
    ];
    for laplacian in [LaplacianKind::RandomWalk, LaplacianKind::Unnormalized] {
        for rows in [RowNormalization::Plain, RowNormalization::Diffusion] {
            all.push((
                robust(),
                two.with(|params| {
                    params.laplacian = laplacian;
                    params.row_normalization = rows;
                }),
            ));
        }
    }
    all
}

#[test]
fn every_kind_of_model_places_well_and_comes_back_to_the_bit() {
    let data = moons(200, 0.04, 7).unwrap();
    let fresh = moons(100, 0.04, 8).unwrap();
    for (params, cluster) in variants() {
        let trained = train(&data.points, &params, Metric::Euclidean, &cluster, &data.labels);
        let placed = place(&trained.model, &fresh.points);
        let what = format!("{:?} {:?} {cluster:?}", params.candidates, params.estimator);
        let classes = placed.classes.as_ref().unwrap();
        let labels: Vec<u32> = classes.labels.iter().map(|label| label.unwrap_or(9)).collect();
        let right = shares_agreement(&labels, &fresh.labels);
        assert!(right > 0.97, "labels {right}: {what}");
        // A vote of neighbors from all sides, as the nodes' own clusters are.
        let truth: Vec<u32> = fresh.labels.to_vec();
        let of_nodes = matched_accuracy(&data.labels, &trained.clustering.labels).unwrap();
        let truth = Labels::new(truth, 2).unwrap();
        let own = matched_accuracy(&truth, &placed.clusters.as_ref().unwrap().labels).unwrap();
        assert!(own > of_nodes - 0.08, "clusters {own} after {of_nodes}: {what}");

        let back = restored(&trained.model);
        assert_eq!(place(&back, &fresh.points), placed, "{what}");
        assert_eq!(place(&back, &data.points), place(&trained.model, &data.points), "{what}");
    }
}

/// Written and read again, as a file and as a stream.
fn restored(model: &Model) -> Model {
    let mut file = Vec::new();
    model.save(&mut file).unwrap();
    assert!(file == model.to_bytes().unwrap());
    let back = Model::from_bytes(&file).unwrap();
    assert!(back.to_bytes().unwrap() == file && Model::load(&mut &file[..], None).is_ok());
    back
}

#[test]
fn cosine_and_manhattan_models_come_back_to_the_bit() {
    let data = uneven_blobs(200, 8, 3, 2).unwrap();
    let fresh = uneven_blobs(90, 8, 3, 3).unwrap();
    for metric in [Metric::Manhattan, Metric::Cosine] {
        let params = Preset::Robust.params();
        let trained = train(&data.points, &params, metric, &ClusterParams::exactly(3), &data.labels);
        let back = restored(&trained.model);
        assert_eq!(place(&back, &fresh.points), place(&trained.model, &fresh.points), "{metric:?}");
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let data = two_spirals(500, SpiralDensity::UniformAngle, 5).unwrap();
    let fresh = two_spirals(300, SpiralDensity::UniformAngle, 6).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| place(&train_default(&data, 2).model, &fresh.points))
    };
    let one = on(1);
    assert!(on(2) == one && on(4) == one);
}

/// Names are stored with a model and change nothing else.
#[test]
fn names_come_back() {
    let data = uneven_blobs(60, 3, 2, 1).unwrap();
    let trained = train_default(&data, 2);
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let plain = restored(&trained.model);
    assert!(plain.columns().is_none() && plain.class_names().is_none() && plain.origin().is_none());
    let (columns, classes) = (names(&["a", "ü\"{", ""]), names(&["no", "yes"]));
    let origin = json!({ "program": "test", "settings": { "seed": 0.1 } });
    let model = trained.model.clone().with_columns(columns.clone()).unwrap();
    let model = model.with_class_names(classes.clone()).unwrap().with_origin(origin.clone());
    let back = restored(&model);
    assert_eq!(back.columns().unwrap(), columns);
    assert_eq!(back.class_names().unwrap(), classes);
    assert_eq!(back.origin().unwrap(), &origin);
    assert_eq!(back.n_raw_columns(), 3);
    assert_eq!(place(&back, &data.points), place(&plain, &data.points));

    for wrong in [names(&["a", "b"]), names(&["a", "b", "a"])] {
        assert!(trained.model.clone().with_columns(wrong).is_err());
    }
    for wrong in [names(&["a"]), names(&["a", "a"])] {
        assert!(trained.model.clone().with_class_names(wrong).is_err());
    }
}

/// A model whose header or arrays were tampered with is refused.
#[test]
fn hostile_models_are_refused() {
    let data = uneven_blobs(60, 3, 2, 1).unwrap();
    let file = train_default(&data, 2).model.to_bytes().unwrap();
    let parts = || Arrays::from_bytes(&file).unwrap();
    let (header, arrays) = parts();
    let read =
        |header: &str, arrays: &Arrays<'_>| Model::from_bytes(&arrays.to_bytes(header).unwrap()).map(drop);
    read(&header, &arrays).unwrap();

    // Every array missing, truncated, and with its values corrupted.
    for (name, array) in arrays.iter() {
        let width = array.shape().get(1).copied();
        let row = width.unwrap_or(1);
        let (mut fewer, mut cut, mut spoiled) = (parts().1, parts().1, parts().1);
        match array.values() {
            Values::F64(values) => {
                fewer.take::<f64>(name, array.shape()).unwrap();
                cut.put(name, width, values[row..].to_vec());
                let mut changed = values.to_vec();
                changed[row / 2] = f64::NAN;
                spoiled.put(name, width, changed);
            }
            Values::F32(_) => panic!("the points are in double precision"),
            Values::U32(values) => {
                fewer.take::<u32>(name, array.shape()).unwrap();
                cut.put(name, width, values[row..].to_vec());
                let mut changed = values.to_vec();
                changed[row / 2] = u32::MAX;
                spoiled.put(name, width, changed);
            }
            Values::U64(values) => {
                fewer.take::<u64>(name, array.shape()).unwrap();
                cut.put(name, width, values[row..].to_vec());
                spoiled.put(name, width, values.iter().map(|&value| value as f64).collect::<Vec<_>>());
            }
        }
        assert!(read(&header, &fewer).is_err(), "without {name}");
        assert!(read(&header, &cut).is_err(), "cut {name}");
        assert!(read(&header, &spoiled).is_err(), "spoiled {name}");
    }

    let with = |field: &str, value: Value| {
        let mut changed: Value = serde_json::from_str(&header).unwrap();
        let (parent, last) = field.rsplit_once('/').unwrap();
        changed.pointer_mut(parent).unwrap()[last] = value;
        read(&changed.to_string(), &arrays).unwrap_err()
    };
    let paper = serde_json::to_value(Preset::Paper.params().estimator).unwrap();
    let neighbors = |k: usize| {
        let candidates = CandidatePairs::Neighbors { k, symmetrize: Symmetrize::Union };
        serde_json::to_value(candidates).unwrap()
    };
    let far_scale = serde_json::to_value(FirstScale::KthNeighbor { k: 1 << 40 }).unwrap();
    for (field, value) in [
        ("/kind", json!("something else")),
        ("/version", json!(0)),
        ("/version", json!(1)),
        ("/version", json!(VERSION + 1)),
        ("/version", json!(null)),
        ("/version", json!("2")),
        ("/metric", json!("cosine")),
        ("/metric", json!("nosuchone")),
        ("/n_rows", json!(3)),
        ("/n_rows", json!(-1)),
        ("/n_clusters", json!(null)),
        ("/n_clusters", json!(0)),
        ("/n_clusters", json!(u64::MAX)),
        ("/n_classes", json!(u64::MAX)),
        ("/n_classes", json!(null)),
        ("/n_raw_columns", json!(3)),
        ("/spectral", json!(null)),
        ("/spectral/rows", serde_json::to_value(RowNormalization::Plain).unwrap()),
        ("/columns", json!(["a", "b"])),
        ("/columns", json!(["a", "b", "b"])),
        ("/columns", json!(7)),
        ("/classes", json!(["a", "b", "c"])),
        ("/surprise", json!(1)),
        ("/graph/threshold", json!(null)),
        ("/graph/candidates", neighbors(usize::MAX)),
        ("/graph/candidates", neighbors(59)),
        ("/graph/first_scale", far_scale),
        ("/graph/estimator", paper),
    ] {
        with(field, value);
    }
    let said = with("/version", json!(7)).to_string();
    assert!(said.contains("version 7") && said.contains("use a newer one"), "{said}");
    let said = with("/version", json!(1)).to_string();
    assert!(said.contains("version 1") && said.contains("save the model again"), "{said}");
    assert!(with("/surprise", json!(1)).to_string().contains("unknown field `surprise`"));
    for text in ["", "{}", "[]", "null", "{\"kind\": \"taugraph model\"}"] {
        assert!(read(text, &arrays).is_err(), "{text}");
    }

    let mut more = parts().1;
    more.put("surprise", None, vec![1.0]);
    assert!(read(&header, &more).unwrap_err().to_string().contains("surprise"));
    // An invalid neighbor list.
    let mut own = parts().1;
    own.put("neighbors", Some(15), (0..60 * 15).map(|place| place / 15).collect::<Vec<u32>>());
    assert!(matches!(read(&header, &own), Err(Error::BadStructure { .. })));
}

/// A model of ten points with everything that a model can have.
fn small_model() -> Model {
    let run = Run::new(0);
    let data = uneven_blobs(10, 3, 2, 1).unwrap();
    let params = Preset::Robust.params().with(|params| {
        params.candidates = CandidatePairs::Neighbors { k: 3, symmetrize: Symmetrize::Union };
        params.first_scale = FirstScale::KthNeighbor { k: 2 };
        params.estimator = Estimator::Neighborhood(Neighborhood::default().with(|params| params.pool = 3));
    });
    let params = params.check().unwrap();
    let preparation = PreparationParams::default().with(|params| params.pca = Some(2));
    let prepared = prepare(data.points.values(), 3, &preparation, &run).unwrap();
    let space = Space::from_points(prepared.points.clone(), Metric::Euclidean).unwrap();
    let robust = robust_graph(&space, &params, &run).unwrap();
    let cluster = ClusterParams::exactly(2);
    let clustering = spectral_clustering(&robust.graph, &cluster, &run).unwrap();
    let labels = (0..10).map(|node| [Some(0), None, Some(1)][node % 3]).collect();
    let labeled = LabeledNodes::new(labels, 2).unwrap();
    let spread = propagate(&robust.graph, &labeled, &PropagateParams::default(), &run).unwrap();
    let model = Model::new(&space, &robust, &params).unwrap().with_preparation(&prepared).unwrap();
    let model = model.with_clusters(&robust, &clustering, &cluster).unwrap();
    let model = model.with_classes(&spread).unwrap();
    let model = model.with_columns(["a", "b", "c"].map(String::from).to_vec()).unwrap();
    model.with_class_names(["no", "yes"].map(String::from).to_vec()).unwrap().with_origin(json!({ "x": [1] }))
}

#[test]
fn no_damaged_file_is_believed_or_feared() {
    let model = small_model();
    let whole = model.to_bytes().unwrap();
    let (points, _) = model.prepare(&[0.1, 0.2, 0.3, -4.0, 9.0, 2.0], 3).unwrap();
    assert_eq!(place(&Model::from_bytes(&whole).unwrap(), &points), place(&model, &points));
    for length in 0..whole.len() {
        assert!(Model::from_bytes(&whole[..length]).is_err(), "cut to {length}");
    }
    let mut n_refused = 0;
    for place in 0..whole.len() {
        for bit in [1, 0x40] {
            let mut changed = whole.clone();
            changed[place] ^= bit;
            match Model::from_bytes(&changed) {
                Err(_) => n_refused += 1,
                // A changed number may still be valid. Placing then gives wrong results or an error, but never a panic.
                Ok(model) => drop(model.place(&points, &Run::new(0))),
            }
        }
    }
    assert!(n_refused > whole.len() / 4, "{n_refused} of {}", 2 * whole.len());
}

#[test]
fn only_points_make_a_model() {
    let data = uneven_blobs(60, 3, 2, 1).unwrap();
    let space = Space::from_points(data.points.clone(), Metric::Euclidean).unwrap();
    let all = (0..3600).map(|cell| space.distance(cell / 60, cell % 60)).collect();
    let distances = Space::Distances(DistanceMatrix::new(all, 60).unwrap());
    let params = Preset::Robust.params().check().unwrap();
    let robust = robust_graph(&distances, &params, &Run::new(0)).unwrap();
    assert!(matches!(Model::new(&distances, &robust, &params), Err(Error::NeedsPoints { .. })));
    // Graph, points, clusters and labels that do not belong together.
    let model = Model::new(&space, &robust, &params).unwrap();
    let fewer = Space::from_points(data.points.select(&[0, 1, 2]), Metric::Euclidean).unwrap();
    assert!(matches!(Model::new(&fewer, &robust, &params), Err(Error::Length { .. })));
    let other = train_default(&uneven_blobs(70, 3, 2, 1).unwrap(), 2);
    assert!(model.clone().with_clusters(&robust, &other.clustering, &ClusterParams::exactly(2)).is_err());
    assert!(model.clone().with_classes(&other.propagation).is_err());
    let wide = prepare(&[0.0; 0], 1, &PreparationParams::default(), &Run::new(0));
    assert!(wide.is_err());
    let limited = Run::new(0).with_memory_limit(Some(1000));
    assert!(matches!(model.place(&data.points, &limited), Err(Error::Memory { .. })));
}
