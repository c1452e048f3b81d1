//! A transport that does what it must not: each fault is counted as what it
//! is, and none of them makes anyone wait for ever.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use wiregauge_bus::background::Background;
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::catalogue::Reach;
use wiregauge_bus::conduct::conductor::conduct;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::transports::memory::Memory;
use wiregauge_participant::control::{Assignment, Mode, Role};
use wiregauge_participant::transport::{Reader, Topic, Transport, Writer};

/// Memory, but for what is asked of it.
#[derive(Clone, Copy, Default)]
struct Faulty {
    /// Every so many samples…
    every: u64,
    /// …this happens.
    fault: Fault,
    /// How long the reader dwells on each sample.
    dwell: Duration,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    Lose,
    Repeat,
    Damage,
    Shorten,
    Swap,
    Fail,
}

impl Transport for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }
    fn library(&self) -> String {
        "none".into()
    }
    fn options(&self) -> Vec<String> {
        Vec::new()
    }
    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let (inner, endpoint) = Memory.reader(topic)?;
        Ok((Box::new(FaultyReader { inner, faulty: *self, count: 0, kept: Vec::new() }), endpoint))
    }
    fn writer(&self, topic: &Topic, endpoints: &[String]) -> Result<Box<dyn Writer>> {
        let inner = Memory.writer(topic, endpoints)?;
        let buffer = vec![0; topic.size];
        Ok(Box::new(FaultyWriter { inner, faulty: *self, buffer, count: 0, held: None }))
    }
}

struct FaultyWriter {
    inner: Box<dyn Writer>,
    faulty: Faulty,
    buffer: Vec<u8>,
    count: u64,
    held: Option<Vec<u8>>,
}

impl FaultyWriter {
    fn pass(&mut self, bytes: &[u8]) -> Result<()> {
        self.inner.buffer()?.copy_from_slice(bytes);
        self.inner.send()
    }
}

impl Writer for FaultyWriter {
    fn readers(&mut self) -> Result<usize> {
        self.inner.readers()
    }
    fn buffer(&mut self) -> Result<&mut [u8]> {
        Ok(&mut self.buffer)
    }
    fn send(&mut self) -> Result<()> {
        self.count += 1;
        let mut bytes = self.buffer.clone();
        let now = self.faulty.every > 0 && self.count.is_multiple_of(self.faulty.every);
        match self.faulty.fault {
            Fault::Lose if now => return Ok(()),
            Fault::Repeat if now => self.pass(&bytes.clone())?,
            Fault::Damage if now => *bytes.last_mut().expect("not empty") ^= 1,
            Fault::Fail if now => bail!("the engine broke down"),
            Fault::Swap if now => {
                self.held = Some(bytes);
                return Ok(());
            }
            _ => {}
        }
        self.pass(&bytes)?;
        match self.held.take() {
            Some(held) => self.pass(&held),
            None => Ok(()),
        }
    }
}

struct FaultyReader {
    inner: Box<dyn Reader>,
    faulty: Faulty,
    count: u64,
    kept: Vec<u8>,
}

impl Reader for FaultyReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        let Some(sample) = self.inner.next(patience)? else { return Ok(None) };
        thread::sleep(self.faulty.dwell);
        self.count += 1;
        let short =
            self.faulty.fault == Fault::Shorten && self.count.is_multiple_of(self.faulty.every);
        self.kept = sample[..sample.len() - usize::from(short)].to_vec();
        Ok(Some(&self.kept))
    }
}

const MS: u64 = 1_000_000;

fn assignment(topic: &str, mode: Mode) -> Assignment {
    Assignment {
        role: Role::Receiver,
        transport: "faulty".into(),
        topic: Topic {
            several: None,
            name: topic.into(),
            size: 100,
            varies: false,
            bind: [127, 0, 0, 1].into(),
            readers: 1,
            token: String::new(),
            scratch: None,
            options: Default::default(),
        },
        seed: 7,
        mode,
        cycle: MS,
        fast: false,
        duration: 400 * MS,
        window: 50 * MS,
        announced: false,
        patience: 200 * MS,
        round_trips: 0,
        alive: 1000 * MS,
        realtime: Default::default(),
        coding: None,
        keep: 0,
    }
}

fn run(faulty: Faulty, assignment: &Assignment) -> Result<RunRecord> {
    let transport: &'static dyn Transport = Box::leak(Box::new(faulty));
    let placement = Placement::in_process(Box::leak(Box::new([transport])));
    let plans = placement.plans(1, Reach::Process);
    conduct(&placement, &Program::BuiltIn, plans, assignment, Background::default(), &|_| {}, None)
}

/// A run that comes to its end, or why not.
fn complete_record(faulty: Faulty, assignment: &Assignment) -> Result<RunRecord> {
    run(faulty, assignment).and_then(RunRecord::require_complete)
}

#[test]
fn without_fault_all_arrives() {
    for (mode, announced) in
        [(Mode::Continuous, false), (Mode::Discrete, false), (Mode::Discrete, true)]
    {
        let assignment = Assignment { announced, ..assignment("whole", mode) };
        let record = run(Faulty::default(), &assignment).unwrap();
        let received = &record.received[0];
        // How many were due in time is up to the machine.
        assert!(record.sent.due == Some(400) && record.sent.samples > 0);
        assert_eq!(received.samples, record.sent.samples);
        let bad = [received.reordered, received.repeated, received.damaged, received.foreign];
        assert_eq!(bad, [0; 4]);
        assert!(received.windows.iter().all(|w| w.samples > 0 && w.bytes == 100 * w.samples));
        let steps = if mode == Mode::Discrete { record.sent.samples } else { 0 };
        assert_eq!(record.sent.step.count, steps);
    }
}

