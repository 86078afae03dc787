//! Clustering from a graph to labels: methods, numbers of clusters, layers, pairs, hard inputs.

use taugraph::cluster::{
    ClusterInput, ClusterMethod, ClusterParams, Clustering, ComponentPolicy, Constraints, CountRule,
    Evidence, cluster, memberships, outlier_scores, stability,
};
use taugraph::config::Config;
use taugraph::distance::Metric;
use taugraph::edges::Edges;
use taugraph::generators::{SpiralDensity, two_spirals, uneven_blobs};
use taugraph::graph::SparseGraph;
use taugraph::metrics::ari;
use taugraph::neighbors::Space;
use taugraph::params::Preset;
use taugraph::points::Points;
use taugraph::progress::Run;
use taugraph::random::{Stage, Stream};
use taugraph::robust::{NodeGraph, robust_graph};
use taugraph::spectral::{EigenSolver, SolverChoice};
use taugraph::{Error, SpectralClustering, Table};

fn graph_of(points: Points) -> NodeGraph {
    let space = Space::from_points(points, Metric::Euclidean).unwrap();
    robust_graph(&space, &Preset::Robust.params().check().unwrap(), &Run::new(3)).unwrap()
}

fn gaussian(n: usize, d: usize, seed: u64) -> Points {
    let mut draws = Stream::new(seed, Stage::Generator).at(7, 7);
    Points::new((0..n * d).map(|_| draws.normal()).collect(), d).unwrap()
}

/// Gaussians of 60 points on a line, 20 standard deviations apart, with the number of each point's.
fn separate_blobs(k: usize) -> (Points, Vec<u32>) {
    let mut values = gaussian(60 * k, 3, 9).values().to_vec();
    values.chunks_exact_mut(3).enumerate().for_each(|(row, point)| point[0] += 20.0 * (row / 60) as f64);
    (Points::new(values, 3).unwrap(), (0..60 * k as u32).map(|row| row / 60).collect())
}

fn found(robust: &NodeGraph, change: impl FnOnce(&mut ClusterParams)) -> Clustering {
    cluster(robust, &ClusterParams::default().with(change), &Run::new(3)).unwrap()
}

#[test]
fn one_gaussian_is_one_group() {
    for (n, d) in [(200, 2), (600, 10), (2000, 3)] {
        let found = found(&graph_of(gaussian(n, d, 5)), |_| {});
        assert_eq!(found.n_clusters(), 1, "{n} × {d}");
        assert_eq!(found.count.unwrap().evidence, Evidence::None);
        assert!(found.layers.is_empty());
    }
}

#[test]
fn blobs_are_counted_however_many() {
    for k in [2, 7, 40] {
        let (points, labels) = separate_blobs(k);
        let found = found(&graph_of(points), |_| {});
        assert_eq!(found.n_clusters(), k);
        assert_eq!(found.count.unwrap().evidence, Evidence::Strong);
        assert_eq!(ari(&labels, &found.labels).unwrap(), 1.0);
    }
}

#[test]
fn layers_are_nested_and_the_tree_ends_in_one_group() {
    let robust = graph_of(uneven_blobs(600, 5, 8, 2).unwrap().points);
    let found = found(&robust, |_| {});
    let tree = found.tree.unwrap();
    assert_eq!(tree.min_groups(), 1);
    for pair in found.layers.windows(2) {
        let (coarse, fine) = (&pair[0].labels, &pair[1].labels);
        assert!(coarse.n_classes() < fine.n_classes());
        let mut parent = vec![None; fine.n_classes()];
        for (&own, &above) in fine.iter().zip(coarse.iter()) {
            assert_eq!(*parent[own as usize].get_or_insert(above), above);
        }
    }
}

#[test]
fn methods_and_limits_are_honored() {
    let data = two_spirals(300, SpiralDensity::UniformAngle, 4).unwrap();
    let robust = graph_of(data.points);
    for method in [ClusterMethod::Spectral, ClusterMethod::Agglomerate, ClusterMethod::Auto] {
        for k in [1, 2, 5, 30] {
            let found = found(&robust, |params| {
                params.method = method;
                params.n_clusters = Some(k);
            });
            assert_eq!(found.n_clusters(), k, "{method:?}");
            assert!(found.labels.sizes().iter().all(|&size| size > 0));
        }
        let two = found(&robust, |params| {
            params.method = method;
            params.n_clusters = Some(2);
        });
        assert_eq!(ari(&data.labels, &two.labels).unwrap(), 1.0, "{method:?}");
    }
    assert_eq!(found(&robust, |params| params.min_clusters = Some(4)).n_clusters(), 4);
    let blobs = graph_of(separate_blobs(9).0);
    assert_eq!(found(&blobs, |params| params.max_clusters = Some(3)).n_clusters(), 3);
    assert_eq!(found(&blobs, |params| params.count = CountRule::Eigengap).n_clusters(), 9);
    let upside_down = ClusterParams::default().with(|params| {
        params.min_clusters = Some(5);
        params.max_clusters = Some(2);
    });
    assert!(matches!(cluster(&blobs, &upside_down, &Run::new(0)), Err(Error::Parameter { .. })));
}

