//! Estimates of a run's peak memory before it allocates; and large tables, in memory or out-of-core.

mod system;

pub use system::available;

#[cfg(debug_assertions)]
use std::sync::OnceLock;

use crate::error::{Error, Result};

/// What decides whether a large allocation may succeed, if a program wants to.
#[cfg(debug_assertions)]
static MAY_ALLOCATE: OnceLock<fn() -> bool> = OnceLock::new();

/// From now on `ask` is asked before every large allocation, which fails if the answer is no: so the tests of a program make memory run
/// out at any moment. The first call counts. Builds for release never ask.
pub fn ask_before_allocating(ask: fn() -> bool) {
    #[cfg(debug_assertions)]
    let _ = MAY_ALLOCATE.set(ask);
    #[cfg(not(debug_assertions))]
    let _ = ask;
}

fn may_allocate() -> bool {
    #[cfg(debug_assertions)]
    return MAY_ALLOCATE.get().is_none_or(|ask| ask());
    #[cfg(not(debug_assertions))]
    return true;
}

/// Refuses now what the system would refuse to a large table: Rust ends the process where an allocation fails.
///
/// A limit of the address space or of a container may be smaller than what the estimate of a run was compared with, and others allocate
/// meanwhile.
pub(crate) fn probe(bytes: usize, stage: &'static str) -> Result<()> {
    let mut room: Vec<u8> = Vec::new();
    if may_allocate() && room.try_reserve_exact(bytes).is_ok() {
        return Ok(());
    }
    Err(Error::Memory {
        stage,
        needed: bytes as u64,
        available: available().unwrap_or(0),
        advice: "the system refused to give more".into(),
    })
}

/// So many zeros, or an error if the system does not give the memory.
pub(crate) fn zeros<T: Clone + Default>(n: usize, stage: &'static str) -> Result<Vec<T>> {
    probe(n.saturating_mul(size_of::<T>()), stage)?;
    Ok(vec![T::default(); n])
}

/// Out-of-core storage for large tables, provided by a front end in a [`Run`](crate::progress::Run): usually
/// memory-mapped files, whose pages the system reclaims when it needs them.
pub trait Scratch: Sync {
    /// A table of `n_values` zeros, deleted when it is dropped. All of its space must be reserved on return.
    fn table(&self, n_values: usize) -> std::result::Result<Box<dyn ScratchTable>, String>;
}

/// An out-of-core table.
pub trait ScratchTable: AsRef<[f64]> + AsMut<[f64]> + Send + Sync {}

impl<T: AsRef<[f64]> + AsMut<[f64]> + Send + Sync> ScratchTable for T {}

/// A large table while it is being filled.
pub(crate) enum LargeTable<T = f64> {
    Memory(Vec<T>),
    /// In the slots of a scratch, as many values in each as fit.
    Scratch {
        slots: Box<dyn ScratchTable>,
        n_values: usize,
    },
}

impl<T: bytemuck::Pod + Default> LargeTable<T> {
    /// `n_values` zeros, in the scratch if there is one.
    pub fn zeros(n_values: usize, scratch: Option<&dyn Scratch>) -> Result<Self> {
        match scratch {
            None => Ok(Self::Memory(zeros(n_values, "points")?)),
            Some(scratch) => {
                let n_slots = n_values.div_ceil(size_of::<f64>() / size_of::<T>());
                let refused = |problem| Error::Scratch { bytes: 8 * n_slots as u64, problem };
                let slots = scratch.table(n_slots).map_err(refused)?;
                Ok(Self::Scratch { slots, n_values })
            }
        }
    }
}

impl<T: bytemuck::Pod> AsRef<[T]> for LargeTable<T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        match self {
            Self::Memory(values) => values,
            Self::Scratch { slots, n_values } => &bytemuck::cast_slice((**slots).as_ref())[..*n_values],
        }
    }
}

impl<T: bytemuck::Pod> AsMut<[T]> for LargeTable<T> {
    fn as_mut(&mut self) -> &mut [T] {
        match self {
            Self::Memory(values) => values,
            Self::Scratch { slots, n_values } => {
                &mut bytemuck::cast_slice_mut((**slots).as_mut())[..*n_values]
            }
        }
    }
}

/// The peak memory of each stage of a run, including everything retained from earlier stages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryEstimate {
    /// Name of the stage and its bytes, in the order of the run.
    pub stages: Vec<(&'static str, u64)>,
    /// Total bytes if the run uses more than it needs, which it does only if they are available.
    pub at_most: u64,
}

impl MemoryEstimate {
    /// An estimate whose stages use only what they need.
    pub fn of(stages: Vec<(&'static str, u64)>) -> Self {
        Self { stages, at_most: 0 }
    }

    /// The same with `bytes` more in every stage.
    pub(crate) fn plus(mut self, bytes: u64) -> Self {
        self.stages.iter_mut().for_each(|stage| stage.1 += bytes);
        self.at_most += bytes;
        self
    }

    /// The maximum that the run may use.
    pub fn most(&self) -> u64 {
        self.at_most.max(self.peak().1)
    }

    /// The stage with the highest need, and the need.
    pub fn peak(&self) -> (&'static str, u64) {
        self.stages.iter().copied().max_by_key(|&(_, bytes)| bytes).unwrap_or(("nothing", 0))
    }
}

/// Refuses the run if `estimate(n)` exceeds the limit, and reports the largest number of points that fits.
pub(crate) fn refuse_if_over(
    n: usize,
    limit: Option<u64>,
    estimate: impl Fn(usize) -> MemoryEstimate,
    advice: &str,
) -> Result<()> {
    let (stage, needed) = estimate(n).peak();
    let Some(available) = limit.filter(|&limit| needed > limit) else {
        // No estimate is below what the run will need: if the system gives that much at once, it will in parts.
        return if limit.is_some() { probe(needed as usize, stage) } else { Ok(()) };
    };
    let (mut fits, mut over) = (0, n);
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        if estimate(middle).peak().1 > available { over = middle } else { fits = middle }
    }
    let advice = format!("with these parameters about {fits} points would fit; {advice}");
    Err(Error::Memory { stage, needed, available, advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused() {
        let refused = zeros::<f64>(usize::MAX / 16, "test");
        assert!(matches!(refused, Err(Error::Memory { stage: "test", .. })));
        assert_eq!(zeros::<u32>(3, "test").unwrap(), [0; 3]);
    }

    #[test]
    fn refusal_says_what_would_fit() {
        let quadratic = |n: usize| MemoryEstimate::of(vec![("square", (n * n) as u64), ("line", n as u64)]);
        assert!(refuse_if_over(10, Some(100), quadratic, "").is_ok());
        assert!(refuse_if_over(1000, None, quadratic, "").is_ok());
        let Err(Error::Memory { stage, needed, advice, .. }) =
            refuse_if_over(1000, Some(10_000), quadratic, "")
        else {
            panic!("must refuse")
        };
        assert_eq!((stage, needed), ("square", 1_000_000));
        assert!(advice.contains("about 100 points"), "{advice}");
    }
}
