//! Labels of points that were not in the graph, through their neighbours in it.

use super::Propagation;
use super::decide::best;
use crate::error::{Error, Result, require};
use crate::neighbors::{MetricPoints, neighbors_of_new};
use crate::points::Points;
use crate::progress::Run;
use crate::scale::LocalScales;

/// How new points find their labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InductParams {
    /// Neighbours that vote.
    pub neighbors: usize,
    /// The neighbour whose distance is the scale of a new point.
    pub scale_neighbor: usize,
}

impl Default for InductParams {
    fn default() -> Self {
        Self { neighbors: 15, scale_neighbor: 7 }
    }
}

/// Labels of new points.
#[derive(Debug, Clone, PartialEq)]
pub struct Induced {
    /// The label of each point; `None` if none of its neighbours has one.
    pub labels: Vec<Option<u32>>,
    /// Probability of each class, point by point.
    pub probabilities: Vec<f64>,
    /// Lead of the likeliest class over the second.
    pub margins: Vec<f64>,
}

/// The weighted mean of the neighbours' probabilities, by the locally scaled affinity exp(−d²/(σ_new·σ_j)). A point that
/// equals a known one gets what that has.
///
/// `known` are the points of the graph's nodes, `scales` their local scales. New points must have been prepared in the same way.
pub fn induct(
    known: &MetricPoints,
    scales: &LocalScales,
    propagation: &Propagation,
    new: &Points,
    params: &InductParams,
    run: &Run<'_>,
) -> Result<Induced> {
    let n = known.points().len();
    if propagation.labels.len() != n || scales.values().len() != n {
        let received = propagation.labels.len().min(scales.values().len());
        return Err(Error::Length { what: "labels and scales of the known points", expected: n, received });
    }
    let InductParams { neighbors: k, scale_neighbor } = *params;
    let rule = "must be at least 1 and at most the neighbours that vote";
    require((1..=k).contains(&scale_neighbor), "scale neighbor", scale_neighbor, rule)?;
    let near = neighbors_of_new(known, new, k, run)?;
    let width = propagation.probabilities.len() / n;
    let mut probabilities = vec![0.0; new.len() * width];
    for (row, out) in probabilities.chunks_exact_mut(width).enumerate() {
        let (ids, distances) = (near.ids(row), near.distances(row));
        let of = |id: u32| &propagation.probabilities[id as usize * width..(id as usize + 1) * width];
        if distances[0] == 0.0 {
            out.copy_from_slice(of(ids[0]));
            continue;
        }
        // Neighbours without a label do not vote. Exponents relative to the least one: far points have neighbours, too.
        let own = distances[scale_neighbor - 1];
        let voters = || {
            let pairs =
                ids.iter().zip(distances).filter(|(id, _)| propagation.labels[**id as usize].is_some());
            pairs.map(|(&id, d)| (id, d / own * (d / scales.get(id as usize))))
        };
        let least = voters().map(|voter| voter.1).fold(f64::INFINITY, f64::min);
        for (id, exponent) in voters() {
            let weight = (least - exponent).exp();
            out.iter_mut().zip(of(id)).for_each(|(out, p)| *out += weight * p);
        }
        let sum: f64 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|p| *p /= sum);
        }
    }
    let decided = probabilities.chunks_exact(width).map(|row| (best(row), row.iter().any(|&p| p > 0.0)));
    let (labels, margins) =
        decided.map(|((class, margin), is_reached)| (is_reached.then_some(class), margin.max(0.0))).unzip();
    Ok(Induced { labels, probabilities, margins })
}
