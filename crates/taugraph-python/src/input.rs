//! Points, distances, neighbors and graphs as Python has them. Row-major tables are lent to the library, not copied.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use taugraph::distance::DistanceMatrix;
use taugraph::error::{Error, Result};
use taugraph::graph::{Asymmetry, SparseGraph};
use taugraph::neighbors::NeighborGraph;
use taugraph::points::{Numbers, Points, SparsePoints};
use taugraph::{Input, Table};

use crate::errors::checked;

/// The input of a fit. Arrays are row-major and of the types below; the Python package ensures that.
#[pyclass(frozen, name = "Input", module = "taugraph._core")]
pub struct PyInput {
    source: Source,
}

enum Source {
    Points { values: Values, names: Option<Vec<String>> },
    Sparse { rows: Rows, n_columns: usize },
    Distances(Py<PyArray2<f64>>),
    Neighbors { ids: Py<PyArray2<u32>>, distances: Py<PyArray2<f64>> },
    Graph(Rows),
}

/// A table in either precision.
#[derive(FromPyObject)]
pub enum Values {
    Double(Py<PyArray2<f64>>),
    Single(Py<PyArray2<f32>>),
}

/// Row offsets, columns and values of a scipy matrix, its 32-bit offsets widened.
#[derive(FromPyObject)]
pub struct Rows(Py<PyArray1<i64>>, Py<PyArray1<i32>>, Py<PyArray1<f64>>);

#[pymethods]
impl PyInput {
    /// A table of points; NaN is a missing cell.
    #[staticmethod]
    #[pyo3(signature = (values, names=None))]
    fn points(values: Values, names: Option<Vec<String>>) -> Self {
        Self { source: Source::Points { values, names } }
    }

    /// Points in compressed rows.
    #[staticmethod]
    fn sparse(rows: Rows, n_columns: usize) -> Self {
        Self { source: Source::Sparse { rows, n_columns } }
    }

    /// Distances between all pairs.
    #[staticmethod]
    fn distances(values: Py<PyArray2<f64>>) -> Self {
        Self { source: Source::Distances(values) }
    }

    /// The nearest neighbors of every point, nearest first.
    #[staticmethod]
    fn neighbors(ids: Py<PyArray2<u32>>, distances: Py<PyArray2<f64>>) -> Self {
        Self { source: Source::Neighbors { ids, distances } }
    }

    /// Symmetric weights of a graph; self-loops are dropped.
    #[staticmethod]
    fn graph(rows: Rows) -> Self {
        Self { source: Source::Graph(rows) }
    }

    /// Whether these are points in compressed rows.
    fn is_sparse(&self) -> bool {
        matches!(self.source, Source::Sparse { .. })
    }
}

/// An input whose arrays are borrowed for one call, so that it can be used without Python's lock.
pub enum Lent<'a> {
    Points { values: Numbers<'a>, n_columns: usize, names: &'a Option<Vec<String>> },
    Sparse { rows: LentRows<'a>, n_columns: usize },
    Distances { values: &'a [f64], n: usize },
    Neighbors { ids: &'a [u32], distances: &'a [f64], n: usize, k: usize },
    Graph(LentRows<'a>),
}

/// Negative offsets and columns wrap around to values that are too large, and are refused as such.
pub struct LentRows<'a> {
    offsets: &'a [u64],
    columns: &'a [u32],
    values: &'a [f64],
}

impl PyInput {
    /// Lends the arrays to `work`.
    pub fn lend<T>(&self, py: Python<'_>, work: impl FnOnce(Lent<'_>) -> PyResult<T>) -> PyResult<T> {
        match &self.source {
            Source::Points { values, names } => {
                values.lend(py, |values, n_columns| work(Lent::Points { values, n_columns, names }))
            }
            Source::Sparse { rows, n_columns } => {
                rows.lend(py, |rows| work(Lent::Sparse { rows, n_columns: *n_columns }))
            }
            Source::Distances(values) => {
                let values = values.bind(py).try_readonly()?;
                work(Lent::Distances { values: values.as_slice()?, n: values.shape()[0] })
            }
            Source::Neighbors { ids, distances } => {
                let (ids, distances) = (ids.bind(py).try_readonly()?, distances.bind(py).try_readonly()?);
                let (n, k) = (ids.shape()[0], ids.shape()[1]);
                work(Lent::Neighbors { ids: ids.as_slice()?, distances: distances.as_slice()?, n, k })
            }
            Source::Graph(rows) => rows.lend(py, |rows| work(Lent::Graph(rows))),
        }
    }
}

impl Values {
    /// Lends the numbers, and how many columns they have, to `work`.
    pub fn lend<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Numbers<'_>, usize) -> PyResult<T>,
    ) -> PyResult<T> {
        match self {
            Values::Double(values) => {
                let values = values.bind(py).try_readonly()?;
                work(values.as_slice()?.into(), values.shape()[1])
            }
            Values::Single(values) => {
                let values = values.bind(py).try_readonly()?;
                work(values.as_slice()?.into(), values.shape()[1])
            }
        }
    }
}

