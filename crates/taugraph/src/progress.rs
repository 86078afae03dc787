//! How a run speaks with whoever started it: progress out, cancellation in, the memory it may use, and room beside it.
//!
//! The library itself prints nothing. A front end implements [`Progress`] and hands it over in a [`Run`].

use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::error::{Error, Result};
use crate::memory::{self, Scratch};

/// Receives the progress of a run and may ask it to stop.
///
/// The methods are called from worker threads; they must be quick.
pub trait Progress: Sync {
    /// A stage begins. `total` is the number of steps it will report, where that is known.
    fn stage(&self, name: &str, total: Option<u64>) {
        let _ = (name, total);
    }

    /// `steps` more steps of the current stage are done.
    fn advance(&self, steps: u64) {
        let _ = steps;
    }

    /// Whether the run should stop. Asked at least between blocks of work.
    fn canceled(&self) -> bool {
        false
    }
}

/// Says nothing and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}

/// What belongs to one run and not to the method: the seed, the listener, the memory limit and the room outside it.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Every random number is a function of this seed; see [`crate::random`].
    pub seed: u64,
    /// Who listens.
    pub progress: &'a dyn Progress,
    /// Bytes that the run may allocate; `None` means no limit is known and nothing is refused.
    pub memory_limit: Option<u64>,
    /// Who keeps finished stages.
    pub checkpoints: Option<&'a dyn Checkpoints>,
    /// Where tables as large as the points are kept; `None` keeps them in memory. The results are the same to the bit.
    pub scratch: Option<&'a dyn Scratch>,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("seed", &self.seed)
            .field("memory_limit", &self.memory_limit)
            .field("has_scratch", &self.scratch.is_some())
            .finish()
    }
}

impl Run<'static> {
    /// A silent run with `seed`, limited to the memory that the system has available now.
    pub fn new(seed: u64) -> Self {
        let memory_limit = memory::available();
        Self { seed, progress: &Silent, memory_limit, checkpoints: None, scratch: None }
    }
}

impl<'a> Run<'a> {
    /// The same run with a listener.
    pub fn with_progress<'b>(self, progress: &'b dyn Progress) -> Run<'b>
    where
        'a: 'b,
    {
        Run { progress, ..self }
    }

    /// The same run with someone who keeps its finished stages.
    pub fn with_checkpoints<'b>(self, checkpoints: &'b dyn Checkpoints) -> Run<'b>
    where
        'a: 'b,
    {
        Run { checkpoints: Some(checkpoints), ..self }
    }

    /// The same run without keeping anything: for stages that are repeated.
    pub(crate) fn without_checkpoints(self) -> Self {
        Run { checkpoints: None, ..self }
    }

    /// The same run with room for large tables outside memory.
    pub fn with_scratch<'b>(self, scratch: &'b dyn Scratch) -> Run<'b>
    where
        'a: 'b,
    {
        Run { scratch: Some(scratch), ..self }
    }

    /// The same run with another seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same run with another memory limit.
    pub fn with_memory_limit(self, bytes: Option<u64>) -> Self {
        Self { memory_limit: bytes, ..self }
    }

    /// Announces a stage, unless the run was canceled.
    pub fn stage(&self, name: &str, total: Option<u64>) -> Result<()> {
        self.check()?;
        self.progress.stage(name, total);
        Ok(())
    }

    /// What was kept of a stage if it `fits` this run, or what `compute` gives, which is then kept.
    pub(crate) fn checkpointed<T: Checkpoint>(
        &self,
        stage: &str,
        fits: impl Fn(&T) -> bool,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(keeper) = self.checkpoints else { return compute() };
        let known =
            keeper.load(stage).and_then(|arrays| T::from_arrays(arrays).ok()).filter(|known| fits(known));
        if let Some(known) = known {
            return Ok(known);
        }
        let computed = compute()?;
        keeper.save(stage, &computed.to_arrays());
        Ok(computed)
    }

    /// An error if the run was canceled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.progress.canceled() { Err(Error::Canceled) } else { Ok(()) }
    }
}
