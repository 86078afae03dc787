//! The whole chain on several machines has the bits of one.

use super::*;
use crate::affinity::AffinityKind;
use crate::distance::Metric;
use crate::edges::Symmetrize;
use crate::neighbors::{Space, nearest_neighbors};
use crate::params::Preset;
use crate::points::Points;
use crate::progress::Run;
use crate::quantile::{Estimator, Neighborhood, PoolStatistic};
use crate::random::{Stage, Stream};
use crate::robust::{NodeGraph, robust_graph};
use crate::scale::first_scales;
use crate::stochastic::{Probability, RobustScale};

const N: usize = 240;

fn points() -> Points {
    let mut draws = Stream::new(12, Stage::Generator).at(0, 0);
    let values = (0..N * 8).map(|at| draws.normal() + 4.0 * ((at / 8) % 3) as f64).collect();
    Points::new(values, 8).unwrap()
}

/// What the machines know in the end of the edges of every node, each edge from both ends.
fn spread(
    space: &Space,
    preset: &crate::params::CheckedGraphParams,
    n_machines: u32,
    whole: &NodeGraph,
) -> Vec<(f64, f64, f64)> {
    let Space::Points(of_metric) = space else { unreachable!() };
    let Estimator::Neighborhood(estimator) = preset.estimator else { unreachable!() };
    let (run, k, pool) = (Run::new(1), whole.neighbors.k(), estimator.pool);
    let own_of = |machine: u32| -> Vec<u32> {
        (0..N as u32).filter(|id| (id * 7 / 3) % n_machines == machine).collect()
    };
    let neighbors = &whole.neighbors;
    let first = first_scales(neighbors, &preset.first_scale, preset.scale_floor).unwrap();
    let reverse: Vec<ReverseNeighbor> = (0..N)
        .flat_map(|by| {
            let of_node = neighbors.ids(by).iter().zip(neighbors.distances(by));
            of_node.map(move |(&own, &distance)| ReverseNeighbor { own, by: by as u32, distance })
        })
        .collect();
    let edges_of = |own: &[u32]| {
        let ids: Vec<u32> = own.iter().flat_map(|&id| neighbors.ids(id as usize).to_vec()).collect();
        let lengths: Vec<f64> =
            own.iter().flat_map(|&id| neighbors.distances(id as usize).to_vec()).collect();
        let reverse: Vec<_> =
            reverse.iter().filter(|entry| own.binary_search(&entry.own).is_ok()).copied().collect();
        IncidentEdges::new(own, k, &ids, &lengths, &reverse, Symmetrize::Union).unwrap()
    };
    // Halves of all pools, by the own end and the other.
    let mut halves = std::collections::HashMap::new();
    for machine in 0..n_machines {
        let own = own_of(machine);
        let edges = edges_of(&own);
        let mut here: Vec<u32> = own.iter().chain(&edges.targets).copied().collect();
        here.extend(own.iter().flat_map(|&id| neighbors.ids(id as usize)[..pool].to_vec()));
        here.sort_unstable();
        here.dedup();
        let place = |id: &u32| here.binary_search(id).unwrap() as u32;
        let local = prepared_space(of_metric.points().select(&here), of_metric.metric()).unwrap();
        let scales: Vec<f64> = here.iter().map(|&id| first.get(id as usize)).collect();
        let own_places: Vec<u32> = own.iter().map(place).collect();
        let pools: Vec<u32> = own
            .iter()
            .flat_map(|&id| neighbors.ids(id as usize)[..pool].to_vec())
            .map(|id| place(&id))
            .collect();
        let targets: Vec<u32> = edges.targets.iter().map(place).collect();
        let found = half_pools(
            &local,
            &scales,
            preset.affinity,
            &own_places,
            &pools,
            (&edges.offsets, &targets),
            (&estimator, preset.threshold),
            &run,
        );
        let rows = own.iter().zip(edges.offsets.windows(2));
        let ends =
            rows.flat_map(|(&id, ends)| (ends[0] as usize..ends[1] as usize).map(move |edge| (id, edge)));
        for ((id, edge), half) in ends.zip(found.unwrap()) {
            halves.insert((id, edges.targets[edge]), half);
        }
    }
    // Scales of all nodes, then weights.
    let taus = preset.taus.values();
    let mut counts = vec![0; taus.len()];
    let mut of_machines = Vec::new();
    for machine in 0..n_machines {
        let own = own_of(machine);
        let edges = edges_of(&own);
        let rows = own.iter().zip(edges.offsets.windows(2));
        let ends: Vec<(u32, u32)> = rows
            .flat_map(|(&id, ends)| {
                edges.targets[ends[0] as usize..ends[1] as usize].iter().map(move |&other| (id, other))
            })
            .collect();
        let own_halves: Vec<f64> = ends.iter().map(|end| halves[end]).collect();
        let others: Vec<f64> = ends.iter().map(|&(id, other)| halves[&(other, id)]).collect();
        let persistence = joined_halves(&estimator, &own_halves, &others).unwrap();
        for (count, &tau) in counts.iter_mut().zip(taus) {
            let lower = ends.iter().zip(&persistence).filter(|((id, other), _)| id < other);
            *count += lower.filter(|(_, persistence)| **persistence > tau).count();
        }
        of_machines.push((own, edges, ends, persistence));
    }
    let mut values = vec![0.0; N];
    for (own, edges, _, persistence) in &of_machines {
        let probabilities = probabilities(preset.probability, persistence, taus, &counts);
        let of_own: Vec<f64> = own.iter().map(|&id| first.get(id as usize)).collect();
        let rows = (&edges.offsets[..], &edges.targets[..]);
        let found =
            robust_values(preset.robust_scale, &of_own, own, rows, &edges.distances, &probabilities, 1);
        own.iter().zip(found.unwrap()).for_each(|(&id, value)| values[id as usize] = value);
    }
    let raised = crate::scale::LocalScales::with_floor(values, preset.scale_floor);
    let scales = finished_scales(raised.values(), raised.least(), raised.median(), preset.scale_shrinkage);
    let mut found = vec![(0.0, 0.0, 0.0); whole.distances.len()];
    for (own, edges, ends, persistence) in &of_machines {
        let probabilities = probabilities(preset.probability, persistence, taus, &counts);
        let of_own: Vec<f64> = own.iter().map(|&id| scales[id as usize]).collect();
        let of_targets: Vec<f64> = edges.targets.iter().map(|&id| scales[id as usize]).collect();
        let is_lower: Vec<bool> = ends.iter().map(|(id, other)| id < other).collect();
        let weights = edge_weights(
            (preset.affinity, preset.final_affinity),
            (&edges.offsets, &edges.distances),
            (persistence, &probabilities),
            &of_own,
            &of_targets,
            &is_lower,
        );
        for (((&(i, j), &persistence), probability), weight) in
            ends.iter().zip(persistence).zip(probabilities).zip(weights)
        {
            let edge = whole.stochastic.edges().find(i, j).unwrap();
            assert!(
                i < j || found[edge] == (0.0, 0.0, 0.0) || found[edge] == (persistence, probability, weight)
            );
            found[edge] = (persistence, probability, weight);
        }
    }
    found
}