#[test]
fn graphs_without_points_and_hard_graphs_have_answers() {
    let run = Run::new(0);
    let of = |n: usize, pairs: &[(u32, u32)]| {
        let edges = Edges::from_pairs(n, pairs.iter().copied()).unwrap();
        SparseGraph::from_edges(&edges, &vec![1.0; edges.len()]).unwrap()
    };
    // Two cliques of ten, not joined; a single edge; nodes without edges.
    let clique = |first: u32| (0..10).flat_map(move |i| (0..i).map(move |j| (first + j, first + i)));
    let cliques: Vec<(u32, u32)> = clique(0).chain(clique(10)).collect();
    let found = cluster(&of(20, &cliques), &ClusterParams::default(), &run).unwrap();
    assert_eq!((found.n_clusters(), found.n_components), (2, 2));
    // Components that stay apart are at least as many clusters, found or not.
    let separately = ClusterParams::default().with(|params| params.components = ComponentPolicy::Separately);
    assert_eq!(cluster(&of(20, &cliques), &separately, &run).unwrap().n_clusters(), 2);
    assert_eq!(cluster(&of(2, &[(0, 1)]), &ClusterParams::default(), &run).unwrap().n_clusters(), 1);
    // Nothing says how five nodes without edges belong together.
    assert_eq!(cluster(&of(5, &[]), &ClusterParams::default(), &run), Err(Error::NoEdges { nodes: 5 }));
    assert_eq!(cluster(&of(5, &[]), &separately, &run).unwrap().n_clusters(), 5);
    assert_eq!(cluster(&of(1, &[]), &ClusterParams::default(), &run).unwrap().n_clusters(), 1);
}

/// Eigenpairs that do not converge are no reason to have no clusters, unless they are asked for.
#[test]
fn without_eigenpairs_the_other_method_has_an_answer() {
    let (points, truth) = separate_blobs(3);
    let robust = graph_of(points.clone());
    let hasty = |params: &mut ClusterParams| {
        params.n_clusters = Some(3);
        params.eigen.solver = SolverChoice::Only(EigenSolver::Multigrid);
        params.eigen.tolerance = 1e-14;
        params.eigen.angle = 0.0;
        params.eigen.max_applications = 1;
    };
    let clustering = found(&robust, hasty);
    assert_eq!(clustering.method, ClusterMethod::Agglomerate);
    assert!(
        clustering.unconverged.is_some_and(|pairs| pairs.converged < pairs.wanted),
        "{:?}",
        clustering.unconverged
    );
    assert!(clustering.choice.is_none() && clustering.embedding.is_none() && clustering.tree.is_some());
    assert_eq!(ari(&clustering.labels, &truth), Ok(1.0));
    let spectral =
        ClusterParams::default().with(hasty).with(|params| params.method = ClusterMethod::Spectral);
    assert!(matches!(cluster(&robust, &spectral, &Run::new(3)), Err(Error::EigenNotConverged { .. })));
    // Front ends are told.
    let mut config = Config::default();
    hasty(&mut config.cluster);
    let table = Table::new(points.values().to_vec(), 3).unwrap();
    let fitted = SpectralClustering::with_config(config).fit(table).unwrap();
    let warnings: Vec<String> = fitted.warnings().iter().map(|warning| warning.name().to_string()).collect();
    assert!(warnings.contains(&"unconverged-eigenpairs".to_string()), "{warnings:?}");
}

#[test]
fn few_and_equal_rows_are_one_group() {
    for values in [vec![1.0, 2.0, 4.0], (0..12).map(f64::from).collect()] {
        let table = Table::new(values.clone(), 1).unwrap();
        let found = SpectralClustering::new().fit(table).unwrap();
        assert_eq!(found.n_clusters(), 1);
        assert!(found.evidence().unwrap().contains("one group"));
        let sums: Vec<f64> = found.memberships();
        assert_eq!(sums, vec![1.0; values.len()]);
    }
}

