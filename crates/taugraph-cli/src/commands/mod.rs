//! One file for each command.

mod cluster;
mod compare;
mod demo;
mod evaluate;
mod generate;
mod graph;
mod info;
mod manual;
mod predict;
mod propagate;

pub use cluster::{cluster, plot};
pub use compare::compare;
pub use demo::demo;
pub use evaluate::evaluate;
pub use generate::generate;
pub use graph::graph;
pub use info::info;
pub use manual::{completions, manual};
pub use predict::predict;
pub use propagate::propagate;

use std::path::{Path, PathBuf};

use taugraph::progress::Run;
use taugraph::robust::RowEdge;
use taugraph::scale::LocalScales;
use taugraph_io::{NewColumn, NewTable, Output, SparseMatrix, write_graph, write_table};

use crate::args::{ResumeArgs, RunArgs};
use crate::dataset::{Body, Dataset};
use crate::failure::{Failure, Outcome};
use crate::pipeline::{Built, Robust};
use crate::progress::Terminal;
use crate::settings::{InputSettings, Settings};
use crate::work_folder::WorkFolder;

/// Sets the threads; to be called once, before the library is used.
fn use_threads(args: &RunArgs) -> Outcome<()> {
    taugraph_terminal::use_threads(args.threads)
}

fn new_run<'a>(seed: u64, args: &RunArgs, terminal: &'a Terminal) -> Run<'a> {
    let run = Run::new(seed).with_progress(terminal);
    match args.memory {
        Some(bytes) => run.with_memory_limit(Some(bytes)),
        None => run,
    }
}

/// The folder for finished stages, if one is asked for.
fn work_folder(args: &ResumeArgs, settings: &Settings) -> Outcome<Option<WorkFolder>> {
    args.checkpoints.as_deref().map(|path| WorkFolder::open(path, settings)).transpose()
}

/// The run with that folder.
fn keeping<'a>(run: Run<'a>, folder: &'a Option<WorkFolder>) -> Run<'a> {
    match folder {
        Some(folder) => run.with_checkpoints(folder),
        None => run,
    }
}

/// An interruption, with what there is to go on from.
fn with_advice<T>(outcome: Outcome<T>, folder: &Option<WorkFolder>) -> Outcome<T> {
    outcome.map_err(|failure| match (failure, folder) {
        (Failure::Interrupted, Some(_)) => Failure::Paused(
            "interrupted; finished stages are kept, the same command goes on from there".into(),
        ),
        (failure, _) => failure,
    })
}

/// A file, or standard output.
fn output(path: Option<&Path>) -> Output {
    path.map_or(Output::Stdout, Output::new)
}

/// Only one thing can go to standard output.
fn refuse_two_on_stdout(outputs: &[(&str, bool)]) -> Outcome<()> {
    let taken: Vec<&str> =
        outputs.iter().filter(|(_, is_stdout)| *is_stdout).map(|(name, _)| *name).collect();
    match taken.len() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage(format!("{} cannot all go to standard output", taken.join(" and ")))),
    }
}

/// Two results in one file would leave one of them, and the input is not ours to overwrite.
fn refuse_shared_files(input: &Path, outputs: &[(&str, Option<&Path>)]) -> Outcome<()> {
    let place = |path: &Path| match path.canonicalize() {
        Ok(known) => known,
        Err(_) => {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            folder.canonicalize().unwrap_or_default().join(path.file_name().unwrap_or_default())
        }
    };
    let is_file =
        |path: &&Path| path.as_os_str() != "-" && !path.metadata().is_ok_and(|data| !data.is_file());
    let mut taken: Vec<(&str, PathBuf)> = Vec::new();
    if is_file(&input) {
        taken.push(("the input", place(input)));
    }
    for (name, path) in outputs {
        let Some(path) = path.filter(is_file).map(place) else { continue };
        if let Some((other, _)) = taken.iter().find(|(_, known)| *known == path) {
            let message = format!("{name} and {other} are the same file, {}", path.display());
            return Err(Failure::Usage(message));
        }
        taken.push((name, path));
    }
    Ok(())
}

