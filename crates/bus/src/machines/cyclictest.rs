//! How late the machine wakes a thread up, by cyclictest of rt-tests: what no
//! transport can do better than.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use wiregauge_child_process::child::{Child, Limits};
use wiregauge_participant::realtime::Realtime;

/// How often it sleeps, for a millisecond each.
const TIMES: u32 = 1000;
/// How long it may take to do so.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much too late a thread woke up, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeUps {
    /// The least.
    pub least: u64,
    /// The mean.
    pub mean: u64,
    /// The most.
    pub most: u64,
    /// As what the thread ran.
    pub realtime: Realtime,
}

/// Has it measured, a second long, a thread that asks of the system what the
/// participants do; none where it is not installed or gives no figures.
pub fn measure(realtime: &Realtime) -> Option<WakeUps> {
    let mut command = Command::new("cyclictest");
    command.args(["--quiet", "--threads=1", "--interval=1000"]).arg(format!("--loops={TIMES}"));
    if let Some(priority) = realtime.priority {
        command.arg(format!("--priority={priority}"));
    }
    if let Some(processor) = realtime.processors.first() {
        command.arg(format!("--affinity={processor}"));
    }
    if realtime.locked {
        command.arg("--mlockall");
    }
    let mut child = Child::spawn(command, Limits::default()).ok()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let line = child.read_line(deadline).ok()?;
        if let Some([least, mean, most]) = parse(&line) {
            return Some(WakeUps { least, mean, most, realtime: realtime.clone() });
        }
    }
}

/// `T: 0 (14763) P:80 I:1000 C:   1000 Min:     18 Act:   40 Avg:   32 Max:     156`.
fn parse(line: &str) -> Option<[u64; 3]> {
    let after = |name: &str| line.split_once(name)?.1.split_whitespace().next()?.parse().ok();
    Some([after("Min:")?, after("Avg:")?, after("Max:")?])
}

impl fmt::Display for WakeUps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WakeUps { least, mean, most, realtime } = self;
        write!(
            f,
            "by cyclictest, this machine wakes a thread up {mean} µs late ({least} to {most} µs in \
             {TIMES} times"
        )?;
        match realtime.is_none() {
            true => f.write_str(")"),
            false => write!(f, "; {realtime})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_line_is_read() {
        let line =
            "T: 0 (14763) P:80 I:1000 C:   1000 Min:     18 Act:   40 Avg:   32 Max:     156";
        assert_eq!(parse(line), Some([18, 32, 156]));
        assert_eq!(parse("# /dev/cpu_dma_latency set to 0us"), None);
        assert_eq!(parse("Min: 1 Avg: x Max: 2"), None);
    }

    #[test]
    fn it_is_told_in_a_line() {
        let realtime = Realtime { priority: Some(80), ..Realtime::default() };
        let told = WakeUps { least: 18, mean: 32, most: 156, realtime }.to_string();
        assert!(told.ends_with("32 µs late (18 to 156 µs in 1000 times; SCHED_FIFO 80)"), "{told}");
    }
}
