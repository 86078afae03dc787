//! Stage 4, local scales: what distance counts as near around each point.

use rayon::prelude::*;

use crate::error::{Error, Result, require};
use crate::neighbors::NeighborGraph;
use crate::parameter::choices;
use crate::points::sorted_quantile;

choices! {
    /// How the first local scales are measured.
    #[derive(Debug, Clone, PartialEq)]
    pub enum FirstScale = "kth-neighbor" {
        /// σ_i = distance to the k-th neighbor (Zelnik-Manor and Perona 2004; they use 7).
        "kth-neighbor" => KthNeighbor {
            /// Which neighbor.
            k: usize = 7, "at least 1" => |k| *k >= 1;
        },
        /// σ_i = mean distance to the k nearest neighbors.
        "mean-of-neighbors" => MeanOfNeighbors {
            /// How many neighbors.
            k: usize = 7, "at least 1" => |k| *k >= 1;
        },
        /// The user's own scale for each row; used as given, without a floor.
        "given" => Given {
            /// One scale for each row.
            values: Vec<f64> = Vec::new();
        },
    }
}

impl FirstScale {
    /// Neighbors that must be known.
    pub fn n_neighbors(&self) -> usize {
        match self {
            FirstScale::KthNeighbor { k } | FirstScale::MeanOfNeighbors { k } => *k,
            FirstScale::Given { .. } => 0,
        }
    }
}

choices! {
    /// Whether scales are shrunk toward their median.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum ScaleShrinkage = "none" {
        /// They stay as they were measured.
        "none" => None,
        /// σ ← σ^a · median^(1−a): wide scales become narrower, narrow ones wider, and the median stays.
        "toward-median" => TowardMedian {
            /// a; 1 changes nothing, 0 makes all scales equal.
            exponent: f64 = 0.75, "between 0 and 1" => |exponent| (0.0..=1.0).contains(exponent);
        },
    }
}

impl ScaleShrinkage {
    /// One scale among those with this median.
    pub(crate) fn apply(self, scale: f64, median: f64) -> f64 {
        match self {
            ScaleShrinkage::None => scale,
            ScaleShrinkage::TowardMedian { exponent } => median * (scale / median).powf(exponent),
        }
    }
}

/// A positive, finite scale for each point.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalScales {
    values: Vec<f64>,
    /// No scale measured by the same rule is below this; 0 for scales that were given.
    least: f64,
    median: f64,
}

impl LocalScales {
    /// Checks the user's own scales.
    pub fn new(values: Vec<f64>) -> Result<Self> {
        match values.iter().position(|value| !(value.is_finite() && *value > 0.0)) {
            None => {
                let median = median_of(&values);
                Ok(Self { values, least: 0.0, median })
            }
            Some(row) => Err(Error::Parameter {
                name: "local scale".into(),
                value: format!("{} at row {row}", values[row]),
                rule: "every scale must be finite and above 0".into(),
            }),
        }
    }

    /// Raises every scale to at least `floor` × the median of the positive ones.
    ///
    /// Points in a tight clump have scales near 0, and all their affinities would vanish. If no scale is
    /// positive (all points equal), every scale is 1.
    pub(crate) fn with_floor(mut values: Vec<f64>, floor: f64) -> Self {
        let mut positive: Vec<f64> = values.iter().copied().filter(|&value| value > 0.0).collect();
        if positive.is_empty() {
            return Self { values: vec![1.0; values.len()], least: 1.0, median: 1.0 };
        }
        positive.par_sort_unstable_by(f64::total_cmp);
        // Even a floor of 0 must leave no scale at 0.
        let least =
            (floor * sorted_quantile(&positive, 0.5)).max(positive[0] * f64::EPSILON).max(f64::MIN_POSITIVE);
        values.par_iter_mut().for_each(|value| *value = value.max(least));
        // Raising keeps the order: what was not positive comes first.
        let n_raised = values.len() - positive.len();
        let sorted: Vec<f64> = std::iter::repeat_n(least, n_raised)
            .chain(positive.iter().map(|value| value.max(least)))
            .collect();
        Self { values, least, median: sorted_quantile(&sorted, 0.5) }
    }

    /// The scales shrunk toward their median.
    pub(crate) fn shrunk(mut self, shrinkage: ScaleShrinkage) -> Self {
        if shrinkage != ScaleShrinkage::None {
            let median = self.median;
            self.values.par_iter_mut().for_each(|value| *value = shrinkage.apply(*value, median));
            self.least = shrinkage.apply(self.least, median);
            // The same but for rounding, and to the bit what is found when the scales are read again.
            self.median = median_of(&self.values);
        }
        self
    }

