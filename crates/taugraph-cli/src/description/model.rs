//! A model: what it was made from and what it can give.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::model::{Model, VERSION};

use super::Description;
use crate::model_file::{classes_of, columns_of, origin_of};
use crate::report::{grouped, listed, some_of};

pub fn of_model(name: &str, model: &Model) -> Description {
    Description { text: model_text(name, model), json: model_json(model) }
}

/// For machines; without a name, because it is also a part of what `predict` says.
pub fn model_json(model: &Model) -> Value {
    let columns = columns_of(model);
    let pca = model.preparation().and_then(|rule| rule.pca());
    json!({
        "kind": "model",
        "version": VERSION,
        "origin": model.origin(),
        "metric": model.metric(),
        "graph": model.params(),
        "rows": model.n_rows(),
        "nodes": model.n_nodes(),
        "columns": columns,
        "used_columns": model.preparation().map(|rule| {
            rule.columns().iter().map(|column| columns[column.column].as_str()).collect::<Vec<_>>()
        }),
        "pca": pca.map(|pca| json!({ "components": pca.variances.len(), "share": pca.explained() })),
        "clusters": model.n_clusters(),
        "embedding": model.n_embedded(),
        "classes": classes_of(model),
        "max_novelty": model.max_novelty(),
    })
}

fn model_text(name: &str, model: &Model) -> String {
    let program = origin_of(model, "/program").unwrap_or("taugraph");
    let rows = grouped(model.n_rows());
    let mut text = format!("{name}: model of {program} (version {VERSION}), from {rows} rows");
    if let Some(command) = origin_of(model, "/command") {
        let _ = write!(text, " by taugraph {command}");
    }
    text.push('\n');
    let _ = write_model(model, &mut text);
    text
}

fn write_model(model: &Model, text: &mut String) -> std::fmt::Result {
    write!(text, "graph     {} nodes, ", grouped(model.n_nodes()))?;
    if let Some(preset) = origin_of(model, "/settings/params/preset") {
        write!(text, "preset {preset}, ")?;
    }
    writeln!(text, "{:?} distance", model.metric())?;
    let columns = columns_of(model);
    let used = model.preparation().map_or(columns.len(), |rule| rule.columns().len());
    writeln!(text, "columns   {used} of {} used: {}", columns.len(), some_of(&columns))?;
    if let Some(pca) = model.preparation().and_then(|rule| rule.pca()) {
        writeln!(
            text,
            "pca       {} components, {:.1} % of the variance",
            pca.variances.len(),
            100.0 * pca.explained()
        )?;
    }
    if let Some(clusters) = model.n_clusters() {
        let embedded = model.n_embedded().map_or("no embedding".into(), |d| format!("{d} coordinates"));
        writeln!(text, "clusters  {clusters}, {embedded}")?;
    }
    if model.n_classes().is_some() {
        writeln!(text, "labels    {}", listed(classes_of(model).into_iter()))?;
    }
    Ok(())
}
