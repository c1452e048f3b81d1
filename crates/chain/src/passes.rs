//! The way of each sample through the chain, from what the stages kept.
//!
//! A stage with a cycle works on the newest sample only, so most samples of a fast sensor end
//! before the actuator. How long these took is asked all the same: a sample is done when the
//! chain acts on it *or on a newer one* for the first time. To count only samples that come
//! through themselves would leave out those that waited longest.

use wiregauge_participant::stage::setup::{Activation, Schedule};

use crate::chain::Chain;
use crate::chain_process::StageTimes;
use crate::chain_run::{ChainRecord, DROPPED};

/// The way of a sample to the actuator, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The stretch that it is of.
    pub stretch: usize,
    /// The time since the sample before was taken: what happened then is first seen in this
    /// one.
    pub gap: u64,
    /// From its taking to the end of the last stage's work.
    pub latency: u64,
    /// Each hop.
    pub hops: Vec<HopTimes>,
}

/// The parts of a hop, in nanoseconds. Of a pass they add up to its latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopTimes {
    /// Message to bytes, as the codec says.
    pub encode: u64,
    /// What asking that codec took beyond this: no part of a chain that is not measured.
    pub encode_overhead: u64,
    /// From before the call that sends until the receiver has the bytes.
    pub carry: u64,
    /// From then until the receiving stage begins.
    pub wait: u64,
    /// Bytes to message, as the codec says.
    pub decode: u64,
    /// What asking that codec took beyond this, and the comparison of the bytes where these
    /// activate the stage.
    pub decode_overhead: u64,
    /// Work of the receiving stage; at the first hop also that of the first stage.
    pub work: u64,
}

impl HopTimes {
    /// All parts.
    pub fn sum(&self) -> u64 {
        let HopTimes { encode, encode_overhead, carry, wait, decode, decode_overhead, work } = self;
        encode + encode_overhead + carry + wait + decode + decode_overhead + work
    }

    /// What the instrument itself takes.
    pub fn overhead(&self) -> u64 {
        self.encode_overhead + self.decode_overhead
    }
}

/// The passes of a run, and what stages counted.
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// Those that count.
    pub passes: Vec<Pass>,
    /// Samples that the actuator never acted on, nor on newer ones.
    pub unfinished: u64,
    /// The parts of each hop, each activation once.
    pub hops: Vec<Vec<HopTimes>>,
    /// For each stage how late its activations began, in nanoseconds.
    pub lateness: Vec<Vec<u64>>,
    /// For each stage the samples that came.
    pub arrived: Vec<u64>,
    /// For each stage the samples that were overwritten before it looked.
    pub overwritten: Vec<u64>,
    /// For each stage the cycles that passed while it was still at the one before.
    pub missed: Vec<u64>,
    /// For each stage the samples that were not what was sent.
    pub damaged: Vec<u64>,
    /// How well the times of other machines are known, in nanoseconds; none where there is one
    /// clock.
    pub clock_uncertainty: Option<u64>,
}

impl Passes {
    /// What a run shows.
    pub fn from_record(chain: &Chain, record: &ChainRecord) -> Passes {
        let count = chain.stages.len();
        let clock_uncertainty = record.clock_uncertainty;
        let hops = vec![Vec::new(); count - 1];
        let mut found = Passes { hops, clock_uncertainty, ..Passes::default() };
        for (stage, times) in chain.stages.iter().zip(&record.stages) {
            let counted = |one: &&Activation| stretch(&record.schedule, one.began) >= DROPPED;
            let late = |one: &Activation| one.began.saturating_sub(one.due);
            let kept = times.activations.iter().filter(counted).filter(|_| stage.period > 0);
            found.lateness.push(kept.map(late).collect());
            found.arrived.push(times.counts.arrivals as u64);
            found.overwritten.push(match times.arrivals.is_empty() {
                true => 0,
                false => (times.arrivals.len() - times.activations.len()) as u64,
            });
            found.missed.push(times.counts.missed);
            found.damaged.push(times.counts.damaged);
        }
        let mut before: Option<u64> = None;
        let mut told = vec![None; count - 1];
        for taken in &record.stages[0].activations {
            let number = stretch(&record.schedule, taken.began);
            let first = before.is_none_or(|time| stretch(&record.schedule, time) != number);
            let gap = before.filter(|_| !first).map(|time| taken.began - time);
            before = Some(taken.began);
            if number < DROPPED {
                continue;
            }
            let Some((hops, sequences)) = follow(chain, &record.stages, taken) else {
                found.unfinished += 1;
                continue;
            };
            for (place, (hop, sequence)) in hops.iter().zip(sequences).enumerate() {
                if told[place] != Some(sequence) {
                    told[place] = Some(sequence);
                    found.hops[place].push(*hop);
                }
            }
            let latency = hops.iter().map(HopTimes::sum).sum();
            let gap = gap.unwrap_or(chain.stages[0].period);
            found.passes.push(Pass { stretch: number, gap, latency, hops });
        }
        found
    }

