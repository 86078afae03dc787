//! The experiment: three kinds of graphs on the same points, for one seed and over many.

use taugraph::generators::{LabeledPoints, SpiralDensity, add_noise, two_spirals};
use taugraph::metrics::nmi;
use taugraph::params::Preset;
use taugraph::progress::Run;
use taugraph::robust::NodeGraph;
use taugraph::{FittedClusters, SpectralClustering};

use super::{NOISE, POINTS, SEEDS};
use crate::failure::{Failure, Outcome};

/// What was found.
pub struct Experiment {
    pub seed: u64,
    /// The points of this seed.
    pub data: LabeledPoints,
    pub(super) plain: Attempt,
    pub(super) robust: Attempt,
    pub(super) rows: [Row; 3],
}

/// Agreement with the truth of one kind of graph.
pub(super) struct Row {
    pub name: &'static str,
    pub nmi: f64,
    pub of_seeds: Vec<f64>,
}

/// One preset on one set of points.
pub(super) struct Attempt {
    pub found: FittedClusters,
    pub nmi: f64,
}

impl Experiment {
    /// Does it, with the seed of the run.
    pub fn new(run: &Run<'_>) -> Outcome<Self> {
        let data = noisy_spirals(run.seed)?;
        let plain = Attempt::new(&data, Preset::LocalScaling, run)?;
        let robust = Attempt::new(&data, Preset::Robust, run)?;
        let control = Attempt::new(&data, Preset::ConstantControl, run)?;
        let row = |name, nmi, preset: Preset| {
            let of_seed = |seed| Ok(Attempt::new(&noisy_spirals(seed)?, preset, &run.with_seed(seed))?.nmi);
            let of_seeds = (0..SEEDS).map(of_seed).collect::<Outcome<Vec<f64>>>()?;
            Outcome::Ok(Row { name, nmi, of_seeds })
        };
        let rows = [
            row("local scaling", plain.nmi, Preset::LocalScaling)?,
            row("the same sparse graph, p = 1", control.nmi, Preset::ConstantControl)?,
            row("robust graph", robust.nmi, Preset::Robust)?,
        ];
        Ok(Self { seed: run.seed, data, plain, robust, rows })
    }

    /// The robust graph of this seed.
    pub(super) fn graph(&self) -> Outcome<&NodeGraph> {
        let part = self.robust.found.graph().robust();
        part.map(|part| &part.nodes)
            .ok_or_else(|| Failure::Computation("the demo makes its own graph".into()))
    }
}

impl Attempt {
    fn new(data: &LabeledPoints, preset: Preset, run: &Run<'_>) -> Outcome<Self> {
        let found = SpectralClustering::new().preset(preset).n_clusters(2).fit_with(data, run)?;
        let nmi = nmi(&data.labels, found.labels())?;
        Ok(Self { found, nmi })
    }
}

fn noisy_spirals(seed: u64) -> Outcome<LabeledPoints> {
    let clean = two_spirals(POINTS, SpiralDensity::UniformAngle, seed)?;
    Ok(add_noise(&clean, NOISE, 1.0, seed)?)
}
