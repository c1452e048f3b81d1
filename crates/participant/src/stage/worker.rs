//! A stage at work.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use anyhow::{bail, ensure, Context, Result};

use super::input::{NewestSample, ReceivedSamples, StageInput};
use super::setup::{
    Activation, CodecSource, LinkSetup, Schedule, StageCounts, StageOrder, StageSetup,
};
use crate::codec_process::CodecProcess;
use crate::discovery::{find_readers, DISCOVERY_TIMEOUT};
use crate::sample::{self, Header, HEADER_SIZE};
use crate::transport::{Topic, Transport, Writer};
use wiregauge_timing::clock::{monotonic, Clock};
use wiregauge_timing::threads::start_thread;
use wiregauge_timing::usage::minimize_timer_slack;

/// How often a codec is asked before it counts.
const WARM_UP: usize = 5;
/// From this size on a sample takes longer to fill than a reader takes to wake up, in bytes.
const LARGE: usize = 64 << 10;
/// Longest sleep until a stage looks whether it is to go on, in nanoseconds.
const MAX_SLEEP_NS: u64 = 100_000_000;

/// What a stage says to its program.
pub enum StageEvent {
    /// Its reader is open there.
    Opened(usize, String),
    /// Its writer has found the reader.
    Ready(usize),
    /// It is done.
    Done(usize, Box<StageRecord>),
    /// It cannot go on, by its name and why.
    Failed(String, String),
}

/// What a stage did.
#[derive(Debug, Default)]
pub struct StageRecord {
    /// Its activations that took a sample.
    pub activations: Vec<Activation>,
    /// Sequence and time of each sample that came.
    pub arrivals: Vec<[u64; 2]>,
    /// Cycles that passed while it was still at the one before.
    pub missed: u64,
    /// Samples that were not what was sent.
    pub damaged: u64,
}

impl StageRecord {
    /// How much there is.
    pub fn counts(&self) -> StageCounts {
        StageCounts {
            activations: self.activations.len(),
            arrivals: self.arrivals.len(),
            missed: self.missed,
            damaged: self.damaged,
        }
    }

    /// Its numbers one after another.
    pub fn to_bytes(&self) -> Vec<u8> {
        let activations = self.activations.iter().flat_map(|one| one.to_numbers());
        let numbers = activations.chain(self.arrivals.iter().flatten().copied());
        numbers.flat_map(u64::to_le_bytes).collect()
    }
}

/// A stage.
pub struct Stage {
    place: usize,
    setup: StageSetup,
    input: Option<&'static dyn Transport>,
    output: Option<&'static dyn Transport>,
    events: Sender<StageEvent>,
    orders: Receiver<StageOrder>,
}

/// How samples come to a stage.
enum Source {
    /// It takes them itself: the first stage.
    Own,
    /// They activate it.
    Each(StageInput),
    /// It looks for the newest in each cycle; a thread receives them.
    Newest(NewestSample, thread::JoinHandle<Result<ReceivedSamples>>, Sender<u64>),
}

impl Stage {
    /// A stage over transports of this program.
    ///
    /// # Errors
    /// A transport that the program has not.
    pub fn new(
        place: usize,
        setup: StageSetup,
        transports: &[&'static dyn Transport],
        events: Sender<StageEvent>,
        orders: Receiver<StageOrder>,
    ) -> Result<Stage> {
        let find = |link: &LinkSetup| -> Result<&'static dyn Transport> {
            let found = transports.iter().find(|transport| transport.name() == link.transport);
            let found = *found.with_context(|| format!("no transport '{}'", link.transport))?;
            link.topic.check_options(found)?;
            link.topic.refuse_codec_in_place()?;
            Ok(found)
        };
        let input = setup.input.as_ref().map(find).transpose()?;
        let output = setup.output.as_ref().map(find).transpose()?;
        Ok(Stage { place, setup, input, output, events, orders })
    }

    /// Does its part until it is done and nobody needs it open any more.
    pub fn run(self) {
        if let Err(error) = self.try_run() {
            let why = format!("{error:#}");
            let _ = self.events.send(StageEvent::Failed(self.setup.name.clone(), why));
        }
    }

