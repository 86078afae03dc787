//! `taugraph evaluate`: how well labels spread from one labeled row of each class.

use taugraph::LabelPropagation;
use taugraph::labels::Labels;
use taugraph::propagate::Trials;
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
    let estimator = LabelPropagation::with_config(context.settings.params.clone()).keep_points(false);
    let trials = match args.exact {
        true => Trials::AllPairs,
        false => Trials::Random { draws: args.trials, per_class: args.per_class },
    };
    let found = estimator.evaluate_with(input, &labels, trials, &context.run());
    let (found, graph) = context.explained(found, &dataset)?;
    let evaluated = Evaluated { found: &found, trials, classes: &classes };
    let table = evaluated.table();
    let report = context.report("evaluate", &dataset, Found::Graph(&graph));
    context.publish(&Report { evaluation: Some(evaluated), ..report }, None, &args.run)?;
    match is_stdout(json) {
        true => Ok(()),
        false => print(&table),
    }
}
