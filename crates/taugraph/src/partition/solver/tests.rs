//! The steps of all partitions in one process, against the solvers of one machine.

use super::*;
use crate::edges::{Edges, Symmetrize};
use crate::error::{Error, Result};
use crate::graph::SparseGraph;
use crate::neighbors::{Space, nearest_neighbors};
use crate::points::Points;
use crate::progress::Run;
use crate::random::{Stage, Stream};
use crate::spectral::{EigenParams, Laplacian, LaplacianKind, smallest_eigenpairs};

type Slices = Vec<Vec<Vec<f64>>>;

/// All partitions of a graph, and what goes between them.
struct Spread {
    parts: Vec<PartitionSolver>,
    coarse: CoarseSolver,
    ids: Vec<Vec<u32>>,
}

impl Spread {
    fn new(graph: &SparseGraph, part_of: &[u32], n_parts: u32, seed: u64) -> Result<Self> {
        let n = graph.n_nodes() as u32;
        let ids: Vec<Vec<u32>> =
            (0..n_parts).map(|part| (0..n).filter(|&id| part_of[id as usize] == part).collect()).collect();
        let halo_of = |part: u32, of: u32| -> Vec<u32> {
            let mut halo: Vec<u32> = ids[part as usize]
                .iter()
                .flat_map(|&id| graph.row(id as usize).map(|(other, _)| other))
                .filter(|&other| of != part && part_of[other as usize] == of)
                .collect();
            halo.sort_unstable();
            halo.dedup();
            halo
        };
        let halos: Vec<Vec<Vec<u32>>> =
            (0..n_parts).map(|part| (0..n_parts).map(|of| halo_of(part, of)).collect()).collect();
        let solver = |part: usize| {
            let mut offsets = vec![0u64];
            let (mut targets, mut weights) = (Vec::new(), Vec::new());
            for &id in &ids[part] {
                for (other, weight) in graph.row(id as usize) {
                    targets.push(other);
                    weights.push(weight);
                }
                offsets.push(targets.len() as u64);
            }
            let halo: Vec<&[u32]> = halos[part].iter().map(Vec::as_slice).collect();
            let wanted: Vec<&[u32]> = halos.iter().map(|by| by[part].as_slice()).collect();
            let edges = LocalEdges {
                ids: &ids[part],
                offsets: &offsets,
                targets: &targets,
                weights: &weights,
                halo: &halo,
                wanted: &wanted,
            };
            PartitionSolver::new(edges, seed)
        };
        let parts: Vec<PartitionSolver> = (0..n_parts as usize).map(solver).collect::<Result<_>>()?;
        let sizes: Vec<usize> = parts.iter().map(PartitionSolver::n_aggregates).collect();
        let firsts: Vec<u32> =
            (0..sizes.len()).map(|part| sizes[..part].iter().sum::<usize>() as u32).collect();
        let sent: Vec<Vec<Vec<u32>>> =
            parts.iter().zip(&firsts).map(|(part, &first)| part.aggregates(first)).collect();
        let edges = parts.iter().zip(&firsts).enumerate().map(|(to, (part, &first))| {
            let of_halo: Vec<&[u32]> =
                part.halo().sources().into_iter().map(|of| sent[of][to].as_slice()).collect();
            part.coarse_edges(first, &of_halo)
        });
        let edges: Vec<(Vec<u32>, Vec<u32>, Vec<f64>)> = edges.collect::<Result<_>>()?;
        let edges: Vec<(&[u32], &[u32], &[f64])> =
            edges.iter().map(|e| (&e.0[..], &e.1[..], &e.2[..])).collect();
        Ok(Self { parts, coarse: CoarseSolver::new(&sizes, &edges)?, ids })
    }

