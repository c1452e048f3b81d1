//! Which windows of a receiver count, and what arrived in them.

use wiregauge_participant::window::Window;
use wiregauge_result::warning::MOST_STEAL;

/// Windows dropped in the beginning.
pub const DROPPED_FIRST: usize = 3;
/// Windows dropped in the end.
pub const DROPPED_LAST: usize = 1;
/// The windows that count.
pub fn counted_windows(windows: &[Window]) -> &[Window] {
    let end = windows.len().saturating_sub(DROPPED_LAST);
    windows.get(DROPPED_FIRST..end).unwrap_or_default()
}

/// Throughput of a window in MB/s, of a million bytes.
pub fn throughput(window: &Window) -> f64 {
    window.bytes as f64 / 1e6 / (window.span.max(1) as f64 / 1e9)
}

/// What arrived in the windows that count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrival {
    /// Bytes of it.
    pub bytes: u64,
    /// Samples of it.
    pub samples: u64,
    /// How long it took, in nanoseconds: the time over which it arrived, or over
    /// which it was due where that is longer. What the dropped windows left
    /// undone and these caught up with is no throughput of theirs.
    pub span: u64,
}

impl Arrival {
    /// What arrived at a receiver.
    pub fn from_windows(windows: &[Window]) -> Arrival {
        let kept = counted_windows(windows);
        let sum = |of: fn(&Window) -> u64| total(kept.iter().map(of));
        let behind = |window: Option<&Window>| window.map_or(0, |window| window.behind);
        let before = behind(windows.get(DROPPED_FIRST.wrapping_sub(1)));
        let caught_up = before.saturating_sub(behind(kept.last()));
        Arrival {
            bytes: sum(|w| w.bytes),
            samples: sum(|w| w.samples),
            span: sum(|w| w.span).saturating_add(caught_up),
        }
    }

    /// In MB/s, of a million bytes.
    pub fn throughput(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.seconds()
    }

    /// In samples per second.
    pub fn rate(&self) -> f64 {
        self.samples as f64 / self.seconds()
    }

    fn seconds(&self) -> f64 {
        self.span.max(1) as f64 / 1e9
    }

    /// That of two receivers together, so that rates are each one's on average.
    pub(crate) fn merge(self, other: Arrival) -> Arrival {
        Arrival {
            bytes: self.bytes.saturating_add(other.bytes),
            samples: self.samples.saturating_add(other.samples),
            span: self.span.saturating_add(other.span),
        }
    }
}

/// The windows of these in which no hypervisor took the machine away; all of
/// them where that leaves too few.
pub fn undisturbed<'w>(windows: &[&'w Window]) -> Vec<&'w Window> {
    let quiet = windows.iter().copied().filter(|w| w.steal <= MOST_STEAL);
    let quiet: Vec<&Window> = quiet.collect();
    if 2 * quiet.len() > windows.len() {
        quiet
    } else {
        windows.to_vec()
    }
}

/// The sum of what participants count, who may claim any number.
pub(crate) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use wiregauge_participant::window::Windows;

    use super::*;

    #[test]
    fn more_than_a_transport_carries_is_not_offered() {
        // It takes two milliseconds a sample and falls behind for good.
        let mut windows = Windows::new(1_000_000_000);
        (0..5_000).for_each(|at| windows.add_due(at * 2_000_000, 500, 0, at * 1_000_000));
        let arrival = Arrival::from_windows(&windows.closed());
        assert!((arrival.rate() - 500.0).abs() < 1.0, "{}", arrival.rate());
    }
}
