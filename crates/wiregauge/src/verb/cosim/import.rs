//! `wiregauge cosim import`: performance logs of other people's FMUs.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_cosim::logs::import::LogInput;
use wiregauge_cosim_run::import::{import_run, ImportedRun};
use wiregauge_system::notice::print_notice;
use wiregauge_system::text::escape_short;

use crate::exit_status::write_measured;
use crate::result_args::ResultArgs;

/// Make a result from performance logs that FMUs have written.
///
/// The logs of a source and a model that were written at the same time are one run of a
/// simulation. Several runs of the same FMUs count as processes. It prints how many
/// steps belong together, and why others do not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim import source.json model.json
  wiregauge cosim import runs/*.json -o runs.run.json
  wiregauge cosim import near=a/*.json far=b/source.json far=b/model.json")]
pub struct Arguments {
    /// Logs of sources and models, in any order. CASE= names the case of a log.
    #[arg(required = true, value_name = "[CASE=]LOG")]
    logs: Vec<LogInput>,
    /// How many steps to leave out at the start of each log.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    #[command(flatten)]
    delivery: ResultArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let inputs: Vec<&Path> = self.logs.iter().map(|log| log.path.as_path()).collect();
        let outlet = self.delivery.open(&inputs)?;
        let ImportedRun { run, notes } = import_run(&self.logs, self.skip)?;
        notes.iter().for_each(|note| print_notice(&escape_short(note)));
        write_measured(run, outlet)
    }
}
