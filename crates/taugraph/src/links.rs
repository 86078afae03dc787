//! Stage 9, components: weak links join the components of the graph, so that methods that need a connected graph work and
//! still see how weakly the components are connected.

use crate::affinity::{AffinityKind, local_affinity};
use crate::arrays::Arrays;
use crate::checkpoint::Checkpoint;
use crate::edges::Edges;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::neighbors::{OutsideSearch, SearchParams, Space};
use crate::progress::Run;
use crate::scale::LocalScales;

/// A link's weight is this fraction of the affinity of its ends …
const WEAKENING: f64 = 1e-3;
/// … and that affinity counts as at least this.
const MIN_AFFINITY: f64 = 1e-3;

/// An edge added between two components.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// One end.
    pub i: u32,
    /// The other end.
    pub j: u32,
    /// Weight of the added edge.
    pub weight: f64,
}

/// A connected graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// The graph with its links.
    pub graph: SparseGraph,
    /// The links.
    pub links: Vec<Link>,
    /// Whether every link is guaranteed to be the shortest from its component; see [`link_components`].
    pub are_shortest: bool,
}

impl Checkpoint for Linked {
    fn to_arrays(&self) -> Arrays<'_> {
        let mut arrays = Arrays::new();
        arrays.put("offsets", None, self.graph.offsets());
        arrays.put("ids", None, self.graph.ids());
        arrays.put("weights", None, self.graph.weights());
        let ends = self.links.iter().flat_map(|link| [link.i, link.j]).collect::<Vec<_>>();
        arrays.put("link_ends", Some(2), ends);
        arrays.put("link_weights", None, self.links.iter().map(|link| link.weight).collect::<Vec<_>>());
        arrays.put("are_shortest", None, vec![u64::from(self.are_shortest)]);
        arrays
    }

    fn from_arrays(mut arrays: Arrays<'static>) -> Result<Self> {
        let (offsets, entries) = (arrays.shape("offsets")?.to_vec(), arrays.shape("ids")?.to_vec());
        let graph = SparseGraph::new(
            arrays.take("offsets", &offsets)?,
            arrays.take("ids", &entries)?,
            arrays.take("weights", &entries)?,
        )?;
        let shape = arrays.shape("link_weights")?.to_vec();
        let weights = arrays.take_finite("link_weights", &shape)?;
        let ends = arrays.take_ids("link_ends", &[weights.len(), 2], graph.n_nodes())?;
        let pairs = ends.chunks_exact(2).zip(weights);
        let links = pairs.map(|(ends, weight)| Link { i: ends[0], j: ends[1], weight }).collect();
        let are_shortest = arrays.take::<u64>("are_shortest", &[1])?[0] == 1;
        Ok(Linked { graph, links, are_shortest })
    }
}

/// Joins each component to the nearest point outside it, in Borůvka rounds. A link has the weight 1e-3·max(w, 1e-3), with w the
/// locally scaled affinity of its ends.
///
/// A neighbor graph has no distances across its components, so [`link_by_degree`] joins them. Very large components are
/// searched through sampled representatives: those links are short, but perhaps not the shortest.
pub fn link_components(
    graph: SparseGraph,
    space: &Space,
    scales: &LocalScales,
    kind: AffinityKind,
    search: &SearchParams,
    run: &Run<'_>,
) -> Result<Linked> {
    let mut components = graph.components().clone();
    if components.len() == 1 {
        return Ok(Linked { graph, links: Vec::new(), are_shortest: true });
    }
    if !space.knows_all_pairs() {
        let (graph, links) = link_by_degree(&graph);
        return Ok(Linked { graph, links, are_shortest: false });
    }
    run.stage("component links", Some(components.len() as u64 - 1))?;
    let n = graph.n_nodes();
    let mut added: Vec<(u32, u32, f64)> = Vec::new();
    let outside = OutsideSearch::new(space, search);
    let mut are_shortest = true;
    while components.len() > 1 {
        let pairs = outside.nearest(components.of_nodes(), components.len(), components.largest(), run)?;
        are_shortest &= pairs.is_exact;
        let ends = pairs.shortest.iter().flatten().map(|pair| (pair.inside, pair.outside));
        let edges = Edges::from_pairs(n, ends)?;
        let distances = edges.map(|_, i, j| space.distance(i as usize, j as usize));
        let affinities = local_affinity(kind, scales, &edges, &distances);
        let weights = affinities.iter().map(|&affinity| weight_of(affinity));
        added.extend(edges.iter().zip(weights).map(|((i, j), weight)| (i, j, weight)));
        components = components.joined_by(edges.iter());
        run.progress.advance(edges.len() as u64);
    }
    let links = added.iter().map(|&(i, j, weight)| Link { i, j, weight }).collect();
    Ok(Linked { graph: graph.with_edges(&added), links, are_shortest })
}

