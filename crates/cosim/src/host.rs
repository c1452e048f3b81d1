//! The child process that loads FMUs and steps them. It keeps no statistics:
//! it does as many steps as it is told and says what each took.
//!
//! What FMUs print goes to standard error, and they find nothing on standard
//! input; the conversation with the master has descriptors of its own.

pub mod job;
pub mod memory;
pub mod place;
pub mod remote;
pub mod watch;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::path::PathBuf;

use anyhow::{anyhow, bail, ensure, Context, Result};
use wiregauge_participant::clock::monotonic;

use crate::fmi::instance::Instance;
use crate::fmi::message;
use crate::fmi::status::{last_words, Status};
use crate::host::job::{Account, Chain, Job, Product, Proof, Ran, Seat, Step, PROTOCOL};
use crate::host::place::{Call, Place};
use crate::host::watch::Watch;
use crate::package::description::{Description, Handle};
use crate::package::osmp::Span;
use crate::package::Package;

/// Most steps in a row in which a source may give no message.
const SILENT: u64 = 10_000;
/// First bytes of a message that the master gets to see.
const HEAD: usize = 64;

/// Serves until the input ends. The working folder must be the host's own.
///
/// # Errors
/// When the conversation breaks.
pub fn serve() -> Result<()> {
    let (input, mut output) = conversation()?;
    let mut input = BufReader::new(input);
    let place = Place::open(&std::env::current_dir()?)?;
    let mut running: Option<Running> = None;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match (words.as_slice(), &mut running) {
            (["hello", version], _) => hello(version),
            (["load", size], ref mut running) => {
                let mut payload = vec![0; size.parse()?];
                input.read_exact(&mut payload)?;
                Running::load(&payload, &place).map(|loaded| {
                    **running = Some(loaded);
                    Vec::new()
                })
            }
            (["run", lead, count], Some(running)) => {
                running.run(lead.parse()?, count.parse()?, &place)
            }
            (["skip", count], Some(running)) => running.skip(count.parse()?, &place),
            (["prove", count], Some(running)) => running.prove(count.parse()?, &place),
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

/// Moves the conversation to descriptors that FMUs do not know.
fn conversation() -> Result<(File, File)> {
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
    let moved = unsafe {
        libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&nothing), 0) == 0 && libc::dup2(2, 1) == 1
    };
    ensure!(moved, io::Error::last_os_error());
    Ok((input, output))
}

/// Brings out what FMUs printed and the C library still holds.
fn flush_printed() {
    // SAFETY: fflush takes null, which stands for all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

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

fn hello(version: &str) -> Result<Vec<u8>> {
    ensure!(version == PROTOCOL.to_string(), "speaks version {PROTOCOL} and not {version}");
    Ok(format!("host {}\n", env!("CARGO_PKG_VERSION")).into_bytes())
}

/// What is loaded.
enum Running {
    Fmus(Box<Coupled>),
    Memcpy([Copier; 2]),
}

impl Running {
    fn load(payload: &[u8], place: &Place) -> Result<Running> {
        Ok(match serde_json::from_slice(payload)? {
            Job::Fmus(chain) => Running::Fmus(Box::new(Coupled::load(*chain, place)?)),
            Job::Memcpy { source, model } => {
                Running::Memcpy([Copier::new(source)?, Copier::new(model)?])
            }
        })
    }

    /// So many steps that lead and so many that count, all with a message; the
    /// answer has a line for each.
    fn run(&mut self, lead: u64, count: u64, place: &Place) -> Result<Vec<u8>> {
        let count = lead.saturating_add(count);
        let mut ran = Ran { steps: Vec::with_capacity(usize::try_from(count)?), end: None };
        match self {
            Running::Fmus(coupled) => {
                coupled.watch.begin();
                let mut silent = 0;
                while (ran.steps.len() as u64) < count {
                    let Some(step) = coupled.step(place)? else { break };
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
                        silent < SILENT,
                        "{}: {} holds no message in {SILENT} steps{}",
                        coupled.seats[0].seat.name,
                        coupled.names[0],
                        last_words()
                    );
                }
                ran.end = coupled.ended(ran.steps.len() as u64, count);
            }
            Running::Memcpy(copiers) => {
                ran.steps.extend((0..count).map(|_| copy(copiers)));
            }
        }
        Ok(ran.text().into_bytes())
    }

    /// So many steps of any kind.
    fn skip(&mut self, count: u64, place: &Place) -> Result<Vec<u8>> {
        let mut ran = Ran::default();
        for number in 0..count {
            match self {
                Running::Fmus(coupled) => {
                    if coupled.step(place)?.is_none() {
                        ran.end = coupled.ended(number, count);
                        break;
                    }
                }
                Running::Memcpy(copiers) => {
                    copy(copiers);
                }
            }
        }
        Ok(ran.text().into_bytes())
    }

    /// So many steps; the answer has what came out, two products a step.
    fn prove(&mut self, count: u64, place: &Place) -> Result<Vec<u8>> {
        let mut proof = Proof::default();
        for number in 0..count {
            match self {
                Running::Fmus(coupled) => {
                    if coupled.step(place)?.is_none() {
                        proof.end = coupled.ended(number, count);
                        break;
                    }
                    proof.products.push(coupled.products()?);
                }
                Running::Memcpy(copiers) => {
                    copy(copiers);
                    proof.products.push(copiers.each_ref().map(|copier| product(copier.last())));
                }
            }
        }
        Ok(serde_json::to_vec(&proof)?)
    }

    fn finish(self, place: &Place) -> Result<Vec<u8>> {
        let account = match self {
            Running::Fmus(coupled) => coupled.finish(place)?,
            Running::Memcpy(_) => Account::default(),
        };
        Ok(serde_json::to_vec(&account)?)
    }
}

