//! A run described: for people as text, for machines as JSON.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use taugraph::cluster::{ClusterCount, Clustering, Stability};
use taugraph::distance::Metric;
use taugraph::graph::Changes;
use taugraph::labels::Labels;
use taugraph::metrics::{ami, ari, balanced_accuracy, match_labels, matched_accuracy, nmi};
use taugraph::params::Preset;
use taugraph::points::PreparationParams;
use taugraph::quantile::StopReason;

use taugraph_io::Output;

use crate::args::RunArgs;
use crate::dataset::Dataset;
use crate::failure::Outcome;
use crate::features::prepared_row;
use crate::pipeline::{Built, Robust};
use crate::progress::{StageCost, peak_memory, total_seconds};
use crate::settings::Settings;

/// The program itself, before it has read anything; measured as 5 MB.
const PROGRAM_BYTES: u64 = 5 << 20;

/// Agreement of two labelings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    pub nmi: f64,
    pub ari: f64,
    pub ami: f64,
    /// Under the best matching of clusters to classes.
    pub accuracy: f64,
    /// The same, averaged over the classes.
    pub balanced_accuracy: f64,
    /// Rows with a label in both.
    pub n_rows: usize,
}

impl Scores {
    /// Scores found labels against true ones; rows without a true label do not count.
    pub fn new(truth: &[String], found: &[u32]) -> Outcome<Option<Self>> {
        let labeled = truth.iter().zip(found).filter(|(label, _)| !is_missing(label));
        let (truth, found): (Vec<&String>, Vec<u32>) = labeled.map(|(label, &found)| (label, found)).unzip();
        if truth.is_empty() {
            return Ok(None);
        }
        let (truth, _) = Labels::from_names(&truth);
        let matched = match_labels(&truth, &found)?;
        Ok(Some(Self {
            nmi: nmi(&truth, &found)?,
            ari: ari(&truth, &found)?,
            ami: ami(&truth, &found)?,
            accuracy: matched_accuracy(&truth, &found)?,
            balanced_accuracy: balanced_accuracy(&truth, &matched)?,
            n_rows: truth.len(),
        }))
    }

    /// Name and value of each score.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("nmi", self.nmi),
            ("ari", self.ari),
            ("ami", self.ami),
            ("accuracy", self.accuracy),
            ("balanced_accuracy", self.balanced_accuracy),
        ]
    }

    pub fn json(&self) -> Value {
        let mut scores: serde_json::Map<String, Value> =
            self.named().into_iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        scores.insert("rows".into(), json!(self.n_rows));
        Value::Object(scores)
    }
}

/// A cell that holds no label.
pub fn is_missing(label: &str) -> bool {
    taugraph_io::is_missing(label.trim().as_bytes())
}

/// Everything that a report is made of.
pub struct Report<'a> {
    pub command: &'a str,
    pub settings: &'a Settings,
    pub dataset: &'a Dataset,
    pub built: &'a Built,
    pub clusters: Option<Clusters<'a>>,
    /// What each stage took.
    pub stages: &'a [StageCost],
}

/// The clustering, if there is one.
pub struct Clusters<'a> {
    pub clustering: &'a Clustering,
    pub stability: Option<&'a Stability>,
    /// Label of each row.
    pub labels: &'a [u32],
    pub scores: Option<Scores>,
}

