//! Errors: one variant for each violated rule, with the numbers and what to do next.

/// The library's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that the library refuses or cannot finish.
///
/// Rows, columns and points are counted from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The table is empty.
    #[error("the table has no {what}: give at least one row and one column")]
    Empty {
        /// `rows` or `columns`.
        what: &'static str,
    },
    /// The values do not fill a rectangle.
    #[error("{values} values do not fill {rows} rows of {columns} columns")]
    Shape {
        /// How many values were given.
        values: usize,
        /// Rows expected.
        rows: usize,
        /// Columns expected.
        columns: usize,
    },
    /// A cell is infinite, or missing where missing cells are not allowed.
    #[error("row {row}, column {column}: the value is {value}; replace it or leave it missing (NaN)")]
    NotFinite {
        /// Row of the cell.
        row: usize,
        /// Column of the cell.
        column: usize,
        /// `inf`, `-inf` or `NaN`.
        value: f64,
    },
    /// No column tells the points apart.
    #[error("all {columns} columns are constant or empty: there is nothing that tells the points apart")]
    NoVaryingColumn {
        /// How many columns were looked at.
        columns: usize,
    },
    /// Cosine distance of a row of zeros.
    #[error(
        "row {row} is all zero: the cosine distance is not defined there; drop the row or use another metric"
    )]
    ZeroRow {
        /// The row.
        row: usize,
    },
    /// More points than 32-bit ids can name.
    #[error("{points} points are more than the {most} that 32-bit ids can name")]
    TooManyPoints {
        /// Points given.
        points: usize,
        /// The maximum.
        most: usize,
    },
    /// Too few distinct points for the requested neighborhood.
    #[error(
        "{needed} neighbors of each point were requested, but there are only {distinct} distinct points; \
         request at most {}",
        distinct.saturating_sub(1)
    )]
    TooFewPoints {
        /// Neighbors requested.
        needed: usize,
        /// Number of distinct points.
        distinct: usize,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value}: {rule}")]
    Parameter {
        /// Path of the parameter.
        name: String,
        /// What was given.
        value: String,
        /// What is allowed.
        rule: String,
    },
    /// A path that names no parameter.
    #[error("{path} is not a parameter; {place} has {known}")]
    UnknownParameter {
        /// The path.
        path: String,
        /// The longest prefix of it that exists.
        place: String,
        /// The names below that.
        known: String,
    },
    /// A parameter of a variant that was not chosen: it would have no effect.
    #[error("{path} has no effect: it belongs to {choice} = {others}, but {choice} is {chosen}")]
    ParameterOfOther {
        /// The path.
        path: String,
        /// The choice.
        choice: String,
        /// What was chosen.
        chosen: String,
        /// The variants that have the parameter.
        others: String,
    },
    /// Two inputs that belong together differ in length.
    #[error("{what}: expected {expected} entries, received {received}")]
    Length {
        /// Which input.
        what: &'static str,
        /// Entries expected.
        expected: usize,
        /// Entries received.
        received: usize,
    },
    /// A label is not one of the classes.
    #[error("row {row}: the label is {label}, but there are only {n_classes} classes, counted from 0")]
    BadLabel {
        /// The row.
        row: usize,
        /// Its label.
        label: u32,
        /// Number of classes.
        n_classes: usize,
    },
    /// Fewer than two classes have a label.
    #[error("{n_classes} class(es) have labeled points: at least two are needed")]
    FewClasses {
        /// Classes with a labeled point.
        n_classes: usize,
    },
    /// A class without any labeled point.
    #[error("class {class} (counted from 0) has no labeled point: label one, or leave the class out")]
    UnlabeledClass {
        /// The class.
        class: usize,
    },
    /// Every point is labeled.
    #[error("every point has a label already: there is nothing to propagate")]
    NothingToLabel,
    /// Conjugate gradients did not converge.
    #[error(
        "conjugate gradients did not converge in {iterations} iterations (residual {residual:.1e}, tolerance \
         {tolerance:.1e}); allow more iterations or loosen the tolerance"
    )]
    SolveNotConverged {
        /// Iterations used.
        iterations: usize,
        /// Residual reached.
        residual: f64,
        /// Tolerance requested.
        tolerance: f64,
    },
    /// A precomputed distance is negative, infinite or NaN.
    #[error(
        "the distance from {i} to {j} is {value}: distances must be finite and at least 0, and 0 from a point to itself"
    )]
    BadDistance {
        /// First point.
        i: usize,
        /// Second point.
        j: usize,
        /// The value found.
        value: f64,
    },
    /// A matrix that must be symmetric is not.
    #[error("entry ({i}, {j}) is {forward} but ({j}, {i}) is {backward}: the matrix must be symmetric")]
    NotSymmetric {
        /// Row.
        i: usize,
        /// Column.
        j: usize,
        /// Entry (i, j).
        forward: f64,
        /// Entry (j, i).
        backward: f64,
    },
    /// A graph weight is negative, infinite or NaN.
    #[error("the weight of edge ({i}, {j}) is {value}: weights must be finite and at least 0")]
    BadWeight {
        /// Row.
        i: usize,
        /// Column.
        j: usize,
        /// The value found.
        value: f64,
    },
    /// The arrays of a sparse graph or a neighbor graph contradict each other.
    #[error("row {row} of the sparse structure is malformed: {rule}")]
    BadStructure {
        /// The row where it was noticed.
        row: usize,
        /// The rule that is broken.
        rule: &'static str,
    },
    /// A stage needs distances that a neighbor graph does not contain.
    #[error("{stage} needs distances between all pairs, but only a neighbor graph was given; {advice}")]
    NeedsAllPairs {
        /// The stage.
        stage: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// A new point whose distances overflow.
    #[error("new point {row} is so far from all other points that its distances overflow")]
    TooDistant {
        /// Its row.
        row: usize,
    },
    /// A stage needs the points, but distances or neighbors were given.
    #[error("{stage} needs the points themselves, but only distances between them were given")]
    NeedsPoints {
        /// The stage.
        stage: &'static str,
    },
    /// A similarity or a loss became NaN or infinite.
    #[error(
        "training{} diverged in iteration {iteration}; lower the learning rate, or use another optimizer",
        tau.map_or(String::new(), |tau| format!(" at tau = {tau}"))
    )]
    Diverged {
        /// The quantile; `None` for a joint model of all quantiles.
        tau: Option<f64>,
        /// The iteration.
        iteration: usize,
    },
    /// The eigensolvers did not converge; nothing unconverged is returned.
    #[error(
        "{converged} of {wanted} eigenpairs converged (largest residual {residual:.2e}, tolerance {tolerance:.2e}); \
         loosen the tolerance, request fewer clusters or use more neighbors"
    )]
    EigenNotConverged {
        /// Pairs within the tolerance.
        converged: usize,
        /// Pairs requested.
        wanted: usize,
        /// Largest residual.
        residual: f64,
        /// Tolerance requested.
        tolerance: f64,
    },
    /// A dense eigenproblem or factorization failed.
    #[error("{what} failed; the matrix may contain values that are too large or too small")]
    Numerical {
        /// Which computation.
        what: &'static str,
    },
    /// More clusters than can be told apart.
    #[error("{clusters} clusters were requested, but only {distinct} points can be told apart")]
    TooManyClusters {
        /// Clusters requested.
        clusters: usize,
        /// Points that differ.
        distinct: usize,
    },
    /// Clustering per component cannot give fewer clusters than components.
    #[error(
        "the graph has {components} connected components, so clustering each separately gives at least that many clusters, \
         not {clusters}; link the components instead"
    )]
    FewerClustersThanComponents {
        /// Clusters requested.
        clusters: usize,
        /// Components found.
        components: usize,
    },
    /// Pairs of rows that cannot all be honored.
    #[error("the pair of rows {i} and {j}: {rule}")]
    BadConstraint {
        /// One row.
        i: u32,
        /// The other.
        j: u32,
        /// What is wrong.
        rule: &'static str,
    },
    /// A graph without edges cannot be clustered.
    #[error("the graph has no edges: nothing says which of its {nodes} nodes belong together")]
    NoEdges {
        /// Nodes of the graph.
        nodes: usize,
    },
    /// The graph is disconnected, but a connected one is required.
    #[error("the graph has {components} connected components; link them, or cluster each separately")]
    Disconnected {
        /// Components found.
        components: usize,
    },
    /// A stored array is not what is expected.
    #[error("array '{name}': {problem}")]
    BadArray {
        /// Name of the array.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Bytes that are not named arrays.
    #[error("not readable as safetensors: {problem}")]
    BadEncoding {
        /// What is wrong with them.
        problem: String,
    },
    /// The header of a model is malformed.
    #[error("the model's header is malformed: {problem}")]
    BadHeader {
        /// What is wrong with it.
        problem: String,
    },
    /// A model of another version.
    #[error(
        "the model has version {found}, but this taugraph reads version {known}; {}",
        if found > known { "use a newer one" } else { "save the model again" }
    )]
    ModelVersion {
        /// Its version.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// A reader or writer failed.
    #[error("{problem}")]
    Io {
        /// The kind of failure.
        kind: std::io::ErrorKind,
        /// The system's message.
        problem: String,
    },
    /// The run would need more memory than there is.
    #[error(
        "this run needs about {} in stage '{stage}', but {} are available; {advice}",
        human_bytes(*needed),
        human_bytes(*available)
    )]
    Memory {
        /// The stage with the highest need.
        stage: &'static str,
        /// Bytes needed at the peak.
        needed: u64,
        /// Bytes available.
        available: u64,
        /// How to make it fit.
        advice: String,
    },
    /// An out-of-core table could not be created.
    #[error("cannot create an out-of-core table of {}: {problem}", human_bytes(*bytes))]
    Scratch {
        /// Bytes of the table.
        bytes: u64,
        /// The message of the scratch provider.
        problem: String,
    },
    /// The listener asked to stop.
    #[error("canceled")]
    Canceled,
}

