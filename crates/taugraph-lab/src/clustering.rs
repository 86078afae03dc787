//! Spectral clustering of synthetic points: every method, 20 fixed seeds, means with spreads.

use std::time::Instant;

use rayon::prelude::*;
use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::error::Result;
use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, pinwheel, two_spirals};
use taugraph::metrics::nmi;
use taugraph::neighbors::Space;
use taugraph::params::Preset;
use taugraph::points::{PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph::robust::robust_graph;
use taugraph::scale::FirstScale;

use crate::data::Error;
use crate::statistics::{deviation, mean, paired};

const SEEDS: u64 = 20;

/// The methods, the controls beside them.
const METHODS: [Preset; 6] = [
    Preset::LocalScaling,
    Preset::Paper,
    Preset::ThresholdControl,
    Preset::Robust,
    Preset::RobustMean,
    Preset::CertainControl,
];

/// One column of the experiment: a set of points for each seed, and the k of the first scales.
struct Cell {
    name: String,
    k: usize,
    n_clusters: usize,
    make: Box<dyn Fn(u64) -> Result<LabeledPoints> + Sync>,
}

fn spirals(seed: u64) -> Result<LabeledPoints> {
    two_spirals(300, SpiralDensity::UniformAngle, seed)
}

fn cells() -> Vec<(&'static str, Vec<Cell>)> {
    let cell = |name: String, k, n_clusters, make| Cell { name, k, n_clusters, make };
    let clean = vec![
        cell(
            "two spirals (300)".into(),
            7,
            2,
            Box::new(spirals) as Box<dyn Fn(u64) -> Result<LabeledPoints> + Sync>,
        ),
        cell("pinwheel (500)".into(), 7, 5, Box::new(|seed| pinwheel(500, seed))),
    ];
    let noise = [0.1, 0.2, 0.4]
        .into_iter()
        .flat_map(|sigma| [0.25, 0.5, 1.0].map(|share| (sigma, share)))
        .map(|(sigma, share)| {
            let name = format!("σ = {sigma} on {:.0} %", 100.0 * share);
            cell(name, 7, 2, Box::new(move |seed| add_noise(&spirals(seed)?, sigma, share, seed)))
        })
        .collect();
    let neighbors = (5..=15).map(|k| cell(format!("k = {k}"), k, 2, Box::new(spirals))).collect();
    vec![
        ("Shapes", clean),
        ("Two spirals with Gaussian noise", noise),
        ("Two spirals, first scales from the k-th neighbour", neighbors),
    ]
}

/// NMI, and whether every edge got the least probability.
fn score(cell: &Cell, preset: Preset, seed: u64) -> Result<(f64, bool)> {
    let run = Run::new(seed);
    let data = (cell.make)(seed)?;
    let prepared = prepare(data.points.values(), 2, &PreparationParams::default(), &run)?;
    let space = Space::from_points(prepared.points, Metric::Euclidean)?;
    let mut params = preset.params();
    params.first_scale = FirstScale::KthNeighbor(cell.k);
    let robust = robust_graph(&space, &params.check()?, &run)?;
    let clustering = spectral_clustering(&robust.graph, &ClusterParams::exactly(cell.n_clusters), &run)?;
    let labels = robust.duplicates.restore(&clustering.labels);
    Ok((nmi(&data.labels, &labels)?, robust.stochastic.has_flat_decay()))
}

/// Twenty seeds can flatter: the quick methods once more on others.
fn other_seeds() -> Result<()> {
    let quick = [
        Preset::LocalScaling,
        Preset::ThresholdControl,
        Preset::Robust,
        Preset::RobustMean,
        Preset::CertainControl,
    ];
    println!("\n### The same on 60 other seeds (1000 to 1059)\n");
    println!("Twenty seeds can flatter. Without `paper`, which is slow.\n");
    println!("| | {} |", quick.map(Preset::name).join(" | "));
    println!("|---|{}", "---|".repeat(quick.len()));
    for (_, cells) in cells().into_iter().take(2) {
        for cell in cells {
            eprintln!("other seeds: {}", cell.name);
            let mut row = format!("| {} |", cell.name);
            for preset in quick {
                let scores: Vec<f64> = (1000..1060u64)
                    .into_par_iter()
                    .map(|seed| score(&cell, preset, seed).map(|s| s.0))
                    .collect::<Result<_>>()?;
                row += &format!(" {:.2} ± {:.2} |", mean(&scores), deviation(&scores));
            }
            println!("{row}");
        }
    }
    Ok(())
}

/// The part of the results about clustering.
pub fn print() -> std::result::Result<(), Error> {
    println!("## Clustering of synthetic points\n");
    println!(
        "NMI of spectral clustering with the true number of clusters, mean ± standard deviation over the {SEEDS} fixed \
         seeds 0 to {}. Columns are z-scored. `threshold-control` is `paper` without any quantile (affinities above \
         the threshold, averaged distances); `certain-control` is `robust` with p = 1 on every edge. \
         Parameters: `Preset::params()` in `crates/taugraph/src/params.rs`.",
        SEEDS - 1
    );
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); METHODS.len()];
    let mut seconds = vec![0.0; METHODS.len()];
    let mut flat = (0, 0);
    for (title, cells) in cells() {
        println!("\n### {title}\n");
        println!("| | {} |", METHODS.map(Preset::name).join(" | "));
        println!("|---|{}", "---|".repeat(METHODS.len()));
        for cell in cells {
            eprintln!("{title}: {}", cell.name);
            let mut row = format!("| {} |", cell.name);
            for (method, preset) in METHODS.into_iter().enumerate() {
                let start = Instant::now();
                let scores: Vec<(f64, bool)> = (0..SEEDS)
                    .into_par_iter()
                    .map(|seed| score(&cell, preset, seed))
                    .collect::<Result<_>>()?;
                seconds[method] += start.elapsed().as_secs_f64();
                if preset == Preset::Paper {
                    flat = (flat.0 + scores.iter().filter(|s| s.1).count(), flat.1 + scores.len());
                }
                let scores: Vec<f64> = scores.into_iter().map(|s| s.0).collect();
                row += &format!(" {:.2} ± {:.2} |", mean(&scores), deviation(&scores));
                all[method].extend(scores);
            }
            println!("{row}");
        }
    }
    other_seeds()?;
    println!("\n### What each step adds\n");
    println!(
        "Paired over all cells and seeds above ({} runs each); ± is the standard error.\n",
        all[0].len()
    );
    println!("| comparison | mean difference | wins / ties / losses |\n|---|---|---|");
    let of = |preset: Preset| &all[METHODS.iter().position(|&m| m == preset).expect("it is listed")];
    for (a, b) in [
        (Preset::Robust, Preset::CertainControl),
        (Preset::RobustMean, Preset::CertainControl),
        (Preset::Robust, Preset::RobustMean),
        (Preset::Robust, Preset::LocalScaling),
        (Preset::Paper, Preset::ThresholdControl),
        (Preset::Paper, Preset::LocalScaling),
        (Preset::Robust, Preset::Paper),
    ] {
        println!("| `{}` − `{}` | {}", a.name(), b.name(), paired(of(a), of(b), 3));
    }
    println!(
        "\nIn {} of the {} runs of `paper` the decay was flat: every edge got probability δ, so that its quantiles told \
         no edge from another and what remained was the threshold.",
        flat.0, flat.1
    );
    println!("\nTime for all {} runs of each method, relative to `local-scaling`:\n", all[0].len());
    for (preset, time) in METHODS.iter().zip(&seconds) {
        println!("- `{}`: {:.1} ×", preset.name(), time / seconds[0]);
    }
    Ok(())
}
