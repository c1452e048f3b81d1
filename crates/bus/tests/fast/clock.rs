//! A receiver and a sender whose timing master has another clock, and whose clock is set in
//! the middle of a run: what they make of it, from the sample to the figure.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use wiregauge_bus::load::Load;
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::result::measured_trial::MeasuredTrial;
use wiregauge_participant::control::{
    split, Assignment, ControlReceiver, ControlSender, Master, Mode, Order, ParticipantResult,
    Peers, Report, Role, SenderResult, TransportInfo, HEARTBEAT_INTERVAL,
};
use wiregauge_participant::participant::serve;
use wiregauge_participant::sample::{write_header, Header, SampleContent};
use wiregauge_participant::transport::{Reader, Topic, TopicSet, Transport, Writer};
use wiregauge_result::environment::Environment;
use wiregauge_timing::clock::monotonic;

const MS: u64 = 1_000_000;
/// The master's clock is an hour ahead…
const AHEAD: u64 = 3_600_000 * MS;
/// …and is set forward by this…
const JUMP: u64 = 300 * MS;
/// …so long after the epoch, on the receiver's clock.
const SET: u64 = 1500 * MS;
/// From sample to sample, and how many there are.
const CYCLE: u64 = 20 * MS;
const COUNT: u64 = 150;

/// The master's time at a time of the receiver's.
fn master(own: u64, epoch: u64) -> u64 {
    let jump = if own - epoch >= SET { JUMP } else { 0 };
    own + AHEAD + jump
}

/// The epoch of the run on the own clock, of each test.
static EPOCH: Mutex<u64> = Mutex::new(0);
/// When each sample was sent, as it says itself and on the master's clock.
static STAMPS: Mutex<Vec<[u64; 2]>> = Mutex::new(Vec::new());
/// One test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Samples that come just when they were sent.
struct Punctual;

impl Transport for Punctual {
    fn name(&self) -> &'static str {
        "punctual"
    }
    fn library(&self) -> String {
        "none".into()
    }
    fn options(&self) -> Vec<String> {
        Vec::new()
    }
    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let sample = vec![0; topic.size];
        Ok((Box::new(Source { sample, sequence: 0, epoch: *EPOCH.lock().unwrap() }), "".into()))
    }
    fn carries_several(&self) -> bool {
        true
    }
    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn Writer>> {
        Ok(Box::new(Sink { sample: vec![0; topic.size], epoch: *EPOCH.lock().unwrap() }))
    }
}

struct Sink {
    sample: Vec<u8>,
    epoch: u64,
}

impl Writer for Sink {
    fn readers(&mut self) -> Result<usize> {
        Ok(1)
    }
    fn buffer(&mut self) -> Result<&mut [u8]> {
        Ok(&mut self.sample)
    }
    fn send(&mut self) -> Result<()> {
        let mut time = [0; 8];
        time[..6].copy_from_slice(&self.sample[4..10]);
        let now = master(monotonic(), self.epoch) - (self.epoch + AHEAD);
        STAMPS.lock().unwrap().push([u64::from_le_bytes(time), now]);
        Ok(())
    }
}

struct Source {
    sample: Vec<u8>,
    sequence: u64,
    epoch: u64,
}

impl Reader for Source {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        if self.sequence == COUNT {
            thread::sleep(patience);
            return Ok(None);
        }
        thread::sleep(Duration::from_nanos(CYCLE));
        let shape = SampleContent { size: self.sample.len(), seed: 1, count: COUNT, message: None };
        let sequence = self.sequence as u32;
        self.sequence += 1;
        shape.fill(&mut self.sample, sequence);
        let time = master(monotonic(), self.epoch) - (self.epoch + AHEAD);
        write_header(&mut self.sample, Header { sequence, time });
        Ok(Some(&self.sample))
    }
}

/// Tells the master's time to whoever asks.
fn time_server(epoch: u64) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = [0];
        while stream.read_exact(&mut question).is_ok() {
            stream.write_all(&master(monotonic(), epoch).to_le_bytes()).unwrap();
        }
    });
    address
}

/// The next report but for beats and what was seen so far.
fn report(listener: &mut ControlReceiver) -> Report {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        match listener.receive().unwrap() {
            Report::Beat | Report::Progress(_) => {}
            other => return other,
        }
    }
    panic!("only beats")
}

