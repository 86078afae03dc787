//! The preconditioner, in four steps: a cycle of multigrid in every partition, a correction on the aggregates of all, and a second cycle for what
//! both have left.

use super::dense::Dense;
use super::state::PartitionSolver;
use crate::error::Result;
use crate::spectral::Block;

impl PartitionSolver {
    /// First step of the preconditioner: a cycle for these residuals, or for the candidates; slices of the result.
    pub fn smooth_first(&mut self, named: Option<&[usize]>) -> Vec<Vec<f64>> {
        self.right = match named {
            None => self.candidates.clone(),
            Some(named) => {
                let mut right = Block::zeros(self.len(), named.len());
                right.update(&self.residuals, |to, from| {
                    to.iter_mut().zip(named).for_each(|(to, &name)| *to = from[name]);
                });
                right
            }
        };
        self.right.scale(&self.system.roots, |root| root);
        self.solution = Block { width: self.right.width, values: vec![0.0; self.right.values.len()] };
        self.system.correct(&self.right, &mut self.solution);
        self.system.halo.slices(&self.solution.values, self.solution.width)
    }

    /// Second step: what is left of the right-hand sides, summed over aggregates.
    pub fn restrict(&self, halo: &[&[f64]]) -> Result<Dense> {
        let joined = self.system.halo.joined(halo, self.solution.width)?;
        let rest = self.system.rest(&self.right, &self.solution, &joined);
        Ok(Dense { values: self.system.restricted(&rest), n_columns: rest.width })
    }

    /// Third step: adds the solutions on the aggregates; slices of the result.
    pub fn correct(&mut self, on_aggregates: &Dense) -> Result<Vec<Vec<f64>>> {
        self.check_coarse(on_aggregates)?;
        self.system.prolong(
            &on_aggregates.values,
            on_aggregates.n_columns,
            &mut self.solution,
            |to, from| {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            },
        );
        Ok(self.system.halo.slices(&self.solution.values, self.solution.width))
    }

    /// Fourth step: a second cycle. The solutions are the candidates, whose [`shares`](Self::shares) are returned.
    pub fn smooth_last(&mut self, halo: &[&[f64]]) -> Result<Dense> {
        let joined = self.system.halo.joined(halo, self.solution.width)?;
        let rest = self.system.rest(&self.right, &self.solution, &joined);
        self.system.correct(&rest, &mut self.solution);
        std::mem::swap(&mut self.candidates, &mut self.solution);
        self.candidates.scale(&self.system.roots, |root| root);
        Ok(self.shares())
    }
}
