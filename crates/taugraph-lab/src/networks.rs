//! The paper's networks: how the preset's threshold and shrinkage were chosen, and what the variants of the networks give.
//!
//! The choice is made on the seeds 1000 to 1019, the report on the seeds 0 to 19. Nothing is chosen on the labels of a real table.

use std::io::Write;
use std::time::Instant;

use rayon::prelude::*;
use taugraph::affinity::Similarities;
use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::error::Result as LibraryResult;
use taugraph::metrics::nmi;
use taugraph::neighbors::Space;
use taugraph::params::{GraphParams, Preset};
use taugraph::points::Standardize;
use taugraph::progress::Run;
use taugraph::quantile::{
    Activation, AutoEncoder, Biases, ConditionalQuantiles, DecoderWeights, Estimator, Factorization,
    Neighborhood, NonCrossing, ProblemSize, Quantiles, Taus,
};
use taugraph::robust::{NodeGraph, conditional_quantiles, robust_graph};
use taugraph::scale::{FirstScale, ScaleShrinkage};

use crate::data::{Error, LabeledSet};
use crate::paper::sets::Set;
use crate::statistics::{deviation, mean};

/// Seeds of the choice.
const CHOOSING: std::ops::Range<u64> = 1000..1020;
/// Seeds of the report.
const REPORTED: std::ops::Range<u64> = 0..20;
/// Seeds of the variants, some of which take long.
const OF_VARIANTS: std::ops::Range<u64> = 0..10;
const THRESHOLDS: [f64; 7] = [0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8];
const SHRUNK: ScaleShrinkage = ScaleShrinkage::TowardMedian { exponent: 0.75 };

/// What a set is tried with: points, and the k of the first scales.
const CELLS: [(&str, Set, usize); 7] = [
    ("clean", Set::Spirals { sigma: 0.0, share: 0.0 }, 7),
    ("σ .1, all", Set::Spirals { sigma: 0.1, share: 1.0 }, 7),
    ("σ .2, half", Set::Spirals { sigma: 0.2, share: 0.5 }, 7),
    ("σ .2, all", Set::Spirals { sigma: 0.2, share: 1.0 }, 7),
    ("k = 5", Set::Spirals { sigma: 0.0, share: 0.0 }, 5),
    ("k = 15", Set::Spirals { sigma: 0.0, share: 0.0 }, 15),
    ("pinwheel", Set::Pinwheel, 7),
];

/// Quantiles that were estimated before: thresholds and scales can be varied without training again.
struct Known(Quantiles);

impl ConditionalQuantiles for Known {
    fn bytes(&self, size: ProblemSize) -> u64 {
        8 * size.n_edges * size.n_taus
    }

    fn estimate(&self, _: &Similarities<'_>, _: &Taus, _: f64, _: &Run<'_>) -> LibraryResult<Quantiles> {
        Ok(self.0.clone())
    }
}

fn space(set: &LabeledSet) -> Result<Space, Error> {
    Ok(Space::from_points(set.points.clone(), Metric::Euclidean)?)
}

fn with_k(params: GraphParams, k: usize) -> GraphParams {
    params.with(|params| params.first_scale = FirstScale::KthNeighbor { k })
}

fn score(set: &LabeledSet, graph: &NodeGraph, run: &Run<'_>) -> Result<f64, Error> {
    let found = spectral_clustering(&graph.graph, &ClusterParams::exactly(set.labels.n_classes()), run)?;
    Ok(nmi(&set.labels, &graph.duplicates.restore(&found.labels))?)
}

/// NMI of an estimator on a cell for every threshold, without and with shrinkage.
fn over_thresholds(preset: Preset, (_, set, k): (&str, Set, usize), seed: u64) -> Result<Vec<f64>, Error> {
    let run = Run::new(seed);
    let set = set.load(seed)?;
    let space = space(&set)?;
    let params = with_k(preset.params(), k);
    let known = conditional_quantiles(&space, &params.clone().check()?, &run)?.quantiles;
    let known = std::sync::Arc::new(Known(known));
    let mut scores = Vec::new();
    for shrinkage in [ScaleShrinkage::None, SHRUNK] {
        for threshold in THRESHOLDS {
            let params = params.clone().with(|params| {
                params.threshold = threshold;
                params.scale_shrinkage = shrinkage;
            });
            let graph = robust_graph(&space, &params.check()?.with_estimator(known.clone()), &run)?;
            scores.push(score(&set, &graph, &run)?);
        }
    }
    Ok(scores)
}

/// Prints the heading of the whole study.
pub fn write_heading(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "# The paper's networks\n")?;
    writeln!(
        out,
        "What `taugraph-lab networks` prints. How to read it: docs/decisions/0024-neighbor-targets.md.\n"
    )?;
    Ok(())
}

