//! How long a run may take to notice that it was canceled: the longest time between two questions, for each stage of many runs.
//!
//!     interrupts [CASE …]
//!
//! Every line it prints is `case stage seconds`. Times on a busy machine are longer; `make audit` runs it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use taugraph::baselines::{ConsensusParams, consensus_clustering};
use taugraph::generators::{LabeledPoints, uneven_blobs};
use taugraph::progress::{Progress, Run};
use taugraph::propagate::Rule;
use taugraph::{
    Baseline, Config, GivenLabels, LabelPropagation, SpectralClustering, SpectralEmbedding, Table,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Counts a question as heard whenever one is asked, and a stage as over when the next begins.
struct Listener {
    now: Mutex<(String, Instant)>,
    longest: Mutex<BTreeMap<String, f64>>,
}

impl Listener {
    fn new() -> Self {
        Self { now: Mutex::new(("start".into(), Instant::now())), longest: Mutex::default() }
    }

    /// Notes the time since the last question, and the stage that begins.
    fn heard(&self, next: Option<&str>) {
        let mut now = self.now.lock().expect("nobody panics");
        let seconds = now.1.elapsed().as_secs_f64();
        let mut longest = self.longest.lock().expect("nobody panics");
        let of_stage = longest.entry(now.0.clone()).or_default();
        *of_stage = of_stage.max(seconds);
        if let Some(stage) = next {
            now.0 = stage.into();
        }
        now.1 = Instant::now();
    }
}

impl Progress for Listener {
    fn stage(&self, name: &str, _: Option<u64>) {
        self.heard(Some(name));
    }

    fn canceled(&self) -> bool {
        self.heard(None);
        false
    }
}

/// The class of the first row of each.
fn few_labels(points: &LabeledPoints) -> GivenLabels {
    let n_classes = points.labels.n_classes();
    let mut is_known = vec![false; n_classes];
    let of_rows = points.labels.iter().map(|&id| {
        let is_first = !std::mem::replace(&mut is_known[id as usize], true);
        is_first.then_some(id)
    });
    GivenLabels::from_ids(of_rows.collect(), n_classes)
}

fn run_case(case: &str, run: &Run<'_>) -> Outcome {
    let blobs = |n, d, k| uneven_blobs(n, d, k, 1);
    let table =
        |points: &LabeledPoints| Table::new(points.points.values().to_vec(), points.points.n_columns());
    let cluster = |points: &LabeledPoints, settings: &[(&str, &str)]| -> Outcome {
        let mut config = Config::default();
        for (path, value) in settings {
            config.set(
                path,
                serde_json::from_str::<serde_json::Value>(value).unwrap_or_else(|_| (*value).into()),
            )?;
        }
        SpectralClustering::with_config(config).fit_with(table(points)?, run)?;
        Ok(())
    };
    match case {
        "clusters" => cluster(&blobs(200_000, 16, 20)?, &[]),
        "agglomeration" => cluster(&blobs(200_000, 4, 50)?, &[("cluster.method", "agglomerate")]),
        "eigenvectors" => {
            cluster(&blobs(100_000, 8, 30)?, &[("cluster.method", "spectral"), ("cluster.count", "eigengap")])
        }
        "stability" => cluster(&blobs(20_000, 12, 8)?, &[("cluster.stability", "5")]),
        "paper" => cluster(&blobs(1_500, 6, 4)?, &[("preset", "paper")]),
        "all-pairs" => cluster(&blobs(4_000, 6, 4)?, &[("preset", "local-scaling")]),
        "components" => cluster(&blobs(4_000, 1_500, 6)?, &[("preparation.pca", "20")]),
        "path-based" => {
            let config = Config::default();
            Baseline::RobustPathBased.fit(table(&blobs(5_000, 6, 4)?)?, &config, run)?;
            Ok(())
        }
        "consensus" => {
            consensus_clustering(&blobs(2_000, 6, 4)?.points, &ConsensusParams::default(), run)?;
            Ok(())
        }
        "embedding" => {
            SpectralEmbedding::new().n_components(10).fit_with(table(&blobs(100_000, 8, 20)?)?, run)?;
            Ok(())
        }
        "labels" => {
            let points = blobs(100_000, 16, 10)?;
            LabelPropagation::new().fit_with(table(&points)?, &few_labels(&points), run)?;
            Ok(())
        }
        "walk" => {
            let points = blobs(2_500, 6, 3)?;
            let fitted = LabelPropagation::new().rule(Rule::GreedyWalk { max_walk: 5, pairs: None });
            fitted.fit_with(table(&points)?, &few_labels(&points), run)?;
            Ok(())
        }
        _ => Err(format!("no case is called {case}").into()),
    }
}

const CASES: [&str; 12] = [
    "clusters",
    "agglomeration",
    "eigenvectors",
    "stability",
    "paper",
    "all-pairs",
    "components",
    "path-based",
    "consensus",
    "embedding",
    "labels",
    "walk",
];

fn main() -> Outcome {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let cases: Vec<&str> =
        if named.is_empty() { CASES.to_vec() } else { named.iter().map(String::as_str).collect() };
    for case in cases {
        let listener = Listener::new();
        // Making the points is not part of the run.
        run_case(case, &Run::new(0).with_progress(&listener))?;
        listener.heard(None);
        for (stage, seconds) in listener.longest.lock().expect("nobody panics").iter() {
            println!("{case} {} {seconds:.3}", stage.replace(' ', "-"));
        }
    }
    Ok(())
}
