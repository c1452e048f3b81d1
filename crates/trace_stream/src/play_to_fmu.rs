//! A trace that is played to an FMU.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use wiregauge_cosim::fmu_feed::{FeedInput, FeedSummary, FmuFeed, ProducedMessage};
use wiregauge_cosim::master::plan::Parameters;
use wiregauge_cosim::recording::RecordedVariable;
use wiregauge_cosim::stepping::Length;
use wiregauge_cosim_run::recorder::Recorder;
use wiregauge_system::text::escape_short;
use wiregauge_trace::play::Lateness;

use crate::playback::{FirstMessages, Playback};
use crate::Notify;

/// An FMU that is played to.
pub struct PlayedFmu<'f> {
    /// The FMU.
    pub path: &'f Path,
    /// Its input; none for the one that takes such messages.
    pub variable: Option<&'f str>,
    /// What its variables become before it is initialized.
    pub parameters: Parameters,
    /// The size of all steps in seconds; none for steps that end at the times of messages.
    pub step_size: Option<f64>,
    /// How long a step may take.
    pub patience: Duration,
    /// The program that FMUs run in, with its arguments.
    pub host: (PathBuf, Vec<String>),
    /// Where its outputs are written.
    pub output: Option<&'f Path>,
}

impl PlayedFmu<'_> {
    /// Plays to it, in steps that end at the times of the messages. Whether each message was
    /// handed over, and each output is what the FMU says that it is.
    ///
    /// # Errors
    /// When the FMU fails or takes other messages, the file is damaged, or the output cannot be
    /// written. What came before is in the output.
    pub fn play(
        &self,
        playback: &Playback,
        lateness: &mut Lateness,
        notify: Notify,
    ) -> Result<bool> {
        let FirstMessages { channel, type_name, times } = playback.first_messages()?;
        let input = FeedInput { type_name: &type_name, times, step: self.step_size };
        let mut feeding = FmuFeed::start(
            self.path,
            self.variable,
            &input,
            &self.parameters,
            &self.host,
            self.patience,
        )?;
        let made = feeding.results().to_vec();
        let inputs = [playback.input.as_path(), self.path];
        let recorder = self.output.map(|output| Recorder::new(output, &inputs, self.patience));
        let name = feeding.name().to_owned();
        let mut recording = match &recorder {
            Some(_) if made.is_empty() => bail!("{name} has no output to record"),
            Some(recorder) => {
                let about = format!("made of {}", playback.name());
                let made = made.iter().map(|binary| RecordedVariable { fmu: &name, binary });
                Some(recorder.begin(&made.collect::<Vec<_>>(), about)?)
            }
            None => None,
        };
        let start = feeding.stepping().start();
        if start < 0.0 {
            notify(&escape_short(&format!(
                "{name} starts at {start} s, a step before the first message"
            )));
        }
        let mut take = |made: ProducedMessage| match &mut recording {
            Some(recording) => recording.take(made.variable, made.time, made.bytes),
            None => Ok(()),
        };
        let mut last_turn = 0;
        let played = playback.play(lateness, &mut |turn, head, data| {
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
        let complete = report_steps(&feeding, notify);
        let failed = played.and_then(|()| feeding.finish()).err();
        let sound = match (recording, failed) {
            (Some(recording), failed) => recording.finish(failed)?,
            (None, Some(error)) => return Err(error),
            (None, None) => true,
        };
        Ok(complete && sound)
    }
}

/// Tells of what was not as simple as a step for each message, and whether each message was
/// handed over that was to be.
fn report_steps(feeding: &FmuFeed, notify: Notify) -> bool {
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
        notify(&escape_short(&format!("{name}: {steps} steps of {size} s{replaced}")));
    }
    if *left_out > 0 {
        let first = *first_left_out as f64 / 1e9;
        notify(&escape_short(&format!(
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
        notify(&escape_short(&format!("the simulation ended early: {end}{lost}")));
    }
    *left_out == 0 && *after_end == 0
}
