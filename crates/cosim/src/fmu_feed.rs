//! An FMU that is given messages which no FMU makes: those of a trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, ensure, Context, Result};
use wiregauge_child_process::child::ChildFailure;
use wiregauge_system::interrupt;
use wiregauge_timing::scratch::Scratch;

use crate::host::host_process::{HostError, HostProcess};
use crate::host::job::{Feed, Job, ReceiverSetup};
use crate::master::coupled_pair::STEP;
use crate::master::live::fmu_setup;
use crate::master::plan::Parameters;
use crate::package::coupling;
use crate::package::description::{Binary, Description};
use crate::package::Package;
use crate::stepping::{Length, StepSpan, Stepping};

/// Nanoseconds of simulation time.
type Nanoseconds = i128;

/// An FMU in a process of its own, that waits for messages.
pub struct FmuFeed {
    package: Package,
    input: Binary,
    results: Vec<Binary>,
    remote: HostProcess,
    message: PathBuf,
    made: PathBuf,
    stepping: Stepping,
    /// The last message, where later steps may have it too, and whether one had it.
    held: Vec<u8>,
    was_given: bool,
    /// What was not as simple as a step for each message.
    pub account: FeedSummary,
}

/// What it is given.
pub struct FeedInput<'f> {
    /// The type of the messages.
    pub type_name: &'f str,
    /// The times of the first two messages, where they have some.
    pub times: [Option<Nanoseconds>; 2],
    /// The size of all steps that the user wants, in seconds.
    pub step: Option<f64>,
}

/// A message that it made.
pub struct ProducedMessage<'m> {
    /// Its variable's place in [`FmuFeed::results`].
    pub variable: usize,
    /// When the step ended that made it.
    pub time: Nanoseconds,
    /// Its bytes.
    pub bytes: &'m [u8],
}

/// What takes the messages that it makes.
type MessageHandler<'t> = &'t mut dyn FnMut(ProducedMessage) -> Result<()>;

/// What there is to say of the messages that it was given.
#[derive(Clone, Debug, Default)]
pub struct FeedSummary {
    /// Those that came no later than the one before, which no step could have.
    pub left_out: u64,
    /// The time of the first of them.
    pub first_left_out: Nanoseconds,
    /// Those that a later one took the place of before there was a step.
    pub replaced: u64,
    /// Those that came after the FMU had ended the simulation.
    pub after_end: u64,
    /// Why there are no further steps.
    pub end: Option<String>,
}

