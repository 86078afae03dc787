//! Conjugate gradients for several right-hand sides at once.
//!
//! The right-hand sides of a node lie beside each other, so that one pass over the edges serves all of them. Sums over the
//! nodes are made in fixed chunks and added in order: the same bits on any number of threads.

use rayon::prelude::*;

use super::Solver;
use super::multigrid::{CHUNK, FINEST, Multigrid};
use crate::error::{Error, Result};
use crate::progress::Run;

/// How often the iteration may start again from the true residual.
const STARTS: usize = 3;

/// How the iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveInfo {
    /// Iterations until the slowest right-hand side had converged.
    pub iterations: usize,
    /// Largest residual of a right-hand side, measured at the end, relative to its length; both in units of the degrees.
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
    let (mut x, mut z, mut p, mut q) = (zeros(), zeros(), zeros(), zeros());
    let right = r.clone();
    let mut work = multigrid.workspace(FINEST, width);
    let inverse: Vec<f64> =
        multigrid.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
    let starts = squares(&r, &inverse, width)?;
    let relative = |squares: &[f64]| {
        let ratio = |(square, start): (&f64, &f64)| if *start > 0.0 { (square / start).sqrt() } else { 0.0 };
        squares.iter().zip(&starts).map(ratio).fold(0.0, f64::max)
    };
    let mut info = SolveInfo { iterations: 0, residual: relative(&starts) };
    // The residual that is carried along drifts away from the true one: that is measured at the end, and if it is not small
    // enough the iteration starts again from there.
    for _ in 0..STARTS {
        multigrid.cycle(FINEST, &r, &mut z, &mut q, &mut work, width);
        p.copy_from_slice(&z);
        let mut rz = dots(&r, &z, width);
        while info.residual > solver.tolerance && info.iterations < solver.max_iterations {
            run.check()?;
            multigrid.apply(FINEST, &p, &mut q, width);
            let pq = dots(&p, &q, width);
            // A right-hand side that is solved exactly stays as it is.
            let steps: Vec<f64> =
                rz.iter().zip(&pq).map(|(rz, pq)| if *pq > 0.0 { rz / pq } else { 0.0 }).collect();
            step(&mut x, &mut r, &p, &q, &steps);
            let residual = relative(&squares(&r, &inverse, width)?);
            info = SolveInfo { iterations: info.iterations + 1, residual };
            multigrid.cycle(FINEST, &r, &mut z, &mut q, &mut work, width);
            let new = dots(&r, &z, width);
            let turns: Vec<f64> =
                new.iter().zip(&rz).map(|(new, old)| if *old > 0.0 { new / old } else { 0.0 }).collect();
            p.par_chunks_mut(CHUNK * width).zip(z.par_chunks(CHUNK * width)).for_each(|(p, z)| {
                for (p, z) in p.chunks_exact_mut(width).zip(z.chunks_exact(width)) {
                    p.iter_mut().zip(z).zip(&turns).for_each(|((p, z), turn)| *p = z + turn * *p);
                }
            });
            rz = new;
        }
        multigrid.apply(FINEST, &x, &mut q, width);
        r.par_iter_mut().zip(&right).zip(&q).for_each(|((r, right), q)| *r = right - q);
        info.residual = relative(&squares(&r, &inverse, width)?);
        if info.residual <= solver.tolerance || info.iterations >= solver.max_iterations {
            break;
        }
    }
    Ok((x, info))
}

/// Squared length of each right-hand side in units of the diagonal; an error if one is not a number.
fn squares(r: &[f64], inverse: &[f64], width: usize) -> Result<Vec<f64>> {
    let chunks = r.par_chunks(CHUNK * width).zip(inverse.par_chunks(CHUNK));
    let of_chunks: Vec<Vec<f64>> = chunks
        .map(|(r, inverse)| {
            let mut squares = vec![0.0; width];
            for (r, inverse) in r.chunks_exact(width).zip(inverse) {
                squares.iter_mut().zip(r).for_each(|(square, r)| *square += (r * inverse) * r);
            }
            squares
        })
        .collect();
    let squares = total(of_chunks, width);
    match squares.iter().all(|square| square.is_finite()) {
        true => Ok(squares),
        false => Err(Error::Numerical { what: "conjugate gradients" }),
    }
}

/// x ← x + steps·p, r ← r − steps·q.
fn step(x: &mut [f64], r: &mut [f64], p: &[f64], q: &[f64], steps: &[f64]) {
    let width = steps.len();
    let size = CHUNK * width;
    let ours = x.par_chunks_mut(size).zip(r.par_chunks_mut(size));
    ours.zip(p.par_chunks(size).zip(q.par_chunks(size))).for_each(|((x, r), (p, q))| {
        let nodes = x.chunks_exact_mut(width).zip(r.chunks_exact_mut(width));
        for ((x, r), (p, q)) in nodes.zip(p.chunks_exact(width).zip(q.chunks_exact(width))) {
            for lane in 0..width {
                x[lane] += steps[lane] * p[lane];
                r[lane] -= steps[lane] * q[lane];
            }
        }
    });
}

/// Inner product of each right-hand side.
fn dots(a: &[f64], b: &[f64], width: usize) -> Vec<f64> {
    let chunks = a.par_chunks(CHUNK * width).zip(b.par_chunks(CHUNK * width));
    let of_chunks: Vec<Vec<f64>> = chunks
        .map(|(a, b)| {
            let mut sums = vec![0.0; width];
            for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
            }
            sums
        })
        .collect();
    total(of_chunks, width)
}

/// The sum over the chunks, in their order.
fn total(of_chunks: Vec<Vec<f64>>, width: usize) -> Vec<f64> {
    let mut total = vec![0.0; width];
    for chunk in of_chunks {
        total.iter_mut().zip(chunk).for_each(|(total, sum)| *total += sum);
    }
    total
}
