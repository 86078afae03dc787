//! Labels from one labeled row per class: every rule on every graph, and what each kind of persistence adds.

use std::io::Write;

use rayon::prelude::*;
use taugraph::edges::Symmetrize;
use taugraph::params::{CandidatePairs, FinalAffinity, GraphParams, Preset};
use taugraph::progress::Run;
use taugraph::propagate::{Evaluation, PropagateParams, Rule, Trials, evaluate};
use taugraph::quantile::{Community, Estimator, Neighborhood, Overlap, Product};
use taugraph::{Config, FittedGraph, RobustGraph};

use crate::data::{Error, LABEL_SETS, LabeledSet, OTHER_SETS, missing_sets, synthetic_sets};
use crate::statistics::{deviation, mean, paired};

/// Draws of one labeled row per class; the same for every rule and graph.
const TRIALS: usize = 100;
/// Seeds of the synthetic sets.
const SEEDS: u64 = 5;

const RULES: [(&str, Rule); 6] = [
    ("greedy walk", Rule::GreedyWalk { max_walk: 5, pairs: None }),
    ("nearest in kernel", Rule::NearestInKernel),
    ("kernel cosine", Rule::KernelCosine),
    ("Poisson", Rule::Poisson),
    ("consistency", Rule::Consistency { alpha: 0.99 }),
    ("harmonic", Rule::Harmonic),
];

struct Graph {
    name: &'static str,
    params: GraphParams,
}

/// The graphs of the first table.
fn graphs() -> Vec<Graph> {
    let ten = CandidatePairs::Neighbors { k: 10, symmetrize: Symmetrize::Union };
    vec![
        Graph { name: "local scaling", params: Preset::LocalScaling.params() },
        Graph {
            name: "10-NN, linked",
            params: Preset::ConstantControl.params().with(|params| params.candidates = ten),
        },
        Graph { name: "robust", params: Preset::Robust.params() },
    ]
}

/// The same candidates with every kind of persistence, alone and combined; the first is the plain graph.
fn persistences() -> Vec<Graph> {
    let neighborhood = || Estimator::Neighborhood(Neighborhood::default());
    let overlap = || Estimator::Overlap(Overlap::default());
    let community = || Estimator::Community(Community::default());
    let product = |parts: Vec<Estimator>| Estimator::Product(Product::of(parts));
    let graph = |name, estimator: Estimator, power: f64| {
        let final_affinity = FinalAffinity::Weighted { power, floor: 1e-6 };
        Graph {
            name,
            params: Preset::Robust.params().with(|params| {
                params.estimator = estimator;
                params.final_affinity = final_affinity;
            }),
        }
    };
    vec![
        graph("plain", Estimator::Constant, 1.0),
        graph("neighborhood²", neighborhood(), 2.0),
        graph("neighborhood³", neighborhood(), 3.0),
        graph("overlap²", overlap(), 2.0),
        graph("overlap⁴", overlap(), 4.0),
        graph("community³", community(), 3.0),
        graph("(neighborhood · overlap)²", product(vec![neighborhood(), overlap()]), 2.0),
        graph("(neighborhood · community)²", product(vec![neighborhood(), community()]), 2.0),
        graph("(neighborhood · community)³", product(vec![neighborhood(), community()]), 3.0),
        graph("(overlap · community)²", product(vec![overlap(), community()]), 2.0),
        graph("(all three)²", product(vec![neighborhood(), overlap(), community()]), 2.0),
    ]
}

fn build(set: &LabeledSet, graph: &Graph) -> Result<FittedGraph, Error> {
    // The points are already prepared.
    let mut config = Config::default();
    config.set("preparation.standardize", "none")?;
    config.graph = graph.params.clone();
    Ok(RobustGraph::with_config(config).fit(&set.points)?)
}

fn try_rule(set: &LabeledSet, graph: &FittedGraph, rule: Rule) -> Result<Evaluation, Error> {
    let params = PropagateParams::default().with(|params| params.rule = rule);
    let run = Run::new(0);
    let spread_on = graph.label_graph(&params, &run)?;
    let trials = Trials::Random { draws: TRIALS, per_class: 1 };
    Ok(evaluate(&*spread_on, graph.duplicates().node_of_row(), &set.labels, &params, trials, &run)?)
}

/// The part of the results about labels.
pub fn write(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "\n## Labels: every rule, every kind of persistence\n")?;
    let missing = missing_sets(LABEL_SETS.iter().chain(&OTHER_SETS).map(|set| set.1));
    if !missing.is_empty() {
        writeln!(out, "Skipped: these datasets are missing: {}.", missing.join(", "))?;
        return Ok(());
    }
    write_rules(out)?;
    write_persistences(out)
}

