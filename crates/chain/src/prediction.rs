//! What a chain takes by its parts.
//!
//! A time end to end is a sum of parts, so its distribution is their convolution: a p99 of the
//! sum is not the sum of p99s. Here chains are drawn from the measured parts, each part by
//! itself, and followed from the taking of a sample to the actuator. A stage with a cycle
//! begins at its next activation: where its phase is its own, the wait is even over the cycle
//! and depends on nothing before; where stages are locked by offsets, it follows from when the
//! sample comes.

use wiregauge_result::random::Random;
use wiregauge_result::stats::{quantile, sorted};

use crate::chain::Chain;
use crate::passes::{HopTimes, Passes};
use crate::sitting::random_share;

/// How many chains are drawn: beyond the p99.9 lie a hundred.
const DRAWS: usize = 100_000;
/// Cycles of the first stage among which a sample is taken, so that all meetings of locked
/// cycles occur.
const CYCLES: usize = 1000;

/// The parts that a chain is made of.
#[derive(Clone, Debug)]
pub struct ChainModel {
    stages: Vec<StageModel>,
    hops: Vec<HopModel>,
}

#[derive(Clone, Debug)]
struct StageModel {
    period: f64,
    offset: Option<f64>,
    lateness: Vec<u64>,
}

/// The parts of a hop, each with all times that were measured of it.
#[derive(Clone, Debug)]
struct HopModel {
    encode: Vec<u64>,
    encode_asking: Vec<u64>,
    carry: Vec<u64>,
    decode: Vec<u64>,
    decode_asking: Vec<u64>,
    work: Vec<u64>,
}

