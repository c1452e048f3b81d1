//! An FMU in a host: as it sits there, and one that takes messages.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use wiregauge_timing::clock::monotonic;

use crate::fmi::instance::Instance;
use crate::fmi::message;
use crate::fmi::osmp::MessageSpan;
use crate::fmi::status::{recent_messages, Status};
use crate::host::job::{FmuSetup, HostSummary, ReceiverSetup};
use crate::host::position::{Call, HostPosition};
use crate::package::description::{Description, Handle};
use crate::package::mime::Mime;
use crate::package::Package;

/// An FMU in its place.
pub struct LoadedFmu {
    /// What it was told.
    pub setup: FmuSetup,
    description: Description,
    /// It runs.
    pub instance: Instance,
}

impl LoadedFmu {
    /// An FMU that is ready for its first step.
    ///
    /// # Errors
    /// Says what it refuses.
    pub fn load(
        setup: FmuSetup,
        number: usize,
        start: f64,
        logging: bool,
        place: &HostPosition,
    ) -> Result<LoadedFmu> {
        let name = setup.name.clone();
        let package = Package::from_folder(&setup.folder, &name).context(name.clone())?;
        let load = || -> Result<Instance> {
            place.enter(number, Call::Load, 0);
            let instantiating = || place.enter(number, Call::Instantiate, 0);
            let mut instance = Instance::load(&package, logging, &instantiating)?;
            place.enter(number, Call::Parameters, 0);
            for (name, value) in &setup.parameters {
                instance.set(&package.description, name, value)?;
            }
            place.enter(number, Call::Initialize, 0);
            instance.initialize(start)?;
            place.exit_if_cut_off();
            place.leave();
            Ok(instance)
        };
        let instance = load().context(name)?;
        Ok(LoadedFmu { setup, description: package.description.clone(), instance })
    }

    /// Why it wants no further steps after this one, if it does.
    pub fn end(&self, number: u64) -> Option<String> {
        let name = &self.setup.name;
        let end = || format!("{name} asked to end the simulation at step {}", number + 1);
        self.instance.wants_to_end().then(end)
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn finish(self, number: usize, place: &HostPosition) -> Result<()> {
        place.enter(number, Call::Terminate, 0);
        let freeing = || {
            place.exit_if_cut_off();
            place.enter(number, Call::Free, 0);
        };
        let ended = self.instance.finish(&freeing).context(self.setup.name);
        place.exit_if_cut_off();
        ended
    }

    /// How a binary variable is reached.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn handle(&self, variable: &str) -> Result<Handle> {
        let binary = self.description.binaries.iter().find(|binary| binary.name == variable);
        Ok(binary
            .with_context(|| {
                format!("{}: there is no binary variable {variable}", self.setup.name)
            })?
            .handle)
    }

    /// What a binary variable says that it carries.
    pub fn mime(&self, variable: &str) -> Option<Mime> {
        let binary = self.description.binaries.iter().find(|binary| binary.name == variable);
        binary.map(|binary| binary.mime.clone())
    }

    /// How some are reached, each with its name.
    ///
    /// # Errors
    /// When there is none of a name.
    pub fn handles(&self, variables: &[String]) -> Result<Vec<(String, Handle)>> {
        variables.iter().map(|name| Ok((name.clone(), self.handle(name)?))).collect()
    }

    /// Writes the message that a variable holds to a file, if it holds one.
    ///
    /// # Errors
    /// When it cannot be read or not be written.
    pub fn write_down(
        &mut self,
        (variable, handle): &(String, Handle),
        number: u64,
        path: &Path,
    ) -> Result<()> {
        let (read, span) = self.instance.get(*handle);
        let written = read.require_good("reading it").and_then(|()| {
            require_readable(span, number)?;
            // SAFETY: an FMU keeps its message until its next step, and none is called before
            // the bytes are written.
            match unsafe { span.bytes() }.map_err(anyhow::Error::msg)? {
                [] => Ok(()),
                bytes => fs::write(path, bytes)
                    .with_context(|| format!("cannot write {}", path.display())),
            }
        });
        written.with_context(|| format!("{}: {variable}", self.setup.name))
    }
}

/// An FMU that takes messages, in its place.
pub struct ReceivingFmu {
    loaded: LoadedFmu,
    input: Handle,
    /// None of a sink.
    result: Option<Handle>,
    /// Names of the two.
    names: [String; 2],
    /// Other outputs.
    other_outputs: Vec<(String, Handle)>,
}

/// What a step of such an FMU took, in nanoseconds, and what came out.
pub struct StepResult {
    /// Handing over the message, and the step.
    pub set: u64,
    /// As above.
    pub model: u64,
    /// Its message, if it has one.
    pub result: MessageSpan,
}

