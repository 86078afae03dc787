//! How a call runs: without Python's lock, on its own threads, stopped by Ctrl-C, with progress reported to a callback.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use taugraph::error::{Error, Result};
use taugraph::progress::{Progress, Run};

use crate::ballast;
use crate::errors::{exception, named_exception};

/// How often Python is asked for signals and informed of progress.
const LOOK: Duration = Duration::from_millis(50);

/// Seed, threads (0 for all), bytes that may be used, and the callback for `(stage, done, total)`.
#[derive(FromPyObject)]
pub struct RunArgs(u64, usize, Option<u64>, Option<Py<PyAny>>);

impl RunArgs {
    pub fn seed(&self) -> u64 {
        self.0
    }
}

/// What the worker reports, and whether it should stop.
#[derive(Default)]
struct Watch {
    canceled: AtomicBool,
    stage: Mutex<(String, Option<u64>)>,
    done: AtomicU64,
}

impl Progress for Watch {
    fn stage(&self, name: &str, total: Option<u64>) {
        *self.stage.lock().expect("no thread panics with it") = (name.to_string(), total);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn canceled(&self) -> bool {
        self.canceled.load(Ordering::Relaxed) || ballast::is_exhausted()
    }
}

impl Watch {
    fn tell(&self, py: Python<'_>, listener: &Option<Py<PyAny>>) -> PyResult<()> {
        let Some(listener) = listener else { return Ok(()) };
        let (stage, total) = self.stage.lock().expect("no thread panics with it").clone();
        if !stage.is_empty() {
            listener.call1(py, (stage, self.done.load(Ordering::Relaxed), total))?;
        }
        Ok(())
    }
}

/// Calls `work` and waits for it, checking for Ctrl-C.
pub fn run<T: Send>(
    py: Python<'_>,
    args: &RunArgs,
    work: impl FnOnce(&Run<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let RunArgs(seed, threads, memory_limit, listener) = args;
    if !ballast::hold() {
        return Err(out_of_memory(py));
    }
    let pool = pool(*threads)?;
    let watch = Watch::default();
    let mut interrupted = None;
    let mut outcome = None;
    py.detach(|| {
        // On a thread of the pool: a thread for each call, which waits for the pool, would take longer than a fit of 100 rows.
        pool.in_place_scope(|scope| {
            let (finished, waiting) = channel();
            let watch = &watch;
            scope.spawn(move |_| {
                let run = Run::new(*seed).with_progress(watch);
                let run = run.with_memory_limit(memory_limit.or(run.memory_limit));
                // The receiver is gone if the caller has given up.
                let _ = finished.send(work(&run));
            });
            loop {
                match waiting.recv_timeout(LOOK) {
                    Ok(found) => break outcome = Some(found),
                    // The work panicked, and so will the scope.
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let heard = Python::attach(|py| py.check_signals().and_then(|()| watch.tell(py, listener)));
                if let Err(error) = heard {
                    watch.canceled.store(true, Ordering::Relaxed);
                    interrupted.get_or_insert(error);
                }
            }
        })
    });
    if let Some(error) = interrupted {
        return Err(error);
    }
    let outcome = outcome.expect("work that does not panic has an outcome");
    if matches!(outcome, Err(Error::Canceled)) && ballast::is_exhausted() {
        return Err(out_of_memory(py));
    }
    watch.tell(py, listener)?;
    outcome.map_err(|error| exception(py, &error))
}

/// The system refused an allocation or a thread.
fn out_of_memory(py: Python<'_>) -> PyErr {
    named_exception(
        py,
        "MemoryError",
        "the system has no memory left for this run: use fewer points or columns, or raise its limit",
    )
}

/// Calls a short `work` on the same threads. Nothing of the library may run elsewhere: see [`pool`].
pub fn aside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(0)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Pools kept for the next call.
const MAX_POOLS: usize = 4;
/// Maximum number of threads per core.
const MAX_THREADS: usize = 4;

/// Thread pools of one process, by number of threads.
#[derive(Default)]
struct Pools {
    process: u32,
    by_threads: HashMap<usize, Arc<ThreadPool>>,
}

/// The threads of this process. A forked process has none of its parent's threads, and waiting for them would take forever: so
/// rayon's global pool is not used.
fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);
    let mut pools = POOLS.lock().expect("no thread panics with it");
    let process = std::process::id();
    if pools.process != process {
        let left_behind = std::mem::replace(&mut *pools, Pools { process, by_threads: HashMap::new() });
        std::mem::forget(left_behind);
    }
    if let Some(pool) = pools.by_threads.get(&threads) {
        return Ok(pool.clone());
    }
    if pools.by_threads.len() >= MAX_POOLS {
        pools.by_threads.clear();
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.min(MAX_THREADS * cores))
        .thread_name(|thread| format!("taugraph-{thread}"))
        .build()
        .map_err(|error| PyMemoryError::new_err(format!("threads cannot be started: {error}")))?;
    Ok(pools.by_threads.entry(threads).or_insert(Arc::new(pool)).clone())
}
