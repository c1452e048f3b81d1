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

use super::over::Over;
use super::putting::{is_gone, Putting};
use super::selecting::Selecting;
use super::sending::{Largest, Sending};
use crate::memory::MaxMemory;
use crate::output::tell;
use crate::patience::StepPatience;
use crate::recorder::{host, Recorder};

/// How long recorders are waited for.
const WAIT: Duration = Duration::from_secs(20);

/// Takes a message of a turn.
type Take<'t> = &'t mut dyn FnMut(u32, &MessageInfo, &[u8]) -> Result<()>;

/// Hand messages to standard output, to the bus or to an FMU at the times that they were
/// recorded at.
///
/// On standard output each comes after its length, a little-endian number of four bytes, as
/// it lies in the file. An FMU is stepped once for each, up to its time; the first step
/// begins a step before the first message. One that takes steps of one length alone is
/// stepped by --step-size, if messages do not come in such steps. A message is read before
/// it is due. How late messages were is told at the end.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace play drive_sv.osi | my-model
  wiregauge trace play drive.mcap --channel /lidar --rate 2 --loops 10 | my-model
  wiregauge trace play drive_sv.osi --rate max > /dev/null
      as fast as the file can be read
  wiregauge trace play drive_sv.osi --into sensor.fmu --output detected_sd.osi
      and what the FMU makes of it, as a trace file
  wiregauge trace play drive.mcap --over dds --option dds.domain=7
      to 'wiregauge trace record heard.mcap --over dds --option dds.domain=7'
  wiregauge trace play drive.mcap --over tcp --recorder 127.0.0.1:7401
      to a recorder that says where it listens")]
pub struct Arguments {
    /// What is read: .mcap, .osi, or .osi packed by gzip, xz or zstd.
    input: PathBuf,
    /// How much faster than it was recorded: 2, 0.5, or max for as fast as can be.
    #[arg(long, value_name = "RATE", default_value = "1", value_parser = pace)]
    rate: PlayRate,
    /// Play it so many times, one right after the other.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    loops: u32,
    /// The type of the messages in an .osi file whose name does not tell it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    over: Over,
    /// Where a recorder listens that has an address (tcp, zenoh), as it says. Several times
    /// for several.
    #[arg(long, value_name = "ADDRESS", requires = "over")]
    recorder: Vec<String>,
    /// How many recorders to wait for, where they are found by the topic [default: 1].
    #[arg(long, value_name = "N", requires = "over", value_parser = clap::value_parser!(u8).range(1..=8))]
    readers: Option<u8>,
    /// How long to wait for recorders; 0 plays at once, whoever listens [default: 20s].
    #[arg(long, value_name = "TIME", requires = "over", value_parser = parse_time)]
    wait: Option<Duration>,
    /// Hand them to this FMU.
    #[arg(long, value_name = "FMU", conflicts_with = "over")]
    into: Option<PathBuf>,
    /// The FMU's input, where it has several.
    #[arg(long, value_name = "NAME", requires = "into")]
    variable: Option<String>,
    /// Step the FMU by this much, 0.01, which is seconds, or 10ms, whenever messages come:
    /// each step has the last one that came by its end. Otherwise steps end at the times of
    /// the messages.
    #[arg(long, value_name = "TIME", requires = "into", value_parser = step_size)]
    step_size: Option<f64>,
    /// Set a variable of the FMU before it is initialized.
    #[arg(long, value_name = "NAME=VALUE", requires = "into", value_parser = setting)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    steps_take: StepPatience,
    #[command(flatten)]
    memory: MaxMemory,
    /// Write what the FMU makes to this file: .mcap, .osi, .txth, .jsonl, .bin.
    #[arg(long, value_name = "FILE", requires = "into")]
    output: Option<PathBuf>,
}

fn setting(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').context("wants NAME=VALUE")?;
    Ok((name.into(), value.into()))
}

