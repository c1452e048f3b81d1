//! What several senders did together.

use wiregauge_participant::control::SenderResult;
use wiregauge_timing::latency::{slowest, Distribution};

/// Counts are added up, times are those of the slowest, and what it took is that of the one that
/// took most. Only one of several has steps.
pub fn all_senders(all: Vec<SenderResult>) -> SenderResult {
    all.into_iter().reduce(with_another).unwrap_or_default()
}

fn with_another(mut all: SenderResult, one: SenderResult) -> SenderResult {
    all.due = all.due.zip(one.due).map(|(all, one)| all.saturating_add(one));
    all.samples = all.samples.saturating_add(one.samples);
    all.span = all.span.max(one.span);
    all.lateness = slower(all.lateness, one.lateness);
    all.write = slower(all.write, one.write);
    all.clocks.extend(one.clocks);
    all.usage.cpu = all.usage.cpu.max(one.usage.cpu);
    all.usage.memory = all.usage.memory.max(one.usage.memory);
    all
}

/// The slower one, the first where both are.
fn slower(one: Distribution, other: Distribution) -> Distribution {
    slowest([&other, &one]).cloned().unwrap_or(one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_timing::usage::Usage;

    #[test]
    fn counts_add_up_and_the_slowest_tells_the_times() {
        let times = |p50| Distribution { count: 9, shares: vec![(0.5, p50)], ..Default::default() };
        let sender = |samples, late, cpu| SenderResult {
            due: Some(10),
            samples,
            span: samples,
            lateness: times(late),
            usage: Usage { cpu, ..Usage::default() },
            ..SenderResult::default()
        };
        let all = all_senders(vec![sender(7, 20, 1), sender(9, 30, 5), sender(8, 10, 2)]);
        assert_eq!((all.due, all.samples, all.span, all.usage.cpu), (Some(30), 24, 9, 5));
        assert_eq!(all.lateness, times(30));
        let one = sender(7, 20, 1);
        assert_eq!(all_senders(vec![one.clone()]), one);
    }
}