#[test]
fn pairs_are_honored_or_refused_by_their_rows() {
    let data = uneven_blobs(200, 3, 3, 8).unwrap();
    let (labels, k) = (data.labels.clone(), 3);
    let rows_of = |class: u32| (0..200u32).filter(|&row| labels[row as usize] == class).collect::<Vec<_>>();
    let (a, b) = (rows_of(0), rows_of(1));
    let constraints = Constraints { must_link: vec![(a[0], b[0])], cannot_link: vec![(a[1], a[2])] };
    let values = data.points.values().to_vec();
    let table = Table::new(values, 3).unwrap();
    let fit = |constraints: Constraints, k: usize| {
        SpectralClustering::new().n_clusters(k).constraints(constraints).fit(table.clone())
    };
    let found = fit(constraints.clone(), k + 1).unwrap();
    let of = |row: u32| found.labels()[row as usize];
    assert_eq!(of(a[0]), of(b[0]));
    assert_ne!(of(a[1]), of(a[2]));
    let torn = Constraints { must_link: vec![(a[0], a[1])], cannot_link: vec![(a[1], a[0])] };
    let error = fit(torn, k).unwrap_err();
    assert!(error.to_string().contains(&format!("rows {} and {}", a[1], a[0])), "{error}");
    // Rows of a single group that must not share a cluster: the number that is found is two.
    let one = Table::new(gaussian(150, 2, 4).values().to_vec(), 2).unwrap();
    let apart = Constraints { must_link: vec![], cannot_link: vec![(3, 90)] };
    let split = SpectralClustering::new().constraints(apart).fit(one).unwrap();
    assert_ne!(split.labels()[3], split.labels()[90]);
    assert!(split.evidence().unwrap().contains("2 groups"), "{:?}", split.evidence());
    let too_few = Constraints { must_link: vec![], cannot_link: vec![(a[0], b[0])] };
    assert!(matches!(fit(too_few, 1), Err(Error::BadConstraint { .. })));
}

/// Labels, tree, layers, memberships, scores and stability as bits.
fn bits(robust: &NodeGraph, params: &ClusterParams) -> Vec<u64> {
    let run = Run::new(17);
    let found = cluster(robust, params, &run).unwrap();
    let stable = stability(robust, &found, params, None, &run).unwrap();
    let tree = found.tree.as_ref().unwrap();
    let mut bits: Vec<u64> = found.labels.iter().map(|&label| u64::from(label)).collect();
    bits.extend(tree.merges.iter().flat_map(|merge| [merge.linkage.to_bits(), merge.resistance.to_bits()]));
    bits.extend(found.layers.iter().flat_map(|layer| layer.labels.iter().map(|&label| u64::from(label))));
    bits.extend(memberships(&robust.graph, &found.labels).iter().map(|share| share.to_bits()));
    bits.extend(outlier_scores(robust).iter().map(|score| score.to_bits()));
    bits.extend(stable.of_nodes.iter().map(|share| share.to_bits()));
    bits
}

#[test]
fn clusters_are_the_same_on_any_number_of_threads() {
    let robust = graph_of(uneven_blobs(1500, 4, 6, 3).unwrap().points);
    for method in [ClusterMethod::Auto, ClusterMethod::Agglomerate] {
        let params = ClusterParams::default().with(|params| {
            params.method = method;
            params.stability = 2;
        });
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(&robust, &params))
        };
        let one = on(1);
        for threads in [2, 4, 8] {
            assert_eq!(one, on(threads), "{threads} threads");
        }
    }
}

#[test]
fn points_apart_have_high_outlier_scores() {
    let mut values = gaussian(400, 2, 3).values().to_vec();
    values.extend([9.0, 9.0]);
    let robust = graph_of(Points::new(values, 2).unwrap());
    let scores = outlier_scores(&robust);
    let highest = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
    assert_eq!(highest, 400);
    let mut sorted = scores.clone();
    sorted.sort_by(f64::total_cmp);
    assert!((0.7..1.3).contains(&sorted[200]), "{}", sorted[200]);
}

#[test]
fn stable_clusters_are_stable_and_arbitrary_ones_are_not() {
    let blobs = graph_of(uneven_blobs(500, 4, 5, 6).unwrap().points);
    let run = Run::new(2);
    let params = ClusterParams::exactly(5).with(|params| params.stability = 3);
    let found = cluster(&blobs, &params, &run).unwrap();
    let stable = stability(&blobs, &found, &params, None, &run).unwrap();
    assert!(stable.overall > 0.99 && stable.n_failed == 0, "{stable:?}");
    // A Gaussian has no five parts.
    let one = graph_of(gaussian(500, 2, 1));
    let input = ClusterInput::from(&one);
    let arbitrary =
        cluster(input, &params.with(|params| params.method = ClusterMethod::Agglomerate), &run).unwrap();
    let stable = stability(&one, &arbitrary, &params, None, &run).unwrap();
    assert!(stable.overall < 0.8, "{}", stable.overall);
}
