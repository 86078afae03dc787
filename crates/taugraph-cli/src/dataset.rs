//! From a file to what the library takes, with the names that people know.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use taugraph::distance::DistanceMatrix;
use taugraph::graph::{Asymmetry, Changes, SparseGraph};
use taugraph::neighbors::NeighborGraph;
use taugraph::points::{Numbers, SharedValues, SparsePoints};
use taugraph::{Error as LibraryError, Input, Table as Points};
use taugraph_io::{
    Budget, Contents, DiskTable, DiskValues, Either, Error as FileError, Extent, Header, ReadOptions, Role,
    Source, SparseMatrix, Table, Values as MemoryValues, extent, read, read_on_disk,
};

use crate::failure::{Failure, Outcome};
use crate::features::Features;
use crate::report::some_of;
use crate::row_ids::RowIds;
use crate::settings::{HeaderChoice, InputKind, InputSettings};

/// What is known about a file, beside its numbers.
pub struct Dataset {
    /// The file, for messages.
    pub name: String,
    pub n_rows: usize,
    pub kind: Kind,
    /// Names of the features; sparse points have none.
    pub features: Vec<String>,
    /// Of sparse points.
    pub sparse: Option<SparseSize>,
    /// The column of true labels; the labels of a svmlight file, asked for or not.
    pub labels: Option<Vec<String>>,
    pub ids: Option<RowIds>,
    /// What was changed in a matrix to make it a graph.
    pub changes: Changes,
    /// Whether the features are on disk.
    pub is_on_disk: bool,
}

/// How large sparse points are.
#[derive(Debug, Clone, Copy)]
pub struct SparseSize {
    pub n_columns: usize,
    pub n_entries: usize,
}

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Points,
    Sparse,
    Distances,
    Graph,
}

/// Raw values, in memory or on disk.
enum Values {
    Memory(MemoryValues),
    Disk(DiskValues),
}

/// Numbers of a file as the library reads them.
pub fn numbers_of<A: AsRef<[f64]>, B: AsRef<[f32]>>(values: &Either<A, B>) -> Numbers<'_> {
    match values {
        Either::F64(values) => Numbers::F64(values.as_ref()),
        Either::F32(values) => Numbers::F32(values.as_ref()),
    }
}

impl Values {
    /// In double precision; not copied if they already are.
    fn to_f64(&self) -> Cow<'_, [f64]> {
        match self {
            Values::Memory(values) => values.to_f64(),
            Values::Disk(values) => values.to_f64(),
        }
    }

    /// In memory and in double precision, wherever they were.
    fn into_memory(self) -> Vec<f64> {
        match self {
            Values::Memory(values) => values.into_f64(),
            Values::Disk(values) => values.to_f64().into_owned(),
        }
    }

    /// As what a fit starts from, in the precision of the file.
    fn into_points(self, names: &[String]) -> Outcome<Points<'static>> {
        let n_columns = names.len();
        let points = match self {
            Values::Memory(Either::F64(values)) => Points::new(values, n_columns)?,
            Values::Memory(Either::F32(values)) => Points::from_f32(values, n_columns)?,
            Values::Disk(Either::F64(values)) => {
                Points::out_of_core(SharedValues::F64(Arc::new(values)), n_columns)?
            }
            Values::Disk(Either::F32(values)) => {
                Points::out_of_core(SharedValues::F32(Arc::new(values)), n_columns)?
            }
        };
        Ok(points.with_names(names.to_vec()))
    }
}

const TEXT_HINT: &str = "; leave the column out with --drop, or name it with --label-column or --id-column";

/// Reads the file of the settings: what is known about it, and the numbers.
pub fn read_dataset(
    input: &InputSettings,
    features: &Features,
    budget: &Budget,
) -> Outcome<(Dataset, Input<'static>)> {
    let source = Source::new(&input.file);
    let name = source.to_string();
    if let Some(read) = read_disk_table(input, features, budget) {
        let DiskTable { table, values } = read?;
        return from_table(table, Values::Disk(values), name, input);
    }
    match read_contents(input, budget)? {
        Contents::Sparse(matrix) => {
            refuse_column_flags(&name, input, false)?;
            from_sparse(matrix, None, name, input)
        }
        Contents::Labeled(found) => {
            refuse_column_flags(&name, input, true)?;
            from_sparse(found.matrix, Some(found.labels), name, input)
        }
        Contents::Table(mut table) => {
            let values = Values::Memory(std::mem::take(&mut table.values));
            from_table(table, values, name, input)
        }
    }
}

