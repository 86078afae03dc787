//! The panels: points and edges in the plane, and the decay curve.

use crate::drawing::{Anchor, Drawing};
use crate::palette::{INK, probability_color};

const TITLE: f64 = 26.0;
const MARGIN: f64 = 14.0;

/// Something that fills a rectangle.
pub trait Panel {
    /// Draws it, title above.
    fn draw(&self, drawing: &mut Drawing, width: f64, height: f64);
}

/// Points in the plane, and how they are mapped to a panel: equal scales on both axes, y pointing up.
pub struct PlaneMap {
    points: Vec<(f64, f64)>,
    center: (f64, f64),
    half: f64,
}

impl PlaneMap {
    /// The first two columns of row-major points.
    pub fn new(values: &[f64], n_columns: usize) -> Self {
        let points: Vec<(f64, f64)> =
            values.chunks_exact(n_columns).map(|row| (row[0], *row.get(1).unwrap_or(&0.0))).collect();
        let range = |of: fn(&(f64, f64)) -> f64| {
            points.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        let ((x0, x1), (y0, y1)) = (range(|p| p.0), range(|p| p.1));
        let half = (0.5 * (x1 - x0).max(y1 - y0)).max(f64::MIN_POSITIVE);
        Self { points, center: (0.5 * (x0 + x1), 0.5 * (y0 + y1)), half }
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.points.len()
    }

    fn place(&self, point: usize, width: f64, height: f64) -> (f64, f64) {
        let side = 0.5 * (width.min(height - TITLE) - 2.0 * MARGIN);
        let (x, y) = self.points[point];
        (
            0.5 * width + side * (x - self.center.0) / self.half,
            TITLE + 0.5 * (height - TITLE) - side * (y - self.center.1) / self.half,
        )
    }
}

/// Individually colored points on top of edges, which are colored by probability or uniformly.
pub struct GraphPanel<'a> {
    /// Above the panel.
    pub title: String,
    /// Where the points are.
    pub map: &'a PlaneMap,
    /// Ends and, for the color, probability of each edge.
    pub edges: Vec<(u32, u32, Option<f64>)>,
    /// Color of each point.
    pub colors: Vec<&'a str>,
    /// Radius of the points.
    pub radius: f64,
    /// Points that are drawn larger, on top.
    pub marked: Vec<u32>,
}

impl Panel for GraphPanel<'_> {
    fn draw(&self, drawing: &mut Drawing, width: f64, height: f64) {
        title(drawing, width, &self.title);
        // Likely edges on top.
        let mut edges = self.edges.clone();
        edges.sort_by(|a, b| a.2.unwrap_or(0.0).total_cmp(&b.2.unwrap_or(0.0)));
        for (i, j, probability) in edges {
            let ends = (self.map.place(i as usize, width, height), self.map.place(j as usize, width, height));
            match probability {
                Some(p) => drawing.line(ends.0, ends.1, &probability_color(p), 0.4 + 0.9 * p, 0.35 + 0.6 * p),
                None => drawing.line(ends.0, ends.1, crate::EDGE, 0.6, 0.55),
            }
        }
        for (point, color) in self.colors.iter().enumerate() {
            drawing.circle(self.map.place(point, width, height), self.radius, color);
        }
        for &point in &self.marked {
            let at = self.map.place(point as usize, width, height);
            drawing.circle(at, 3.6 * self.radius, INK);
            drawing.circle(at, 2.8 * self.radius, self.colors[point as usize]);
        }
    }
}

/// How many edges are present at each quantile.
pub struct DecayPanel {
    /// Above the panel.
    pub title: String,
    /// τ and edges, ascending in τ.
    pub decay: Vec<(f64, usize)>,
}

impl Panel for DecayPanel {
    fn draw(&self, drawing: &mut Drawing, width: f64, height: f64) {
        title(drawing, width, &self.title);
        let (left, right, top, bottom) = (58.0, width - 22.0, TITLE + 18.0, height - 48.0);
        let most = self.decay.iter().map(|(_, edges)| *edges).max().unwrap_or(0).max(1);
        let x = |tau: f64| left + tau * (right - left);
        let y = |edges: f64| bottom - edges / most as f64 * (bottom - top);
        for fifth in 0..=5 {
            let (tau, edges) = (f64::from(fifth) / 5.0, most as f64 * f64::from(fifth) / 5.0);
            drawing.line((left, y(edges)), (right, y(edges)), INK, 0.5, 0.15);
            drawing.text((left - 6.0, y(edges) + 4.0), 11.0, Anchor::End, INK, &format!("{edges:.0}"));
            drawing.text((x(tau), bottom + 16.0), 11.0, Anchor::Middle, INK, &format!("{tau:.1}"));
        }
        drawing.line((left, bottom), (right, bottom), INK, 1.0, 1.0);
        drawing.line((left, top), (left, bottom), INK, 1.0, 1.0);
        let points: Vec<(f64, f64)> = self.decay.iter().map(|&(tau, n)| (x(tau), y(n as f64))).collect();
        drawing.polyline(&points, crate::class_color(0), 2.0);
        points.iter().for_each(|&point| drawing.circle(point, 3.5, crate::class_color(0)));
        drawing.text((0.5 * (left + right), bottom + 36.0), 12.0, Anchor::Middle, INK, "quantile τ");
    }
}

pub(crate) fn title(drawing: &mut Drawing, width: f64, text: &str) {
    drawing.text((0.5 * width, 19.0), 13.0, Anchor::Middle, INK, text);
}
