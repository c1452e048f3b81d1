//! `wiregauge repeat traces`: the report's trace file player.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_repeat::experiment::traces::MESSAGES;
use wiregauge_repeat::trace_player::{RecordedTraces, TracePlayer};
use wiregauge_system::progress::ProgressDisplay;

use super::fmus::FmuArgs;

/// Repeat Persival's trace file player.
///
/// It records a trace of 6 s in every encoding, with 668,052 reflections and 10 objects
/// in each message. Then it plays the trace to the sensor: raw, as it is in the file, and
/// parsed. This is the last row of table 1 of the ASAM OSI Flatbuffers Performance Report.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge repeat traces --quick
  wiregauge repeat traces --codecs protobuf,flatbuffers-tables
      only the report's row
  wiregauge repeat traces --keep traces
      keep the traces there, 1 GB each")]
pub struct Arguments {
    /// Measure only these encodings of messages.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "all")]
    codecs: Vec<String>,
    /// Messages of each trace. Fewer take less room and time.
    #[arg(long, value_name = "N", default_value_t = MESSAGES, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    messages: u64,
    /// Keep the traces in this folder.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    fmus: FmuArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let FmuArgs { verify, fresh, measuring } = self.fmus;
        let destination = measuring.open(&[])?;
        let progress = ProgressDisplay::new();
        let player = TracePlayer {
            encodings: self.codecs,
            messages: self.messages,
            keep: self.keep,
            verify,
            fresh,
            patience: measuring.patience(),
        };
        let RecordedTraces { workload, folder: _folder } = player.record(&progress.stoppable())?;
        measuring.carry_out(workload, destination, progress)
    }
}