/// An FMU in its place.
struct Sitting {
    seat: Seat,
    description: Description,
    instance: Instance,
}

impl Sitting {
    /// An FMU that is ready for its first step.
    fn load(seat: Seat, number: usize, chain: &Chain, place: &Place) -> Result<Sitting> {
        let name = seat.name.clone();
        let package = Package::folder(&seat.folder, &name).context(name.clone())?;
        let load = || -> Result<Instance> {
            place.enter(number, Call::Load, 0);
            let mut instance = Instance::load(&package, chain.logging)?;
            place.enter(number, Call::Parameters, 0);
            for (name, value) in &seat.parameters {
                instance.set(&package.description, name, value)?;
            }
            place.enter(number, Call::Initialize, 0);
            instance.initialize(chain.start)?;
            place.leave();
            Ok(instance)
        };
        let instance = load().context(name)?;
        Ok(Sitting { seat, description: package.description.clone(), instance })
    }

    fn handle(&self, variable: &str) -> Result<Handle> {
        let binary = self.description.binaries.iter().find(|binary| binary.name == variable);
        Ok(binary
            .with_context(|| format!("{}: there is no binary variable {variable}", self.seat.name))?
            .handle)
    }
}

/// Two FMUs that take turns.
struct Coupled {
    seats: [Sitting; 2],
    output: Handle,
    input: Handle,
    /// None of a sink.
    result: Option<Handle>,
    /// Names of the three.
    names: [String; 3],
    start: f64,
    size: f64,
    dump: Option<PathBuf>,
    /// Steps that were done.
    done: u64,
    /// The last messages of source and model.
    last: [Span; 2],
    /// Why there are no more steps.
    end: Option<String>,
    account: Account,
    watch: Watch,
}

impl Coupled {
    fn load(chain: Chain, place: &Place) -> Result<Coupled> {
        if chain.logging {
            print_lines();
        }
        let source = Sitting::load(chain.source.clone(), 0, &chain, place)?;
        let model = Sitting::load(chain.model.clone(), 1, &chain, place)?;
        let result = chain.result.unwrap_or_default();
        Ok(Coupled {
            output: source.handle(&chain.output)?,
            input: model.handle(&chain.input)?,
            result: if result.is_empty() { None } else { Some(model.handle(&result)?) },
            seats: [source, model],
            names: [chain.output, chain.input, result],
            start: chain.start,
            size: chain.step,
            dump: chain.dump,
            done: 0,
            last: [Span::default(); 2],
            end: None,
            account: Account::default(),
            watch: Watch::new(),
        })
    }

    /// One step of both; none where the simulation has ended. Between the timed
    /// spans the messages are checked.
    fn step(&mut self, place: &Place) -> Result<Option<Step>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let number = self.done;
        // Multiplied, so that rounding does not add up.
        let time = self.start + number as f64 * self.size;
        let size = self.size;
        let [source, model] = &mut self.seats;

        place.enter(0, Call::Step, number);
        let began = monotonic();
        let status = source.instance.step(time, size);
        let stepped = monotonic();
        if let Some(end) = carried_out(source, 0, status, number, &mut self.account)? {
            self.end = Some(end);
            return Ok(None);
        }
        place.enter(0, Call::Get, number);
        let reading = monotonic();
        let (read, message) = source.instance.get(self.output);
        let got = monotonic();
        place.leave();
        let output = || format!("{}: {}", source.seat.name, self.names[0]);
        read.good_enough("reading it").with_context(output)?;
        usable(message, number).with_context(output)?;

        place.enter(1, Call::Set, number);
        let setting = monotonic();
        let taken = model.instance.put(self.input, message);
        let set = monotonic();
        taken
            .good_enough("setting it")
            .with_context(|| format!("{}: {}", model.seat.name, self.names[1]))?;
        place.enter(1, Call::Step, number);
        let calculating = monotonic();
        let status = model.instance.step(time, size);
        let calculated = monotonic();
        if let Some(end) = carried_out(model, 1, status, number, &mut self.account)? {
            self.end = Some(end);
            return Ok(None);
        }
        let mut result = Span::default();
        if let Some(handle) = self.result {
            place.enter(1, Call::Get, number);
            let (read, span) = model.instance.get(handle);
            result = span;
            let output = || format!("{}: {}", model.seat.name, self.names[2]);
            read.good_enough("reading it").with_context(output)?;
            usable(result, number).with_context(output)?;
        }
        place.leave();

