//! What else the machine did.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::files::Files;

/// What else the machine did. Shares are of the time of all its hardware
/// threads between start and end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    /// Load averages over 1, 5 and 15 minutes at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_before: Option<[f64; 3]>,
    /// The same at the end, with what was measured in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_after: Option<[f64; 3]>,
    /// Share that the hypervisor gave to others, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// Share that other processes took, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// Context switches of the whole machine per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_switches_per_second: Option<f64>,
}

/// Where to look, and what the counters said at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityStart {
    root: PathBuf,
    time: Instant,
    counters: Option<Counters>,
}

/// Counters since the machine started. Times in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counters {
    total: u64,
    idle: u64,
    steal: u64,
    /// Ours and those of the children that we reaped.
    own: u64,
    context_switches: u64,
}

impl Activity {
    /// What is known at the start.
    pub(super) fn read(files: &Files) -> Activity {
        Activity { load_before: load(files), ..Activity::default() }
    }

    /// Compares with the start.
    pub(super) fn finish(&mut self, start: &ActivityStart) {
        let files = Files(&start.root);
        self.load_after = load(&files);
        let (Some(before), Some(after)) = (start.counters, counters(&files)) else { return };
        let past = |of: fn(&Counters) -> u64| of(&after).saturating_sub(of(&before)) as f64;
        let total = past(|c| c.total);
        if total > 0.0 {
            let steal = past(|c| c.steal);
            let others = total - past(|c| c.idle) - steal - past(|c| c.own);
            self.steal = Some(steal / total);
            // Ticks are counted by sampling: ours may come out as the more.
            self.others = Some(others.max(0.0) / total);
        }
        let seconds = start.time.elapsed().as_secs_f64();
        self.context_switches_per_second = Some(past(|c| c.context_switches) / seconds.max(1e-9));
    }
}

impl ActivityStart {
    /// Now.
    pub(super) fn capture(root: &Path) -> ActivityStart {
        let counters = counters(&Files(root));
        ActivityStart { root: root.to_owned(), time: Instant::now(), counters }
    }
}

fn load(files: &Files) -> Option<[f64; 3]> {
    let line = files.line("proc/loadavg")?;
    let mut words = line.split(' ').map_while(|word| word.parse().ok());
    Some([words.next()?, words.next()?, words.next()?])
}

fn counters(files: &Files) -> Option<Counters> {
    let text = files.text("proc/stat")?;
    let after = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        Some(line.split_whitespace().map_while(|word| word.parse().ok()).collect::<Vec<u64>>())
    };
    // user nice system idle iowait irq softirq steal, and then guest times,
    // which user and nice contain.
    let cpu = after("cpu")?;
    // The name of the program, in parentheses, may contain anything.
    let line = files.text("proc/self/stat")?;
    let own: Vec<u64> = line
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .skip(11)
        .take(4)
        .map_while(|word| word.parse().ok())
        .collect();
    Some(Counters {
        total: cpu.iter().take(8).sum(),
        idle: cpu.get(3)? + cpu.get(4)?,
        steal: cpu.get(7).copied().unwrap_or(0),
        own: own.iter().sum(),
        context_switches: *after("ctxt")?.first()?,
    })
}
