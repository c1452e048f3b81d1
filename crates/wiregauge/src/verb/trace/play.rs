//! `wiregauge trace play`: messages at their times.

use std::io::stdout;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use wiregauge_cosim::package::description::step_size;
use wiregauge_cosim_run::fmu_setting::FmuSetting;
use wiregauge_cosim_run::host::host;
use wiregauge_cosim_run::measurement::StepTimeout;
use wiregauge_system::notice::print_notice;
use wiregauge_system::quantity::parse_time;
use wiregauge_trace::play::{Lateness, PlayRate};
use wiregauge_trace_edit::output_file::is_broken_pipe;
use wiregauge_trace_stream::play_to_bus::play_to_bus;
use wiregauge_trace_stream::play_to_fmu::PlayedFmu;
use wiregauge_trace_stream::playback::{format_lateness, Playback};
use wiregauge_trace_stream::stream_end::StreamTransport;

use super::osi_type_arg::OsiTypeArg;
use super::selection_args::SelectionArgs;
use super::transport_args::TransportArgs;
use crate::max_memory::MaxMemoryArgs;

/// How long recorders are waited for.
const WAIT: Duration = Duration::from_secs(20);

/// Play a trace to standard output, to the bus or to an FMU, at the recorded times.
///
/// On standard output each message follows its length, a little-endian number of four
/// bytes. An FMU makes a step for each message, up to the message's time. The first step
/// begins one step before the first message. If an FMU takes only steps of one length and
/// the messages do not come in such steps, use --step-size. At the end it prints how late
/// messages were.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace play drive_sv.osi | my-model
  wiregauge trace play drive.mcap --channel /lidar --speed 2 | my-model
  wiregauge trace play drive_sv.osi --speed max > /dev/null
      as fast as possible
  wiregauge trace play drive_sv.osi --into sensor.fmu -o detected_sd.osi
      write what the FMU makes of it to a trace file
  wiregauge trace play drive.mcap --over dds --option dds.domain=7
      to 'wiregauge trace record -o heard.mcap --over dds --option dds.domain=7'
  wiregauge trace play drive.mcap --over tcp --recorder 127.0.0.1:7401
      to a recorder that says where it listens")]
pub struct Arguments {
    /// Input: .mcap, .osi, or .osi packed by gzip, xz or zstd.
    input: PathBuf,
    /// How much faster than recorded: 2, 0.5, or max for as fast as possible.
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    speed: PlayRate,
    /// How many times to play it, one right after the other.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    loops: u32,
    #[command(flatten)]
    typed: OsiTypeArg,
    #[command(flatten)]
    selecting: SelectionArgs,
    #[command(flatten)]
    over: TransportArgs,
    /// The address where a recorder listens (tcp, zenoh), as the recorder prints it. Give
    /// it several times for several.
    #[arg(long, value_name = "ADDRESS", requires = "over")]
    recorder: Vec<String>,
    /// How many recorders to wait for, if they are found by the topic [default: 1].
    #[arg(long, value_name = "N", requires = "over", value_parser = clap::value_parser!(u8).range(1..=8))]
    readers: Option<u8>,
    /// How long to wait for recorders. 0 plays at once [default: 20s].
    #[arg(long, value_name = "TIME", requires = "over", value_parser = parse_time)]
    wait: Option<Duration>,
    /// Play to this FMU.
    #[arg(long, value_name = "FMU", conflicts_with = "over")]
    into: Option<PathBuf>,
    /// The FMU's input, if it has several.
    #[arg(long, value_name = "NAME", requires = "into")]
    variable: Option<String>,
    /// Step size of the FMU: 10ms, or 0.01 (seconds). Each step gets the last message up
    /// to its end [default: steps end at the times of the messages].
    #[arg(long, value_name = "TIME", requires = "into", value_parser = step_size)]
    step_size: Option<f64>,
    /// Set a variable of the FMU before it is initialized; the FMU is the model:
    /// model.range=80.
    #[arg(long, value_name = "FMU.NAME=VALUE", requires = "into")]
    set: Vec<FmuSetting>,
    #[command(flatten)]
    step: StepTimeout,
    #[command(flatten)]
    memory: MaxMemoryArgs,
    /// Write the outputs of the FMU to this file: .mcap, .osi, .txth, .jsonl, .bin.
    #[arg(short, long, value_name = "PATH", requires = "into")]
    output: Option<PathBuf>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.memory.apply();
        let playback = Playback {
            input: self.input.clone(),
            filter: self.selecting.filter(),
            osi_type: self.typed.osi_type.clone(),
            rate: self.speed,
            loops: self.loops,
        };
        if let Some(transport) = self.over.transport() {
            return self.send(&playback, &transport);
        }
        let mut lateness = Lateness::default();
        let played = match &self.into {
            Some(fmu) => self.feed(fmu, &playback, &mut lateness),
            None => match playback.play_to_writer(&mut stdout().lock(), &mut lateness) {
                Err(error) if is_broken_pipe(&error) => Ok(true),
                played => played.map(|()| true),
            },
        };
        if lateness.messages == 0 {
            played?;
            bail!(playback.explain_empty());
        }
        print_notice(&format_lateness(&mut lateness));
        Ok(if played? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Plays to the bus.
    fn send(&self, playback: &Playback, transport: &StreamTransport) -> Result<ExitCode> {
        let readers = self.readers.map(usize::from);
        let end = transport.player(&self.recorder, readers, self.wait.unwrap_or(WAIT))?;
        play_to_bus(playback, end, &print_notice)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Plays to an FMU. Whether it took each message, and made what it says.
    fn feed(&self, fmu: &Path, playback: &Playback, lateness: &mut Lateness) -> Result<bool> {
        let set = |FmuSetting { of_model, name, value }: &FmuSetting| {
            ensure!(*of_model, "there is no source FMU; write --set model.{name}={value}");
            Ok((name.clone(), value.clone()))
        };
        let fmu = PlayedFmu {
            path: fmu,
            variable: self.variable.as_deref(),
            parameters: self.set.iter().map(set).collect::<Result<_>>()?,
            step_size: self.step_size,
            patience: self.step.timeout,
            host: host()?,
            output: self.output.as_deref(),
        };
        fmu.play(playback, lateness, &print_notice)
    }
}