/// A sparse matrix has no named columns, except that labeled rows have their `label`.
fn refuse_column_flags(name: &str, input: &InputSettings, has_labels: bool) -> Outcome<()> {
    let flags = [
        ("--label-column", input.label_column.is_some() && !has_labels),
        ("--id-column", input.id_column.is_some()),
        ("--drop", !input.drop.is_empty()),
        ("--columns", input.columns.is_some()),
    ];
    if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Usage(format!("{flag}: {name} is a sparse matrix, its columns have no names")));
    }
    match input.label_column.as_deref() {
        None | Some("label") => Ok(()),
        Some(column) => {
            Err(Failure::Input(format!("{name} has no column '{column}'; its labels are called 'label'")))
        }
    }
}

/// Reads a table with the roles that the settings give its columns, or a sparse matrix.
pub fn read_contents(input: &InputSettings, budget: &Budget) -> Outcome<Contents> {
    let name = Source::new(&input.file).to_string();
    read_with_roles(input, &|names| roles(names, input, &name), budget)
}

/// What the columns of these names are read for.
type Roles<'a> = dyn Fn(&[String]) -> Result<Vec<Role>, FileError> + 'a;

/// The same with roles of another kind.
pub fn read_with_roles(input: &InputSettings, roles: &Roles<'_>, budget: &Budget) -> Outcome<Contents> {
    Ok(read(&Source::new(&input.file), &options(input, roles, budget))?)
}

/// Reads a table whose numbers stay on disk, if that is where features are.
pub fn read_disk_table(
    input: &InputSettings,
    features: &Features,
    budget: &Budget,
) -> Option<Outcome<DiskTable>> {
    let scratch = features.scratch()?;
    let source = Source::new(&input.file);
    let name = source.to_string();
    let roles = |names: &[String]| roles(names, input, &name);
    Some(read_on_disk(&source, &options(input, &roles, budget), scratch).map_err(Failure::from))
}

/// Rows, features and precision of a table, where its file says so at once.
pub fn known_extent(input: &InputSettings, limit: u64) -> Outcome<Option<Extent>> {
    let source = Source::new(&input.file);
    let name = source.to_string();
    let roles = |names: &[String]| roles(names, input, &name);
    Ok(extent(&source, &options(input, &roles, &Budget::of(Some(limit))))?)
}

/// How the settings want a table read.
fn options<'a>(input: &'a InputSettings, roles: &'a Roles<'a>, budget: &'a Budget) -> ReadOptions<'a> {
    ReadOptions {
        roles,
        delimiter: input.delimiter.map(|delimiter| delimiter as u8),
        header: match input.header {
            HeaderChoice::Auto => Header::Automatic,
            HeaderChoice::Yes => Header::Yes,
            HeaderChoice::No => Header::No,
        },
        array: input.array.as_deref(),
        budget,
    }
}

fn roles(names: &[String], input: &InputSettings, file: &str) -> Result<Vec<Role>, FileError> {
    let texts = [&input.label_column, &input.id_column].into_iter().flatten();
    let blocks = input.drop.iter().chain(input.columns.iter().flatten());
    let is_there = |column: &String| names.contains(column);
    let has_places = |column: &String| names.iter().any(|name| is_place_of(name, column));
    let missing_text = texts.clone().find(|column| !is_there(column));
    let missing = || blocks.clone().find(|column| !is_there(column) && !has_places(column));
    if let Some(column) = missing_text.or_else(missing) {
        let (name, column) = (file.to_string(), column.clone());
        return Err(FileError::UnknownColumn { name, column, known: some_of(names) });
    }
    let role = |name: &String| {
        if texts.clone().any(|text| text == name) {
            Role::Text
        } else if is_named(name, &input.drop)
            || input.columns.as_ref().is_some_and(|columns| !is_named(name, columns))
        {
            Role::Skip
        } else {
            Role::Number
        }
    };
    Ok(names.iter().map(role).collect())
}

/// Whether a list of columns names this one, or the column of lists that it is a place of.
pub fn is_named(name: &String, columns: &[String]) -> bool {
    columns.contains(name) || columns.iter().any(|column| is_place_of(name, column))
}

