//! What a run and its stages cost: wall time, processor time, memory.

use std::time::Instant;

use serde::Serialize;

/// What the clocks and the system say now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    time: Instant,
    cpu_seconds: Option<f64>,
    peak_bytes: Option<u64>,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { time: Instant::now(), cpu_seconds: cpu_seconds(), peak_bytes: peak_memory() }
    }
}

/// Time and memory of a stage.
#[derive(Debug, Clone, Serialize)]
pub struct StageCost {
    /// Its name.
    pub stage: String,
    /// Time of it, with the efficiency.
    #[serde(flatten)]
    pub time: Time,
    /// Peak memory of the process by the end of the stage, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

/// Time of a stage, or of all of them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Time {
    /// Wall time in seconds.
    pub seconds: f64,
    /// Processor time of all threads in seconds, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// Processor time / (wall time × threads): 1 if no thread ever waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_efficiency: Option<f64>,
}

impl Time {
    fn new(seconds: f64, cpu_seconds: Option<f64>) -> Self {
        let available = seconds * rayon::current_num_threads() as f64;
        let efficiency = cpu_seconds.filter(|_| available > 0.0).map(|used| used / available);
        Self { seconds, cpu_seconds, parallel_efficiency: efficiency }
    }

    fn and(self, other: Self) -> Self {
        let cpu_seconds = self.cpu_seconds.zip(other.cpu_seconds).map(|(a, b)| a + b);
        Self::new(self.seconds + other.seconds, cpu_seconds)
    }
}

/// The costs of stages that began at these moments, in order, the last of which ends now; repeated stages are summed.
pub(crate) fn costs(begun: &[(String, Moment)]) -> Vec<StageCost> {
    let ends = begun.iter().skip(1).map(|(_, moment)| *moment).chain([Moment::now()]);
    let mut costs: Vec<StageCost> = Vec::new();
    for ((name, begin), end) in begun.iter().zip(ends) {
        let cpu_seconds = end.cpu_seconds.zip(begin.cpu_seconds).map(|(end, begin)| end - begin);
        let time = Time::new((end.time - begin.time).as_secs_f64(), cpu_seconds);
        let peak_bytes = end.peak_bytes;
        match costs.iter_mut().find(|known| known.stage == *name) {
            Some(known) => (known.time, known.peak_bytes) = (known.time.and(time), peak_bytes),
            None => costs.push(StageCost { stage: name.clone(), time, peak_bytes }),
        }
    }
    costs
}

/// Time of all stages, and the threads they had.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Total {
    /// Their times together.
    #[serde(flatten)]
    pub time: Time,
    /// Number of threads.
    pub threads: usize,
}

/// What the stages cost together.
pub fn total(stages: &[StageCost]) -> Total {
    let time = stages.iter().map(|stage| stage.time).reduce(Time::and).unwrap_or_default();
    Total { time, threads: rayon::current_num_threads() }
}

/// Peak memory of this process, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Processor time of all threads of this process since it started, if the system reports it.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Not known here.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(all(test, any(target_os = "linux", target_os = "macos")))]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Until this process has computed for that long; other tests may help.
    fn work(seconds: f64) {
        let start = cpu_seconds().unwrap();
        let mut number = 1u64;
        while cpu_seconds().unwrap() < start + seconds {
            number = black_box(number.wrapping_mul(6364136223846793005).wrapping_add(1));
        }
    }

    fn begin_and_work(names: &[&str]) -> Vec<(String, Moment)> {
        let begin = |name: &&str| {
            let begun = (name.to_string(), Moment::now());
            work(0.01);
            begun
        };
        names.iter().map(begin).collect()
    }

    #[test]
    fn efficiency_is_processor_time_over_wall_time_and_threads() {
        for cost in costs(&begin_and_work(&["a", "b"])) {
            let time = cost.time;
            assert!(time.cpu_seconds.unwrap() >= 0.01, "{time:?}");
            let share = time.cpu_seconds.unwrap() / (time.seconds * rayon::current_num_threads() as f64);
            assert!((time.parallel_efficiency.unwrap() - share).abs() <= 1e-12, "{time:?}");
        }
    }

    #[test]
    fn repeated_stages_are_summed_and_nothing_is_lost() {
        let begun = begin_and_work(&["a", "b", "a"]);
        let found = costs(&begun);
        assert_eq!(found.iter().map(|cost| cost.stage.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(found[0].time.cpu_seconds.unwrap() >= 0.02, "{found:?}");
        let (total, sum) = (total(&found).time, |part: fn(&Time) -> f64| {
            found.iter().map(|cost| part(&cost.time)).sum::<f64>()
        });
        assert!(
            (total.cpu_seconds.unwrap() - sum(|time| time.cpu_seconds.unwrap())).abs() < 1e-12,
            "{total:?}"
        );
        assert!((total.seconds - sum(|time| time.seconds)).abs() < 1e-12, "{total:?}");
    }

    #[test]
    fn nothing_costs_nothing() {
        let none = total(&[]).time;
        assert_eq!((none.seconds, none.cpu_seconds, none.parallel_efficiency), (0.0, None, None));
    }
}
