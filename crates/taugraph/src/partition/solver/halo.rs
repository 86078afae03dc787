//! Which values of nodes go to which partition.

use crate::error::{Error, Result};

/// What a partition sends, and what it gets.
#[derive(Debug, Clone)]
pub struct Halo {
    /// The places of the own nodes that each partition wants.
    sends: Vec<Vec<u32>>,
    /// Nodes of the halo that each partition has.
    sizes: Vec<usize>,
}

impl Halo {
    /// `wanted` has the own nodes that each partition wants, `halo` the nodes of each partition that are wanted here.
    pub(super) fn new(own: &[u32], place_of: &[u32], wanted: &[&[u32]], halo: &[&[u32]]) -> Result<Self> {
        if wanted.len() != halo.len() {
            let (expected, received) = (halo.len(), wanted.len());
            return Err(Error::Length { what: "partitions that want nodes", expected, received });
        }
        let places_of = |ids: &&[u32]| -> Result<Vec<u32>> {
            let place = |(row, id): (usize, &u32)| match own.binary_search(id) {
                Ok(at) => Ok(place_of[at]),
                Err(_) => {
                    Err(Error::BadStructure { row, rule: "a wanted node belongs to another partition" })
                }
            };
            ids.iter().enumerate().map(place).collect()
        };
        let sends = wanted.iter().map(places_of).collect::<Result<_>>()?;
        Ok(Self { sends, sizes: halo.iter().map(|ids| ids.len()).collect() })
    }

    /// Nodes of the halo, of all partitions one after the other.
    pub fn len(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Whether all edges stay inside.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The partitions that have nodes of the halo, ascending: what they send is expected in this order.
    pub fn sources(&self) -> Vec<usize> {
        (0..self.sizes.len()).filter(|&of| self.sizes[of] > 0).collect()
    }

    /// The values of `width` vectors that each partition wants.
    pub(super) fn slices(&self, values: &[f64], width: usize) -> Vec<Vec<f64>> {
        let slice = |places: &Vec<u32>| {
            let rows = places.iter().flat_map(|&place| &values[place as usize * width..][..width]);
            rows.copied().collect()
        };
        self.sends.iter().map(slice).collect()
    }

    /// The values at the nodes of the halo, from what its sources sent.
    pub(super) fn joined(&self, slices: &[&[f64]], width: usize) -> Result<Vec<f64>> {
        let sources = self.sources();
        if slices.len() != sources.len() {
            let (expected, received) = (sources.len(), slices.len());
            return Err(Error::Length { what: "partitions of the halo", expected, received });
        }
        let mut joined = Vec::with_capacity(self.len() * width);
        for (slice, &of) in slices.iter().zip(&sources) {
            let (expected, received) = (self.sizes[of] * width, slice.len());
            if received != expected {
                return Err(Error::Length { what: "values of the halo", expected, received });
            }
            joined.extend_from_slice(slice);
        }
        Ok(joined)
    }
}