/// Leads a receiver, or the second of two senders, through a run, of whose clock it is told that
/// it is not the master's.
fn conduct(
    role: Role,
    speaker: &ControlSender,
    listener: &mut ControlReceiver,
) -> ParticipantResult {
    let epoch = *EPOCH.lock().unwrap();
    let topic = Topic {
        several: (role == Role::Sender).then_some(TopicSet { senders: 2, each: 1, sender: 1 }),
        name: "clock".into(),
        size: 100,
        varies: false,
        bind: [127, 0, 0, 1].into(),
        readers: 1,
        token: String::new(),
        scratch: None,
        options: Default::default(),
    };
    let assignment = Assignment {
        role,
        transport: "punctual".into(),
        topic,
        seed: 1,
        mode: Mode::Continuous,
        cycle: CYCLE,
        fast: false,
        duration: COUNT * CYCLE,
        window: 100 * MS,
        announced: false,
        patience: 1000 * MS,
        round_trips: 0,
        alive: 1000 * MS,
        realtime: Default::default(),
        coding: None,
        keep: 0,
    };
    assert!(matches!(report(listener), Report::Loaded(_)));
    speaker.send(&Order::Open(Box::new(assignment))).unwrap();
    assert!(matches!(report(listener), Report::Initialized(_)));
    let clock = time_server(epoch);
    let master = Master { clock, steps: clock, epoch: epoch + AHEAD };
    speaker
        .send(&Order::Connect(Peers { endpoints: Vec::new(), back: None, master, shared: false }))
        .unwrap();
    assert_eq!(report(listener), Report::Ready);
    speaker.send(&Order::Start).unwrap();
    assert_eq!(report(listener), Report::Running);
    if role == Role::Receiver {
        speaker.send(&Order::Finish(vec![COUNT])).unwrap();
    }
    match report(listener) {
        Report::Stopped(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

/// What comes of a participant.
fn run(role: Role) -> ParticipantResult {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = door.local_addr().unwrap();
    *EPOCH.lock().unwrap() = monotonic();
    let participant = thread::spawn(move || serve(address, "one", "", &[&Punctual], false));
    let (speaker, mut listener) = split(door.accept().unwrap().0).unwrap();
    let beats = speaker.clone();
    thread::spawn(move || {
        while beats.send(&Order::Beat).is_ok() {
            thread::sleep(HEARTBEAT_INTERVAL);
        }
    });
    let outcome = conduct(role, &speaker, &mut listener);
    speaker.send(&Order::Quit).unwrap();
    participant.join().unwrap().unwrap();
    outcome
}

#[test]
fn another_sender_stamps_with_the_masters_time() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ParticipantResult::Sent(sent) = run(Role::Sender) else { panic!("it sends") };
    assert_eq!(sent.due, Some(COUNT));
    let [clock] = &sent.clocks[..] else { panic!("{:?}", sent.clocks) };
    assert!(!clock.shared && clock.offset.abs_diff(AHEAD as i64) <= clock.uncertainty, "{clock:?}");
    assert!(clock.jump.abs_diff(JUMP as i64) < JUMP / 10, "{clock:?}");
    let stamps = STAMPS.lock().unwrap();
    assert_eq!(stamps.len() as u64, sent.samples);
    let clear = JUMP / 10;
    for [stamp, now] in stamps.iter() {
        // It was taken before the call, and it may take a second until it is known that the
        // clock was set.
        assert!(*stamp < now + clear, "{stamp} at {now}");
        assert!(*now < stamp + AHEAD / 2, "{stamp} at {now}");
    }
    // Some were sent when it was known.
    let known = |[stamp, now]: &[u64; 2]| *now > SET + JUMP && stamp + clear > *now;
    assert!(stamps.iter().any(known), "{stamps:?}");
}

#[test]
fn a_clock_that_is_set_in_the_middle_is_counted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ParticipantResult::Received(received) = run(Role::Receiver) else { panic!("it receives") };
    // All of them are of this run, on another clock or not.
    assert_eq!((received.samples, received.foreign, received.damaged), (COUNT, 0, 0));
    let alignment = &received.alignment;
    assert!(!alignment.shared);
    let off = alignment.offset.abs_diff(AHEAD as i64);
    assert!(off <= alignment.uncertainty, "{alignment:?}");
    let measured = |received| {
        let about = TransportInfo {
            name: "punctual".into(),
            library: String::new(),
            options: Vec::new(),
            knows: Vec::new(),
        };
        let sent = SenderResult { samples: COUNT, ..SenderResult::default() };
        let received = vec![received];
        let record =
            RunRecord { about, round_trips: None, sent, received, background: None, broken: None };
        let machine = Environment::default();
        let cycle = Duration::from_nanos(CYCLE);
        let load = Load::new(100, cycle, Mode::Continuous);
        MeasuredTrial {
            case: "c",
            load: &load,
            subject: "punctual",
            record: &record,
            machine: &machine,
        }
        .facts()
    };
    let facts = measured(received);
    let jump = facts.iter().find(|fact| fact.metric == "clock/jump").expect("it is counted");
    let off = (jump.value - JUMP as f64).abs();
    assert!(jump.unit == "ns" && off < 0.1 * JUMP as f64, "{} ns", jump.value);
}
