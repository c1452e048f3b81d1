//! `wiregauge trace record`: what FMUs make or what is played to the bus, as a trace file.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use wiregauge_cosim::master::plan::Pair;
use wiregauge_cosim::recording::Recording;
use wiregauge_cosim_run::measurement::StepTimeout;
use wiregauge_cosim_run::recorder::{count_steps, Recorder};
use wiregauge_system::notice::print_notice;
use wiregauge_system::quantity::parse_time;
use wiregauge_trace::version::{parse_version, Version};
use wiregauge_trace_stream::record_from_bus::{BusRecorder, RecordLimits};

use super::compression_args::CompressionArgs;
use super::transport_args::TransportArgs;
use crate::connect_args::ConnectArgs;
use crate::max_memory::MaxMemoryArgs;

/// Record the outputs of FMUs, or a trace that is played to the bus.
///
/// FMUs are a source, or a source and a model that takes its messages. They run as fast as
/// they can, without timing. Each output that says what it carries becomes a channel, named
/// after its FMU and itself. If an FMU fails, the messages before stay, and the exit status
/// is not 0.
///
/// From the bus it records the channels and messages of one player, as in the player's
/// file, until the player ends or until Ctrl-C. Then it prints how long they took and what
/// was lost.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace record -o drive_sv.osi --source a.fmu --duration 10s
  wiregauge trace record -o drive.mcap --source a.fmu --model b.fmu --steps 500
  wiregauge trace record -o drive.mcap --source a.fmu --steps 500 \\
      --variable OSMPSensorViewOut[1] --variable OSMPGroundTruthOut
  wiregauge trace record -o a.mcap --source a.fmu --set source.lanes=2 --steps 9
      add --protobuf-version 3.21.12 to keep all rules of OSI's trace files
  wiregauge trace record -o heard.mcap --over dds --topic drive
      and elsewhere 'wiregauge trace play drive.mcap --over dds --topic drive'
  wiregauge trace record -o heard.mcap --over tcp --bind 192.0.2.7
      it prints the command for the player")]
pub struct Arguments {
    /// Output file: .mcap, .osi, .txth, .jsonl, or .bin for any encoding, where each message
    /// follows its length.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// The FMU that makes messages.
    #[arg(long, value_name = "FMU", required_unless_present = "over", conflicts_with = "over")]
    source: Option<PathBuf>,
    /// The FMU that takes messages.
    #[arg(long, value_name = "FMU", requires = "source")]
    model: Option<PathBuf>,
    /// How long to record: 10s, 500ms. For FMUs in simulated time [default: to the
    /// stopTime of the source]. From the bus in real time, from the first message on.
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "steps")]
    duration: Option<Duration>,
    /// How many steps to record.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000), conflicts_with = "over")]
    steps: Option<u64>,
    /// Record only this output: OSMPSensorDataOut, or with its FMU
    /// sensor.OSMPSensorDataOut. Give it several times for several.
    #[arg(long, value_name = "NAME", conflicts_with = "over")]
    variable: Vec<String>,
    #[command(flatten)]
    coupling: ConnectArgs,
    #[command(flatten)]
    step: StepTimeout,
    #[command(flatten)]
    memory: MaxMemoryArgs,
    #[command(flatten)]
    over: TransportArgs,
    /// The address to listen at (tcp, zenoh) [default: 127.0.0.1].
    #[arg(long, value_name = "ADDRESS", requires = "over")]
    bind: Option<IpAddr>,
    /// How long to wait for a player [default: until Ctrl-C].
    #[arg(long, value_name = "TIME", requires = "over", value_parser = parse_time)]
    wait: Option<Duration>,
    #[command(flatten)]
    chunks: CompressionArgs,
    /// Version of the Protobuf library that the FMUs are linked with: 3.21.12. MCAP should
    /// say it, and the FMUs do not.
    #[arg(long, value_name = "VERSION", value_parser = parse_version, conflicts_with = "over")]
    protobuf_version: Option<Version>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.memory.apply();
        if let Some(transport) = self.over.transport() {
            let recorder = BusRecorder {
                output: &self.output,
                packing: self.chunks.packing(),
                transport: &transport,
                bind: self.bind,
                limits: RecordLimits { wait: self.wait, duration: self.duration },
            };
            recorder.record(&print_notice)?;
            return Ok(ExitCode::SUCCESS);
        }
        let source = self.source.clone().context("--source is missing")?;
        let mut pair = Pair { source, ..Pair::default() };
        pair.model = self.model.clone().unwrap_or_default();
        self.coupling.apply_to(&mut pair)?;
        let recording = match &self.model {
            Some(_) => Recording::from_pair(&pair, &self.variable)?,
            None => Recording::from_source(&pair, &self.variable)?,
        };
        let steps = match self.steps {
            Some(steps) => steps,
            None => count_steps(&recording, self.duration, &pair.source)?,
        };
        let inputs = [Some(&*pair.source), self.model.as_deref()];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
        let recorder = Recorder {
            output: &self.output,
            inputs: &inputs,
            packing: self.chunks.packing(),
            protobuf_version: self.protobuf_version,
            patience: self.step.timeout,
        };
        let sound = recorder.record_with_progress(&recording, steps)?;
        Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
