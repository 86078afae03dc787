//! The graph of a table that is spread over many machines: components, links, agglomeration. The arithmetic behind `taugraph.distributed`.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use taugraph::cluster::{CutQuality, MethodChoice};
use taugraph::partition::{self, GroupShare, MergeTrees, PartGraph, TreeKind};

use crate::arrays::table;
use crate::config::PyConfig;
use crate::errors::checked;
use crate::running::{RunArgs, aside, run};

type Ids<'py> = PyReadonlyArray1<'py, u32>;
type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Offsets<'py> = PyReadonlyArray1<'py, u64>;
type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// The edges of a machine's own nodes.
#[pyclass(name = "PartGraph", module = "taugraph._core", frozen)]
pub struct PyPartGraph(PartGraph);

#[pymethods]
impl PyPartGraph {
    #[new]
    fn new(py: Python<'_>, own: Ids<'_>, edges: (Offsets<'_>, Ids<'_>, Numbers<'_>)) -> PyResult<Self> {
        let (own, offsets, targets) = (own.as_slice()?, edges.0.as_slice()?, edges.1.as_slice()?);
        let weights = edges.2.as_slice()?;
        Ok(Self(checked(py, aside(py, || PartGraph::new(own, offsets, targets, weights))?)?))
    }

    /// The own nodes and those that they have edges to, ascending.
    fn ids<'py>(&self, py: Python<'py>) -> Array<'py, u32> {
        self.0.ids().to_vec().into_pyarray(py)
    }

    /// The places of the own nodes.
    fn own<'py>(&self, py: Python<'py>) -> Array<'py, u32> {
        self.0.own().to_vec().into_pyarray(py)
    }

    /// The component of each own node in the graph of the own nodes.
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Array<'py, u32>> {
        Ok(checked(py, aside(py, || self.0.components())?)?.into_pyarray(py))
    }

    /// A micro-community for each own node.
    fn micro_communities<'py>(
        &self,
        py: Python<'py>,
        n_clusters: usize,
        run_args: RunArgs,
    ) -> PyResult<Array<'py, u32>> {
        Ok(run(py, &run_args, |run| self.0.micro_communities(n_clusters, run))?.into_pyarray(py))
    }

    /// Levels of the own nodes, smoothed once over the graph.
    fn smoothed<'py>(&self, py: Python<'py>, levels: Numbers<'py>) -> PyResult<Array<'py, f64>> {
        let levels = levels.as_slice()?;
        Ok(checked(py, aside(py, || self.0.smoothed(levels))?)?.into_pyarray(py))
    }

    /// Own nodes moved to the clusters they are tied to most; and how often one moved.
    fn moved<'py>(
        &self,
        py: Python<'py>,
        clusters: Ids<'py>,
        keeps: Vec<bool>,
    ) -> PyResult<(Array<'py, u32>, usize)> {
        let clusters = clusters.as_slice()?;
        let (clusters, n_moves) = checked(py, aside(py, || self.0.moved(clusters, &keeps))?)?;
        Ok((clusters.into_pyarray(py), n_moves))
    }

    /// What the own nodes add to the weights within each cluster and to its volume.
    fn cut_sums(
        &self,
        py: Python<'_>,
        clusters: Ids<'_>,
        n_clusters: usize,
    ) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let clusters = clusters.as_slice()?;
        checked(py, aside(py, || self.0.cut_sums(clusters, n_clusters))?)
    }

    /// The groups of this machine, numbered from `first`, and their boundaries: a row of four numbers for each group; where the boundaries of each
    /// begin, the groups beside it, a row of two numbers for each boundary.
    fn group_share<'py>(
        &self,
        py: Python<'py>,
        labels: Ids<'py>,
        first: u32,
        n_groups: usize,
        levels: Numbers<'py>,
        inverse_dimension: Numbers<'py>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Array<'py, u64>, Array<'py, u32>, Bound<'py, PyArray2<f64>>)>
    {
        let (labels, levels) = (labels.as_slice()?, levels.as_slice()?);
        let inverse_dimension = inverse_dimension.as_slice()?;
        let share =
            aside(py, || GroupShare::new(&self.0, labels, (first, n_groups), levels, inverse_dimension))?;
        let GroupShare { groups, offsets, beside, boundaries } = checked(py, share)?;
        Ok((
            table(py, groups.concat(), 4)?,
            offsets.into_pyarray(py),
            beside.into_pyarray(py),
            table(py, boundaries.concat(), 2)?,
        ))
    }
}

/// The components of nodes that are joined by pairs, numbered by their lowest node.
#[pyfunction]
pub fn components_of_pairs<'py>(
    py: Python<'py>,
    n_nodes: usize,
    pairs: PyReadonlyArray2<'py, u32>,
) -> PyResult<Array<'py, u32>> {
    let pairs = pairs.as_slice()?;
    if pairs.iter().any(|&node| node as usize >= n_nodes) {
        return Err(PyValueError::new_err("a pair names a node that does not exist"));
    }
    let found = aside(py, || {
        partition::components_of_pairs(n_nodes, pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])))
    })?;
    Ok(found.into_pyarray(py))
}

