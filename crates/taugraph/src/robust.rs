//! Algorithm 1 at a glance: from points to a robust graph.

use crate::affinity::{Similarities, edge_distances, local_affinity};
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::graph::{Components, SparseGraph};
use crate::links::{Link, Linked, link_components};
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::neighbors::{
    NeighborGraph, SearchInfo, Space, TREE_COLUMNS, bytes_of_descent, bytes_of_short_lists, search_neighbors,
};
use crate::params::{CandidatePairs, CheckedGraphParams, GraphParams, LinkComponents};
use crate::points::{Duplicates, Precision, SparsePoints};
use crate::progress::Run;
use crate::quantile::{ProblemSize, Quantiles, Training};
use crate::scale::{FirstScale, LocalScales, first_scales};
use crate::stochastic::{StochasticGraph, robust_scales};

/// The robust graph and all intermediate results. Nodes are the distinct points.
#[derive(Debug, Clone)]
pub struct NodeGraph {
    /// Which rows share a node.
    pub duplicates: Duplicates,
    /// The nearest neighbors of each node, as many as the stages needed.
    pub neighbors: NeighborGraph,
    /// First local scale of each node.
    pub first_scales: LocalScales,
    /// Robust local scale of each node.
    pub scales: LocalScales,
    /// Candidate edges with persistence and probability.
    pub stochastic: StochasticGraph,
    /// Distance of each candidate edge.
    pub distances: Vec<f64>,
    /// Training history of the quantile models; empty without training.
    pub training: Vec<Training>,
    /// Share of the edges whose quantiles crossed before they were rearranged.
    pub crossing_rate: Option<f64>,
    /// The final affinity, including links.
    pub graph: SparseGraph,
    /// Components of the final affinity before they were linked.
    pub components: Components,
    /// The links between them.
    pub links: Vec<Link>,
    /// Whether each link is guaranteed to be the shortest from its component.
    pub links_are_shortest: bool,
    /// How the neighbors were found, and with what recall.
    pub search: SearchInfo,
}

/// What is known about an edge between two rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowEdge {
    /// A candidate edge.
    Candidate {
        /// Its probability.
        probability: f64,
        /// Its length.
        distance: f64,
    },
    /// An edge between a copy and the row that it equals.
    Copy,
    /// A weak link between components.
    Link,
}

impl NodeGraph {
    /// The graph over all rows. A copy is attached to the first row equal to it by an edge of weight 1, the affinity at distance
    /// 0, so the graph stays as sparse as that of the distinct points.
    pub fn graph_of_rows(&self) -> SparseGraph {
        let copies: Vec<(u32, u32, f64)> = self.copies().map(|(first, copy)| (first, copy, 1.0)).collect();
        if copies.is_empty() {
            return self.graph.clone();
        }
        self.graph.renamed(self.duplicates.row_of_node(), self.duplicates.n_rows()).with_edges(&copies)
    }

    /// What is known about an edge of [`NodeGraph::graph_of_rows`].
    pub fn row_edge(&self, i: u32, j: u32) -> RowEdge {
        let nodes = self.duplicates.node_of_row();
        let (a, b) = (nodes[i as usize], nodes[j as usize]);
        if a == b {
            return RowEdge::Copy;
        }
        match self.stochastic.edges().find(a, b) {
            Some(edge) => RowEdge::Candidate {
                probability: self.stochastic.probabilities()[edge],
                distance: self.distances[edge],
            },
            None => RowEdge::Link,
        }
    }

    /// Each copy with the first row equal to it, first row first.
    fn copies(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first_rows = self.duplicates.row_of_node();
        let rows = self.duplicates.node_of_row().iter().enumerate();
        rows.map(|(row, &node)| (first_rows[node as usize], row as u32)).filter(|(first, row)| first != row)
    }
}

/// The first half of Algorithm 1: points → neighbors → first scales → candidate edges.
struct Candidates {
    duplicates: Duplicates,
    neighbors: NeighborGraph,
    search: SearchInfo,
    first_scales: LocalScales,
    edges: Edges,
    distances: Vec<f64>,
}

