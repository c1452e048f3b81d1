//! What a chain takes by its parts.
//!
//! A time end to end is a sum of parts, so its distribution is a convolution: a p99 of the sum
//! is not the sum of p99s. Here chains are drawn from measured passes, and followed from the
//! taking of a sample to the actuator. Parts of a pass stay together, as a machine that is busy
//! makes several of them slow at once: drawn apart they would make the median too long and the
//! tail too short. A part of a changed hop takes the place of the measured one at the same
//! rank. A stage with a cycle begins at its next activation: where its phase is its own, the
//! wait is even over the cycle and depends on nothing before; where stages are locked by
//! offsets, it follows from when the sample comes.

use wiregauge_result::random::Random;
use wiregauge_result::stats::{quantile, sorted};

use crate::chain::Chain;
use crate::chain_run::random_share;
use crate::passes::{HopTimes, Passes};

/// How many chains are drawn: beyond the p99.9 lie a hundred.
const DRAWS: usize = 100_000;
/// Cycles of the first stage among which a sample is taken, so that all meetings of locked
/// cycles occur.
const CYCLES: usize = 1000;

/// The parts that a chain is made of.
#[derive(Clone, Debug)]
pub struct ChainModel {
    stages: Vec<StageModel>,
    /// The hops of each pass.
    passes: Vec<Vec<HopTimes>>,
    changed: Option<ChangedHop>,
}

#[derive(Clone, Debug)]
struct StageModel {
    period: f64,
    offset: Option<f64>,
    lateness: Vec<u64>,
}

/// Which parts of a hop a change touches. The others stay those of the chain as drawn, so that
/// what the machine did meanwhile to them is not taken for a gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchedParts {
    /// Another codec: encode, decode, and carry, as it writes other bytes.
    Codec,
    /// Another transport: carry.
    Transport,
    /// Another way to read: decode.
    Read,
}

/// A hop with other parts.
#[derive(Clone, Debug)]
struct ChangedHop {
    place: usize,
    encode: Option<ChangedPart>,
    carry: Option<ChangedPart>,
    decode: Option<ChangedPart>,
}

/// A part with other times, both ascending.
#[derive(Clone, Debug)]
struct ChangedPart {
    own: Vec<u64>,
    other: Vec<u64>,
}

impl ChangedPart {
    /// The other time at the rank that this one has among its own. Among equal ones the rank
    /// is any of theirs.
    fn replace(&self, time: u64, random: &mut Random) -> u64 {
        let below = self.own.partition_point(|own| *own < time) as f64;
        let equal = self.own.partition_point(|own| *own <= time) as f64 - below;
        let share = (below + random_share(random) * equal) / self.own.len() as f64;
        let place = (share * self.other.len() as f64) as usize;
        self.other[place.min(self.other.len() - 1)]
    }
}

impl ChangedHop {
    fn replace(&self, hop: &HopTimes, random: &mut Random) -> HopTimes {
        let mut part = |part: &Option<ChangedPart>, time| match part {
            Some(part) => part.replace(time, random),
            None => time,
        };
        HopTimes {
            encode: part(&self.encode, hop.encode),
            carry: part(&self.carry, hop.carry),
            decode: part(&self.decode, hop.decode),
            ..*hop
        }
    }
}

/// What is predicted, in nanoseconds, ascending.
pub struct Prediction {
    /// From the taking of a sample.
    pub chain: Vec<f64>,
    /// From an event in the world.
    pub reaction: Vec<f64>,
}

impl Prediction {
    /// Quantiles of a distribution.
    pub fn quantile(times: &[f64], share: f64) -> f64 {
        quantile(times, share).unwrap_or(0.0)
    }
}

impl ChainModel {
    /// Of a chain with the parts that were measured of it.
    pub fn new(chain: &Chain, measured: &Passes) -> ChainModel {
        let stages = chain.stages.iter().zip(&measured.lateness).map(|(stage, late)| StageModel {
            period: stage.period as f64,
            offset: stage.offset.map(|offset| offset as f64),
            lateness: late.clone(),
        });
        let passes = measured.passes.iter().map(|pass| pass.hops.clone());
        ChainModel { stages: stages.collect(), passes: passes.collect(), changed: None }
    }

    /// The same with the cycles of a changed chain.
    pub fn with_cycles(mut self, chain: &Chain) -> ChainModel {
        for (own, stage) in self.stages.iter_mut().zip(&chain.stages) {
            own.period = stage.period as f64;
            own.offset = own.offset.map(|offset| offset % own.period.max(1.0));
        }
        self
    }

