//! Clusters or labels: their sizes, their certainty, what distinguishes them, and the least certain points.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use taugraph::Result;
use taugraph::progress::Run;
use taugraph_figures::{Bars, Level};

use super::{Figure, Panel, PanelKind};
use crate::frame::Frame;
use crate::sample::Sample;
use crate::subject::Subject;

pub const PANEL: PanelKind = PanelKind::of::<Groups>("groups", include_str!("panel.js"));

/// Columns in the description of a group.
const TELLING: usize = 3;
/// Length of the list of the least certain points.
const UNSURE: usize = 15;

struct Groups {
    /// `Clusters` or `Labels`.
    title: &'static str,
    groups: Vec<Group>,
    /// The certainty of the points, if known.
    certainty: Option<Certainty>,
}

/// A cluster, or the rows that got one label.
struct Group {
    name: String,
    /// Rows in it.
    size: usize,
    /// Mean certainty.
    mean: Option<f64>,
    /// The most common known label, and the share of the labeled rows that have it.
    label: Option<(String, f64)>,
    /// Columns that distinguish it from the other rows, most distinctive first.
    columns: Vec<GroupColumn>,
}

/// A column in which a group has unusual values.
#[derive(Debug, Clone)]
struct GroupColumn {
    name: String,
    /// Mean over the group.
    mean: f64,
    /// Mean over all points shown.
    all: f64,
}

struct Certainty {
    /// `stability` or `margin`.
    name: &'static str,
    /// The least certain points, and their certainty.
    least: Vec<(usize, f64)>,
}

impl Panel for Groups {
    fn new(subject: &Subject<'_>, _: &Frame, _: &Run<'_>) -> Result<Option<Self>> {
        let (Some(found), sample) = (subject.groups(), &subject.sample) else { return Ok(None) };
        let (of_rows, n_groups) = (&found.of_rows, found.names.len());
        let stability = subject.clusters().and_then(|clusters| clusters.stability());
        let margins = subject.labels().map(|(labels, _)| labels.margins().to_vec());
        let certainty = stability.map(|of| ("stability", of)).or(margins.map(|of| ("margin", of)));
        let mut sizes = vec![0usize; n_groups];
        of_rows.iter().flatten().for_each(|&group| sizes[group as usize] += 1);
        let certain = certainty.as_ref().map(|(_, values)| means(of_rows, values, n_groups));
        let commonest = subject.truth().map(|truth| commonest(of_rows, &truth, n_groups));
        let of_points = sample.of(of_rows);
        let telling = telling(&of_points, sample, n_groups);
        let group = |(index, (name, columns)): (usize, (String, Vec<GroupColumn>))| Group {
            name,
            size: sizes[index],
            mean: certain.as_ref().and_then(|means| means[index]),
            label: commonest.as_ref().and_then(|labels| labels[index].clone()),
            columns,
        };
        Ok(Some(Self {
            title: if found.kind == "cluster" { "Clusters" } else { "Labels" },
            groups: found.names.into_iter().zip(telling).enumerate().map(group).collect(),
            certainty: certainty
                .map(|(name, values)| Certainty { name, least: least(&of_points, &sample.of(&values)) }),
        }))
    }

    fn json(&self) -> Value {
        let column =
            |column: &GroupColumn| json!({ "name": column.name, "mean": column.mean, "all": column.all });
        let group = |group: &Group| {
            json!({
                "name": group.name,
                "size": group.size,
                "mean": group.mean,
                "label": group.label.as_ref().map(|(name, share)| json!({ "name": name, "share": share })),
                "columns": group.columns.iter().map(column).collect::<Vec<_>>(),
            })
        };
        let certainty = self.certainty.as_ref().map(|known| {
            let least = known.least.iter().map(|(point, value)| json!({ "point": point, "value": value }));
            json!({ "name": known.name, "least": least.collect::<Vec<_>>() })
        });
        let groups: Vec<Value> = self.groups.iter().map(group).collect();
        json!({ "title": self.title, "groups": groups, "certainty": certainty })
    }

