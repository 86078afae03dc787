//! The input of a fit, in any form.

use std::borrow::Cow;

use crate::config::Config;
use crate::distance::DistanceMatrix;
use crate::error::Result;
use crate::generators::LabeledPoints;
use crate::graph::SparseGraph;
use crate::neighbors::NeighborGraph;
use crate::points::{
    Numbers, Points, Precision, RawValues, SharedValues, SparsePoints, Storage, Typed, check_shape,
};
use crate::robust::RowSize;

/// A table of numbers in single or double precision, row by row; NaN is a missing cell.
#[derive(Clone)]
pub struct Table<'a> {
    values: RawValues<'a>,
    n_columns: usize,
    names: Option<Vec<String>>,
}

impl<'a> Table<'a> {
    /// Checks that the values fill rows of `n_columns`, at least one.
    pub fn new(values: impl Into<Cow<'a, [f64]>>, n_columns: usize) -> Result<Self> {
        Self::checked(
            match values.into() {
                Cow::Borrowed(values) => RawValues::Borrowed(values.into()),
                Cow::Owned(values) => RawValues::Given(Storage::F64(Typed::Owned(values))),
            },
            n_columns,
        )
    }

    /// The same for values in single precision, which stay so: the points of a fit take half the memory.
    pub fn from_f32(values: impl Into<Cow<'a, [f32]>>, n_columns: usize) -> Result<Self> {
        Self::checked(
            match values.into() {
                Cow::Borrowed(values) => RawValues::Borrowed(values.into()),
                Cow::Owned(values) => RawValues::Given(Storage::F32(Typed::Owned(values))),
            },
            n_columns,
        )
    }

    /// The same for values that stay where they are: in a run with a scratch, neither they nor the tables derived from them count
    /// as memory.
    pub fn out_of_core(values: SharedValues, n_columns: usize) -> Result<Self> {
        Self::checked(RawValues::Given(values.into()), n_columns)
    }

    fn checked(values: RawValues<'a>, n_columns: usize) -> Result<Self> {
        check_shape(values.numbers(), n_columns)?;
        Ok(Self { values, n_columns, names: None })
    }

    /// With names of the columns, for warnings and models.
    ///
    /// # Panics
    /// If there are more or fewer names than columns.
    pub fn with_names(self, names: Vec<String>) -> Self {
        assert_eq!(names.len(), self.n_columns, "one name for each column");
        Self { names: Some(names), ..self }
    }

    /// The values, row by row.
    pub fn values(&self) -> Numbers<'_> {
        self.values.numbers()
    }

    /// The values alone, to be consumed.
    pub(super) fn into_values(self) -> RawValues<'a> {
        self.values
    }

    /// The precision of the values.
    pub fn precision(&self) -> Precision {
        self.values.precision()
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values().len() / self.n_columns
    }

    /// Names of the columns.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn is_out_of_core(&self) -> bool {
        self.values.is_shared()
    }

    fn borrowed(&self) -> Table<'_> {
        let values = match &self.values {
            RawValues::Given(shared) if shared.is_shared() => RawValues::Given(shared.clone()),
            memory => RawValues::Borrowed(memory.numbers()),
        };
        Table { values, n_columns: self.n_columns, names: self.names.clone() }
    }
}

/// Points, distances, neighbors or a graph. A fit consumes it, so that nothing is stored twice; tables can be borrowed.
pub enum Input<'a> {
    /// A table of points.
    Points(Table<'a>),
    /// Sparse points.
    Sparse(SparsePoints),
    /// Distances between all pairs.
    Distances(DistanceMatrix),
    /// The nearest neighbors of every point.
    Neighbors(NeighborGraph),
    /// A weighted graph.
    Graph(SparseGraph),
}

impl<'a> From<Table<'a>> for Input<'a> {
    fn from(table: Table<'a>) -> Self {
        Input::Points(table)
    }
}

impl<'a> From<&'a Table<'_>> for Input<'a> {
    fn from(table: &'a Table<'_>) -> Self {
        Input::Points(table.borrowed())
    }
}

impl<'a> From<&'a Points> for Input<'a> {
    fn from(points: &'a Points) -> Self {
        let values = RawValues::Borrowed(points.values());
        Input::Points(Table { values, n_columns: points.n_columns(), names: None })
    }
}

impl<'a> From<&'a LabeledPoints> for Input<'a> {
    fn from(data: &'a LabeledPoints) -> Self {
        Input::from(&data.points)
    }
}

macro_rules! from_each {
    ($($Variant:ident($Type:ty)),+) => {$(
        impl From<$Type> for Input<'_> {
            fn from(given: $Type) -> Self {
                Input::$Variant(given)
            }
        }
    )+};
}

from_each!(Sparse(SparsePoints), Distances(DistanceMatrix), Neighbors(NeighborGraph), Graph(SparseGraph));

impl Input<'_> {
    /// Number of rows, or of nodes.
    pub fn n_rows(&self) -> usize {
        match self {
            Input::Points(table) => table.n_rows(),
            Input::Sparse(points) => points.len(),
            Input::Distances(matrix) => matrix.len(),
            Input::Neighbors(graph) => graph.len(),
            Input::Graph(graph) => graph.n_nodes(),
        }
    }

    /// The size of a row after preparation, for points.
    pub fn row_size(&self, config: &Config) -> Option<RowSize> {
        match self {
            Input::Points(table) => {
                Some(RowSize::prepared(table.n_columns(), table.precision(), config, table.is_out_of_core()))
            }
            Input::Sparse(points) => Some(RowSize::of_sparse(points)),
            Input::Distances(_) | Input::Neighbors(_) | Input::Graph(_) => None,
        }
    }
}

impl RowSize {
    /// The size of a table's row after preparation, if the table has the given precision. Principal components are always in memory.
    pub fn prepared(n_columns: usize, given: Precision, config: &Config, is_out_of_core: bool) -> Self {
        let precision = config.preparation.precision.unwrap_or(given);
        match config.preparation.pca {
            Some(components) => RowSize::Columns(components.min(n_columns), precision),
            None if is_out_of_core => RowSize::OutOfCore(n_columns),
            None => RowSize::Columns(n_columns, precision),
        }
    }
}