impl Report<'_> {
    /// Writes the JSON, with one more section if there is one, and prints the summary with what follows it.
    pub fn publish(&self, section: Option<(&str, Value)>, more: &str, args: &RunArgs) -> Outcome<()> {
        if let Some(path) = &args.json {
            let mut json = self.json();
            if let Some((name, value)) = section {
                json[name] = value;
            }
            write_json(&json, path)?;
        }
        if !args.quiet {
            say(&format!("{}{more}", self.text()));
        }
        Ok(())
    }

    /// What the user should know about, in plain words with what to do.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        self.warn_of_input(&mut warnings);
        let Changes { n_loops, n_asymmetric } = self.dataset.changes;
        if n_loops > 0 {
            warnings.push(format!("{n_loops} entries on the diagonal of the graph were left out"));
        }
        if n_asymmetric > 0 {
            warnings.push(format!(
                "{n_asymmetric} pairs of the graph had two different entries; both have one now"
            ));
        }
        if let Some(robust) = self.built.robust() {
            self.warn_of_graph(robust, &mut warnings);
        }
        if let Some(clusters) = &self.clusters {
            let clustering = clusters.clustering;
            if !clustering.links.is_empty() {
                warnings.push(format!(
                    "the graph came in {} pieces, which were joined by weak links; --pieces separately clusters each",
                    clustering.n_components
                ));
            }
            let is_unsure = |info: &taugraph::spectral::EigenInfo| !info.confirmed;
            if clustering.embedding.as_ref().is_some_and(|embedding| is_unsure(&embedding.info)) {
                warnings.push(
                    "the eigensolver could not make sure that it missed no eigenvalue; ask for fewer clusters".into(),
                );
            }
        }
        warnings
    }

    fn warn_of_input(&self, warnings: &mut Vec<String>) {
        let of_table = self.built.robust().is_some_and(|robust| robust.preparation.is_some());
        let of_points = of_table || self.dataset.sparse.is_some();
        let prepares = self.settings.preparation() != PreparationParams::default();
        if !of_points && (prepares || self.settings.metric() != Metric::default()) {
            warnings.push("preparation and metric have no effect on a given graph or given distances".into());
        }
        if self.built.robust().is_none() && self.settings.graph != Preset::default().params() {
            warnings.push("the parameters of the graph have no effect on a given graph".into());
        }
        let is_label = |name: &&String| {
            ["label", "labels", "class", "cluster", "target", "y"].contains(&name.to_lowercase().as_str())
        };
        if let (true, Some(name)) = (of_table, self.dataset.features.iter().find(is_label)) {
            warnings.push(format!(
                "'{name}' is used as a feature; --label-column {name} or --drop {name} keeps it out"
            ));
        }
        let scored = self.clusters.as_ref().and_then(|clusters| clusters.scores);
        if let (Some(labels), Some(scores)) = (&self.dataset.labels, scored)
            && scores.n_rows < labels.len()
        {
            let without = grouped(labels.len() - scores.n_rows);
            warnings.push(format!("{without} rows without a label do not count in the scores"));
        }
    }

    fn warn_of_graph(&self, robust: &Robust, warnings: &mut Vec<String>) {
        if let Some(prepared) = &robust.preparation {
            for (what, names) in [("constant", &prepared.constant), ("empty", &prepared.empty)] {
                if !names.is_empty() {
                    warnings.push(format!("left out, because {what}: {}", listed(names)));
                }
            }
            if prepared.n_imputed > 0 {
                let columns = prepared.kept.iter().filter(|column| column.n_missing > 0);
                let names: Vec<String> =
                    columns.map(|column| self.dataset.features[column.column].clone()).collect();
                warnings.push(format!(
                    "{} missing cells were filled with the median of their column: {}",
                    prepared.n_imputed,
                    listed(&names)
                ));
            }
        }
        let graph = &robust.graph;
        if graph.stochastic.has_flat_decay() {
            let advice = match self.settings.graph.estimator {
                taugraph::quantile::Estimator::AutoEncoder(_)
                | taugraph::quantile::Estimator::Factorization(_) => "lower --rank",
                _ => "raise --threshold, or use --preset robust",
            };
            warnings.push(format!("the decay is flat: every edge has the same probability; {advice}"));
        }
        let cut_short =
            graph.training.iter().filter(|training| training.stop == StopReason::IterationLimit).count();
        if cut_short > 0 {
            warnings.push(format!(
                "{cut_short} of {} models were still improving when --epochs ended their training",
                graph.training.len()
            ));
        }
        if !graph.links.is_empty() {
            warnings.push(format!(
                "the graph fell into {} pieces, which were joined by weak links; more --neighbors join them better",
                graph.components.len()
            ));
        } else if graph.components.len() > 1 {
            warnings.push(format!("the graph is in {} pieces", graph.components.len()));
        }
    }

    /// A few lines for a terminal, without colour.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let dataset = self.dataset;
        match (dataset.features.len(), dataset.sparse) {
            (_, Some(size)) => writeln!(
                text,
                "{}: {} rows, {} columns, {} entries, {} distance",
                dataset.name,
                grouped(dataset.n_rows),
                grouped(size.n_columns),
                grouped(size.n_entries),
                self.settings.metric().name()
            )?,
            (0, None) => writeln!(text, "{}: {} nodes", dataset.name, grouped(dataset.n_rows))?,
            (d, None) => {
                let place = if dataset.is_on_disk { " (on disk)" } else { "" };
                let (name, rows) = (&dataset.name, grouped(dataset.n_rows));
                writeln!(text, "{name}: {rows} rows, {} features{place}", grouped(d))?
            }
        }
        let graph = self.built.graph();
        write!(text, "graph     {} nodes, {} edges", grouped(graph.n_nodes()), grouped(graph.n_edges()))?;
        match self.built.robust() {
            None => writeln!(text, " (given)")?,
            Some(robust) => {
                let components = robust.graph.components.len();
                let pieces = if components == 1 { "component" } else { "components" };
                write!(text, ", {} {pieces}, preset {}", grouped(components), self.settings.preset)?;
                let copies = robust.graph.duplicates.n_copies();
                if copies > 0 {
                    write!(text, ", {} duplicate rows share a node", grouped(copies))?;
                }
                let decay = robust.graph.stochastic.decay();
                let counts: Vec<usize> = decay.iter().map(|(_, count)| *count).collect();
                if let ([first, ..], [.., last]) = (decay, decay) {
                    writeln!(
                        text,
                        "\ndecay     {}  {} edges at tau {}, {} at {}",
                        sparkline(&counts),
                        grouped(first.1),
                        first.0,
                        grouped(last.1),
                        last.0
                    )?;
                }
                if robust.graph.search.sample > 0 {
                    writeln!(
                        text,
                        "search    {:.1} % of the true neighbours found, measured on {} points",
                        100.0 * robust.graph.search.recall,
                        robust.graph.search.sample
                    )?;
                }
                if let Some(share) = robust.preparation.as_ref().and_then(|prepared| prepared.pca_share) {
                    writeln!(text, "pca       {:.1} % of the variance kept", 100.0 * share)?;
                }
            }
        }
        if let Some(clusters) = &self.clusters {
            self.write_clusters(clusters, text)?;
        }
        writeln!(text, "time      {:.2} s", total_seconds(self.stages))?;
        for warning in self.warnings() {
            writeln!(text, "note      {warning}")?;
        }
        Ok(())
    }

    fn write_clusters(&self, clusters: &Clusters<'_>, text: &mut String) -> std::fmt::Result {
        let clustering = clusters.clustering;
        let k = clustering.n_clusters();
        let how = match self.settings.cluster.clusters {
            ClusterCount::Exactly(_) => String::new(),
            ClusterCount::Automatic { .. } => {
                let gap = clustering.eigengap.gaps().get(k.saturating_sub(1)).copied().unwrap_or(0.0);
                format!(", found by the eigengap ({gap:.2} of 1)")
            }
        };
        writeln!(text, "clusters  {k}{how}")?;
        let mut sizes = vec![0usize; k];
        clusters.labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let most = 12;
        let shown: Vec<String> = sizes.iter().take(most).map(|&size| grouped(size)).collect();
        let rest = if k > most { format!(" and {} more", k - most) } else { String::new() };
        writeln!(text, "sizes     {}{rest}", shown.join(", "))?;
        if let Some(stability) = clusters.stability {
            let unsure = stability.of_nodes.iter().filter(|&&share| share < 0.8).count();
            let of_rows = self.built.of_rows(&stability.of_nodes);
            let mut sums = vec![0.0; k];
            clusters.labels.iter().zip(&of_rows).for_each(|(&label, share)| sums[label as usize] += share);
            let means =
                sums.iter().zip(&sizes).map(|(sum, &size)| format!("{:.2}", sum / size.max(1) as f64));
            writeln!(
                text,
                "stability {:.3} over {} drawn graphs, {} nodes below 0.8; by cluster {}{rest}",
                stability.overall,
                stability.of_draws.len(),
                grouped(unsure),
                means.take(most).collect::<Vec<_>>().join(", ")
            )?;
        }
        if let Some(scores) = &clusters.scores {
            writeln!(
                text,
                "scores    NMI {:.3}, ARI {:.3}, AMI {:.3}, accuracy {:.3}, balanced {:.3}",
                scores.nmi, scores.ari, scores.ami, scores.accuracy, scores.balanced_accuracy
            )?;
        }
        Ok(())
    }

    /// Parameters, diagnostics and results. All but `seconds`, and where the features were, is the same whenever the run is repeated.
    pub fn json(&self) -> Value {
        let graph = self.built.graph();
        let mut all = json!({
            "taugraph": env!("CARGO_PKG_VERSION"),
            "command": self.command,
            "settings": self.settings,
            "input": {
                "name": self.dataset.name,
                "rows": self.dataset.n_rows,
                "features": self.dataset.features,
                "features_are_on": if self.dataset.is_on_disk { "disk" } else { "memory" },
            },
            "graph": { "nodes": graph.n_nodes(), "edges": graph.n_edges() },
            "warnings": self.warnings(),
            "seconds": self.stages,
        });
        if let Some(peak) = peak_memory() {
            all["memory"]["peak_bytes"] = json!(peak);
        }
        if let Some(size) = self.dataset.sparse {
            all["input"]["columns"] = json!(size.n_columns);
            all["input"]["entries"] = json!(size.n_entries);
        }
        if let Some(robust) = self.built.robust() {
            self.add_robust(robust, &mut all);
        }
        if let Some(clusters) = &self.clusters {
            let clustering = clusters.clustering;
            let found = clustering.embedding.as_ref();
            all["clusters"] = json!({
                "count": clustering.n_clusters(),
                "eigenvalues": clustering.eigengap.eigenvalues(),
                "gaps": clustering.eigengap.gaps(),
                "residuals": found.map(|embedding| &embedding.residuals),
                "solver": found.and_then(|embedding| embedding.info.solver),
                "confirmed": found.map(|embedding| embedding.info.confirmed),
                "pieces": clustering.n_components,
                "links": clustering.links.len(),
            });
            all["labels"] = json!(clusters.labels);
            if let Some(stability) = clusters.stability {
                all["stability"] = json!({
                    "overall": stability.overall,
                    "draws": stability.of_draws,
                    "rows": self.built.of_rows(&stability.of_nodes),
                });
            }
            if let Some(scores) = &clusters.scores {
                all["scores"] = scores.json();
            }
        }
        all
    }

    fn add_robust(&self, robust: &Robust, all: &mut Value) {
        let graph = &robust.graph;
        if let Some(prepared) = &robust.preparation {
            all["input"]["preparation"] = json!({
                "constant": prepared.constant,
                "empty": prepared.empty,
                "imputed_cells": prepared.n_imputed,
                "pca_share": prepared.pca_share,
                "columns": prepared.kept.iter().map(|column| json!({
                    "name": self.dataset.features[column.column],
                    "missing": column.n_missing,
                    "fill": column.fill,
                    "center": column.center,
                    "scale": column.scale,
                })).collect::<Vec<_>>(),
            });
        }
        if robust.preparation.is_some() {
            let n = self.dataset.n_rows;
            let row = prepared_row(self.dataset.features.len(), self.settings, self.dataset.is_on_disk);
            let (graph, cluster) = (&self.settings.graph, &self.settings.cluster);
            let estimate = match self.clusters {
                Some(_) => taugraph::cluster::whole_run_estimate(n, row, graph, cluster),
                None => taugraph::robust::memory_estimate(n, row, graph),
            };
            all["memory"]["estimated_bytes"] = json!(PROGRAM_BYTES + estimate.peak().1);
            all["memory"]["at_most_bytes"] = json!(PROGRAM_BYTES + estimate.most());
        }
        all["graph"]["duplicates"] = json!(graph.duplicates.n_copies());
        all["graph"]["search"] = json!(graph.search);
        all["graph"]["links_are_shortest"] = json!(graph.links_are_shortest);
        all["graph"]["candidates"] = json!(graph.stochastic.edges().len());
        all["graph"]["components"] = json!(graph.components.sizes());
        all["graph"]["links"] =
            json!(graph.links.iter().map(|link| json!([link.i, link.j, link.weight])).collect::<Vec<_>>());
        all["graph"]["decay"] = json!(
            graph
                .stochastic
                .decay()
                .iter()
                .map(|(tau, n)| json!({"tau": tau, "edges": n}))
                .collect::<Vec<_>>()
        );
        all["graph"]["flat_decay"] = json!(graph.stochastic.has_flat_decay());
        all["graph"]["crossing_rate"] = json!(graph.crossing_rate);
        all["graph"]["training"] = json!(
            graph
                .training
                .iter()
                .map(|training| json!({
                    "tau": training.tau,
                    "losses": training.losses,
                    "stop": training.stop,
                }))
                .collect::<Vec<_>>()
        );
        all["graph"]["first_scales"] = summary(graph.first_scales.values());
        all["graph"]["scales"] = summary(graph.scales.values());
    }
}

