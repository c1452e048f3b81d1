//! The child process that loads FMUs and steps them. It keeps no statistics:
//! it does as many steps as it is told and says what each took.
//!
//! What FMUs print goes to standard error, and they find nothing on standard
//! input; the conversation with the master has descriptors of its own.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure, Context, Result};

use crate::description::{Description, Handle};
use crate::instance::{last_words, Instance, Status};
use crate::job::{Chain, Job, Product, Seat, Step, PROTOCOL};
use crate::osmp::Span;
use crate::package::Package;
use crate::place::{Call, Place};

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
            (["run", count], Some(running)) => running.run(count.parse()?, &place),
            (["prove", count], Some(running)) => running.prove(count.parse()?, &place),
            (["finish"], running) => match running.take() {
                Some(running) => running.finish(&place).map(|()| Vec::new()),
                None => Ok(Vec::new()),
            },
            _ => Err(anyhow!("cannot answer '{}'", line.trim_end())),
        };
        place.leave();
        let (word, payload) = match answer {
            Ok(payload) => ("ok", payload),
            Err(error) => ("error", format!("{error:#}").into_bytes()),
        };
        output.write_all(format!("{word} {}\n", payload.len()).as_bytes())?;
        output.write_all(&payload)?;
        output.flush()?;
    }
}

/// Moves the conversation to descriptors that FMUs do not know.
fn conversation() -> Result<(File, File)> {
    let keep = |number: RawFd| -> io::Result<File> {
        // SAFETY: a new descriptor, which nobody else closes.
        unsafe {
            match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 100) {
                -1 => Err(io::Error::last_os_error()),
                copy => Ok(File::from_raw_fd(copy)),
            }
        }
    };
    let (input, output) = (keep(0)?, keep(1)?);
    let nothing = File::open("/dev/null")?;
    // SAFETY: both are open.
    let moved = unsafe {
        libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&nothing), 0) == 0 && libc::dup2(2, 1) == 1
    };
    ensure!(moved, io::Error::last_os_error());
    Ok((input, output))
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

    /// So many steps; the answer has the first one's index and a line for each.
    fn run(&mut self, count: u64, place: &Place) -> Result<Vec<u8>> {
        let mut steps = Vec::with_capacity(usize::try_from(count)?);
        let mut first = 0;
        match self {
            Running::Fmus(coupled) => {
                first = coupled.done;
                for _ in 0..count {
                    steps.push(coupled.step(place)?);
                }
            }
            Running::Memcpy(copiers) => {
                for _ in 0..count {
                    steps.push(copy(copiers));
                }
            }
        }
        let mut text = format!("{first}\n");
        steps.iter().for_each(|step| text += &step.line());
        Ok(text.into_bytes())
    }

    /// So many steps; the answer has what came out, two products a step.
    fn prove(&mut self, count: u64, place: &Place) -> Result<Vec<u8>> {
        let mut products: Vec<[Product; 2]> = Vec::new();
        for _ in 0..count {
            match self {
                Running::Fmus(coupled) => {
                    coupled.step(place)?;
                    products.push(coupled.products()?);
                }
                Running::Memcpy(copiers) => {
                    copy(copiers);
                    products.push(copiers.each_ref().map(|copier| product(copier.last())));
                }
            }
        }
        Ok(serde_json::to_vec(&products)?)
    }

    fn finish(self, place: &Place) -> Result<()> {
        match self {
            Running::Fmus(coupled) => coupled.finish(place),
            Running::Memcpy(_) => Ok(()),
        }
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
    result: Handle,
    /// Names of the three.
    names: [String; 3],
    start: f64,
    size: f64,
    dump: Option<PathBuf>,
    /// Steps that were done.
    done: u64,
    /// The last messages of source and model.
    last: [Span; 2],
}

impl Coupled {
    fn load(chain: Chain, place: &Place) -> Result<Coupled> {
        let source = Sitting::load(chain.source.clone(), 0, &chain, place)?;
        let model = Sitting::load(chain.model.clone(), 1, &chain, place)?;
        Ok(Coupled {
            output: source.handle(&chain.output)?,
            input: model.handle(&chain.input)?,
            result: model.handle(&chain.result)?,
            seats: [source, model],
            names: [chain.output, chain.input, chain.result],
            start: chain.start,
            size: chain.step,
            dump: chain.dump,
            done: 0,
            last: [Span::default(); 2],
        })
    }

