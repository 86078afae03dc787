//! The one place through which tests make the system fail: every operation on a file that is written, and every map, passes here
//! first. Builds for release have none of it.
//!
//! `TAUGRAPH_FAIL=write:3` fails the third write, `any:3` the third operation of any kind, `any:3+` every one from there on, and
//! `stop:3` ends the process at the third operation, as a kill does.

use std::fs::File;
use std::io::{Read, Write};

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A file or folder is made.
    Create,
    /// A file is locked.
    Lock,
    /// Bytes are read back from a file of ours.
    Read,
    /// Bytes are written.
    Write,
    /// Bytes are forced to the disk.
    Sync,
    /// A file gets its name.
    Rename,
    /// A file is mapped.
    Map,
}

/// Fails if a test wants this operation to fail.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn check(_: Operation) -> std::io::Result<()> {
    Ok(())
}

/// Fails if a test wants this operation to fail.
#[cfg(debug_assertions)]
pub fn check(operation: Operation) -> std::io::Result<()> {
    planned::check(operation)
}

#[cfg(debug_assertions)]
mod planned {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Operation;

    /// What is to fail.
    struct Plan {
        /// The name of an operation, `any` or `stop`.
        of: String,
        /// Counted from 1.
        number: u64,
        goes_on: bool,
    }

    impl Plan {
        fn read(text: &str) -> Option<Self> {
            let (of, number) = text.split_once(':')?;
            let digits = number.trim_end_matches('+');
            Some(Self { of: of.to_string(), number: digits.parse().ok()?, goes_on: digits != number })
        }
    }

    pub fn check(operation: Operation) -> std::io::Result<()> {
        static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let plan = PLAN.get_or_init(|| Plan::read(&std::env::var("TAUGRAPH_FAIL").ok()?));
        let Some(Plan { of, number, goes_on }) = plan else { return Ok(()) };
        let name = format!("{operation:?}").to_lowercase();
        let counts = of == "any" || of == "stop" || *of == name;
        if !counts {
            return Ok(());
        }
        let count = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        if count != *number && !(*goes_on && count > *number) {
            return Ok(());
        }
        // Tests look for it: only then has something failed.
        eprintln!("fault: {of} {count} ({name})");
        if of == "stop" {
            std::process::exit(137);
        }
        Err(std::io::Error::new(std::io::ErrorKind::StorageFull, "a test wants it to fail"))
    }
}

/// A file, or standard output, whose reads and writes pass here.
pub(crate) struct Watched<T>(pub T);

impl<T: Write> Write for Watched<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        check(Operation::Write)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl<T: Read> Read for Watched<T> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        check(Operation::Read)?;
        self.0.read(bytes)
    }
}

/// Forces a file to the disk.
pub(crate) fn sync(file: &File) -> std::io::Result<()> {
    check(Operation::Sync)?;
    file.sync_all()
}
