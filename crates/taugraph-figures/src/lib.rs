//! Figures: panels alone or side by side, as SVG and PNG. Colors are distinguishable by color-blind people, and the font is built in.

mod drawing;
mod palette;
mod panel;
mod png;
mod svg;

mod chart;

pub use chart::{Bars, Curve, Curves, Level, Scatter};
pub use drawing::Drawing;
pub use palette::{ABSENT, EDGE, INK, class_color, probability_color};
pub use panel::{DecayPanel, GraphPanel, Panel, PlaneMap};

use std::path::{Path, PathBuf};

use taugraph_io::{Output, Result};

use png::png_of;
use svg::svg_of;

/// Width and height of a panel.
const PANEL: (f64, f64) = (380.0, 400.0);

/// Writes `NAME.svg` and `NAME.png` of one panel, or of several in rows of `columns`.
pub fn write_figure(
    folder: &Path,
    name: &str,
    panels: &[&dyn Panel],
    columns: usize,
) -> Result<Vec<PathBuf>> {
    let rows = panels.len().div_ceil(columns);
    let mut drawing = Drawing::new(PANEL.0 * columns as f64, PANEL.1 * rows as f64);
    for (place, panel) in panels.iter().enumerate() {
        drawing.move_origin(PANEL.0 * (place % columns) as f64, PANEL.1 * (place / columns) as f64);
        panel.draw(&mut drawing, PANEL.0, PANEL.1);
    }
    let files = [("svg", svg_of(&drawing).into_bytes()), ("png", png_of(&drawing))];
    let mut paths = Vec::new();
    for (ending, bytes) in files {
        let path = folder.join(format!("{name}.{ending}"));
        Output::new(&path).write(|out| out.write_all(&bytes))?;
        paths.push(path);
    }
    Ok(paths)
}