    /// The median of the scales, which shrinking leaves where it is.
    pub(crate) fn median(&self) -> f64 {
        self.median
    }

    /// Scales from a checkpoint, and the smallest that any other may be.
    pub(crate) fn restored(values: Vec<f64>, least: f64) -> Result<Self> {
        let scales = Self::new(values)?;
        let rule = "must be finite, at least 0 and at most the smallest scale";
        let fits = least >= 0.0 && scales.values.iter().all(|&value| value >= least);
        require(fits, "least scale", least, rule)?;
        Ok(Self { least, ..scales })
    }

    /// No scale measured by the same rule is below this; 0 for scales that were given.
    pub(crate) fn least(&self) -> f64 {
        self.least
    }

    /// The scales.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The scale of point `i`.
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        self.values[i]
    }
}

fn median_of(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.par_sort_unstable_by(f64::total_cmp);
    sorted_quantile(&sorted, 0.5)
}

/// The first local scales, at least `floor` × the median of the positive ones.
pub fn first_scales(neighbors: &NeighborGraph, scale: &FirstScale, floor: f64) -> Result<LocalScales> {
    let n = neighbors.len();
    if let FirstScale::KthNeighbor { k } | FirstScale::MeanOfNeighbors { k } = scale {
        let rule = "must be at least 1 and at most the number of known neighbors of each point";
        require((1..=neighbors.k()).contains(k), "scale neighbors", k, rule)?;
    }
    let measure = |of: &(dyn Fn(&[f64]) -> f64 + Sync)| -> Vec<f64> {
        (0..n).into_par_iter().map(|i| of(neighbors.distances(i))).collect()
    };
    Ok(match scale {
        FirstScale::KthNeighbor { k } => LocalScales::with_floor(measure(&|row| row[k - 1]), floor),
        FirstScale::MeanOfNeighbors { k } => {
            LocalScales::with_floor(measure(&|row| row[..*k].iter().sum::<f64>() / *k as f64), floor)
        }
        FirstScale::Given { values } if values.len() != n => {
            return Err(Error::Length { what: "local scales", expected: n, received: values.len() });
        }
        FirstScale::Given { values } => LocalScales::new(values.clone())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> NeighborGraph {
        NeighborGraph::new(3, 2, vec![1, 2, 0, 2, 1, 0], vec![1.0, 4.0, 1.0, 3.0, 3.0, 4.0]).unwrap()
    }

    #[test]
    fn kth_mean_and_given() {
        let scales = |scale| first_scales(&line(), &scale, 0.0).unwrap().values().to_vec();
        assert_eq!(scales(FirstScale::KthNeighbor { k: 1 }), [1.0, 1.0, 3.0]);
        assert_eq!(scales(FirstScale::MeanOfNeighbors { k: 2 }), [2.5, 2.0, 3.5]);
        assert_eq!(scales(FirstScale::Given { values: vec![1.0, 2.0, 3.0] }), [1.0, 2.0, 3.0]);
        assert!(first_scales(&line(), &FirstScale::Given { values: vec![1.0] }, 0.0).is_err());
        for k in [0, 3] {
            assert!(first_scales(&line(), &FirstScale::KthNeighbor { k }, 0.0).is_err());
        }
        assert!(first_scales(&line(), &FirstScale::Given { values: vec![1.0, 0.0, 2.0] }, 0.0).is_err());
    }

    #[test]
    fn the_floor_holds_even_at_zero() {
        assert_eq!(LocalScales::with_floor(vec![0.0, 1.0, 2.0, 3.0], 0.5).values(), [1.0, 1.0, 2.0, 3.0]);
        assert!(LocalScales::with_floor(vec![0.0, 1.0], 0.0).values()[0] > 0.0);
        assert_eq!(LocalScales::with_floor(vec![0.0, 0.0], 0.5).values(), [1.0, 1.0]);
    }

    #[test]
    fn shrinking_keeps_the_median_and_the_order() {
        let scales = LocalScales::with_floor(vec![4.0, 0.1, 1.0, 16.0, 0.5], 0.25);
        let shrunk = scales.clone().shrunk(ScaleShrinkage::TowardMedian { exponent: 0.5 });
        assert_eq!(shrunk.values(), [2.0, 0.5, 1.0, 4.0, 0.5f64.sqrt()]);
        assert_eq!((shrunk.median(), shrunk.least()), (1.0, 0.5));
        assert_eq!(scales.clone().shrunk(ScaleShrinkage::None), scales);
        assert_eq!(scales.shrunk(ScaleShrinkage::TowardMedian { exponent: 0.0 }).values(), [1.0; 5]);
    }
}
