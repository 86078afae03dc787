//! Eigenpairs and clusters of a graph that is spread over many machines: the residents' parts of every step, and the search that leads them.
//!
//! Arrays are row-major and of the types below; the Python package ensures that.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use taugraph::partition::{self, Dense, LocalEdges};

use crate::arrays::table;
use crate::config::PyConfig;
use crate::errors::checked;
use crate::running::{RunArgs, aside, run};

type Ids<'py> = PyReadonlyArray1<'py, u32>;
type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Offsets<'py> = PyReadonlyArray1<'py, u64>;
type Matrix<'py> = PyReadonlyArray2<'py, f64>;
type Table<'py> = Bound<'py, PyArray2<f64>>;
type Array<'py, T> = Bound<'py, PyArray1<T>>;

fn dense_of(matrix: &Matrix<'_>) -> PyResult<Dense> {
    Ok(Dense { values: matrix.as_slice()?.to_vec(), n_columns: matrix.shape()[1] })
}

fn all_of(matrices: &[Matrix<'_>]) -> PyResult<Vec<Dense>> {
    matrices.iter().map(dense_of).collect()
}

fn slices_of<'a, T: numpy::Element>(slices: &'a [PyReadonlyArray1<'_, T>]) -> PyResult<Vec<&'a [T]>> {
    slices.iter().map(|slice| Ok(slice.as_slice()?)).collect()
}

fn to_table(py: Python<'_>, matrix: Dense) -> PyResult<Table<'_>> {
    table(py, matrix.values, matrix.n_columns)
}

fn to_arrays<T: numpy::Element>(py: Python<'_>, slices: Vec<Vec<T>>) -> Vec<Array<'_, T>> {
    slices.into_iter().map(|slice| slice.into_pyarray(py)).collect()
}

/// The own nodes of a partition.
#[pyclass(name = "PartitionSolver", module = "taugraph._core")]
pub struct PyPartitionSolver {
    solver: partition::PartitionSolver,
}

impl PyPartitionSolver {
    /// A step that takes what the halo's sources sent.
    fn with_halo<T: Send>(
        &mut self,
        py: Python<'_>,
        halo: &[Numbers<'_>],
        work: impl FnOnce(&mut partition::PartitionSolver, &[&[f64]]) -> taugraph::Result<T> + Send,
    ) -> PyResult<T> {
        let (slices, solver) = (slices_of(halo)?, &mut self.solver);
        checked(py, aside(py, || work(solver, &slices))?)
    }

    fn step<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut partition::PartitionSolver) -> taugraph::Result<T> + Send,
    ) -> PyResult<T> {
        let solver = &mut self.solver;
        checked(py, aside(py, || work(solver))?)
    }
}

#[pymethods]
impl PyPartitionSolver {
    /// From the own nodes, their edges in the whole graph (offsets, other ends, weights), the halo's nodes of each partition, and the own nodes that each
    /// partition has in its halo.
    #[new]
    fn new(
        py: Python<'_>,
        ids: Ids<'_>,
        edges: (Offsets<'_>, Ids<'_>, Numbers<'_>),
        halo: Vec<Ids<'_>>,
        wanted: Vec<Ids<'_>>,
        seed: u64,
    ) -> PyResult<Self> {
        let (halo, wanted) = (slices_of(&halo)?, slices_of(&wanted)?);
        let edges = LocalEdges {
            ids: ids.as_slice()?,
            offsets: edges.0.as_slice()?,
            targets: edges.1.as_slice()?,
            weights: edges.2.as_slice()?,
            halo: &halo,
            wanted: &wanted,
        };
        let solver = aside(py, || partition::PartitionSolver::new(edges, seed))?;
        Ok(Self { solver: checked(py, solver)? })
    }

    /// The partitions with nodes of the halo, ascending.
    fn sources(&self) -> Vec<usize> {
        self.solver.halo().sources()
    }

    fn n_aggregates(&self) -> usize {
        self.solver.n_aggregates()
    }

    fn volume(&self) -> f64 {
        self.solver.volume()
    }

    fn masses<'py>(&self, py: Python<'py>) -> Array<'py, f64> {
        self.solver.masses().into_pyarray(py)
    }

    fn aggregates<'py>(&self, py: Python<'py>, first: u32) -> Vec<Array<'py, u32>> {
        to_arrays(py, self.solver.aggregates(first))
    }

    fn coarse_edges<'py>(
        &self,
        py: Python<'py>,
        first: u32,
        of_halo: Vec<Ids<'_>>,
    ) -> PyResult<(Array<'py, u32>, Array<'py, u32>, Array<'py, f64>)> {
        let (solver, of_halo) = (&self.solver, slices_of(&of_halo)?);
        let (low, high, weights) = checked(py, aside(py, || solver.coarse_edges(first, &of_halo))?)?;
        Ok((low.into_pyarray(py), high.into_pyarray(py), weights.into_pyarray(py)))
    }

    fn begin(&mut self, volume: f64, room: usize) {
        self.solver.begin(volume, room);
    }

    fn draw<'py>(&mut self, py: Python<'py>, count: usize, salt: u32) -> PyResult<Table<'py>> {
        let shares = self.step(py, |solver| Ok(solver.draw(count, salt)))?;
        to_table(py, shares)
    }

    fn guess_groups<'py>(
        &mut self,
        py: Python<'py>,
        groups: Ids<'_>,
        n_groups: usize,
    ) -> PyResult<Table<'py>> {
        let groups = groups.as_slice()?;
        let shares = self.step(py, |solver| solver.guess_groups(groups, n_groups))?;
        to_table(py, shares)
    }

    fn guess_smooth<'py>(&mut self, py: Python<'py>, on_aggregates: Matrix<'_>) -> PyResult<Table<'py>> {
        let on_aggregates = dense_of(&on_aggregates)?;
        let shares = self.step(py, |solver| solver.guess_smooth(&on_aggregates))?;
        to_table(py, shares)
    }

    fn subtract<'py>(&mut self, py: Python<'py>, shares: Matrix<'_>) -> PyResult<Table<'py>> {
        let shares = dense_of(&shares)?;
        let products = self.step(py, |solver| solver.subtract(&shares))?;
        to_table(py, products)
    }

    fn combine<'py>(&mut self, py: Python<'py>, rotation: Matrix<'_>) -> PyResult<Table<'py>> {
        let rotation = dense_of(&rotation)?;
        let shares = self.step(py, |solver| solver.combine(&rotation))?;
        to_table(py, shares)
    }

    fn append<'py>(&mut self, py: Python<'py>, rotation: Matrix<'_>) -> PyResult<Vec<Array<'py, f64>>> {
        let rotation = dense_of(&rotation)?;
        let slices = self.step(py, |solver| solver.append(&rotation))?;
        Ok(to_arrays(py, slices))
    }

    fn image<'py>(&mut self, py: Python<'py>, halo: Vec<Numbers<'_>>, added: usize) -> PyResult<Table<'py>> {
        let products = self.with_halo(py, &halo, |solver, halo| solver.image(halo, added))?;
        to_table(py, products)
    }

    fn residuals<'py>(
        &mut self,
        py: Python<'py>,
        rotation: Matrix<'_>,
        values: Numbers<'_>,
    ) -> PyResult<Table<'py>> {
        let (rotation, values) = (dense_of(&rotation)?, values.as_slice()?);
        let squares = self.step(py, |solver| solver.residuals(&rotation, values))?;
        to_table(py, squares)
    }

    fn restart(&mut self, py: Python<'_>, rotation: Matrix<'_>) -> PyResult<()> {
        let rotation = dense_of(&rotation)?;
        self.step(py, |solver| solver.restart(&rotation))
    }

    #[pyo3(signature = (named=None))]
    fn smooth_first<'py>(
        &mut self,
        py: Python<'py>,
        named: Option<Vec<usize>>,
    ) -> PyResult<Vec<Array<'py, f64>>> {
        let slices = self.step(py, |solver| Ok(solver.smooth_first(named.as_deref())))?;
        Ok(to_arrays(py, slices))
    }

    fn restrict<'py>(&mut self, py: Python<'py>, halo: Vec<Numbers<'_>>) -> PyResult<Table<'py>> {
        let right = self.with_halo(py, &halo, |solver, halo| solver.restrict(halo))?;
        to_table(py, right)
    }

    fn correct<'py>(&mut self, py: Python<'py>, on_aggregates: Matrix<'_>) -> PyResult<Vec<Array<'py, f64>>> {
        let on_aggregates = dense_of(&on_aggregates)?;
        let slices = self.step(py, |solver| solver.correct(&on_aggregates))?;
        Ok(to_arrays(py, slices))
    }

    fn smooth_last<'py>(&mut self, py: Python<'py>, halo: Vec<Numbers<'_>>) -> PyResult<Table<'py>> {
        let shares = self.with_halo(py, &halo, |solver, halo| solver.smooth_last(halo))?;
        to_table(py, shares)
    }

    fn finish<'py>(&mut self, py: Python<'py>, rotation: Matrix<'_>) -> PyResult<Vec<Array<'py, f64>>> {
        let rotation = dense_of(&rotation)?;
        let slices = self.step(py, |solver| solver.finish(&rotation))?;
        Ok(to_arrays(py, slices))
    }

    fn measure<'py>(&mut self, py: Python<'py>, halo: Vec<Numbers<'_>>) -> PyResult<Table<'py>> {
        let measured = self.with_halo(py, &halo, |solver, halo| solver.measure(halo))?;
        to_table(py, measured)
    }

    fn measure_residuals<'py>(&mut self, py: Python<'py>, values: Numbers<'_>) -> PyResult<Table<'py>> {
        let values = values.as_slice()?;
        let squares = self.step(py, |solver| Ok(solver.measure_residuals(values)))?;
        to_table(py, squares)
    }

    /// Of each vector its largest entry by size, and the node that has it.
    fn largest(&self, count: usize) -> Vec<(f64, u32)> {
        self.solver.largest(count)
    }

    fn vectors<'py>(&self, py: Python<'py>, factors: Numbers<'_>) -> PyResult<Table<'py>> {
        to_table(py, self.solver.vectors(factors.as_slice()?))
    }

    fn roots<'py>(&self, py: Python<'py>) -> Array<'py, f64> {
        self.solver.roots().into_pyarray(py)
    }

    /// The basis and its images.
    fn stored<'py>(&self, py: Python<'py>) -> PyResult<(Table<'py>, Table<'py>)> {
        let (basis, images) = self.solver.stored();
        Ok((to_table(py, basis)?, to_table(py, images)?))
    }

    fn restore(&mut self, py: Python<'_>, basis: Matrix<'_>, images: Matrix<'_>) -> PyResult<()> {
        let (basis, images) = (dense_of(&basis)?, dense_of(&images)?);
        checked(py, self.solver.restore(&basis, &images))
    }
}

