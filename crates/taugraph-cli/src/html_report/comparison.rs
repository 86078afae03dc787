//! The same labels on graphs that know nothing of quantiles.

use taugraph::error::Error;
use taugraph::labels::Labels;
use taugraph::metrics::nmi;
use taugraph::params::{GraphParams, Preset};
use taugraph::progress::Run;
use taugraph::quantile::{Constant, Estimator};
use taugraph::robust::robust_graph;
use taugraph_report::Compared;

use super::Subject;
use crate::failure::{Failure, Outcome};
use crate::report::{grouped, is_missing};

/// Up to this many rows the run is repeated without the quantiles.
const MAX_COMPARED: usize = 50_000;
/// Up to this many rows local scaling is compared as it was proposed, over all pairs.
const MAX_ALL_PAIRS: usize = 2_000;
const MEANING: &str = "Agreement is NMI: 1 if the groups are the same, 0 if they have nothing in common. Where the quantiles change nothing, the \
                       points had no noise that they could tell apart.";

/// This result first, then the others.
#[derive(Default)]
pub struct Comparison {
    pub rows: Vec<Compared>,
    /// What the rows mean, or why there are none; empty where nothing could be compared.
    pub note: String,
}

impl Comparison {
    pub fn new(subject: &Subject<'_>, run: &Run<'_>) -> Outcome<Self> {
        let (Some((found, relabel)), Some(points)) = (subject.labels, subject.points) else {
            return Ok(Self::default());
        };
        if found.len() > MAX_COMPARED {
            let note = format!(
                "Not compared: that takes the time of another run. Up to {} rows it is done for every report.",
                grouped(MAX_COMPARED)
            );
            return Ok(Self { rows: Vec::new(), note });
        }
        let truth = subject.truth();
        let own = &subject.report.settings.graph;
        let certain = GraphParams { estimator: Estimator::Constant(Constant), ..own.clone() };
        let mut graphs = vec![("the same edges, every p = 1", certain)];
        if found.len() <= MAX_ALL_PAIRS && points.space.knows_all_pairs() {
            graphs.push(("plain local scaling, all pairs", Preset::LocalScaling.params()));
        }
        let score = |labels: &[Option<u32>]| truth.map(|truth| score_of(truth, labels)).transpose();
        let mut rows =
            vec![Compared { graph: "this graph".into(), agreement: 1.0, score: score(found)?.flatten() }];
        for (name, params) in graphs {
            let graph = match robust_graph(&points.space, &params.check()?, run) {
                // A set too small for a preset's neighborhoods is not compared with it.
                Err(Error::TooFewPoints { .. }) => continue,
                graph => graph?,
            };
            let labels = match relabel(&graph, run) {
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                // The other graph may be in components that cannot be clustered; the result itself stands.
                Err(_) => continue,
                Ok(labels) => labels,
            };
            let agreement = agreement(found, &labels)?;
            rows.push(Compared { graph: name.into(), agreement, score: score(&labels)?.flatten() });
        }
        Ok(Self { rows, note: MEANING.into() })
    }
}

/// NMI of two labelings, over the rows that have a label in both.
fn agreement(a: &[Option<u32>], b: &[Option<u32>]) -> Outcome<f64> {
    let both = a.iter().zip(b).filter_map(|(a, b)| a.zip(*b));
    let (a, b): (Vec<u32>, Vec<u32>) = both.unzip();
    Ok(if a.is_empty() { 0.0 } else { nmi(&a, &b)? })
}

fn score_of(truth: &[String], labels: &[Option<u32>]) -> Outcome<Option<f64>> {
    let both = truth.iter().zip(labels).filter(|(truth, _)| !is_missing(truth));
    let (truth, labels): (Vec<&String>, Vec<u32>) =
        both.filter_map(|(truth, label)| label.map(|label| (truth, label))).unzip();
    if truth.is_empty() {
        return Ok(None);
    }
    Ok(Some(nmi(&Labels::from_names(&truth).0, &labels)?))
}
