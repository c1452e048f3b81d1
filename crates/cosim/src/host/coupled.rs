//! Two FMUs that take turns, or a source alone, which is stepped likewise.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{anyhow, Context, Result};
use wiregauge_timing::clock::monotonic;

use crate::fmi::osmp::MessageSpan;
use crate::host::job::{Chain, HostSummary, MessageDigest, StepTimes, HEAD_SIZE};
use crate::host::loaded_fmu::{
    check_step, message_length, require_readable, LoadedFmu, ReceivingFmu,
};
use crate::host::position::{Call, HostPosition};
use crate::host::watch::SlowStepWatch;
use crate::package::content;
use crate::package::description::Handle;
use crate::package::mime::Mime;

/// Has what FMUs print come out line by line, so that it is there when they
/// crash. That costs a system call a line, so it is done in the proof alone.
fn print_lines() {
    extern "C" {
        #[link_name = "stdout"]
        static mut STDOUT: *mut libc::FILE;
    }
    // SAFETY: the C library's own stream, which it sets before main and nobody else
    // assigns. A null buffer has the library bring its own.
    unsafe { libc::setvbuf(STDOUT, std::ptr::null_mut(), libc::_IOLBF, 0) };
}

/// Two FMUs that take turns, or one that nobody takes from.
pub struct Coupled {
    source: LoadedFmu,
    output: Handle,
    output_name: String,
    /// Other outputs of the source.
    other_outputs: Vec<(String, Handle)>,
    model: Option<ReceivingFmu>,
    start: f64,
    size: f64,
    dump: Option<PathBuf>,
    /// Steps that were done.
    done: u64,
    /// What the messages of source and model say that they are, with their names.
    declared: [Option<(String, Mime)>; 2],
    any_version: bool,
    /// Whether the model gave a message so far.
    has_answered: bool,
    /// The last messages of source and model.
    last: [MessageSpan; 2],
    /// Why there are no more steps.
    end: Option<String>,
    account: HostSummary,
    /// The slowest steps.
    pub watch: SlowStepWatch,
}

impl Coupled {
    /// Loads and initializes what a chain names.
    ///
    /// # Errors
    /// Names the FMU that refuses.
    pub fn load(chain: Chain, place: &HostPosition) -> Result<Coupled> {
        if chain.logging {
            print_lines();
        }
        let source = LoadedFmu::load(chain.source.clone(), 0, chain.start, chain.logging, place)?;
        let model = chain.model.as_ref();
        let model =
            model.map(|receiver| ReceivingFmu::load(receiver, chain.start, chain.logging, place));
        let model = model.transpose()?;
        let output = format!("{}: {}", source.setup.name, chain.output);
        let declared = [
            source.mime(&chain.output).map(|mime| (output, mime)),
            model.as_ref().and_then(ReceivingFmu::declared),
        ];
        Ok(Coupled {
            declared,
            any_version: chain.any_version,
            output: source.handle(&chain.output)?,
            other_outputs: source.handles(&chain.other_outputs)?,
            source,
            output_name: chain.output,
            model,
            start: chain.start,
            size: chain.step,
            dump: chain.dump,
            done: 0,
            has_answered: false,
            last: [MessageSpan::default(); 2],
            end: None,
            account: HostSummary::default(),
            watch: SlowStepWatch::new(),
        })
    }

    /// What the source is called.
    pub fn source(&self) -> &str {
        &self.source.setup.name
    }

    /// What its variable is called.
    pub fn output(&self) -> &str {
        &self.output_name
    }

    /// One step of all; none where the simulation has ended. Between the timed
    /// spans the messages are checked.
    ///
    /// # Errors
    /// Names the FMU that fails, and how.
    pub fn step(&mut self, place: &HostPosition) -> Result<Option<StepTimes>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let number = self.done;
        // Multiplied, so that rounding does not add up.
        let time = self.start + number as f64 * self.size;
        let size = self.size;
        let source = &mut self.source;

        place.enter(0, Call::Step, number);
        let began = monotonic();
        let status = source.instance.step(time, size);
        let stepped = monotonic();
        place.exit_if_cut_off();
        if let Some(end) = check_step(source, 0, status, number, &mut self.account)? {
            self.end = Some(end);
            return Ok(None);
        }
        place.enter(0, Call::Get, number);
        let reading = monotonic();
        let (read, message) = source.instance.get(self.output);
        let got = monotonic();
        place.leave();
        let output = || format!("{}: {}", source.setup.name, self.output_name);
        read.require_good("reading it").with_context(output)?;
        require_readable(message, number).with_context(output)?;