fn write_rules(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(
        out,
        "The seven sets of Table 2, columns z-scored, missing cells filled with the median. One random \
         labeled point per class, {TRIALS} draws, the same for every rule and graph (seed 0); labeled points do not count, rows \
         left without a label count as wrong. Cells: accuracy / balanced accuracy in percent, means over the draws; ± is the \
         standard deviation of the balanced accuracy of harmonic functions over the draws. `local scaling`: all pairs. \
         `10-NN, linked`: 10 nearest neighbors, locally scaled, components joined by weak links.\n"
    )?;
    let names = RULES.map(|rule| rule.0).join(" | ");
    writeln!(out, "| set | graph | {names} | ± | largest class |")?;
    writeln!(out, "|---|---|{}---|---|", "---|".repeat(RULES.len()))?;
    let graphs = graphs();
    let mut means = vec![vec![(Vec::new(), Vec::new()); RULES.len()]; graphs.len()];
    for (name, id) in LABEL_SETS {
        let set = LabeledSet::load(name, id)?;
        for (g, graph) in graphs.iter().enumerate() {
            eprintln!("labels: {name}, {}", graph.name);
            let robust = build(&set, graph)?;
            let found: Vec<Evaluation> =
                RULES.par_iter().map(|rule| try_rule(&set, &robust, rule.1)).collect::<Result<_, _>>()?;
            let mut row = format!("| {name} | {} |", graph.name);
            for (r, evaluation) in found.iter().enumerate() {
                let (accuracy, balanced) = (mean(&evaluation.accuracies), mean(&evaluation.balanced));
                row += &format!(" {:.1} / {:.1} |", 100.0 * accuracy, 100.0 * balanced);
                means[g][r].0.push(accuracy);
                means[g][r].1.push(balanced);
            }
            let last = &found[RULES.len() - 1];
            row += &format!(" {:.1} | {:.1} |", 100.0 * deviation(&last.balanced), 100.0 * last.majority);
            writeln!(out, "{row}")?;
        }
    }
    for (graph, of_rules) in graphs.iter().zip(&means) {
        let cells =
            of_rules.iter().map(|(a, b)| format!(" {:.1} / {:.1} |", 100.0 * mean(a), 100.0 * mean(b)));
        writeln!(out, "| **mean** | {} |{} | |", graph.name, cells.collect::<String>())?;
    }
    Ok(())
}

fn write_persistences(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "\nHow to read this: docs/decisions/0011.")?;
    writeln!(out, "\n### What each kind of persistence adds\n")?;
    writeln!(
        out,
        "Harmonic functions on the same 15-NN candidates, weights times a power of the persistence; balanced accuracy in \
         percent, means over {TRIALS} draws. Synthetic sets: means over the seeds 0 to {}. The last rows are paired comparisons \
         with the plain graph, one pair per set: mean difference ± standard error, and wins / ties / losses.\n",
        SEEDS - 1
    )?;
    let graphs = persistences();
    writeln!(out, "| set | {} |", graphs.iter().map(|graph| graph.name).collect::<Vec<_>>().join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(graphs.len()))?;
    let real = LABEL_SETS.into_iter().chain(OTHER_SETS);
    let mut sets: Vec<Vec<LabeledSet>> =
        real.map(|(name, id)| Ok(vec![LabeledSet::load(name, id)?])).collect::<Result<_, Error>>()?;
    let n_real = sets.len();
    let mut synthetic: Vec<Vec<LabeledSet>> = Vec::new();
    for seed in 0..SEEDS {
        for (kind, set) in synthetic_sets(seed)?.into_iter().enumerate() {
            if seed == 0 {
                synthetic.push(Vec::new());
            }
            synthetic[kind].push(set);
        }
    }
    sets.append(&mut synthetic);
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); graphs.len()];
    for of_kind in &sets {
        eprintln!("persistence: {}", of_kind[0].name);
        let mut row = format!("| {} |", of_kind[0].name);
        let found: Vec<f64> = graphs
            .par_iter()
            .map(|graph| {
                let of_set = |set: &LabeledSet| -> Result<f64, Error> {
                    Ok(mean(&try_rule(set, &build(set, graph)?, Rule::Harmonic)?.balanced))
                };
                Ok(mean(&of_kind.iter().map(of_set).collect::<Result<Vec<f64>, Error>>()?))
            })
            .collect::<Result<_, Error>>()?;
        for (of_graph, balanced) in all.iter_mut().zip(found) {
            row += &format!(" {:.1} |", 100.0 * balanced);
            of_graph.push(100.0 * balanced);
        }
        writeln!(out, "{row}")?;
    }
    for (name, part) in
        [("mean, real", 0..n_real), ("mean, synthetic", n_real..sets.len()), ("mean, all", 0..sets.len())]
    {
        let cells: String =
            all.iter().map(|of_graph| format!(" {:.1} |", mean(&of_graph[part.clone()]))).collect();
        writeln!(out, "| **{name}** |{cells}")?;
    }
    writeln!(out, "\n| persistence | difference to plain, all sets | wins / ties / losses |\n|---|---|---|")?;
    for (graph, of_graph) in graphs.iter().zip(&all).skip(1) {
        writeln!(out, "| {} | {}", graph.name, paired(of_graph, &all[0], 1))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A slice of the table: two real sets, two graphs, two rules.
    #[test]
    fn real_sets_give_the_figures_of_the_table() {
        if !missing_sets(["breast-cancer-wisconsin", "kidney-disease"]).is_empty() {
            let note = b"skipped: real_sets_give_the_figures_of_the_table needs TAUGRAPH_DATA\n";
            std::io::stderr().write_all(note).expect("standard error takes a line");
            return;
        }
        let graphs = graphs();
        for (name, expected) in [("Breast Cancer", 0.93), ("Kidney Disease", 0.93)] {
            let (_, id) = LABEL_SETS.into_iter().find(|set| set.0 == name).expect("it is listed");
            let set = LabeledSet::load(name, id).unwrap();
            for graph in [&graphs[1], &graphs[2]] {
                let robust = build(&set, graph).unwrap();
                for rule in [Rule::Poisson, Rule::Harmonic] {
                    let found = mean(&try_rule(&set, &robust, rule).unwrap().balanced);
                    assert!((found - expected).abs() < 0.03, "{name}, {}, {rule:?}: {found}", graph.name);
                }
            }
        }
    }
}
