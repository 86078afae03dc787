//! The pairs that a search has found, measured with images of their own, whatever the search knows of them.

use super::dense::Dense;
use super::state::{PartitionSolver, inverse};
use crate::error::Result;
use crate::spectral::{Block, products};

impl PartitionSolver {
    /// The vectors to be measured: the null vector, and those given in terms of the basis; slices of what their images need.
    pub fn finish(&mut self, rotation: &Dense) -> Result<Vec<Vec<f64>>> {
        self.expect(rotation, self.filled, rotation.n_columns)?;
        let found = self.basis.combined(rotation.to_mat().as_ref());
        let count = rotation.n_columns;
        self.vectors = Block::zeros(self.len(), 1 + count);
        self.vectors.update(&self.null, |to, from| to[0] = from[0]);
        self.vectors.update(&found, |to, from| to[1..=count].copy_from_slice(&from[..count]));
        self.candidates = self.vectors.clone();
        self.candidates.scale(&self.system.roots, inverse);
        Ok(self.system.halo.slices(&self.candidates.values, self.candidates.width))
    }

    /// For each vector: its squared length, and its inner product with its image.
    pub fn measure(&mut self, halo: &[&[f64]]) -> Result<Dense> {
        let joined = self.system.halo.joined(halo, self.candidates.width)?;
        let mut images = self.system.apply(&self.candidates, &joined);
        images.scale(&self.system.roots, inverse);
        let mut values = self.vectors.squares();
        let quotients = products(self.vectors.view(), images.view());
        values.extend((0..self.vectors.width).map(|at| quotients[(at, at)]));
        self.vector_images = images;
        Ok(Dense { values, n_columns: self.vectors.width })
    }

    /// Squared lengths of A·v − value·v of the vectors.
    pub fn measure_residuals(&mut self, values: &[f64]) -> Dense {
        self.vector_images.update(&self.vectors, |image, vector| {
            image.iter_mut().zip(vector).zip(values).for_each(|((image, v), value)| *image -= value * v);
        });
        Dense { values: self.vector_images.squares(), n_columns: self.vectors.width }
    }

    /// For each vector its largest entry by size, and the node that has it, the lowest of several; for the sign of the vectors.
    pub fn largest(&self, count: usize) -> Vec<(f64, u32)> {
        let mut largest = vec![(0.0f64, u32::MAX); count];
        for (entries, &node) in self.vectors.nodes().zip(&self.system.order) {
            let id = self.ids[node as usize];
            for (best, &entry) in largest.iter_mut().zip(entries) {
                let (size, known) = (entry.abs(), best.0.abs());
                if size > known || size == known && id < best.1 {
                    *best = (entry, id);
                }
            }
        }
        largest
    }

    /// The vectors, each times its factor, with the own nodes ascending.
    pub fn vectors(&self, factors: &[f64]) -> Dense {
        let n_columns = factors.len();
        let mut values = vec![0.0; self.len() * n_columns];
        for (&node, entries) in self.system.order.iter().zip(self.vectors.nodes()) {
            let to = &mut values[node as usize * n_columns..][..n_columns];
            to.iter_mut().zip(entries).zip(factors).for_each(|((to, entry), factor)| *to = entry * factor);
        }
        Dense { values, n_columns }
    }
}