impl Error {
    pub(crate) fn from_io(error: std::io::Error) -> Self {
        Error::Io { kind: error.kind(), problem: error.to_string() }
    }
}

/// Lets writers that call the library get their own I/O errors back unchanged.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { kind, problem } => Self::new(kind, problem),
            other => Self::other(other),
        }
    }
}

/// The name of each variant, for front ends with their own error types. An unlisted variant does not compile.
macro_rules! names {
    ($($Variant:ident),+ $(,)?) => {
        impl Error {
            /// Every name.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($Variant)),+];

            /// The name of the variant: `TooFewPoints`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Error::$Variant { .. } => stringify!($Variant),)+
                }
            }
        }
    };
}

names! {
    Empty, Shape, NotFinite, NoVaryingColumn, ZeroRow, TooManyPoints, TooFewPoints, Parameter,
    UnknownParameter, ParameterOfOther, Length, BadLabel, FewClasses, UnlabeledClass, NothingToLabel,
    SolveNotConverged, BadDistance, NotSymmetric, BadWeight, BadStructure, NeedsAllPairs, TooDistant,
    NeedsPoints, Diverged, EigenNotConverged, Numerical, TooManyClusters, FewerClustersThanComponents,
    BadConstraint, NoEdges, Disconnected, BadArray, BadEncoding, BadHeader, ModelVersion, Io, Memory, Scratch, Canceled,
}

/// Refuses `name = value` unless `holds`.
pub(crate) fn require(
    holds: bool,
    name: &'static str,
    value: impl ToString,
    rule: &'static str,
) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::Parameter { name: name.into(), value: value.to_string(), rule: rule.into() }),
    }
}

/// `1536` → `1.5 KiB`.
pub fn human_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 || unit == "TiB" {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    unreachable!("the last unit always returns")
}

/// `1234567` → `1,234,567`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_234_567].map(grouped), ["0", "999", "1,234,567"]);
    }

    #[test]
    fn bytes_are_readable() {
        assert_eq!(human_bytes(12), "12 bytes");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(3 << 40), "3.0 TiB");
        assert_eq!(human_bytes(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn errors_have_the_names_of_their_variants() {
        assert_eq!(Error::Canceled.name(), "Canceled");
        assert_eq!(Error::ZeroRow { row: 3 }.name(), "ZeroRow");
        assert!(Error::NAMES.contains(&"ZeroRow"));
    }

    #[test]
    fn messages_say_what_to_do() {
        let message = Error::TooFewPoints { needed: 15, distinct: 10 }.to_string();
        assert!(message.contains("at most 9"), "{message}");
    }
}
