//! What the background of a run really took.

use crate::background::message::TakenBackground;
use crate::background::Background;

/// What the background of a run really took of its hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BackgroundRecord {
    /// Processors that the busy loops had on average, on the host where they had least.
    pub processors: Option<f64>,
    /// Bits a second that were sent to each other host, with headers.
    pub sent: Option<f64>,
    /// Bits a second that came, on the host where least came.
    pub arrived: Option<f64>,
    /// What was asked for.
    pub asked: Background,
}

impl BackgroundRecord {
    /// That of these hosts, the sender's first.
    pub fn new(background: &Background, taken: &[TakenBackground]) -> BackgroundRecord {
        let seconds = |taken: &TakenBackground| taken.time.max(1) as f64 / 1e9;
        let share = |taken: &TakenBackground| taken.processor_time as f64 / 1e9 / seconds(taken);
        let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
        let Some((sender, others)) = taken.split_first() else { return Self::default() };
        // What came is over the time that it was sent in: the other end began earlier.
        let rate = |bits: u64| bits as f64 / seconds(sender);
        let has_flow = background.link.is_some();
        BackgroundRecord {
            processors: least(&mut taken.iter().map(share)).filter(|_| background.processors > 0),
            sent: has_flow.then(|| rate(sender.bits)),
            arrived: least(&mut others.iter().map(|other| rate(other.bits))).filter(|_| has_flow),
            asked: *background,
        }
    }
}

impl BackgroundRecord {
    /// Least share of what was asked for that is as good as all of it.
    const ENOUGH: f64 = 0.9;

    /// What was less than was asked for, in words, and the share that was there.
    pub fn shortfall(&self) -> Option<(String, f64)> {
        let processors = self.processors.map(|taken| {
            let asked = self.asked.processors as f64;
            (format!("took {taken:.2} of {asked} processors"), taken / asked)
        });
        let flow = self.sent.zip(self.asked.link).map(|(sent, rate)| {
            let [sent, asked] = [sent, rate.bits as f64].map(|bits| bits / 1e6);
            (format!("sent {sent:.1} of {asked:.1} Mbit/s"), sent / asked)
        });
        let short = processors.into_iter().chain(flow).filter(|(_, share)| *share < Self::ENOUGH);
        short.reduce(|(one, share), (other, less)| (format!("{one}, {other}"), share.min(less)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_that_had_least_counts_and_a_flow_is_over_its_own_time() {
        const S: u64 = 1_000_000_000;
        let taken = |time, processor_time, bits| TakenBackground { time, processor_time, bits };
        let hosts = [taken(2 * S, 4 * S, 400), taken(4 * S, 6 * S, 300), taken(4 * S, 8 * S, 350)];
        let all = Background { processors: 2, link: Some("5mbit".parse().unwrap()) };
        let record = BackgroundRecord::new(&all, &hosts);
        let expected = (Some(1.5), Some(200.0), Some(150.0));
        assert_eq!((record.processors, record.sent, record.arrived), expected);
        let loops = BackgroundRecord::new(&Background { link: None, ..all }, &hosts);
        assert_eq!((loops.processors, loops.sent, loops.arrived), (Some(1.5), None, None));
        let flow = BackgroundRecord::new(&Background { processors: 0, ..all }, &hosts);
        assert_eq!((flow.processors, flow.sent), (None, Some(200.0)));
        // 200 bit/s of 5 Mbit/s, and 1.5 of 2 processors.
        let (words, share) = record.shortfall().unwrap();
        assert_eq!(words, "took 1.50 of 2 processors, sent 0.0 of 5.0 Mbit/s");
        assert!((share - 200.0 / 5e6).abs() < 1e-9);
        let whole = BackgroundRecord { processors: Some(1.9), ..loops };
        assert_eq!((whole.shortfall(), loops.shortfall().unwrap().1), (None, 0.75));
    }
}
