//! `wiregauge trace record`: what FMUs make or what is played to the bus, as a trace file.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use wiregauge_cosim::master::plan::Pair;
use wiregauge_cosim::recording::Recording;
use wiregauge_system::quantity::parse_time;
use wiregauge_trace::version::Version;

use super::chunks::Chunks;
use super::hearing::{self, Patience};
use super::over::Over;
use super::putting::dotted;
use crate::coupling::Coupling;
use crate::memory::MaxMemory;
use crate::patience::StepPatience;
use crate::recorder::Recorder;

/// Record what FMUs make, a source alone or a source and a model that takes from it, or what
/// is played to the bus.
///
/// The FMUs are stepped as fast as they can be, and nothing is timed. Each output of the
/// source and of the model that says what it carries is a channel, called after its FMU and
/// itself. Where an FMU fails, what came before is kept, and the exit status tells.
///
/// From the bus it records the channels and messages of one player as they were in its file,
/// to the player's end or to Ctrl-C, and tells how long they took and what did not come.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace record drive_sv.osi --source a.fmu --duration 10s
  wiregauge trace record drive.mcap --source a.fmu --model b.fmu --steps 500
  wiregauge trace record drive.mcap --source a.fmu --steps 500 \\
      --variable OSMPSensorViewOut[1] --variable OSMPGroundTruthOut
  wiregauge trace record drive.mcap --source a.fmu --set source.lanes=2 --steps 100
      with --protobuf-version 3.21.12 it keeps all rules of OSI's trace files
  wiregauge trace record heard.mcap --over dds --topic drive
      and elsewhere 'wiregauge trace play drive.mcap --over dds --topic drive'
  wiregauge trace record heard.mcap --over tcp --bind 192.0.2.7 --option tcp.port=7401
      it says what the player is to be told")]
pub struct Arguments {
    /// What is written: .mcap, .osi, .txth, .jsonl, or .bin for messages of any encoding,
    /// each after its length.
    output: PathBuf,
    /// The FMU that makes messages.
    #[arg(long, value_name = "FILE", required_unless_present = "over", conflicts_with = "over")]
    source: Option<PathBuf>,
    /// The FMU that takes them.
    #[arg(long, value_name = "FILE", requires = "source")]
    model: Option<PathBuf>,
    /// How long is recorded, in simulated time: 10s, 500ms; to the stopTime that the source
    /// proposes, unless given. From the bus: in real time from the first message on.
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "steps")]
    duration: Option<Duration>,
    /// How many steps are recorded.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000), conflicts_with = "over")]
    steps: Option<u64>,
    /// Only this output, as OSMPSensorDataOut or with its FMU as sensor.OSMPSensorDataOut.
    /// Several times for several.
    #[arg(long, value_name = "NAME", conflicts_with = "over")]
    variable: Vec<String>,
    #[command(flatten)]
    coupling: Coupling,
    #[command(flatten)]
    steps_take: StepPatience,
    #[command(flatten)]
    memory: MaxMemory,
    #[command(flatten)]
    over: Over,
    /// The own address that a player comes to (tcp, zenoh) [default: 127.0.0.1].
    #[arg(long, value_name = "ADDRESS", requires = "over")]
    bind: Option<IpAddr>,
    /// How long to wait for a player; otherwise to Ctrl-C.
    #[arg(long, value_name = "TIME", requires = "over", value_parser = parse_time)]
    wait: Option<Duration>,
    #[command(flatten)]
    chunks: Chunks,
    /// The version of the Protobuf library that the FMUs are linked with, which nothing
    /// tells and MCAP is to say: 3.21.12.
    #[arg(long, value_name = "VERSION", value_parser = dotted, conflicts_with = "over")]
    protobuf_version: Option<Version>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.memory.apply();
        let Some(source) = &self.source else {
            let patience = Patience { wait: self.wait, duration: self.duration };
            let packing = self.chunks.packing();
            hearing::record(&self.output, packing, &self.over, self.bind, &patience)?;
            return Ok(ExitCode::SUCCESS);
        };
        let mut pair = Pair { source: source.clone(), ..Pair::default() };
        pair.model = self.model.clone().unwrap_or_default();
        self.coupling.adjust(&mut pair)?;
        let recording = match &self.model {
            Some(_) => Recording::from_pair(&pair, &self.variable)?,
            None => Recording::from_source(&pair, &self.variable)?,
        };
        let steps = match (self.steps, self.duration) {
            (Some(steps), _) => steps,
            (None, duration) => {
                let seconds = duration.map(|duration| duration.as_secs_f64());
                let seconds = seconds.or(recording.proposed_duration()).with_context(|| {
                    format!(
                        "{} proposes no stopTime: say how much is recorded by --duration TIME or \
                         --steps N",
                        source.display()
                    )
                })?;
                (seconds / recording.step).round().max(1.0) as u64
            }
        };
        let inputs: Vec<&Path> =
            [Some(source), self.model.as_ref()].into_iter().flatten().map(|p| &**p).collect();
        let recorder = Recorder {
            output: &self.output,
            inputs: &inputs,
            packing: self.chunks.packing(),
            protobuf_version: self.protobuf_version,
            patience: self.steps_take.patience,
        };
        let sound = recorder.record(&recording, steps)?;
        Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