impl Candidates {
    /// `distinct` are the distinct points of a space.
    fn new(
        distinct: &Space,
        duplicates: Duplicates,
        params: &CheckedGraphParams,
        run: &Run<'_>,
    ) -> Result<Self> {
        let k = params.n_neighbors();
        let (neighbors, search) = run.checkpointed(
            "neighbors",
            |(graph, _): &(NeighborGraph, SearchInfo)| (graph.len(), graph.k()) == (distinct.len(), k),
            || search_neighbors(distinct, k, &params.search, run),
        )?;
        check_distances(&neighbors)?;
        let scale = of_nodes(&params.first_scale, &duplicates)?;
        let first_scales = first_scales(&neighbors, &scale, params.scale_floor)?;
        let edges = match params.candidates {
            CandidatePairs::Neighbors { k, symmetrize } => Edges::from_neighbors(&neighbors, k, symmetrize),
            CandidatePairs::All if distinct.knows_all_pairs() => Edges::all_pairs(distinct.len()),
            CandidatePairs::All => {
                let advice = "use the neighbors as candidates";
                return Err(Error::NeedsAllPairs { stage: "this preset", advice });
            }
        };
        let distances = match (distinct, params.candidates) {
            // Known from the search, to the bit.
            (Space::Points(_), CandidatePairs::Neighbors { .. }) => edges.map(|_, i, j| {
                neighbors.distance_between(i as usize, j as usize).expect("a candidate pair are neighbors")
            }),
            _ => edge_distances(distinct, &edges),
        };
        Ok(Self { duplicates, neighbors, search, first_scales, edges, distances })
    }

    /// Similarities of the candidates, and their conditional quantiles.
    fn quantiles(
        &self,
        distinct: &Space,
        params: &CheckedGraphParams,
        run: &Run<'_>,
    ) -> Result<(Vec<f64>, Quantiles)> {
        let Self { neighbors, first_scales, edges, distances, .. } = self;
        let close = distinct.reordered_by(neighbors, run)?;
        let similarities =
            Similarities::new(&close, neighbors, first_scales, params.affinity, edges, distances);
        let quantiles = run.checkpointed(
            "quantiles",
            |kept: &Quantiles| kept.fit(edges.len(), &params.taus),
            || params.estimator().estimate(&similarities, &params.taus, params.threshold, run),
        )?;
        Ok((similarities.into_values(), quantiles))
    }
}

/// The candidate edges with their similarities and conditional quantiles: Algorithm 1 up to that step.
#[derive(Debug, Clone)]
pub struct QuantileGraph {
    /// Which rows are the same node.
    pub duplicates: Duplicates,
    /// The candidate edges between the nodes.
    pub edges: Edges,
    /// Similarity of each candidate edge.
    pub similarities: Vec<f64>,
    /// Conditional quantiles of the similarities.
    pub quantiles: Quantiles,
}

/// The conditional quantiles behind [`robust_graph`].
pub fn conditional_quantiles(
    space: &Space,
    params: &CheckedGraphParams,
    run: &Run<'_>,
) -> Result<QuantileGraph> {
    conditional_quantiles_for(space, &|_| Ok(params.clone()), run)
}

/// The same with parameters that depend on the number of distinct points, such as those of
/// [`Config::graph_for`](crate::config::Config::graph_for).
pub fn conditional_quantiles_for(
    space: &Space,
    params_for: &dyn Fn(usize) -> Result<CheckedGraphParams>,
    run: &Run<'_>,
) -> Result<QuantileGraph> {
    let (distinct, duplicates) = space.distinct(run)?;
    let params = params_for(duplicates.n_nodes())?;
    let candidates = Candidates::new(&distinct, duplicates, &params, run)?;
    let (similarities, quantiles) = candidates.quantiles(&distinct, &params, run)?;
    let Candidates { duplicates, edges, .. } = candidates;
    Ok(QuantileGraph { duplicates, edges, similarities, quantiles })
}

/// Points → neighbors → first scales → similarities → conditional quantiles → stochastic graph → robust scales →
/// final affinity.
pub fn robust_graph(space: &Space, params: &CheckedGraphParams, run: &Run<'_>) -> Result<NodeGraph> {
    Ok(robust_graph_for(space, &|_| Ok((params.clone(), ())), run)?.0)
}

/// The same with parameters that depend on the number of distinct points; also returns them and the notes about them.
pub(crate) fn robust_graph_for<T>(
    space: &Space,
    params_for: &dyn Fn(usize) -> Result<(CheckedGraphParams, T)>,
    run: &Run<'_>,
) -> Result<(NodeGraph, CheckedGraphParams, T)> {
    let row = RowSize::of(space, run);
    // A distance matrix is already in memory, but its distinct rows may have to be copied.
    let copies = |n: usize| if let Space::Distances(_) = space { 8 * (n as u64).pow(2) } else { 0 };
    let (at_most, _) = params_for(space.len())?;
    refuse_if_over(
        space.len(),
        run.memory_limit,
        |n| memory_estimate(n, row, &at_most).plus(copies(n)),
        "use fewer neighbors, or a preset that uses neighbors instead of all pairs",
    )?;
    let (distinct, duplicates) = space.distinct(run)?;
    let (params, said) = params_for(duplicates.n_nodes())?;
    let nodes = graph_of_distinct(distinct.as_ref(), duplicates, &params, run)?;
    Ok((nodes, params, said))
}

