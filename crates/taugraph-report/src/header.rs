//! The top of the page: the title and the key figures.

use std::path::Path;

use taugraph::Result;
use taugraph::neighbors::Space;

use crate::scores::Scores;
use crate::subject::{Found, Subject};
use crate::words::grouped;

pub fn title(subject: &Subject<'_>) -> String {
    let name = Path::new(subject.name).file_name().map_or(subject.name.into(), |name| name.to_string_lossy());
    match subject.found {
        Found::Graph(_) => format!("{name}: the graph"),
        Found::Clusters(clusters) => format!("{name}: {} clusters", clusters.n_clusters()),
        Found::Labels(labels, _) => format!("{name}: labels from {} classes", labels.classes().len()),
    }
}

/// Name and value of each key figure.
pub fn facts(subject: &Subject<'_>) -> Result<Vec<(&'static str, String)>> {
    let graph = subject.graph();
    let mut facts = vec![("rows", grouped(graph.n_rows()))];
    if let Some(part) = graph.robust() {
        let n_columns = match (&part.preparation, part.space()) {
            (Some(done), _) => Some(done.names.len()),
            (None, Some(Space::Sparse(space))) => Some(space.points().n_columns()),
            _ => None,
        };
        facts.extend(n_columns.map(|count| ("columns", grouped(count))));
    }
    facts.push(("nodes", grouped(graph.node_graph().n_nodes())));
    facts.push(("edges", grouped(graph.node_graph().n_edges())));
    if let Some(part) = graph.robust() {
        facts.push(("components", grouped(part.nodes.components.len())));
    }
    if let Some(clusters) = subject.clusters() {
        facts.push(("clusters", grouped(clusters.n_clusters())));
        if let Some(stability) = clusters.stability_of_nodes() {
            facts.push(("stability", format!("{:.3}", stability.overall)));
        }
    }
    if let Some((labels, given)) = subject.labels() {
        let count = |of_rows: &[Option<u32>]| of_rows.iter().flatten().count();
        let found = count(labels.labels());
        facts.push(("given labels", grouped(count(given.of_rows()))));
        facts.push(("labeled rows", grouped(found)));
        facts.push(("abstentions", grouped(labels.labels().len() - found)));
    }
    if let (Some(truth), Some(groups)) = (subject.truth(), subject.groups())
        && let Some(scores) = Scores::new(&truth, &groups.of_rows)?
    {
        facts.push(("NMI", format!("{:.3}", scores.nmi)));
        facts.push(("ARI", format!("{:.3}", scores.ari)));
    }
    if !subject.stages.is_empty() {
        let seconds: f64 = subject.stages.iter().map(|(_, seconds, _)| seconds).sum();
        facts.push(("time", format!("{seconds:.1} s")));
    }
    if let Some(bytes) = subject.peak_memory {
        facts.push(("memory", format!("{:.0} MB", bytes as f64 / 1e6)));
    }
    facts.push(("seed", graph.config().seed.to_string()));
    Ok(facts)
}
