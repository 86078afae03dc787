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

use super::coarse::{Boundary, Group};
use super::members::Parts;

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

/// Whether the last term of S is 0 by what the groups have inside: at least 1/W lies at the boundary, at most their resistances inside.
pub(super) fn is_concentrated(a: Group, b: Group, boundary: Boundary) -> bool {
    1.0 >= CONCENTRATED * (1.0 + boundary.weight * (a.inner_resistance + b.inner_resistance))
}

/// e: the share of the resistance to a current from one group to another that lies between them, given their parts and the weights
/// across. Sources and sinks are in proportion to the volumes; a part has no resistance inside.
pub(super) fn share_at_boundary(a: &Parts, b: &Parts, across: &[(usize, usize, f64)]) -> f64 {
    let n_first = a.volumes.len();
    if n_first + b.volumes.len() == 2 {
        return 1.0;
    }
    let system = Circuit::new(a, b, across);
    let potentials = system.potentials();
    let (mut at_boundary, mut total) = (0.0, 0.0);
    for (i, row) in system.rows.iter().enumerate() {
        for &(j, weight) in row {
            let energy = weight * (potentials[i] - potentials[j]).powi(2);
            total += energy;
            if (i < n_first) != (j < n_first) {
                at_boundary += energy;
            }
        }
    }
    if total > 0.0 { at_boundary / total } else { 1.0 }
}

/// The parts of two groups, those of the first group first.
struct Circuit {
    rows: Vec<Vec<(usize, f64)>>,
    degrees: Vec<f64>,
    /// Current that enters (positive) or leaves.
    currents: Vec<f64>,
}

impl Circuit {
    fn new(a: &Parts, b: &Parts, across: &[(usize, usize, f64)]) -> Self {
        let n_first = a.volumes.len();
        let shifted =
            |row: &Vec<(usize, f64)>| row.iter().map(|&(j, weight)| (n_first + j, weight)).collect();
        let mut rows: Vec<Vec<(usize, f64)>> =
            a.rows.iter().cloned().chain(b.rows.iter().map(shifted)).collect();
        for &(i, j, weight) in across {
            rows[i].push((n_first + j, weight));
            rows[n_first + j].push((i, weight));
        }
        let degrees = rows.iter().map(|row| row.iter().map(|(_, weight)| weight).sum()).collect();
        let [volume_a, volume_b] = [a, b].map(|parts| parts.volumes.iter().sum::<f64>());
        let entering = a.volumes.iter().map(|volume| volume / volume_a);
        let leaving = b.volumes.iter().map(|volume| -volume / volume_b);
        Self { rows, degrees, currents: entering.chain(leaving).collect() }
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
    use super::*;

    /// Parts of equal volumes in a row, each joined to the next by its weight.
    fn chain(weights: &[f64]) -> Parts {
        let mut rows = vec![Vec::new(); weights.len() + 1];
        for (i, &weight) in weights.iter().enumerate() {
            rows[i].push((i + 1, weight));
            rows[i + 1].push((i, weight));
        }
        Parts { volumes: vec![10.0; rows.len()], rows }
    }

    #[test]
    fn resistance_of_a_chain_is_that_of_its_parts() {
        let three = chain(&[1.0, 1.0]);
        let share = |weight: f64| share_at_boundary(&three, &three, &[(2, 0, weight)]);
        // Currents 1/3, 2/3, 1, 2/3, 1/3 through equal weights: the middle has 1 of 1 + 2·(4/9 + 1/9).
        assert!((share(1.0) - 1.0 / (1.0 + 10.0 / 9.0)).abs() < 2e-2, "{}", share(1.0));
        // A bottleneck has nearly all of it.
        assert!((share(0.01) - 100.0 / (100.0 + 10.0 / 9.0)).abs() < 2e-2, "{}", share(0.01));
        let one = chain(&[]);
        assert_eq!(share_at_boundary(&one, &one, &[(0, 0, 1.0)]), 1.0);
    }

    #[test]
    fn a_boundary_known_to_be_concentrated_has_that_share() {
        // Two merges inside of each, through weights of 1.
        let group = Group { inner_resistance: 2.0, ..Group::default() };
        let three = chain(&[1.0, 1.0]);
        for weight in [0.01, 0.05, 0.08, 0.1, 1.0] {
            let share = share_at_boundary(&three, &three, &[(2, 0, weight)]);
            let boundary = Boundary { weight, ..Boundary::default() };
            assert!(share >= CONCENTRATED || !is_concentrated(group, group, boundary), "{weight}: {share}");
        }
        assert!(is_concentrated(group, group, Boundary { weight: 0.08, ..Boundary::default() }));
        assert!(!is_concentrated(group, group, Boundary { weight: 0.1, ..Boundary::default() }));
    }

    #[test]
    fn weaker_boundaries_deeper_valleys_and_bottlenecks_resist_more() {
        let group =
            Group { size: 100.0, volume: 500.0, inverse_dimension: 50.0, peak: 1.0, inner_resistance: 0.0 };
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