fn graph_of_distinct(
    distinct: &Space,
    duplicates: Duplicates,
    params: &CheckedGraphParams,
    run: &Run<'_>,
) -> Result<NodeGraph> {
    let candidates = Candidates::new(distinct, duplicates, params, run)?;
    let (_, quantiles) = candidates.quantiles(distinct, params, run)?;
    let Candidates { duplicates, neighbors, search, first_scales: first, edges, distances } = candidates;
    let stochastic = StochasticGraph::new(edges, &quantiles, params.threshold, params.probability);
    let (scale, bounds) = (params.robust_scale, (params.scale_floor, params.scale_shrinkage));
    let scales = robust_scales(&stochastic, &distances, &first, scale, bounds, run)?;
    let unlinked = final_affinity(&stochastic, &distances, &scales, params)?;
    let components = unlinked.components().clone();
    let linked = match params.link_components {
        LinkComponents::No => Linked { graph: unlinked, links: Vec::new(), are_shortest: true },
        LinkComponents::Weakly => {
            let n = unlinked.n_nodes();
            run.checkpointed(
                "graph",
                |kept: &Linked| kept.graph.n_nodes() == n,
                || link_components(unlinked, distinct, &scales, params.affinity, &params.search, run),
            )?
        }
    };
    Ok(NodeGraph {
        duplicates,
        neighbors,
        first_scales: first,
        scales,
        stochastic,
        distances,
        training: quantiles.training,
        crossing_rate: quantiles.crossing_rate,
        graph: linked.graph,
        components,
        links: linked.links,
        links_are_shortest: linked.are_shortest,
        search,
    })
}

/// Squares of values above 1e150 overflow, and of values below 1e-150 underflow: then no points can be told apart.
fn check_distances(neighbors: &NeighborGraph) -> Result<()> {
    let farthest =
        (0..neighbors.len()).map(|i| neighbors.distances(i)[neighbors.k() - 1]).fold(0.0, f64::max);
    if farthest > 0.0 && farthest.is_finite() {
        return Ok(());
    }
    Err(Error::Numerical {
        what: "measuring distances (the values are too large or too small: standardize the columns)",
    })
}

/// The user's scales are given by row; the graph needs them by node.
fn of_nodes(scale: &FirstScale, duplicates: &Duplicates) -> Result<FirstScale> {
    let FirstScale::Given { values } = scale else { return Ok(scale.clone()) };
    if values.len() != duplicates.n_rows() {
        let (expected, received) = (duplicates.n_rows(), values.len());
        return Err(Error::Length { what: "local scales", expected, received });
    }
    let values = duplicates.row_of_node().iter().map(|&row| values[row as usize]).collect();
    Ok(FirstScale::Given { values })
}

fn final_affinity(
    stochastic: &StochasticGraph,
    distances: &[f64],
    scales: &LocalScales,
    params: &GraphParams,
) -> Result<SparseGraph> {
    let edges = stochastic.edges();
    let mut weights = local_affinity(params.affinity, scales, edges, distances);
    let of_edges = weights.iter_mut().zip(stochastic.persistence()).zip(stochastic.probabilities());
    of_edges.for_each(|((weight, &persistence), &p)| {
        *weight = params.final_affinity.weight(*weight, persistence, p);
    });
    SparseGraph::from_edges(edges, &weights)
}

/// What a row of the input contains, as far as it determines the memory of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowSize {
    /// A row of a dense table in memory, with this many columns of a precision.
    Columns(usize, Precision),
    /// The same out-of-core, in a run with a scratch, where all tables as large as the points are stored.
    OutOfCore(usize),
    /// A row of sparse points.
    Entries {
        /// Entries of a row, on average.
        mean: f64,
        /// Entries of the longest row.
        longest: usize,
    },
}

impl RowSize {
    /// The rows of sparse points.
    pub fn of_sparse(points: &SparsePoints) -> Self {
        let mean = points.n_entries() as f64 / points.len() as f64;
        RowSize::Entries { mean, longest: points.longest_row() }
    }

    /// Distances and neighbors have no rows of their own.
    fn of(space: &Space, run: &Run<'_>) -> Self {
        match space {
            Space::Points(space) if space.points().are_shared() && run.scratch.is_some() => {
                RowSize::OutOfCore(space.points().n_columns())
            }
            Space::Points(space) => RowSize::Columns(space.points().n_columns(), space.points().precision()),
            Space::Sparse(space) => Self::of_sparse(space.points()),
            Space::Distances(_) | Space::Neighbors(_) => RowSize::Columns(0, Precision::Double),
        }
    }