/// A copy of a table as points.
pub fn points_of(py: Python<'_>, points: &Values) -> PyResult<Points> {
    points.lend(py, |values, n_columns| {
        checked(
            py,
            match values {
                Numbers::F64(values) => Points::new(values.to_vec(), n_columns),
                Numbers::F32(values) => Points::from_f32(values.to_vec(), n_columns),
            },
        )
    })
}

impl Rows {
    fn lend<T>(&self, py: Python<'_>, work: impl FnOnce(LentRows<'_>) -> PyResult<T>) -> PyResult<T> {
        let Rows(offsets, columns, values) = self;
        let (offsets, columns) = (offsets.bind(py).try_readonly()?, columns.bind(py).try_readonly()?);
        let values = values.bind(py).try_readonly()?;
        work(LentRows {
            offsets: bytemuck::cast_slice(offsets.as_slice()?),
            columns: bytemuck::cast_slice(columns.as_slice()?),
            values: values.as_slice()?,
        })
    }
}

impl<'a> Lent<'a> {
    /// The input in the library's form.
    pub fn input(self) -> Result<Input<'a>> {
        Ok(match self {
            Lent::Points { values, n_columns, names } => table(values, n_columns, names)?.into(),
            Lent::Sparse { rows: LentRows { offsets, columns, values }, n_columns } => {
                SparsePoints::new(n_columns, offsets.to_vec(), columns.to_vec(), values.to_vec())?.into()
            }
            Lent::Distances { values, n } => DistanceMatrix::new(values.to_vec(), n)?.into(),
            Lent::Neighbors { ids, distances, n, k } => {
                NeighborGraph::new(n, k, ids.to_vec(), distances.to_vec())?.into()
            }
            Lent::Graph(rows) => rows.graph()?.into(),
        })
    }

    /// Points as a table. Sparse ones are filled with their zeros if `limit` allows it.
    pub fn table(self, limit: Option<u64>) -> Result<Table<'a>> {
        match self {
            Lent::Points { values, n_columns, names } => table(values, n_columns, names),
            Lent::Sparse { rows, n_columns } => rows.table(n_columns, limit),
            Lent::Distances { .. } | Lent::Neighbors { .. } | Lent::Graph(_) => {
                Err(Error::NeedsPoints { stage: "placing new points" })
            }
        }
    }
}

fn table<'a>(values: Numbers<'a>, n_columns: usize, names: &Option<Vec<String>>) -> Result<Table<'a>> {
    let table = match values {
        Numbers::F64(values) => Table::new(values, n_columns)?,
        Numbers::F32(values) => Table::from_f32(values, n_columns)?,
    };
    match names {
        Some(names) if names.len() != n_columns => {
            Err(Error::Length { what: "names of columns", expected: n_columns, received: names.len() })
        }
        Some(names) => Ok(table.with_names(names.clone())),
        None => Ok(table),
    }
}

impl LentRows<'_> {
    fn check(&self) -> Result<()> {
        let Self { offsets, columns, values } = self;
        let ascending = offsets.first() == Some(&0) && offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if ascending && offsets.last() == Some(&(columns.len() as u64)) && columns.len() == values.len() {
            return Ok(());
        }
        let rule = "offsets must begin with 0, ascend and end with the number of entries";
        Err(Error::BadStructure { row: 0, rule })
    }

    /// Row, column and value of each entry.
    fn entries(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        let rows = self
            .offsets
            .windows(2)
            .zip(0..)
            .flat_map(|(ends, row)| (ends[0] as usize..ends[1] as usize).map(move |entry| (row, entry)));
        rows.map(|(row, entry)| (row, self.columns[entry], self.values[entry]))
    }

    fn graph(&self) -> Result<SparseGraph> {
        self.check()?;
        Ok(SparseGraph::from_entries(self.offsets.len() - 1, self.entries(), Asymmetry::Refuse)?.0)
    }

    fn table(&self, n_columns: usize, limit: Option<u64>) -> Result<Table<'static>> {
        self.check()?;
        let cells = (self.offsets.len() as u64 - 1).saturating_mul(n_columns as u64);
        let needed = cells.saturating_mul(8);
        if let Some(available) = limit.filter(|&limit| needed > limit) {
            let advice = "reduce the columns first, for example by sklearn.decomposition.TruncatedSVD".into();
            return Err(Error::Memory { stage: "sparse points as a table", needed, available, advice });
        }
        let mut values = vec![0.0; cells as usize];
        for (row, column, value) in self.entries() {
            let (row, column) = (row as usize, column as usize);
            if column >= n_columns {
                return Err(Error::BadStructure { row, rule: "columns must be below their number" });
            }
            values[row * n_columns + column] += value;
        }
        Table::new(values, n_columns)
    }
}