fn pace(text: &str) -> Result<PlayRate> {
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
                Err(error) if is_gone(&error) => Ok(ExitCode::SUCCESS),
                other => other.map(|()| ExitCode::SUCCESS),
            },
        };
        if lateness.messages == 0 {
            failed?;
            bail!(self.selecting.nothing(&self.input));
        }
        let micros = |nanos: u64| format!("{:.1} µs", nanos as f64 / 1e3);
        let [half, most, all] = [0.5, 0.99, 1.0].map(|share| micros(lateness.quantile(share)));
        let (messages, bytes) = (lateness.messages, lateness.bytes);
        tell(&format!(
            "{messages} messages of {bytes} bytes; late by {half} (median), {most} (99 %), {all} (most)"
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

    fn play(&self, lateness: &mut Lateness, take: Take) -> Result<()> {
        let wish = self.wish();
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &wish)?;
        for turn in 0..self.loops {
            let mut reader = open::open(&self.input, &wish)?;
            let mut selected = selection.select(reader.as_mut());
            play(&mut selected, self.rate, lateness, &mut |head, data| take(turn, head, data))?;
            selection.check(&self.input.display().to_string(), reader.channels().values())?;
        }
        Ok(())
    }

    /// Plays them to the bus.
    fn send(&self) -> Result<ExitCode> {
        let readers = self.readers.map(usize::from);
        let mut end = self.over.player(&self.recorder, readers, self.wait.unwrap_or(WAIT))?;
        // Before anyone is waited for.
        self.selecting.of(std::slice::from_ref(&self.input), &self.wish())?;
        drop(open::open(&self.input, &self.wish())?);
        if end.has_equal_rooms() {
            end.setup.topic.size = self.largest()?;
        }
        let mut sending = Sending::start(&end, !self.rate.is_unbounded())?;
        let (sent, failed) = match self.send_by(&mut sending) {
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
        let (wish, putting) = (self.wish(), Putting::usual(self.kind.clone()));
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &wish)?;
        let mut reader = open::open(&self.input, &wish)?;
        let mut selected = selection.select(reader.as_mut());
        let (mut largest, mut told) = (Largest::new(), BTreeSet::new());
        while let Some(head) = selected.advance()? {
            if told.insert(head.channel) {
                let channel = &selected.reader().channels()[&head.channel];
                largest.channel(&putting.describe(
                    &self.input,
                    None,
                    channel,
                    OutputFormat::Mcap,
                )?)?;
            }
            largest.message(head.size);
        }
        reader.limit_times(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
        while reader.next()?.is_some() {}
        largest.metadata(reader.as_ref());
        Ok(largest.bytes)
    }

    fn send_by(&self, sending: &mut Sending) -> Result<()> {
        let (wish, putting) = (self.wish(), Putting::usual(self.kind.clone()));
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &wish)?;
        let (mut told, mut any) = (BTreeSet::new(), false);
        for turn in 1..=self.loops {
            sending.begin();
            let mut reader = open::open(&self.input, &wish)?;
            let mut selected = selection.select(reader.as_mut());
            schedule(&mut selected, self.rate, &mut |channel, head, data, later| {
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
            ensure!(any, self.selecting.nothing(&self.input));
            if turn == self.loops {
                // What else the file holds may come last.
                reader.limit_times(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
                while reader.next()?.is_some() {}
                sending.metadata(reader.as_ref())?;
                for attachment in reader.attachments() {
                    tell(&escape_short(&format!("attachment {} is not played", attachment.name)));
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
        tell(&format!("{messages} messages of {bytes} bytes{late}"));
        if *left > 0 {
            tell(&format!("{left} readers are still there, and may not have everything"));
        }
    }

    fn wish(&self) -> OpenHints {
        OpenHints { osi_type: self.kind.clone() }
    }

    /// Hands them to an FMU, in steps that end at the times of the messages.
    fn feed(&self, fmu: &Path, lateness: &mut Lateness) -> Result<ExitCode> {
        let (channel, type_name, times) = self.first()?;
        let (variable, host) = (self.variable.as_deref(), host()?);
        let patience = self.steps_take.patience;
        let fodder = FeedInput { type_name: &type_name, times, step: self.step_size };
        let mut feeding = FmuFeed::start(fmu, variable, &fodder, &self.set, &host, patience)?;
        let made = feeding.results().to_vec();
        let inputs = [self.input.as_path(), fmu];
        let recorder = self.output.as_deref().map(|output| Recorder::to(output, &inputs, patience));
        let name = feeding.name().to_owned();
        let mut tape = match &recorder {
            Some(_) if made.is_empty() => bail!("{name} has no output that could be recorded"),
            Some(recorder) => {
                let about = format!("made of {}", self.input.display());
                let made = made.iter().map(|binary| RecordedVariable { fmu: &name, binary });
                Some(recorder.begin(&made.collect::<Vec<_>>(), about)?)
            }
            None => None,
        };
        let start = feeding.stepping().start();
        if start < 0.0 {
            tell(&escape_short(&format!(
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
    fn first(&self) -> Result<(u16, String, [Option<Nanoseconds>; 2])> {
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &self.wish())?;
        let mut reader = open::open(&self.input, &self.wish())?;
        let mut selected = selection.select(reader.as_mut());
        let head = selected.advance()?;
        let head =
            head.with_context(|| format!("nothing is wanted of {}", self.input.display()))?;
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
            count => format!("; {count} messages had no step, as a later one came before its end"),
        };
        tell(&escape_short(&format!("{name}: {steps} steps of {size} s{replaced}")));
    }
    if *left_out > 0 {
        let first = *first_left_out as f64 / 1e9;
        tell(&escape_short(&format!(
            "{name}: {left_out} messages were left out, as they come no later than the one before \
             and an FMU's time goes forward alone; the first is at {first} s"
        )));
    }
    if let Some(end) = end {
        let lost = match after_end {
            0 => String::new(),
            1 => "; 1 message came after that and was not handed over".to_owned(),
            lost => format!("; {lost} messages came after that and were not handed over"),
        };
        tell(&escape_short(&format!("the simulation ended early: {end}{lost}")));
    }
    *left_out == 0 && *after_end == 0
}