    fn try_run(&self) -> Result<()> {
        let start = |link: &Option<LinkSetup>| -> Result<Option<CodecProcess>> {
            let Some(link) = link else { return Ok(None) };
            let CodecSource::Setup(setup) = &link.codec else { bail!("a codec without a setup") };
            let mut codec = CodecProcess::start(setup)?;
            for _ in 0..WARM_UP {
                codec.run(link.task)?;
            }
            Ok(Some(codec))
        };
        let (mut decoder, mut encoder) = (start(&self.setup.input)?, start(&self.setup.output)?);
        let (mut source, endpoint) = self.open_source(decoder.as_ref())?;
        self.say(StageEvent::Opened(self.place, endpoint));
        let Some(StageOrder::Connect(endpoints)) = self.next_order() else { return Ok(()) };
        let mut writer = self.open_writer(&endpoints, encoder.as_ref())?;
        self.say(StageEvent::Ready(self.place));
        let Some(StageOrder::Start(schedule)) = self.next_order() else { return Ok(()) };
        minimize_timer_slack();
        let mut worker = Worker {
            stage: &self.setup,
            schedule: &schedule,
            decoder: decoder.as_mut(),
            encoder: encoder.as_mut(),
            writer: writer.as_deref_mut(),
            record: StageRecord::default(),
        };
        match &mut source {
            Source::Each(input) => worker.follow(input)?,
            Source::Own => worker.cycle(Some)?,
            Source::Newest(newest, _, begin) => {
                let _ = begin.send(schedule.epoch);
                worker.cycle(|_| newest.take())?;
            }
        }
        let mut record = worker.record;
        let mut open = None;
        let received = match source {
            Source::Own => ReceivedSamples::default(),
            Source::Each(mut input) => {
                let received = std::mem::take(&mut input.received);
                open = Some(input);
                received
            }
            Source::Newest(newest, thread, _) => {
                newest.close();
                match thread.join() {
                    Ok(received) => received?,
                    Err(_) => bail!("its input panicked"),
                }
            }
        };
        (record.arrivals, record.damaged) = (received.arrivals, received.damaged);
        self.say(StageEvent::Done(self.place, Box::new(record)));
        // Until all are done, as a connection that closes disturbs those who still work.
        while self.next_order().is_some() {}
        drop(open);
        Ok(())
    }

    fn say(&self, event: StageEvent) {
        // The program is gone, and this thread with it.
        let _ = self.events.send(event);
    }

    fn next_order(&self) -> Option<StageOrder> {
        self.orders.recv().ok()
    }

    /// Opens the reader, and says where.
    fn open_source(&self, decoder: Option<&CodecProcess>) -> Result<(Source, String)> {
        let (Some(link), Some(transport), Some(decoder)) = (&self.setup.input, self.input, decoder)
        else {
            return Ok((Source::Own, String::new()));
        };
        let topic = topic(link, decoder);
        let message = decoder.encoded.clone();
        if self.setup.period == 0 {
            let (reader, endpoint) = transport.reader(&topic)?;
            let input = StageInput::new(reader, message, topic.size);
            return Ok((Source::Each(input), endpoint));
        }
        let newest = NewestSample::default();
        let (begin, began) = mpsc::channel::<u64>();
        let (told, opened) = mpsc::channel::<Result<String>>();
        let shared = newest.clone();
        // A reader stays in the thread that opened it.
        let thread = start_thread("input", move || -> Result<ReceivedSamples> {
            let (reader, endpoint) = match transport.reader(&topic) {
                Ok(opened) => opened,
                Err(error) => {
                    let why = format!("{error:#}");
                    let _ = told.send(Err(error));
                    bail!(why);
                }
            };
            let _ = told.send(Ok(endpoint));
            let mut input = StageInput::new(reader, message, topic.size);
            let Ok(epoch) = began.recv() else { return Ok(input.received) };
            while !shared.is_closed() {
                match input.next(epoch) {
                    Ok(Some(sequence)) => shared.put(sequence),
                    Ok(None) => {}
                    // The stage before is done as well.
                    Err(_) if shared.is_closed() => break,
                    Err(error) => return Err(error),
                }
            }
            Ok(input.received)
        })?;
        let endpoint = opened.recv().context("its input ended")??;
        Ok((Source::Newest(newest, thread, begin), endpoint))
    }

    /// Opens the writer to the reader there, and waits until it knows of it.
    fn open_writer(
        &self,
        endpoints: &[String],
        encoder: Option<&CodecProcess>,
    ) -> Result<Option<Box<dyn Writer>>> {
        let (Some(link), Some(transport), Some(encoder)) =
            (&self.setup.output, self.output, encoder)
        else {
            return Ok(None);
        };
        let mut writer = transport.writer(&topic(link, encoder), endpoints)?;
        let deadline = Instant::now() + DISCOVERY_TIMEOUT;
        let found = find_readers(writer.as_mut(), 1, deadline, || false)?;
        ensure!(found > 0, "found no reader within {DISCOVERY_TIMEOUT:?}");
        Ok(Some(writer))
    }
}