/// The aggregates of all partitions.
#[pyclass(frozen, name = "CoarseSolver", module = "taugraph._core")]
pub struct PyCoarseSolver {
    solver: partition::CoarseSolver,
}

#[pymethods]
impl PyCoarseSolver {
    /// From the numbers of aggregates of the partitions, and the edges that each of them knows.
    #[new]
    fn new(py: Python<'_>, sizes: Vec<usize>, edges: Vec<(Ids<'_>, Ids<'_>, Numbers<'_>)>) -> PyResult<Self> {
        let slices =
            edges.iter().map(|edge| Ok((edge.0.as_slice()?, edge.1.as_slice()?, edge.2.as_slice()?)));
        let slices: Vec<(&[u32], &[u32], &[f64])> = slices.collect::<PyResult<_>>()?;
        let solver = aside(py, || partition::CoarseSolver::new(&sizes, &slices))?;
        Ok(Self { solver: checked(py, solver)? })
    }

    fn __len__(&self) -> usize {
        self.solver.len()
    }

    /// Approximate solutions, one for each partition.
    fn solve<'py>(&self, py: Python<'py>, right: Vec<Matrix<'_>>) -> PyResult<Vec<Table<'py>>> {
        let (solver, right) = (&self.solver, all_of(&right)?);
        let solved = checked(py, aside(py, || solver.solve(&right))?)?;
        solved.into_iter().map(|part| to_table(py, part)).collect()
    }

    /// Vectors that are about the wanted ones, for each partition; without columns if there are too few aggregates.
    fn rough_vectors<'py>(
        &self,
        py: Python<'py>,
        masses: Vec<Numbers<'_>>,
        wanted: usize,
        seed: u64,
    ) -> PyResult<Vec<Table<'py>>> {
        let (solver, slices) = (&self.solver, slices_of(&masses)?);
        let found = checked(py, aside(py, || solver.rough_vectors(&slices, wanted, seed))?)?;
        let found = found.unwrap_or_else(|| vec![Dense::default(); masses.len()]);
        found.into_iter().map(|part| to_table(py, part)).collect()
    }
}

