//! Preconditioned conjugate gradients for several right-hand sides at once.
//!
//! The right-hand sides are interleaved by node, so one pass over the edges serves all of them. Sums over the
//! nodes are computed in fixed chunks and added in order: the same bits on any number of threads.

use rayon::prelude::*;

use super::level::CHUNK;
use super::vectors::{add_products, add_squares, advance_rows, turn_rows};
use super::{InterruptCheck, Solver};
use crate::error::{Error, Result};

/// Passes over vectors of at most this length stay on one thread: to wake another takes as long as 30,000 sums.
const IN_SEQUENCE: usize = 1 << 16;

/// How often the iteration may restart from the true residual.
const MAX_STARTS: usize = 3;

/// Outcome of the iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveInfo {
    /// Iterations until the slowest right-hand side had converged; 1 if a factor solved the system at once.
    pub iterations: usize,
    /// Largest residual of a right-hand side, measured at the end, relative to its length; both in units of the degrees.
    pub residual: f64,
}

/// A symmetric, positive semidefinite system A·x = b with a preconditioner. Vectors of `width` right-hand sides are interleaved
/// by node.
pub(super) trait System {
    /// Work space of the preconditioner.
    type Workspace;

    fn workspace(&self, width: usize) -> Self::Workspace;

    /// The diagonal of A.
    fn diagonal(&self) -> &[f64];

    /// out ← A·x.
    fn apply(&self, x: &[f64], out: &mut [f64], width: usize);

    /// z ← an approximate solution of A·z = r; `spare` is scratch space of the same length.
    fn precondition(
        &self,
        r: &[f64],
        z: &mut Vec<f64>,
        spare: &mut Vec<f64>,
        work: &mut Self::Workspace,
        width: usize,
    );
}

/// Solves from zero until each residual is below the tolerance times its right-hand side, or iterations run out.
pub(super) fn solve(
    system: &impl System,
    right: Vec<f64>,
    width: usize,
    solver: &Solver,
    check: InterruptCheck<'_>,
) -> Result<(Vec<f64>, SolveInfo)> {
    let iteration = iterated(system, right, width, solver, check)?;
    Ok((iteration.x, iteration.info))
}

/// bᵀ·A⁻¹·b of each right-hand side b, and the largest residual, squared.
///
/// With r the residual of x, that is (b + r)ᵀ·x + rᵀ·A⁻¹·r: what is left out is of second order, so that the root of the tolerance is enough, which takes
/// half the iterations.
pub(super) fn measure(
    system: &impl System,
    right: Vec<f64>,
    width: usize,
    solver: &Solver,
    check: InterruptCheck<'_>,
) -> Result<(Vec<f64>, f64)> {
    let solver = Solver { tolerance: solver.tolerance.sqrt(), ..*solver };
    let iteration = iterated(system, right, width, &solver, check)?;
    let (of_right, of_residual) =
        (dots(&iteration.right, &iteration.x, width), dots(&iteration.r, &iteration.x, width));
    let products = of_right.iter().zip(of_residual).map(|(right, residual)| right + residual).collect();
    Ok((products, iteration.info.residual.powi(2)))
}

/// The iteration at its end, with the true residual.
fn iterated<'a, S: System>(
    system: &'a S,
    right: Vec<f64>,
    width: usize,
    solver: &Solver,
    check: InterruptCheck<'_>,
) -> Result<Iteration<'a, S>> {
    let mut iteration = Iteration::new(system, right, width)?;
    // The updated residual drifts away from the true one, so the true one is measured at the end; if it is not small
    // enough, the iteration restarts from it.
    for _ in 0..MAX_STARTS {
        iteration.start();
        while !iteration.is_over(solver) {
            check()?;
            iteration.step()?;
            // After the last step no direction is needed, and the preconditioner takes most of the time.
            if !iteration.is_over(solver) {
                iteration.turn();
            }
        }
        iteration.measure()?;
        if iteration.is_over(solver) {
            break;
        }
    }
    Ok(iteration)
}