#[test]
fn graphs_have_the_bits_of_one_machine() {
    for metric in [Metric::Euclidean, Metric::Cosine] {
        let space = Space::from_points(points(), metric).unwrap();
        for change in 0..4 {
            let mut params = Preset::Robust.params();
            match change {
                1 => {
                    params.estimator = Estimator::Neighborhood(Neighborhood {
                        statistic: PoolStatistic::Mean,
                        ..Default::default()
                    })
                }
                2 => params.probability = Probability::Decay { floor: 0.2 },
                3 => params.robust_scale = RobustScale::MedianOfRealizations { draws: 9 },
                _ => params.affinity = AffinityKind::SquaredDistance,
            }
            let params = params.check().unwrap();
            let whole = robust_graph(&space, &params, &Run::new(1)).unwrap();
            let expected: Vec<(f64, f64, f64)> = whole
                .stochastic
                .edges()
                .iter()
                .zip(whole.stochastic.persistence().iter().zip(whole.stochastic.probabilities()))
                .map(|((i, j), (&persistence, &p))| {
                    (persistence, p, whole.graph.weight(i as usize, j as usize).unwrap_or(0.0))
                })
                .collect();
            for n_machines in [1, 3] {
                let found = spread(&space, &params, n_machines, &whole);
                assert!(found == expected, "{metric:?}, change {change}, {n_machines} machines");
            }
        }
    }
}

#[test]
fn shortest_pairs_are_those_of_one_machine() {
    let points = points();
    let group: Vec<u32> = (0..N as u32).map(|id| id % 5).collect();
    let run = Run::new(0);
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        let ids: Vec<u32> = (0..N as u32).collect();
        let queries: Vec<u32> = ids.iter().copied().filter(|&id| group[id as usize] != 2).collect();
        let one = nearest_outside(&points, metric, &ids, &group, &queries, &run).unwrap();
        let mut best: Vec<Option<OutsideCandidate>> = vec![None; 5];
        for machine in 0..3 {
            // All queries, and the points of this machine.
            let here: Vec<u32> =
                ids.iter().copied().filter(|&id| id % 3 == machine || group[id as usize] != 2).collect();
            let places: Vec<u32> = queries.iter().map(|id| here.binary_search(id).unwrap() as u32).collect();
            let groups: Vec<u32> = here.iter().map(|&id| group[id as usize]).collect();
            for found in
                nearest_outside(&points.select(&here), metric, &here, &groups, &places, &run).unwrap()
            {
                let key = |pair: &OutsideCandidate| {
                    (pair.distance, pair.inside.min(pair.outside), pair.inside.max(pair.outside))
                };
                let known = &mut best[found.group as usize];
                if known.as_ref().is_none_or(|known| key(&found) < key(known)) {
                    *known = Some(found);
                }
            }
        }
        assert_eq!(best.into_iter().flatten().collect::<Vec<_>>(), one);
        assert_eq!(one.len(), 4);
    }
}

#[test]
fn exact_neighbors_need_no_cells() {
    let space = Space::from_points(points(), Metric::Euclidean).unwrap();
    let exact = nearest_neighbors(&space, 5, &Run::new(0)).unwrap();
    let (run, Space::Points(of_metric)) = (Run::new(0), &space) else { unreachable!() };
    let cells = Cells::train(of_metric.points(), 1, &run).unwrap();
    let ids: Vec<u32> = (0..N as u32).collect();
    let search =
        CellSearch::new(of_metric.points(), &ids, &[0; N], Metric::Euclidean, cells.frame(), &run).unwrap();
    let (offsets, probed): (Vec<u64>, Vec<u32>) = ((0..=N as u64).collect(), vec![0; N]);
    let probes = Probes { offsets: &offsets, cells: &probed };
    let (found, _) = search.nearest(of_metric.points(), &ids, probes, 5, &run).unwrap();
    assert_eq!(found, (0..N).flat_map(|i| exact.ids(i).to_vec()).collect::<Vec<_>>());
}
