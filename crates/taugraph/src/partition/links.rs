//! Weights of links between components whose ends may be on different machines.

use crate::affinity::AffinityKind;
use crate::links::weight_of;

/// The weight of a link of this length between points with these scales, those of the lower node first.
pub fn link_weight(kind: AffinityKind, distance: f64, lower_scale: f64, higher_scale: f64) -> f64 {
    weight_of((-kind.exponent(distance * distance, 1.0 / lower_scale, 1.0 / higher_scale)).exp())
}
