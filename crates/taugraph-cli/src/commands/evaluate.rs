//! `taugraph evaluate`: how well labels spread from one labeled row of each class.

use taugraph::RobustGraph;
use taugraph::labels::Labels;
use taugraph::propagate::{Trials, evaluate as try_labeled};
use taugraph_report::Found;

use crate::args::EvaluateCommand;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::given_labels::true_labels;
use crate::outputs::{Holds, Outputs, is_stdout, print};
use crate::report::{Evaluated, Report};
use crate::settings::{LabelSettings, Settings};

pub fn evaluate(args: &EvaluateCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run, &args.input)?;
    args.labels.apply(&mut settings)?;
    args.rule.apply(&mut settings.params)?;
    args.params.apply(&mut settings.params)?;
    if settings.labels != LabelSettings::default() {
        let message = "evaluate draws its own labeled rows: leave out --labels-file, --priors and --sizes";
        return Err(Failure::Usage(message.into()));
    }
    let json = args.run.json.as_deref();
    Outputs::default().with("--json", json, Holds::Other).check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let (dataset, input) = context.read()?;
    let (labels, classes) = Labels::from_names(true_labels(&dataset)?);
    let config = context.settings.params.clone();
    let params = config.propagate.clone();
    let estimator = RobustGraph::with_config(config).keep_points(false);
    let graph = context.explained(estimator.fit_with(input, &context.run()), &dataset)?;
    let nodes: Vec<u32> = (0..graph.node_graph().n_nodes() as u32).collect();
    let node_of_row = graph.per_row(&nodes);
    let trials = if args.exact { Trials::AllPairs } else { Trials::Random(args.trials) };
    let found = try_labeled(graph.node_graph(), &node_of_row, &labels, &params, trials, &context.run())?;
    let evaluated = Evaluated { found: &found, trials, classes: &classes };
    let table = evaluated.table();
    let report = context.report("evaluate", &dataset, Found::Graph(&graph));
    context.publish(&Report { evaluation: Some(evaluated), ..report }, None, &args.run)?;
    match is_stdout(json) {
        true => Ok(()),
        false => print(&table),
    }
}
