//! The life cycle of a participant: loaded, initialized, running, stopped.
//!
//! The conductor gives each order when the participant has reported the state
//! before. When the conductor is gone, or orders to quit, the participant
//! ends; a program whose transport hangs then ends itself.

use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::sync::mpsc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};

use crate::clock::{monotonic, Clock, Follower, TimeServer};
use crate::codec_process::{CodecProcess, Coding};
use crate::control::{
    self, About, Assignment, Listener, Loaded, Master, Mode, Opened, Order, Outcome, Peers,
    Received, Report, Role, Speaker, VERSION,
};
use crate::dial::await_listener;
use crate::duty::{Duty, Wish};
use crate::latency::Distribution;
use crate::lockstep::{Announcer, Steps};
use crate::progress::Seen;
use crate::record::{Kept, Record};
use crate::sample::HEADER;
use crate::scratch;
use crate::token;
use crate::transport::{Reader, Transport, Writer};
use crate::usage::{host, look_for_thieves};
use crate::{echo, receiver, sender, stream, wake_up};

/// How long the sender looks for the readers.
const DISCOVERY: Duration = Duration::from_secs(20);
/// How long a participant may take to end before its program ends itself.
const GRACE: Duration = Duration::from_secs(2);
/// How long to try to reach the conductor.
const REACH: Duration = Duration::from_secs(5);

/// A program with these transports: `--control ADDRESS --name NAME …`. More
/// than one name makes a participant of each, as threads of one process. With
/// `--stream` it carries the messages of a trace instead.
pub fn main(transports: Vec<&'static dyn Transport>) -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == "--stream").is_some() {
        return stream::host(&transports);
    }
    let (mut address, mut names) = (None, Vec::new());
    while let Some(word) = words.next() {
        match (word.as_str(), words.next()) {
            ("--control", Some(value)) => address = value.parse().ok(),
            ("--name", Some(value)) => names.push(value),
            _ => {
                eprintln!("unknown argument '{word}'");
                return ExitCode::from(2);
            }
        }
    }
    let Some(address) = address.filter(|_| !names.is_empty()) else {
        eprintln!("a participant wants --control ADDRESS and --name NAME");
        return ExitCode::from(2);
    };
    match host_all(address, &names, &transports) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs participants to their end, each in a thread, in a process of their own.
