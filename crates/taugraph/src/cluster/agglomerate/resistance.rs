//! How much a boundary between two groups resists merging them: the evidence that they are two.
//!
//! # Formula
//!
//! S = −ln(W/min(vol_a, vol_b)) − z·ln(max(n, 15)/15) − 5z + 1.5·clip(Δ, −1, 3) + 3·min(0, ln(e/0.75)), where
//! - W is the weight of the boundary: the first term is the conductance on a logarithmic scale;
//! - z is the mean inverse dimension of both groups (at most 1) and n the size of the one with the smaller volume: the second and third
//!   terms are the conductance with which a homogeneous body of that size and dimension is cut in two;
//! - Δ = (min(peak_a, peak_b) − pass)/z is the depth of the density valley between them, in powers of e of the density;
//! - e is the share of the resistance to a current from all of a to all of b that lies at the boundary. In a thin shape (a ring, a
//!   spiral) every cut has a small conductance, but the resistance is spread along the shape; at a bottleneck it is concentrated.
//!
//! The constants were chosen on generated sets, docs/decisions/0025 tells how; docs/CLUSTERS.md has the rates on structureless sets.

use super::coarse::{Boundary, CoarseGraph, Group};

/// Conductance of a homogeneous body at [`USUAL_SIZE`] is e^−(this·z).
const HOMOGENEOUS: f64 = 5.0;
/// Sizes below this count as this: as many points as have a say in each local density.
const USUAL_SIZE: f64 = 15.0;
/// What a valley counts.
const VALLEY: f64 = 1.5;
/// What a spread resistance counts.
const SPREAD: f64 = 3.0;
/// From this share on the resistance is at the boundary.
const CONCENTRATED: f64 = 0.75;
/// Accuracy of the potentials: two digits of the share are plenty.
const TOLERANCE: f64 = 1e-2;

/// S without the last term.
pub(super) fn local_resistance(a: Group, b: Group, boundary: Boundary) -> f64 {
    let z = ((a.inverse_dimension + b.inverse_dimension) / (a.size + b.size)).clamp(1e-3, 1.0);
    let size = if a.volume <= b.volume { a.size } else { b.size };
    let conductance = boundary.weight / a.volume.min(b.volume);
    let depth = (a.peak.min(b.peak) - boundary.pass()) / z;
    -conductance.ln() - z * (size.max(USUAL_SIZE) / USUAL_SIZE).ln() - HOMOGENEOUS * z
        + VALLEY * depth.clamp(-1.0, 3.0)
}

/// The last term of S from the share e.
pub(super) fn spread_term(share: f64) -> f64 {
    SPREAD * (share.max(1e-6) / CONCENTRATED).ln().min(0.0)
}

/// e: the share of the resistance to a current from the micro-communities `a` to the micro-communities `b` that lies between them.
/// Sources and sinks are in proportion to the volumes; a micro-community has no resistance inside.
pub(super) fn share_at_boundary(coarse: &CoarseGraph, a: &[u32], b: &[u32]) -> f64 {
    if a.len() + b.len() == 2 {
        return 1.0;
    }
    let system = Subgraph::new(coarse, a, b);
    let potentials = system.potentials();
    let (mut across, mut total) = (0.0, 0.0);
    for (i, row) in system.rows.iter().enumerate() {
        for &(j, weight) in row {
            let energy = weight * (potentials[i] - potentials[j]).powi(2);
            total += energy;
            if (i < a.len()) != (j < a.len()) {
                across += energy;
            }
        }
    }
    if total > 0.0 { across / total } else { 1.0 }
}

/// The micro-communities of two groups, those of the first group first.
struct Subgraph {
    rows: Vec<Vec<(usize, f64)>>,
    degrees: Vec<f64>,
    /// Current that enters (positive) or leaves.
    currents: Vec<f64>,
}

impl Subgraph {
    fn new(coarse: &CoarseGraph, a: &[u32], b: &[u32]) -> Self {
        let mut place = std::collections::HashMap::new();
        a.iter().chain(b).enumerate().for_each(|(index, &micro)| {
            place.insert(micro, index);
        });
        let row = |&micro: &u32| -> Vec<(usize, f64)> {
            let beside = coarse.boundaries[micro as usize].iter();
            beside.filter_map(|(other, boundary)| Some((*place.get(other)?, boundary.weight))).collect()
        };
        let rows: Vec<Vec<(usize, f64)>> = a.iter().chain(b).map(row).collect();
        let degrees = rows.iter().map(|row| row.iter().map(|(_, weight)| weight).sum()).collect();
        let volume = |micro: &u32| coarse.groups[*micro as usize].volume;
        let (volume_a, volume_b): (f64, f64) = (a.iter().map(volume).sum(), b.iter().map(volume).sum());
        let entering = a.iter().map(|micro| volume(micro) / volume_a);
        let leaving = b.iter().map(|micro| -volume(micro) / volume_b);
        let currents = entering.chain(leaving).collect();
        Self { rows, degrees, currents }
    }

