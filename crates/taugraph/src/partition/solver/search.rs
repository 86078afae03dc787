//! The search for eigenpairs, without the vectors: small matrices, and what to do next.

use faer::Mat;

use super::dense::Dense;
use crate::error::{Error, Result, require};
use crate::linear::LANES;
use crate::parameter::ParameterTree;
use crate::random::{Stage, Stream};
use crate::spectral::{
    self, DavidsonParams, EigenParams, FRESH, HARMLESS, MAX_STARTS, Pace, Projection, Quality, START, Widths,
    new_ones,
};

/// Upper bound on the eigenvalues of normalized Laplacians.
const BOUND: f64 = 2.0;
/// Tolerance of the search, as a fraction of the user's, which the measured residuals must meet.
const OF_TOLERANCE: f64 = 0.25;
/// Blocks in the space before it restarts, for few and for many pairs: vectors take memory on the machines of the partitions, restarts take steps.
const BLOCKS: [usize; 2] = [4, 3];
const FEW: usize = 16;

/// The best pairs of the space, to be measured.
#[derive(Debug, Clone)]
pub struct Look {
    /// The vectors in terms of the basis, a column for each.
    pub rotation: Dense,
    /// Ritz values.
    pub values: Vec<f64>,
}

/// Orthonormal combinations of candidates.
#[derive(Debug, Clone)]
pub struct Directions {
    /// A column for each that is new and fits; none if there is none.
    pub rotation: Dense,
    /// Whether the candidates are to be replaced by them and projected once more, because rounding errors were amplified.
    pub again: bool,
}

/// The pairs found, measured again.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenOutcome {
    /// Rayleigh quotients, ascending; the first is the null vector's.
    pub values: Vec<f64>,
    /// |A·u − λ·u|.
    pub residuals: Vec<f64>,
    /// Whether no smaller pair is missing.
    pub confirmed: bool,
    /// Steps of the search.
    pub steps: u32,
    /// Vectors that were preconditioned.
    pub applications: usize,
}

/// A search for the smallest eigenpairs besides the null vector.
#[derive(Clone)]
pub struct EigenSearch {
    params: DavidsonParams,
    /// The user's tolerance and angle.
    limits: (f64, f64),
    projection: Projection,
    pace: Pace,
    look: Option<Look>,
    /// The whole rotation of the last look, with pairs that are not measured.
    leading: Mat<f64>,
    quality: Option<Quality>,
    confirmed: bool,
    /// The lengths of the candidates before they were projected.
    before: Vec<f64>,
    /// Whether the candidates are projected for the second time.
    is_second: bool,
    /// Random starts so far, and vectors that the start is to have.
    starts: u32,
    full: usize,
    measured: Vec<f64>,
    squares: Vec<f64>,
}

impl EigenSearch {
    /// For `n_pairs` pairs of a connected graph of `n_nodes` nodes, the null vector included, with so many guesses.
    pub fn new(
        n_nodes: usize,
        n_pairs: usize,
        n_guesses: usize,
        eigen: &EigenParams,
        seed: u64,
    ) -> Result<Self> {
        eigen.check_ranges("eigen")?;
        let rule = "must be at least 2 and at most the number of nodes";
        require(n_pairs >= 2 && n_pairs <= n_nodes, "eigenpairs", n_pairs, rule)?;
        let (wanted, room) = (n_pairs - 1, n_nodes - 1);
        let block = (wanted + 3).next_multiple_of(LANES).min(room);
        let blocks = BLOCKS[usize::from(block > FEW)];
        let space = (blocks * block).max(Widths::n_start(n_guesses)).min(room);
        let params = DavidsonParams {
            wanted,
            tolerance: OF_TOLERANCE * eigen.tolerance * BOUND,
            angle: eigen.angle,
            norm_bound: BOUND,
            max_applications: eigen.max_applications,
            told_apart: false,
            widths: Widths { block, space, at_once: block, room },
        };
        Ok(Self {
            params,
            limits: (eigen.tolerance * BOUND, eigen.angle),
            projection: Projection::new(space, Stream::new(seed, Stage::Eigen)),
            pace: Pace::new(0),
            look: None,
            leading: Mat::zeros(0, 0),
            quality: None,
            confirmed: false,
            before: Vec::new(),
            is_second: false,
            starts: 0,
            full: 0,
            measured: Vec::new(),
            squares: Vec::new(),
        })
    }

    /// Where the search stands between two steps, to be stored with the vectors of the partitions.
    pub fn state(&self) -> (Vec<u64>, Vec<f64>) {
        let (of_projection, values) = self.projection.to_numbers();
        let (of_pace, best) = self.pace.to_numbers();
        ([of_projection, of_pace].concat(), [best].into_iter().chain(values).collect())
    }

