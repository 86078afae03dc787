//! `taugraph propagate`.

use taugraph::LabelPropagation;
use taugraph_report::Found;

use crate::args::PropagateCommand;
use crate::context::Context;
use crate::failure::Outcome;
use crate::given_labels::{given_labels, with_shares};
use crate::model_file::{Origin, check_model_input, save_model};
use crate::outputs::{Holds, Outputs, output};
use crate::page::Page;
use crate::report::Report;
use crate::results::write_labels;
use crate::settings::Settings;

pub fn propagate(args: &PropagateCommand) -> Outcome<()> {
    let mut settings = Settings::start(&args.run, &args.input)?;
    args.labels.apply(&mut settings)?;
    args.rule.apply(&mut settings.params)?;
    args.params.apply(&mut settings.params)?;
    let json = args.run.json.as_deref();
    let outputs = Outputs::default()
        .with_result("labels", args.output.as_deref(), Holds::Table(Some("labels")), json)
        .with("--json", json, Holds::Other)
        .with("--save-model", args.save_model.as_deref(), Holds::Other)
        .with_report(&args.shows);
    outputs.check(&[&settings.input.file])?;
    let context = Context::new(settings, &args.input, &args.run, &args.resume)?;
    let settings = &context.settings;
    let (dataset, input) = context.read()?;
    let given = given_labels(settings, &dataset, context.budget())?;
    check_model_input(args.save_model.as_deref(), dataset.kind)?;
    let page = Page::asked(&args.shows, &dataset, &input, settings.params.seed);
    let mut config = settings.params.clone();
    config.propagate = with_shares(&config.propagate, &given, settings)?;
    // Models and pictures need the points, nothing else does.
    let keeps_points = args.save_model.is_some() || page.is_some();
    let estimator = LabelPropagation::with_config(config).keep_points(keeps_points);
    let found = context.explained(estimator.fit_with(input, &given, &context.run()), &dataset)?;
    context.run().stage("write", None)?;
    if outputs.has_result() {
        write_labels(&found, &given, dataset.ids.as_ref(), &output(args.output.as_deref()))?;
    }
    if let Some(path) = &args.save_model {
        let origin = Origin { command: "propagate", settings };
        save_model(found.model()?, &origin, &dataset.features, given.classes(), path)?;
    }
    let suggestions = match args.suggest {
        0 => Vec::new(),
        n => found.suggest(n, &context.run())?,
    };
    let report = context.report("propagate", &dataset, Found::Labels(&found, &given));
    context.publish(&Report { suggestions, ..report }, page, &args.run)
}
