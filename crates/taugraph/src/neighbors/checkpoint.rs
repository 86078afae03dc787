//! Neighbors as arrays.

use super::{NeighborGraph, SearchInfo};
use crate::arrays::{Arrays, bad};
use crate::checkpoint::Checkpoint;
use crate::error::Result;

impl Checkpoint for (NeighborGraph, SearchInfo) {
    fn to_arrays(&self) -> Arrays<'_> {
        let (graph, info) = self;
        let mut arrays = Arrays::new();
        arrays.put("ids", Some(graph.k), &graph.ids[..]);
        arrays.put("distances", Some(graph.k), &graph.distances[..]);
        arrays.put("search", None, info.to_numbers().to_vec());
        arrays.put("recall", None, vec![info.recall]);
        arrays
    }

    fn from_arrays(mut arrays: Arrays<'static>) -> Result<Self> {
        let shape = arrays.shape("ids")?.to_vec();
        let &[n, k] = &shape[..] else { return Err(bad("ids", "it is not a table".into())) };
        let graph = NeighborGraph::new(n, k, arrays.take("ids", &shape)?, arrays.take("distances", &shape)?)?;
        let recall = arrays.take_finite("recall", &[1])?[0];
        let info = SearchInfo::from_numbers(&arrays.take::<u64>("search", &[4])?, recall)
            .ok_or_else(|| bad("search", "it names no search".into()))?;
        Ok((graph, info))
    }
}
