//! How well labels spread from one labeled point per class: over random draws, or over all pairs of labeled points of two classes.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::all_pairs::harmonic_scores;
use super::reliability::{Counts, Reliability};
use super::{LabeledNodes, PropagateParams, Propagator, WalkInfo, without_weak_edges};
use crate::cluster::ClusterInput;
use crate::error::{Error, Result, require};
use crate::labels::Labels;
use crate::memory::{MemoryEstimate, refuse_if_over};
use crate::progress::Run;
use crate::random::{Stage, Stream};

/// Maximum number of draws per trial: a draw fails if it picks copies of one point for two classes.
const TRIES: u32 = 100;

/// Which labeled points are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// Random draws.
    Random {
        /// Number of draws.
        draws: usize,
        /// Labeled rows of each class; classes with no more rows than that keep one without a label, if they have two.
        per_class: usize,
    },
    /// Every pair of rows of the two classes: the exact expectation.
    AllPairs,
}

/// Results of the trials. Rows left without a label count as wrong; the labeled points themselves do not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Accuracy of each trial.
    pub accuracies: Vec<f64>,
    /// Balanced accuracy of each trial: the mean over the classes.
    pub balanced: Vec<f64>,
    /// Share of the largest class: the accuracy of a constant prediction.
    pub majority: f64,
    /// How reliable the probabilities of the rows without a given label are, over all trials; `None` for the closed form of all pairs.
    pub reliability: Option<Reliability>,
    /// The temperature of each trial's probabilities, if it had enough labeled points; none for the closed form of all pairs.
    pub temperatures: Vec<Option<f64>>,
    /// How much of the kernel the greedy walk used; `None` for the other rules.
    pub walk: Option<WalkInfo>,
}

/// Rows of one trial, by class: the total, and how many are correct.
#[derive(Debug, Clone, Default)]
pub(super) struct Score {
    of_classes: Vec<(usize, usize)>,
}

impl Score {
    /// Counts rows of a class.
    pub fn add(&mut self, class: usize, count: usize, is_right: bool) {
        if self.of_classes.len() <= class {
            self.of_classes.resize(class + 1, (0, 0));
        }
        let (all, right) = &mut self.of_classes[class];
        *all += count;
        *right += if is_right { count } else { 0 };
    }

    fn accuracy(&self) -> f64 {
        let sum = |part: fn(&(usize, usize)) -> usize| self.of_classes.iter().map(part).sum::<usize>() as f64;
        sum(|counts| counts.1) / sum(|counts| counts.0)
    }

    /// Mean over the classes that have unlabeled rows left.
    fn balanced(&self) -> f64 {
        let shares = self.of_classes.iter().filter(|counts| counts.0 > 0);
        let shares = shares.map(|(all, right)| *right as f64 / *all as f64);
        shares.clone().sum::<f64>() / shares.count() as f64
    }
}