    /// What each partition gets of what all have sent.
    fn received<'a>(&self, sent: &'a Slices, to: usize) -> Vec<&'a [f64]> {
        self.parts[to].halo().sources().into_iter().map(|of| sent[of][to].as_slice()).collect()
    }

    fn each<T>(&mut self, work: impl FnMut(&mut PartitionSolver) -> Result<T>) -> Result<Vec<T>> {
        self.parts.iter_mut().map(work).collect()
    }

    /// Calls `work` with each partition and what it got.
    fn exchanged<T>(
        &mut self,
        sent: &Slices,
        work: impl Fn(&mut PartitionSolver, &[&[f64]]) -> Result<T>,
    ) -> Result<Vec<T>> {
        (0..self.parts.len())
            .map(|to| {
                let got = self.received(sent, to);
                work(&mut self.parts[to], &got)
            })
            .collect()
    }

    /// Preconditions residuals, or the candidates; returns the shares of the solutions. The basis may be replaced meanwhile.
    fn precondition(&mut self, named: Option<&[usize]>, rotation: Option<&Dense>) -> Result<Vec<Dense>> {
        let sent = self.each(|part| Ok(part.smooth_first(named)))?;
        if let Some(rotation) = rotation {
            self.each(|part| part.restart(rotation))?;
        }
        let right = self.exchanged(&sent, |part, got| part.restrict(got))?;
        let mut solved = self.coarse.solve(&right)?.into_iter();
        let sent = self.each(|part| part.correct(&solved.next().unwrap()))?;
        self.exchanged(&sent, |part, got| part.smooth_last(got))
    }

    /// Adds the new directions of the candidates to the basis; false if there are none.
    fn widen(&mut self, search: &mut EigenSearch, mut shares: Vec<Dense>) -> Result<bool> {
        loop {
            let all = search.shares(&shares)?;
            let products = self.each(|part| part.subtract(&all))?;
            let Directions { rotation, again } = search.directions(&products)?;
            if again {
                shares = self.each(|part| part.combine(&rotation))?;
                continue;
            }
            if rotation.n_columns == 0 {
                return Ok(false);
            }
            let sent = self.each(|part| part.append(&rotation))?;
            let new = self.exchanged(&sent, |part, got| part.image(got, rotation.n_columns))?;
            search.widen(&new)?;
            return Ok(true);
        }
    }

    fn widen_at_random(&mut self, search: &mut EigenSearch, count: usize, salt: u32) -> Result<bool> {
        let shares = self.each(|part| Ok(part.draw(count, salt)))?;
        let all = search.shares(&shares)?;
        self.each(|part| part.subtract(&all))?;
        let shares = self.precondition(None, None)?;
        self.widen(search, shares)
    }

    /// The eigenpairs, with the vectors by node.
    fn solve(
        &mut self,
        n_pairs: usize,
        groups: Option<&[u32]>,
        params: &EigenParams,
    ) -> Result<(EigenOutcome, Dense)> {
        let seed = 3;
        let n = self.ids.iter().map(Vec::len).sum();
        let masses: Vec<Vec<f64>> = self.parts.iter().map(PartitionSolver::masses).collect();
        let masses: Vec<&[f64]> = masses.iter().map(Vec::as_slice).collect();
        let rough = self.coarse.rough_vectors(&masses, n_pairs - 1, seed)?;
        let n_groups = groups.map_or(0, |groups| 1 + *groups.iter().max().unwrap() as usize);
        let n_guesses = n_groups + rough.as_ref().map_or(0, |rough| rough[0].n_columns);
        let mut search = EigenSearch::new(n, n_pairs, n_guesses, params, seed)?;
        let volume = self.parts.iter().map(PartitionSolver::volume).sum();
        let room = search.room();
        self.each(|part| {
            part.begin(volume, room);
            Ok(())
        })?;
        if let Some(groups) = groups {
            let ids = self.ids.clone();
            let mut ids = ids.iter();
            let shares = self.each(|part| {
                let own: Vec<u32> = ids.next().unwrap().iter().map(|&id| groups[id as usize]).collect();
                part.guess_groups(&own, n_groups)
            })?;
            self.widen(&mut search, shares)?;
        }
        if let Some(rough) = rough {
            let mut rough = rough.iter();
            let shares = self.each(|part| part.guess_smooth(rough.next().unwrap()))?;
            self.widen(&mut search, shares)?;
        }
        while let Some((count, salt)) = search.missing_at_start() {
            self.widen_at_random(&mut search, count, salt)?;
        }
        loop {
            let look = search.look()?;
            let squares = self.each(|part| part.residuals(&look.rotation, &look.values))?;
            if search.judge(&squares)? {
                break;
            }
            // A search goes on from what is stored of it.
            let (numbers, values) = search.state();
            search = EigenSearch::new(n, n_pairs, n_guesses, params, seed)?.restored(&numbers, &values)?;
            let look = search.look()?;
            let squares = self.each(|part| part.residuals(&look.rotation, &look.values))?;
            assert!(!search.judge(&squares)?);
            let (named, rotation) = search.improve();
            if !named.is_empty() {
                let shares = self.precondition(Some(&named), rotation.as_ref())?;
                if self.widen(&mut search, shares)? {
                    search.step();
                    continue;
                }
            } else if let Some(rotation) = &rotation {
                self.each(|part| part.restart(rotation))?;
            }
            let (count, salt) = search.fresh();
            self.widen_at_random(&mut search, count, salt)?;
            search.step();
        }
        let found = search.found();
        let sent = self.each(|part| part.finish(&found))?;
        let measured = self.exchanged(&sent, |part, got| part.measure(got))?;
        let values = search.quotients(&measured)?;
        let squares = self.each(|part| Ok(part.measure_residuals(&values)))?;
        let outcome = search.conclude(&squares)?;
        let largest = self.each(|part| Ok(part.largest(values.len())))?;
        let factors = search.factors(&largest);
        let mut vectors = vec![0.0; n * n_pairs];
        for (part, ids) in self.parts.iter().zip(&self.ids) {
            let own = part.vectors(&factors);
            for (row, &id) in ids.iter().enumerate() {
                vectors[id as usize * n_pairs..][..n_pairs].copy_from_slice(own.row(row));
            }
        }
        Ok((outcome, Dense { values: vectors, n_columns: n_pairs }))
    }
}

