//! Minimizers over a flat vector of parameters: mini-batch SGD with momentum, Adam, L-BFGS.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::schedule::Schedule;
use super::{StopReason, Training};
use crate::dense::{VECTOR_CHUNK, add_scaled, dot, norm};
use crate::error::{Error, Result};
use crate::parameter::choices;
use crate::vectorized::vectorized;

choices! {
    /// The optimizer.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Optimizer = "adam" {
        /// Stochastic gradient descent with momentum: v ← m·v − rate·g, x ← x + v.
        "sgd" => Sgd {
            /// Step length.
            learning_rate: f64 = 0.02, "finite and above 0" => |rate| *rate > 0.0 && rate.is_finite();
            /// Momentum m.
            momentum: f64 = 0.9, "at least 0 and below 1" => |momentum| (0.0..1.0).contains(momentum);
            /// Rows in a mini-batch.
            batch: usize = 100, "at least 1" => |batch| *batch >= 1;
        },
        /// Adam (Kingma and Ba 2015), β = (0.9, 0.999).
        "adam" => Adam {
            /// Step length.
            learning_rate: f64 = 0.02, "finite and above 0" => |rate| *rate > 0.0 && rate.is_finite();
            /// Rows in a mini-batch.
            batch: usize = 100, "at least 1" => |batch| *batch >= 1;
        },
        /// L-BFGS on all rows, with a line search that demands the strong Wolfe conditions.
        "lbfgs" => Lbfgs {
            /// Pairs of steps and gradients that are remembered.
            memory: usize = 10, "at least 1" => |memory| *memory >= 1;
        },
    }
}

/// Moves the parameters along a gradient, and says whether more steps shall follow.
pub(super) type Step<'a> = dyn FnMut(&mut [f64], &[f64]) -> ControlFlow<()> + 'a;

/// Moves the parameters along a gradient by a share of the learning rate.
type RatedStep<'a> = dyn FnMut(&mut [f64], &[f64], f64) + 'a;

/// What is minimized.
pub(super) trait Problem {
    /// An iteration is done.
    fn advance(&mut self) {}
    /// Loss and gradient over all rows.
    fn full(&mut self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64>;
    /// Calls `step(parameters, gradient)`, which moves the parameters, for each mini-batch of an epoch in a seeded order, until it
    /// says that this was the last step. Gives the mean loss over the rows of those mini-batches.
    fn epoch(
        &mut self,
        epoch: usize,
        batch: usize,
        parameters: &mut [f64],
        step: &mut Step<'_>,
    ) -> Result<f64>;
}

/// Minimizes in place; `tau` is only for the messages.
pub(super) fn minimize(
    problem: &mut dyn Problem,
    parameters: &mut [f64],
    optimizer: Optimizer,
    schedule: Schedule,
    tau: Option<f64>,
) -> Result<Training> {
    let n = parameters.len();
    let (losses, stop) = match optimizer {
        Optimizer::Sgd { learning_rate, momentum, batch } => {
            let mut velocity = vec![0.0; n];
            epochs(problem, parameters, batch, schedule, tau, &mut |parameters, gradient, rate| {
                parameters
                    .par_iter_mut()
                    .with_min_len(VECTOR_CHUNK)
                    .zip(&mut velocity)
                    .zip(gradient)
                    .for_each(|((x, v), g)| {
                        *v = momentum * *v - learning_rate * rate * g;
                        *x += *v;
                    });
            })?
        }
        Optimizer::Adam { learning_rate, batch } => {
            let (mut first, mut second, mut steps) = (vec![0.0; n], vec![0.0; n], 0);
            epochs(problem, parameters, batch, schedule, tau, &mut |parameters, gradient, rate| {
                steps += 1;
                let (c1, c2) = (1.0 - 0.9f64.powi(steps), 1.0 - 0.999f64.powi(steps));
                let (rate, epsilon) = (learning_rate * rate * c2.sqrt() / c1, 1e-8 * c2.sqrt());
                let moments = first.par_chunks_mut(VECTOR_CHUNK).zip(second.par_chunks_mut(VECTOR_CHUNK));
                parameters
                    .par_chunks_mut(VECTOR_CHUNK)
                    .zip(gradient.par_chunks(VECTOR_CHUNK))
                    .zip(moments)
                    .for_each(|((x, g), (m, v))| adam_step(x, g, m, v, rate, epsilon));
            })?
        }
        Optimizer::Lbfgs { memory } => lbfgs(problem, parameters, memory, schedule, tau)?,
    };
    Ok(Training { tau, losses, stop })
}

vectorized! {
    /// One step of Adam on some parameters `x` with the gradient `g`: the moments first, then the parameters.
    fn adam_step<'a>(
        x: &'a mut [f64],
        g: &'a [f64],
        m: &'a mut [f64],
        v: &'a mut [f64],
        rate: f64,
        epsilon: f64,
    ) -> () {
        for (((x, g), m), v) in x.iter_mut().zip(g).zip(m).zip(v) {
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            *x -= rate * *m / (v.sqrt() + epsilon);
        }
    }
}