fn is_stdout(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == "-")
}

/// A model is made of points, and can be written where it is to go; to be found out before the work.
fn check_model_output(path: Option<&Path>, body: &Body) -> Outcome<()> {
    let Some(path) = path else { return Ok(()) };
    match body {
        Body::Points(_) => Ok(Output::new(path).check()?),
        Body::Sparse(_) => Err(Failure::Usage(
            "--save-model needs a dense table of points: new rows cannot be placed among sparse ones".into(),
        )),
        Body::Distances(_) | Body::Graph(_) => Err(Failure::Usage(
            "--save-model needs a table of points: new ones cannot be placed among distances or into a given graph"
                .into(),
        )),
    }
}

/// NPY cannot hold text; better said before the work than after it.
fn refuse_text_in_npy(path: &Path, what: Option<&str>) -> Outcome<()> {
    match what.filter(|_| path.extension().is_some_and(|extension| extension == "npy")) {
        None => Ok(()),
        Some(what) => Err(Failure::Usage(format!(
            "{}: NPY holds numbers only, but {what} are text; write .csv or .parquet",
            path.display()
        ))),
    }
}

/// What is text beside numbers in a table of results.
fn text_of(input: &InputSettings) -> Option<&'static str> {
    input.id_column.as_ref().map(|_| "the cells of --id-column")
}

/// The names of the rows, if there are any, and what belongs to them.
fn with_ids(dataset: &Dataset, id_name: Option<&str>, columns: Vec<NewColumn>) -> NewTable {
    let ids = dataset.ids.as_ref().zip(id_name);
    let ids = ids.map(|(ids, name)| NewColumn::texts(name, ids.iter().cloned()));
    NewTable::new(ids.into_iter().chain(columns).collect())
}

/// Local scales of each row.
fn write_scales(robust: &Robust, dataset: &Dataset, id_name: Option<&str>, path: &Path) -> Outcome<()> {
    let of_rows = |scales: &LocalScales| robust.graph.duplicates.restore(scales.values());
    let columns = vec![
        NewColumn::numbers("first_scale", of_rows(&robust.graph.first_scales)),
        NewColumn::numbers("scale", of_rows(&robust.graph.scales)),
    ];
    Ok(write_table(&with_ids(dataset, id_name, columns), &Output::new(path))?)
}

/// The graph over all rows: as a matrix, or as a list of edges with what is known about each.
fn write_rows_graph(built: &Built, target: &Output) -> Outcome<()> {
    let graph = match built {
        Built::Robust(robust) => robust.graph.graph_of_rows(),
        Built::Given(graph) => graph.clone(),
    };
    let matrix = SparseMatrix {
        n_rows: graph.n_nodes(),
        n_columns: graph.n_nodes(),
        offsets: graph.offsets().to_vec(),
        columns: graph.ids().to_vec(),
        values: graph.weights().to_vec(),
    };
    let edges = || {
        let upper = || matrix.entries().filter(|(i, j, _)| i < j);
        let mut columns = vec![
            NewColumn::integers("source", upper().map(|(i, _, _)| i64::from(i))),
            NewColumn::integers("target", upper().map(|(_, j, _)| i64::from(j))),
            NewColumn::numbers("weight", upper().map(|(_, _, weight)| weight)),
        ];
        if let Built::Robust(robust) = built {
            // A link between components is no candidate: nothing is known of it but its weight.
            let known = |i: u32, j: u32| match robust.graph.row_edge(i, j) {
                RowEdge::Candidate { probability, distance } => (probability, distance),
                RowEdge::Copy => (1.0, 0.0),
                RowEdge::Link => (f64::NAN, f64::NAN),
            };
            columns.push(NewColumn::numbers("probability", upper().map(|(i, j, _)| known(i, j).0)));
            columns.push(NewColumn::numbers("distance", upper().map(|(i, j, _)| known(i, j).1)));
        }
        NewTable::new(columns)
    };
    Ok(write_graph(&matrix, edges, target)?)
}
