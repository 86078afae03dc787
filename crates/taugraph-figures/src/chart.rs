//! Charts: curves over a common axis, and bars in groups.

use crate::drawing::{Anchor, Drawing};
use crate::panel::{Panel, title};
use crate::{INK, class_color};

/// A named curve.
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Curves over a common axis.
pub struct Curves {
    /// Above the panel.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// Beside the axis.
    pub y_label: String,
    /// The curves, in the order of their colors.
    pub curves: Vec<Curve>,
    /// Lowest and highest value on the vertical axis.
    pub y_range: (f64, f64),
    /// Whether the points themselves are marked.
    pub marks: bool,
}

/// A bar: its height, and how far the values spread around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Height.
    pub mean: f64,
    /// Half the length of the whisker.
    pub deviation: f64,
}

/// Bars in groups.
pub struct Bars {
    /// Above the panel.
    pub title: String,
    /// Beside the axis.
    pub y_label: String,
    /// Names of the bars of a group, in the order of their colors.
    pub series: Vec<String>,
    /// Each group's name and bars.
    pub groups: Vec<(String, Vec<Level>)>,
}

/// The rectangle that axes span.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    y_range: (f64, f64),
}

impl Frame {
    fn new(width: f64, height: f64, n_names: usize, y_range: (f64, f64)) -> Self {
        let legend = 16.0 * n_names.div_ceil(2) as f64;
        Self { left: 58.0, right: width - 18.0, top: 36.0, bottom: height - 52.0 - legend, y_range }
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.y_range;
        self.bottom - (value.clamp(low, high) - low) / (high - low) * (self.bottom - self.top)
    }

    /// Draws the axes, with five steps on the vertical one and its name above it.
    fn draw(&self, drawing: &mut Drawing, y_label: &str) {
        let (low, high) = self.y_range;
        for fifth in 0..=5 {
            let value = low + (high - low) * f64::from(fifth) / 5.0;
            drawing.line((self.left, self.y(value)), (self.right, self.y(value)), INK, 0.5, 0.15);
            drawing.text(
                (self.left - 6.0, self.y(value) + 4.0),
                11.0,
                Anchor::End,
                INK,
                &mark(value, high - low),
            );
        }
        drawing.line((self.left, self.bottom), (self.right, self.bottom), INK, 1.0, 1.0);
        drawing.line((self.left, self.top), (self.left, self.bottom), INK, 1.0, 1.0);
        drawing.text((8.0, self.top - 10.0), 11.0, Anchor::Start, INK, y_label);
    }

    /// Names in two columns below the axis.
    fn legend<'a>(&self, drawing: &mut Drawing, names: impl Iterator<Item = &'a str>) {
        let half = 0.5 * (self.right - self.left);
        for (place, name) in names.enumerate() {
            let (x, y) =
                (self.left + half * (place % 2) as f64, self.bottom + 46.0 + 16.0 * (place / 2) as f64);
            drawing.line((x, y - 4.0), (x + 18.0, y - 4.0), class_color(place as u32), 5.0, 1.0);
            drawing.text((x + 24.0, y), 11.0, Anchor::Start, INK, name);
        }
    }
}

/// A tick label for an axis of this length.
fn mark(value: f64, span: f64) -> String {
    match span {
        span if span >= 5.0 => format!("{value:.0}"),
        span if span >= 0.5 => format!("{value:.1}"),
        span if span >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// Two numbers for each point, on axes of the same length, with the line on which both are equal.
pub struct Scatter {
    /// Above the panel.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// Beside the axis.
    pub y_label: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

impl Panel for Scatter {
    fn draw(&self, drawing: &mut Drawing, width: f64, height: f64) {
        title(drawing, width, &self.title);
        let all = || self.points.iter().flat_map(|&(a, b)| [a, b]);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let high = high.max(low + f64::MIN_POSITIVE);
        let frame = Frame::new(width, height, 0, (low, high));
        frame.draw(drawing, &self.y_label);
        let x = |value: f64| frame.left + (value - low) / (high - low) * (frame.right - frame.left);
        for fifth in 0..=5 {
            let value = low + (high - low) * f64::from(fifth) / 5.0;
            let at = (x(value), frame.bottom + 15.0);
            drawing.text(at, 11.0, Anchor::Middle, INK, &mark(value, high - low));
        }
        let middle = 0.5 * (frame.left + frame.right);
        drawing.text((middle, frame.bottom + 30.0), 11.0, Anchor::Middle, INK, &self.x_label);
        drawing.line((x(low), frame.y(low)), (x(high), frame.y(high)), INK, 1.0, 0.4);
        for &(a, b) in &self.points {
            drawing.circle((x(a), frame.y(b)), 1.6, class_color(0));
        }
    }
}

impl Panel for Curves {
    fn draw(&self, drawing: &mut Drawing, width: f64, height: f64) {
        title(drawing, width, &self.title);
        let frame = Frame::new(width, height, self.curves.len(), self.y_range);
        frame.draw(drawing, &self.y_label);
        let all = || self.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let span = (high - low).max(f64::MIN_POSITIVE);
        let x = |value: f64| frame.left + (value - low) / span * (frame.right - frame.left);
        for fifth in 0..=5 {
            let value = low + span * f64::from(fifth) / 5.0;
            let at = (x(value), frame.bottom + 15.0);
            drawing.text(at, 11.0, Anchor::Middle, INK, &mark(value, span));
        }
        let middle = 0.5 * (frame.left + frame.right);
        drawing.text((middle, frame.bottom + 30.0), 11.0, Anchor::Middle, INK, &self.x_label);
        for (place, curve) in self.curves.iter().enumerate() {
            let points: Vec<(f64, f64)> = curve.points.iter().map(|&(a, b)| (x(a), frame.y(b))).collect();
            drawing.polyline(&points, class_color(place as u32), 2.0);
            if self.marks {
                points.iter().for_each(|&point| drawing.circle(point, 3.0, class_color(place as u32)));
            }
        }
        frame.legend(drawing, self.curves.iter().map(|curve| curve.name.as_str()));
    }
}

impl Panel for Bars {
    fn draw(&self, drawing: &mut Drawing, width: f64, height: f64) {
        title(drawing, width, &self.title);
        let frame = Frame::new(width, height, self.series.len(), (0.0, 1.0));
        frame.draw(drawing, &self.y_label);
        let group = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        let bar = 0.8 * group / self.series.len().max(1) as f64;
        for (g, (name, levels)) in self.groups.iter().enumerate() {
            let start = frame.left + group * g as f64;
            // With very many names, only some are shown.
            if g % self.groups.len().div_ceil(15) == 0 {
                drawing.text((start + 0.5 * group, frame.bottom + 15.0), 10.0, Anchor::Middle, INK, name);
            }
            for (s, level) in levels.iter().enumerate() {
                let x = start + 0.1 * group + bar * (s as f64 + 0.5);
                drawing.line(
                    (x, frame.bottom),
                    (x, frame.y(level.mean)),
                    class_color(s as u32),
                    0.86 * bar,
                    1.0,
                );
                let ends = (frame.y(level.mean - level.deviation), frame.y(level.mean + level.deviation));
                drawing.line((x, ends.0), (x, ends.1), INK, 1.0, 0.7);
            }
        }
        frame.legend(drawing, self.series.iter().map(String::as_str));
    }
}
