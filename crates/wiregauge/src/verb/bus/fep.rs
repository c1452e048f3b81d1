//! `wiregauge bus fep`: the reference's table over all transports.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_bus::catalogue;
use wiregauge_bus::conduct::run_settings::DEFAULT_DURATION;
use wiregauge_bus::load::fep;

use super::keep::Keep;
use super::series::{Common, Series};

/// Repeat the reference's experiment over all transports.
///
/// 10 B and 500 B each millisecond, 10 MB each 100 ms, continuous and
/// discrete, five minutes each as in the publication, whose figures are
/// printed beside the measured ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge bus fep --quick                     fifteen seconds each
  wiregauge bus fep --transport dds,zenoh       five minutes each, and raw TCP
  sudo wiregauge bus fep --quick --emulate 1gbit
      over a link, as the reference's hosts had")]
pub struct Arguments {
    /// Fifteen seconds each.
    #[arg(long, conflicts_with = "duration")]
    quick: bool,
    #[command(flatten)]
    keep: Keep,
    #[command(flatten)]
    common: Common,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let outlet = self.common.delivery.open(&[])?;
        let samples = self.keep.open(&[], &outlet)?;
        let entries = catalogue::select(&self.common.transport)?;
        let terms = self.common.terms(match self.quick {
            true => DEFAULT_DURATION,
            false => fep::DURATION,
        });
        terms.check_permissions(&entries)?;
        let subjects: Vec<String> = entries.iter().map(|entry| entry.id.to_owned()).collect();
        Series {
            title: "The simulation bus of FEP SDK 3, repeated".into(),
            loads: fep::loads(),
            entries,
            placement: self.common.placement()?,
            terms,
            cargo: None,
            samples,
            reference: Some(fep::reference(&subjects)),
        }
        .run(outlet)
    }
}
