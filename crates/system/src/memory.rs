//! The memory that a measurement may take. What does not fit is refused before
//! it is asked for: the system would rather end the program, or another one.

use std::fs;
use std::path::Path;

/// The share of the available memory that values may take. The other half is for
/// the runners, which hold the same messages in forms of their own.
const SHARE: u64 = 2;

/// Bytes that values may take now: half of what the system, or the control group
/// that limits this process, has left. None where neither tells.
pub fn budget() -> Option<u64> {
    available().map(|bytes| bytes / SHARE)
}

/// Bytes that are available now.
pub fn available() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo(&text));
    let group = cgroup_available(Path::new("/sys/fs/cgroup"));
    match (system, group) {
        (Some(system), Some(group)) => Some(system.min(group)),
        (system, group) => system.or(group),
    }
}

/// `MemAvailable` in bytes.
fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What a control group (version 2) has left, if it has a limit.
fn cgroup_available(folder: &Path) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// A number of bytes in words: `512 bytes`, `3.1 GB`.
pub fn format_bytes(bytes: u128) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut size = bytes as f64;
    let mut unit = "";
    for next in UNITS {
        if size < 1000.0 {
            break;
        }
        size /= 1000.0;
        unit = next;
    }
    match size {
        _ if size >= 10_000.0 => format!("more than 10,000 {unit}"),
        _ if size >= 100.0 => format!("{size:.0} {unit}"),
        _ => format!("{size:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read() {
        let text = "MemTotal:       24683520 kB\nMemAvailable:   23812345 kB\n";
        assert_eq!(meminfo(text), Some(23_812_345 * 1024));
        assert_eq!(meminfo("MemTotal: 1 kB\n"), None);
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(cgroup_available(folder.path()), None);
        fs::write(folder.path().join("memory.max"), "max\n").unwrap();
        fs::write(folder.path().join("memory.current"), "100\n").unwrap();
        assert_eq!(cgroup_available(folder.path()), None, "no limit");
        fs::write(folder.path().join("memory.max"), "1000\n").unwrap();
        assert_eq!(cgroup_available(folder.path()), Some(900));
    }

    #[test]
    fn sizes_have_words() {
        assert_eq!(format_bytes(999), "999 bytes");
        assert_eq!(format_bytes(3_140_000_000), "3.1 GB");
        assert_eq!(format_bytes(160_000_000_000), "160 GB");
        assert_eq!(format_bytes(u128::MAX), "more than 10,000 EB");
    }
}