    /// One step of both. Between the timed spans the messages are checked.
    fn step(&mut self, place: &Place) -> Result<Step> {
        let number = self.done;
        // Multiplied, so that rounding does not add up.
        let time = self.start + number as f64 * self.size;
        let size = self.size;
        let [source, model] = &mut self.seats;

        place.enter(0, Call::Step, number);
        let began = Instant::now();
        let status = source.instance.step(time, size);
        let stepped = Instant::now();
        place.enter(0, Call::Get, number);
        let reading = Instant::now();
        let (read, message) = source.instance.get(self.output);
        let got = Instant::now();
        place.leave();
        carried_out(&source.seat, &source.instance, status, number)?;
        let output = || format!("{}: {}", source.seat.name, self.names[0]);
        read.good_enough("reading it").with_context(output)?;
        usable(message, number, true).with_context(output)?;

        place.enter(1, Call::Set, number);
        let setting = Instant::now();
        let taken = model.instance.put(self.input, message);
        let set = Instant::now();
        place.enter(1, Call::Step, number);
        let calculating = Instant::now();
        let status = model.instance.step(time, size);
        let calculated = Instant::now();
        place.enter(1, Call::Get, number);
        let (read, result) = model.instance.get(self.result);
        place.leave();
        taken
            .good_enough("setting it")
            .with_context(|| format!("{}: {}", model.seat.name, self.names[1]))?;
        carried_out(&model.seat, &model.instance, status, number)?;
        let output = || format!("{}: {}", model.seat.name, self.names[2]);
        read.good_enough("reading it").with_context(output)?;
        usable(result, number, false).with_context(output)?;

        self.last = [message, result];
        self.done += 1;
        if self.dump.is_some() {
            self.write_down(number)?;
        }
        let ns = |from: Instant, to: Instant| to.duration_since(from).as_nanos() as u64;
        Ok(Step {
            source: ns(began, stepped),
            get: ns(reading, got),
            set: ns(setting, set),
            model: ns(calculating, calculated),
            source_size: length(message),
            model_size: length(result),
        })
    }

    /// The last messages, by their digests.
    fn products(&self) -> Result<[Product; 2]> {
        // SAFETY: messages live until the next step of their FMU.
        let bytes = self.last.map(|span| unsafe { span.bytes() });
        let [source, model] = bytes.map(|bytes| bytes.map(product).map_err(anyhow::Error::msg));
        Ok([source?, model?])
    }

    /// Writes the last messages to files.
    fn write_down(&self, number: u64) -> Result<()> {
        let Some(folder) = &self.dump else { return Ok(()) };
        for (span, who) in self.last.into_iter().zip(["source", "model"]) {
            // SAFETY: as above.
            let bytes = unsafe { span.bytes() }.map_err(anyhow::Error::msg)?;
            let path = folder.join(format!("{who}-{number:06}.bin"));
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    fn finish(self, place: &Place) -> Result<()> {
        let mut outcome = Ok(());
        for (number, sitting) in self.seats.into_iter().enumerate() {
            place.enter(number, Call::Free, 0);
            // The second is freed even if the first would not terminate.
            let ended = sitting.instance.finish().context(sitting.seat.name);
            outcome = outcome.and(ended);
        }
        outcome
    }
}

/// Whether a step was carried out without a word of complaint.
fn carried_out(seat: &Seat, instance: &Instance, status: Status, number: u64) -> Result<()> {
    if status == Status::OK {
        return Ok(());
    }
    let why = match instance.why() {
        "" => String::new(),
        why => format!(" ({why})"),
    };
    bail!(
        "{}: DoStep returned {}{why} at step {}{}",
        seat.name,
        status.name(),
        number + 1,
        last_words()
    )
}

/// Whether a message can be used.
fn usable(span: Span, number: u64, needed: bool) -> Result<()> {
    span.check().map_err(|fault| anyhow!("{fault}, at step {}{}", number + 1, last_words()))?;
    ensure!(
        !needed || !span.is_none(),
        "holds no message at step {} (address {:#x}, size {}){}",
        number + 1,
        span.address,
        span.size,
        last_words()
    );
    Ok(())
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
        let began = Instant::now();
        to.copy_from_slice(std::hint::black_box(&self.from));
        std::hint::black_box(&to);
        began.elapsed().as_nanos() as u64
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