/// The search, without the vectors.
#[pyclass(name = "EigenSearch", module = "taugraph._core")]
#[derive(Clone)]
pub struct PyEigenSearch {
    search: partition::EigenSearch,
}

#[pymethods]
impl PyEigenSearch {
    #[new]
    fn new(
        py: Python<'_>,
        n_nodes: usize,
        n_pairs: usize,
        n_guesses: usize,
        config: PyConfig,
        seed: u64,
    ) -> PyResult<Self> {
        let eigen = &config.config.cluster.eigen;
        let search = partition::EigenSearch::new(n_nodes, n_pairs, n_guesses, eigen, seed);
        Ok(Self { search: checked(py, search)? })
    }

    /// Where the search stands between two steps.
    fn state<'py>(&self, py: Python<'py>) -> (Array<'py, u64>, Array<'py, f64>) {
        let (numbers, values) = self.search.state();
        (numbers.into_pyarray(py), values.into_pyarray(py))
    }

    /// The same search where it stood then.
    fn restored(&self, py: Python<'_>, numbers: Offsets<'_>, values: Numbers<'_>) -> PyResult<Self> {
        let search = self.search.clone().restored(numbers.as_slice()?, values.as_slice()?);
        Ok(Self { search: checked(py, search)? })
    }

    fn room(&self) -> usize {
        self.search.room()
    }

    fn filled(&self) -> usize {
        self.search.filled()
    }

    fn steps(&self) -> u32 {
        self.search.steps()
    }

    fn worst(&self) -> f64 {
        self.search.worst()
    }

    fn missing_at_start(&mut self) -> Option<(usize, u32)> {
        self.search.missing_at_start()
    }

    fn fresh(&mut self) -> (usize, u32) {
        self.search.fresh()
    }

    fn shares<'py>(&mut self, py: Python<'py>, parts: Vec<Matrix<'_>>) -> PyResult<Table<'py>> {
        let sum = self.search.shares(&all_of(&parts)?);
        to_table(py, checked(py, sum)?)
    }

    fn directions<'py>(&mut self, py: Python<'py>, parts: Vec<Matrix<'_>>) -> PyResult<(Table<'py>, bool)> {
        let found = checked(py, self.search.directions(&all_of(&parts)?))?;
        Ok((to_table(py, found.rotation)?, found.again))
    }

    fn widen(&mut self, py: Python<'_>, parts: Vec<Matrix<'_>>) -> PyResult<()> {
        checked(py, self.search.widen(&all_of(&parts)?))
    }

    fn look<'py>(&mut self, py: Python<'py>) -> PyResult<(Table<'py>, Array<'py, f64>)> {
        let look = checked(py, self.search.look())?;
        Ok((to_table(py, look.rotation)?, look.values.into_pyarray(py)))
    }

    fn judge(&mut self, py: Python<'_>, parts: Vec<Matrix<'_>>) -> PyResult<bool> {
        checked(py, self.search.judge(&all_of(&parts)?))
    }

    fn improve<'py>(&mut self, py: Python<'py>) -> PyResult<(Vec<usize>, Option<Table<'py>>)> {
        let (named, rotation) = self.search.improve();
        Ok((named, rotation.map(|rotation| to_table(py, rotation)).transpose()?))
    }

    fn step(&mut self) {
        self.search.step();
    }

    fn found<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        to_table(py, self.search.found())
    }

    fn quotients<'py>(&mut self, py: Python<'py>, parts: Vec<Matrix<'_>>) -> PyResult<Array<'py, f64>> {
        Ok(checked(py, self.search.quotients(&all_of(&parts)?))?.into_pyarray(py))
    }

    /// Eigenvalues and residuals, whether they are confirmed, and the vectors that were preconditioned.
    fn conclude<'py>(
        &self,
        py: Python<'py>,
        parts: Vec<Matrix<'_>>,
    ) -> PyResult<(Array<'py, f64>, Array<'py, f64>, bool, usize)> {
        let outcome = checked(py, self.search.conclude(&all_of(&parts)?))?;
        let (values, residuals) = (outcome.values.into_pyarray(py), outcome.residuals.into_pyarray(py));
        Ok((values, residuals, outcome.confirmed, outcome.applications))
    }

    fn factors<'py>(&self, py: Python<'py>, largest: Vec<Vec<(f64, u32)>>) -> Array<'py, f64> {
        self.search.factors(&largest).into_pyarray(py)
    }
}

