//! `taugraph-lab paper`: the laboratory's tables and figures, written to a folder.

use std::path::{Path, PathBuf};

use taugraph::progress::{Progress, Run};
use taugraph_io::Output;
use taugraph_lab::paper::{
    Begin, Found, Journal, Listener, Size, Table, csv, draw, draw_neighbors, draw_noise, experiment, json,
    markdown, run,
};
use taugraph_report::{Document, Part, write_document};
use taugraph_terminal::failure::Outcome;
use taugraph_terminal::progress::Terminal;
use taugraph_terminal::{say, use_threads, write_json};

use crate::args::{PaperArgs, PaperPart};

/// The file of finished measurements.
const JOURNAL: &str = "journal.jsonl";

/// A bar for each experiment.
struct Bar<'a>(&'a Terminal);

impl Listener for Bar<'_> {
    fn start(&self, experiment: &str, total: usize) {
        self.0.stage(experiment, Some(total as u64));
    }

    fn advance(&self) {
        self.0.advance(1);
    }
}

/// Stops a measurement on Ctrl-C, without showing its stages.
struct Quiet<'a>(&'a Terminal);

impl Progress for Quiet<'_> {
    fn canceled(&self) -> bool {
        self.0.canceled()
    }
}

fn new_run<'a>(args: &PaperArgs, progress: &'a dyn Progress) -> Run<'a> {
    let run = Run::new(0).with_progress(progress);
    match args.memory {
        Some(bytes) => run.with_memory_limit(Some(bytes)),
        None => run,
    }
}

pub fn paper(args: &PaperArgs) -> Outcome<()> {
    if let Some(path) = &args.report {
        Output::new(path).check()?;
    }
    use_threads(args.threads)?;
    let terminal = Terminal::new(args.quiet);
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .map_err(|source| taugraph_io::Error::Write { path: folder.clone(), source })?;
    let begin = if args.fresh { Begin::Anew } else { Begin::WhereItStopped };
    let journal = Journal::open(&folder.join(JOURNAL), begin)?;
    let size = if args.slice { Size::Slice } else { Size::Full };
    let mut parts: Vec<String> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for (part, table) in [
        (PaperPart::Table1, Table::Clustering),
        (PaperPart::Table2, Table::Labels),
        (PaperPart::Noise, Table::Noise),
        (PaperPart::Neighbors, Table::Neighbors),
    ] {
        if args.what != part && args.what != PaperPart::All {
            continue;
        }
        let quiet = Quiet(&terminal);
        let base = new_run(args, &quiet);
        let found = run(experiment(table, size), &journal, &Bar(&terminal), &base)?;
        files.extend(write_table(folder, &found)?);
        parts.push(markdown(&found));
        match table {
            Table::Noise => files.extend(draw_noise(folder, &found)?),
            Table::Neighbors => files.extend(draw_neighbors(folder, &found)?),
            Table::Clustering | Table::Labels => {}
        }
    }
    if matches!(args.what, PaperPart::Figures | PaperPart::All) {
        terminal.stage("figures", None);
        files.extend(draw(folder, &new_run(args, &terminal))?);
    }
    terminal.finish();
    if !parts.is_empty() {
        let text = parts.join("\n");
        if !args.quiet {
            Output::Stdout.write(|out| out.write_all(text.as_bytes()))?;
        }
        let path = folder.join("RESULTS.md");
        Output::new(&path).write(|out| out.write_all(text.as_bytes()))?;
        files.push(path);
    }
    if let Some(path) = &args.report {
        write_document(&page_of(&parts, &files)?, &Output::new(path))?;
    }
    if !args.quiet {
        say(&format!("{} files in {}\n", files.len(), folder.display()));
    }
    Ok(())
}

/// The tables and figures on one page.
fn page_of(texts: &[String], files: &[PathBuf]) -> Outcome<Document> {
    let plain = |text: &str| text.replace("**", "").replace('`', "");
    let mut parts: Vec<Part> = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let cells = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
        match (line.strip_prefix("## "), cells) {
            (Some(heading), _) => parts.push(Part::Heading(heading.into())),
            (None, Some(cells)) if cells.starts_with("--") => {}
            (None, Some(cells)) => {
                let row = cells.split('|').map(|cell| plain(cell).trim().to_string()).collect();
                match parts.last_mut() {
                    Some(Part::Table(rows)) => rows.push(row),
                    _ => parts.push(Part::Table(vec![row])),
                }
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => parts.push(Part::Text(plain(line))),
        }
    }
    let is_svg = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "svg");
    for file in files.iter().filter(is_svg) {
        let svg = std::fs::read(file)
            .map_err(|source| taugraph_io::Error::Read { name: file.display().to_string(), source })?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().replace('-', " ");
        parts.push(Part::Heading(name.clone()));
        parts.push(Part::Figure { svg, says: name });
    }
    let title = "The paper's tables and figures, measured".into();
    Ok(Document { title, version: env!("CARGO_PKG_VERSION").into(), parts })
}

/// The same table as Markdown, CSV and JSON.
fn write_table(folder: &Path, found: &Found) -> Outcome<Vec<PathBuf>> {
    let path = |ending: &str| folder.join(format!("{}.{ending}", found.experiment.name));
    let texts = [(path("md"), markdown(found)), (path("csv"), csv(found))];
    for (path, text) in &texts {
        Output::new(path).write(|out| out.write_all(text.as_bytes()))?;
    }
    write_json(&json(found), &path("json"))?;
    Ok(texts.into_iter().map(|(path, _)| path).chain([path("json")]).collect())
}