impl FmuFeed {
    /// Starts an FMU, a step before the first message. Its input is the one of a name, or the
    /// one that takes such messages.
    ///
    /// # Errors
    /// Says what is wrong with it, or that it takes others.
    pub fn start(
        path: &Path,
        input: Option<&str>,
        fodder: &FeedInput,
        parameters: &Parameters,
        host: &(PathBuf, Vec<String>),
        patience: Duration,
    ) -> Result<FmuFeed> {
        let package = Package::open(path)?;
        let wanted = fodder.type_name;
        let takes = |input: &Binary| {
            let is_same = wanted == format!("osi3.{}", input.mime.message());
            let is_readable = ["protobuf", "packed"].contains(&input.mime.encoding());
            input.mime.message.is_none() || (is_same && is_readable)
        };
        let named = input.is_some();
        let input = coupling::input(&package, input, takes)?;
        // Who names it knows what it takes: of some a parameter decides that.
        ensure!(
            named || takes(&input),
            "{}: {} takes {} in {}, but the messages are {wanted} in protobuf (--variable {} \
             passes them anyway)",
            package.name,
            input.name,
            input.mime.message(),
            input.mime.encoding(),
            input.name
        );
        let stepping = plan_steps(&package.description, fodder);
        let results = package.description.binaries_of("output");
        let results: Vec<Binary> = results.into_iter().filter(|of| of.declared).cloned().collect();
        let mut names = results.iter().map(|result| result.name.clone());
        let folder = Scratch::new().context("a host cannot be started")?;
        let [message, made] = ["message", "result"].map(|name| folder.path().join(name));
        let model = ReceiverSetup {
            setup: fmu_setup(&package, &Vec::new(), parameters),
            input: input.name.clone(),
            result: names.next(),
            other_outputs: names.collect(),
        };
        let feed =
            Feed { model, message: message.clone(), result: made.clone(), start: stepping.start() };
        let job = Job::Feed(Box::new(feed));
        let remote = HostProcess::start_in(folder, host, &job, patience).map_err(to_error)?;
        let (held, was_given, account) = (Vec::new(), true, FeedSummary::default());
        Ok(FmuFeed {
            package,
            input,
            results,
            remote,
            message,
            made,
            stepping,
            held,
            was_given,
            account,
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.package.name
    }

    /// What it makes: its outputs that say what they carry.
    pub fn results(&self) -> &[Binary] {
        &self.results
    }

    /// Its steps.
    pub fn stepping(&self) -> &Stepping {
        &self.stepping
    }

    /// The messages begin again.
    pub fn restart_trace(&mut self) {
        self.stepping.restart_trace();
    }

    /// Gives it the message of a time and steps it to there. What it makes is taken.
    ///
    /// # Errors
    /// Says where and how it failed, or that it takes no step that ends there.
    pub fn feed(
        &mut self,
        time: Option<Nanoseconds>,
        message: &[u8],
        take: MessageHandler,
    ) -> Result<()> {
        if self.account.end.is_some() {
            self.account.after_end += 1;
            return Ok(());
        }
        let Some(at) = self.stepping.accept_time(time) else {
            if self.account.left_out == 0 {
                self.account.first_left_out = time.unwrap_or_default();
            }
            self.account.left_out += 1;
            return Ok(());
        };
        let name = self.package.name.clone();
        while let Some(span) = self.stepping.step_before(at).with_context(|| name.clone())? {
            self.step_with_held(span, take)?;
        }
        if self.stepping.length() == Length::Sampled {
            self.account.replaced += u64::from(!self.was_given);
            message.clone_into(&mut self.held);
            self.was_given = false;
            if let Some(span) = self.stepping.step_at(at)? {
                self.step_with_held(span, take)?;
            }
            return Ok(());
        }
        match self.stepping.step_at(at).with_context(|| name)? {
            Some(span) => self.step(message, span, take),
            None => Ok(()),
        }
    }

    fn step_with_held(&mut self, span: StepSpan, take: MessageHandler) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        let stepped = self.step(&held, span, take);
        (self.held, self.was_given) = (held, true);
        stepped
    }

    fn step(&mut self, message: &[u8], span: StepSpan, take: MessageHandler) -> Result<()> {
        if self.account.end.is_some() {
            return Ok(());
        }
        fs::write(&self.message, message)
            .with_context(|| format!("{}: cannot pass a message to the FMU", self.input.name))?;
        self.account.end = self.remote.feed(span.begin, span.size).map_err(to_error)?;
        for at in 0..self.results.len() {
            let path = match at {
                0 => self.made.clone(),
                further => self.made.with_extension((further - 1).to_string()),
            };
            let made = fs::read(&path).ok().filter(|bytes| !bytes.is_empty());
            let _ = fs::remove_file(&path);
            if let Some(bytes) = made {
                take(ProducedMessage { variable: at, time: span.end, bytes: &bytes })?;
            }
        }
        Ok(())
    }

    /// Steps it once more, where it still is to have the last message.
    ///
    /// # Errors
    /// Says where and how it failed.
    pub fn feed_last(&mut self, take: MessageHandler) -> Result<()> {
        if self.was_given {
            return Ok(());
        }
        let span = self.stepping.extra_step();
        self.step_with_held(span, take)
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn finish(self) -> Result<()> {
        self.remote.finish().map_err(to_error)
    }
}

/// The steps of an FMU. One that takes steps of one length alone has those that the first
/// two messages are apart.
fn plan_steps(description: &Description, fodder: &FeedInput) -> Stepping {
    let [first, second] = fodder.times;
    let apart = first.zip(second).map(|(first, second)| (second - first) as f64 / 1e9);
    let apart = apart.filter(|apart| *apart > 0.0);
    let proposed = description.step.or(apart).unwrap_or(STEP);
    let (length, size) = match (fodder.step, description.varies) {
        (Some(wanted), _) => (Length::Sampled, wanted),
        (None, true) => (Length::Varying, proposed),
        (None, false) => (Length::Same, apart.unwrap_or(proposed)),
    };
    // A trace without times begins where the FMU is to start.
    let first = first.unwrap_or_else(|| {
        ((description.start.unwrap_or_default() + size) * 1e9).round() as Nanoseconds
    });
    Stepping::new(length, size, first)
}

/// What went wrong with a host, as an error of the command.
pub fn to_error(trouble: HostError) -> anyhow::Error {
    match trouble {
        HostError::Broken(ChildFailure::Interrupted, _) => interrupt::Interrupted.into(),
        other => anyhow!("{other}"),
    }
}