/// The vectors of the iteration, named as in every textbook.
struct Iteration<'a, S: System> {
    system: &'a S,
    width: usize,
    right: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    /// r·z of each right-hand side.
    rz: Vec<f64>,
    work: S::Workspace,
    /// 1/diagonal, or 0 where that is 0.
    inverse: Vec<f64>,
    /// Squared length of each right-hand side.
    starts: Vec<f64>,
    info: SolveInfo,
}

impl<'a, S: System> Iteration<'a, S> {
    fn new(system: &'a S, right: Vec<f64>, width: usize) -> Result<Self> {
        let zeros = || vec![0.0; right.len()];
        let inverse: Vec<f64> =
            system.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
        let starts = squares(&right, &inverse, width)?;
        let residual = relative(&starts, &starts);
        Ok(Self {
            system,
            width,
            r: right.clone(),
            x: zeros(),
            z: zeros(),
            p: zeros(),
            q: zeros(),
            rz: Vec::new(),
            work: system.workspace(width),
            right,
            inverse,
            starts,
            info: SolveInfo { iterations: 0, residual },
        })
    }

    /// Restarts at the current residual, without a previous direction.
    fn start(&mut self) {
        self.precondition();
        self.p.copy_from_slice(&self.z);
        self.rz = dots(&self.r, &self.z, self.width);
    }

    fn precondition(&mut self) {
        self.system.precondition(&self.r, &mut self.z, &mut self.q, &mut self.work, self.width);
    }

    fn is_over(&self, solver: &Solver) -> bool {
        self.info.residual <= solver.tolerance || self.info.iterations >= solver.max_iterations
    }

    fn step(&mut self) -> Result<()> {
        self.system.apply(&self.p, &mut self.q, self.width);
        let pq = dots(&self.p, &self.q, self.width);
        // A right-hand side that is solved exactly stays unchanged.
        let steps: Vec<f64> =
            self.rz.iter().zip(&pq).map(|(rz, pq)| if *pq > 0.0 { rz / pq } else { 0.0 }).collect();
        advance(&mut self.x, &mut self.r, &self.p, &self.q, &steps);
        let residual = relative(&squares(&self.r, &self.inverse, self.width)?, &self.starts);
        self.info = SolveInfo { iterations: self.info.iterations + 1, residual };
        Ok(())
    }

    /// The next direction.
    fn turn(&mut self) {
        self.precondition();
        let new = dots(&self.r, &self.z, self.width);
        let turns: Vec<f64> =
            new.iter().zip(&self.rz).map(|(new, old)| if *old > 0.0 { new / old } else { 0.0 }).collect();
        turn(&mut self.p, &self.z, &turns);
        self.rz = new;
    }

    /// Replaces the updated residual by the true one.
    fn measure(&mut self) -> Result<()> {
        self.system.apply(&self.x, &mut self.q, self.width);
        let terms = self.r.par_iter_mut().with_min_len(IN_SEQUENCE).zip(&self.right).zip(&self.q);
        terms.for_each(|((r, right), q)| *r = right - q);
        self.info.residual = relative(&squares(&self.r, &self.inverse, self.width)?, &self.starts);
        Ok(())
    }
}

/// The largest residual relative to its right-hand side, both as squared lengths.
fn relative(squares: &[f64], starts: &[f64]) -> f64 {
    let ratio = |(square, start): (&f64, &f64)| if *start > 0.0 { (square / start).sqrt() } else { 0.0 };
    squares.iter().zip(starts).map(ratio).fold(0.0, f64::max)
}

/// Squared length of each right-hand side in units of the diagonal; an error if one is not a number.
fn squares(r: &[f64], inverse: &[f64], width: usize) -> Result<Vec<f64>> {
    let of_chunk = |chunk: usize, sums: &mut [f64]| {
        add_squares(part(r, chunk, width), part(inverse, chunk, 1), width, sums);
    };
    let squares = total(inverse.len(), width, of_chunk);
    match squares.iter().all(|square| square.is_finite()) {
        true => Ok(squares),
        false => Err(Error::Numerical { what: "conjugate gradients" }),
    }
}