fn graph_of(n: usize, mut edges: Vec<(u32, u32, f64)>) -> SparseGraph {
    edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1), edge.2));
    edges.sort_by_key(|&(i, j, _)| (i, j));
    edges.dedup_by_key(|&mut (i, j, _)| (i, j));
    let pairs = Edges::from_pairs(n, edges.iter().map(|&(i, j, _)| (i, j))).unwrap();
    SparseGraph::from_edges(&pairs, &edges.iter().map(|edge| edge.2).collect::<Vec<_>>()).unwrap()
}

/// A neighbor graph whose weights fall with the distance, made connected by a path of weak edges.
fn neighbor_graph(points: &Points, k: usize, weakest: f64) -> SparseGraph {
    let space = Space::from_points(points.clone(), crate::distance::Metric::Euclidean).unwrap();
    let neighbors = nearest_neighbors(&space, k, &Run::new(0)).unwrap();
    let edges = Edges::from_neighbors(&neighbors, k, Symmetrize::Union);
    let n = points.len();
    let mean = (0..n).map(|i| neighbors.distances(i)[k - 1]).sum::<f64>() / n as f64;
    let weight = |(i, j): (u32, u32)| {
        (i, j, (-(space.distance(i as usize, j as usize) / mean).powi(2)).exp().max(1e-3))
    };
    let mut all: Vec<(u32, u32, f64)> = edges.iter().map(weight).collect();
    all.extend((1..n as u32).map(|i| (i - 1, i, weakest)));
    graph_of(n, all)
}

fn blobs(n: usize, n_columns: usize, n_blobs: usize, distance: f64) -> Points {
    let mut draws = Stream::new(8, Stage::Generator).at(0, 0);
    let centers: Vec<f64> = (0..n_blobs * n_columns).map(|_| distance * draws.normal()).collect();
    let value = |at: usize, draws: &mut crate::random::Draws| {
        centers[at / n_columns * n_blobs / n * n_columns + at % n_columns] + draws.normal()
    };
    Points::new((0..n * n_columns).map(|at| value(at, &mut draws)).collect(), n_columns).unwrap()
}

/// Two spirals in the plane.
fn spirals(n: usize) -> Points {
    let mut draws = Stream::new(9, Stage::Generator).at(0, 0);
    let mut values = Vec::with_capacity(2 * n);
    for i in 0..n {
        let turn = 1.0 + 9.0 * ((i % (n / 2)) as f64 / (n / 2) as f64).sqrt();
        let (side, radius) = (if i < n / 2 { 1.0 } else { -1.0 }, turn);
        values.push(side * radius * turn.cos() + 0.1 * draws.normal());
        values.push(side * radius * turn.sin() + 0.1 * draws.normal());
    }
    Points::new(values, 2).unwrap()
}

/// Partitions by the first coordinate: neighbors are mostly together.
fn by_place(points: &Points, n_parts: u32) -> Vec<u32> {
    let n = points.len();
    let values: Vec<f64> = (0..n).map(|i| points.row(i).get(0)).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut part_of = vec![0; n];
    order.iter().enumerate().for_each(|(rank, &node)| part_of[node] = (rank * n_parts as usize / n) as u32);
    part_of
}

