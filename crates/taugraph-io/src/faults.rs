//! The one place through which tests make the system fail: every operation on a file that is written, every map, and every large
//! allocation passes here first. Builds for release have none of it.
//!
//! `TAUGRAPH_FAIL=write:3` fails the third write, `any:3` the third operation of any kind on a file, `any:3+` every one from there on,
//! and `stop:3` ends the process at the third operation, as a kill does. `allocate:3` refuses the third allocation.

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
    /// Memory is charged to a budget, reserved, or tried out before a stage needs it.
    Allocate,
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
    pub(super) struct Plan {
        /// The name of an operation, `any` or `stop`.
        pub of: String,
        /// Counted from 1.
        pub number: u64,
        pub goes_on: bool,
    }

    fn name(operation: Operation) -> String {
        format!("{operation:?}").to_lowercase()
    }

    impl Plan {
        pub fn read(text: &str) -> Option<Self> {
            let (of, number) = text.split_once(':')?;
            let digits = number.trim_end_matches('+');
            Some(Self { of: of.to_string(), number: digits.parse().ok()?, goes_on: digits != number })
        }

        pub fn is_about(&self, operation: Operation) -> bool {
            let is_of_a_file = operation != Operation::Allocate;
            is_of_a_file && (self.of == "any" || self.of == "stop") || self.of == name(operation)
        }

        /// Whether it is to happen at an operation that counts.
        pub fn is_due(&self, count: u64) -> bool {
            count == self.number || self.goes_on && count > self.number
        }
    }

    pub fn check(operation: Operation) -> std::io::Result<()> {
        static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let plan = PLAN.get_or_init(|| Plan::read(&std::env::var("TAUGRAPH_FAIL").ok()?));
        let Some(plan) = plan.as_ref().filter(|plan| plan.is_about(operation)) else { return Ok(()) };
        let count = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        if !plan.is_due(count) {
            return Ok(());
        }
        // Tests look for it: only then has something failed.
        eprintln!("fault: {} {count} ({})", plan.of, name(operation));
        if plan.of == "stop" {
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

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::Operation;
    use super::planned::Plan;

    #[test]
    fn plans_are_read() {
        let read = |text| Plan::read(text).map(|plan| (plan.of, plan.number, plan.goes_on));
        assert_eq!(read("write:3"), Some(("write".into(), 3, false)));
        assert_eq!(read("any:12+"), Some(("any".into(), 12, true)));
        assert_eq!((read("write"), read("write:"), read("write:x")), (None, None, None));
    }

    #[test]
    fn what_a_plan_names_fails() {
        let plan = |text| Plan::read(text).unwrap();
        assert!(plan("write:1").is_about(Operation::Write) && !plan("write:1").is_about(Operation::Sync));
        assert!(plan("any:1").is_about(Operation::Map) && plan("stop:1").is_about(Operation::Rename));
        for of_files in ["any:1", "stop:1", "map:1"] {
            assert!(!plan(of_files).is_about(Operation::Allocate), "{of_files}");
        }
        assert!(plan("allocate:1").is_about(Operation::Allocate));
        assert!(plan("any:2").is_due(2) && !plan("any:2").is_due(1) && !plan("any:2").is_due(3));
        assert!(plan("any:2+").is_due(3) && !plan("any:2+").is_due(1));
    }
}