/// x ← x + steps·p, r ← r − steps·q.
fn advance(x: &mut [f64], r: &mut [f64], p: &[f64], q: &[f64], steps: &[f64]) {
    let size = CHUNK * steps.len();
    if x.len() <= IN_SEQUENCE {
        return advance_rows(x, r, p, q, steps);
    }
    let ours = x.par_chunks_mut(size).zip(r.par_chunks_mut(size));
    let others = p.par_chunks(size).zip(q.par_chunks(size));
    ours.zip(others).for_each(|((x, r), (p, q))| advance_rows(x, r, p, q, steps));
}

/// p ← z + turns·p.
fn turn(p: &mut [f64], z: &[f64], turns: &[f64]) {
    let size = CHUNK * turns.len();
    if p.len() <= IN_SEQUENCE {
        return turn_rows(p, z, turns);
    }
    p.par_chunks_mut(size).zip(z.par_chunks(size)).for_each(|(p, z)| turn_rows(p, z, turns));
}

/// Inner product of each right-hand side.
fn dots(a: &[f64], b: &[f64], width: usize) -> Vec<f64> {
    let of_chunk = |chunk: usize, sums: &mut [f64]| {
        add_products(part(a, chunk, width), part(b, chunk, width), width, sums);
    };
    total(a.len() / width, width, of_chunk)
}

/// The values of the nodes of a chunk.
fn part(values: &[f64], chunk: usize, width: usize) -> &[f64] {
    let size = CHUNK * width;
    &values[chunk * size..values.len().min((chunk + 1) * size)]
}

/// The sum over the chunks, in their order.
fn total(n_nodes: usize, width: usize, of_chunk: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    let n_chunks = n_nodes.div_ceil(CHUNK);
    let mut of_chunks = vec![0.0; n_chunks * width];
    if n_nodes * width <= IN_SEQUENCE {
        of_chunks.chunks_exact_mut(width).enumerate().for_each(|(chunk, sums)| of_chunk(chunk, sums));
    } else {
        let chunks = of_chunks.par_chunks_exact_mut(width).enumerate();
        chunks.for_each(|(chunk, sums)| of_chunk(chunk, sums));
    }
    let mut total = vec![0.0; width];
    for chunk in of_chunks.chunks_exact(width) {
        total.iter_mut().zip(chunk).for_each(|(total, sum)| *total += sum);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference on a path with both ends fixed at 0; its diagonal is the preconditioner.
    struct Path {
        diagonal: Vec<f64>,
    }

    impl System for Path {
        type Workspace = ();

        fn workspace(&self, _: usize) {}

        fn diagonal(&self) -> &[f64] {
            &self.diagonal
        }

        fn apply(&self, x: &[f64], out: &mut [f64], width: usize) {
            let at = |place: Option<usize>| place.and_then(|place| x.get(place)).unwrap_or(&0.0);
            for (place, out) in out.iter_mut().enumerate() {
                *out = 2.0 * x[place] - at(place.checked_sub(width)) - at(Some(place + width));
            }
        }

        fn precondition(
            &self,
            r: &[f64],
            z: &mut Vec<f64>,
            _: &mut Vec<f64>,
            _: &mut Self::Workspace,
            _: usize,
        ) {
            z.iter_mut().zip(r).for_each(|(z, r)| *z = r / 2.0);
        }
    }

    #[test]
    fn any_system_with_a_preconditioner_is_solved() {
        let n = 60;
        let system = Path { diagonal: vec![2.0; n] };
        // The second right-hand side is 0.
        let right: Vec<f64> = (0..n).flat_map(|_| [1.0, 0.0]).collect();
        let solver = Solver { tolerance: 1e-12, max_iterations: 2 * n };
        let (x, info) = solve(&system, right, 2, &solver, &|| Ok(())).unwrap();
        assert!(info.residual <= 1e-12 && info.iterations <= n, "{info:?}");
        for (place, x) in x.chunks_exact(2).enumerate() {
            let exact = (place + 1) as f64 * (n - place) as f64 / 2.0;
            assert!((x[0] - exact).abs() < 1e-9 * exact && x[1] == 0.0);
        }
    }

    #[test]
    fn an_interrupt_ends_the_iteration() {
        let system = Path { diagonal: vec![2.0; 9] };
        let found = solve(&system, vec![1.0; 9], 1, &Solver::default(), &|| Err(Error::Canceled));
        assert!(matches!(found, Err(Error::Canceled)));
    }
}
