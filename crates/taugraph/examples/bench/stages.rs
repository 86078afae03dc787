//! What a run costs stage by stage, and a profiler that sees only one of them.

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use taugraph::progress::Progress;

/// Peak resident memory of this process, in bytes (Linux).
pub fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}

/// Processor time of all threads of this process, in seconds (Linux, whose clock ticks 100 times a second here).
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may have spaces; user and system time are the 12th and 13th number after it.
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / 100.0
}

/// Writes to standard error when each stage begins: seconds, processor time, peak memory. If the environment has PROFILE_STAGE, the shell
/// gets PROFILE_BEGIN when that stage begins and PROFILE_END when it ends, `PID` replaced by the number of this process.
pub struct Stages {
    start: Instant,
    is_profiled: Mutex<bool>,
}

impl Stages {
    pub fn new(start: Instant) -> Self {
        Self { start, is_profiled: Mutex::new(false) }
    }

    /// The last stage ends.
    pub fn end(&self) {
        self.switch_to("");
    }

    fn switch_to(&self, name: &str) {
        let wanted = std::env::var("PROFILE_STAGE").is_ok_and(|stage| stage == name);
        let mut is_profiled = self.is_profiled.lock().expect("no stage panics");
        if wanted == *is_profiled {
            return;
        }
        *is_profiled = wanted;
        let command = std::env::var(if wanted { "PROFILE_BEGIN" } else { "PROFILE_END" }).unwrap_or_default();
        let command = command.replace("PID", &std::process::id().to_string());
        if !Command::new("sh").args(["-c", &command]).status().is_ok_and(|status| status.success()) {
            eprintln!("the profiler was not told: {command}");
        }
    }
}

impl Progress for Stages {
    fn stage(&self, name: &str, _: Option<u64>) {
        let seconds = self.start.elapsed().as_secs_f64();
        eprintln!("{seconds:8.2} s  {:8.2} CPU s  {:5} MB  {name}", cpu_seconds(), peak_memory() >> 20);
        self.switch_to(name);
    }
}