fn epochs(
    problem: &mut dyn Problem,
    parameters: &mut [f64],
    batch: usize,
    schedule: Schedule,
    tau: Option<f64>,
    step: &mut RatedStep<'_>,
) -> Result<(Vec<f64>, StopReason)> {
    let (mut losses, mut n_steps) = (Vec::new(), 0);
    loop {
        let epoch = losses.len();
        let loss = problem.epoch(epoch, batch, parameters, &mut |parameters, gradient| {
            step(parameters, gradient, schedule.rate(n_steps));
            n_steps += 1;
            if schedule.is_over(n_steps, epoch) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if !loss.is_finite() {
            return Err(Error::Diverged { tau, iteration: epoch });
        }
        losses.push(loss);
        problem.advance();
        if schedule.has_converged(&losses) {
            return Ok((losses, StopReason::Converged));
        }
        if schedule.is_over(n_steps, losses.len()) {
            return Ok((losses, end_of(schedule)));
        }
    }
}

/// What it means that all steps were used.
fn end_of(schedule: Schedule) -> StopReason {
    match schedule {
        Schedule::Steps { .. } => StopReason::Completed,
        Schedule::UntilConverged { .. } => StopReason::IterationLimit,
    }
}

/// Nocedal and Wright, "Numerical Optimization", algorithms 7.4, 7.5, 3.5 and 3.6.
fn lbfgs(
    problem: &mut dyn Problem,
    parameters: &mut [f64],
    memory: usize,
    schedule: Schedule,
    tau: Option<f64>,
) -> Result<(Vec<f64>, StopReason)> {
    let n = parameters.len();
    let mut gradient = vec![0.0; n];
    let mut loss = problem.full(parameters, &mut gradient)?;
    let mut losses = vec![loss];
    let mut pairs: std::collections::VecDeque<(Vec<f64>, Vec<f64>, f64)> = Default::default();
    for iteration in 0..schedule.max_iterations() {
        if !loss.is_finite() {
            return Err(Error::Diverged { tau, iteration });
        }
        if norm(&gradient) <= 1e-12 * norm(parameters).max(1.0) {
            return Ok((losses, StopReason::Converged));
        }
        let direction = two_loop(&gradient, &pairs);
        let first = if pairs.is_empty() { (1.0 / norm(&gradient)).min(1.0) } else { 1.0 };
        let start = Point { loss, slope: dot(&direction, &gradient) };
        let Some(found) = wolfe_search(problem, parameters, &direction, start, first)? else {
            if pairs.is_empty() {
                return Ok((losses, StopReason::NoDescent));
            }
            // The curvature estimate may be stale: once more from the plain gradient.
            pairs.clear();
            continue;
        };
        let step: Vec<f64> =
            found.parameters.iter().zip(parameters.iter()).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = found.gradient.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        let curvature = dot(&step, &change);
        if curvature > 1e-14 * norm(&step) * norm(&change) {
            if pairs.len() == memory {
                pairs.pop_front();
            }
            pairs.push_back((step, change, curvature));
        }
        parameters.copy_from_slice(&found.parameters);
        (gradient, loss) = (found.gradient, found.loss);
        losses.push(loss);
        problem.advance();
        if schedule.has_converged(&losses) {
            return Ok((losses, StopReason::Converged));
        }
    }
    Ok((losses, end_of(schedule)))
}

/// −H·gradient with the inverse Hessian H implied by the remembered pairs.
fn two_loop(gradient: &[f64], pairs: &std::collections::VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut alphas = Vec::with_capacity(pairs.len());
    for (step, change, curvature) in pairs.iter().rev() {
        let alpha = dot(step, &q) / curvature;
        add_scaled(&mut q, -alpha, change);
        alphas.push(alpha);
    }
    if let Some((_, change, curvature)) = pairs.back() {
        let scale = curvature / dot(change, change);
        q.iter_mut().for_each(|v| *v *= scale);
    }
    for ((step, change, curvature), alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
        let beta = dot(change, &q) / curvature;
        add_scaled(&mut q, alpha - beta, step);
    }
    q
}

#[derive(Clone, Copy)]
struct Point {
    loss: f64,
    slope: f64,
}

struct Found {
    parameters: Vec<f64>,
    gradient: Vec<f64>,
    loss: f64,
}

/// A step that lowers the loss enough and flattens the slope enough; `None` if there is none to be found.
fn wolfe_search(
    problem: &mut dyn Problem,
    parameters: &[f64],
    direction: &[f64],
    start: Point,
    first: f64,
) -> Result<Option<Found>> {
    const ENOUGH: f64 = 1e-4;
    const FLAT: f64 = 0.9;
    if start.slope >= 0.0 || start.slope.is_nan() {
        return Ok(None);
    }
    let (mut low, mut high) = ((0.0, start), None::<f64>);
    let mut length = first;
    let mut best: Option<Found> = None;
    for _ in 0..25 {
        let moved: Vec<f64> = parameters.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        let mut gradient = vec![0.0; moved.len()];
        let loss = problem.full(&moved, &mut gradient)?;
        let slope = dot(&gradient, direction);
        let lower =
            loss.is_finite() && loss <= start.loss + ENOUGH * length * start.slope && loss < start.loss;
        if !lower || (high.is_some() && loss >= low.1.loss) {
            high = Some(length);
        } else {
            let flat = slope.abs() <= -FLAT * start.slope;
            let rising = slope >= 0.0;
            best = Some(Found { parameters: moved, gradient, loss });
            if flat {
                return Ok(best);
            }
            if rising {
                high = Some(length);
            } else {
                low = (length, Point { loss, slope });
            }
        }
        length = match high {
            None => length * 2.0,
            Some(high) => 0.5 * (low.0 + high),
        };
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley, the minimum 0 at (1, 1).
    struct Valley;

    impl Problem for Valley {
        fn full(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * x[0] * b;
            gradient[1] = 200.0 * b;
            Ok(a * a + 100.0 * b * b)
        }

        fn epoch(&mut self, _: usize, _: usize, parameters: &mut [f64], step: &mut Step<'_>) -> Result<f64> {
            let mut gradient = vec![0.0; 2];
            let loss = self.full(parameters, &mut gradient)?;
            // One mini-batch is the whole: nothing is left to be skipped.
            let _ = step(parameters, &gradient);
            Ok(loss)
        }
    }

    #[test]
    fn every_minimizer_finds_the_valley_floor() {
        for (optimizer, limit, close) in [
            (Optimizer::Sgd { learning_rate: 1e-3, momentum: 0.9, batch: 1 }, 20_000, 1e-3),
            (Optimizer::Adam { learning_rate: 2e-2, batch: 1 }, 20_000, 1e-3),
            (Optimizer::Lbfgs { memory: 10 }, 200, 1e-6),
        ] {
            let mut x = vec![-1.2, 1.0];
            let schedule = Schedule::UntilConverged { max_epochs: limit, tolerance: 0.0, patience: 500 };
            let training = minimize(&mut Valley, &mut x, optimizer, schedule, None).unwrap();
            assert!((x[0] - 1.0).abs() < close && (x[1] - 1.0).abs() < 2.0 * close, "{optimizer:?}: {x:?}");
            assert!(training.losses.last().unwrap() < &training.losses[0]);
        }
    }

    #[test]
    fn a_fixed_number_of_steps_is_completed() {
        for optimizer in [Optimizer::Adam { learning_rate: 2e-2, batch: 1 }, Optimizer::Lbfgs { memory: 3 }] {
            let mut x = vec![-1.2, 1.0];
            let schedule = Schedule::default().with_steps(7);
            let training = minimize(&mut Valley, &mut x, optimizer, schedule, None).unwrap();
            assert_eq!(training.stop, StopReason::Completed, "{optimizer:?}");
            // L-BFGS has the loss of its start, too.
            assert!((7..=8).contains(&training.losses.len()), "{optimizer:?}");
        }
    }

    #[test]
    fn divergence_is_an_error() {
        let mut x = vec![-1.2, 1.0];
        let schedule = Schedule::UntilConverged { max_epochs: 1000, tolerance: 0.0, patience: 1000 };
        let wild = Optimizer::Sgd { learning_rate: 10.0, momentum: 0.0, batch: 1 };
        assert!(matches!(
            minimize(&mut Valley, &mut x, wild, schedule, Some(0.5)),
            Err(Error::Diverged { .. })
        ));
    }
}