/// Evaluates a rule on trial sets of labeled points. `node_of_row` is the node of each row; copies share one.
pub fn evaluate<'a>(
    input: impl Into<ClusterInput<'a>>,
    node_of_row: &[u32],
    labels: &Labels,
    params: &'a PropagateParams,
    trials: Trials,
    run: &Run<'_>,
) -> Result<Evaluation> {
    let input = input.into();
    let graph = input.graph;
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
        return Err(Error::UnlabeledClass { class });
    }
    let majority = rows_of_class.iter().map(Vec::len).max().unwrap_or(0) as f64 / n as f64;
    let mut found = Evaluation {
        accuracies: Vec::new(),
        balanced: Vec::new(),
        majority,
        reliability: None,
        temperatures: Vec::new(),
        walk: None,
    };
    if trials == Trials::AllPairs {
        // The pairs themselves, and two scores for each.
        let pairs: u64 = rows_of_class.iter().take(2).map(|rows| rows.len() as u64).product();
        let estimate = |rows: usize| {
            let share = rows as f64 / n as f64;
            MemoryEstimate::of(vec![("trials", (64.0 * pairs as f64 * share * share) as u64)])
        };
        refuse_if_over(n, run.memory_limit, estimate, "try random draws")?;
    }
    let has_closed_form =
        trials == Trials::AllPairs && n_classes == 2 && params.is_plain_harmonic(graph.n_nodes());
    if has_closed_form {
        let mut rows = vec![[0; 2]; graph.n_nodes()];
        labels.iter().zip(node_of_row).for_each(|(&label, &node)| rows[node as usize][label as usize] += 1);
        for (score, times) in harmonic_scores(&without_weak_edges(graph).0, &rows, run)? {
            found.accuracies.extend(std::iter::repeat_n(score.accuracy(), times));
            found.balanced.extend(std::iter::repeat_n(score.balanced(), times));
        }
        return Ok(found);
    }
    let propagator = Propagator::new(input, n_classes, params, run)?;
    found.walk = propagator.walk_info();
    let choices = match trials {
        Trials::Random { draws, per_class } => {
            require((1..=1 << 20).contains(&draws), "trials", draws, "must be between 1 and 1048576")?;
            require(per_class >= 1, "labeled rows of a class", per_class, "must be at least 1")?;
            let choose = |trial: usize| match per_class {
                1 => one_of_each(&rows_of_class, node_of_row, trial, run.seed),
                _ => Ok(several_of_each(&rows_of_class, node_of_row, per_class, trial, run.seed)),
            };
            (0..draws).map(choose).collect::<Result<_>>()?
        }
        Trials::AllPairs => all_pairs(&rows_of_class, node_of_row)?,
    };
    run.stage("trials", Some(choices.len() as u64))?;
    let score_of = |rows: &Vec<u32>| {
        let mut given = vec![None; graph.n_nodes()];
        let mut is_given = vec![false; n];
        for &row in rows {
            given[node_of_row[row as usize] as usize] = Some(labels[row as usize]);
            is_given[row as usize] = true;
        }
        let spread =
            propagator.labels(&LabeledNodes::new(given, n_classes)?, rayon::current_num_threads(), run)?;
        let (mut score, mut counts) = (Score::default(), Counts::default());
        for (row, &label) in labels.iter().enumerate().filter(|(row, _)| !is_given[*row]) {
            let node = node_of_row[row] as usize;
            let is_right = spread.labels[node] == Some(label);
            score.add(label as usize, 1, is_right);
            if let Some(found) = spread.labels[node] {
                counts.add(spread.probabilities[node * n_classes + found as usize], is_right);
            }
        }
        run.progress.advance(1);
        Ok((score, counts, spread.temperature))
    };
    let scores: Vec<(Score, Counts, Option<f64>)> =
        choices.par_iter().map(score_of).collect::<Result<_>>()?;
    found.accuracies = scores.iter().map(|(score, ..)| score.accuracy()).collect();
    found.balanced = scores.iter().map(|(score, ..)| score.balanced()).collect();
    found.temperatures = scores.iter().map(|trial| trial.2).collect();
    let counts = scores.iter().fold(Counts::default(), |sum, (_, counts, _)| sum.join(counts));
    found.reliability = Some(counts.reliability());
    Ok(found)
}

fn are_distinct(rows: &[u32], node_of_row: &[u32]) -> bool {
    let mut nodes: Vec<u32> = rows.iter().map(|&row| node_of_row[row as usize]).collect();
    nodes.sort_unstable();
    nodes.windows(2).all(|pair| pair[0] != pair[1])
}

/// One row of each class, all of them different points.
fn one_of_each(rows_of_class: &[Vec<u32>], node_of_row: &[u32], trial: usize, seed: u64) -> Result<Vec<u32>> {
    let stream = Stream::new(seed, Stage::Trials);
    let draw = |attempt: u32| {
        let mut draws = stream.at(trial as u32, attempt);
        rows_of_class.iter().map(|rows| rows[draws.below(rows.len())]).collect::<Vec<u32>>()
    };
    let fine = (0..TRIES).map(draw).find(|rows| are_distinct(rows, node_of_row));
    fine.ok_or(Error::Numerical { what: "drawing different points for different classes" })
}

/// Several rows of each class. Copies of a point that another class has already are left out.
fn several_of_each(
    rows_of_class: &[Vec<u32>],
    node_of_row: &[u32],
    per_class: usize,
    trial: usize,
    seed: u64,
) -> Vec<u32> {
    // Cells of their own: those of single rows have few attempts.
    let mut draws = Stream::new(seed, Stage::Trials).at(trial as u32, u32::MAX);
    let mut class_of_node = BTreeMap::new();
    let mut chosen = Vec::new();
    for (class, rows) in rows_of_class.iter().enumerate() {
        let size = per_class.min(rows.len().max(2) - 1);
        for &place in draws.permutation(rows.len()).iter().take(size) {
            let row = rows[place as usize];
            if *class_of_node.entry(node_of_row[row as usize]).or_insert(class) == class {
                chosen.push(row);
            }
        }
    }
    chosen
}

fn all_pairs(rows_of_class: &[Vec<u32>], node_of_row: &[u32]) -> Result<Vec<Vec<u32>>> {
    let [first, second] = rows_of_class else {
        let rule = "are available for two classes only; use random trials";
        return Err(Error::Parameter {
            name: "all pairs".into(),
            value: rows_of_class.len().to_string(),
            rule: rule.into(),
        });
    };
    let pairs = first.iter().flat_map(|&a| second.iter().map(move |&b| vec![a, b]));
    Ok(pairs.filter(|rows| are_distinct(rows, node_of_row)).collect())
}