/// Sine of the largest angle between the spaces of two sets of orthonormal vectors: the first by node, the second one after the other.
fn angle(found: &Dense, exact: &[f64]) -> f64 {
    let (n, k) = (found.n_rows(), found.n_columns);
    let mut worst: f64 = 0.0;
    // Of each found vector, what is left outside the exact space.
    for column in 0..k {
        let mut rest: Vec<f64> = (0..n).map(|node| found.row(node)[column]).collect();
        for vector in exact.chunks_exact(n) {
            let share = crate::dense::dot(&rest, vector);
            rest.iter_mut().zip(vector).for_each(|(rest, v)| *rest -= share * v);
        }
        worst = worst.max(crate::dense::norm(&rest));
    }
    worst * (k as f64).sqrt()
}

/// Solves in partitions and compares with one machine; returns the steps.
fn compare(
    graph: &SparseGraph,
    part_of: &[u32],
    n_parts: u32,
    n_pairs: usize,
    groups: Option<&[u32]>,
) -> u32 {
    let params = EigenParams::for_space();
    let (outcome, vectors) =
        Spread::new(graph, part_of, n_parts, 3).unwrap().solve(n_pairs, groups, &params).unwrap();
    let strict = EigenParams { tolerance: 1e-10, ..EigenParams::default() };
    let laplacian = Laplacian::new(graph, LaplacianKind::Symmetric);
    let exact = smallest_eigenpairs(&laplacian, n_pairs, &strict, &Run::new(1)).unwrap();
    let tolerance = params.tolerance * laplacian.norm_bound();
    let n = graph.n_nodes();
    let mut image = vec![0.0; n];
    for (rank, (value, exact)) in outcome.values.iter().zip(&exact.values).enumerate() {
        let vector: Vec<f64> = (0..n).map(|node| vectors.row(node)[rank]).collect();
        laplacian.apply(&vector, &mut image);
        image.iter_mut().zip(&vector).for_each(|(image, v)| *image -= value * v);
        let residual = crate::dense::norm(&image);
        assert!((residual - outcome.residuals[rank]).abs() < 1e-12, "{rank}: {residual} {outcome:?}");
        assert!(outcome.confirmed || residual <= tolerance, "{rank}: {outcome:?}");
        // The error of a value is at most the square of the residual divided by the distance to others, of which an angle of 1e-3 is left.
        let allowed = (1e-8 * laplacian.norm_bound()).max(1e-3 * residual);
        assert!((value - exact).abs() <= allowed, "{rank}: {value} {exact}, {residual}");
    }
    assert!(outcome.confirmed, "{outcome:?}");
    let angle = angle(&vectors, &exact.vectors);
    assert!(angle <= 1e-3, "{n_parts} partitions: angle {angle}, {outcome:?}");
    outcome.steps
}

#[test]
fn blobs_in_partitions() {
    let points = blobs(4000, 6, 5, 2.0);
    let graph = neighbor_graph(&points, 8, 1e-4);
    for n_parts in [1, 3, 8] {
        let steps = compare(&graph, &by_place(&points, n_parts), n_parts, 5, None);
        assert!(steps <= 20, "{steps}");
    }
}

#[test]
fn spirals_in_partitions() {
    let points = spirals(6000);
    let graph = neighbor_graph(&points, 8, 1e-6);
    for n_parts in [1, 3, 8] {
        let steps = compare(&graph, &by_place(&points, n_parts), n_parts, 2, None);
        assert!(steps <= 30, "{steps}");
    }
}

/// A long ring: pairs of equal eigenvalues, and many close ones.
#[test]
fn a_ring_has_eigenvalues_twice() {
    let n = 3000u32;
    let graph = graph_of(n as usize, (0..n).map(|i| (i, (i + 1) % n, 1.0)).collect());
    for n_parts in [1, 3, 8] {
        let part_of: Vec<u32> = (0..n).map(|i| i * n_parts / n).collect();
        compare(&graph, &part_of, n_parts, 5, None);
        // Neighbors are never together: all edges lead elsewhere.
        if n_parts > 1 {
            let scattered: Vec<u32> = (0..n).map(|i| i % n_parts).collect();
            compare(&graph, &scattered, n_parts, 3, None);
        }
    }
}

