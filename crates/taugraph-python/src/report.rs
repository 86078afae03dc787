//! The HTML report of a fit: the same as the command line's.

use pyo3::prelude::*;
use taugraph::Input;
use taugraph_report::{Found, Report, Sample, Subject, html};

use crate::clusters::PyFittedClusters;
use crate::errors::checked;
use crate::graph::PyFittedGraph;
use crate::input::PyInput;
use crate::labels::PyFittedLabels;
use crate::running::{RunArgs, run};

/// The fits that have a report.
#[derive(FromPyObject)]
pub enum Fitted<'py> {
    Clusters(PyRef<'py, PyFittedClusters>),
    Labels(PyRef<'py, PyFittedLabels>),
    Graph(PyRef<'py, PyFittedGraph>),
}

/// What the front end says about a fit: its name, the call that repeats it, and the parameters as JSON.
#[derive(FromPyObject)]
pub struct About(String, String, String);

/// One HTML file. `input` has the columns to show, `known` the true labels, if there are any.
#[pyfunction]
#[pyo3(signature = (fitted, about, run_args, input=None, ids=None, known=None))]
pub fn report(
    py: Python<'_>,
    fitted: Fitted<'_>,
    about: About,
    run_args: RunArgs,
    input: Option<&PyInput>,
    ids: Option<Vec<String>>,
    known: Option<Vec<String>>,
) -> PyResult<String> {
    let About(name, command, settings) = about;
    let (found, graph, warnings) = match &fitted {
        Fitted::Clusters(fitted) => {
            let clusters = fitted.clusters();
            (Found::Clusters(clusters), clusters.graph(), clusters.warnings())
        }
        Fitted::Labels(fitted) => {
            let labels = fitted.found();
            (Found::Labels(labels, fitted.given()), labels.graph(), labels.warnings())
        }
        Fitted::Graph(fitted) => (Found::Graph(fitted.fitted()), fitted.fitted(), fitted.fitted().warnings()),
    };
    let seed = graph.config().seed;
    let sample = match input {
        None => Sample::new(graph.n_rows(), None, seed),
        Some(input) => input.lend(py, |lent| {
            let input = checked(py, lent.input())?;
            let Input::Points(table) = &input else { return Ok(Sample::new(graph.n_rows(), None, seed)) };
            let counted = || (0..table.n_columns()).map(|column| format!("x{column}")).collect();
            let names = table.names().map_or_else(counted, <[String]>::to_vec);
            Ok(Sample::new(table.n_rows(), Some((table.values(), &names)), seed))
        })?,
    };
    let nodes = graph.node_graph();
    let subject = Subject {
        name: &name,
        found,
        sample,
        ids: ids.as_deref(),
        known_labels: known.as_deref(),
        summary: format!("{} rows, {} nodes, {} edges\n", graph.n_rows(), nodes.n_nodes(), nodes.n_edges()),
        command,
        warnings: warnings.iter().map(ToString::to_string).collect(),
        stages: Vec::new(),
        settings: serde_json::from_str(&settings).unwrap_or_default(),
        peak_memory: None,
    };
    let shown = run(py, &run_args, |run| Report::new(&subject, &run.with_seed(seed)))?;
    Ok(html(&shown))
}
