//! The frame of the page: a map of the points and the edges between them, and the choices of color.

mod edges;
mod figures;
mod layouts;

use serde_json::{Value, json};
use taugraph::points::Duplicates;
use taugraph::progress::Run;
use taugraph::{FittedClusters, Result};

use crate::base64::{packed_f64, packed_u16, packed_u32};
use crate::sample::Sample;
use crate::subject::Subject;
use edges::ShownEdges;
use layouts::layouts;

/// The code of a point without a class.
const NONE: u16 = u16::MAX;

/// What the map shows.
pub struct Frame {
    points: ShownPoints,
    /// Layouts of the points; the first one is shown first.
    layouts: Vec<Layout>,
    /// Classes of the points; the result comes first.
    categories: Vec<Category>,
    numbers: Vec<NumberColumn>,
    edges: ShownEdges,
    /// The whole graph at each quantile; empty for given graphs.
    pub steps: Vec<Step>,
}

/// The points shown: all, or a sample.
struct ShownPoints {
    /// Row of each, counted from 1.
    rows: Vec<u32>,
    /// Their names, if the rows have names.
    ids: Option<Vec<String>>,
    /// The first shown point that equals each, which has their edges; itself if there is no other.
    nodes: Vec<u32>,
    is_sample: bool,
    /// A note if they are a sample.
    note: String,
}

/// Positions of the points.
struct Layout {
    /// For the menu and for file names.
    name: String,
    /// What the reader should know about it.
    note: String,
    /// x and y of each point, one after the other.
    xy: Vec<f64>,
}

/// A class for each point.
struct Category {
    /// What the classes are.
    name: String,
    /// Their names.
    classes: Vec<String>,
    /// Class of each point, if it has one.
    of: Vec<Option<u32>>,
}

/// A number for each point; NaN if missing.
struct NumberColumn {
    name: String,
    /// Whether it is a column of the table.
    is_column: bool,
    values: Vec<f64>,
}

/// The graph at one quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The quantile.
    pub tau: f64,
    /// Edges present.
    pub edges: usize,
    /// Connected components.
    pub components: usize,
    /// Nodes of the largest one.
    pub largest: usize,
}

impl Step {
    pub fn json(&self) -> Value {
        json!({ "tau": self.tau, "edges": self.edges, "components": self.components, "largest": self.largest })
    }
}

impl Frame {
    pub fn new(subject: &Subject<'_>, run: &Run<'_>) -> Result<Self> {
        let (sample, graph) = (&subject.sample, subject.graph());
        let duplicates = graph.duplicates();
        let (point_of_node, nodes) = first_equal(duplicates, sample);
        let points = ShownPoints {
            rows: sample.rows.iter().map(|row| row + 1).collect(),
            ids: subject.ids.map(|ids| sample.of(ids)),
            nodes,
            is_sample: !sample.is_whole(),
            note: sample.note(),
        };
        Ok(Self {
            points,
            layouts: layouts(subject, run)?,
            categories: categories(subject),
            numbers: numbers(subject),
            edges: ShownEdges::new(graph, &point_of_node),
            steps: steps(subject),
        })
    }

    pub fn json(&self) -> Value {
        let points = &self.points;
        json!({
            "points": {
                "shown": points.rows.len(),
                "rows": packed_u32(points.rows.iter().copied()),
                "nodes": packed_u32(points.nodes.iter().copied()),
                "isSample": points.is_sample,
                "ids": points.ids,
                "note": points.note,
            },
            "layouts": self.layouts.iter().map(Layout::json).collect::<Vec<_>>(),
            "categories": self.categories.iter().map(Category::json).collect::<Vec<_>>(),
            "numbers": self.numbers.iter().map(NumberColumn::json).collect::<Vec<_>>(),
            "edges": self.edges.json(points.rows.len()),
            "steps": self.steps.iter().map(Step::json).collect::<Vec<_>>(),
        })
    }
}

impl Layout {
    /// Positions as whole numbers in a square, with equal scales on both axes: a screen cannot resolve more.
    fn json(&self) -> Value {
        let ranges = [0, 1].map(|axis| {
            let values = self.xy.iter().skip(axis).step_by(2).copied().filter(|value| value.is_finite());
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        });
        let side = ranges.iter().map(|(low, high)| high - low).fold(f64::MIN_POSITIVE, f64::max);
        let whole = self.xy.iter().enumerate().map(|(place, value)| {
            let (low, high) = ranges[place % 2];
            let share = 0.5 + (value - 0.5 * (low + high)) / side;
            (if share.is_finite() { share.clamp(0.0, 1.0) * 65535.0 } else { 32767.0 }).round() as u16
        });
        json!({ "name": self.name, "note": self.note, "xy": packed_u16(whole) })
    }
}

