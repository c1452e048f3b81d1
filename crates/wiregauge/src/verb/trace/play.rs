//! `wiregauge trace play`: messages at their times.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_cosim::fmu_feed::{FeedInput, FeedSummary, FmuFeed, ProducedMessage};
use wiregauge_cosim::package::description::step_size;
use wiregauge_cosim::recording::RecordedVariable;
use wiregauge_cosim::stepping::Length;
use wiregauge_participant::stream::setup::PlayResult;
use wiregauge_system::quantity::parse_time;
use wiregauge_system::text::escape_short;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::osi;
use wiregauge_trace::play::{play, schedule, Lateness, PlayRate};
use wiregauge_trace::read::{MessageInfo, Nanoseconds};
use wiregauge_trace::write::OutputFormat;

use super::output_args::{is_broken_pipe, OutputArgs};
use super::play_to_bus::{BusPlayer, LargestFrame};
use super::selection_args::SelectionArgs;
use super::transport_args::TransportArgs;
use crate::connect_args::{parse_setting, Setting};
use crate::max_memory::MaxMemoryArgs;
use crate::output::print_notice;
use crate::recorder::{host, Recorder};
use crate::step_timeout::StepTimeoutArgs;

/// How long recorders are waited for.
const WAIT: Duration = Duration::from_secs(20);

/// Takes a message of a turn.
type MessageHandler<'t> = &'t mut dyn FnMut(u32, &MessageInfo, &[u8]) -> Result<()>;

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
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_pace)]
    speed: PlayRate,
    /// How many times to play it, one right after the other.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    loops: u32,
    /// Type of the messages in an .osi file, if its name does not say it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
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
    #[arg(long, value_name = "FMU.NAME=VALUE", requires = "into", value_parser = parse_setting)]
    set: Vec<Setting>,
    #[command(flatten)]
    steps_take: StepTimeoutArgs,
    #[command(flatten)]
    memory: MaxMemoryArgs,
    /// Write the outputs of the FMU to this file: .mcap, .osi, .txth, .jsonl, .bin.
    #[arg(short, long, value_name = "PATH", requires = "into")]
    output: Option<PathBuf>,
}