/// Groups of 200 nodes behind links of this weight, and the groups.
fn groups_behind(link: f64) -> (SparseGraph, Vec<u32>) {
    let (size, n_groups) = (200u32, 8u32);
    let mut draws = Stream::new(4, Stage::Generator).at(0, 0);
    let mut edges = Vec::new();
    for group in 0..n_groups {
        for i in 0..size {
            for _ in 0..4 {
                let other = draws.below(size as usize) as u32;
                if other != i {
                    edges.push((group * size + i, group * size + other, 0.5 + draws.uniform()));
                }
            }
        }
        if group > 0 {
            edges.push(((group - 1) * size + 7, group * size + 11, link * (1.0 + f64::from(group))));
        }
    }
    let groups = (0..size * n_groups).map(|id| id / size).collect();
    (graph_of((size * n_groups) as usize, edges), groups)
}

/// Links a billion times weaker than other edges, and links that are lost in rounding wherever they are added to others; with and without a guess.
#[test]
fn groups_behind_weak_links() {
    for link in [1e-9, 1e-200] {
        let (graph, groups) = groups_behind(link);
        let n = groups.len();
        for n_parts in [1, 3, 8] {
            // Partitions that cut through groups.
            let part_of: Vec<u32> = (0..n).map(|id| ((id + 90) * n_parts / (n + 90)) as u32).collect();
            compare(&graph, &part_of, n_parts as u32, 8, None);
            let steps = compare(&graph, &part_of, n_parts as u32, 8, Some(&groups));
            assert!(steps <= 12, "{steps}");
        }
    }
}

/// More groups than pairs, all behind links so weak that nothing tells their vectors apart: any of them are an answer, and the search ends.
#[test]
fn a_crowd_of_groups_is_no_endless_search() {
    let (graph, groups) = groups_behind(1e-200);
    let part_of: Vec<u32> = groups.iter().map(|group| group % 3).collect();
    let params = EigenParams::for_space();
    let (outcome, _) = Spread::new(&graph, &part_of, 3, 3).unwrap().solve(4, None, &params).unwrap();
    assert!(outcome.steps <= 60, "{outcome:?}");
    assert!(outcome.residuals.iter().all(|residual| *residual <= 2e-8), "{outcome:?}");
}

/// A star, whose leaves have no inner edges: one eigenvalue as often as there are leaves, of which some vectors are found.
#[test]
fn a_star_has_one_eigenvalue_many_times() {
    let n = 900;
    let graph = graph_of(n, (1..n as u32).map(|i| (0, i, 1.0)).collect());
    let part_of: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let params = EigenParams::for_space();
    let (outcome, _) = Spread::new(&graph, &part_of, 3, 3).unwrap().solve(4, None, &params).unwrap();
    assert!(outcome.values[0] < 1e-14 && outcome.values[1..].iter().all(|value| (value - 1.0).abs() < 1e-9));
    assert!(outcome.steps <= 60, "{outcome:?}");
}

/// What is solved for on aggregates has the mean 0 and the right direction.
#[test]
fn aggregates_are_solved_for() {
    let points = spirals(5000);
    let graph = neighbor_graph(&points, 8, 1e-6);
    let spread = Spread::new(&graph, &by_place(&points, 3), 3, 3).unwrap();
    let mut draws = Stream::new(1, Stage::Generator).at(0, 0);
    let n = spread.coarse.len();
    assert!(n < graph.n_nodes() / 10, "{n}");
    let mut right: Vec<f64> = (0..4 * n).map(|_| draws.normal()).collect();
    for column in 0..4 {
        let mean = (0..n).map(|node| right[4 * node + column]).sum::<f64>() / n as f64;
        (0..n).for_each(|node| right[4 * node + column] -= mean);
    }
    let mut at = 0;
    let parts: Vec<Dense> = spread
        .parts
        .iter()
        .map(|part| {
            let values = right[4 * at..4 * (at + part.n_aggregates())].to_vec();
            at += part.n_aggregates();
            Dense { values, n_columns: 4 }
        })
        .collect();
    let solved = spread.coarse.solve(&parts).unwrap();
    for column in 0..4 {
        let entries = |parts: &[Dense]| -> Vec<f64> {
            parts.iter().flat_map(|part| (0..part.n_rows()).map(move |row| part.row(row)[column])).collect()
        };
        let (x, r) = (entries(&solved), entries(&parts));
        let size = x.iter().map(|x| x.abs()).fold(0.0, f64::max);
        assert!(x.iter().sum::<f64>().abs() < 1e-9 * size * n as f64, "{size}");
        // As for the inverse of a positive definite matrix.
        assert!(x.iter().zip(&r).map(|(x, r)| x * r).sum::<f64>() > 0.0);
    }
    assert!(spread.coarse.solve(&parts[1..]).is_err());
}