        self.last = [message, result];
        self.done += 1;
        self.account.empty += u64::from(message.is_none());
        for sitting in &self.seats {
            if sitting.instance.wants_to_end() {
                let name = &sitting.seat.name;
                self.end =
                    Some(format!("{name} asks to end the simulation at step {}", number + 1));
            }
        }
        if self.dump.is_some() {
            self.write_down(number)?;
        }
        Ok(Some(Step {
            number,
            began,
            source: stepped - began,
            get: got - reading,
            set: set - setting,
            model: calculated - calculating,
            source_size: length(message),
            model_size: length(result),
        }))
    }

    /// Why fewer steps were done than were asked for.
    fn ended(&self, done: u64, count: u64) -> Option<String> {
        self.end.clone().filter(|_| done < count)
    }

    /// The last messages, by their digests.
    fn products(&self) -> Result<[Product; 2]> {
        // SAFETY: an FMU keeps its message until its next step, and no FMU is called
        // while the slices live.
        let bytes = self.last.map(|span| unsafe { span.bytes() });
        let [source, model] = bytes.map(|bytes| bytes.map(product).map_err(anyhow::Error::msg));
        Ok([source?, model?])
    }

    /// Writes the last messages to files.
    fn write_down(&self, number: u64) -> Result<()> {
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
        Ok(())
    }

    fn finish(self, place: &Place) -> Result<Account> {
        let slowest = self.watch.told();
        let mut outcome = Ok(Account { steps: self.done, slowest, ..self.account });
        for (number, sitting) in self.seats.into_iter().enumerate() {
            place.enter(number, Call::Free, 0);
            // The second is freed even if the first would not terminate.
            if let Err(error) = sitting.instance.finish().context(sitting.seat.name) {
                outcome = outcome.and(Err(error));
            }
        }
        outcome
    }
}

/// Whether a step was carried out; if the simulation is over instead, says so.
/// A warning is no more than counted. What is not carried out after others were
/// is the end of a trace, or of whatever the FMU goes by.
fn carried_out(
    sitting: &mut Sitting,
    seat: usize,
    status: Status,
    number: u64,
    account: &mut Account,
) -> Result<Option<String>> {
    if status == Status::OK {
        return Ok(None);
    }
    if status == Status::WARNING {
        account.warnings[seat] += 1;
        if account.warnings[seat] == 1 {
            account.complaints[seat] = message::take(1).concat();
        }
        return Ok(None);
    }
    let what = status.words();
    let why = match sitting.instance.why(status) {
        "" => String::new(),
        why => format!(" ({why})"),
    };
    let what = format!("{}: DoStep {what}{why} at step {}", sitting.seat.name, number + 1);
    if status == Status::DISCARD && number > 0 {
        return Ok(Some(what));
    }
    bail!("{what}{}", last_words())
}

/// Whether a message can be used; that there is none is for the master to
/// judge.
fn usable(span: Span, number: u64) -> Result<()> {
    span.check().map_err(|fault| anyhow!("{fault}, at step {}{}", number + 1, last_words()))
}

fn length(span: Span) -> u64 {
    if span.is_none() {
        0
    } else {
        span.size as u64
    }
}

fn product(bytes: &[u8]) -> Product {
    Product {
        size: bytes.len() as u64,
        digest: digest(bytes),
        head: bytes[..bytes.len().min(HEAD)].to_vec(),
    }
}

/// A digest that differs where bytes differ: FNV-1a over words of 8 bytes.
fn digest(bytes: &[u8]) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    let mut mix = |word: u64| {
        digest = (digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        digest ^= digest >> 32;
    };
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        mix(u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    words.remainder().iter().for_each(|&byte| mix(u64::from(byte)));
    digest
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
        let from: Vec<u8> = (0..size).map(|at| (at % 251) as u8 + 1).collect();
        Ok(Copier { to: [from.clone(), from.clone()], from, turn: 0 })
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

fn copy(copiers: &mut [Copier; 2]) -> Step {
    let [source, model] = copiers;
    Step {
        source: source.copy(),
        model: model.copy(),
        source_size: source.from.len() as u64,
        model_size: model.from.len() as u64,
        ..Step::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_differ() {
        let zeros = [0u8; 32];
        let mut seen: Vec<u64> = (0..32).map(|size| digest(&zeros[..size])).collect();
        for at in 0..32 {
            let mut bytes = zeros;
            bytes[at] = 1;
            seen.push(digest(&bytes));
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn the_bound_copies() {
        let mut copier = Copier::new(1000).unwrap();
        copier.to.iter_mut().for_each(|to| to.fill(0));
        copier.copy();
        assert_eq!(copier.last(), copier.from);
    }
}
