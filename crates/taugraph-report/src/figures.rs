//! The map and every panel as separate figures.

use std::path::{Path, PathBuf};

use taugraph_figures::{Panel as Drawn, write_figure};
use taugraph_io::Result;

use crate::report::Report;

/// Writes SVG and PNG of the map and of every panel that has a figure, to a folder that exists.
pub fn write_figures(report: &Report, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut figures = Figures { folder, files: Vec::new(), names: Vec::new() };
    report.frame.draw_maps(&mut figures)?;
    report.frame.draw_graphs(&mut figures)?;
    for (_, panel) in &report.panels {
        for figure in panel.figures() {
            figures.add(figure.name, figure.drawn.as_ref())?;
        }
    }
    Ok(figures.files)
}

/// The figures of a folder.
pub struct Figures<'a> {
    folder: &'a Path,
    files: Vec<PathBuf>,
    names: Vec<String>,
}

impl Figures<'_> {
    pub fn add(&mut self, name: &str, drawn: &dyn Drawn) -> Result<()> {
        // Columns in other alphabets, or that differ only by case, would share a name.
        let plain = file_name(name);
        let mut names = std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain}-{number}")));
        let name = names.find(|name| !self.names.contains(name)).expect("there are enough numbers");
        self.files.extend(write_figure(self.folder, &name, &[drawn], 1)?);
        self.names.push(name);
        Ok(())
    }
}

/// Turns a column's name into letters, digits and hyphens.
fn file_name(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '.' { letter.to_ascii_lowercase() } else { '-' }
    };
    let name: String = name.chars().map(letter).take(80).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
