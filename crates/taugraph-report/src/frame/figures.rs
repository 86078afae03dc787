//! The map as figures: every layout and color, and the graph as it thins out.

use taugraph_figures::{ABSENT, GraphPanel, PlaneMap, class_color, probability_color};
use taugraph_io::Result;

use super::{Category, Frame};
use crate::figures::Figures;

/// Columns of the table that get their own map.
const MAX_COLUMNS: usize = 6;

impl Frame {
    /// Points in every layout colored by the result, and in the first layout by everything else.
    pub fn draw_maps(&self, figures: &mut Figures<'_>) -> Result<()> {
        for (place, layout) in self.layouts.iter().enumerate() {
            let map = PlaneMap::new(&layout.xy, 2);
            let shown = if place == 0 { self.categories.len() } else { 1 };
            for category in self.categories.iter().take(shown) {
                let title = format!("{} in {}", category.name, layout.name);
                let colors = colors_of_classes(category);
                figures
                    .add(&format!("map-{}-{}", layout.name, category.name), &points(title, &map, &colors))?;
            }
            if self.categories.is_empty() {
                let colors = vec![ABSENT.to_string(); map.n_points()];
                figures.add(&format!("map-{}", layout.name), &points(layout.name.clone(), &map, &colors))?;
            }
            let of_fit = self.numbers.iter().filter(|column| !column.is_column);
            let of_table = self.numbers.iter().filter(|column| column.is_column).take(MAX_COLUMNS);
            for column in of_fit.chain(of_table).filter(|_| place == 0) {
                let (low, high) = range(&column.values);
                let title = format!("{}: {low:.3} (light) to {high:.3} (dark)", column.name);
                let color = |value: &f64| match value.is_finite() {
                    true => probability_color((value - low) / (high - low).max(f64::MIN_POSITIVE)),
                    false => ABSENT.to_string(),
                };
                let colors: Vec<String> = column.values.iter().map(color).collect();
                figures
                    .add(&format!("map-{}-{}", layout.name, column.name), &points(title, &map, &colors))?;
            }
        }
        Ok(())
    }

    /// The graph at the lowest, the middle and the highest quantile.
    pub fn draw_graphs(&self, figures: &mut Figures<'_>) -> Result<()> {
        let (Some(layout), n_taus) = (self.layouts.first(), self.edges.taus.len()) else { return Ok(()) };
        let map = PlaneMap::new(&layout.xy, 2);
        let sampled = if self.points.is_sample { " (a sample is drawn)" } else { "" };
        let mut chosen = vec![0, n_taus / 2, n_taus.saturating_sub(1)];
        chosen.dedup();
        for place in chosen {
            let present =
                self.edges.edges.iter().filter(|edge| n_taus == 0 || usize::from(edge.level) > place);
            let edges: Vec<_> = present.map(|edge| (edge.i, edge.j, Some(edge.probability))).collect();
            let (name, title) = match self.steps.get(place) {
                Some(step) => {
                    let (edges, components) = (step.edges, step.components);
                    let title = format!("τ = {}: {edges} edges; components: {components}{sampled}", step.tau);
                    (format!("graph-tau-{}", step.tau), title)
                }
                None => ("graph".into(), format!("{} edges", edges.len())),
            };
            let colors = vec![ABSENT.to_string(); map.n_points()];
            figures.add(&name, &GraphPanel { edges, ..points(title, &map, &colors) })?;
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