/// Whether this is a place of a column of lists: `embedding[7]` of `embedding`.
pub fn is_place_of(name: &str, column: &str) -> bool {
    let place = name.strip_prefix(column).and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
    place.is_some_and(|place| !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit()))
}

fn from_table(
    table: Table,
    values: Values,
    name: String,
    input: &InputSettings,
) -> Outcome<(Dataset, Input<'static>)> {
    table.refuse_text(TEXT_HINT)?;
    let labels = input.label_column.as_ref().and_then(|column| table.texts(column)).map(<[String]>::to_vec);
    let ids = RowIds::of_table(&table, input.id_column.as_deref());
    let features: Vec<String> = table.number_names().into_iter().map(str::to_string).collect();
    if features.is_empty() {
        return Err(Failure::Input(format!("{name}: no column is left to use as a feature")));
    }
    let (n, d) = (table.n_rows, table.n_numbers);
    let is_on_disk = matches!(values, Values::Disk(_));
    let square = |values: &[f64]| {
        if n != d {
            let message =
                format!("{name} has {n} rows and {d} columns; between {n} points there are {n} × {n} values");
            return Err(Failure::Input(message));
        }
        match values.iter().position(|value| value.is_nan()) {
            Some(place) => Err(Failure::Input(format!(
                "{name}, data row {}, column '{}': the value is missing",
                place / d + 1,
                features[place % d]
            ))),
            None => Ok(()),
        }
    };
    let mut changes = Changes::default();
    let (kind, numbers) = match input.kind {
        InputKind::Auto | InputKind::Points => (Kind::Points, values.into_points(&features)?.into()),
        InputKind::Distances => {
            square(&values.to_f64())?;
            let matrix =
                DistanceMatrix::new(values.into_memory(), n).map_err(|error| of_matrix(error, &name))?;
            (Kind::Distances, matrix.into())
        }
        InputKind::Graph => {
            let values = values.to_f64();
            square(&values)?;
            let graph;
            (graph, changes) = dense_graph(&values, n, input.asymmetric, &name)?;
            (Kind::Graph, graph.into())
        }
    };
    let dataset = Dataset { name, n_rows: n, kind, features, sparse: None, labels, ids, changes, is_on_disk };
    Ok((dataset, numbers))
}

/// Errors about matrices count from 0, as the indices in code do.
fn of_matrix(error: LibraryError, name: &str) -> Failure {
    Failure::Input(format!("{name}: {error} (rows and columns counted from 0)"))
}

fn dense_graph(
    values: &[f64],
    n: usize,
    asymmetry: Asymmetry,
    name: &str,
) -> Outcome<(SparseGraph, Changes)> {
    let entries = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
    let entries = entries.map(|(place, &value)| ((place / n) as u32, (place % n) as u32, value));
    graph_of_entries(n, entries, asymmetry, name)
}

fn graph_of_entries(
    n: usize,
    entries: impl Iterator<Item = (u32, u32, f64)>,
    asymmetry: Asymmetry,
    name: &str,
) -> Outcome<(SparseGraph, Changes)> {
    SparseGraph::from_entries(n, entries, asymmetry).map_err(|error| match error {
        LibraryError::NotSymmetric { .. } => {
            let advice = "or --asymmetric mean or larger; if its rows are points, --input points";
            Failure::Input(format!("{} {advice}", of_matrix(error, name)))
        }
        _ => of_matrix(error, name),
    })
}

/// Whether a sparse matrix holds points, and not affinities or distances between them.
pub fn holds_points(matrix: &SparseMatrix, has_labels: bool, kind: InputKind) -> bool {
    match kind {
        InputKind::Points => true,
        InputKind::Auto => has_labels || matrix.n_rows != matrix.n_columns,
        InputKind::Graph | InputKind::Distances => false,
    }
}

