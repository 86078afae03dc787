//! Figures: panels drawn as SVG, alone or side by side, and rendered to PNG.

mod palette;
mod panel;
mod png;
mod svg;

pub use palette::{ABSENT, EDGE, INK, class_color};
pub use panel::{DecayPanel, GraphPanel, Panel, PlaneMap};

use std::path::{Path, PathBuf};

use taugraph_io::Output;

use crate::failure::Outcome;
use png::png_of;
use svg::Svg;

/// Width and height of a panel.
const PANEL: (f64, f64) = (380.0, 400.0);

/// Writes `NAME.svg` and `NAME.png` of one panel, or of several in rows of `columns`.
pub fn write_figure(
    folder: &Path,
    name: &str,
    panels: &[&dyn Panel],
    columns: usize,
) -> Outcome<Vec<PathBuf>> {
    let rows = panels.len().div_ceil(columns);
    let mut svg = Svg::new(PANEL.0 * columns as f64, PANEL.1 * rows as f64);
    for (place, panel) in panels.iter().enumerate() {
        svg.begin_at(PANEL.0 * (place % columns) as f64, PANEL.1 * (place / columns) as f64);
        panel.draw(&mut svg, PANEL.0, PANEL.1);
        svg.end();
    }
    let svg = svg.finish();
    let (drawing, picture) = (folder.join(format!("{name}.svg")), folder.join(format!("{name}.png")));
    Output::new(&drawing).write(|out| out.write_all(svg.as_bytes()))?;
    let png = png_of(&svg);
    Output::new(&picture).write(|out| out.write_all(&png))?;
    Ok(vec![drawing, picture])
}
