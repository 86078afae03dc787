//! `taugraph demo`: what the robust graph is good for, on two noisy spirals.

use taugraph::progress::Run;
use taugraph_io::Output;

use crate::args::DemoArgs;
use crate::cost::total;
use crate::demo::{Experiment, write_example};
use crate::failure::{Failure, Outcome};
use crate::outputs::{is_stdout, make_folder, print};
use crate::progress::Terminal;
use crate::report::write_json;
use crate::results::write_points;

pub fn demo(args: &DemoArgs) -> Outcome<()> {
    if args.run.config.is_some() {
        return Err(Failure::Usage("the demo has no --config".into()));
    }
    taugraph_terminal::use_threads(args.run.threads)?;
    let terminal = Terminal::new(args.run.quiet);
    let run = Run::new(args.run.seed.unwrap_or(0)).with_progress(&terminal);
    let run = run.with_memory_limit(args.run.memory.or(run.memory_limit));
    let folder = &args.output;
    make_folder(folder)?;

    let experiment = Experiment::new(&run)?;
    run.stage("figures", None)?;
    let data_file = folder.join("spirals.csv");
    write_points(&experiment.data, &Output::new(&data_file))?;
    let figures = experiment.draw(folder)?;
    write_example(folder, &data_file, &experiment.data, &run, &terminal)?;
    let seconds = total(&terminal.finish()).time.seconds;

    let text = experiment.text(folder, &data_file, seconds)?;
    let report = format!("{text}\n![all figures](overview.png)\n");
    Output::new(&folder.join("report.md")).write(|out| out.write_all(report.as_bytes()))?;
    if let Some(path) = &args.run.json {
        write_json(&experiment.json(&figures), path)?;
    }
    if !args.run.quiet && !is_stdout(args.run.json.as_deref()) {
        print(&text)?;
    }
    Ok(())
}