fn from_sparse(
    matrix: SparseMatrix,
    labels: Option<Vec<String>>,
    name: String,
    input: &InputSettings,
) -> Outcome<(Dataset, Input<'static>)> {
    let (n, d) = (matrix.n_rows, matrix.n_columns);
    let dataset = |kind: Kind, sparse: Option<SparseSize>, labels, changes| Dataset {
        name: name.clone(),
        n_rows: n,
        kind,
        features: Vec::new(),
        sparse,
        labels,
        ids: None,
        changes,
        is_on_disk: false,
    };
    if holds_points(&matrix, labels.is_some(), input.kind) {
        let points = sparse_points(matrix, &name)?;
        let sparse = Some(SparseSize { n_columns: d, n_entries: points.n_entries() });
        return Ok((dataset(Kind::Sparse, sparse, labels, Changes::default()), points.into()));
    }
    if labels.is_some() {
        let message = format!("{name} holds points with labels, not a matrix between points");
        return Err(Failure::Input(message));
    }
    if n != d {
        let message =
            format!("{name} has {n} rows and {d} columns; a matrix between points has as many of both");
        return Err(Failure::Input(message));
    }
    if input.kind == InputKind::Distances {
        let neighbors = nearest_entries(&matrix, &name)?;
        return Ok((dataset(Kind::Distances, None, None, Changes::default()), neighbors.into()));
    }
    let (graph, changes) = graph_of_entries(n, matrix.entries(), input.asymmetric, &name)?;
    Ok((dataset(Kind::Graph, None, None, changes), graph.into()))
}

/// The rows of a sparse matrix as points.
pub fn sparse_points(matrix: SparseMatrix, name: &str) -> Outcome<SparsePoints> {
    if matrix.n_columns == 0 {
        return Err(Failure::Input(format!("{name}: no row has an entry")));
    }
    SparsePoints::new(matrix.n_columns, matrix.offsets, matrix.columns, matrix.values).map_err(|error| {
        match error {
            LibraryError::NotFinite { row, column, value } => Failure::Input(format!(
                "{name}: the value in row {row} and column {column} (counted from 0) is {value}; sparse points have no \
                 missing values: replace it, or leave the entry out"
            )),
            other => of_matrix(other, name),
        }
    })
}

/// The entries of each row as its neighbors, nearest first; as many as the shortest row has.
fn nearest_entries(matrix: &SparseMatrix, name: &str) -> Outcome<NeighborGraph> {
    let n = matrix.n_rows;
    let mut rows: Vec<Vec<(f64, u32)>> = vec![Vec::new(); n];
    for (row, column, distance) in matrix.entries().filter(|(row, column, _)| row != column) {
        rows[row as usize].push((distance, column));
    }
    let k = rows.iter().map(Vec::len).min().unwrap_or(0);
    if k == 0 {
        return Err(Failure::Input(format!("{name}: a row has no distance to any other point")));
    }
    let (mut ids, mut distances) = (Vec::with_capacity(n * k), Vec::with_capacity(n * k));
    for row in &mut rows {
        row.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ids.extend(row[..k].iter().map(|neighbor| neighbor.1));
        distances.extend(row[..k].iter().map(|neighbor| neighbor.0));
    }
    NeighborGraph::new(n, k, ids, distances).map_err(|error| of_matrix(error, name))
}

/// Errors of the library about raw points, in the names of the file.
pub fn of_points(error: LibraryError, dataset: &Dataset) -> Failure {
    let name = &dataset.name;
    match error {
        LibraryError::NotFinite { row, column, .. } if column < dataset.features.len() => {
            Failure::Input(format!(
                "{name}, data row {}, column '{}': the cell is missing; fill it, or leave out --missing error",
                row + 1,
                dataset.features[column]
            ))
        }
        LibraryError::ZeroRow { row } => Failure::Input(format!(
            "{name}, data row {}: all features are zero there, so the cosine distance is not defined; drop the row or use \
             another --metric",
            row + 1
        )),
        LibraryError::BadConstraint { .. } => {
            Failure::Input(format!("{name}: {error} (rows counted from 0)"))
        }
        LibraryError::NoVaryingColumn { columns } => Failure::Input(format!(
            "{name}: {} constant or empty, so nothing tells its {} apart",
            if columns == 1 { "the only feature is".into() } else { format!("all {columns} features are") },
            if dataset.n_rows == 1 { "one row".into() } else { format!("{} rows", dataset.n_rows) }
        )),
        other => other.into(),
    }
}

/// A file of one number for each row.
pub fn read_numbers(path: &Path, budget: &Budget) -> Outcome<Vec<f64>> {
    let name = path.display();
    match read(&Source::new(path), &ReadOptions { budget, ..ReadOptions::numbers() })? {
        Contents::Table(table) if table.n_numbers == 1 => Ok(table.values.into_f64()),
        _ => Err(Failure::Input(format!("{name}: one column of numbers is needed"))),
    }
}