    /// The same with those parts of a hop that a change touches, as they were measured; none
    /// where nothing was.
    pub fn with_hop(
        self,
        place: usize,
        measured: &[HopTimes],
        touched: TouchedParts,
    ) -> Option<ChainModel> {
        if measured.is_empty() {
            return None;
        }
        let ascending = |mut times: Vec<u64>| {
            times.sort_unstable();
            times
        };
        let changed = |is_touched: bool, part: fn(&HopTimes) -> u64| {
            let own = self.passes.iter().map(|hops| part(&hops[place])).collect();
            let other = measured.iter().map(part).collect();
            is_touched.then(|| ChangedPart { own: ascending(own), other: ascending(other) })
        };
        let is_codec = touched == TouchedParts::Codec;
        let changed = ChangedHop {
            place,
            encode: changed(is_codec, |hop| hop.encode),
            carry: changed(is_codec || touched == TouchedParts::Transport, |hop| hop.carry),
            decode: changed(is_codec || touched == TouchedParts::Read, |hop| hop.decode),
        };
        Some(ChainModel { changed: Some(changed), ..self })
    }

    /// Draws chains.
    pub fn predict(&self, seed: u64) -> Prediction {
        let mut random = Random::new(seed);
        let (mut chain, mut reaction) = (Vec::new(), Vec::new());
        for _ in 0..if self.passes.is_empty() { 0 } else { DRAWS } {
            let latency = self.draw(&mut random);
            chain.push(latency);
            reaction.push(latency + random_share(&mut random) * self.stages[0].period);
        }
        Prediction { chain: sorted(chain), reaction: sorted(reaction) }
    }

    /// One chain, from the taking of its sample.
    fn draw(&self, random: &mut Random) -> f64 {
        let first = &self.stages[0];
        let cycle = random.below(CYCLES) as f64;
        let taken = self.phase(0, random) + cycle * first.period + pick(&first.lateness, random);
        let mut now = taken;
        let pass = &self.passes[random.below(self.passes.len())];
        for (place, hop) in pass.iter().enumerate() {
            let hop = match self.changed.as_ref().filter(|changed| changed.place == place) {
                Some(changed) => changed.replace(hop, random),
                None => *hop,
            };
            now += (hop.encode + hop.encode_overhead + hop.carry) as f64;
            let stage = &self.stages[place + 1];
            if stage.period > 0.0 {
                let late = pick(&stage.lateness, random);
                let phase = self.phase(place + 1, random);
                // The first activation that begins after the sample came.
                let cycles = ((now - late - phase) / stage.period).ceil();
                now = phase + cycles * stage.period + late;
            }
            now += (hop.decode + hop.decode_overhead + hop.work) as f64;
        }
        now - taken
    }

    fn phase(&self, place: usize, random: &mut Random) -> f64 {
        let stage = &self.stages[place];
        stage.offset.unwrap_or_else(|| random_share(random) * stage.period)
    }
}

