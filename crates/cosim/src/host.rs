//! The child process that loads FMUs and steps them. It keeps no statistics:
//! it does as many steps as it is told and says what each took.
//!
//! What FMUs print goes to standard error, and they find nothing on standard
//! input; the conversation with the master has descriptors of its own.

pub mod coupled;
pub mod fed;
pub mod host_process;
pub mod job;
pub mod loaded_fmu;
pub mod position;
pub mod watch;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use anyhow::{anyhow, bail, ensure, Result};
use wiregauge_timing::allocation::allocate_zeroed;
use wiregauge_timing::clock::monotonic;

use crate::fmi::status::recent_messages;
use crate::host::coupled::Coupled;
use crate::host::fed::FedFmu;
use crate::host::job::{HostSummary, Job, MessageDigest, Proof, StepTimes, TimedSteps, PROTOCOL};
use crate::host::position::{Call, HostPosition};

/// Most steps in a row in which a source may give no message.
const MAX_EMPTY_STEPS: u64 = 10_000;
/// What cannot be asked of an FMU that waits for messages.
const NEEDS_MESSAGES: &str = "it needs a message for each step";

/// Serves until the input ends. The working folder must be the host's own.
///
/// # Errors
/// When the conversation breaks.
pub fn serve() -> Result<()> {
    die_of_signals()?;
    let (input, mut output) = move_pipes()?;
    let descriptors = [input.as_raw_fd(), output.as_raw_fd()];
    let mut input = BufReader::new(input);
    let place = HostPosition::open_in_host(&std::env::current_dir()?, descriptors)?;
    let mut running: Option<LoadedJob> = None;
    let mut has_fmus = false;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            if has_fmus {
                place.enter(0, Call::Exit, 0);
            }
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match (words.as_slice(), &mut running) {
            (["hello", version], _) => hello(version),
            (["load", size], ref mut running) => {
                let mut payload = allocate_zeroed(size.parse()?)?;
                input.read_exact(&mut payload)?;
                LoadedJob::load(&payload, &place).map(|loaded| {
                    has_fmus = !matches!(loaded, LoadedJob::Memcpy(_));
                    **running = Some(loaded);
                    Vec::new()
                })
            }
            (["run", lead, count], Some(running)) => {
                running.run(lead.parse()?, count.parse()?, &place)
            }
            (["skip", count], Some(running)) => running.skip(count.parse()?, &place),
            (["prove", count], Some(running)) => running.prove(count.parse()?, &place),
            (["feed", time, size], Some(running)) => {
                running.feed(time.parse()?, size.parse()?, &place)
            }
            (["finish"], running) => match running.take() {
                Some(running) => running.finish(&place),
                None => Ok(Vec::new()),
            },
            _ => Err(anyhow!("cannot answer '{}'", line.trim_end())),
        };
        place.leave();
        let (word, payload) = match answer {
            Ok(payload) => ("ok", payload),
            Err(error) => {
                flush_printed();
                ("error", format!("{error:#}").into_bytes())
            }
        };
        output.write_all(format!("{word} {}\n", payload.len()).as_bytes())?;
        output.write_all(&payload)?;
        output.flush()?;
    }
}

/// Has the signals of a crash end this process. Rust's runtime handles them, to tell a
/// full stack: one that an FMU raises itself, as a failed check does, it would let pass.
fn die_of_signals() -> io::Result<()> {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default handler runs no code of ours.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Moves the conversation to descriptors that FMUs do not know.
fn move_pipes() -> Result<(File, File)> {
    let keep = |number: RawFd| -> io::Result<File> {
        // SAFETY: fcntl reads no memory; what it returns is a new descriptor, which
        // nobody else owns.
        unsafe {
            match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 100) {
                -1 => Err(io::Error::last_os_error()),
                copy => Ok(File::from_raw_fd(copy)),
            }
        }
    };
    let (input, output) = (keep(0)?, keep(1)?);
    let nothing = File::open("/dev/null")?;
    // SAFETY: dup2 touches no memory, and nothing in this process owns 0 or 1.
    let moved = unsafe { libc::dup2(nothing.as_raw_fd(), 0) == 0 && libc::dup2(2, 1) == 1 };
    ensure!(moved, io::Error::last_os_error());
    Ok((input, output))
}

