//! Conjugate gradients for several right-hand sides at once.
//!
//! The right-hand sides of a node lie beside each other, so that one pass over the edges serves all of them. Sums over the
//! nodes are made in fixed pieces and added in order: the same bits on any number of threads.

use rayon::prelude::*;

use super::Solver;
use super::multigrid::{Multigrid, PIECE};
use crate::error::{Error, Result};
use crate::progress::Run;

/// How the iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveInfo {
    /// Iterations until the slowest right-hand side had converged.
    pub iterations: usize,
    /// Largest residual of a right-hand side, relative to its length, both in units of the degrees.
    pub residual: f64,
}

/// Solves from zero until each residual is below the tolerance times its right-hand side, or iterations run out.
pub(super) fn solve(
    multigrid: &Multigrid<'_>,
    mut r: Vec<f64>,
    width: usize,
    solver: &Solver,
    run: &Run<'_>,
) -> Result<(Vec<f64>, SolveInfo)> {
    let zeros = || vec![0.0; r.len()];
    let (mut x, mut z, mut q) = (zeros(), zeros(), zeros());
    let mut work = multigrid.workspace(width);
    let inverse: Vec<f64> =
        multigrid.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
    for ((z, r), inverse) in z.chunks_exact_mut(width).zip(r.chunks_exact(width)).zip(&inverse) {
        z.iter_mut().zip(r).for_each(|(z, r)| *z = inverse * r);
    }
    let starts = dots(&r, &z, width);
    multigrid.precondition(&r, &mut z, &mut q, &mut work, width);
    let mut p = z.clone();
    let relative = |squares: &[f64]| {
        let ratio = |(square, start): (&f64, &f64)| if *start > 0.0 { (square / start).sqrt() } else { 0.0 };
        squares.iter().zip(&starts).map(ratio).fold(0.0, f64::max)
    };
    let mut rz = dots(&r, &z, width);
    let mut info = SolveInfo { iterations: 0, residual: relative(&starts) };
    while info.residual > solver.tolerance && info.iterations < solver.max_iterations {
        run.check()?;
        multigrid.apply(&p, &mut q, width);
        let pq = dots(&p, &q, width);
        // A right-hand side that is solved exactly stays as it is.
        let steps: Vec<f64> =
            rz.iter().zip(&pq).map(|(rz, pq)| if *pq > 0.0 { rz / pq } else { 0.0 }).collect();
        let squares = step(&mut x, &mut r, &p, &q, &steps, &inverse);
        info = SolveInfo { iterations: info.iterations + 1, residual: relative(&squares) };
        if !info.residual.is_finite() {
            return Err(Error::Numerical { what: "conjugate gradients" });
        }
        multigrid.precondition(&r, &mut z, &mut q, &mut work, width);
        let new = dots(&r, &z, width);
        let turns: Vec<f64> =
            new.iter().zip(&rz).map(|(new, old)| if *old > 0.0 { new / old } else { 0.0 }).collect();
        p.par_chunks_mut(PIECE * width).zip(z.par_chunks(PIECE * width)).for_each(|(p, z)| {
            for (p, z) in p.chunks_exact_mut(width).zip(z.chunks_exact(width)) {
                p.iter_mut().zip(z).zip(&turns).for_each(|((p, z), turn)| *p = z + turn * *p);
            }
        });
        rz = new;
    }
    Ok((x, info))
}

/// x ← x + steps·p, r ← r − steps·q; squares of the new residuals in units of the diagonal.
fn step(x: &mut [f64], r: &mut [f64], p: &[f64], q: &[f64], steps: &[f64], inverse: &[f64]) -> Vec<f64> {
    let width = steps.len();
    let size = PIECE * width;
    let pieces =
        x.par_chunks_mut(size).zip(r.par_chunks_mut(size)).zip(p.par_chunks(size)).zip(q.par_chunks(size));
    let of_pieces: Vec<Vec<f64>> = pieces
        .zip(inverse.par_chunks(PIECE))
        .map(|((((x, r), p), q), inverse)| {
            let mut squares = vec![0.0; width];
            let nodes = x.chunks_exact_mut(width).zip(r.chunks_exact_mut(width));
            let others = p.chunks_exact(width).zip(q.chunks_exact(width)).zip(inverse);
            for ((x, r), ((p, q), inverse)) in nodes.zip(others) {
                for lane in 0..width {
                    x[lane] += steps[lane] * p[lane];
                    r[lane] -= steps[lane] * q[lane];
                    squares[lane] += r[lane] * r[lane] * inverse;
                }
            }
            squares
        })
        .collect();
    total(of_pieces, width)
}

/// Inner product of each right-hand side.
fn dots(a: &[f64], b: &[f64], width: usize) -> Vec<f64> {
    let pieces = a.par_chunks(PIECE * width).zip(b.par_chunks(PIECE * width));
    let of_pieces: Vec<Vec<f64>> = pieces
        .map(|(a, b)| {
            let mut sums = vec![0.0; width];
            for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
            }
            sums
        })
        .collect();
    total(of_pieces, width)
}

/// The sum over the pieces, in their order.
fn total(of_pieces: Vec<Vec<f64>>, width: usize) -> Vec<f64> {
    let mut total = vec![0.0; width];
    for piece in of_pieces {
        total.iter_mut().zip(piece).for_each(|(total, sum)| *total += sum);
    }
    total
}
