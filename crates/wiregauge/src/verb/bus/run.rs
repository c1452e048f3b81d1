//! `wiregauge bus run`: loads of your own.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use clap::ValueEnum;
use wiregauge_bus::fan_out::FanOut;
use wiregauge_bus::load::Load;
use wiregauge_participant::control;

use super::series::{Common, Series};

/// Send samples of a size in a cycle, and measure what arrives.
///
/// Without --transport: over raw TCP and over memory, which need nothing.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge bus run --size 500 --cycle 1ms --transport dds,zenoh
  wiregauge bus run --size 10MB --cycle 100ms --mode both --duration 5m
  wiregauge bus run --size 500 --mode discrete --fast       as many steps as there can be
  wiregauge bus run --size 1MB --cycle 0                    as much as gets through
  wiregauge bus run --participants 2..64 --mode both        what a receiver more costs
  sudo wiregauge bus run --emulate 1gbit --cycle 0 --size 10MB --transport dds
                                                            over a link between two hosts")]
pub struct Arguments {
    /// Size of a sample in bytes: 500, 64kB, 10MB, 1GiB.
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', default_value = "500", value_parser = bytes)]
    size: Vec<usize>,
    /// From sample to sample, or the simulated time of a step; 0 is as fast as
    /// it goes.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = time)]
    cycle: Duration,
    /// How participants keep together.
    #[arg(long, value_enum, default_value = "continuous")]
    mode: Modes,
    /// Simulated time runs as fast as it can (discrete mode).
    #[arg(long)]
    fast: bool,
    /// One sends, the others receive: 4, or a sweep such as 2,4,8, or 2..64 for
    /// the powers of two.
    #[arg(long, value_name = "N", default_value = "2")]
    participants: FanOut,
    #[command(flatten)]
    common: Common,
}

/// One mode or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Modes {
    /// The sender paces to absolute deadlines of the common time.
    Continuous,
    /// Lockstep: a step is done when all have acknowledged its data.
    Discrete,
    /// One after the other.
    Both,
}

impl Modes {
    /// Each of them.
    pub fn all(self) -> Vec<control::Mode> {
        match self {
            Modes::Continuous => vec![control::Mode::Continuous],
            Modes::Discrete => vec![control::Mode::Discrete],
            Modes::Both => vec![control::Mode::Continuous, control::Mode::Discrete],
        }
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let (cycle, fast) = (self.cycle, self.fast);
        let mut loads = Vec::new();
        for mode in self.mode.all() {
            for &size in &self.size {
                for receivers in self.participants.receivers() {
                    let load = Load { size, cycle, mode, fast, receivers };
                    load.check()?;
                    loads.push(load);
                }
            }
        }
        let series = Series {
            title: "Samples over a bus".into(),
            loads,
            entries: self.common.entries()?,
            site: self.common.site()?,
            duration: self.common.duration(Duration::from_secs(10)),
            reference: None,
        };
        series.run(&self.common)
    }
}

/// `10MB`.
pub fn bytes(text: &str) -> Result<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        unit => bail!("'{unit}' is no unit of bytes; there are B, kB, MB, GB, KiB, MiB, GiB"),
    };
    let number: usize = digits.parse().with_context(|| format!("'{text}' is no size"))?;
    number.checked_mul(scale).with_context(|| format!("{text} is too much"))
}

/// `1ms`, or 0.
pub fn time(text: &str) -> Result<Duration> {
    match text {
        "0" => Ok(Duration::ZERO),
        _ => humantime::parse_duration(text).with_context(|| format!("'{text}' is no time")),
    }
}
