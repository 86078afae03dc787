//! Every panel of the page as a figure of its own.

use std::path::{Path, PathBuf};

use taugraph_figures::{
    ABSENT, Bars, Curve, Curves, DecayPanel, GraphPanel, Level, PlaneMap, Scatter, class_color,
    probability_color, write_figure,
};
use taugraph_io::Result;

use crate::model::{Category, NumberColumn, NumberRole, Report};

/// Columns of the table that get a map of their own.
const MAX_COLUMNS: usize = 6;

/// Writes SVG and PNG of every panel to a folder that exists.
pub fn write_figures(report: &Report, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut figures = Figures { report, folder, files: Vec::new(), names: Vec::new() };
    figures.maps()?;
    figures.thinned()?;
    figures.curves()?;
    figures.bars()?;
    Ok(figures.files)
}

struct Figures<'a> {
    report: &'a Report,
    folder: &'a Path,
    files: Vec<PathBuf>,
    names: Vec<String>,
}

impl Figures<'_> {
    fn add(&mut self, name: &str, panel: &dyn taugraph_figures::Panel) -> Result<()> {
        // Columns of other alphabets, or that differ by case only, would have one name.
        let plain = file_name(name);
        let names = std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain}-{number}")));
        let name =
            names.into_iter().find(|name| !self.names.contains(name)).expect("there are enough numbers");
        self.files.extend(write_figure(self.folder, &name, &[panel], 1)?);
        self.names.push(name);
        Ok(())
    }

    /// Points in every layout colored by what was found, and in the first one by everything else.
    fn maps(&mut self) -> Result<()> {
        let report = self.report;
        for (place, layout) in report.layouts.iter().enumerate() {
            let map = PlaneMap::new(&layout.xy, 2);
            let others = if place == 0 { report.categories.len() } else { 1 };
            for category in report.categories.iter().take(others) {
                let title = format!("{} in {}", category.name, layout.name);
                self.add(
                    &format!("map-{}-{}", layout.name, category.name),
                    &points(title, &map, &colors_of_classes(category)),
                )?;
            }
            if report.categories.is_empty() {
                let colors = vec![ABSENT.to_string(); report.points.rows.len()];
                self.add(&format!("map-{}", layout.name), &points(layout.name.clone(), &map, &colors))?;
            }
            let is_column = |column: &&NumberColumn| column.role == NumberRole::Column;
            let own = report.numbers.iter().filter(|column| !is_column(column));
            let columns = report.numbers.iter().filter(is_column).take(MAX_COLUMNS);
            for column in own.chain(columns).filter(|_| place == 0) {
                let (low, high) = range(&column.values);
                let title = format!("{}: {low:.3} (light) to {high:.3} (dark)", column.name);
                let color = |value: &f64| match value.is_finite() {
                    true => probability_color((value - low) / (high - low).max(f64::MIN_POSITIVE)),
                    false => ABSENT.to_string(),
                };
                let colors: Vec<String> = column.values.iter().map(color).collect();
                self.add(&format!("map-{}-{}", layout.name, column.name), &points(title, &map, &colors))?;
            }
        }
        Ok(())
    }

    /// The graph at the lowest, the middle and the highest quantile.
    fn thinned(&mut self) -> Result<()> {
        let report = self.report;
        let (Some(layout), n_taus) = (report.layouts.first(), report.edges.taus.len()) else { return Ok(()) };
        let map = PlaneMap::new(&layout.xy, 2);
        let sampled = if report.points.is_sample { " (a sample is drawn)" } else { "" };
        let mut chosen = vec![0, n_taus / 2, n_taus.saturating_sub(1)];
        chosen.dedup();
        for place in chosen {
            let present =
                report.edges.edges.iter().filter(|edge| n_taus == 0 || usize::from(edge.level) > place);
            let edges: Vec<_> = present.map(|edge| (edge.i, edge.j, Some(edge.probability))).collect();
            let (name, title) = match report.decay.get(place) {
                Some(step) => {
                    let title = format!(
                        "τ = {}: {} edges; components: {}{}",
                        step.tau, step.edges, step.components, sampled
                    );
                    (format!("graph-tau-{}", step.tau), title)
                }
                None => ("graph".into(), format!("{} edges", edges.len())),
            };
            let colors = vec![ABSENT.to_string(); map.n_points()];
            let panel = GraphPanel { edges, ..points(title, &map, &colors) };
            self.add(&name, &panel)?;
        }
        Ok(())
    }

    fn curves(&mut self) -> Result<()> {
        let report = self.report;
        if !report.decay.is_empty() {
            let decay = report.decay.iter().map(|step| (step.tau, step.edges)).collect();
            self.add("decay", &DecayPanel { title: "edges present at each quantile".into(), decay })?;
            let most = report.decay.iter().map(|step| step.components).max().unwrap_or(1) as f64;
            let points = report.decay.iter().map(|step| (step.tau, step.components as f64)).collect();
            let panel = Curves {
                title: "components at each quantile".into(),
                x_label: "quantile".into(),
                y_label: "components".into(),
                curves: vec![Curve { name: "components".into(), points }],
                y_range: (0.0, most.max(1.0)),
                marks: true,
            };
            self.add("components", &panel)?;
        }
        if let Some(eigen) = &report.eigen {
            let most = eigen.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let points =
                eigen.values.iter().enumerate().map(|(place, &value)| ((place + 1) as f64, value / most));
            let panel = Curves {
                title: format!("eigenvalues as shares of {most:.3}; {} clusters", eigen.clusters),
                x_label: "number of the eigenvalue".into(),
                y_label: "share".into(),
                curves: vec![Curve { name: "eigenvalue".into(), points: points.collect() }],
                y_range: (0.0, 1.0),
                marks: true,
            };
            self.add("eigenvalues", &panel)?;
        }
        let of = |role: NumberRole| report.numbers.iter().find(|column| column.role == role);
        if let (Some(first), Some(robust)) = (of(NumberRole::FirstScale), of(NumberRole::Scale)) {
            let points = first.values.iter().copied().zip(robust.values.iter().copied()).collect();
            let panel = Scatter {
                title: "local scales".into(),
                x_label: "first scale".into(),
                y_label: "robust scale".into(),
                points,
            };
            self.add("scales", &panel)?;
        }
        Ok(())
    }

    fn bars(&mut self) -> Result<()> {
        let report = self.report;
        let level = |mean: f64| vec![Level { mean, deviation: 0.0 }];
        if !report.groups.is_empty() {
            let total: usize = report.groups.iter().map(|group| group.size).sum();
            let share = |size: usize| level(size as f64 / total.max(1) as f64);
            let panel = Bars {
                title: report.groups_title.clone(),
                y_label: "share".into(),
                series: vec!["share of the rows".into()],
                groups: report.groups.iter().map(|group| (group.name.clone(), share(group.size))).collect(),
            };
            self.add("sizes", &panel)?;
            for (name, of) in [
                ("stability", (|group| group.stability) as fn(&crate::Group) -> Option<f64>),
                ("margin", |group| group.margin),
            ] {
                if report.groups.iter().any(|group| of(group).is_some()) {
                    let groups = report.groups.iter();
                    let panel = Bars {
                        title: format!("mean {name}"),
                        y_label: name.into(),
                        series: vec![name.into()],
                        groups: groups
                            .map(|group| (group.name.clone(), level(of(group).unwrap_or(0.0))))
                            .collect(),
                    };
                    self.add(&format!("mean-{name}"), &panel)?;
                }
            }
        }
        if !report.comparison.is_empty() {
            let panel = Bars {
                title: "agreement with this graph's result".into(),
                y_label: "NMI".into(),
                series: report.comparison.iter().map(|row| row.graph.clone()).collect(),
                groups: vec![(
                    String::new(),
                    report.comparison.iter().flat_map(|row| level(row.agreement)).collect(),
                )],
            };
            self.add("comparison", &panel)?;
        }
        Ok(())
    }
}

fn points<'a>(title: String, map: &'a PlaneMap, colors: &'a [String]) -> GraphPanel<'a> {
    GraphPanel {
        title,
        map,
        edges: Vec::new(),
        colors: colors.iter().map(String::as_str).collect(),
        radius: radius(map.n_points()),
        marked: Vec::new(),
    }
}

fn colors_of_classes(category: &Category) -> Vec<String> {
    category.of.iter().map(|class| class.map_or(ABSENT, class_color).to_string()).collect()
}

fn radius(n_points: usize) -> f64 {
    match n_points {
        0..500 => 2.6,
        500..3000 => 1.8,
        3000..10_000 => 1.2,
        _ => 0.8,
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Letters, digits and hyphens, whatever columns are called.
fn file_name(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '.' { letter.to_ascii_lowercase() } else { '-' }
    };
    let name: String = name.chars().map(letter).take(80).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