/// Prints how the threshold and the shrinkage of the presets `paper` and `threshold-control` were chosen.
pub fn write_choice(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "## The choice of the threshold and of the shrinkage\n")?;
    writeln!(
        out,
        "NMI over the seeds {} to {}, mean; two spirals of 300 points (noise σ on a share of them, first scales from the k-th neighbor) and the pinwheel. \
         `shrunk`: σ ← σ^¾ · median^¼. `least` is the lowest cell.\n",
        CHOOSING.start,
        CHOOSING.end - 1
    )?;
    for (name, preset) in
        [("The networks", Preset::Paper), ("The control without quantiles", Preset::ThresholdControl)]
    {
        let jobs: Vec<(usize, u64)> =
            (0..CELLS.len()).flat_map(|cell| CHOOSING.map(move |seed| (cell, seed))).collect();
        let found: Vec<Vec<f64>> = jobs
            .par_iter()
            .map(|&(cell, seed)| over_thresholds(preset, CELLS[cell], seed))
            .collect::<Result<_, _>>()?;
        writeln!(out, "### {name}\n")?;
        let names: Vec<&str> = CELLS.iter().map(|cell| cell.0).collect();
        writeln!(out, "| scales | θ | {} | mean | least |", names.join(" | "))?;
        writeln!(out, "|---|---|{}---|---|", "---|".repeat(CELLS.len()))?;
        for (place, (scales, threshold)) in ["plain", "shrunk"]
            .into_iter()
            .flat_map(|scales| THRESHOLDS.map(|threshold| (scales, threshold)))
            .enumerate()
        {
            let cells: Vec<f64> = (0..CELLS.len())
                .map(|cell| {
                    let of_cell = jobs.iter().zip(&found).filter(|(job, _)| job.0 == cell);
                    mean(&of_cell.map(|(_, scores)| scores[place]).collect::<Vec<f64>>())
                })
                .collect();
            let least = cells.iter().copied().fold(f64::INFINITY, f64::min);
            let shown: Vec<String> = cells.iter().map(|value| format!("{value:.3}")).collect();
            writeln!(
                out,
                "| {scales} | {threshold} | {} | {:.3} | {least:.3} |",
                shown.join(" | "),
                mean(&cells)
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Prints how the edges of the preset `paper` decay on the sets of Table 1.
pub fn write_decay(out: &mut dyn Write) -> Result<(), Error> {
    let spirals = Set::Spirals { sigma: 0.0, share: 0.0 };
    let complete =
        Set::Table { set: "breast-cancer-wisconsin", standardize: Standardize::ZScore, complete_rows: true };
    let leaf = Set::Table { set: "leaf", standardize: Standardize::None, complete_rows: false };
    let table = Set::table;
    let sets = [
        ("two spirals", spirals, REPORTED),
        ("pinwheel", Set::Pinwheel, REPORTED),
        ("Glass", table("glass"), 0..1),
        ("Breast Cancer", complete, 0..1),
        ("Wine", table("wine"), 0..1),
        ("E. coli", table("ecoli"), 0..1),
        ("Leaf", leaf, 0..1),
        ("Parkinsons", table("parkinsons"), 0..1),
    ];
    writeln!(out, "## How the edges of `paper` decay\n")?;
    writeln!(
        out,
        "Two spirals and the pinwheel: means over the seeds {} to {}; tables: seed 0. β_τ is the number of edges present at τ, as a share of β_.1; components are those of the edges present at τ.\n",
        REPORTED.start,
        REPORTED.end - 1
    )?;
    writeln!(
        out,
        "| set | points | β_.1 | β_.3 | β_.5 | β_.7 | β_.9 | components at .1, .3, .5, .7 | largest β_.9/β_.1 | not monotone | crossing | all at δ |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|---|")?;
    for (name, set, seeds) in sets {
        let runs: Vec<NodeGraph> = seeds
            .into_par_iter()
            .map(|seed| -> Result<NodeGraph, Error> {
                let set = set.load(seed)?;
                Ok(robust_graph(&space(&set)?, &Preset::Paper.params().check()?, &Run::new(seed))?)
            })
            .collect::<Result<_, _>>()?;
        let over = |value: &dyn Fn(&NodeGraph) -> f64| mean(&runs.iter().map(value).collect::<Vec<f64>>());
        let count = |graph: &NodeGraph, t: usize| graph.stochastic.decay()[t].1 as f64;
        let share = |t: usize| over(&|graph| count(graph, t) / count(graph, 0));
        let components: Vec<String> = [0.1, 0.3, 0.5, 0.7]
            .map(|tau| format!("{:.0}", over(&|graph| graph.stochastic.component_sizes_at(tau).len() as f64)))
            .to_vec();
        let largest = runs.iter().map(|graph| count(graph, 8) / count(graph, 0)).fold(0.0, f64::max);
        let rising =
            runs.iter().filter(|graph| graph.stochastic.decay().windows(2).any(|pair| pair[1].1 > pair[0].1));
        writeln!(
            out,
            "| {name} | {} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {largest:.2} | {} of {} | {:.2} | {} |",
            runs[0].graph.n_nodes(),
            over(&|graph| count(graph, 0)),
            share(2),
            share(4),
            share(6),
            share(8),
            components.join(", "),
            rising.count(),
            runs.len(),
            over(&|graph| graph.crossing_rate.unwrap_or(0.0)),
            runs.iter().filter(|graph| graph.stochastic.has_flat_decay()).count(),
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// The variants of the estimator that are compared, with their names.
fn variants() -> Vec<(&'static str, GraphParams)> {
    let paper = |estimator: Estimator| Preset::Paper.params().with(|params| params.estimator = estimator);
    let net =
        |change: fn(&mut AutoEncoder)| paper(Estimator::AutoEncoder(AutoEncoder::default().with(change)));
    vec![
        ("`paper`: nine nets, sigmoid, 32 units", Preset::Paper.params()),
        ("joint network, no crossings", net(|net| net.non_crossing = NonCrossing::Joint)),
        ("deeper: 64 and 32 units", net(|net| net.hidden = vec![64, 32])),
        (
            "linear form L·Rᵀ, rank 32",
            net(|net| {
                net.activation = Activation::Identity;
                net.decoder = DecoderWeights::Free;
                net.biases = Biases::No;
            }),
        ),
        (
            "factorization, rank 32",
            paper(Estimator::Factorization(Factorization::default().with(|params| params.rank = 32))),
        ),
        (
            "own rows as targets (`paper-literal`, same θ and scales)",
            paper(Estimator::AutoEncoder(AutoEncoder::literal())),
        ),
        (
            "untrained: pool of 12 neighbors",
            paper(Estimator::Neighborhood(Neighborhood::default().with(|params| params.pool = 12))),
        ),
        ("`threshold-control`: no quantiles", Preset::ThresholdControl.params()),
    ]
}

/// What a variant gave on a set.
struct Measured {
    nmi: f64,
    /// β_.9/β_.1.
    decay: f64,
    is_monotone: bool,
    crossing: Option<f64>,
    is_flat: bool,
    seconds: f64,
}

fn measure(params: &GraphParams, (_, set, k): (&str, Set, usize), seed: u64) -> Result<Measured, Error> {
    let run = Run::new(seed);
    let set = set.load(seed)?;
    let space = space(&set)?;
    let params = with_k(params.clone(), k).check()?;
    let start = Instant::now();
    let graph = robust_graph(&space, &params, &run)?;
    let seconds = start.elapsed().as_secs_f64();
    let counts: Vec<usize> = graph.stochastic.decay().iter().map(|(_, count)| *count).collect();
    Ok(Measured {
        nmi: score(&set, &graph, &run)?,
        decay: counts[counts.len() - 1] as f64 / counts[0].max(1) as f64,
        is_monotone: counts.windows(2).all(|pair| pair[1] <= pair[0]),
        crossing: graph.crossing_rate,
        is_flat: graph.stochastic.has_flat_decay(),
        seconds,
    })
}

/// Prints the variants of the networks beside the preset `paper`, its control and the untrained estimator.
pub fn write_variants(out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "## Variants of the networks\n")?;
    writeln!(
        out,
        "Seeds {} to {}: NMI as mean ± deviation; over all cells together the decay β_.9/β_.1 (mean), runs whose β_τ is not monotone, edges whose quantiles cross before they are sorted, runs in \
         which every edge has p = δ, and seconds for a graph, with as many runs side by side as there are cores.\n",
        OF_VARIANTS.start,
        OF_VARIANTS.end - 1
    )?;
    let shown: Vec<(&str, Set, usize)> = [0, 3, 5, 6].map(|cell: usize| CELLS[cell]).to_vec();
    let names: Vec<&str> = shown.iter().map(|cell| cell.0).collect();
    writeln!(
        out,
        "| estimator | {} | β_.9/β_.1 | not monotone | crossing | all at δ | s |",
        names.join(" | ")
    )?;
    writeln!(out, "|---|{}---|---|---|---|---|", "---|".repeat(shown.len()))?;
    for (name, params) in variants() {
        let jobs: Vec<(usize, u64)> =
            (0..shown.len()).flat_map(|cell| OF_VARIANTS.map(move |seed| (cell, seed))).collect();
        let found: Vec<Measured> = jobs
            .par_iter()
            .map(|&(cell, seed)| measure(&params, shown[cell], seed))
            .collect::<Result<_, _>>()?;
        let of_cell = |cell: usize| {
            let scores: Vec<f64> =
                jobs.iter().zip(&found).filter(|(job, _)| job.0 == cell).map(|(_, run)| run.nmi).collect();
            format!("{:.3} ± {:.3}", mean(&scores), deviation(&scores))
        };
        let cells: Vec<String> = (0..shown.len()).map(of_cell).collect();
        let over = |value: fn(&Measured) -> f64| mean(&found.iter().map(value).collect::<Vec<f64>>());
        let count = |holds: fn(&Measured) -> bool| found.iter().filter(|run| holds(run)).count();
        let crossing: Vec<f64> = found.iter().filter_map(|run| run.crossing).collect();
        let crossing =
            if crossing.is_empty() { "–".to_string() } else { format!("{:.2}", mean(&crossing)) };
        writeln!(
            out,
            "| {name} | {} | {:.2} | {} of {} | {crossing} | {} | {:.2} |",
            cells.join(" | "),
            over(|run| run.decay),
            count(|run| !run.is_monotone),
            found.len(),
            count(|run| run.is_flat),
            over(|run| run.seconds),
        )?;
    }
    Ok(())
}
