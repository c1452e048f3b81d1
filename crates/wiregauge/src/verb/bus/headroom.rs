//! `wiregauge bus headroom`: the highest rate, or the largest sample, that is
//! still carried whole and in time.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Result};
use wiregauge_bus::catalogue::{self, engine};
use wiregauge_bus::load::modes::Modes;
use wiregauge_bus::run_settings::RunSettings;
use wiregauge_bus::search::goal::{Aim, Goal};
use wiregauge_bus::search::headroom_search::HeadroomSearch;
use wiregauge_bus::series::context::SeriesContext;
use wiregauge_system::quantity::{parse_bytes, parse_rate, parse_time};

use super::bus_result::write_bus_result;
use super::run_args::RunArgs;

/// How long a trial lasts.
const TRIAL: Duration = Duration::from_secs(3);
/// Windows of a trial.
const WINDOWS: u32 = 10;

/// Search for the highest rate at a size, or the largest size at a rate, without loss and
/// in time.
///
/// A trial lasts three seconds (--duration). It is good if nothing is lost, damaged or
/// left unsent, no step times out, and the 99th percentile of the latency is within the
/// cycle; in discrete mode also that of the step. The rate or size grows until a trial is
/// bad. Then the search narrows to 5 %.
#[derive(clap::Args)]
#[command(mut_arg("round_trips", |argument| argument.hide(true)))]
#[command(after_help = "\
Examples:
  wiregauge bus headroom --size 500
      the highest rate of 500 B
  wiregauge bus headroom --cycle 10ms --mode discrete
      the largest sample for each 10 ms
  wiregauge bus headroom --rate 100Hz --transport dds,zenoh
      the largest sample at 100 a second")]
pub struct Arguments {
    /// Search the rate at this size: 500, 64kB, 10MB.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes::<usize>)]
    size: Option<usize>,
    /// Search the size in this cycle.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    cycle: Option<Duration>,
    /// Search the size at this rate of samples: 100Hz, 1kHz.
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<f64>,
    /// How participants stay in step.
    #[arg(long, value_enum, default_value = "continuous")]
    mode: Modes,
    /// Number of participants; one sends, the others receive.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=64))]
    participants: u32,
    #[command(flatten)]
    common: RunArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let common = &self.common;
        ensure!(
            common.round_trips.is_none(),
            "--round-trips has no effect: headroom judges one direction only"
        );
        let outlet = common.delivery.open(&[])?;
        let aim = Aim::choose(self.size, self.cycle, self.rate)?;
        let terms = common.run_settings(TRIAL);
        let window = common.window.unwrap_or(terms.duration / WINDOWS);
        let terms = RunSettings { window, round_trips: 0, ..terms };
        let entries = catalogue::select_or_built_in(&common.transport)?;
        terms.check_permissions(&entries)?;
        let receivers = self.participants as usize - 1;
        let goal = |mode| Goal { aim, mode, receivers };
        let goals: Vec<Goal> = self.mode.all().into_iter().map(goal).collect();
        for goal in &goals {
            goal.range(terms.duration)?;
        }
        let search = HeadroomSearch {
            title: match aim {
                Aim::Rate { .. } => "The highest rate of a bus",
                Aim::Size { .. } => "The largest sample of a bus",
            },
            goals,
            entries,
            placement: common.placement()?,
            settings: terms,
        };
        let result = SeriesContext::with_progress(&engine::tool_versions, |context| {
            search.measure(context)
        })?;
        write_bus_result(result, outlet)
    }
}
