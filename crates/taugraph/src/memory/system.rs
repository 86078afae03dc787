//! The memory that the operating system could hand out now.
//!
//! On Linux the least of four: what the machine has left, what the control groups of this process have left, and what its limits on the
//! address space and on data leave (`ulimit -v`, `ulimit -d`). Only files below `/proc` and `/sys/fs/cgroup` are read.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

/// Where control groups are.
const GROUPS: &str = "/sys/fs/cgroup";

/// Address space that threads, their stacks and the allocator reserve without using it.
const RESERVED: u64 = 64 << 20;

/// Reads a file of the system, `None` if it cannot.
type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// The memory that the operating system could hand out now, in bytes, or `None` where it does not say.
pub fn available() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let text = |path: &str| read(Path::new(path)).unwrap_or_default();
    let system = kib_of(&text("/proc/meminfo"), "MemAvailable:");
    let groups = left_in_groups(&text("/proc/self/cgroup"), &read);
    let limits = text("/proc/self/limits");
    // Without a limit, as usual, it is not read: it takes longer than the others, and every run asks.
    let status = LazyCell::new(|| text("/proc/self/status"));
    let left = |limit: &str, used: &str| {
        let limit = limit_of(&limits, limit)?;
        Some(limit.saturating_sub(kib_of(&status, used)? + RESERVED))
    };
    let of_process = [left("Max address space", "VmSize:"), left("Max data size", "VmData:")];
    [system, groups].into_iter().chain(of_process).flatten().min()
}

/// The number of KiB on the line that begins so, in bytes.
fn kib_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The soft limit of that name, `None` if there is none.
fn limit_of(limits: &str, name: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// What is left in the control groups of a process, those above them included: the second version has one tree, the first one for
/// memory.
fn left_in_groups(of_process: &str, read: Read<'_>) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let relative = path.trim_start_matches('/');
        if controllers.is_empty() {
            return left_in_tree(
                Path::new(GROUPS),
                relative,
                ["memory.max", "memory.current", "inactive_file"],
                read,
            );
        }
        let files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
        let is_memory = controllers.split(',').any(|controller| controller == "memory");
        is_memory.then(|| left_in_tree(&Path::new(GROUPS).join("memory"), relative, files, read)).flatten()
    };
    of_process.lines().filter_map(of_line).min()
}

/// The least that is left in a group and in the groups above it. In a container the path may be one that is seen only outside: what does
/// not exist is skipped.
fn left_in_tree(
    root: &Path,
    relative: &str,
    [limit, usage, reclaimable]: [&str; 3],
    read: Read<'_>,
) -> Option<u64> {
    let number = |path: PathBuf| -> Option<u64> { read(&path)?.trim().parse().ok() };
    let of_group = |folder: &Path| {
        let limit = number(folder.join(limit))?;
        let used = number(folder.join(usage)).unwrap_or(0);
        // Copies of files that nobody has used lately make room.
        let stat = read(&folder.join("memory.stat")).unwrap_or_default();
        let line = stat.lines().find_map(|line| line.strip_prefix(reclaimable)?.trim().parse::<u64>().ok());
        Some(limit.saturating_sub(used.saturating_sub(line.unwrap_or(0))))
    };
    let group = root.join(relative);
    group.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(of_group).min()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn numbers_are_found_in_the_texts_of_the_system() {
        let text = "MemTotal:       100 kB\nMemFree: 5 kB\nMemAvailable:     42 kB\n";
        assert_eq!(kib_of(text, "MemAvailable:"), Some(42 * 1024));
        assert_eq!(kib_of("nothing", "MemAvailable:"), None);
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         2147483648           unlimited            bytes     \n";
        assert_eq!(limit_of(limits, "Max address space"), Some(2 << 30));
        assert_eq!(limit_of(limits, "Max data size"), None);
        assert_eq!(limit_of(limits, "Max nonsense"), None);
    }

    #[test]
    fn the_tightest_group_counts() {
        let mut files: HashMap<PathBuf, &str> = HashMap::new();
        let mut write = |path: &str, text| files.insert(Path::new(GROUPS).join(path), text);
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 1\ninactive_file 100\n");
        write("a/b/memory.max", "max\n");
        write("a/c/memory.max", "500\n");
        write("a/c/memory.current", "200\n");
        // The first version; other controllers have other trees.
        write("memory/c/memory.limit_in_bytes", "90\n");
        write("memory/c/memory.usage_in_bytes", "50\n");
        write("memory/c/memory.stat", "total_inactive_file 10\n");
        let read = |path: &Path| files.get(path).map(|text| text.to_string());
        let left = |text: &str| left_in_groups(text, &read);
        assert_eq!(left("0::/a/b\n"), Some(400));
        assert_eq!(left("0::/a/c\n"), Some(300));
        assert_eq!(left("0::/elsewhere\n"), None);
        assert_eq!(left("5:cpu,cpuacct:/c\n4:memory:/c\n0::/\n"), Some(50));
        assert_eq!(left("5:cpu,cpuacct:/c\n"), None);
    }

    #[test]
    fn this_process_has_memory_left() {
        if cfg!(target_os = "linux") {
            assert!(available().is_some_and(|bytes| bytes > 0));
        }
    }
}
