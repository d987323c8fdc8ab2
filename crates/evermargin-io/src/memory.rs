//! Memory limit for reading a file: the limit of the user, else a fraction of the free memory, and less for small files.

use std::fs;

/// Memory that a file of any size may take if it is available.
const FLOOR: u64 = 256 << 20;

/// Bytes of memory per byte of the file, above the floor. Sparse text compresses by a factor of at most about 50, unless it
/// is nearly constant, and takes less than three times its size as a matrix.
const RATIO: u64 = 200;

/// Bytes of memory that a file of `input` bytes may take: `asked`, else three quarters of the `available` memory, but at
/// most [`FLOOR`] or [`RATIO`] times the size of the file, whichever is larger.
pub(crate) fn limit(asked: Option<u64>, available: Option<u64>, input: u64) -> u64 {
    asked.unwrap_or_else(|| {
        let share = available.map_or(u64::MAX, |bytes| bytes / 4 * 3);
        share.min(FLOOR.max(input.saturating_mul(RATIO)))
    })
}

/// Bytes of memory that this process can still allocate, where the system reports it (Linux): the minimum of the free memory
/// of the machine and the memory left in its control groups.
pub(crate) fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(free_of_meminfo);
    let folder = |line: &str| line.strip_prefix("0::").map(str::to_string);
    let group = read("/proc/self/cgroup").and_then(|text| text.lines().find_map(folder)).unwrap_or_default();
    let left = |folder: &str, limit: &str, used: &str| {
        left_of_group(&read(&format!("{folder}/{limit}"))?, &read(&format!("{folder}/{used}"))?)
    };
    let groups = [
        left(&format!("/sys/fs/cgroup{group}"), "memory.max", "memory.current"),
        left("/sys/fs/cgroup", "memory.max", "memory.current"),
        left("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ];
    groups.into_iter().flatten().chain(machine).min()
}

/// Bytes of `MemAvailable` in `/proc/meminfo`.
fn free_of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of memory left in a control group; `None` for the limit `max`.
fn left_of_group(limit: &str, used: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    Some(limit.saturating_sub(used.trim().parse().ok()?))
}

/// Text of a number of bytes with a unit.
pub(crate) fn size_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::{FLOOR, available, free_of_meminfo, left_of_group, limit, size_text};

    #[test]
    fn limits_memory_by_user_free_memory_and_file_size() {
        assert_eq!(limit(Some(5), Some(1 << 40), 1 << 30), 5, "the user decides");
        assert_eq!(limit(None, Some(64 << 30), 99_000), FLOOR, "a small file");
        assert_eq!(limit(None, Some(64 << 30), 10 << 20), 2000 << 20, "200 bytes per byte");
        assert_eq!(limit(None, Some(64 << 30), 10 << 30), 48 << 30, "three quarters of what is free");
        assert_eq!(limit(None, Some(400), 99_000), 300, "a small machine");
        assert_eq!(limit(None, None, u64::MAX), u64::MAX);
    }

    #[test]
    fn parses_system_files_and_formats_sizes() {
        let text = "MemTotal:  100 kB\nMemFree: 3 kB\nMemAvailable:     2000 kB\n";
        assert_eq!(free_of_meminfo(text), Some(2_048_000));
        assert_eq!(free_of_meminfo("MemTotal: 5 kB"), None);
        assert_eq!(left_of_group("max\n", "5\n"), None);
        assert_eq!(left_of_group("100\n", "30\n"), Some(70));
        assert_eq!(left_of_group("100\n", "130\n"), Some(0));
        assert!(!cfg!(target_os = "linux") || available().is_some());
        assert_eq!([1000, 1536, 3 << 30].map(size_text), ["1000 bytes", "1.5 KiB", "3.0 GiB"]);
    }
}