    /// Bytes for `n` such points with their deduplicated copy, for finding duplicates, and for finding `k` neighbors of each.
    fn bytes(self, n: u64, k: u64, params: &GraphParams) -> [u64; 3] {
        // Norms, ids and order of the points, and the centroids of their lists; buffered neighbors.
        let beside = |d: u64| 32 * n + n * d / 16 + 12 * n * k;
        match self {
            // A tree has a copy of its points and a box for a few of them.
            RowSize::Columns(d, _) | RowSize::OutOfCore(d) if d <= TREE_COLUMNS => {
                let d = d as u64;
                [16 * n * d, 32 * n, 12 * n * d + beside(d)]
            }
            // The packed points.
            RowSize::Columns(d, precision) => {
                let d = d as u64;
                let by_descent =
                    if params.search.tries_ivf(n as usize) { bytes_of_descent(n, d, k) } else { 0 };
                let lists = bytes_of_short_lists(n, d, k).max(by_descent);
                [2 * precision.bytes() * n * d, 32 * n, 4 * n * d + beside(d) + lists]
            }
            RowSize::OutOfCore(d) => [0, 32 * n, beside(d as u64) + bytes_of_short_lists(n, d as u64, k)],
            RowSize::Entries { mean, longest } => {
                let entries = (n as f64 * mean).ceil() as u64 + 1;
                // Columns and values; offsets and norms.
                let points = 12 * entries + 16 * n;
                // The points by column, with two counters for each column, of which there are no more than entries; lists of ids.
                let by_columns = 28 * entries + 32 * n;
                // The columns of a block of queries, in every thread.
                let blocks = (1 << 10) * longest as u64 * rayon::current_num_threads() as u64;
                [2 * points, 128 * n, by_columns + blocks]
            }
        }
    }
}

/// An upper bound on the candidate edges, and the bytes of the points and of a [`NodeGraph`] on them without its final affinity.
pub(crate) fn held(n: usize, row: RowSize, params: &GraphParams) -> (u64, u64) {
    let n_edges = max_edges(n as u64, params);
    let k = params.n_neighbors().min(n) as u64;
    let n = n as u64;
    let [rows, ..] = row.bytes(n, k, params);
    (n_edges, rows + 12 * n * k + Edges::bytes(n, n_edges) + 24 * n_edges + 48 * n)
}

/// Candidates are counted as if no two points chose each other, so the estimate is an upper bound.
fn max_edges(n: u64, params: &GraphParams) -> u64 {
    match params.candidates {
        CandidatePairs::All => n * n.saturating_sub(1) / 2,
        // No more neighbors than points, whatever is requested.
        CandidatePairs::Neighbors { k, .. } => n * (k as u64).min(n),
    }
}

/// The memory of a run at each stage, for `n` rows of a size; an upper bound.
pub fn memory_estimate(n: usize, row: RowSize, params: &GraphParams) -> MemoryEstimate {
    let n = n as u64;
    // No more neighbors than points, whatever is requested.
    let k = (params.n_neighbors() as u64).min(n);
    let [rows, hashing, searching] = row.bytes(n, k, params);
    let n_edges = max_edges(n, params);
    let pairs_in_work = if params.candidates == CandidatePairs::All { 0 } else { 8 * n_edges };
    // Tiles, packed blocks and thread stacks.
    let workspace = (2 << 20) * (1 + rayon::current_num_threads() as u64);
    // The points, their deduplicated copy and the map from rows to nodes.
    let points = workspace + rows + 8 * n;
    let neighbors = 12 * n * k;
    let edges = Edges::bytes(n, n_edges) + 8 * n_edges;
    let similarities = 8 * n_edges + 16 * n;
    let n_taus = params.taus.len() as u64;
    let estimator = params.estimator.as_dyn().bytes(ProblemSize { n_nodes: n, n_edges, n_taus });
    let stochastic = 16 * n_edges;
    // Compressed rows, and the list for distributing them over threads.
    let graph = 24 * n_edges + 88 * n;
    let stages = vec![
        ("duplicates", points + hashing),
        ("neighbors", points + neighbors + searching),
        ("candidate edges", points + neighbors + edges + pairs_in_work),
        ("conditional quantiles", points + neighbors + edges + similarities + estimator),
        ("local scales", points + neighbors + edges + estimator + stochastic),
        ("final affinity", points + neighbors + edges + estimator + stochastic + 8 * n_edges + 2 * graph),
    ];
    MemoryEstimate::of(stages)
}