fn parse_pace(text: &str) -> Result<PlayRate> {
    match text {
        "max" => Ok(PlayRate::unbounded()),
        rate => PlayRate::new(rate.parse().unwrap_or(f64::NAN)),
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.memory.apply();
        if self.over.over.is_some() {
            return self.send();
        }
        let mut lateness = Lateness::default();
        let failed = match &self.into {
            Some(fmu) => self.feed(fmu, &mut lateness),
            None => match self.print(&mut lateness) {
                Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
                other => other.map(|()| ExitCode::SUCCESS),
            },
        };
        if lateness.messages == 0 {
            failed?;
            bail!(self.selecting.explain_empty(&self.input));
        }
        let micros = |nanos: u64| format!("{:.1} µs", nanos as f64 / 1e3);
        let [half, most, all] = [0.5, 0.99, 1.0].map(|share| micros(lateness.quantile(share)));
        let (messages, bytes) = (lateness.messages, lateness.bytes);
        print_notice(&format!(
            "{messages} messages of {bytes} bytes; late by {half} (median), {most} (99 %), {all} \
             (most)"
        ));
        failed
    }

    fn print(&self, lateness: &mut Lateness) -> Result<()> {
        let mut out = std::io::stdout().lock();
        self.play(lateness, &mut |_, _, data| {
            let length = u32::try_from(data.len())?.to_le_bytes();
            out.write_all(&length)?;
            out.write_all(data)?;
            Ok(out.flush()?)
        })
    }

    fn play(&self, lateness: &mut Lateness, take: MessageHandler) -> Result<()> {
        let wish = self.read_hints();
        let selection = self.selecting.resolve(std::slice::from_ref(&self.input), &wish)?;
        for turn in 0..self.loops {
            let mut reader = open::open(&self.input, &wish)?;
            let mut selected = selection.select(reader.as_mut());
            play(&mut selected, self.speed, lateness, &mut |head, data| take(turn, head, data))?;
            selection.check(&self.input.display().to_string(), reader.channels().values())?;
        }
        Ok(())
    }

    /// Plays them to the bus.
    fn send(&self) -> Result<ExitCode> {
        let readers = self.readers.map(usize::from);
        let mut end = self.over.player(&self.recorder, readers, self.wait.unwrap_or(WAIT))?;
        // Before anyone is waited for.
        self.selecting.resolve(std::slice::from_ref(&self.input), &self.read_hints())?;
        drop(open::open(&self.input, &self.read_hints())?);
        if end.has_equal_rooms() {
            end.setup.topic.size = self.largest()?;
        }
        let mut sending = BusPlayer::start(&end, !self.speed.is_unbounded())?;
        let (sent, failed) = match self.send_messages(&mut sending) {
            Ok(()) => (Some(sending.finish()?), None),
            Err(error) => {
                let (sent, error) = sending.stop(error);
                (sent, Some(error))
            }
        };
        if let Some(sent) = sent {
            self.tell_sent(&sent);
        }
        failed.map_or(Ok(ExitCode::SUCCESS), Err)
    }

    /// The largest frame of what is played, for which the trace is hopped through.
    fn largest(&self) -> Result<usize> {
        let (wish, putting) = (self.read_hints(), OutputArgs::with_defaults(self.kind.clone()));
        let selection = self.selecting.resolve(std::slice::from_ref(&self.input), &wish)?;
        let mut reader = open::open(&self.input, &wish)?;
        let mut selected = selection.select(reader.as_mut());
        let (mut largest_frame, mut told) = (LargestFrame::new(), BTreeSet::new());
        while let Some(head) = selected.advance()? {
            if told.insert(head.channel) {
                let channel = &selected.reader().channels()[&head.channel];
                largest_frame.channel(&putting.describe(
                    &self.input,
                    None,
                    channel,
                    OutputFormat::Mcap,
                )?)?;
            }
            largest_frame.message(head.size);
        }
        reader.limit_times(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
        while reader.next()?.is_some() {}
        largest_frame.metadata(reader.as_ref());
        Ok(largest_frame.bytes)
    }

    fn send_messages(&self, sending: &mut BusPlayer) -> Result<()> {
        let (wish, putting) = (self.read_hints(), OutputArgs::with_defaults(self.kind.clone()));
        let selection = self.selecting.resolve(std::slice::from_ref(&self.input), &wish)?;
        let (mut told, mut any) = (BTreeSet::new(), false);
        for turn in 1..=self.loops {
            sending.begin();
            let mut reader = open::open(&self.input, &wish)?;
            let mut selected = selection.select(reader.as_mut());
            schedule(&mut selected, self.speed, &mut |channel, head, data, later| {
                if let Some(channel) = channel.filter(|_| told.insert(head.channel)) {
                    // As MCAP wants it, whatever becomes of it.
                    let channel =
                        putting.describe(&self.input, None, channel, OutputFormat::Mcap)?;
                    sending.channel(head.channel, &channel)?;
                }
                any = true;
                sending.message(head, data, later)
            })?;
            selection.check(&self.input.display().to_string(), reader.channels().values())?;
            ensure!(any, self.selecting.explain_empty(&self.input));
            if turn == self.loops {
                // What else the file holds may come last.
                reader.limit_times(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
                while reader.next()?.is_some() {}
                sending.metadata(reader.as_ref())?;
                for attachment in reader.attachments() {
                    print_notice(&escape_short(&format!(
                        "attachment {} is not played",
                        attachment.name
                    )));
                }
            }
        }
        Ok(())
    }

    fn tell_sent(&self, sent: &PlayResult) {
        let PlayResult { messages, bytes, late, left } = sent;
        let micros = |nanos: u64| format!("{:.1} µs", nanos as f64 / 1e3);
        let late = late.quantile(0.5).map_or(String::new(), |half| {
            let most = micros(late.most);
            let [half, tail] = [half, late.quantile(0.99).unwrap_or(late.most)].map(micros);
            format!("; late by {half} (median), {tail} (99 %), {most} (most)")
        });
        print_notice(&format!("{messages} messages of {bytes} bytes{late}"));
        if *left > 0 {
            print_notice(&format!(
                "{left} readers are still connected and may not have received everything"
            ));
        }
    }

    fn read_hints(&self) -> OpenHints {
        OpenHints { osi_type: self.kind.clone() }
    }

    /// What variables of the FMU become.
    fn settings(&self) -> Result<Vec<(String, String)>> {
        let set = |Setting { model, name, value }: &Setting| {
            ensure!(*model, "there is no source FMU; write --set model.{name}={value}");
            Ok((name.clone(), value.clone()))
        };
        self.set.iter().map(set).collect()
    }

    /// Hands them to an FMU, in steps that end at the times of the messages.
    fn feed(&self, fmu: &Path, lateness: &mut Lateness) -> Result<ExitCode> {
        let (channel, type_name, times) = self.first_message_info()?;
        let (variable, host) = (self.variable.as_deref(), host()?);
        let patience = self.steps_take.timeout;
        let set = self.settings()?;
        let fodder = FeedInput { type_name: &type_name, times, step: self.step_size };
        let mut feeding = FmuFeed::start(fmu, variable, &fodder, &set, &host, patience)?;
        let made = feeding.results().to_vec();
        let inputs = [self.input.as_path(), fmu];
        let recorder =
            self.output.as_deref().map(|output| Recorder::new(output, &inputs, patience));
        let name = feeding.name().to_owned();
        let mut tape = match &recorder {
            Some(_) if made.is_empty() => bail!("{name} has no output to record"),
            Some(recorder) => {
                let about = format!("made of {}", self.input.display());
                let made = made.iter().map(|binary| RecordedVariable { fmu: &name, binary });
                Some(recorder.begin(&made.collect::<Vec<_>>(), about)?)
            }
            None => None,
        };
        let start = feeding.stepping().start();
        if start < 0.0 {
            print_notice(&escape_short(&format!(
                "{name} starts at {start} s, a step before the first message"
            )));
        }
        let mut take = |made: ProducedMessage| match &mut tape {
            Some(tape) => tape.take(made.variable, made.time, made.bytes),
            None => Ok(()),
        };
        let mut last_turn = 0;
        let played = self.play(lateness, &mut |turn, head, data| {
            ensure!(
                head.channel == channel,
                "an FMU takes the messages of one channel; choose it by --channel"
            );
            if turn != last_turn {
                feeding.restart_trace();
                last_turn = turn;
            }
            feeding.feed(head.time, data, &mut take)
        });
        let played = played.and_then(|()| feeding.feed_last(&mut take));
        let complete = tell_steps(&feeding);
        let failed = played.and_then(|()| feeding.finish()).err();
        let sound = match (tape, failed) {
            (Some(tape), failed) => tape.finish(failed)?,
            (None, Some(error)) => return Err(error),
            (None, None) => true,
        };
        Ok(if complete && sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The channel of the first wanted message, its type, and the times of the first two.
    fn first_message_info(&self) -> Result<(u16, String, [Option<Nanoseconds>; 2])> {
        let selection =
            self.selecting.resolve(std::slice::from_ref(&self.input), &self.read_hints())?;
        let mut reader = open::open(&self.input, &self.read_hints())?;
        let mut selected = selection.select(reader.as_mut());
        let head = selected.advance()?;
        let head = head.with_context(|| {
            format!(
                "no message in {} has the channel, time and number that were asked for",
                self.input.display()
            )
        })?;
        // What is wrong with the second is for those to say who play it.
        let second = selected.advance().ok().flatten().and_then(|second| second.time);
        let name = reader.channels()[&head.channel].definition.name.clone();
        ensure!(!name.is_empty(), osi::missing_type_message(&self.input));
        Ok((head.channel, name, [head.time, second]))
    }
}

/// Tells of what was not as simple as a step for each message, and whether each message was
/// handed over that was to be.
fn tell_steps(feeding: &FmuFeed) -> bool {
    let (name, stepping) = (feeding.name(), feeding.stepping());
    let FeedSummary { left_out, first_left_out, replaced, after_end, end } = &feeding.account;
    if stepping.length() == Length::Sampled {
        let (steps, size) = (stepping.done, stepping.size());
        let replaced = match replaced {
            0 => String::new(),
            count => format!(
                "; {count} messages had no step, as a newer message came before the step ended"
            ),
        };
        print_notice(&escape_short(&format!("{name}: {steps} steps of {size} s{replaced}")));
    }
    if *left_out > 0 {
        let first = *first_left_out as f64 / 1e9;
        print_notice(&escape_short(&format!(
            "{name}: {left_out} messages were left out, as their time is not later than that of \
             the message before; the first is at {first} s"
        )));
    }
    if let Some(end) = end {
        let lost = match after_end {
            0 => String::new(),
            1 => "; 1 message came after that and was not used".to_owned(),
            lost => format!("; {lost} messages came after that and were not used"),
        };
        print_notice(&escape_short(&format!("the simulation ended early: {end}{lost}")));
    }
    *left_out == 0 && *after_end == 0
}
