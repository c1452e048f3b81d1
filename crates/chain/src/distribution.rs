//! How long a chain takes: from the taking of a sample, and from an event in the world.
//!
//! An event at any time is first seen in the next sample. So between two samples the reaction
//! to it lies evenly between the latency of the second and that and the gap before it: the
//! distribution over all events is a mixture of even ones, each as heavy as its gap is long.
//! It is computed as such, without drawing any event.

use wiregauge_result::stats::{mean, quantile, sorted};
use wiregauge_timing::latency::reported_shares;

use crate::passes::Pass;

/// Steps in which a quantile of a mixture is searched.
const STEPS: usize = 60;

/// Times in nanoseconds, and what they tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeDistribution {
    /// For shares of all, the time that they stay within; a share that the samples cannot
    /// tell is not there.
    pub shares: Vec<(f64, f64)>,
    /// The longest.
    pub most: f64,
    /// How many there are.
    pub count: usize,
    /// As how many independent ones they count.
    pub independent: f64,
}

impl TimeDistribution {
    /// The latencies of samples.
    pub fn of_latencies(passes: &[Pass]) -> TimeDistribution {
        let times = sorted(passes.iter().map(|pass| pass.latency as f64));
        let independent = independent_count(passes);
        let shares = told_shares(independent);
        let shares = shares.into_iter().filter_map(|share| Some((share, quantile(&times, share)?)));
        TimeDistribution {
            shares: shares.collect(),
            most: times.last().copied().unwrap_or(0.0),
            count: times.len(),
            independent,
        }
    }

    /// The reactions to events that happen at any time.
    pub fn of_reactions(passes: &[Pass]) -> TimeDistribution {
        let spans = passes.iter().map(|pass| (pass.latency as f64, pass.gap as f64));
        let mixture = EvenMixture::new(spans.collect());
        let independent = independent_count(passes);
        let shares = told_shares(independent);
        let shares = shares.into_iter().filter_map(|share| Some((share, mixture.quantile(share)?)));
        TimeDistribution {
            shares: shares.collect(),
            most: mixture.most().unwrap_or(0.0),
            count: passes.len(),
            independent,
        }
    }

    /// The time that a share stays within.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.shares.iter().find(|(known, _)| *known == share).map(|(_, time)| *time)
    }
}

/// The shares that so many samples tell: those that one at least lies beyond.
fn told_shares(count: f64) -> Vec<f64> {
    let told = |share: &f64| (1.0 - share) * count >= 1.0 - 1e-9 || *share <= 0.5;
    reported_shares().into_iter().filter(told).collect()
}

/// Even distributions from a time over a span, each as heavy as its span is long.
pub struct EvenMixture {
    spans: Vec<(f64, f64)>,
    weight: f64,
}

impl EvenMixture {
    /// Of these times and spans.
    pub fn new(spans: Vec<(f64, f64)>) -> EvenMixture {
        let weight = spans.iter().map(|(_, span)| span).sum();
        EvenMixture { spans, weight }
    }

    /// The share of all that stays within a time.
    fn share_within(&self, time: f64) -> f64 {
        let within = |(from, span): &(f64, f64)| (time - from).clamp(0.0, *span);
        self.spans.iter().map(within).sum::<f64>() / self.weight
    }

    /// The longest.
    fn most(&self) -> Option<f64> {
        self.spans.iter().map(|(from, span)| from + span).reduce(f64::max)
    }

    /// The time that a share stays within; none of nothing.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let mut low = self.spans.iter().map(|(from, _)| *from).reduce(f64::min)?;
        let mut high = self.most()?;
        for _ in 0..STEPS {
            let middle = low + (high - low) / 2.0;
            match self.share_within(middle) < share {
                true => low = middle,
                false => high = middle,
            }
        }
        Some(high)
    }
}

