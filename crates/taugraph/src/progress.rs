//! How a run communicates with its caller: progress out, cancellation in, the memory it may use, and out-of-core storage.
//!
//! The library itself prints nothing. A front end implements [`Progress`] and passes it in a [`Run`].

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::error::{Error, Result};
use crate::memory::{self, Scratch};

/// How often a run that waits asks whether it should stop.
const LOOK: Duration = Duration::from_millis(20);

/// Receives the progress of a run and may ask it to stop.
///
/// The methods are called from worker threads; they must be quick.
pub trait Progress: Sync {
    /// A stage begins. `total` is the number of steps it will report, if known.
    fn stage(&self, name: &str, total: Option<u64>) {
        let _ = (name, total);
    }

    /// `steps` more steps of the current stage are done.
    fn advance(&self, steps: u64) {
        let _ = steps;
    }

    /// Whether the run should stop. Called at least between blocks of work.
    fn canceled(&self) -> bool {
        false
    }
}

/// Ignores progress and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Passes cancellation on but reports no progress.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn canceled(&self) -> bool {
        self.0.canceled()
    }
}

/// What belongs to one run rather than to the method: the seed, the listener, the memory limit, checkpoints and scratch.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Every random number is a function of this seed; see [`crate::random`].
    pub seed: u64,
    /// The listener.
    pub progress: &'a dyn Progress,
    /// Bytes that the run may allocate; `None` means that no limit is known and nothing is refused.
    pub memory_limit: Option<u64>,
    /// Where finished stages are checkpointed.
    pub checkpoints: Option<&'a dyn Checkpoints>,
    /// Where tables as large as the points are stored; `None` keeps them in memory. The results are the same to the bit.
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
    /// A silent run with `seed`, limited to the memory currently available.
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

    /// The same run with checkpoints of its finished stages.
    pub fn with_checkpoints<'b>(self, checkpoints: &'b dyn Checkpoints) -> Run<'b>
    where
        'a: 'b,
    {
        Run { checkpoints: Some(checkpoints), ..self }
    }

    /// The same run without checkpoints, for stages that are repeated.
    pub(crate) fn without_checkpoints(self) -> Self {
        Run { checkpoints: None, ..self }
    }

    /// Calls `work` with the same run, of whose progress nothing is heard.
    pub(crate) fn quietly<T>(&self, work: impl FnOnce(&Run<'_>) -> T) -> T {
        work(&Run { progress: &Quiet(self.progress), ..*self })
    }

    /// The same run with out-of-core storage for large tables.
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

    /// The checkpoint of a stage if it `fits` this run; otherwise the result of `compute`, which is then checkpointed.
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

    /// Calls work that cannot be asked to stop; see [`unstoppable`].
    pub(crate) fn unstoppable<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        unstoppable(&|| self.check(), work)
    }

    /// Returns an error if the run was canceled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.progress.canceled() { Err(Error::Canceled) } else { Ok(()) }
    }
}

/// Calls work that cannot be asked to stop, on a thread of its own. If `check` fails meanwhile, nobody waits for it: the thread ends by
/// itself, with what it owns.
pub(crate) fn unstoppable<T: Send + 'static>(
    check: &dyn Fn() -> Result<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (finished, waiting) = channel();
    let worker = std::thread::Builder::new().name("taugraph-dense".into()).spawn(move || {
        // Nobody receives it if the run was canceled.
        let _ = finished.send(work());
    });
    let worker = worker.map_err(|error| Error::Memory {
        stage: "a dense matrix",
        needed: 0,
        available: memory::available().unwrap_or(0),
        advice: format!("no thread could be started: {error}"),
    })?;
    loop {
        match waiting.recv_timeout(LOOK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => check()?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Ok(()) => unreachable!("it sends before it ends"),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    struct Canceled(AtomicBool);

    impl Progress for Canceled {
        fn canceled(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn nobody_waits_for_work_of_a_canceled_run() {
        let listener = Canceled(AtomicBool::new(false));
        let run = Run::new(0).with_progress(&listener);
        assert_eq!(run.unstoppable(|| 7), Ok(7));
        listener.0.store(true, Ordering::Relaxed);
        // The work ends only after the run has.
        let (end, ended) = channel::<()>();
        assert_eq!(run.unstoppable(move || ended.recv()), Err(Error::Canceled));
        assert_eq!(end.send(()), Ok(()));
    }
}