/// The embedded nodes of a partition, and their groups.
#[pyclass(name = "EmbeddedRows", module = "taugraph._core")]
pub struct PyEmbeddedRows {
    rows: partition::EmbeddedRows,
}

#[pymethods]
impl PyEmbeddedRows {
    #[new]
    fn new(
        py: Python<'_>,
        ids: Ids<'_>,
        vectors: Matrix<'_>,
        values: Numbers<'_>,
        roots: Numbers<'_>,
        config: PyConfig,
    ) -> PyResult<Self> {
        let (kind, rule) = (config.config.cluster.laplacian, config.config.cluster.row_normalization);
        let (ids, vectors, values, roots) =
            (ids.as_slice()?, dense_of(&vectors)?, values.as_slice()?, roots.as_slice()?);
        let rows = aside(py, || partition::EmbeddedRows::new(ids, vectors, values, roots, kind, rule))?;
        Ok(Self { rows: checked(py, rows)? })
    }

    fn sample<'py>(
        &self,
        py: Python<'py>,
        n_nodes: usize,
        most: usize,
        seed: u64,
    ) -> PyResult<(Array<'py, u32>, Table<'py>)> {
        let (ids, rows) = self.rows.sample(n_nodes, most, seed);
        Ok((ids.into_pyarray(py), to_table(py, rows)?))
    }

    fn distinct<'py>(&self, py: Python<'py>, most: usize) -> PyResult<(Array<'py, u32>, Table<'py>)> {
        let (ids, rows) = self.rows.distinct(most);
        Ok((ids.into_pyarray(py), to_table(py, rows)?))
    }

    fn assign<'py>(&mut self, py: Python<'py>, centers: Matrix<'_>) -> PyResult<Table<'py>> {
        let (centers, rows) = (dense_of(&centers)?, &mut self.rows);
        let sums = aside(py, || rows.assign(&centers).map(|()| rows.sums(centers.n_rows())))?;
        to_table(py, checked(py, sums)?)
    }

    fn sums<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Table<'py>> {
        let rows = &self.rows;
        let sums = aside(py, || rows.sums(k))?;
        to_table(py, sums)
    }

    /// Squared distance, node and group of the own node that is farthest from its center, if any may go.
    fn farthest(&self, sizes: Vec<u64>) -> Option<(f64, u32, u32)> {
        self.rows.farthest(&sizes).map(|found| (found.distance, found.id, found.label))
    }

    fn give(&mut self, id: u32, label: u32) {
        self.rows.give(id, label);
    }

    fn firsts(&self, k: usize) -> Vec<Option<u32>> {
        self.rows.firsts(k)
    }

    fn labels<'py>(&self, py: Python<'py>, names: Vec<u32>) -> Array<'py, u32> {
        self.rows.labels(&names).into_pyarray(py)
    }
}

/// Adds matrices in their order.
#[pyfunction]
pub fn sum_in_order<'py>(py: Python<'py>, parts: Vec<Matrix<'_>>) -> PyResult<Table<'py>> {
    let sum = Dense::sum(&all_of(&parts)?);
    to_table(py, checked(py, sum)?)
}

/// Centers of `k` groups of sampled rows.
#[pyfunction]
pub fn embedding_centers<'py>(
    py: Python<'py>,
    sample: Matrix<'_>,
    k: usize,
    config: PyConfig,
    run_args: RunArgs,
) -> PyResult<Table<'py>> {
    let (sample, params) = (dense_of(&sample)?, config.config.cluster.kmeans);
    let centers = run(py, &run_args, |run| partition::embedding_centers(&sample, k, &params, run))?;
    to_table(py, centers)
}
