//! `taugraph predict`.

use taugraph::error::Error as LibraryError;
use taugraph::model::Model;
use taugraph::progress::Run;
use taugraph_io::{Output, Source, write_table};

use crate::args::PredictCommand;
use crate::failure::{Failure, Outcome};
use crate::model_file::{classes_of, columns_of, load_model};
use crate::new_rows::read_new_rows;
use crate::outputs::{Holds, Outputs, output, refuse_text_in_npy};
use crate::placed_rows::PlacedRows;
use crate::progress::Terminal;
use crate::report::{say, write_json};
use crate::settings::check_id_column;

pub fn predict(args: &PredictCommand) -> Outcome<()> {
    let input = args.input();
    check_id_column(args.id_column.as_deref())?;
    if args.model.as_os_str() == "-" && args.file.as_os_str() == "-" {
        let message = "the model and the rows cannot both come from standard input";
        return Err(Failure::Usage(message.into()));
    }
    let table = Holds::Table(args.id_column.as_ref().map(|_| "the cells of --id-column"));
    let outputs = Outputs::default()
        .with_result("results", args.output.as_deref(), table, args.json.as_deref())
        .with("--json", args.json.as_deref(), Holds::Other)
        .with("--embedding", args.embedding.as_deref(), table)
        .with("--graph", args.graph.as_deref(), Holds::Graph);
    outputs.check(&[&args.file, &args.model])?;
    taugraph_terminal::use_threads(args.threads)?;
    let terminal = Terminal::new(args.quiet);
    let run = Run::new(0).with_progress(&terminal);
    let run = run.with_memory_limit(args.memory.or(run.memory_limit));

    run.stage("read", None)?;
    let model = load_model(&Source::new(&args.model))?;
    check_against_model(args, &model)?;
    let columns = columns_of(&model);
    let mut rows = read_new_rows(&input, &columns, model.preparation())?;
    let raw = std::mem::take(&mut rows.values);
    let of_rows = |error: LibraryError| of_rows(error, &rows.name);
    let (points, n_filled) = model.prepare(&raw, columns.len()).map_err(of_rows)?;
    drop(raw);
    let placed = model.place(&points, &run).map_err(of_rows)?;

    run.stage("write", None)?;
    let classes = classes_of(&model);
    let found = PlacedRows { model: &model, classes: &classes, rows: &rows, placed: &placed, n_filled };
    let id_name = args.id_column.as_deref();
    if outputs.has_result() {
        write_table(&found.table(id_name), &output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.embedding {
        write_table(&found.embedding(id_name), &Output::new(path))?;
    }
    if let Some(path) = &args.graph {
        found.write_graph(&Output::new(path))?;
    }
    let scores = found.scores()?;
    let stages = terminal.finish();
    if let Some(path) = &args.json {
        write_json(&found.json(&scores, &stages), path)?;
    }
    if !args.quiet {
        let model_name = args.model.display().to_string();
        say(&found.text(&model_name, &scores, &stages));
    }
    Ok(())
}

/// What this model can give.
fn check_against_model(args: &PredictCommand, model: &Model) -> Outcome<()> {
    if args.embedding.is_some() && model.n_embedded().is_none() {
        let message = "--embedding: the model has no embedding; save one with taugraph cluster --save-model";
        return Err(Failure::Usage(message.into()));
    }
    match &args.output {
        Some(path) => refuse_text_in_npy(path, model.n_classes().map(|_| "labels")),
        None => Ok(()),
    }
}

/// Errors of the library about new rows, in the names of the file.
fn of_rows(error: LibraryError, name: &str) -> Failure {
    match error {
        LibraryError::ZeroRow { row } => Failure::Input(format!(
            "{name}, data row {}: all features are zero there, so the cosine distance is not defined; drop the row",
            row + 1
        )),
        LibraryError::NotFinite { row, value, .. } if value.is_nan() => Failure::Input(format!(
            "{name}, data row {}: a cell is missing, and the model does not say how to fill it",
            row + 1
        )),
        LibraryError::NotFinite { row, .. } | LibraryError::TooDistant { row } => Failure::Input(format!(
            "{name}, data row {}: a value is so large that no distance can be measured; correct it or drop the row",
            row + 1
        )),
        other => other.into(),
    }
}