    /// The same search, after its start, where it stood then.
    pub fn restored(mut self, numbers: &[u64], values: &[f64]) -> Result<Self> {
        let bad = Error::Length { what: "stored search", expected: 6, received: numbers.len() };
        let (&[filled, rows, columns, step, applications, best_step], Some((&best, values))) =
            (numbers, values.split_first())
        else {
            return Err(bad);
        };
        self.projection = self.projection.with_numbers([filled, rows, columns], values).ok_or(bad)?;
        self.pace = Pace::of_numbers([step, applications, best_step], best);
        Ok(self)
    }

    /// Vectors that the space has room for.
    pub fn room(&self) -> usize {
        self.projection.room
    }

    /// Vectors in the space.
    pub fn filled(&self) -> usize {
        self.projection.filled
    }

    /// Steps so far.
    pub fn steps(&self) -> u32 {
        self.pace.step
    }

    /// How many random vectors are to be drawn now, and their salt, to complete the start; `None` if it is complete, or in vain. Guesses take the place
    /// of some.
    pub fn missing_at_start(&mut self) -> Option<(usize, u32)> {
        // As on one machine: random ones besides vectors that are close to the wanted ones, so that no copy of an eigenvalue is missed.
        if self.starts == 0 {
            let count = if self.filled() > self.params.wanted { LANES } else { self.params.widths.block };
            self.full = (self.filled() + count).min(self.room());
        }
        // The inverse makes vectors similar: missing ones are drawn again, orthogonal to these.
        let missing = self.full.saturating_sub(self.filled());
        if missing == 0 || self.starts == MAX_STARTS {
            return None;
        }
        self.starts += 1;
        self.pace.applications += missing;
        Some((missing, START + self.starts - 1))
    }

    /// Random vectors for a step that found nothing new, and their salt.
    pub fn fresh(&mut self) -> (usize, u32) {
        self.pace.applications += LANES;
        (LANES, FRESH + self.pace.step)
    }

    /// What the candidates share with the known vectors, all partitions together; to be subtracted.
    pub fn shares(&mut self, parts: &[Dense]) -> Result<Dense> {
        let sum = Dense::sum(parts)?;
        self.before = sum.row(sum.n_rows() - 1).iter().map(|square| square.sqrt()).collect();
        Ok(sum)
    }

    /// The new directions among the candidates, given their inner products after known vectors were subtracted.
    pub fn directions(&mut self, parts: &[Dense]) -> Result<Directions> {
        let products = Dense::sum(parts)?.to_mat();
        let width = products.nrows();
        let after: Vec<f64> = (0..width).map(|at| products[(at, at)].max(0.0).sqrt()).collect();
        if after.iter().chain(&self.before).any(|length| !length.is_finite()) {
            return Err(Error::Numerical { what: "an eigenproblem" });
        }
        let (kept, growth) = new_ones(&self.before, &after);
        let is_usable = |at: usize| kept[at] && after[at] > f64::MIN_POSITIVE;
        let factor = |at: usize| if is_usable(at) { 1.0 / after[at] } else { 0.0 };
        let factors: Vec<f64> = (0..width).map(factor).collect();
        let scaled = Mat::from_fn(width, width, |i, j| products[(i, j)] * factors[i] * factors[j]);
        let found = spectral::Directions::of(scaled.as_ref())?;
        let again = found.count > 0 && !self.is_second && growth * found.growth > HARMLESS;
        self.is_second = again;
        let count = if again { found.rotation.ncols() } else { self.projection.fitting(found.count) };
        let rotation = Mat::from_fn(width, count, |i, j| factors[i] * found.rotation[(i, j)]);
        // Without columns it is no matrix for others.
        let rotation = if count == 0 { Dense::default() } else { Dense::of(rotation.as_ref()) };
        Ok(Directions { rotation, again })
    }

    /// Directions were appended: the products of the basis with their images.
    pub fn widen(&mut self, parts: &[Dense]) -> Result<()> {
        let new = Dense::sum(parts)?;
        if new.n_columns > self.projection.fitting(new.n_columns)
            || new.n_rows() != self.filled() + new.n_columns
        {
            let (expected, received) = (self.filled() + new.n_columns, new.n_rows());
            return Err(Error::Length { what: "products of the basis", expected, received });
        }
        self.projection.widen(new.to_mat().as_ref());
        Ok(())
    }

    /// The best pairs of the space, whose residuals are to be measured.
    pub fn look(&mut self) -> Result<Look> {
        let (values, rotation) = self.projection.ritz()?;
        let count = self.params.widths.block.min(self.filled());
        self.leading = rotation.as_ref().subcols(0, count).to_owned();
        let look = Look { rotation: Dense::of(self.leading.as_ref()), values: values[..count].to_vec() };
        self.look = Some(look.clone());
        Ok(look)
    }