/// One of these times; 0 where there are none.
fn pick(times: &[u64], random: &mut Random) -> f64 {
    match times.len() {
        0 => 0.0,
        count => times[random.below(count)] as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain_file::tests_support::chain;
    use crate::passes::Pass;

    const MS: u64 = 1_000_000;

    fn hop(encode: u64, carry: u64, decode: u64) -> HopTimes {
        HopTimes { encode, carry, decode, ..HopTimes::default() }
    }

    /// Passes of one hop each.
    fn measured(hops: Vec<HopTimes>) -> Passes {
        let pass = |hop| Pass { stretch: 0, gap: 0, latency: 0, hops: vec![hop] };
        let passes = hops.into_iter().map(pass).collect();
        Passes { passes, lateness: vec![Vec::new(); 2], ..Passes::default() }
    }

    fn value_at(times: &[f64], share: f64) -> f64 {
        Prediction::quantile(times, share)
    }

    /// Every sum of one of each.
    fn all_sums(parts: &[Vec<u64>]) -> Vec<f64> {
        let mut sums = vec![0];
        for part in parts {
            sums = sums.iter().flat_map(|sum| part.iter().map(move |one| sum + one)).collect();
        }
        sorted(sums.into_iter().map(|sum| sum as f64))
    }

    #[test]
    fn draws_are_the_convolution_of_the_parts() {
        // Skewed, so that p99s of parts add up to far more than the p99 of the sum.
        let part = |scale: u64| (1..=20).map(|i| scale * i * i * i).collect::<Vec<u64>>();
        let parts = [part(10), part(7), part(3)];
        // Every carry with every decode, and an encode that is to be another.
        let pairs = parts[1].iter().flat_map(|carry| parts[2].iter().map(|to| hop(5, *carry, *to)));
        let model = ChainModel::new(&chain(&[100, 0]), &measured(pairs.collect()));
        let other: Vec<HopTimes> = parts[0].iter().map(|encode| hop(*encode, 0, 0)).collect();
        let mut changed = model.with_hop(0, &other, TouchedParts::Codec).unwrap();
        let hop = changed.changed.as_mut().unwrap();
        (hop.carry, hop.decode) = (None, None);
        let (drawn, exact) = (changed.predict(1).chain, all_sums(&parts));
        for share in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let (drawn, exact) = (value_at(&drawn, share), value_at(&exact, share));
            assert!((drawn / exact - 1.0).abs() < 0.04, "p{share}: {drawn} of {exact}");
        }
        let sum_of_p99: f64 =
            parts.iter().map(|part| value_at(&sorted(part.iter().map(|p| *p as f64)), 0.99)).sum();
        assert!(sum_of_p99 > 1.03 * value_at(&drawn, 0.99), "{sum_of_p99}");
    }

    #[test]
    fn a_wait_is_even_over_the_cycle() {
        let model = ChainModel::new(&chain(&[100, 40]), &measured(vec![hop(MS, MS, MS)]));
        let Prediction { chain: times, reaction } = model.predict(1);
        for share in [0.1, 0.5, 0.99] {
            let wanted = (3.0 + 40.0 * share) * MS as f64;
            assert!((value_at(&times, share) - wanted).abs() < 0.4 * MS as f64, "p{share}");
        }
        // The event waits for the sample as well: by the triangle's rules, the median of
        // even 40 and even 100 is half of both.
        assert!((value_at(&reaction, 0.5) - 73.0 * MS as f64).abs() < 0.6 * MS as f64);
        assert!(reaction.last().unwrap() < &(143.0 * MS as f64));
    }

    #[test]
    fn waits_of_locked_stages_follow_from_their_offsets() {
        let mut locked = chain(&[100, 100]);
        (locked.stages[0].offset, locked.stages[1].offset) = (Some(0), Some(10 * MS));
        let model = |encode: u64| {
            ChainModel::new(&locked, &measured(vec![hop(encode, 0, MS)])).predict(1).chain
        };
        let near = |time: f64, wanted: u64| (time - wanted as f64).abs() < 10.0;
        // Faster by half and not a bit sooner; a little too slow and a cycle later.
        assert!(
            near(value_at(&model(8 * MS), 0.5), 11 * MS)
                && near(value_at(&model(4 * MS), 0.5), 11 * MS)
        );
        assert!(near(value_at(&model(11 * MS), 0.5), 111 * MS));
    }

    #[test]
    fn lateness_moves_an_activation_and_not_the_wait_s_length() {
        let mut parts = measured(vec![hop(0, 0, 0)]);
        parts.lateness[1] = vec![3 * MS];
        let times = ChainModel::new(&chain(&[100, 40]), &parts).predict(1).chain;
        assert!(times[0] < 0.1 * MS as f64 && *times.last().unwrap() < 40.0 * MS as f64);
    }

    #[test]
    fn what_is_slow_together_stays_together() {
        // Every tenth pass was disturbed in all of its parts.
        let disturbed = |i: u64| if i.is_multiple_of(10) { 10 * MS + i } else { MS + i };
        let hops: Vec<HopTimes> = (0..100).map(|i| hop(disturbed(i), disturbed(i), 0)).collect();
        let model = ChainModel::new(&chain(&[100, 0]), &measured(hops.clone()));
        let halved: Vec<HopTimes> =
            hops.iter().map(|own| hop(own.encode / 2, own.carry / 2, 0)).collect();
        let halved_model = model.clone().with_hop(0, &halved, TouchedParts::Codec).unwrap();
        for (model, whole) in [(model, 2.0), (halved_model, 1.0)] {
            let times = model.predict(1).chain;
            // Apart, a fifth would be disturbed in one of the two parts.
            assert!(
                (value_at(&times, 0.85) / MS as f64 - whole).abs() < 0.1,
                "{}",
                value_at(&times, 0.85)
            );
            assert!((value_at(&times, 0.95) / MS as f64 - 10.0 * whole).abs() < 0.1);
        }
    }

    #[test]
    fn a_change_takes_the_place_of_what_it_changes() {
        let own = chain(&[100, 40]);
        let with_work = HopTimes { work: 5 * MS, ..hop(MS, MS, MS) };
        let model = ChainModel::new(&own, &measured(vec![with_work]));
        let median = |touched: TouchedParts| {
            let changed = model.clone().with_hop(0, &[HopTimes::default()], touched).unwrap();
            value_at(&changed.predict(1).chain, 0.5) / MS as f64
        };
        // Half of the cycle, what it works, and what the change does not touch.
        assert!((median(TouchedParts::Codec) - 25.0).abs() < 0.4);
        assert!((median(TouchedParts::Transport) - 27.0).abs() < 0.4);
        assert!((median(TouchedParts::Read) - 27.0).abs() < 0.4);
        let faster = model.with_cycles(&chain(&[100, 20])).predict(1).chain;
        assert!((value_at(&faster, 0.5) - 18.0 * MS as f64).abs() < 0.4 * MS as f64);
    }
}