impl ReceivingFmu {
    /// Loads and initializes it.
    ///
    /// # Errors
    /// Says what it refuses.
    pub fn load(
        receiver: &ReceiverSetup,
        start: f64,
        logging: bool,
        place: &HostPosition,
    ) -> Result<ReceivingFmu> {
        let loaded = LoadedFmu::load(receiver.setup.clone(), 1, start, logging, place)?;
        let result = receiver.result.as_deref().map(|name| loaded.handle(name)).transpose()?;
        let other_outputs = loaded.handles(&receiver.other_outputs)?;
        Ok(ReceivingFmu {
            other_outputs,
            input: loaded.handle(&receiver.input)?,
            result,
            names: [receiver.input.clone(), receiver.result.clone().unwrap_or_default()],
            loaded,
        })
    }

    /// Hands it a message and steps it; why the simulation has ended, if it has. `span` is
    /// where the step begins and its size, in seconds.
    ///
    /// # Errors
    /// Names what fails, and how.
    pub fn step(
        &mut self,
        message: MessageSpan,
        span: [f64; 2],
        number: u64,
        account: &mut HostSummary,
        place: &HostPosition,
    ) -> Result<ControlFlow<String, StepResult>> {
        let ReceivingFmu { loaded: model, input, result: out, names, .. } = self;
        let [time, size] = span;
        place.enter(1, Call::Set, number);
        let setting = monotonic();
        let taken = model.instance.put(*input, message);
        let set = monotonic();
        taken
            .require_good("setting it")
            .with_context(|| format!("{}: {}", model.setup.name, names[0]))?;
        place.enter(1, Call::Step, number);
        let calculating = monotonic();
        let status = model.instance.step(time, size);
        let calculated = monotonic();
        place.exit_if_cut_off();
        if let Some(end) = check_step(model, 1, status, number, account)? {
            return Ok(ControlFlow::Break(end));
        }
        let mut result = MessageSpan::default();
        if let Some(handle) = *out {
            place.enter(1, Call::Get, number);
            let (read, span) = model.instance.get(handle);
            result = span;
            let output = || format!("{}: {}", model.setup.name, names[1]);
            read.require_good("reading it").with_context(output)?;
            require_readable(result, number).with_context(output)?;
        }
        place.leave();
        Ok(ControlFlow::Continue(StepResult {
            set: set - setting,
            model: calculated - calculating,
            result,
        }))
    }

    /// Writes down what the outputs beside its message hold, each to a file of its own.
    ///
    /// # Errors
    /// When one cannot be read or not be written.
    pub fn write_other_outputs(
        &mut self,
        number: u64,
        place: &HostPosition,
        path: impl Fn(usize) -> PathBuf,
    ) -> Result<()> {
        for (at, variable) in self.other_outputs.iter().enumerate() {
            place.enter(1, Call::Get, number);
            self.loaded.write_down(variable, number, &path(at))?;
            place.leave();
        }
        Ok(())
    }

    /// What its message says that it is, with the names of FMU and variable.
    pub fn declared(&self) -> Option<(String, Mime)> {
        let name = format!("{}: {}", self.loaded.setup.name, self.names[1]);
        Some((name, self.loaded.mime(&self.names[1])?))
    }

    /// Why it wants no further steps after this one, if it does.
    pub fn end(&self, number: u64) -> Option<String> {
        self.loaded.end(number)
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn finish(self, place: &HostPosition) -> Result<()> {
        self.loaded.finish(1, place)
    }
}

/// Whether a step was carried out; if the simulation is over instead, says so.
/// A warning is no more than counted. What is not carried out after others were
/// is the end of a trace, or of whatever the FMU goes by.
///
/// # Errors
/// When the FMU failed.
pub fn check_step(
    loaded: &mut LoadedFmu,
    fmu: usize,
    status: Status,
    number: u64,
    account: &mut HostSummary,
) -> Result<Option<String>> {
    if status == Status::OK {
        return Ok(None);
    }
    if status == Status::WARNING {
        account.warnings[fmu] += 1;
        if account.warnings[fmu] == 1 {
            account.complaints[fmu] = message::take_last(1).concat();
        }
        return Ok(None);
    }
    let what = status.describe();
    let why = loaded.instance.failure_reason(status);
    let why = if why.is_empty() { why } else { format!(" ({why})") };
    let what = format!("{}: DoStep {what}{why} at step {}", loaded.setup.name, number + 1);
    if status == Status::DISCARD && number > 0 {
        return Ok(Some(what));
    }
    bail!("{what}{}", recent_messages())
}

/// Whether a message can be used; that there is none is for the master to
/// judge.
///
/// # Errors
/// Says why not.
pub fn require_readable(span: MessageSpan, number: u64) -> Result<()> {
    span.check().map_err(|fault| anyhow!("{fault}, at step {}{}", number + 1, recent_messages()))
}

/// What it counts as: 0 where there is none.
pub fn message_length(span: MessageSpan) -> u64 {
    if span.is_none() {
        0
    } else {
        span.size as u64
    }
}