/// The topic for samples with the message that the codec writes.
fn topic(link: &LinkSetup, codec: &CodecProcess) -> Topic {
    Topic { size: HEADER_SIZE + codec.encoded.len(), ..link.topic.clone() }
}

struct Worker<'a> {
    stage: &'a StageSetup,
    schedule: &'a Schedule,
    decoder: Option<&'a mut CodecProcess>,
    encoder: Option<&'a mut CodecProcess>,
    writer: Option<&'a mut (dyn Writer + 'static)>,
    record: StageRecord,
}

impl Worker<'_> {
    /// Is activated by each sample until the end.
    fn follow(&mut self, input: &mut StageInput) -> Result<()> {
        self.fill()?;
        let (epoch, end) = (self.schedule.epoch, self.schedule.end());
        while monotonic() < end {
            match input.next(epoch) {
                Ok(Some(sequence)) => self.activate(sequence, 0, monotonic())?,
                Ok(None) => {}
                Err(_) if monotonic() >= end => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Is activated in each cycle of each stretch. `next` is the sequence to work on, if there
    /// is any; it is told which the first stage would give.
    fn cycle(&mut self, next: impl Fn(u64) -> Option<u64>) -> Result<()> {
        self.fill()?;
        let Schedule { epoch, stretch, active, count, phases, .. } = self.schedule;
        let of_stage = |(name, _): &&(String, Vec<u64>)| *name == self.stage.name;
        let phases = phases.iter().find(of_stage).context("no phases for the stage")?;
        let period = self.stage.period;
        let (clock, mut sequence) = (Clock::new(0), 0);
        for (number, phase) in (0..u64::from(*count)).zip(&phases.1) {
            let begin = epoch + number * stretch;
            let end = match self.stage.input {
                None => begin + active,
                Some(_) if number + 1 == u64::from(*count) => self.schedule.end(),
                Some(_) => begin + stretch,
            };
            let mut due = begin + phase;
            while due < end {
                loop {
                    let now = monotonic();
                    if now >= due {
                        break;
                    }
                    clock.wait_until(due.min(now + MAX_SLEEP_NS));
                }
                let began = monotonic();
                if let Some(sample) = next(sequence) {
                    sequence += 1;
                    self.activate(sample, due, began)?;
                }
                due += period;
                // What is over by now is missed and not made up for.
                let now = monotonic();
                if now > due + period {
                    let over = (now - due) / period;
                    self.record.missed += over;
                    due += over * period;
                }
            }
        }
        // Others still work.
        clock.wait_until(self.schedule.end());
        Ok(())
    }

    /// Does all that is to be done with one sample.
    fn activate(&mut self, sequence: u64, due: u64, began: u64) -> Result<()> {
        let mut done = Activation { sequence, due, began, ..Activation::default() };
        done.decoded = began;
        if let (Some(decoder), Some(link)) = (&mut self.decoder, &self.stage.input) {
            done.decode = decoder.run(link.task)?;
            done.decoded = monotonic();
        }
        done.worked = done.decoded;
        while done.worked < done.decoded + self.stage.work {
            std::hint::spin_loop();
            done.worked = monotonic();
        }
        if let (Some(encoder), Some(link)) = (&mut self.encoder, &self.stage.output) {
            done.encode = encoder.run(link.task)?;
            let writer = self.writer.as_mut().context("no writer")?;
            let room = writer.buffer()?;
            done.sent = monotonic();
            let time = done.sent.saturating_sub(self.schedule.epoch);
            ensure!(sequence < u64::from(u32::MAX), "a run has 4 billion samples at most");
            sample::write_header(room, Header { sequence: sequence as u32, time });
            writer.send()?;
            // Who was woken may be waiting for this very processor.
            if encoder.encoded.len() >= LARGE {
                thread::yield_now();
            }
        }
        self.record.activations.push(done);
        self.fill()
    }

    /// Puts the message into the transport's room, while nobody waits for it.
    fn fill(&mut self) -> Result<()> {
        if let (Some(encoder), Some(writer)) = (&self.encoder, &mut self.writer) {
            writer.buffer()?[HEADER_SIZE..].copy_from_slice(&encoder.encoded);
        }
        Ok(())
    }
}
