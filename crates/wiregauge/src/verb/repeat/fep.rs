//! `wiregauge repeat fep`: FEP SDK 3's table over all transports.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_bus::catalogue;
use wiregauge_bus::load::fep;
use wiregauge_bus::run_settings::DEFAULT_DURATION;
use wiregauge_bus::series::Series;

use crate::verb::bus::bus_result::measure_series;
use crate::verb::bus::run_args::RunArgs;
use crate::verb::bus::samples_args::SamplesArgs;

/// Repeat FEP SDK 3's experiment over all transports.
///
/// It sends 10 B and 500 B each millisecond, and 10 MB each 100 ms, continuous and
/// discrete, for five minutes each as in the publication. The published figures are
/// printed beside the measured ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge repeat fep --quick
      fifteen seconds each
  wiregauge repeat fep --transport dds,zenoh
      five minutes each, and raw TCP
  sudo wiregauge repeat fep --quick --emulate 1gbit
      over a link, like the hosts of the publication")]
pub struct Arguments {
    /// Run for fifteen seconds each.
    #[arg(long, conflicts_with = "duration")]
    quick: bool,
    #[command(flatten)]
    keep: SamplesArgs,
    #[command(flatten)]
    common: RunArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let outlet = self.common.delivery.open(&[])?;
        let samples = self.keep.open(&[], &outlet)?;
        let entries = catalogue::select(&self.common.transport)?;
        let terms = self.common.run_settings(match self.quick {
            true => DEFAULT_DURATION,
            false => fep::DURATION,
        });
        terms.check_permissions(&entries)?;
        let subjects: Vec<String> = entries.iter().map(|entry| entry.id.to_owned()).collect();
        let series = Series {
            title: "The simulation bus of FEP SDK 3, repeated".into(),
            loads: fep::loads(),
            entries,
            placement: self.common.placement()?,
            terms,
            cargo: None,
            samples,
            reference: Some(fep::reference(&subjects)),
        };
        measure_series(series, outlet, &|| {})
    }
}
