//! What is searched: the highest rate at a size, or the largest size in a cycle.

use std::time::Duration;

use anyhow::{bail, ensure, Result};
use wiregauge_participant::control::Mode;
use wiregauge_participant::sample::{HEADER_SIZE, MAX_SAMPLE_SIZE};
use wiregauge_result::run::Case;

use crate::load::{format_bytes, format_duration, format_key, Load};
use crate::search::headroom::Range;

/// Samples that a trial has at least; fewer say little.
const FEWEST: u32 = 10;
/// The highest rate that is tried, in samples per second.
const HIGHEST: f64 = 1e7;
/// A search starts with no more than this rate, in samples per second,
const START_RATE: f64 = 100.0;
/// this size, in bytes,
const START_SIZE: f64 = 1000.0;
/// and this throughput, in bytes per second: what any transport carries.
const START_THROUGHPUT: f64 = 10e6;

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// What is given, and what is searched.
    pub aim: Aim,
    /// How participants keep together.
    pub mode: Mode,
    /// How many receive.
    pub receivers: usize,
}

/// What is given, and what is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// The highest rate, in samples per second.
    Rate {
        /// Size of a sample in bytes.
        size: usize,
    },
    /// The largest size, in bytes.
    Size {
        /// From sample to sample.
        cycle: Duration,
    },
}

impl Aim {
    /// By what is given: the rate is searched at a size, the size in a cycle or at a rate.
    ///
    /// # Errors
    /// When nothing is given, or what excludes each other.
    pub fn choose(size: Option<usize>, cycle: Option<Duration>, rate: Option<f64>) -> Result<Aim> {
        Ok(match (size, cycle, rate) {
            (Some(size), None, None) => Aim::Rate { size },
            (None, Some(cycle), None) => Aim::Size { cycle },
            (None, None, Some(rate)) => {
                Aim::Size { cycle: Duration::from_nanos((1e9 / rate).round() as u64) }
            }
            (None, None, None) => bail!(
                "give --size to search the highest rate, or --rate or --cycle to search the \
                 largest size"
            ),
            (None, ..) => bail!("--cycle and --rate mean the same; give one of them"),
            _ => bail!(
                "--size searches the rate, and --rate or --cycle searches the size; to measure one \
                 load give both to 'wiregauge bus run'"
            ),
        })
    }
}

impl Goal {
    /// Where to search with trials of this duration.
    ///
    /// # Errors
    /// A load that cannot be, and trials that are too short.
    pub fn range(&self, trial: Duration) -> Result<Range> {
        let range = match self.aim {
            Aim::Rate { size } => {
                let least = f64::from(FEWEST) / trial.as_secs_f64();
                let start = (START_THROUGHPUT / size.max(1) as f64).min(START_RATE).max(least);
                Range { least, start, most: HIGHEST, whole: false }
            }
            Aim::Size { cycle } => {
                ensure!(
                    !cycle.is_zero(),
                    "--cycle must be above 0 to search for the largest sample"
                );
                ensure!(
                    trial >= cycle * FEWEST,
                    "a trial needs {FEWEST} samples; give --duration {:?} or more",
                    cycle * FEWEST
                );
                let (least, most) = (HEADER_SIZE as f64, MAX_SAMPLE_SIZE as f64);
                let start = (START_THROUGHPUT * cycle.as_secs_f64()).min(START_SIZE).max(least);
                Range { least, start, most, whole: true }
            }
        };
        self.load(range.start).check()?;
        Ok(range)
    }

    /// The load at a value.
    pub fn load(&self, value: f64) -> Load {
        let (size, cycle) = match self.aim {
            Aim::Rate { size } => (size, Duration::from_nanos((1e9 / value).round() as u64)),
            Aim::Size { cycle } => (value as usize, cycle),
        };
        let Goal { mode, receivers, .. } = *self;
        Load { receivers, ..Load::new(size, cycle, mode) }
    }

    /// What is searched, as a curve goes over it: `rate` or `size`.
    pub fn axis(&self) -> &'static str {
        match self.aim {
            Aim::Rate { .. } => "rate",
            Aim::Size { .. } => "size",
        }
    }

    /// The unit of what is searched.
    pub fn unit(&self) -> &'static str {
        match self.aim {
            Aim::Rate { .. } => "1/s",
            Aim::Size { .. } => "B",
        }
    }

    /// Payload for each receiver at a value, in MB/s of a million bytes.
    pub fn throughput(&self, value: f64) -> f64 {
        match self.aim {
            Aim::Rate { size } => value * size as f64 / 1e6,
            Aim::Size { cycle } => value / cycle.as_secs_f64() / 1e6,
        }
    }

    /// A value as people read it: `5660/s`, `12 kB`.
    pub fn format_value(&self, value: f64) -> String {
        match self.aim {
            Aim::Rate { .. } => format!("{value}/s"),
            Aim::Size { .. } => format_bytes(value as usize),
        }
    }

    /// Its key: what is given, as in a load's key.
    pub fn id(&self) -> String {
        let given = match self.aim {
            Aim::Rate { size } => format_bytes(size),
            Aim::Size { cycle } => format_duration(cycle),
        };
        format_key(&given, self.mode, self.receivers)
    }

    /// What it is measured on.
    pub fn case(&self, notes: Vec<String>) -> Case {
        let size = match self.aim {
            Aim::Rate { size } => size as f64,
            Aim::Size { .. } => 0.0,
        };
        Case { id: self.id(), canonical_bytes: size, notes, ..self.load(1.0).case(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(aim: Aim) -> Goal {
        Goal { aim, mode: Mode::Discrete, receivers: 3 }
    }

    #[test]
    fn a_rate_is_searched_at_a_size() {
        let goal = goal(Aim::Rate { size: 500 });
        assert_eq!(goal.id(), "500 B, discrete, 4 participants");
        let range = goal.range(Duration::from_secs(4)).unwrap();
        assert_eq!((range.least, range.start, range.whole), (2.5, 100.0, false));
        let load = goal.load(3000.0);
        assert_eq!(
            (load.size, load.cycle, load.receivers),
            (500, Duration::from_nanos(333_333), 3)
        );
        assert_eq!((goal.throughput(3000.0), goal.format_value(3000.0)), (1.5, "3000/s".into()));
        let large = Goal { aim: Aim::Rate { size: 1_000_000 }, ..goal };
        assert_eq!(large.range(Duration::from_secs(4)).unwrap().start, 10.0);
        let none = Goal { aim: Aim::Rate { size: 0 }, ..goal };
        assert!(none.range(Duration::from_secs(4)).is_err());
    }

    #[test]
    fn a_size_is_searched_in_a_cycle() {
        let goal = goal(Aim::Size { cycle: Duration::from_millis(1) });
        assert_eq!(goal.id(), "1 ms, discrete, 4 participants");
        let range = goal.range(Duration::from_secs(4)).unwrap();
        assert_eq!((range.least, range.start, range.whole), (10.0, 1000.0, true));
        let load = goal.load(12_000.0);
        assert_eq!((load.size, load.cycle), (12_000, Duration::from_millis(1)));
        assert_eq!(
            (goal.throughput(12_000.0), goal.format_value(12_000.0)),
            (12.0, "12 kB".into())
        );
        let slow = Goal { aim: Aim::Size { cycle: Duration::from_millis(401) }, ..goal };
        let error = slow.range(Duration::from_secs(4)).unwrap_err().to_string();
        assert!(error.contains("4.01s"), "{error}");
    }
}
