//! The spectral embedding: eigenvectors of the smallest eigenvalues as coordinates.

use rayon::prelude::*;

use super::attempts::Near;
use super::laplacian::{Laplacian, LaplacianKind};
use super::pairs::{EigenInfo, EigenParams};
use super::solve::smallest_eigenpairs_near;
use crate::arrays::{Arrays, bad};
use crate::checkpoint::Checkpoint;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::parameter::choices;
use crate::progress::Run;

/// Rows per thread at a time.
const ROWS: usize = 1024;

choices! {
    /// How the rows of eigenvector entries are normalized.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RowNormalization = "unit-length" {
        /// Each row is scaled to length 1 (Ng, Jordan, Weiss 2001).
        "unit-length" => UnitLength,
        /// Each eigenvector is multiplied by 1 − λ (1 − λ/bound for the unnormalized kind): one step of the diffusion map.
        "diffusion" => Diffusion,
        /// Unchanged.
        "plain" => Plain,
    }
}

/// The coordinates of each node: its entries of the eigenvectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Row-major, one row for each node.
    pub coordinates: Vec<f64>,
    /// Number of coordinates.
    pub n_columns: usize,
    /// Length of each row before it was scaled to 1; `None` if rows were not scaled.
    pub row_lengths: Option<Vec<f64>>,
    /// Eigenvalue of each coordinate, ascending.
    pub eigenvalues: Vec<f64>,
    /// Residual of each eigenpair.
    pub residuals: Vec<f64>,
    /// How the eigenpairs were found.
    pub info: EigenInfo,
}

impl Embedding {
    /// The coordinates of a node.
    pub fn row(&self, node: usize) -> &[f64] {
        &self.coordinates[node * self.n_columns..(node + 1) * self.n_columns]
    }

    /// The same embedding with only its first columns, rows normalized again.
    pub(crate) fn truncated(mut self, n_columns: usize, rows: RowNormalization) -> Embedding {
        let mut coordinates = std::mem::take(&mut self.coordinates);
        if n_columns < self.n_columns {
            for node in 0..coordinates.len() / self.n_columns {
                let from = node * self.n_columns;
                coordinates.copy_within(from..from + n_columns, node * n_columns);
            }
            coordinates.truncate(coordinates.len() / self.n_columns * n_columns);
        }
        let row_lengths =
            (rows == RowNormalization::UnitLength).then(|| unit_rows(&mut coordinates, n_columns));
        Embedding {
            coordinates,
            n_columns,
            row_lengths,
            eigenvalues: self.eigenvalues[..n_columns].to_vec(),
            residuals: self.residuals[..n_columns].to_vec(),
            info: self.info,
        }
    }
}

impl Checkpoint for Embedding {
    fn to_arrays(&self) -> Arrays<'_> {
        let mut arrays = Arrays::new();
        arrays.put("coordinates", Some(self.n_columns), &self.coordinates[..]);
        arrays.put("eigenvalues", None, &self.eigenvalues[..]);
        arrays.put("residuals", None, &self.residuals[..]);
        arrays.put("info", None, self.info.to_numbers().to_vec());
        if let Some(lengths) = &self.row_lengths {
            arrays.put("row_lengths", None, &lengths[..]);
        }
        arrays
    }

    fn from_arrays(mut arrays: Arrays<'static>) -> Result<Self> {
        let shape = arrays.shape("coordinates")?.to_vec();
        let &[n, n_columns] = &shape[..] else { return Err(bad("coordinates", "it is not a table".into())) };
        let info = EigenInfo::from_numbers(&arrays.take::<u64>("info", &[4])?)
            .ok_or_else(|| bad("info", "it names no solver".into()))?;
        Ok(Embedding {
            coordinates: arrays.take_finite("coordinates", &shape)?,
            n_columns,
            row_lengths: match arrays.shape("row_lengths") {
                Ok(_) => Some(arrays.take_finite("row_lengths", &[n])?),
                Err(_) => None,
            },
            eigenvalues: arrays.take_finite("eigenvalues", &[n_columns])?,
            residuals: arrays.take_finite("residuals", &[n_columns])?,
            info,
        })
    }
}

/// Embeds the nodes of a graph by the eigenvectors of a Laplacian's `n_columns` smallest eigenvalues.
///
/// The sign of a coordinate is fixed so that its largest entry (the first in case of ties) is positive.
pub fn embed(
    graph: &SparseGraph,
    kind: LaplacianKind,
    n_columns: usize,
    rows: RowNormalization,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Embedding> {
    embed_near(graph, kind, n_columns, None, rows, params, run)
}

/// The same, given what is known of the eigenvectors.
pub(crate) fn embed_near(
    graph: &SparseGraph,
    kind: LaplacianKind,
    n_columns: usize,
    near: Option<Near<'_>>,
    rows: RowNormalization,
    params: &EigenParams,
    run: &Run<'_>,
) -> Result<Embedding> {
    let laplacian = Laplacian::new(graph, kind);
    let pairs = smallest_eigenpairs_near(&laplacian, n_columns, near, params, run)?;
    let n = graph.n_nodes();
    let columns: Vec<(&[f64], f64)> = pairs
        .vectors
        .par_chunks_exact(n)
        .zip(&pairs.values)
        .map(|(vector, &value)| {
            let largest = vector.iter().fold(0.0f64, |m, v| if v.abs() > m.abs() { *v } else { m });
            let scale = match rows {
                RowNormalization::Diffusion if kind == LaplacianKind::Unnormalized => {
                    1.0 - value / laplacian.norm_bound()
                }
                RowNormalization::Diffusion => 1.0 - value,
                _ => 1.0,
            };
            (vector, scale * if largest < 0.0 { -1.0 } else { 1.0 })
        })
        .collect();
    let mut coordinates = vec![0.0; n * n_columns];
    coordinates.par_chunks_exact_mut(n_columns).with_min_len(ROWS).enumerate().for_each(|(node, row)| {
        let degree = laplacian.degrees()[node];
        for (to, (vector, scale)) in row.iter_mut().zip(&columns) {
            let v = vector[node];
            let of_node =
                if kind == LaplacianKind::RandomWalk && degree > 0.0 { v / degree.sqrt() } else { v };
            *to = scale * of_node;
        }
    });
    let row_lengths = (rows == RowNormalization::UnitLength).then(|| unit_rows(&mut coordinates, n_columns));
    Ok(Embedding {
        coordinates,
        n_columns,
        row_lengths,
        eigenvalues: pairs.values,
        residuals: pairs.residuals,
        info: pairs.info,
    })
}

/// Scales every row to length 1 and returns the original lengths; a row of zeros stays zero.
fn unit_rows(coordinates: &mut [f64], n_columns: usize) -> Vec<f64> {
    coordinates.par_chunks_exact_mut(n_columns).map(unit_row).collect()
}

pub(crate) fn unit_row(row: &mut [f64]) -> f64 {
    let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 {
        row.iter_mut().for_each(|v| *v /= norm);
    }
    norm
}
