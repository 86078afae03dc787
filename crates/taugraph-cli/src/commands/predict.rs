//! `taugraph predict`.

use taugraph::progress::Run;
use taugraph_io::{Budget, Source};

use crate::args::PredictCommand;
use crate::failure::{Failure, Outcome};
use crate::model_file::load_model;
use crate::outputs::{Holds, Outputs, output};
use crate::placed_rows::{PlacedRows, check_outputs};
use crate::progress::Terminal;
use crate::report::{say, write_json};
use crate::settings::check_id_column;

pub fn predict(args: &PredictCommand) -> Outcome<()> {
    check_id_column(args.id_column.as_deref())?;
    if args.model.as_os_str() == "-" && args.file.as_os_str() == "-" {
        let message = "the model and the rows cannot both come from standard input";
        return Err(Failure::Usage(message.into()));
    }
    let (json, numbers) = (args.json.as_deref(), Holds::numbers(args.id_column.as_deref()));
    let outputs = Outputs::default()
        .with_result("results", args.output.as_deref(), numbers, json)
        .with("--json", json, Holds::Other)
        .with("--embedding", args.embedding.as_deref(), numbers)
        .with("--graph", args.graph.as_deref(), Holds::Graph);
    outputs.check(&[&args.file, &args.model])?;
    taugraph_terminal::use_threads(args.threads)?;
    let terminal = Terminal::new(args.quiet);
    let run = Run::new(0).with_progress(&terminal);
    let run = run.with_memory_limit(args.memory.or(run.memory_limit));

    run.stage("read", None)?;
    let budget = Budget::of(run.memory_limit);
    let model = load_model(&Source::new(&args.model), &budget)?;
    check_outputs(args, &model)?;
    let found = PlacedRows::new(&model, &args.input(), &run, &budget)?;

    run.stage("write", None)?;
    if outputs.has_result() {
        found.write_table(&output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.embedding {
        found.write_embedding(path)?;
    }
    if let Some(path) = &args.graph {
        found.write_graph(path)?;
    }
    let agreement = found.agreement()?;
    let stages = terminal.finish();
    if let Some(path) = json {
        write_json(&found.json(&agreement, &stages), path)?;
    }
    if !args.quiet {
        say(&found.text(&args.model.display().to_string(), &agreement, &stages));
    }
    Ok(())
}
