//! What a report shows.

use serde_json::Value;

/// Everything of one report.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Above everything.
    pub title: String,
    /// Version of the program.
    pub version: String,
    /// The command that repeats the run.
    pub command: String,
    /// The run in a few lines of text.
    pub summary: String,
    /// Key figures: name and value.
    pub facts: Vec<(String, String)>,
    /// What the reader should know about, with what to do.
    pub warnings: Vec<String>,
    /// What was dropped, filled in or scaled.
    pub preparation: Vec<String>,
    /// The points that are shown.
    pub points: ShownPoints,
    /// Where they are; the first one is shown first.
    pub layouts: Vec<Layout>,
    /// Classes of the points; the first one is what was found.
    pub categories: Vec<Category>,
    /// Numbers of the points.
    pub numbers: Vec<NumberColumn>,
    /// The edges between them.
    pub edges: ShownEdges,
    /// Edges and components of the whole graph at each quantile; empty for given graphs.
    pub decay: Vec<DecayStep>,
    /// Points whose scale changed most, most first.
    pub moved: Vec<u32>,
    /// Of a clustering.
    pub eigen: Option<Eigenvalues>,
    /// The groups of the first category.
    pub groups: Vec<Group>,
    /// What the groups are called.
    pub groups_title: String,
    /// The result on other graphs.
    pub comparison: Vec<Compared>,
    /// What was compared, and how.
    pub comparison_note: String,
    /// Name of the score against known labels, if there are any.
    pub score_name: Option<String>,
    /// Each stage with its seconds and the most memory held by its end, in bytes.
    pub stages: Vec<(String, f64, Option<u64>)>,
    /// Every parameter.
    pub settings: Value,
}

/// The points that are shown: all, or a sample.
#[derive(Debug, Clone, Default)]
pub struct ShownPoints {
    /// Row of each, counted from 1.
    pub rows: Vec<u32>,
    /// Their names, if rows have any.
    pub ids: Option<Vec<String>>,
    /// The first of the points that are equal to each, which has their edges: itself where no other is equal.
    pub nodes: Vec<u32>,
    /// Whether there are more rows.
    pub is_sample: bool,
    /// Says so if they are a sample.
    pub note: String,
}

/// Positions of the points.
#[derive(Debug, Clone)]
pub struct Layout {
    /// For the menu and for file names.
    pub name: String,
    /// What the reader should know about it.
    pub note: String,
    /// x and y of each point, one after the other.
    pub xy: Vec<f64>,
}

/// A class for each point.
#[derive(Debug, Clone)]
pub struct Category {
    /// What the classes are.
    pub name: String,
    /// Their names.
    pub classes: Vec<String>,
    /// Class of each point, if it has one.
    pub of: Vec<Option<u32>>,
}

/// What a number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberRole {
    /// First local scale.
    FirstScale,
    /// Robust local scale.
    Scale,
    /// Share of drawn graphs in which a point keeps its cluster.
    Stability,
    /// Lead of the likeliest class.
    Margin,
    /// A column of the table.
    Column,
}

impl NumberRole {
    pub(crate) fn name(self) -> &'static str {
        match self {
            NumberRole::FirstScale => "first-scale",
            NumberRole::Scale => "scale",
            NumberRole::Stability => "stability",
            NumberRole::Margin => "margin",
            NumberRole::Column => "column",
        }
    }
}

/// A number for each point; NaN where there is none.
#[derive(Debug, Clone)]
pub struct NumberColumn {
    /// Its name.
    pub name: String,
    /// What it means.
    pub role: NumberRole,
    /// The numbers.
    pub values: Vec<f64>,
}

/// An edge between two of the points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The end with the lower number.
    pub i: u32,
    /// The other end.
    pub j: u32,
    /// At how many of the quantiles it is present: at the lowest ones.
    pub level: u8,
    /// Its probability; of a given graph, its weight as a share of the heaviest.
    pub probability: f64,
}

/// The edges that are shown, sorted by their ends.
#[derive(Debug, Clone, Default)]
pub struct ShownEdges {
    /// The quantiles, ascending; empty for given graphs.
    pub taus: Vec<f64>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// Says so if some are left out.
    pub note: String,
}

/// The graph at one quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecayStep {
    /// The quantile.
    pub tau: f64,
    /// Edges present.
    pub edges: usize,
    /// Connected components.
    pub components: usize,
    /// Nodes of the largest one.
    pub largest: usize,
}

/// Eigenvalues of the Laplacian, and what they say about the number of clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigenvalues {
    /// The smallest ones, ascending.
    pub values: Vec<f64>,
    /// Gap after each, as the choice of the number sees it.
    pub gaps: Vec<f64>,
    /// Clusters that were made.
    pub clusters: usize,
    /// Clusters that the gaps suggest, if more eigenvalues were looked at than asked for.
    pub suggested: Option<usize>,
}

/// A cluster, or the rows that got one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its number among the classes of the first category.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Rows in it.
    pub size: usize,
    /// Mean stability.
    pub stability: Option<f64>,
    /// Mean margin.
    pub margin: Option<f64>,
    /// The commonest known label, and the share of the labeled rows that have it.
    pub label: Option<(String, f64)>,
    /// Columns that tell it from the other rows, most telling first.
    pub columns: Vec<GroupColumn>,
}

/// A column of which a group has unusual values.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupColumn {
    /// Its name.
    pub name: String,
    /// Mean over the group.
    pub mean: f64,
    /// Mean over all points shown.
    pub all: f64,
}

/// The same on another graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Which graph.
    pub graph: String,
    /// Agreement with the result that is shown.
    pub agreement: f64,
    /// Agreement with known labels.
    pub score: Option<f64>,
}