///
/// # Errors
/// The first that one of them met.
pub fn host_all(
    conductor: SocketAddr,
    names: &[String],
    transports: &[&'static dyn Transport],
) -> Result<()> {
    let token = std::env::var(token::VARIABLE).unwrap_or_default();
    let threads: Vec<_> = names
        .iter()
        .map(|name| {
            let (name, token, transports) = (name.clone(), token.clone(), transports.to_vec());
            let run = move || serve(conductor, &name, &token, &transports, true);
            thread::Builder::new().name("participant".into()).spawn(run)
        })
        .collect::<std::io::Result<_>>()?;
    let mut outcome = Ok(());
    for thread in threads {
        let ended = thread.join().unwrap_or_else(|_| bail!("a participant panicked"));
        outcome = outcome.and(ended);
    }
    outcome
}

/// Runs one participant to its end. With `alone` its process is its own, and
/// ends when the participant cannot.
///
/// # Errors
/// When the conductor is not there, or gone before the end.
pub fn serve(
    conductor: SocketAddr,
    name: &str,
    token: &str,
    transports: &[&'static dyn Transport],
    alone: bool,
) -> Result<()> {
    let wish = Arc::new(Wish::default());
    if alone {
        // Known from the beginning: the conductor may be gone before its first order.
        wish.keep(scratch::given());
    }
    let outcome = take_part(conductor, name, token, transports, &wish, alone);
    // Not reached, or not to the end: who was told to end has heard so.
    if outcome.is_err() && !wish.abandoned() {
        wish.lose_conductor();
    }
    wish.tidy();
    outcome
}

fn take_part(
    conductor: SocketAddr,
    name: &str,
    token: &str,
    transports: &[&'static dyn Transport],
    wish: &Arc<Wish>,
    alone: bool,
) -> Result<()> {
    let (speaker, listener) = control::split(reach(conductor)?)?;
    let about = |transport: &&'static dyn Transport| About {
        name: transport.name().into(),
        library: transport.library(),
        options: transport.options(),
        knows: transport.knows().iter().map(|name| name.to_string()).collect(),
    };
    speaker.say(&Report::Loaded(Loaded {
        version: VERSION,
        name: name.into(),
        token: token.into(),
        host: host(),
        transports: transports.iter().map(about).collect(),
    }))?;
    let mut orders = listen(listener, Arc::clone(wish), alone)?;
    let seen = Arc::new(Seen::default());
    beat(speaker.clone(), Arc::clone(&seen))?;
    let result = live(conductor, &mut orders, &speaker, wish, &seen, transports);
    // Before it waits for an order that may never come.
    wish.tidy();
    if let Err(error) = &result {
        // Heard as long as there is someone to hear.
        let _ = speaker.say(&Report::Failed(format!("{error:#}")));
        while orders.next() != Order::Quit {}
    }
    speaker.close();
    result
}

fn reach(conductor: SocketAddr) -> Result<std::net::TcpStream> {
    await_listener(conductor, REACH).with_context(|| format!("no conductor at {conductor}"))
}

/// Hears orders. Those that concern the work at hand become wishes at once.
fn listen(mut listener: Listener, wish: Arc<Wish>, alone: bool) -> Result<Orders> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("control".into()).spawn(move || {
        loop {
            match listener.hear() {
                Ok(Order::Beat) => continue,
                Ok(Order::Finish(sent)) => wish.finish(sent),
                Ok(Order::Halt) => wish.abandon(),
                Ok(order) => {
                    if let Order::Open(assignment) = &order {
                        // It is its own socket, which can be set.
                        let _ = listener.bear(Duration::from_nanos(assignment.alive));
                        wish.keep(assignment.topic.scratch.clone());
                    }
                    let last = order == Order::Quit;
                    if sender.send(order).is_err() || last {
                        break;
                    }
                }
                Err(_) => {
                    wish.lose_conductor();
                    break;
                }
            }
        }
        wish.abandon();
        drop(sender);
        if alone {
            thread::sleep(GRACE);
            wish.tidy();
            eprintln!("did not end in time when told to, or when the conductor was gone");
            std::process::exit(3);
        }
    })?;
    Ok(Orders { receiver, waiting: None })
}

/// Sends beats, and tells what was seen.
fn beat(speaker: Speaker, seen: Arc<Seen>) -> Result<()> {
    thread::Builder::new().name("beat".into()).spawn(move || loop {
        look_for_thieves();
        // The beat besides: it is what the conductor answers.
        let told = seen.take().map_or(Ok(()), |news| speaker.say(&Report::Progress(news)));
        if told.and_then(|()| speaker.say(&Report::Beat)).is_err() {
            return;
        }
        thread::sleep(control::BEAT);
    })?;
    Ok(())
}

/// Orders, in turn.
struct Orders {
    receiver: mpsc::Receiver<Order>,
    waiting: Option<Order>,
}

impl Orders {
    /// The next one. The end of all orders is the order to quit.
    fn next(&mut self) -> Order {
        let waiting = self.waiting.take();
        waiting.unwrap_or_else(|| self.receiver.recv().unwrap_or(Order::Quit))
    }

    /// Whether there is one.
    fn wait(&mut self) -> bool {
        if self.waiting.is_none() {
            self.waiting = match self.receiver.try_recv() {
                Ok(order) => Some(order),
                Err(mpsc::TryRecvError::Empty) => None,
                Err(mpsc::TryRecvError::Disconnected) => Some(Order::Quit),
            };
        }
        self.waiting.is_some()
    }
}

fn live(
    conductor: SocketAddr,
    orders: &mut Orders,
    speaker: &Speaker,
    wish: &Wish,
    seen: &Seen,
    transports: &[&'static dyn Transport],
) -> Result<()> {
    let assignment = match orders.next() {
        Order::Open(assignment) => assignment,
        Order::Quit => return Ok(()),
        other => bail!("the order {other:?} before 'open'"),
    };
    may_start(assignment.coding.as_ref(), conductor.ip())?;
    let transport =
        *transports
            .iter()
            .find(|transport| transport.name() == assignment.transport)
            .with_context(|| format!("this program has no transport '{}'", assignment.transport))?;
    assignment.topic.check_options(transport)?;
    // Threads of the transport's library inherit it.
    assignment.realtime.apply()?;
    match assignment.role {
        Role::Sender => send(&assignment, transport, orders, speaker, wish, seen),
        Role::Receiver => receive(&assignment, transport, orders, speaker, wish, seen),
    }
}

/// The peers, once they are told; none to quit.
fn peers(orders: &mut Orders, wish: &Wish) -> Result<Option<Peers>> {
    match orders.next() {
        Order::Connect(peers) => {
            wish.begin(peers.master.epoch);
            Ok(Some(peers))
        }
        Order::Quit => Ok(None),
        other => bail!("the order {other:?} instead of 'connect'"),
    }
}

/// Waits for the start; false to quit.
fn started(orders: &mut Orders) -> Result<bool> {
    match orders.next() {
        Order::Start => Ok(true),
        Order::Quit => Ok(false),
        other => bail!("the order {other:?} instead of 'start'"),
    }
}

/// Tells what was kept, as often as it is asked, until it is to end.
fn tell(kept: &Kept, orders: &mut Orders, speaker: &Speaker) -> Result<()> {
    loop {
        match orders.next() {
            Order::Tell(first) => speaker.say(&Report::Kept(kept.piece(first)))?,
            Order::Quit => return Ok(()),
            _ => {}
        }
    }
}

/// Says what came of a run, and tells what was kept of it, even where it failed.
fn conclude(
    outcome: Result<Outcome>,
    kept: &Kept,
    orders: &mut Orders,
    speaker: &Speaker,
) -> Result<()> {
    speaker.say(&match &outcome {
        Ok(outcome) => Report::Stopped(Box::new(outcome.clone())),
        Err(error) => Report::Failed(format!("{error:#}")),
    })?;
    tell(kept, orders, speaker)?;
    outcome.map(drop)
}

/// Says what went wrong while all is still open: the others would notice that
/// it closes, and say so first.
fn fail<T>(error: anyhow::Error, orders: &mut Orders, speaker: &Speaker) -> Result<T> {
    speaker.say(&Report::Failed(format!("{error:#}")))?;
    while orders.next() != Order::Quit {}
    Err(error)
}

fn send(
    assignment: &Assignment,
    transport: &dyn Transport,
    orders: &mut Orders,
    speaker: &Speaker,
    wish: &Wish,
    seen: &Seen,
) -> Result<()> {
    let mut codec = codec(assignment)?;
    let (mut start, mut record) = (None, Record::new(assignment.keep)?);
    let server = TimeServer::start(assignment.topic.bind, &assignment.topic.token)?;
    let mut announcer = Announcer::open(assignment.topic.bind, &assignment.topic.token)?;
    let epoch = monotonic();
    let master = Master { clock: server.address, steps: announcer.address()?, epoch };
    let (back, endpoint) = match assignment.round_trips {
        0 => (None, String::new()),
        _ => {
            let (back, endpoint) = transport.reader(&assignment.topic.back(transport))?;
            (Some(back), endpoint)
        }
    };
    speaker.say(&Report::Initialized(Opened { endpoint, master: Some(master) }))?;
    let Some(peers) = peers(orders, wish)? else { return Ok(()) };
    let clock = Clock::new(epoch);
    let mut writer = transport.writer(&assignment.topic, &peers.endpoints)?;
    find(writer.as_mut(), assignment.topic.readers, wish)?;
    if assignment.mode == Mode::Discrete {
        match answers(assignment, transport) {
            true => announcer.adopt(writer.answers()?)?,
            false => announcer.gather(assignment.topic.readers, DISCOVERY)?,
        }
    }
    speaker.say(&Report::Ready)?;
    if let Some(mut back) = back {
        match orders.next() {
            Order::Ping => {}
            Order::Quit => return Ok(()),
            other => bail!("the order {other:?} instead of 'ping'"),
        }
        let message = codec.as_ref().map(|codec| codec.encoded.as_slice());
        let pinged = echo::ping(assignment, writer.as_mut(), back.as_mut(), message, &clock, wish)
            .or_else(|error| fail(error, orders, speaker))?;
        // Who still sends a sample back that nobody waits for must not wait.
        drop(back);
        speaker.say(&Report::Pinged(pinged))?;
    }
    if !started(orders)? {
        return Ok(());
    }
    speaker.say(&Report::Running)?;
    let (writer, codec) = (writer.as_mut(), codec.as_mut());
    let duty = Duty { assignment, clock: &clock, wish, seen };
    let sent = sender::run(&duty, writer, &mut announcer, codec, &mut start, &mut record);
    // The writer stays until all has arrived.
    conclude(sent.map(Outcome::Sent), &Kept::Sent { start, record }, orders, speaker)
}

/// Whether steps are acknowledged over the samples' own connection. Where they
/// are announced by themselves, announcements have a connection anyway.
fn answers(assignment: &Assignment, transport: &dyn Transport) -> bool {
    transport.answers() && !assignment.announced
}

/// Whether a conductor at this address may have a codec's program started.
fn may_start(coding: Option<&Coding>, conductor: IpAddr) -> Result<()> {
    ensure!(
        coding.is_none() || conductor.is_loopback(),
        "a codec's program is started for a conductor on this machine only, not for {conductor}"
    );
    Ok(())
}

/// The codec of an assignment, with its message.
fn codec(assignment: &Assignment) -> Result<Option<CodecProcess>> {
    let Some(coding) = &assignment.coding else { return Ok(None) };
    let codec = CodecProcess::start(coding)?;
    let (size, wanted) = (HEADER + codec.encoded.len(), assignment.topic.size);
    ensure!(size == wanted, "the codec writes {size} B this time, and {wanted} B the time before");
    Ok(Some(codec))
}

/// Waits until a writer knows of so many readers.
fn find(writer: &mut dyn Writer, wanted: usize, wish: &Wish) -> Result<()> {
    let deadline = Instant::now() + DISCOVERY;
    loop {
        let found = writer.readers()?;
        if found >= wanted || wish.abandoned() {
            return Ok(());
        }
        let seconds = DISCOVERY.as_secs();
        ensure!(Instant::now() < deadline, "found {found} of {wanted} readers in {seconds} s");
        thread::sleep(Duration::from_millis(5));
    }
}

fn receive(
    assignment: &Assignment,
    transport: &dyn Transport,
    orders: &mut Orders,
    speaker: &Speaker,
    wish: &Wish,
    seen: &Seen,
) -> Result<()> {
    let mut codec = codec(assignment)?;
    let mut record = Record::new(assignment.keep)?;
    let wake_up = match codec {
        Some(_) => wake_up::measure(assignment.cycle)?,
        None => Distribution::default(),
    };
    let (mut reader, endpoint): (Box<dyn Reader>, String) = transport.reader(&assignment.topic)?;
    speaker.say(&Report::Initialized(Opened { endpoint, master: None }))?;
    let Some(peers) = peers(orders, wish)? else { return Ok(()) };
    let clock = Clock::new(peers.master.epoch);
    let follower =
        Follower::start(&clock, peers.master.clock, &assignment.topic.token, peers.shared)?;
    let mut steps = match assignment.mode {
        Mode::Discrete if !answers(assignment, transport) => {
            Some(Steps::follow(peers.master.steps, &assignment.topic.token)?)
        }
        _ => None,
    };
    let mut back: Option<Box<dyn Writer>> = None;
    if let Some(endpoint) = peers.back {
        let writer = back.insert(transport.writer(&assignment.topic.back(transport), &[endpoint])?);
        find(writer.as_mut(), 1, wish)?;
    }
    speaker.say(&Report::Ready)?;
    if assignment.round_trips > 0 {
        let mut writer = back.take();
        let writer = writer.as_mut().map(|writer| writer.as_mut() as &mut dyn Writer);
        echo::echo(reader.as_mut(), writer, &mut || orders.wait())
            .or_else(|error| fail(error, orders, speaker))?;
    }
    if !started(orders)? {
        return Ok(());
    }
    speaker.say(&Report::Running)?;
    if assignment.mode == Mode::Discrete && steps.is_none() {
        steps = reader.way_back()?.map(Steps::over);
    }
    let (reader, steps, codec) = (reader.as_mut(), steps.as_mut(), codec.as_mut());
    let duty = Duty { assignment, clock: &clock, wish, seen };
    let received = receiver::run(&duty, reader, steps, codec, &mut record);
    let alignment = follower.finish();
    let received = received.map(|received| Received { alignment, wake_up, ..received });
    conclude(received.map(Outcome::Received), &Kept::Received(record), orders, speaker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_machine_has_a_program_started() {
        let none = std::path::PathBuf::new;
        let (program, schema, message) = (none(), none(), none());
        let coding = Coding { program, arguments: Vec::new(), schema, message };
        let (here, there) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([192, 0, 2, 1]));
        may_start(Some(&coding), here).unwrap();
        may_start(None, there).unwrap();
        let error = may_start(Some(&coding), there).unwrap_err().to_string();
        assert!(error.contains("192.0.2.1"), "{error}");
    }
}