/// Partitions without nodes, with one node, and with nodes that have no inner edges; and fewer nodes than a block.
#[test]
fn odd_partitions() {
    let points = blobs(500, 3, 3, 3.0);
    let graph = neighbor_graph(&points, 6, 1e-3);
    let mut part_of = vec![3; 500];
    part_of[17] = 1;
    (0..500).filter(|node| node % 5 == 2).for_each(|node| part_of[node] = 4);
    compare(&graph, &part_of, 6, 3, None);
    let few = graph_of(7, (1..7).map(|i| (i - 1, i, 1.0 + f64::from(i))).collect());
    compare(&few, &[0, 1, 1, 3, 3, 3, 0], 4, 3, None);
    compare(&few, &[0, 1, 2, 3, 4, 5, 6], 7, 6, None);
    compare(&graph_of(2, vec![(0, 1, 3.0)]), &[1, 0], 2, 2, None);
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let points = blobs(5000, 4, 4, 2.5);
    let graph = neighbor_graph(&points, 8, 1e-4);
    let part_of = by_place(&points, 2);
    let solved = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            Spread::new(&graph, &part_of, 2, 3).unwrap().solve(4, None, &EigenParams::for_space()).unwrap()
        })
    };
    assert!(solved(1) == solved(2));
}

#[test]
fn a_search_that_may_not_go_on_is_an_error() {
    let points = spirals(2000);
    let graph = neighbor_graph(&points, 8, 1e-6);
    let params = EigenParams { max_applications: 5, ..EigenParams::for_space() };
    let found = Spread::new(&graph, &by_place(&points, 3), 3, 3).unwrap().solve(3, None, &params);
    assert!(matches!(found, Err(Error::EigenNotConverged { wanted: 3, .. })), "{found:?}");
}

#[test]
fn edges_that_do_not_fit_are_errors() {
    let (ids, offsets, targets, weights) =
        (&[3, 5][..], &[0, 1, 3][..], &[5, 3, 9][..], &[1.0, 1.0, 2.0][..]);
    let made = |edges| PartitionSolver::new(edges, 1).map(|solver| solver.n_aggregates());
    let edges = LocalEdges { ids, offsets, targets, weights, halo: &[&[], &[9]], wanted: &[&[], &[5]] };
    assert_eq!(made(edges).unwrap(), 2);
    assert!(matches!(made(LocalEdges { halo: &[&[], &[8]], ..edges }), Err(Error::BadStructure { .. })));
    assert!(matches!(made(LocalEdges { wanted: &[&[], &[9]], ..edges }), Err(Error::BadStructure { .. })));
    assert!(matches!(made(LocalEdges { ids: &[5, 3], ..edges }), Err(Error::BadStructure { .. })));
    assert!(matches!(made(LocalEdges { offsets: &[0, 4, 3], ..edges }), Err(Error::BadStructure { .. })));
    assert!(matches!(made(LocalEdges { weights: &[1.0], ..edges }), Err(Error::Length { .. })));
    // Weights of an edge that differ between its ends.
    let lopsided = LocalEdges { weights: &[1.0, 1.5, 2.0], ..edges };
    assert!(matches!(made(lopsided), Err(Error::NotSymmetric { .. })));
    let mut solver = PartitionSolver::new(edges, 1).unwrap();
    solver.begin(5.0, 8);
    assert!(matches!(solver.restrict(&[]), Err(Error::Length { .. })));
    assert!(matches!(
        solver.restart(&Dense { values: vec![1.0; 4], n_columns: 2 }),
        Err(Error::Length { .. })
    ));
}

#[test]
fn a_stored_basis_is_restored() {
    let points = blobs(300, 3, 3, 3.0);
    let graph = neighbor_graph(&points, 6, 1e-3);
    let mut spread = Spread::new(&graph, &by_place(&points, 2), 2, 3).unwrap();
    spread.solve(3, None, &EigenParams::for_space()).unwrap();
    for part in &mut spread.parts {
        let (basis, images) = part.stored();
        part.begin(1.0, 40);
        part.restore(&basis, &images).unwrap();
        assert!(part.stored() == (basis.clone(), images));
        assert!(part.restore(&basis, &Dense { values: vec![0.0], n_columns: 1 }).is_err());
    }
}