/// The weight of a link between points of this affinity.
pub(crate) fn weight_of(affinity: f64) -> f64 {
    WEAKENING * affinity.max(MIN_AFFINITY)
}

/// Joins every component to the largest one by a link of minimal weight between their nodes of highest degree.
///
/// For graphs without distances.
pub fn link_by_degree(graph: &SparseGraph) -> (SparseGraph, Vec<Link>) {
    let components = graph.components();
    let degrees = graph.degrees();
    let mut heads: Vec<Option<u32>> = vec![None; components.len()];
    for (node, &component) in components.of_nodes().iter().enumerate() {
        let head = &mut heads[component as usize];
        if head.is_none_or(|known| degrees[node] > degrees[known as usize]) {
            *head = Some(node as u32);
        }
    }
    let center = heads[components.largest() as usize].expect("every component has a node");
    // Relative to the graph's own weights, which may have any unit.
    let heaviest = graph.weights().iter().copied().fold(0.0, f64::max);
    let weight = WEAKENING * MIN_AFFINITY * if heaviest > 0.0 { heaviest } else { 1.0 };
    let links: Vec<Link> = heads
        .into_iter()
        .flatten()
        .filter(|&head| head != center)
        .map(|head| Link { i: head.min(center), j: head.max(center), weight })
        .collect();
    let added: Vec<(u32, u32, f64)> = links.iter().map(|link| (link.i, link.j, link.weight)).collect();
    (graph.with_edges(&added), links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use crate::points::Points;

    /// Three pairs of points on a line, at 0, 10 and 30.
    fn pairs() -> (Space, SparseGraph) {
        let points = Points::new(vec![0.0, 1.0, 10.0, 11.0, 30.0, 31.0], 1).unwrap();
        let edges = Edges::from_pairs(6, [(0, 1), (2, 3), (4, 5)]).unwrap();
        (
            Space::from_points(points, Metric::Euclidean).unwrap(),
            SparseGraph::from_edges(&edges, &[1.0; 3]).unwrap(),
        )
    }

    #[test]
    fn links_are_the_shortest_outside_edges() {
        let (space, graph) = pairs();
        let scales = LocalScales::new(vec![9.0; 6]).unwrap();
        let kind = AffinityKind::SquaredDistance;
        let Linked { graph: linked, links, are_shortest } =
            link_components(graph, &space, &scales, kind, &SearchParams::default(), &Run::new(0)).unwrap();
        assert!(are_shortest);
        let ends: Vec<(u32, u32)> = links.iter().map(|link| (link.i, link.j)).collect();
        assert_eq!(ends, [(1, 2), (3, 4)]);
        assert!((links[0].weight - 1e-3 * (-1.0f64).exp()).abs() < 1e-15);
        assert_eq!(linked.components().len(), 1);
        assert_eq!(linked.n_edges(), 5);
    }

    #[test]
    fn degree_links_and_isolated_nodes() {
        let edges = Edges::from_pairs(4, [(0, 1), (1, 2)]).unwrap();
        let (linked, links) = link_by_degree(&SparseGraph::from_edges(&edges, &[2.0, 2.0]).unwrap());
        assert_eq!(links, [Link { i: 1, j: 3, weight: 2e-6 }]);
        assert_eq!(linked.components().len(), 1);
        let lonely = SparseGraph::from_edges(&Edges::from_pairs(3, []).unwrap(), &[]).unwrap();
        assert_eq!(link_by_degree(&lonely).0.components().len(), 1);
    }

    #[test]
    fn one_component_stays_as_it_is() {
        let (space, graph) = pairs();
        let scales = LocalScales::new(vec![9.0; 6]).unwrap();
        let kind = AffinityKind::SquaredDistance;
        let link = |graph| {
            link_components(graph, &space, &scales, kind, &SearchParams::default(), &Run::new(0)).unwrap()
        };
        let linked = link(graph).graph;
        let again = link(linked.clone());
        assert_eq!((again.graph, again.links.len()), (linked, 0));
    }
}