    fn figures(&self) -> Vec<Figure> {
        let bars = |title: &str, y_label: &str, series: &str, of: &dyn Fn(&Group) -> f64| Bars {
            title: title.into(),
            y_label: y_label.into(),
            series: vec![series.into()],
            groups: self
                .groups
                .iter()
                .map(|group| (group.name.clone(), vec![Level { mean: of(group), deviation: 0.0 }]))
                .collect(),
        };
        let total = self.groups.iter().map(|group| group.size).sum::<usize>().max(1) as f64;
        let share = |group: &Group| group.size as f64 / total;
        let mut figures = vec![Figure::new("sizes", bars(self.title, "share", "share of the rows", &share))];
        if let Some(Certainty { name, .. }) = self.certainty {
            let file = if name == "stability" { "mean-stability" } else { "mean-margin" };
            let mean = |group: &Group| group.mean.unwrap_or(0.0);
            figures.push(Figure::new(file, bars(&format!("mean {name}"), name, name, &mean)));
        }
        figures
    }
}

/// The mean over each class; `None` if it has no numbers.
fn means(of: &[Option<u32>], values: &[f64], n_classes: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0usize); n_classes];
    for (class, value) in of.iter().zip(values).filter(|(_, value)| value.is_finite()) {
        if let Some(class) = class {
            let (sum, count) = &mut sums[*class as usize];
            *sum += value;
            *count += 1;
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / count as f64)).collect()
}

/// The most common known label of each class, and the share of its labeled rows that have it.
fn commonest(of: &[Option<u32>], labels: &[Option<&str>], n_classes: usize) -> Vec<Option<(String, f64)>> {
    let mut counts = vec![BTreeMap::<&str, usize>::new(); n_classes];
    for (class, label) in of.iter().zip(labels).filter_map(|(class, label)| class.zip(*label)) {
        *counts[class as usize].entry(label).or_default() += 1;
    }
    let most = |counts: BTreeMap<&str, usize>| {
        let total: usize = counts.values().sum();
        // Ties go to the first in alphabetical order.
        let best = counts.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(label, count)| (label.to_string(), count as f64 / total as f64))
    };
    counts.into_iter().map(most).collect()
}

/// For each class, the columns whose mean is farthest from that of all points shown, in standard deviations.
fn telling(of_points: &[Option<u32>], sample: &Sample, n_classes: usize) -> Vec<Vec<GroupColumn>> {
    let mut columns: Vec<Vec<(f64, GroupColumn)>> = vec![Vec::new(); n_classes];
    let together = vec![Some(0); of_points.len()];
    let mean_of_all = |values: &[f64]| means(&together, values, 1)[0].unwrap_or(f64::NAN);
    for (name, values) in &sample.columns {
        let all = mean_of_all(values);
        let squares: Vec<f64> = values.iter().map(|value| (value - all).powi(2)).collect();
        let deviation = mean_of_all(&squares).sqrt();
        for (class, mean) in means(of_points, values, n_classes).into_iter().enumerate() {
            if let Some(mean) = mean.filter(|_| deviation > 0.0) {
                let column = GroupColumn { name: name.clone(), mean, all };
                columns[class].push(((mean - all).abs() / deviation, column));
            }
        }
    }
    let first = |mut columns: Vec<(f64, GroupColumn)>| {
        columns.sort_by(|a, b| b.0.total_cmp(&a.0));
        columns.into_iter().take(TELLING).map(|(_, column)| column).collect()
    };
    columns.into_iter().map(first).collect()
}

/// The least certain points that are in a group.
fn least(of_points: &[Option<u32>], values: &[f64]) -> Vec<(usize, f64)> {
    let is_known = |&(point, value): &(usize, f64)| !value.is_nan() && of_points[point].is_some();
    let mut points: Vec<(usize, f64)> = values.iter().copied().enumerate().filter(is_known).collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    points.truncate(UNSURE);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_described_by_their_rows() {
        let of = [Some(0), Some(0), None, Some(1), Some(0), Some(1)];
        let labels = [Some("b"), Some("a"), Some("c"), None, Some("b"), None];
        assert_eq!(commonest(&of, &labels, 3), [Some(("b".into(), 2.0 / 3.0)), None, None]);
        let values = [1.0, f64::NAN, 100.0, 5.0, 2.0, 7.0];
        assert_eq!(means(&of, &values, 3), [Some(1.5), Some(6.0), None]);
        assert_eq!(least(&of, &values), [(0, 1.0), (4, 2.0), (3, 5.0), (5, 7.0)]);
    }
}
