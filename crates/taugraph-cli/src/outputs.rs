//! What a command will write: found out before the work whether it can be written.

use std::path::{Path, PathBuf};

use taugraph_io::{Output, check_graph_output, check_table_output};
use taugraph_terminal::visible;

use crate::args::ReportArgs;
use crate::failure::{Failure, Outcome};

/// What goes to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A table; the text in it, if there is any.
    Table(Option<&'static str>),
    Graph,
    Other,
}

impl Holds {
    /// A table of numbers, and of text where the rows have names.
    pub fn numbers(id_column: Option<&str>) -> Self {
        Holds::Table(id_column.map(|_| "the cells of --id-column"))
    }
}

/// The outputs of a command, by the flags that name them.
#[derive(Default)]
pub struct Outputs<'a> {
    named: Vec<(&'static str, &'a Path, Holds)>,
    /// The result that goes to standard output if no flag names a place for it.
    default: Option<&'static str>,
    figures: Option<&'a Path>,
}

impl<'a> Outputs<'a> {
    /// With an output, if it is asked for.
    pub fn with(mut self, flag: &'static str, path: Option<&'a Path>, holds: Holds) -> Self {
        self.named.extend(path.map(|path| (flag, path, holds)));
        self
    }

    /// With the command's main result, which goes to standard output unless a place is named or the JSON is there.
    pub fn with_result(
        mut self,
        name: &'static str,
        path: Option<&'a Path>,
        holds: Holds,
        json: Option<&Path>,
    ) -> Self {
        if path.is_none() && !is_stdout(json) {
            self.default = Some(name);
        }
        self.with("--output", path, holds)
    }

    /// With page and figures.
    pub fn with_report(mut self, args: &'a ReportArgs) -> Self {
        self.figures = args.figures.as_deref();
        self.with("--report", args.report.as_deref(), Holds::Other)
    }

    /// Whether the main result is to be written at all.
    pub fn has_result(&self) -> bool {
        self.default.is_some() || self.named.iter().any(|(flag, _, _)| *flag == "--output")
    }

    /// Refuses what cannot be written, two results in one place, and results over an input.
    pub fn check(&self, inputs: &[&Path]) -> Outcome<()> {
        self.refuse_shared_files(inputs)?;
        let on_stdout = self.named.iter().filter(|(_, path, _)| is_stdout(Some(path))).map(|named| named.0);
        let on_stdout: Vec<&str> = self.default.into_iter().chain(on_stdout).collect();
        if on_stdout.len() > 1 {
            let message = format!("{} cannot all go to standard output", on_stdout.join(" and "));
            return Err(Failure::Usage(message));
        }
        if self.default.is_some() {
            Output::Stdout.check()?;
        }
        for (_, path, holds) in &self.named {
            let output = Output::new(path);
            match holds {
                Holds::Table(text) => {
                    check_table_output(&output)?;
                    refuse_text_in_npy(path, *text)?;
                }
                Holds::Graph => check_graph_output(&output)?,
                Holds::Other => output.check()?,
            }
        }
        match self.figures {
            Some(folder) => make_folder(folder),
            None => Ok(()),
        }
    }

    /// Two results in one file would leave one of them, and the input is not ours to overwrite.
    fn refuse_shared_files(&self, inputs: &[&Path]) -> Outcome<()> {
        let mut taken: Vec<(&str, PathBuf)> = Vec::new();
        for input in inputs.iter().filter(|path| is_file(path)) {
            taken.push(("the input", place(input)));
        }
        for (flag, path, _) in self.named.iter().filter(|(_, path, _)| is_file(path)) {
            let path = place(path);
            if let Some((other, _)) = taken.iter().find(|(_, known)| *known == path) {
                let message = format!("{flag} and {other} are the same file, {}", path.display());
                return Err(Failure::Usage(message));
            }
            taken.push((flag, path));
        }
        Ok(())
    }
}

/// The file, whatever the path to it.
fn place(path: &Path) -> PathBuf {
    match path.canonicalize() {
        Ok(known) => known,
        Err(_) => {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            folder.canonicalize().unwrap_or_default().join(path.file_name().unwrap_or_default())
        }
    }
}

fn is_file(path: &&Path) -> bool {
    path.as_os_str() != "-" && !path.metadata().is_ok_and(|data| !data.is_file())
}

pub fn is_stdout(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == "-")
}

/// A file, or standard output.
pub fn output(path: Option<&Path>) -> Output {
    path.map_or(Output::Stdout, Output::new)
}

/// Prints a text for people that is a result.
pub fn print(text: &str) -> Outcome<()> {
    Ok(Output::Stdout.write(|out| out.write_all(visible(text).as_bytes()))?)
}

/// NPY cannot hold text; better said before the work than after it.
pub fn refuse_text_in_npy(path: &Path, what: Option<&str>) -> Outcome<()> {
    match what.filter(|_| path.extension().is_some_and(|extension| extension == "npy")) {
        None => Ok(()),
        Some(what) => Err(Failure::Usage(format!(
            "{}: NPY holds numbers only, but {what} are text; write .csv or .parquet",
            path.display()
        ))),
    }
}

/// Makes a folder where there is none.
pub fn make_folder(folder: &Path) -> Outcome<()> {
    Ok(std::fs::create_dir_all(folder)
        .map_err(|source| taugraph_io::Error::Write { path: folder.to_path_buf(), source })?)
}