        let mut step = StepTimes {
            number,
            began,
            source: stepped - began,
            get: got - reading,
            source_size: message_length(message),
            ..StepTimes::default()
        };
        let mut result = MessageSpan::default();
        if let Some(model) = &mut self.model {
            let taken = match model.step(message, [time, size], number, &mut self.account, place)? {
                ControlFlow::Continue(taken) => taken,
                ControlFlow::Break(end) => {
                    self.end = Some(end);
                    return Ok(None);
                }
            };
            result = taken.result;
            step = StepTimes {
                set: taken.set,
                model: taken.model,
                model_size: message_length(result),
                ..step
            };
        }

        self.last = [message, result];
        self.done += 1;
        self.account.empty += u64::from(message.is_none());
        self.has_answered |= !result.is_none();
        let is_unanswered = self.has_answered && !message.is_none() && result.is_none();
        self.account.unanswered += u64::from(is_unanswered);
        self.end = self
            .source
            .end(number)
            .or_else(|| self.model.as_ref().and_then(|model| model.end(number)));
        if self.dump.is_some() {
            self.write_messages(number, place)?;
        }
        Ok(Some(step))
    }

    /// Why fewer steps were done than were asked for.
    pub fn ended(&self, done: u64, count: u64) -> Option<String> {
        self.end.clone().filter(|_| done < count)
    }

    /// The last messages, by their digests.
    ///
    /// # Errors
    /// When an FMU says that there are some where there can be none.
    pub fn products(&self) -> Result<[MessageDigest; 2]> {
        // SAFETY: an FMU keeps its message until its next step, and no FMU is called
        // while the slices live.
        let bytes = self.last.map(|span| unsafe { span.bytes() });
        let [source, model] =
            bytes.map(|bytes| bytes.map(MessageDigest::from_bytes).map_err(anyhow::Error::msg));
        Ok([source?, model?])
    }

    /// Whether the last messages look like what they are declared to be.
    ///
    /// # Errors
    /// Names FMU and variable, and how they differ.
    pub fn check_contents(&self) -> Result<()> {
        for (span, declared) in self.last.into_iter().zip(&self.declared) {
            let Some((name, mime)) = declared else { continue };
            let head = MessageSpan { size: span.size.min(HEAD_SIZE as i64), ..span };
            // SAFETY: as in `products`.
            let bytes = unsafe { head.bytes() }.map_err(anyhow::Error::msg)?;
            content::check_head(mime, message_length(span), bytes, self.any_version)
                .map_err(|what| anyhow!("{name} {what}, at step {}", self.done))?;
        }
        Ok(())
    }

    /// Writes the last messages to files, and what the outputs beside them hold.
    fn write_messages(&mut self, number: u64, place: &HostPosition) -> Result<()> {
        let Some(folder) = &self.dump else { return Ok(()) };
        for (span, who) in self.last.into_iter().zip(["source", "model"]) {
            // SAFETY: as in `products`: no FMU is called before the bytes are written.
            let bytes = unsafe { span.bytes() }.map_err(anyhow::Error::msg)?;
            if bytes.is_empty() {
                continue;
            }
            let path = folder.join(format!("{who}-{number:06}.bin"));
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let path = |who, at| folder.join(format!("{who}-{at}-{number:06}.bin"));
        for (at, variable) in self.other_outputs.iter().enumerate() {
            place.enter(0, Call::Get, number);
            self.source.write_down(variable, number, &path("source", at))?;
            place.leave();
        }
        match &mut self.model {
            Some(model) => model.write_other_outputs(number, place, |at| path("model", at)),
            None => Ok(()),
        }
    }

    /// Ends the FMUs.
    ///
    /// # Errors
    /// Names the one that does not end well.
    pub fn finish(self, place: &HostPosition) -> Result<HostSummary> {
        let slowest = self.watch.into_slowest();
        let account = HostSummary { steps: self.done, slowest, ..self.account };
        // The second is freed even if the first would not terminate.
        let source = self.source.finish(0, place);
        let model = self.model.map_or(Ok(()), |model| model.finish(place));
        source.and(model).map(|()| account)
    }
}