    /// Adds those of another run, whose stretches are others.
    pub fn extend(&mut self, other: Passes) {
        if self.hops.is_empty() {
            *self = other;
            return;
        }
        let after = self.passes.iter().map(|pass| pass.stretch + 1).max().unwrap_or(0);
        let moved = |pass: Pass| Pass { stretch: pass.stretch + after, ..pass };
        self.passes.extend(other.passes.into_iter().map(moved));
        self.unfinished += other.unfinished;
        self.clock_uncertainty = self.clock_uncertainty.max(other.clock_uncertainty);
        for (own, more) in self.hops.iter_mut().zip(other.hops) {
            own.extend(more);
        }
        for (own, more) in self.lateness.iter_mut().zip(other.lateness) {
            own.extend(more);
        }
        for (own, more) in [
            (&mut self.arrived, other.arrived),
            (&mut self.overwritten, other.overwritten),
            (&mut self.missed, other.missed),
            (&mut self.damaged, other.damaged),
        ] {
            own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        }
    }
}

/// The stretch that a time is in.
fn stretch(schedule: &Schedule, time: u64) -> usize {
    (time.saturating_sub(schedule.epoch) / schedule.stretch) as usize
}

/// The hops of a sample, and which sample each was begun with; none where the actuator never
/// acted on it or a newer one.
fn follow(
    chain: &Chain,
    stages: &[StageTimes],
    taken: &Activation,
) -> Option<(Vec<HopTimes>, Vec<u64>)> {
    let (mut hops, mut sequences) = (Vec::new(), Vec::new());
    let mut from = taken;
    for (place, times) in stages.iter().enumerate().skip(1) {
        let sequence = from.sequence;
        let arrival = times.arrivals.partition_point(|[other, _]| *other < sequence);
        let received = times.arrivals.get(arrival)?[1];
        let at = times.activations.partition_point(|one| one.sequence < sequence);
        let to = times.activations.get(at)?;
        let is_cyclic = chain.stages[place].period > 0;
        let waited = to.began.saturating_sub(received);
        let mut hop = HopTimes {
            encode: from.encode,
            encode_overhead: (from.sent - from.worked).saturating_sub(from.encode),
            carry: received.saturating_sub(from.sent),
            wait: if is_cyclic { waited } else { 0 },
            decode: to.decode,
            decode_overhead: (to.decoded - to.began).saturating_sub(to.decode),
            work: to.worked - to.decoded,
        };
        if !is_cyclic {
            hop.decode_overhead += waited;
        }
        if place == 1 {
            hop.work += from.worked - from.began;
        }
        hops.push(hop);
        sequences.push(sequence);
        from = to;
    }
    Some((hops, sequences))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain_file::tests_support::chain;
    use wiregauge_participant::stage::setup::StageCounts;

    /// An activation that begins then, with steps of one nanosecond.
    fn activation(sequence: u64, began: u64) -> Activation {
        Activation {
            sequence,
            due: began - 2,
            began,
            decode: 3,
            decoded: began + 4,
            worked: began + 9,
            encode: 6,
            sent: began + 17,
        }
    }

    fn times(activations: Vec<Activation>, arrivals: Vec<[u64; 2]>) -> StageTimes {
        let counts = StageCounts { arrivals: arrivals.len(), ..StageCounts::default() };
        StageTimes { activations, arrivals, counts }
    }

    fn record(stages: Vec<StageTimes>) -> ChainRecord {
        let (epoch, stretch, active, count) = (1000, 1000, 500, 3);
        let schedule = Schedule { epoch, stretch, active, count, drain: 0, phases: Vec::new() };
        ChainRecord { stages, schedule, clock_uncertainty: Some(40) }
    }

    #[test]
    fn parts_add_up_and_who_is_overwritten_waits_for_the_next() {
        let chain = chain(&[100, 50, 0]);
        // Of the first stretch nothing counts. 2 is overwritten by 3.
        let taken = [(0, 1100), (1, 2100), (2, 2200), (3, 2260)];
        let first = taken.map(|(sequence, began)| activation(sequence, began));
        let came = vec![[0, 1130], [1, 2130], [2, 2230], [3, 2290]];
        let second = vec![activation(0, 1140), activation(1, 2150), activation(3, 2300)];
        let went = vec![[0, 1160], [1, 2170], [3, 2320]];
        let third = vec![activation(0, 1161), activation(1, 2171), activation(3, 2321)];
        let stages =
            vec![times(first.to_vec(), Vec::new()), times(second, came), times(third, went)];
        let found = Passes::from_record(&chain, &record(stages));
        let latencies: Vec<u64> = found.passes.iter().map(|pass| pass.latency).collect();
        // To the end of the last stage's work, nine after it began.
        assert_eq!(latencies, [2180 - 2100, 2330 - 2200, 2330 - 2260]);
        for pass in &found.passes {
            let sum: u64 = pass.hops.iter().map(HopTimes::sum).sum();
            assert_eq!(sum, pass.latency);
        }
        let hop = found.passes[1].hops[0];
        assert_eq!((hop.encode, hop.encode_overhead, hop.carry, hop.wait), (6, 2, 13, 70));
        assert_eq!((hop.decode, hop.decode_overhead, hop.work), (3, 1, 5 + 9));
        // A stage that samples activate waits for none.
        assert_eq!((found.passes[0].hops[1].wait, found.passes[0].hops[1].decode_overhead), (0, 2));
        let gaps: Vec<u64> = found.passes.iter().map(|pass| pass.gap).collect();
        assert_eq!(gaps, [100_000_000, 100, 60], "the first of a stretch has that of the cycle");
        assert_eq!((found.overwritten.as_slice(), found.unfinished), (&[0, 1, 0][..], 0));
        // Each activation once, however many samples ended in it.
        assert_eq!((found.hops[0].len(), found.hops[1].len()), (3, 2));
        assert_eq!(found.lateness[1], [2, 2]);
    }

    #[test]
    fn what_never_comes_through_is_counted() {
        let chain = chain(&[100, 50]);
        let first = vec![activation(0, 2100), activation(1, 2200)];
        let stages =
            vec![times(first, Vec::new()), times(vec![activation(0, 2150)], vec![[0, 2130]])];
        let found = Passes::from_record(&chain, &record(stages));
        assert_eq!((found.passes.len(), found.unfinished), (1, 1));
    }

    #[test]
    fn runs_are_put_together() {
        let chain = chain(&[100, 50]);
        let stages = || {
            let first = vec![activation(0, 2100)];
            vec![times(first, Vec::new()), times(vec![activation(0, 2150)], vec![[0, 2130]])]
        };
        let mut all = Passes::default();
        for _ in 0..2 {
            all.extend(Passes::from_record(&chain, &record(stages())));
        }
        let stretches: Vec<usize> = all.passes.iter().map(|pass| pass.stretch).collect();
        assert_eq!((stretches.as_slice(), all.hops[0].len()), (&[1, 3][..], 2));
        assert_eq!((all.arrived, all.clock_uncertainty), (vec![0, 2], Some(40)));
    }
}
