//! Every stage of every fit ends when it is asked to.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use taugraph::baselines::{ConsensusParams, consensus_clustering};
use taugraph::error::{Error, Result};
use taugraph::generators::{LabeledPoints, uneven_blobs};
use taugraph::progress::{Progress, Run};
use taugraph::propagate::Rule;
use taugraph::{
    Baseline, Config, GivenLabels, LabelPropagation, SpectralClustering, SpectralEmbedding, Table,
};

/// Cancels when the stage of that name begins, and notes the names of all.
#[derive(Default)]
struct Listener {
    cancels_at: Option<String>,
    is_canceled: AtomicBool,
    stages: Mutex<Vec<String>>,
}

impl Progress for Listener {
    fn stage(&self, name: &str, _: Option<u64>) {
        self.stages.lock().unwrap().push(name.into());
        if self.cancels_at.as_deref() == Some(name) {
            self.is_canceled.store(true, Ordering::Relaxed);
        }
    }

    fn canceled(&self) -> bool {
        self.is_canceled.load(Ordering::Relaxed)
    }
}

/// Cancels the work at each of its stages; returns their names.
fn stages_that_end(what: &str, work: impl Fn(&Run<'_>) -> Result<()>) -> Vec<String> {
    let all = Listener::default();
    work(&Run::new(0).with_progress(&all)).unwrap();
    let mut names = all.stages.into_inner().unwrap();
    names.sort();
    names.dedup();
    for name in &names {
        let listener = Listener { cancels_at: Some(name.clone()), ..Listener::default() };
        let ended = work(&Run::new(0).with_progress(&listener));
        assert_eq!(ended, Err(Error::Canceled), "{what}, {name}");
        let last = listener.stages.into_inner().unwrap().pop();
        assert_eq!(last.as_ref(), Some(name), "{what}: a stage began after the run was canceled");
    }
    names
}

fn table(points: &LabeledPoints) -> Table<'static> {
    Table::new(points.points.values().to_vec(), points.points.n_columns()).unwrap()
}

/// The class of the first row of each.
fn first_rows(points: &LabeledPoints) -> GivenLabels {
    let n_classes = points.labels.n_classes();
    let mut is_known = vec![false; n_classes];
    let of_rows = points.labels.iter().map(|&id| {
        let is_first = !std::mem::replace(&mut is_known[id as usize], true);
        is_first.then_some(id)
    });
    GivenLabels::from_ids(of_rows.collect(), n_classes)
}

#[test]
fn every_stage_ends_when_it_is_asked_to() {
    let points = uneven_blobs(400, 7, 3, 1).unwrap();
    let cluster = |settings: &[(&str, serde_json::Value)]| {
        let mut config = Config::default();
        for (path, value) in settings {
            config.set(path, value.clone()).unwrap();
        }
        let fitting = SpectralClustering::with_config(config);
        stages_that_end(&format!("{settings:?}"), |run| fitting.fit_with(table(&points), run).map(drop))
    };
    let mut seen: Vec<String> = Vec::new();
    seen.extend(cluster(&[]));
    seen.extend(cluster(&[("cluster.n_clusters", 3.into()), ("cluster.method", "spectral".into())]));
    seen.extend(cluster(&[("cluster.stability", 2.into())]));
    seen.extend(cluster(&[("preparation.pca", 3.into())]));
    seen.extend(cluster(&[("preset", "local-scaling".into())]));
    seen.extend(cluster(&[("preset", "paper".into())]));
    for name in Baseline::NAMES {
        let (baseline, config) = (Baseline::named(name).unwrap(), Config::default());
        seen.extend(stages_that_end(name, |run| baseline.fit(table(&points), &config, run).map(drop)));
    }
    let embedding = SpectralEmbedding::new().n_components(2);
    seen.extend(stages_that_end("embedding", |run| embedding.fit_with(table(&points), run).map(drop)));
    let given = first_rows(&points);
    for rule in [Rule::Harmonic, Rule::Poisson, Rule::GreedyWalk { max_walk: 5, pairs: None }] {
        let fitting = LabelPropagation::new().rule(rule);
        let fit = |run: &Run<'_>| fitting.fit_with(table(&points), &given, run).map(drop);
        seen.extend(stages_that_end(&format!("{rule:?}"), fit));
    }
    let votes = ConsensusParams { clusters: vec![3, 4], ..ConsensusParams::default() };
    seen.extend(stages_that_end("consensus", |run| {
        consensus_clustering(&points.points, &votes, run).map(drop)
    }));
    seen.sort();
    seen.dedup();
    // So that a stage that is no longer announced is missed.
    for name in ["neighbors", "eigenpairs", "k-means", "merging", "micro-communities", "paths", "stability"] {
        assert!(seen.iter().any(|stage| stage == name), "{name} is not in {seen:?}");
    }
}
