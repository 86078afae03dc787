//! The schema of a Parquet file as columns of a table: a field is a column, and a list of numbers a block of columns.

use parquet::basic::{ConvertedType, IntType, LogicalType, Repetition, Type as PhysicalType};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};

/// A field of the schema.
pub(crate) struct Field {
    pub name: String,
    /// The leaf of the schema that contains it; `None` if it is nested and no list of numbers.
    pub leaf: Option<usize>,
    /// Whether cells may be missing; their levels tell which.
    pub may_miss: bool,
    /// What its numbers mean.
    pub meaning: Meaning,
    /// If its cells are lists of numbers.
    pub list: Option<List>,
    /// Whether single precision holds its numbers as they are; `None` if it has none.
    pub fits_single: Option<bool>,
}

/// Lists, as the definition levels of their elements describe them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct List {
    /// From this level on there is an element; below it the list is missing or empty.
    pub of_element: i16,
    /// At this level the element is a number; below it is missing.
    pub of_number: i16,
    /// Numbers in each list; known when the first has been read.
    pub length: usize,
}

impl List {
    /// Whether a level means an empty list rather than a missing one.
    pub fn is_empty_at(self, level: i16) -> bool {
        level + 1 == self.of_element && (level > 0 || self.of_element == 1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Plain,
    Unsigned,
    /// Whole numbers with this many decimals.
    Decimal(i32),
    /// Half precision in two bytes.
    Half,
    /// Dates, times of day, timestamps.
    Time,
}

impl Field {
    /// The names of its columns.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.width()).map(|place| match self.list {
            None => self.name.clone(),
            Some(_) => format!("{}[{place}]", self.name),
        })
    }

    /// How many columns it has.
    pub fn width(&self) -> usize {
        self.list.map_or(1, |list| list.length)
    }

    /// Bytes of their names, at most.
    pub fn name_bytes(&self) -> usize {
        let digits = if self.list.is_some() { "[1000000]".len() } else { 0 };
        self.width().saturating_mul(self.name.len() + digits)
    }
}

/// The fields, without the row labels that pandas adds.
pub(crate) fn fields(schema: &SchemaDescriptor) -> Vec<Field> {
    let is_index = |name: &str| name.starts_with("__index_level_") && name.ends_with("__");
    let roots = schema.root_schema().get_fields();
    let mut leaves: Vec<Vec<usize>> = vec![Vec::new(); roots.len()];
    for leaf in 0..schema.num_columns() {
        leaves[schema.get_column_root_idx(leaf)].push(leaf);
    }
    let described = roots.iter().zip(leaves).map(|(root, leaves)| describe(schema, root, &leaves));
    described.filter(|field| !is_index(&field.name)).collect()
}

fn describe(schema: &SchemaDescriptor, root: &TypePtr, leaves: &[usize]) -> Field {
    let name = root.name().to_string();
    let nested =
        Field { name, leaf: None, may_miss: false, meaning: Meaning::Plain, list: None, fits_single: None };
    let &[leaf] = leaves else { return nested };
    let column = schema.column(leaf);
    let meaning = meaning(&column);
    let fits_single = fits_single(&column, meaning);
    let list = match column.max_rep_level() {
        0 if root.is_primitive() => None,
        1 if fits_single.is_some() && (root.is_primitive() || is_list(root)) => {
            let Some(of_element) = level_of_elements(root) else { return nested };
            Some(List { of_element, of_number: column.max_def_level(), length: 0 })
        }
        _ => return nested,
    };
    Field { leaf: Some(leaf), may_miss: column.max_def_level() > 0, meaning, list, fits_single, ..nested }
}

fn is_list(root: &Type) -> bool {
    let about = root.get_basic_info();
    about.converted_type() == ConvertedType::LIST || about.logical_type_ref() == Some(&LogicalType::List)
}

/// The definition level of what is repeated, on the way from the root to its only leaf.
fn level_of_elements(root: &Type) -> Option<i16> {
    let (mut node, mut level) = (root, 0);
    loop {
        match node.get_basic_info().repetition() {
            Repetition::REPEATED => return Some(level + 1),
            Repetition::OPTIONAL => level += 1,
            Repetition::REQUIRED => {}
        }
        if node.is_primitive() {
            return None;
        }
        node = node.get_fields().first()?;
    }
}

fn meaning(column: &ColumnDescriptor) -> Meaning {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(IntType { is_signed: false, .. })), _)
        | (
            _,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => Meaning::Unsigned,
        (Some(LogicalType::Float16), _) => Meaning::Half,
        (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => {
            Meaning::Decimal(column.type_scale())
        }
        (Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)), _)
        | (
            _,
            ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
            | ConvertedType::INTERVAL,
        ) => Meaning::Time,
        _ => Meaning::Plain,
    }
}

/// Floating-point numbers of up to four bytes, and one byte of anything; `None` for what is no number.
fn fits_single(column: &ColumnDescriptor, meaning: Meaning) -> Option<bool> {
    let is_byte =
        matches!(column.logical_type_ref(), Some(LogicalType::Integer(IntType { bit_width: 8, .. })))
            || matches!(column.converted_type(), ConvertedType::INT_8 | ConvertedType::UINT_8);
    match (column.physical_type(), meaning) {
        (_, Meaning::Time) => None,
        (PhysicalType::FLOAT | PhysicalType::BOOLEAN, _) => Some(true),
        (PhysicalType::FIXED_LEN_BYTE_ARRAY, Meaning::Half) => Some(true),
        (PhysicalType::INT32, _) => Some(is_byte),
        (PhysicalType::INT64 | PhysicalType::DOUBLE, _) => Some(false),
        (PhysicalType::INT96 | PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY, _) => None,
    }
}
