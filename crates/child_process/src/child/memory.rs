//! How much memory a child may take, before it takes the machine's.
//!
//! What counts is what the system had to find for it: resident and swapped pages. A limit
//! of the address space would refuse what is only reserved: Java's heap, a sanitizer's
//! shadow, threads' arenas. So it is looked at while the child is waited for, some times
//! a second; who takes memory faster than that is ahead of the limit by as much.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use wiregauge_system::memory::available;

/// What the user said; 0 where that was nothing.
static USER_LIMIT: AtomicU64 = AtomicU64::new(0);

/// The least that is allowed where the user says nothing: a small machine's programs
/// swap.
const MIN_LIMIT: u64 = 1 << 30;

/// Allows each child so many bytes from now on.
pub fn set_limit(bytes: u64) {
    USER_LIMIT.store(bytes, Ordering::Relaxed);
}

/// What a child may take: unless the user says so, three quarters of what was available
/// when the first one was looked at.
fn limit() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    match USER_LIMIT.load(Ordering::Relaxed) {
        0 => *OWN.get_or_init(|| available().map_or(u64::MAX, |all| (all / 4 * 3).max(MIN_LIMIT))),
        said => said,
    }
}

/// The limit, where a process has taken more.
pub(super) fn exceeded_limit(process: u32) -> Option<u64> {
    let most = limit();
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    (parse_used(&status) > most).then_some(most)
}

/// Bytes of resident and of swapped pages.
fn parse_used(status: &str) -> u64 {
    let kibibytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    ["VmRSS:", "VmSwap:"].into_iter().filter_map(kibibytes).sum::<u64>().saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_and_swapped_pages_count() {
        let status = "Name:\tsh\nVmSize:\t  999999 kB\nVmRSS:\t     100 kB\nVmSwap:\t      28 kB\n";
        assert_eq!(parse_used(status), 128 * 1024);
        assert_eq!(parse_used("Name:\tzombie\n"), 0);
    }
}
