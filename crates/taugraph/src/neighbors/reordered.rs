//! Out-of-core points, copied in another order: rows that are read together are stored together, so that they are read in long
//! sequential stretches instead of row by row.

use crate::error::Result;
use crate::points::{Numbers, Points};
use crate::progress::Run;

/// A copy of points in another order.
#[derive(Debug, Clone)]
pub(super) struct Reordered {
    points: Points,
    /// The position of each point in the copy.
    places: Vec<u32>,
}

impl Reordered {
    /// `None` for points in memory, where any order is as good as another.
    pub fn new(points: &Points, order: impl FnOnce() -> Vec<u32>, run: &Run<'_>) -> Result<Option<Self>> {
        if run.scratch.is_none() || !points.are_shared() {
            return Ok(None);
        }
        let order = order();
        let points = points.select_into(&order, run.scratch)?;
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&id, place)| places[id as usize] = place);
        Ok(Some(Self { points, places }))
    }

    /// The `i`-th point of the original order.
    #[inline]
    pub fn row(&self, i: usize) -> Numbers<'_> {
        self.points.row(self.places[i] as usize)
    }
}
