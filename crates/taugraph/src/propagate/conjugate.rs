//! Conjugate gradients for several right-hand sides at once, preconditioned by the diagonal (Jacobi).
//!
//! Values are kept node by node: the right-hand sides of a node lie beside each other, so that one pass over the edges
//! serves all of them. Sums over the nodes are made in fixed pieces and added in order: the same bits on any number of
//! threads.

use rayon::prelude::*;

use super::system::GraphSystem;
use crate::error::{Error, Result};
use crate::progress::Run;

/// Nodes of a piece.
const PIECE: usize = 1024;

/// How the iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveInfo {
    /// Iterations until the slowest right-hand side had converged.
    pub iterations: usize,
    /// Largest residual of a right-hand side, relative to its length.
    pub residual: f64,
}

/// Solves for `width` right-hand sides from zero until each residual is below `tolerance` times its right-hand side.
pub(super) fn solve(
    system: &GraphSystem<'_>,
    right: &[f64],
    width: usize,
    tolerance: f64,
    max_iterations: usize,
    run: &Run<'_>,
) -> Result<(Vec<f64>, SolveInfo)> {
    let n = system.diagonal.len();
    debug_assert_eq!(right.len(), n * width);
    let mut r = right.to_vec();
    system.project(&mut r, width);
    let mut x = vec![0.0; n * width];
    let mut z = vec![0.0; n * width];
    let mut q = vec![0.0; n * width];
    precondition(system, &r, &mut z, width);
    let mut p = z.clone();
    let norms: Vec<f64> = dots(&r, &r, width).into_iter().map(f64::sqrt).collect();
    let mut rz = dots(&r, &z, width);
    let relative = |r: &[f64]| {
        let lengths = dots(r, r, width);
        let ratio = |(length, norm): (&f64, &f64)| if *norm > 0.0 { length.sqrt() / norm } else { 0.0 };
        lengths.iter().zip(&norms).map(ratio).fold(0.0, f64::max)
    };
    let mut residual = relative(&r);
    let mut iterations = 0;
    while residual > tolerance && iterations < max_iterations {
        run.check()?;
        q.par_chunks_mut(width).with_min_len(PIECE).enumerate().for_each(|(node, out)| {
            system.apply_row(node, &p, out);
        });
        let pq = dots(&p, &q, width);
        // A right-hand side that is solved exactly stays as it is.
        let steps: Vec<f64> =
            rz.iter().zip(&pq).map(|(rz, pq)| if *pq > 0.0 { rz / pq } else { 0.0 }).collect();
        add_scaled(&mut x, &p, &steps, 1.0);
        add_scaled(&mut r, &q, &steps, -1.0);
        system.project(&mut r, width);
        precondition(system, &r, &mut z, width);
        let new = dots(&r, &z, width);
        let turns: Vec<f64> =
            new.iter().zip(&rz).map(|(new, old)| if *old > 0.0 { new / old } else { 0.0 }).collect();
        p.par_chunks_mut(width).with_min_len(PIECE).zip(z.par_chunks(width)).for_each(|(p, z)| {
            p.iter_mut().zip(z).zip(&turns).for_each(|((p, z), turn)| *p = z + turn * *p);
        });
        rz = new;
        residual = relative(&r);
        iterations += 1;
        if !residual.is_finite() {
            return Err(Error::Numerical { what: "conjugate gradients" });
        }
    }
    Ok((x, SolveInfo { iterations, residual }))
}

fn precondition(system: &GraphSystem<'_>, r: &[f64], z: &mut [f64], width: usize) {
    let rows = z.par_chunks_mut(width).with_min_len(PIECE).zip(r.par_chunks(width)).enumerate();
    rows.for_each(|(node, (z, r))| {
        let diagonal = system.diagonal[node];
        let inverse = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
        z.iter_mut().zip(r).for_each(|(z, r)| *z = inverse * r);
    });
}

fn add_scaled(x: &mut [f64], p: &[f64], steps: &[f64], sign: f64) {
    let width = steps.len();
    x.par_chunks_mut(width).with_min_len(PIECE).zip(p.par_chunks(width)).for_each(|(x, p)| {
        x.iter_mut().zip(p).zip(steps).for_each(|((x, p), step)| *x += sign * step * p);
    });
}

/// Inner product of each right-hand side.
fn dots(a: &[f64], b: &[f64], width: usize) -> Vec<f64> {
    let pieces: Vec<Vec<f64>> = a
        .par_chunks(PIECE * width)
        .zip(b.par_chunks(PIECE * width))
        .map(|(a, b)| {
            let mut sums = vec![0.0; width];
            for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; width];
    for piece in pieces {
        total.iter_mut().zip(piece).for_each(|(total, sum)| *total += sum);
    }
    total
}