impl HopModel {
    fn new(measured: &[HopTimes]) -> HopModel {
        let of = |part: fn(&HopTimes) -> u64| measured.iter().map(part).collect();
        HopModel {
            encode: of(|hop| hop.encode),
            encode_asking: of(|hop| hop.encode_asking),
            carry: of(|hop| hop.carry),
            decode: of(|hop| hop.decode),
            decode_asking: of(|hop| hop.decode_asking),
            work: of(|hop| hop.work),
        }
    }
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
        let hops = measured.hops.iter().map(|hop| HopModel::new(hop));
        ChainModel { stages: stages.collect(), hops: hops.collect() }
    }

    /// The same with the cycles of a changed chain.
    pub fn with_cycles(mut self, chain: &Chain) -> ChainModel {
        for (own, stage) in self.stages.iter_mut().zip(&chain.stages) {
            own.period = stage.period as f64;
            own.offset = own.offset.map(|offset| offset % own.period.max(1.0));
        }
        self
    }

    /// The same with those parts of a hop that a change touches.
    pub fn with_hop(
        mut self,
        place: usize,
        measured: &[HopTimes],
        touched: TouchedParts,
    ) -> ChainModel {
        let HopModel { encode, carry, decode, .. } = HopModel::new(measured);
        let own = &mut self.hops[place];
        match touched {
            TouchedParts::Codec => (own.encode, own.carry, own.decode) = (encode, carry, decode),
            TouchedParts::Transport => own.carry = carry,
            TouchedParts::Read => own.decode = decode,
        }
        self
    }

    /// Whether there is something to draw from.
    pub fn is_complete(&self) -> bool {
        let is_complete = |hop: &HopModel| {
            ![&hop.encode, &hop.carry, &hop.decode].iter().any(|part| part.is_empty())
        };
        self.hops.iter().all(is_complete)
    }

    /// Draws chains.
    pub fn predict(&self, seed: u64) -> Prediction {
        let mut random = Random::new(seed);
        let (mut chain, mut reaction) = (Vec::new(), Vec::new());
        for _ in 0..if self.is_complete() { DRAWS } else { 0 } {
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
        for (place, hop) in self.hops.iter().enumerate() {
            // Each part by itself.
            now += pick(&hop.encode, random);
            now += pick(&hop.encode_asking, random);
            now += pick(&hop.carry, random);
            let stage = &self.stages[place + 1];
            if stage.period > 0.0 {
                let late = pick(&stage.lateness, random);
                let phase = self.phase(place + 1, random);
                // The first activation that begins after the sample came.
                let cycles = ((now - late - phase) / stage.period).ceil();
                now = phase + cycles * stage.period + late;
            }
            now += pick(&hop.decode, random);
            now += pick(&hop.decode_asking, random);
            now += pick(&hop.work, random);
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

    const MS: u64 = 1_000_000;

    fn hop(encode: u64, carry: u64, decode: u64) -> HopTimes {
        HopTimes { encode, carry, decode, ..HopTimes::default() }
    }

    fn measured(stages: usize, hops: Vec<Vec<HopTimes>>) -> Passes {
        Passes { hops, lateness: vec![Vec::new(); stages], ..Passes::default() }
    }

    fn at(times: &[f64], share: f64) -> f64 {
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
        let hops = (0..20).map(|i| hop(parts[0][i], parts[1][i], parts[2][i])).collect();
        let model = ChainModel::new(&chain(&[100, 0]), &measured(2, vec![hops]));
        let (drawn, exact) = (model.predict(1).chain, all_sums(&parts));
        for share in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let (drawn, exact) = (at(&drawn, share), at(&exact, share));
            assert!((drawn / exact - 1.0).abs() < 0.04, "p{share}: {drawn} of {exact}");
        }
        let sum_of_p99: f64 =
            parts.iter().map(|part| at(&sorted(part.iter().map(|p| *p as f64)), 0.99)).sum();
        assert!(sum_of_p99 > 1.03 * at(&drawn, 0.99), "{sum_of_p99}");
    }

    #[test]
    fn a_wait_is_even_over_the_cycle() {
        let model = ChainModel::new(&chain(&[100, 40]), &measured(2, vec![vec![hop(MS, MS, MS)]]));
        let Prediction { chain: times, reaction } = model.predict(1);
        for share in [0.1, 0.5, 0.99] {
            let wanted = (3.0 + 40.0 * share) * MS as f64;
            assert!((at(&times, share) - wanted).abs() < 0.4 * MS as f64, "p{share}");
        }
        // The event waits for the sample as well: by the triangle's rules, the median of
        // even 40 and even 100 is half of both.
        assert!((at(&reaction, 0.5) - 73.0 * MS as f64).abs() < 0.6 * MS as f64);
        assert!(reaction.last().unwrap() < &(143.0 * MS as f64));
    }

    #[test]
    fn waits_of_locked_stages_follow_from_their_offsets() {
        let mut locked = chain(&[100, 100]);
        (locked.stages[0].offset, locked.stages[1].offset) = (Some(0), Some(10 * MS));
        let model = |encode: u64| {
            ChainModel::new(&locked, &measured(2, vec![vec![hop(encode, 0, MS)]])).predict(1).chain
        };
        let near = |time: f64, wanted: u64| (time - wanted as f64).abs() < 10.0;
        // Faster by half and not a bit sooner; a little too slow and a cycle later.
        assert!(near(at(&model(8 * MS), 0.5), 11 * MS) && near(at(&model(4 * MS), 0.5), 11 * MS));
        assert!(near(at(&model(11 * MS), 0.5), 111 * MS));
    }

    #[test]
    fn lateness_moves_an_activation_and_not_the_wait_s_length() {
        let mut parts = measured(2, vec![vec![hop(0, 0, 0)]]);
        parts.lateness[1] = vec![3 * MS];
        let times = ChainModel::new(&chain(&[100, 40]), &parts).predict(1).chain;
        assert!(times[0] < 0.1 * MS as f64 && *times.last().unwrap() < 40.0 * MS as f64);
    }

    #[test]
    fn a_change_takes_the_place_of_what_it_changes() {
        let own = chain(&[100, 40]);
        let with_work = HopTimes { work: 5 * MS, ..hop(MS, MS, MS) };
        let model = ChainModel::new(&own, &measured(2, vec![vec![with_work]]));
        let median = |touched: TouchedParts| {
            let changed = model.clone().with_hop(0, &[HopTimes::default()], touched);
            at(&changed.predict(1).chain, 0.5) / MS as f64
        };
        // Half of the cycle, what it works, and what the change does not touch.
        assert!((median(TouchedParts::Codec) - 25.0).abs() < 0.4);
        assert!((median(TouchedParts::Transport) - 27.0).abs() < 0.4);
        assert!((median(TouchedParts::Read) - 27.0).abs() < 0.4);
        let faster = model.with_cycles(&chain(&[100, 20])).predict(1).chain;
        assert!((at(&faster, 0.5) - 18.0 * MS as f64).abs() < 0.4 * MS as f64);
    }
}
