//! What `cluster` found: how many clusters, how sure that is, and what it is based on.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::cluster::{Evidence, Layer, MethodChoice, Stability};
use taugraph::{ClusterMethod, FittedClusters};

use super::{Report, grouped, listed};
use crate::results::labels_or_outlier;

/// From this adjusted Rand index on two clusterings agree.
const AGREE: f64 = 0.8;

impl Report<'_> {
    pub(super) fn add_clusters(&self, found: &FittedClusters, all: &mut Value) {
        let clustering = found.clustering();
        let embedding = clustering.embedding.as_ref();
        all["clusters"] = json!({
            "count": clustering.n_clusters(),
            "count_by_boundaries": count_json(found),
            "method": clustering.method.name(),
            "choice": clustering.choice.map(|choice| json!({
                "ratio": choice.ratio(),
                "modularity_agglomerated": choice.agglomerated.modularity,
                "modularity_spectral": choice.spectral.modularity,
                "chosen": clustering.method.name(),
            })),
            "layers": clustering.layers.iter().map(|layer| json!({
                "n_clusters": layer.labels.n_classes(),
                "resistance": layer.resistance,
                "evidence": Evidence::of_resistance(layer.resistance).name(),
            })).collect::<Vec<_>>(),
            "agreement_with_local_scaling": self.agreement,
            "n_outliers": n_outliers(found),
            "eigenvalues": clustering.eigengap.eigenvalues(),
            "gaps": clustering.eigengap.gaps(),
            "residuals": embedding.map(|embedding| &embedding.residuals),
            "solver": embedding.and_then(|embedding| embedding.info.solver),
            "confirmed": embedding.map(|embedding| embedding.info.confirmed),
            "components": clustering.n_components,
            "links": clustering.links.len(),
        });
        if let Some(explanations) = &self.explanations {
            all["clusters"]["explanations"] = explanations.json(&self.dataset.features);
        }
        all["labels"] = json!(labels_or_outlier(found));
        if let Some(stability) = found.stability_of_nodes() {
            all["stability"] = json!({
                "overall": stability.overall,
                "draws": stability.of_draws,
                "failed": stability.n_failed,
                "clusters": stability.of_clusters,
                "rows": found.stability(),
            });
        }
    }

    pub(super) fn write_clusters(&self, found: &FittedClusters, text: &mut String) -> std::fmt::Result {
        let k = found.n_clusters();
        let gap = found.eigengap().gaps().get(k.saturating_sub(1)).copied().unwrap_or(0.0);
        let how = match (self.settings.params.cluster.n_clusters, found.evidence()) {
            (Some(_), _) => String::new(),
            (None, Some(evidence)) => format!(": {evidence}"),
            (None, None) => format!(", found by the eigengap ({gap:.2} of 1)"),
        };
        writeln!(text, "clusters  {k}{how}")?;
        let clustering = found.clustering();
        writeln!(text, "method    {}", method_text(clustering.method, clustering.choice))?;
        if !clustering.layers.is_empty() {
            let layer = |layer: &Layer| {
                format!("{} clusters (resistance {:.1})", grouped(layer.labels.n_classes()), layer.resistance)
            };
            writeln!(text, "layers    {}", listed(clustering.layers.iter().map(layer)))?;
        }
        let mut sizes = vec![0usize; k];
        found.labels_without_outliers().into_iter().flatten().for_each(|label| sizes[label as usize] += 1);
        writeln!(text, "sizes     {}", listed(sizes.iter().map(|&size| grouped(size))))?;
        match n_outliers(found) {
            0 => {}
            n => writeln!(text, "outliers  {} of {} rows", grouped(n), grouped(found.labels().len()))?,
        }
        if let Some(stability) = found.stability_of_nodes() {
            writeln!(text, "stability {}", stability_text(stability))?;
        }
        if let Some(agreement) = self.agreement {
            let so = if agreement < AGREE { "they disagree, look at both" } else { "they agree" };
            writeln!(text, "compared  with plain local scaling {so} (adjusted Rand index {agreement:.2})")?;
        }
        if let Some(scores) = &self.scores {
            writeln!(text, "scores    {}", scores.text())?;
        }
        match &self.explanations {
            Some(explanations) if explanations.is_asked => explanations.write_text(self.dataset, text),
            _ => Ok(()),
        }
    }
}

fn n_outliers(found: &FittedClusters) -> usize {
    found.is_outlier().into_iter().filter(|is_outlier| *is_outlier).count()
}

fn count_json(found: &FittedClusters) -> Option<Value> {
    let count = found.clustering().count.as_ref()?;
    let alternatives = count.alternatives.iter();
    Some(json!({
        "n_clusters": count.n_clusters,
        "resistance": count.resistance,
        "evidence": count.evidence.name(),
        "sentence": found.evidence(),
        "alternatives": alternatives
            .map(|other| json!({ "n_clusters": other.n_clusters, "resistance": other.resistance }))
            .collect::<Vec<_>>(),
        "weakest_boundary": found.weakest_boundary(),
    }))
}

/// The method, and what the choice was based on if there was one.
fn method_text(method: ClusterMethod, choice: Option<MethodChoice>) -> String {
    let Some(choice) = choice else { return method.name().into() };
    let why = match method {
        ClusterMethod::Agglomerate => "it is clearly better",
        _ => "agglomeration is not clearly better",
    };
    format!(
        "{}, because {why} (normalized cut r = {:.2} of the spectral one, modularity Q = {:.3} agglomerated, {:.3} spectral)",
        method.name(),
        choice.ratio(),
        choice.agglomerated.modularity,
        choice.spectral.modularity
    )
}

fn stability_text(stability: &Stability) -> String {
    let unsure = stability.of_nodes.iter().filter(|&&share| share < 0.8).count();
    let failed = match stability.n_failed {
        0 => String::new(),
        n => format!(" ({n} more could not be clustered)"),
    };
    format!(
        "{:.3} over {} drawn graphs{failed}, {} nodes below 0.8; by cluster {}",
        stability.overall,
        stability.of_draws.len(),
        grouped(unsure),
        listed(stability.of_clusters.iter().map(|share| format!("{share:.2}")))
    )
}