    /// L·f = currents by conjugate gradients with the degrees as preconditioner. Constant vectors are the null space, and the
    /// currents are orthogonal to them.
    fn potentials(&self) -> Vec<f64> {
        let n = self.rows.len();
        let mut potentials = vec![0.0; n];
        let mut residual = self.currents.clone();
        let precondition =
            |r: &[f64]| -> Vec<f64> { r.iter().zip(&self.degrees).map(|(r, d)| r / d.max(1e-300)).collect() };
        let mut direction = precondition(&residual);
        let mut rho = inner(&residual, &direction);
        let enough = TOLERANCE * TOLERANCE * rho;
        for _ in 0..10 * n {
            if rho <= enough {
                break;
            }
            let image: Vec<f64> = (0..n)
                .map(|i| {
                    let flow: f64 = self.rows[i].iter().map(|&(j, w)| w * direction[j]).sum();
                    self.degrees[i] * direction[i] - flow
                })
                .collect();
            let curvature = inner(&direction, &image);
            if curvature <= 0.0 {
                break;
            }
            let step = rho / curvature;
            potentials.iter_mut().zip(&direction).for_each(|(f, d)| *f += step * d);
            residual.iter_mut().zip(&image).for_each(|(r, a)| *r -= step * a);
            let scaled = precondition(&residual);
            let next = inner(&residual, &scaled);
            let beta = next / rho;
            rho = next;
            direction.iter_mut().zip(&scaled).for_each(|(d, s)| *d = s + beta * *d);
        }
        potentials
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Micro-communities in a row, each joined to the next by its weight.
    fn chain(weights: &[f64]) -> CoarseGraph {
        let n = weights.len() + 1;
        let group = Group { size: 20.0, volume: 10.0, inverse_dimension: 10.0, peak: 0.0 };
        let mut boundaries = vec![BTreeMap::new(); n];
        for (i, &weight) in weights.iter().enumerate() {
            let boundary = Boundary { weight, level: 0.0, squared_level: 0.0 };
            boundaries[i].insert(i as u32 + 1, boundary);
            boundaries[i + 1].insert(i as u32, boundary);
        }
        CoarseGraph { groups: vec![group; n], boundaries }
    }

    #[test]
    fn resistance_of_a_chain_is_that_of_its_parts() {
        // Currents 1/3, 2/3, 1, 2/3, 1/3 through equal weights: the middle has 1 of 1 + 2·(4/9 + 1/9).
        let even = chain(&[1.0; 5]);
        let share = share_at_boundary(&even, &[0, 1, 2], &[3, 4, 5]);
        assert!((share - 1.0 / (1.0 + 10.0 / 9.0)).abs() < 2e-2, "{share}");
        // A bottleneck has nearly all of it.
        let narrow = chain(&[1.0, 1.0, 0.01, 1.0, 1.0]);
        let share = share_at_boundary(&narrow, &[0, 1, 2], &[3, 4, 5]);
        assert!((share - 100.0 / (100.0 + 10.0 / 9.0)).abs() < 2e-2, "{share}");
        assert_eq!(share_at_boundary(&narrow, &[2], &[3]), 1.0);
    }

    #[test]
    fn weaker_boundaries_deeper_valleys_and_bottlenecks_resist_more() {
        let group = Group { size: 100.0, volume: 500.0, inverse_dimension: 50.0, peak: 1.0 };
        let of = |weight: f64, mean: f64| {
            let boundary = Boundary { weight, level: mean * weight, squared_level: mean * mean * weight };
            local_resistance(group, group, boundary)
        };
        assert!(of(1.0, 1.0) > of(10.0, 1.0));
        assert!(of(1.0, 0.0) > of(1.0, 1.0));
        assert!((of(1.0, 0.0) - of(1.0, 1.0) - 1.5 * 2.0).abs() < 1e-12, "a depth of 1 in two dimensions");
        assert_eq!(spread_term(0.9), 0.0);
        assert!(spread_term(0.2) < spread_term(0.5));
    }
}