#[test]
fn each_fault_is_counted_as_what_it_is() {
    let check = |fault, topic: &str, wanted: fn(u64) -> [u64; 5]| {
        let faulty = Faulty { every: 10, fault, ..Faulty::default() };
        let record = run(faulty, &assignment(topic, Mode::Continuous)).unwrap();
        let (sent, r) = (record.sent.samples, &record.received[0]);
        let counted = [sent - r.samples, r.reordered, r.repeated, r.damaged, r.foreign];
        assert_eq!(counted, wanted(sent), "{topic}, of {sent}");
    };
    check(Fault::Lose, "lose", |sent| [sent / 10, 0, 0, 0, 0]);
    check(Fault::Repeat, "repeat", |sent| [0, 0, sent / 10, 0, 0]);
    check(Fault::Damage, "damage", |sent| [sent / 10, 0, 0, sent / 10, 0]);
    check(Fault::Shorten, "shorten", |sent| [sent / 10, 0, 0, 0, sent / 10]);
    // The last one may be held for ever.
    check(Fault::Swap, "swap", |sent| [u64::from(sent % 10 == 0), (sent - 1) / 10, 0, 0, 0]);
}

#[test]
fn round_trips_are_taken_one_by_one_and_are_no_part_of_the_run() {
    let assignment = |topic| Assignment { round_trips: 50, ..assignment(topic, Mode::Continuous) };
    let record = run(Faulty::default(), &assignment("trips")).unwrap();
    let pinged = record.round_trips.unwrap();
    assert_eq!((pinged.times.count, pinged.lost), (50, 0));
    assert!(pinged.times.least > 0);
    assert_eq!(record.sent.samples, record.received[0].samples);
    assert_eq!(record.received[0].foreign, 0);
    // The 40th is lost on its way, the next on its way back: two seconds are over.
    let faulty = Faulty { every: 40, fault: Fault::Lose, ..Faulty::default() };
    let pinged = run(faulty, &assignment("lost trips")).unwrap().round_trips.unwrap();
    assert_eq!((pinged.times.count, pinged.lost), (39, 2));
}

#[test]
fn a_step_whose_data_is_lost_times_out_and_the_next_goes_on() {
    let faulty = Faulty { every: 100, fault: Fault::Lose, ..Faulty::default() };
    let steps = assignment("steps", Mode::Discrete);
    let assignment = Assignment { duration: 2_000 * MS, announced: true, ..steps };
    let record = run(faulty, &assignment).unwrap();
    let sent = &record.sent;
    assert!(sent.timeouts >= 1, "{sent:?}");
    assert_eq!(sent.timeouts, sent.samples / 100);
    assert_eq!(sent.step.count, sent.samples - sent.timeouts);
    assert_eq!(record.received[0].samples, sent.samples - sent.timeouts);
}

#[test]
fn a_reader_that_is_too_slow_holds_the_writer_back() {
    let faulty = Faulty { dwell: Duration::from_millis(5), ..Faulty::default() };
    let record = run(faulty, &assignment("slow", Mode::Continuous)).unwrap();
    // The queue holds 64, and what was sent arrives in the end.
    assert!(record.sent.samples < 400, "{:?}", record.sent);
    assert_eq!(record.received[0].samples, record.sent.samples);
    assert!(record.received[0].late > 0);
}

#[test]
fn an_engine_that_fails_is_named_with_its_words() {
    let faulty = Faulty { every: 50, fault: Fault::Fail, ..Faulty::default() };
    let began = Instant::now();
    let whole = assignment("fail", Mode::Continuous);
    let assignment = Assignment { duration: 60_000 * MS, ..whole };
    let error = complete_record(faulty, &assignment).unwrap_err();
    assert_eq!(format!("{error:#}"), "sender: the engine broke down");
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_was_seen_before_it_broke_is_told() {
    // Windows of one sample or two.
    let faulty = Faulty { every: 300, fault: Fault::Fail, ..Faulty::default() };
    let steps = assignment("so far", Mode::Discrete);
    // On a loaded machine 300 samples take longer than their cycles.
    let assignment = Assignment { window: MS, duration: 10_000 * MS, ..steps };
    let record = run(faulty, &assignment).unwrap();
    assert_eq!(record.broken.as_deref(), Some("sender: the engine broke down"));
    let windows = &record.received[0].windows;
    assert!(windows.len() > 4 && windows.iter().all(|window| window.samples > 0));
    assert!(!record.sent.steps.is_empty());
    assert_eq!(record.require_complete().unwrap_err().to_string(), "sender: the engine broke down");
}

#[test]
fn content_of_another_seed_is_not_taken_for_ours() {
    // What the receiver expects differs from what the sender sends.
    let assignment = assignment("seed", Mode::Continuous);
    let shape = |seed| wiregauge_participant::sample::SampleContent {
        size: 100,
        seed,
        count: 400,
        message: None,
    };
    let mut sample = vec![0; 100];
    shape(1).fill(&mut sample, 3);
    assert!(shape(assignment.seed).check(&sample, 0).is_err());
}
