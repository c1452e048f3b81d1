//! What a participant takes of its machine, and what the machine's network
//! stack loses meanwhile.

use std::fs;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{clock_gettime, ClockId};
use serde::{Deserialize, Serialize};

/// Counters of the process and of its network namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time of the whole process in nanoseconds, all threads.
    pub cpu: u64,
    /// Largest resident memory so far, in bytes.
    pub memory: u64,
    /// UDP datagrams that were not delivered: no room, or damaged.
    pub udp_errors: u64,
    /// TCP segments that were sent again.
    pub tcp_again: u64,
}

impl Usage {
    /// The counters now.
    pub fn now() -> Usage {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let snmp = fs::read_to_string("/proc/self/net/snmp").unwrap_or_default();
        Usage {
            cpu: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
            memory: peak_memory(),
            udp_errors: snmp_counter(&snmp, "Udp:", "InErrors"),
            tcp_again: snmp_counter(&snmp, "Tcp:", "RetransSegs"),
        }
    }

    /// What was added since then. Memory is the peak and not a difference.
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            cpu: self.cpu - before.cpu,
            memory: self.memory,
            udp_errors: self.udp_errors.saturating_sub(before.udp_errors),
            tcp_again: self.tcp_again.saturating_sub(before.tcp_again),
        }
    }
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// A number from a file of pairs of lines: names, then values.
fn snmp_counter(snmp: &str, protocol: &str, name: &str) -> u64 {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix(protocol));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
    let place = names.split_whitespace().position(|known| known == name);
    place.and_then(|place| values.split_whitespace().nth(place)?.parse().ok()).unwrap_or(0)
}

/// What a hypervisor has taken of each processor's time, on average, in
/// nanoseconds, as of the last look.
static STEAL_TIME: AtomicU64 = AtomicU64::new(0);

/// What a hypervisor has taken of each processor's time since the machine's
/// start, in nanoseconds: as it was when [`read_steal_time`] last looked, so
/// that who measures need not read a file.
#[inline]
pub fn steal_time() -> u64 {
    STEAL_TIME.load(Ordering::Relaxed)
}

/// Looks what a hypervisor has taken.
pub fn read_steal_time() {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    STEAL_TIME.store(parse_steal(&stat), Ordering::Relaxed);
}

/// The steal of `/proc/stat` over all processors, by their number.
fn parse_steal(stat: &str) -> u64 {
    // A hundredth of a second on all that Linux has had for long.
    const TICK: u64 = 10_000_000;
    let mut lines = stat.lines().filter(|line| line.starts_with("cpu"));
    let all = lines.next().and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok());
    all.unwrap_or(0) * TICK / lines.count().max(1) as u64
}

/// The time slack of this thread's timers becomes the least there is. The
/// default of 50 µs would make every pace late by that.
pub fn minimize_timer_slack() {
    // Only for precision: where the system refuses, lateness shows it.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// What tells this boot of this machine from all others: participants with the
/// same share one clock. A container may have a monotonic clock of its own: its
/// time namespace is another one.
pub fn host_id() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let time = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    format!("{} {}", boot.trim(), time.display()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_counter_by_its_name() {
        let snmp = "Tcp: A RetransSegs\nTcp: 1 2\nUdp: InDatagrams NoPorts InErrors\nUdp: 7 8 9\n";
        assert_eq!(snmp_counter(snmp, "Udp:", "InErrors"), 9);
        assert_eq!(snmp_counter(snmp, "Tcp:", "RetransSegs"), 2);
        assert_eq!(snmp_counter(snmp, "Udp:", "Unknown"), 0);
    }

    #[test]
    fn a_thief_is_counted_by_processor() {
        let stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 4\ncpu1 0\nintr 5\n";
        assert_eq!(parse_steal(stat), 40_000_000);
        assert_eq!(parse_steal(""), 0);
    }

    #[test]
    fn work_takes_time() {
        let before = Usage::now();
        let mut sum = 0u64;
        while Usage::now().since(before).cpu < 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(Usage::now().memory > 0);
    }
}
