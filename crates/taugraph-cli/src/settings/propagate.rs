//! Flags of the propagation.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use taugraph::propagate::{Clamping, Rule, Solver};

use super::{Settings, maybe_as_text};
use crate::args::{PropagateArgs, RuleName};
use crate::failure::{Failure, Outcome};

/// Where labels come from and how they spread; classes by their names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropagateSettings {
    #[serde(serialize_with = "maybe_as_text")]
    pub labels_file: Option<PathBuf>,
    pub rule: Rule,
    pub clamping: Clamping,
    pub priors: Option<Vec<(String, f64)>>,
    pub sizes: Option<Vec<(String, f64)>>,
    pub solver: Solver,
    /// Whether the components of a given graph are joined.
    pub link: bool,
}

impl Settings {
    pub fn apply_propagate(&mut self, args: &PropagateArgs) -> Outcome<()> {
        if args.labels.is_some() {
            self.input.label_column.clone_from(&args.labels);
            self.propagate.labels_file = None;
        }
        let spread = &mut self.propagate;
        if args.labels_file.is_some() {
            spread.labels_file.clone_from(&args.labels_file);
        }
        spread.rule = rule(spread.rule, args)?;
        if let Some(strength) = args.soft {
            spread.clamping = Clamping::Soft { strength };
        }
        if args.priors.is_some() {
            spread.priors.clone_from(&args.priors);
        }
        if args.sizes.is_some() {
            spread.sizes.clone_from(&args.sizes);
        }
        spread.solver.tolerance = args.solver_tolerance.unwrap_or(spread.solver.tolerance);
        spread.solver.max_iterations = args.solver_iterations.unwrap_or(spread.solver.max_iterations);
        spread.link |= args.link;
        Ok(())
    }
}

fn rule(before: Rule, args: &PropagateArgs) -> Outcome<Rule> {
    let (name, alpha, max_walk, pairs) = match before {
        Rule::Harmonic => (RuleName::Harmonic, 0.99, 5, None),
        Rule::Poisson => (RuleName::Poisson, 0.99, 5, None),
        Rule::Consistency { alpha } => (RuleName::Consistency, alpha, 5, None),
        Rule::KernelCosine => (RuleName::KernelCosine, 0.99, 5, None),
        Rule::NearestInKernel => (RuleName::NearestInKernel, 0.99, 5, None),
        Rule::GreedyWalk { max_walk, pairs } => (RuleName::GreedyWalk, 0.99, max_walk, pairs),
    };
    let name = args.rule.unwrap_or(name);
    let needs = |flag: &str, is_given: bool, rule: RuleName, rule_name: &str| match is_given && name != rule {
        true => Err(Failure::Usage(format!("{flag} has no effect here: it needs --rule {rule_name}"))),
        false => Ok(()),
    };
    needs("--alpha", args.alpha.is_some(), RuleName::Consistency, "consistency")?;
    needs("--max-walk", args.max_walk.is_some(), RuleName::GreedyWalk, "greedy-walk")?;
    needs("--kernel-pairs", args.kernel_pairs.is_some(), RuleName::GreedyWalk, "greedy-walk")?;
    Ok(match name {
        RuleName::Harmonic => Rule::Harmonic,
        RuleName::Poisson => Rule::Poisson,
        RuleName::Consistency => Rule::Consistency { alpha: args.alpha.unwrap_or(alpha) },
        RuleName::KernelCosine => Rule::KernelCosine,
        RuleName::NearestInKernel => Rule::NearestInKernel,
        RuleName::GreedyWalk => Rule::GreedyWalk {
            max_walk: args.max_walk.unwrap_or(max_walk),
            pairs: args.kernel_pairs.or(pairs),
        },
    })
}