/// Brings out what FMUs printed and the C library still holds.
fn flush_printed() {
    // SAFETY: fflush takes null, which stands for all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

fn hello(version: &str) -> Result<Vec<u8>> {
    ensure!(version == PROTOCOL.to_string(), "speaks version {PROTOCOL} and not {version}");
    Ok(format!("host {}\n", env!("CARGO_PKG_VERSION")).into_bytes())
}

/// What is loaded.
enum LoadedJob {
    Fmus(Box<Coupled>),
    Fed(Box<FedFmu>),
    Memcpy([Copier; 2]),
}

impl LoadedJob {
    fn load(payload: &[u8], place: &HostPosition) -> Result<LoadedJob> {
        Ok(match serde_json::from_slice(payload)? {
            Job::Fmus(chain) => LoadedJob::Fmus(Box::new(Coupled::load(*chain, place)?)),
            Job::Feed(feed) => LoadedJob::Fed(Box::new(FedFmu::load(*feed, place)?)),
            Job::Memcpy { source, model } => {
                LoadedJob::Memcpy([Copier::new(source)?, Copier::new(model)?])
            }
        })
    }

    /// So many steps that lead and so many that count, all with a message; the
    /// answer has a line for each.
    fn run(&mut self, lead: u64, count: u64, place: &HostPosition) -> Result<Vec<u8>> {
        let count = lead.saturating_add(count);
        let mut ran = TimedSteps { steps: Vec::with_capacity(usize::try_from(count)?), end: None };
        match self {
            LoadedJob::Fmus(coupled) => {
                coupled.watch.begin();
                let mut silent = 0;
                while (ran.steps.len() as u64) < count {
                    let Some(step) = coupled.step(place)? else { break };
                    coupled.check_contents()?;
                    if step.source_size > 0 {
                        if ran.steps.len() as u64 >= lead {
                            coupled.watch.add(&step);
                        }
                        ran.steps.push(step);
                        silent = 0;
                        continue;
                    }
                    silent += 1;
                    ensure!(
                        silent < MAX_EMPTY_STEPS,
                        "{}: {} had no message in {MAX_EMPTY_STEPS} steps, from step {} on{}",
                        coupled.source(),
                        coupled.output(),
                        step.number + 2 - MAX_EMPTY_STEPS,
                        recent_messages()
                    );
                }
                ran.end = coupled.ended(ran.steps.len() as u64, count);
            }
            LoadedJob::Fed(_) => bail!(NEEDS_MESSAGES),
            LoadedJob::Memcpy(copiers) => {
                ran.steps.extend((0..count).map(|_| copy(copiers)));
            }
        }
        Ok(ran.to_text().into_bytes())
    }

    /// So many steps of any kind.
    fn skip(&mut self, count: u64, place: &HostPosition) -> Result<Vec<u8>> {
        let mut ran = TimedSteps::default();
        for number in 0..count {
            match self {
                LoadedJob::Fmus(coupled) => {
                    if coupled.step(place)?.is_none() {
                        ran.end = coupled.ended(number, count);
                        break;
                    }
                }
                LoadedJob::Fed(_) => bail!(NEEDS_MESSAGES),
                LoadedJob::Memcpy(copiers) => {
                    copy(copiers);
                }
            }
        }
        Ok(ran.to_text().into_bytes())
    }

    /// So many steps; the answer has what came out, two products a step.
    fn prove(&mut self, count: u64, place: &HostPosition) -> Result<Vec<u8>> {
        let mut proof = Proof::default();
        for number in 0..count {
            match self {
                LoadedJob::Fmus(coupled) => {
                    if coupled.step(place)?.is_none() {
                        proof.end = coupled.ended(number, count);
                        break;
                    }
                    proof.products.push(coupled.products()?);
                }
                LoadedJob::Fed(_) => bail!(NEEDS_MESSAGES),
                LoadedJob::Memcpy(copiers) => {
                    copy(copiers);
                    proof.products.push(
                        copiers.each_ref().map(|copier| MessageDigest::from_bytes(copier.last())),
                    );
                }
            }
        }
        Ok(serde_json::to_vec(&proof)?)
    }

    /// One step of an FMU that is fed; why there are no further ones is the answer.
    fn feed(&mut self, time: f64, size: f64, place: &HostPosition) -> Result<Vec<u8>> {
        let LoadedJob::Fed(fed) = self else { bail!("this FMU gets no messages") };
        Ok(fed.step(time, size, place)?.unwrap_or_default().into_bytes())
    }

    fn finish(self, place: &HostPosition) -> Result<Vec<u8>> {
        let account = match self {
            LoadedJob::Fmus(coupled) => coupled.finish(place)?,
            LoadedJob::Fed(fed) => fed.finish(place)?,
            LoadedJob::Memcpy(_) => HostSummary::default(),
        };
        Ok(serde_json::to_vec(&account)?)
    }
}

/// One FMU's share of the bound: copies as many bytes into one of two buffers
/// in turn, as FMUs do that keep their last message.
struct Copier {
    from: Vec<u8>,
    to: [Vec<u8>; 2],
    turn: usize,
}

impl Copier {
    fn new(size: u64) -> Result<Copier> {
        let mut buffers =
            [0; 3].map(|_| allocate_zeroed(usize::try_from(size).unwrap_or(usize::MAX)));
        for buffer in buffers.iter_mut().flatten() {
            for (at, byte) in buffer.iter_mut().enumerate() {
                *byte = (at % 251) as u8 + 1;
            }
        }
        let [from, one, other] = buffers;
        Ok(Copier { from: from?, to: [one?, other?], turn: 0 })
    }

    fn copy(&mut self) -> u64 {
        self.turn ^= 1;
        let to = &mut self.to[self.turn];
        let began = monotonic();
        to.copy_from_slice(std::hint::black_box(&self.from));
        std::hint::black_box(&to);
        monotonic() - began
    }

    fn last(&self) -> &[u8] {
        &self.to[self.turn]
    }
}

fn copy(copiers: &mut [Copier; 2]) -> StepTimes {
    let [source, model] = copiers;
    StepTimes {
        source: source.copy(),
        model: model.copy(),
        source_size: source.from.len() as u64,
        model_size: model.from.len() as u64,
        ..StepTimes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_copies() {
        let mut copier = Copier::new(1000).unwrap();
        copier.to.iter_mut().for_each(|to| to.fill(0));
        copier.copy();
        assert_eq!(copier.last(), copier.from);
        assert!(Copier::new(u64::MAX / 2).is_err());
    }
}