    /// Whether the search is over, given the squared residuals of the best pairs.
    pub fn judge(&mut self, parts: &[Dense]) -> Result<bool> {
        let squares = Dense::sum(parts)?;
        let look = self.look.as_ref().ok_or(Error::Empty { what: "pairs" })?;
        let lengths: Vec<f64> =
            squares.values[..look.values.len()].iter().map(|square| square.sqrt()).collect();
        let DavidsonParams { wanted, tolerance, angle, norm_bound, .. } = self.params;
        let quality = Quality::new(&look.values, lengths, wanted, tolerance, angle, norm_bound);
        self.pace.note(&quality);
        let verdict = self.pace.verdict(&quality, self.filled(), &self.params);
        self.quality = Some(quality);
        self.confirmed = verdict == Some(true);
        Ok(verdict.is_some())
    }

    /// The largest residual among the pairs that count, for those who watch.
    pub fn worst(&self) -> f64 {
        self.quality.as_ref().map_or(f64::INFINITY, Quality::worst)
    }

    /// The pairs whose residuals are to be preconditioned, and how the basis is to be replaced before new vectors are appended, if it is full.
    pub fn improve(&mut self) -> (Vec<usize>, Option<Dense>) {
        let named = self.quality.as_ref().map_or_else(Vec::new, Quality::to_improve);
        self.pace.applications += named.len();
        let count = named.len().max(LANES);
        let rotation = self.projection.make_room(count, self.leading.as_ref(), self.pace.step);
        (named, rotation.map(|rotation| Dense::of(rotation.as_ref())))
    }

    /// A step has been made.
    pub fn step(&mut self) {
        self.pace.step += 1;
    }

    /// The wanted vectors in terms of the basis, which are to be measured.
    pub fn found(&self) -> Dense {
        Dense::of(self.leading.as_ref().subcols(0, self.params.wanted.min(self.leading.ncols())))
    }

    /// Rayleigh quotients of the null vector and these, from squared lengths and products with their images.
    pub fn quotients(&mut self, parts: &[Dense]) -> Result<Vec<f64>> {
        let sum = Dense::sum(parts)?;
        let count = 1 + self.params.wanted.min(self.leading.ncols());
        self.squares = sum.row(0)[..count].to_vec();
        // Rounding may leave a value slightly below 0.
        let quotients =
            self.squares.iter().zip(sum.row(1)).map(|(square, product)| (product / square).max(0.0));
        self.measured = quotients.collect();
        Ok(self.measured.clone())
    }

    /// The outcome, from the squared residuals of the measured vectors; an error if pairs are not within the tolerance.
    pub fn conclude(&self, parts: &[Dense]) -> Result<EigenOutcome> {
        let sum = Dense::sum(parts)?;
        let lengths =
            sum.values.iter().zip(&self.squares).map(|(residual, square)| (residual / square).sqrt());
        let residuals: Vec<f64> = lengths.collect();
        let (tolerance, angle) = self.limits;
        let next = self
            .quality
            .as_ref()
            .filter(|_| self.confirmed)
            .and_then(|quality| Some(quality.distance? - quality.lengths.get(self.params.wanted)?));
        let allowed = tolerance.max(angle * next.unwrap_or(0.0));
        let wanted = 1 + self.params.wanted;
        let converged = residuals.iter().filter(|residual| **residual <= allowed).count();
        if converged < wanted {
            let residual = residuals.iter().copied().fold(0.0, f64::max);
            return Err(Error::EigenNotConverged { converged, wanted, residual, tolerance: allowed });
        }
        Ok(EigenOutcome {
            values: self.measured.clone(),
            residuals,
            confirmed: self.confirmed,
            steps: self.pace.step,
            applications: self.pace.applications,
        })
    }

    /// The factor of each measured vector: its length becomes 1, and its largest entry positive. Each partition has the largest entries of its nodes.
    pub fn factors(&self, largest: &[Vec<(f64, u32)>]) -> Vec<f64> {
        let factor = |(column, square): (usize, &f64)| {
            let entries = largest.iter().filter_map(|part| part.get(column));
            let largest = entries.fold((0.0f64, u32::MAX), |best, &(entry, id)| {
                let (size, known) = (entry.abs(), best.0.abs());
                if size > known || size == known && id < best.1 { (entry, id) } else { best }
            });
            if largest.0 < 0.0 { -1.0 / square.sqrt() } else { 1.0 / square.sqrt() }
        };
        self.squares.iter().enumerate().map(factor).collect()
    }
}
