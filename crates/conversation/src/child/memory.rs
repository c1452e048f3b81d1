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
static SAID: AtomicU64 = AtomicU64::new(0);

/// The least that is allowed where the user says nothing: a small machine's programs
/// swap.
const LEAST: u64 = 1 << 30;

/// Allows each child so many bytes from now on.
pub fn allow(bytes: u64) {
    SAID.store(bytes, Ordering::Relaxed);
}

/// What a child may take: unless the user says so, three quarters of what was available
/// when the first one was looked at.
fn most() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    match SAID.load(Ordering::Relaxed) {
        0 => *OWN.get_or_init(|| available().map_or(u64::MAX, |all| (all / 4 * 3).max(LEAST))),
        said => said,
    }
}

/// The limit, where a process has taken more.
pub(super) fn beyond(process: u32) -> Option<u64> {
    let most = most();
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    (taken(&status) > most).then_some(most)
}

/// Bytes of resident and of swapped pages.
fn taken(status: &str) -> u64 {
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
        assert_eq!(taken(status), 128 * 1024);
        assert_eq!(taken("Name:\tzombie\n"), 0);
    }
}