/// Smallest, median and largest.
fn summary(values: &[f64]) -> Value {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    json!({ "min": sorted[0], "median": sorted[sorted.len() / 2], "max": sorted[sorted.len() - 1] })
}

/// Writes to standard error; where that cannot be written there is nobody to tell.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

pub fn write_json(value: &Value, path: &Path) -> Outcome<()> {
    Ok(Output::new(path).write(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })?)
}

/// Heights of a few numbers, in one line.
pub fn sparkline(counts: &[usize]) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    counts.iter().map(|&count| BARS[(count * 8).div_ceil(most)]).collect()
}

/// The first names of a list, and how many more there are.
pub fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST { format!("{shown} and {} more", grouped(names.len() - MOST)) } else { shown }
}

/// Mean and standard deviation, as 0.97 ± 0.02.
pub fn mean_and_deviation(values: &[f64], digits: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    format!("{mean:.digits$} ± {:.digits$}", variance.sqrt())
}

/// 1234567 as 1,234,567.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_drawn() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(sparkline(&[8, 4, 1, 0]), "█▄▁ ");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0], 2), "2.00 ± 1.00");
        assert_eq!(mean_and_deviation(&[1.0], 1), "1.0 ± 0.0");
    }

    #[test]
    fn rows_without_a_label_do_not_count() {
        let truth = ["a", "", "b", "NA", "b"].map(String::from);
        let scores = Scores::new(&truth, &[1, 5, 0, 5, 0]).unwrap().unwrap();
        assert_eq!((scores.nmi, scores.accuracy, scores.n_rows), (1.0, 1.0, 3));
        assert_eq!(Scores::new(&["".to_string()], &[0]).unwrap(), None);
    }
}
