//! Where the features are while a run works on them: in memory, or on disk.

use taugraph::error::Error as LibraryError;
use taugraph::memory::{MemoryEstimate, Scratch, ScratchTable};
use taugraph::points::{self, Precision, PreparationParams};
use taugraph::progress::Run;
use taugraph::robust::{self, RowSize};
use taugraph_io::{Extent, ScratchFolder};

use crate::args::{FeaturesPlace, InputArgs};
use crate::dataset::known_extent;
use crate::failure::{Failure, Outcome};
use crate::settings::{InputKind, InputSettings, Settings};

/// Where the features of a run are.
pub struct Features {
    /// `None` for memory.
    room: Option<Room>,
}

/// A folder as the library's scratch.
struct Room(ScratchFolder);

impl Scratch for Room {
    fn table(&self, n_values: usize) -> Result<Box<dyn ScratchTable>, String> {
        match self.0.table(n_values) {
            Ok(table) => Ok(Box::new(table)),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Features {
    /// For a command that makes a graph of them.
    pub fn of_graph(args: &InputArgs, settings: &Settings, limit: Option<u64>) -> Outcome<Self> {
        Self::choose(args, &settings.input, limit, |extent, on_disk| peak_of_graph(extent, settings, on_disk))
    }

    /// For a command that only looks at them after `preparation`.
    pub fn of_preparation(
        args: &InputArgs,
        settings: &Settings,
        preparation: &PreparationParams,
        limit: Option<u64>,
    ) -> Outcome<Self> {
        let peak = |extent, on_disk| peak_of_preparation(extent, preparation, on_disk);
        Self::choose(args, &settings.input, limit, peak)
    }

    /// `peak` gives the stage with the highest need and the need, for a size and whether the features are on disk.
    fn choose(
        args: &InputArgs,
        input: &InputSettings,
        limit: Option<u64>,
        peak: impl Fn(Extent, bool) -> (&'static str, u64),
    ) -> Outcome<Self> {
        let may_be_points = matches!(input.kind, InputKind::Auto | InputKind::Points);
        let on_disk = match (args.features.unwrap_or_default(), limit) {
            (FeaturesPlace::Memory, _) | (FeaturesPlace::Auto, None) => false,
            (FeaturesPlace::Disk, _) if may_be_points => true,
            (FeaturesPlace::Disk, _) => {
                let message = "--features disk: only points can stay on disk, neither graphs nor distances";
                return Err(Failure::Usage(message.into()));
            }
            (FeaturesPlace::Auto, Some(_)) if !may_be_points => false,
            (FeaturesPlace::Auto, Some(available)) => match known_extent(input, available)? {
                Some(extent) if peak(extent, false).1 > available => {
                    let (stage, needed) = peak(extent, true);
                    if needed > available {
                        let advice =
                            "that is with the features on disk; take fewer rows or fewer neighbors".into();
                        return Err(LibraryError::Memory { stage, needed, available, advice }.into());
                    }
                    true
                }
                _ => false,
            },
        };
        let room = match on_disk {
            false => None,
            true => {
                let folder = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
                Some(Room(ScratchFolder::new(&folder)?))
            }
        };
        Ok(Self { room })
    }

    /// The folder of features on disk.
    pub fn scratch(&self) -> Option<&ScratchFolder> {
        self.room.as_ref().map(|room| &room.0)
    }

    /// The run, its large tables where the features are.
    pub fn place<'a>(&'a self, run: Run<'a>) -> Run<'a> {
        match &self.room {
            Some(room) => run.with_scratch(room),
            None => run,
        }
    }
}

fn precision_of(extent: Extent) -> Precision {
    if extent.is_single { Precision::Single } else { Precision::Double }
}

fn peak_of_preparation(extent: Extent, params: &PreparationParams, on_disk: bool) -> (&'static str, u64) {
    let Extent { n_rows: n, n_numbers: d, .. } = extent;
    let precision = precision_of(extent);
    let (stage, bytes) = points::memory_estimate(n, d, precision, params, on_disk).peak();
    let raw = if on_disk { 0 } else { precision.bytes().saturating_mul(n as u64).saturating_mul(d as u64) };
    (stage, raw + bytes)
}

fn peak_of_graph(extent: Extent, settings: &Settings, on_disk: bool) -> (&'static str, u64) {
    let config = &settings.params;
    let row = RowSize::prepared(extent.n_numbers, precision_of(extent), config, on_disk);
    let graph = robust::memory_estimate(extent.n_rows, row, &config.graph);
    let preparation = peak_of_preparation(extent, &config.preparation_for(false), on_disk);
    MemoryEstimate::of(vec![preparation, graph.peak()]).peak()
}

/// A refusal for want of memory, with the advice to keep the features on disk where that would help.
pub fn with_advice(error: LibraryError, extent: (usize, usize), settings: &Settings) -> LibraryError {
    // On disk the precision does not count.
    let extent = Extent { n_rows: extent.0, n_numbers: extent.1, is_single: false };
    match error {
        LibraryError::Memory { stage, needed, available, advice }
            if peak_of_graph(extent, settings, true).1 <= available =>
        {
            let more = "or keep the features on disk: text tables stay in memory, NPY and Parquet need not (--features disk)";
            LibraryError::Memory { stage, needed, available, advice: format!("{advice}, {more}") }
        }
        other => other,
    }
}
