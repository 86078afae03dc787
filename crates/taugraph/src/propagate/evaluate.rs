//! How well labels spread from one example of each class: over random draws, or over all pairs of examples of two classes.

use super::{Examples, PropagateParams, Propagator, WalkInfo};
use crate::error::{Error, Result, require};
use crate::graph::SparseGraph;
use crate::labels::Labels;
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Draws of one trial before it is given up: each may put two classes on copies of one point.
const TRIES: u32 = 100;

/// Which examples are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// So many random draws of one row of each class.
    Random(usize),
    /// Every pair of rows of the two classes: the exact expectation.
    AllPairs,
}

/// What the trials gave. Rows without a label count as wrong, examples do not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Share of right labels in each trial.
    pub accuracies: Vec<f64>,
    /// The same, averaged over the classes.
    pub balanced: Vec<f64>,
    /// Share of the largest class: what a constant answer gets.
    pub majority: f64,
    /// How much of the kernel the greedy walk saw; `None` for the other rules.
    pub walk: Option<WalkInfo>,
}

/// Tries examples. `node_of_row` names the node of each row; copies share one.
pub fn evaluate(
    graph: &SparseGraph,
    node_of_row: &[u32],
    labels: &Labels,
    params: &PropagateParams,
    trials: Trials,
    run: &Run<'_>,
) -> Result<Evaluation> {
    let (n, n_classes) = (labels.len(), labels.n_classes());
    if node_of_row.len() != n {
        return Err(Error::Length { what: "labels", expected: node_of_row.len(), received: n });
    }
    let mut rows_of_class: Vec<Vec<u32>> = vec![Vec::new(); n_classes];
    labels.iter().enumerate().for_each(|(row, &label)| rows_of_class[label as usize].push(row as u32));
    if n_classes < 2 {
        return Err(Error::FewClasses { n_classes });
    }
    if let Some(class) = rows_of_class.iter().position(Vec::is_empty) {
        return Err(Error::NoExample { class });
    }
    let propagator = Propagator::new(graph, params, run)?;
    let choices = match trials {
        Trials::Random(trials) => random_choices(&rows_of_class, node_of_row, trials, run.seed)?,
        Trials::AllPairs => all_pairs(&rows_of_class, node_of_row)?,
    };
    let mut found = Evaluation {
        accuracies: Vec::with_capacity(choices.len()),
        balanced: Vec::with_capacity(choices.len()),
        majority: rows_of_class.iter().map(Vec::len).max().unwrap_or(0) as f64 / n as f64,
        walk: propagator.walk_info(),
    };
    run.stage("trials", Some(choices.len() as u64))?;
    for rows in &choices {
        let mut given = vec![None; graph.n_nodes()];
        for (class, &row) in rows.iter().enumerate() {
            given[node_of_row[row as usize] as usize] = Some(class as u32);
        }
        let examples = Examples::new(given, n_classes)?;
        let spread = propagator.propagate(&examples, run)?;
        let (mut right, mut all) = (vec![0.0; n_classes], vec![0.0; n_classes]);
        for (row, &label) in labels.iter().enumerate() {
            if !rows.contains(&(row as u32)) {
                all[label as usize] += 1.0;
                let is_right = spread.labels[node_of_row[row] as usize] == Some(label);
                right[label as usize] += f64::from(u8::from(is_right));
            }
        }
        found.accuracies.push(right.iter().sum::<f64>() / all.iter().sum::<f64>());
        let shares = right.iter().zip(&all).filter(|(_, all)| **all > 0.0).map(|(right, all)| right / all);
        found.balanced.push(shares.clone().sum::<f64>() / shares.count() as f64);
        run.progress.advance(1);
    }
    Ok(found)
}

fn are_distinct(rows: &[u32], node_of_row: &[u32]) -> bool {
    let mut nodes: Vec<u32> = rows.iter().map(|&row| node_of_row[row as usize]).collect();
    nodes.sort_unstable();
    nodes.windows(2).all(|pair| pair[0] != pair[1])
}

fn random_choices(
    rows_of_class: &[Vec<u32>],
    node_of_row: &[u32],
    trials: usize,
    seed: u64,
) -> Result<Vec<Vec<u32>>> {
    require((1..=1 << 20).contains(&trials), "trials", trials, "must be between 1 and 1048576")?;
    let stream = Stream::new(seed, Stage::Trials);
    let choose = |trial: usize| {
        let draw = |attempt: u32| {
            let mut draws = stream.at(trial as u32, attempt);
            rows_of_class.iter().map(|rows| rows[draws.below(rows.len())]).collect::<Vec<u32>>()
        };
        let fine = (0..TRIES).map(draw).find(|rows| are_distinct(rows, node_of_row));
        fine.ok_or(Error::Numerical { what: "drawing different points for different classes" })
    };
    (0..trials).map(choose).collect()
}

fn all_pairs(rows_of_class: &[Vec<u32>], node_of_row: &[u32]) -> Result<Vec<Vec<u32>>> {
    let [first, second] = rows_of_class else {
        let rule = "are tried for two classes only; use random trials";
        return Err(Error::Parameter { name: "all pairs", value: rows_of_class.len().to_string(), rule });
    };
    let pairs = first.iter().flat_map(|&a| second.iter().map(move |&b| vec![a, b]));
    Ok(pairs.filter(|rows| are_distinct(rows, node_of_row)).collect())
}