/// The weight of a link of this length between points with these scales, those of the lower node first.
#[pyfunction]
pub fn link_weight(distance: f64, lower_scale: f64, higher_scale: f64, config: PyConfig) -> f64 {
    partition::link_weight(config.config.graph.affinity, distance, lower_scale, higher_scale)
}

/// The inverse dimension around each node and its level before smoothing, from the distances to its neighbors.
#[pyfunction]
pub fn unsmoothed_density<'py>(
    py: Python<'py>,
    distances: PyReadonlyArray2<'py, f64>,
) -> PyResult<(Array<'py, f64>, Array<'py, f64>)> {
    let k = distances.shape()[1];
    let distances = distances.as_slice()?;
    let (inverse_dimension, levels) = aside(py, || partition::unsmoothed_density(distances, k))?;
    Ok((inverse_dimension.into_pyarray(py), levels.into_pyarray(py)))
}

/// How often levels are smoothed.
#[pyfunction]
pub fn smoothings() -> usize {
    partition::SMOOTHINGS
}

/// A share of the groups, as [`PyPartGraph::group_share`] gives it.
type Share<'py> = (PyReadonlyArray2<'py, f64>, Offsets<'py>, Ids<'py>, PyReadonlyArray2<'py, f64>);

/// The merge trees of all micro-communities.
#[pyclass(name = "MergeTrees", module = "taugraph._core", frozen)]
pub struct PyMergeTrees(MergeTrees);

#[pymethods]
impl PyMergeTrees {
    #[new]
    fn new(py: Python<'_>, shares: Vec<Share<'_>>, run_args: RunArgs) -> PyResult<Self> {
        let shares = shares.iter().map(|(groups, offsets, beside, boundaries)| {
            let groups =
                groups.as_slice()?.chunks_exact(4).map(|group| [group[0], group[1], group[2], group[3]]);
            let boundaries =
                boundaries.as_slice()?.chunks_exact(2).map(|boundary| [boundary[0], boundary[1]]);
            Ok(GroupShare {
                groups: groups.collect(),
                offsets: offsets.as_slice()?.to_vec(),
                beside: beside.as_slice()?.to_vec(),
                boundaries: boundaries.collect(),
            })
        });
        let shares = shares.collect::<PyResult<Vec<GroupShare>>>()?;
        run(py, &run_args, |run| MergeTrees::new(&shares, run)).map(Self)
    }

    /// The number of clusters that the boundaries suggest, and the evidence for it.
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.0.count();
        let told = PyDict::new(py);
        told.set_item("n_clusters", found.n_clusters)?;
        told.set_item("resistance", found.resistance.is_finite().then_some(found.resistance))?;
        told.set_item("evidence", found.evidence.name())?;
        let others = found.alternatives.iter().map(|other| other.n_clusters);
        told.set_item("alternatives", others.collect::<Vec<usize>>())?;
        Ok(told)
    }

    /// The group of each micro-community when so many are left, in the tree that was merged with vetoes or by linkage alone; `None` if that never
    /// has so many.
    fn cut<'py>(
        &self,
        py: Python<'py>,
        by_linkage: bool,
        n_groups: usize,
    ) -> PyResult<Option<Array<'py, u32>>> {
        let kind = if by_linkage { TreeKind::Linkage } else { TreeKind::Resistance };
        Ok(aside(py, || self.0.cut(kind, n_groups))?.map(|labels| labels.into_pyarray(py)))
    }
}

/// Weights within the clusters of a cut and their volumes.
type CutSums = (Vec<f64>, Vec<f64>);

fn quality((inner, volumes): &CutSums) -> CutQuality {
    CutQuality::of_sums(inner, volumes)
}

/// Normalized cut and modularity.
#[pyfunction]
pub fn cut_quality(sums: CutSums) -> (f64, f64) {
    let CutQuality { normalized_cut, modularity } = quality(&sums);
    (normalized_cut, modularity)
}

/// The best of several cuts into as many clusters.
#[pyfunction]
pub fn best_cut(cuts: Vec<CutSums>) -> Option<usize> {
    let qualities: Vec<CutQuality> = cuts.iter().map(quality).collect();
    partition::best_cut(&qualities)
}

/// Whether agglomerated clusters are taken rather than those of the eigenvectors.
#[pyfunction]
pub fn prefers_agglomeration(agglomerated: CutSums, spectral: CutSums) -> bool {
    MethodChoice { agglomerated: quality(&agglomerated), spectral: quality(&spectral) }
        .prefers_agglomeration()
}

/// With more clusters `auto` agglomerates only.
#[pyfunction]
pub fn max_spectral_clusters() -> usize {
    taugraph::cluster::MAX_SPECTRAL
}