impl Category {
    fn json(&self) -> Value {
        let of =
            self.of.iter().map(|class| class.map_or(NONE, |class| class.min(u32::from(NONE) - 1) as u16));
        json!({ "name": self.name, "classes": self.classes, "of": packed_u16(of) })
    }
}

impl NumberColumn {
    fn json(&self) -> Value {
        json!({ "name": self.name, "values": packed_f64(self.values.iter().copied()) })
    }
}

/// The first point shown of each node, and for each point the first one that is equal to it.
fn first_equal(duplicates: &Duplicates, sample: &Sample) -> (Vec<u32>, Vec<u32>) {
    let node = |row: u32| duplicates.node_of_row()[row as usize] as usize;
    let mut of_nodes = vec![u32::MAX; duplicates.n_nodes()];
    for (place, &row) in sample.rows.iter().enumerate().rev() {
        of_nodes[node(row)] = place as u32;
    }
    let of_points = sample.rows.iter().map(|&row| of_nodes[node(row)]).collect();
    (of_nodes, of_points)
}

/// The result, its layers, then given and known labels.
fn categories(subject: &Subject<'_>) -> Vec<Category> {
    let sample = &subject.sample;
    let mut categories = Vec::new();
    if let Some(groups) = subject.groups() {
        let of = sample.of(&groups.of_rows);
        categories.push(Category { name: groups.kind.into(), classes: groups.names, of });
    }
    for (of_rows, _) in subject.clusters().map(FittedClusters::layers).unwrap_or_default() {
        let n_groups = of_rows.iter().max().map_or(0, |last| *last as usize + 1);
        let classes = (0..n_groups).map(|group| group.to_string()).collect();
        let of = sample.of(&of_rows).into_iter().map(Some).collect();
        categories.push(Category { name: format!("layer of {n_groups}"), classes, of });
    }
    if let Some((labels, given)) = subject.labels() {
        let (classes, of) = (labels.classes().to_vec(), sample.of(given.of_rows()));
        categories.push(Category { name: "given label".into(), classes, of });
    }
    if let Some(truth) = subject.truth() {
        let mut names: Vec<&str> = truth.iter().flatten().copied().collect();
        names.sort_unstable();
        names.dedup();
        let class = |label: &Option<&str>| label.and_then(|label| names.binary_search(&label).ok());
        let of = sample.of(&truth).iter().map(|label| class(label).map(|class| class as u32)).collect();
        let classes = names.into_iter().map(str::to_string).collect();
        categories.push(Category { name: "known label".into(), classes, of });
    }
    categories
}

fn numbers(subject: &Subject<'_>) -> Vec<NumberColumn> {
    let (sample, graph) = (&subject.sample, subject.graph());
    let of_fit = [
        ("outlier score", subject.clusters().and_then(|clusters| Some(clusters.outlier_scores()?.to_vec()))),
        ("stability", subject.clusters().and_then(|clusters| clusters.stability())),
        ("margin", subject.labels().map(|(labels, _)| labels.margins().to_vec())),
        ("robust scale", graph.local_scales()),
        ("first scale", graph.first_scales()),
    ];
    let of_fit = of_fit.into_iter().filter_map(|(name, of_rows)| {
        let values = sample.of(&of_rows?);
        Some(NumberColumn { name: name.into(), is_column: false, values })
    });
    let of_table = sample.columns.iter().map(|(name, values)| NumberColumn {
        name: name.clone(),
        is_column: true,
        values: values.clone(),
    });
    of_fit.chain(of_table).collect()
}

/// Edges and components of the whole graph at each quantile.
fn steps(subject: &Subject<'_>) -> Vec<Step> {
    let Some(part) = subject.graph().robust() else { return Vec::new() };
    let stochastic = &part.nodes.stochastic;
    let step = |&(tau, edges): &(f64, usize)| {
        let sizes = stochastic.component_sizes_at(tau);
        Step { tau, edges, components: sizes.len(), largest: sizes.into_iter().max().unwrap_or(0) }
    };
    stochastic.decay().iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64::encode;

    #[test]
    fn positions_fill_a_square() {
        let layout = Layout { name: String::new(), note: String::new(), xy: vec![0.0, 1.0, 2.0, 2.0] };
        // Centered on the shorter axis, and at both ends of the longer one.
        assert_eq!(layout.json()["xy"]["base64"], encode(&[0, 0, 0, 64, 255, 255, 255, 191]));
    }
}