/// As how many independent samples these count. Samples of a stretch have the same phases, so
/// that several tell little more than one where phases make most of the time: their number is
/// divided by the design effect `1 + (m - 1) ρ`, where `m` is how many there are in a stretch
/// and `ρ` their intraclass correlation, by the analysis of variance (Kish, Survey Sampling,
/// 1965).
pub fn independent_count(passes: &[Pass]) -> f64 {
    let mut groups: Vec<(usize, Vec<f64>)> = Vec::new();
    for pass in passes {
        let time = pass.latency as f64;
        match groups.last_mut().filter(|(stretch, _)| *stretch == pass.stretch) {
            Some((_, times)) => times.push(time),
            None => groups.push((pass.stretch, vec![time])),
        }
    }
    let (count, number) = (passes.len() as f64, groups.len() as f64);
    if groups.len() < 2 || passes.len() <= groups.len() {
        return number;
    }
    let all: Vec<f64> = passes.iter().map(|pass| pass.latency as f64).collect();
    let whole = mean(&all).unwrap_or(0.0);
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for (_, times) in &groups {
        let own = mean(times).unwrap_or(0.0);
        between += times.len() as f64 * (own - whole).powi(2);
        within += times.iter().map(|time| (time - own).powi(2)).sum::<f64>();
        squares += (times.len() as f64).powi(2);
    }
    let (between, within) = (between / (number - 1.0), within / (count - number));
    let size = (count - squares / count) / (number - 1.0);
    let correlation = (between - within) / (between + (size - 1.0) * within);
    let correlation = if correlation.is_finite() { correlation.clamp(0.0, 1.0) } else { 1.0 };
    count / (1.0 + (count / number - 1.0) * correlation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_result::random::Random;

    use crate::chain_run::random_share;

    fn pass(stretch: usize, latency: u64, gap: u64) -> Pass {
        Pass { stretch, gap, latency, hops: Vec::new() }
    }

    #[test]
    fn a_mixture_is_what_events_drawn_at_random_see() {
        let passes = [pass(0, 50, 100), pass(0, 80, 300), pass(1, 500, 20)];
        let exact =
            EvenMixture::new(passes.iter().map(|p| (p.latency as f64, p.gap as f64)).collect());
        let mut random = Random::new(7);
        let drawn = (0..200_000).map(|_| {
            let mut at = random_share(&mut random) * 420.0;
            for pass in &passes {
                if at < pass.gap as f64 {
                    return pass.latency as f64 + pass.gap as f64 - at;
                }
                at -= pass.gap as f64;
            }
            unreachable!("it is within the gaps")
        });
        let drawn = sorted(drawn);
        for share in [0.01, 0.25, 0.5, 0.9, 0.94] {
            let (exact, drawn) = (exact.quantile(share).unwrap(), quantile(&drawn, share).unwrap());
            assert!((exact - drawn).abs() < 3.0, "{share}: {exact} {drawn}");
        }
        // 50 to 150 once, 80 to 380 three times as heavy, 500 to 520.
        assert!((exact.quantile(0.5).unwrap() - 190.0).abs() < 1e-6);
        assert_eq!(exact.most(), Some(520.0));
    }

    #[test]
    fn samples_that_say_the_same_count_once() {
        let same: Vec<Pass> =
            (0..40).map(|i| pass(i / 4, 1000 + 100 * (i as u64 / 4), 10)).collect();
        let count = independent_count(&same);
        assert!((count - 10.0).abs() < 1e-6, "{count}");
        let mut random = Random::new(1);
        let apart: Vec<Pass> = (0..400).map(|i| pass(i / 4, random.next() % 1000, 10)).collect();
        let count = independent_count(&apart);
        assert!(count > 300.0 && count <= 400.0, "{count}");
        assert_eq!(independent_count(&[]), 0.0);
    }

    #[test]
    fn a_share_that_nothing_lies_beyond_is_not_told() {
        let passes: Vec<Pass> = (0..200).map(|i| pass(i, 100 + i as u64, 10)).collect();
        let told = TimeDistribution::of_latencies(&passes);
        assert!(told.quantile(0.99).is_some() && told.quantile(0.999).is_none());
        assert_eq!((told.most, told.count, told.independent), (299.0, 200, 200.0));
        let told = TimeDistribution::of_reactions(&passes);
        assert!(told.quantile(0.99).is_some() && told.most == 309.0);
    }
}
