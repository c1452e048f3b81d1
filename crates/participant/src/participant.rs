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

use crate::clock_alignment::{ClockFollower, TimeServer};
use crate::codec_process::{CodecProcess, CodecSetup};
use crate::connect::await_listener;
use crate::control::{
    self, Assignment, ControlReceiver, ControlSender, Loaded, Master, Mode, Opened, Order,
    ParticipantResult, Peers, ReceiverResult, Report, Role, SenderResult, TransportInfo,
    PROTOCOL_VERSION, STARTING_SILENCE_LIMIT,
};
use crate::discovery::{find_readers, DISCOVERY_TIMEOUT};
use crate::lockstep::{StepAnnouncer, StepReceiver};
use crate::progress::ProgressBuffer;
use crate::run_context::{RunContext, RunControl};
use crate::sample::HEADER_SIZE;
use crate::sample_times::{RecordedTimes, SampleTimes};
use crate::sender::{self, Steps};
use crate::stderr::print_line;
use crate::token;
use crate::transport::{Reader, Transport, Writer, CODEC, IN_PLACE};
use crate::{echo, receiver, stage, stream, wake_up};
use wiregauge_timing::clock::{monotonic, Clock};
use wiregauge_timing::latency::Distribution;
use wiregauge_timing::scratch;
use wiregauge_timing::threads::start_thread;
use wiregauge_timing::usage::{host_id, read_steal_time};

/// How long a participant may take to end before its program ends itself.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to try to reach the conductor.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A program with these transports: `--control ADDRESS --name NAME …`. More
/// than one name makes a participant of each, as threads of one process. With
/// `--stream` it carries the messages of a trace instead, with `--stage` it runs stages of
/// a chain.
pub fn main(transports: Vec<&'static dyn Transport>) -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == "--stream").is_some() {
        return stream::serve(&transports);
    }
    if words.next_if(|word| word == "--stage").is_some() {
        return stage::serve(&transports);
    }
    let (mut address, mut names) = (None, Vec::new());
    while let Some(word) = words.next() {
        match (word.as_str(), words.next()) {
            ("--control", Some(value)) => address = value.parse().ok(),
            ("--name", Some(value)) => names.push(value),
            _ => {
                print_line(format_args!("unknown argument '{word}'"));
                return ExitCode::from(2);
            }
        }
    }
    let Some(address) = address.filter(|_| !names.is_empty()) else {
        print_line("a participant needs --control ADDRESS and --name NAME");
        return ExitCode::from(2);
    };
    match run_in_threads(address, &names, &transports) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_line(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs participants to their end, each in a thread, in a process of their own.
///
/// # Errors
/// The first that one of them met.
pub fn run_in_threads(
    conductor: SocketAddr,
    names: &[String],
    transports: &[&'static dyn Transport],
) -> Result<()> {
    let token = std::env::var(token::ENV_VAR).unwrap_or_default();
    let threads: Vec<_> = names
        .iter()
        .map(|name| {
            let (name, token, transports) = (name.clone(), token.clone(), transports.to_vec());
            let run = move || serve(conductor, &name, &token, &transports, true);
            start_thread("participant", run)
        })
        .collect::<Result<_>>()?;
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
    let wish = Arc::new(RunControl::default());
    if alone {
        // Known from the beginning: the conductor may be gone before its first order.
        wish.set_scratch(scratch::from_environment());
    }
    let outcome = run_participant(conductor, name, token, transports, &wish, alone);
    // Not reached, or not to the end: who was told to end has heard so.
    if let (Err(error), false) = (&outcome, wish.is_aborted()) {
        wish.mark_conductor_lost(format!("{error:#}"));
    }
    wish.remove_scratch();
    match wish.conductor_loss() {
        Some(reason) if outcome.is_ok() => bail!("the conductor is lost: {reason}"),
        _ => outcome,
    }
}

fn run_participant(
    conductor: SocketAddr,
    name: &str,
    token: &str,
    transports: &[&'static dyn Transport],
    wish: &Arc<RunControl>,
    alone: bool,
) -> Result<()> {
    let (speaker, mut listener) = control::split(connect_to_conductor(conductor)?)?;
    let about = |transport: &&'static dyn Transport| TransportInfo {
        name: transport.name().into(),
        library: transport.library(),
        options: transport.options(),
        knows: transport.option_names().iter().map(|name| name.to_string()).collect(),
    };
    speaker.send(&Report::Loaded(Loaded {
        version: PROTOCOL_VERSION,
        name: name.into(),
        token: token.into(),
        host: host_id(),
        transports: transports.iter().map(about).collect(),
    }))?;
    listener.set_silence_limit(STARTING_SILENCE_LIMIT)?;
    let mut orders = receive_orders(listener, Arc::clone(wish), alone)?;
    let seen = Arc::new(ProgressBuffer::default());
    send_heartbeats(speaker.clone(), Arc::clone(&seen))?;
    let result = run_assignment(conductor, &mut orders, &speaker, wish, &seen, transports);
    // Before it waits for an order that may never come.
    wish.remove_scratch();
    if let Err(error) = &result {
        // Heard as long as there is someone to hear.
        let _ = speaker.send(&Report::Failed(format!("{error:#}")));
        while orders.next() != Order::Quit {}
    }
    speaker.close();
    result
}

fn connect_to_conductor(conductor: SocketAddr) -> Result<std::net::TcpStream> {
    await_listener(conductor, CONNECT_TIMEOUT)
        .with_context(|| format!("no conductor at {conductor}"))
}

/// Hears orders. Those that concern the work at hand become wishes at once.
fn receive_orders(
    mut listener: ControlReceiver,
    wish: Arc<RunControl>,
    alone: bool,
) -> Result<Orders> {
    let (sender, receiver) = mpsc::channel();
    start_thread("control", move || {
        loop {
            match listener.receive() {
                Ok(Order::Beat) => continue,
                Ok(Order::Finish(sent)) => wish.set_sent_counts(sent),
                Ok(Order::Halt) => wish.abort(),
                Ok(order) => {
                    if let Order::Open(assignment) = &order {
                        // It is its own socket, which can be set.
                        let _ = listener.set_silence_limit(Duration::from_nanos(assignment.alive));
                        wish.set_scratch(assignment.topic.scratch.clone());
                    }
                    let last = order == Order::Quit;
                    if sender.send(order).is_err() || last {
                        break;
                    }
                }
                Err(error) => {
                    wish.mark_conductor_lost(format!("{error:#}"));
                    break;
                }
            }
        }
        wish.abort();
        drop(sender);
        if alone {
            thread::sleep(EXIT_TIMEOUT);
            wish.remove_scratch();
            print_line("did not end in time after the order to quit or after the conductor ended");
            std::process::exit(3);
        }
    })?;
    Ok(Orders { receiver, waiting: None })
}

/// Sends beats, and tells what was seen.
fn send_heartbeats(speaker: ControlSender, seen: Arc<ProgressBuffer>) -> Result<()> {
    start_thread("beat", move || loop {
        read_steal_time();
        // The beat besides: it is what the conductor answers.
        let told = seen.take().map_or(Ok(()), |news| speaker.send(&Report::Progress(news)));
        if told.and_then(|()| speaker.send(&Report::Beat)).is_err() {
            return;
        }
        thread::sleep(control::HEARTBEAT_INTERVAL);
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

fn run_assignment(
    conductor: SocketAddr,
    orders: &mut Orders,
    speaker: &ControlSender,
    wish: &RunControl,
    seen: &ProgressBuffer,
    transports: &[&'static dyn Transport],
) -> Result<()> {
    let mut assignment = match orders.next() {
        Order::Open(assignment) => assignment,
        Order::Quit => return Ok(()),
        other => bail!("got the order {other:?} before 'open'"),
    };
    check_codec_allowed(assignment.coding.as_ref(), conductor.ip())?;
    let transport =
        *transports
            .iter()
            .find(|transport| transport.name() == assignment.transport)
            .with_context(|| format!("this program has no transport '{}'", assignment.transport))?;
    assignment.topic.check_options(transport)?;
    ensure!(
        assignment.topic.several.is_none() || transport.carries_several(),
        "{} is measured with one sender and one topic only",
        transport.name()
    );
    // Threads of the transport's library inherit it.
    assignment.realtime.apply()?;
    let codec = start_codec(&mut assignment)?;
    match assignment.role {
        Role::Sender => run_sender(&assignment, transport, codec, orders, speaker, wish, seen),
        Role::Receiver => run_receiver(&assignment, transport, codec, orders, speaker, wish, seen),
    }
}

/// The peers, once they are told; none to quit.
fn await_peers(orders: &mut Orders) -> Result<Option<Peers>> {
    match orders.next() {
        Order::Connect(peers) => Ok(Some(peers)),
        Order::Quit => Ok(None),
        other => bail!("got the order {other:?} instead of 'connect'"),
    }
}

/// Waits for the start; false to quit.
fn await_start(orders: &mut Orders) -> Result<bool> {
    match orders.next() {
        Order::Start => Ok(true),
        Order::Quit => Ok(false),
        other => bail!("got the order {other:?} instead of 'start'"),
    }
}

/// Tells what was kept, as often as it is asked, until it is to end.
fn send_recorded_times(
    kept: &RecordedTimes,
    orders: &mut Orders,
    speaker: &ControlSender,
) -> Result<()> {
    loop {
        match orders.next() {
            Order::Tell(first) => speaker.send(&Report::Kept(kept.chunk(first)))?,
            Order::Quit => return Ok(()),
            _ => {}
        }
    }
}

/// Says what came of a run, and tells what was kept of it, even where it failed.
fn report_result(
    outcome: Result<ParticipantResult>,
    kept: &RecordedTimes,
    orders: &mut Orders,
    speaker: &ControlSender,
) -> Result<()> {
    speaker.send(&match &outcome {
        Ok(outcome) => Report::Stopped(Box::new(outcome.clone())),
        Err(error) => Report::Failed(format!("{error:#}")),
    })?;
    send_recorded_times(kept, orders, speaker)?;
    outcome.map(drop)
}

/// Says what went wrong while all is still open: the others would notice that
/// it closes, and say so first.
fn report_failure<T>(
    error: anyhow::Error,
    orders: &mut Orders,
    speaker: &ControlSender,
) -> Result<T> {
    speaker.send(&Report::Failed(format!("{error:#}")))?;
    while orders.next() != Order::Quit {}
    Err(error)
}

fn run_sender(
    assignment: &Assignment,
    transport: &dyn Transport,
    mut codec: Option<CodecProcess>,
    orders: &mut Orders,
    speaker: &ControlSender,
    wish: &RunControl,
    seen: &ProgressBuffer,
) -> Result<()> {
    let (mut start, mut record) = (None, SampleTimes::new(assignment.keep)?);
    // The first is the timing master.
    let leads = assignment.topic.sender() == 0;
    let (bind, token) = (assignment.topic.bind, &*assignment.topic.token);
    let (mut master, mut server, mut announcer) = (None, None, None);
    if leads {
        let clock = server.insert(TimeServer::start(bind, token)?).address;
        let steps = announcer.insert(StepAnnouncer::open(bind, token)?).address()?;
        master = Some(Master { clock, steps, epoch: monotonic() });
    }
    let (back, endpoint) = match assignment.round_trips {
        _ if !leads => (None, String::new()),
        0 => (None, String::new()),
        _ => {
            let (back, endpoint) = transport.reader(&assignment.topic.return_topic(transport))?;
            (Some(back), endpoint)
        }
    };
    let opened = Opened { endpoint, master, library: None };
    speaker.send(&Report::Initialized(opened))?;
    let Some(peers) = await_peers(orders)? else { return Ok(()) };
    let clock = Clock::new(peers.master.epoch);
    // One on another machine stamps its samples with the master's time, too.
    let follower = match leads || peers.shared {
        true => None,
        false => Some(ClockFollower::start(&clock, peers.master.clock, token, false)?),
    };
    let mut writer = transport.writer(&assignment.topic, &peers.endpoints)?;
    let deadline = Instant::now() + DISCOVERY_TIMEOUT;
    await_readers(writer.as_mut(), assignment.topic.readers, deadline, wish)?;
    let mut steps = match (assignment.mode, announcer) {
        (Mode::Continuous, _) => Steps::None,
        (Mode::Discrete, None) => {
            Steps::Follows(StepReceiver::follow(peers.master.steps, token, true)?)
        }
        (Mode::Discrete, Some(mut announcer)) => {
            if acknowledges_in_band(assignment, transport) {
                announcer.use_connections(writer.answer_connections()?)?;
            }
            let followers = assignment.topic.readers + assignment.topic.senders() - 1;
            let left = deadline.saturating_duration_since(Instant::now());
            announcer.await_followers(followers, left)?;
            Steps::Announces(announcer)
        }
    };
    speaker.send(&Report::Ready)?;
    if let Some(mut back) = back {
        match orders.next() {
            Order::Ping => {}
            Order::Quit => return Ok(()),
            other => bail!("got the order {other:?} instead of 'ping'"),
        }
        let message = codec.as_ref().map(CodecProcess::message);
        let pinged = echo::ping(assignment, writer.as_mut(), back.as_mut(), message, &clock, wish)
            .or_else(|error| report_failure(error, orders, speaker))?;
        // Who still sends a sample back that nobody waits for must not wait.
        drop(back);
        speaker.send(&Report::Pinged(pinged))?;
    }
    if !await_start(orders)? {
        return Ok(());
    }
    speaker.send(&Report::Running)?;
    let (writer, codec) = (writer.as_mut(), codec.as_mut());
    let duty = RunContext { assignment, clock: &clock, wish, seen };
    let sent = sender::run(&duty, writer, &mut steps, codec, &mut start, &mut record);
    let clocks = follower.map(ClockFollower::finish).into_iter().collect();
    let sent = sent.map(|sent| SenderResult { clocks, ..sent });
    // The writer stays until all has arrived.
    report_result(
        sent.map(ParticipantResult::Sent),
        &RecordedTimes::Sent { start, record },
        orders,
        speaker,
    )
}

/// Whether steps are acknowledged over the samples' own connection. Where they
/// are announced by themselves, announcements have a connection anyway; and of several senders
/// only one announces them.
fn acknowledges_in_band(assignment: &Assignment, transport: &dyn Transport) -> bool {
    transport.acknowledges_in_band() && !assignment.announced && assignment.topic.senders() == 1
}

/// Whether a conductor at this address may have a codec's program started.
fn check_codec_allowed(coding: Option<&CodecSetup>, conductor: IpAddr) -> Result<()> {
    ensure!(
        coding.is_none() || conductor.is_loopback(),
        "a codec's program is started for a conductor on this machine only, not for {conductor}"
    );
    Ok(())
}

/// The codec of an assignment, with its message. Where it is in place, samples have the size that
/// it wants.
fn start_codec(assignment: &mut Assignment) -> Result<Option<CodecProcess>> {
    let in_place = assignment.topic.has_codec_in_place()?;
    let Some(coding) = &assignment.coding else {
        ensure!(!in_place, "{CODEC}={IN_PLACE} is for codecs: name a message by --message");
        return Ok(None);
    };
    let mut codec = CodecProcess::start(coding)?;
    let (size, wanted) = (HEADER_SIZE + codec.encoded.len(), assignment.topic.size);
    ensure!(size == wanted, "the codec wrote {size} B this time, but {wanted} B the time before");
    if in_place {
        assignment.topic.size = codec.go_in_place(coding)?;
    }
    Ok(Some(codec))
}

/// Waits until a writer knows of so many readers.
fn await_readers(
    writer: &mut dyn Writer,
    wanted: usize,
    deadline: Instant,
    wish: &RunControl,
) -> Result<()> {
    let found = find_readers(writer, wanted, deadline, || wish.is_aborted())?;
    ensure!(
        found >= wanted || wish.is_aborted(),
        "found {found} of {wanted} readers in {DISCOVERY_TIMEOUT:?}"
    );
    Ok(())
}

fn run_receiver(
    assignment: &Assignment,
    transport: &dyn Transport,
    mut codec: Option<CodecProcess>,
    orders: &mut Orders,
    speaker: &ControlSender,
    wish: &RunControl,
    seen: &ProgressBuffer,
) -> Result<()> {
    let mut record = SampleTimes::new(assignment.keep)?;
    let wake_up = match codec {
        Some(_) => wake_up::measure(assignment.cycle)?,
        None => Distribution::default(),
    };
    let (mut reader, endpoint): (Box<dyn Reader>, String) = transport.reader(&assignment.topic)?;
    let opened = Opened { endpoint, master: None, library: Some(transport.library()) };
    speaker.send(&Report::Initialized(opened))?;
    let Some(peers) = await_peers(orders)? else { return Ok(()) };
    let clock = Clock::new(peers.master.epoch);
    let follower =
        ClockFollower::start(&clock, peers.master.clock, &assignment.topic.token, peers.shared)?;
    let mut steps = match assignment.mode {
        Mode::Discrete if !acknowledges_in_band(assignment, transport) => {
            let token = &assignment.topic.token;
            Some(StepReceiver::follow(peers.master.steps, token, assignment.announced)?)
        }
        _ => None,
    };
    let mut back: Option<Box<dyn Writer>> = None;
    if let Some(endpoint) = peers.back {
        let writer =
            back.insert(transport.writer(&assignment.topic.return_topic(transport), &[endpoint])?);
        await_readers(writer.as_mut(), 1, Instant::now() + DISCOVERY_TIMEOUT, wish)?;
    }
    speaker.send(&Report::Ready)?;
    if assignment.round_trips > 0 {
        let mut writer = back.take();
        let writer = writer.as_mut().map(|writer| writer.as_mut() as &mut dyn Writer);
        echo::echo(reader.as_mut(), writer, &mut || orders.wait())
            .or_else(|error| report_failure(error, orders, speaker))?;
    }
    if !await_start(orders)? {
        return Ok(());
    }
    // Senders begin when all have said so.
    let begun = clock.now();
    speaker.send(&Report::Running)?;
    if assignment.mode == Mode::Discrete && steps.is_none() {
        steps = reader.answer_connection()?.map(StepReceiver::with_connection);
    }
    let (reader, steps, codec) = (reader.as_mut(), steps.as_mut(), codec.as_mut());
    let duty = RunContext { assignment, clock: &clock, wish, seen };
    let received = receiver::run(&duty, begun, reader, steps, codec, &mut record);
    let alignment = follower.finish();
    let received = received.map(|received| ReceiverResult { alignment, wake_up, ..received });
    report_result(
        received.map(ParticipantResult::Received),
        &RecordedTimes::Received(record),
        orders,
        speaker,
    )
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn why_the_conductor_is_lost_is_said() {
        let conductor = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = conductor.local_addr().unwrap();
        let participant = thread::spawn(move || serve(address, "receiver", "", &[], false));
        let (stream, _) = conductor.accept().unwrap();
        let mut introduction = String::new();
        BufReader::new(&stream).read_line(&mut introduction).unwrap();
        assert!(introduction.contains("receiver"), "{introduction}");
        drop(stream);
        let error = participant.join().unwrap().unwrap_err().to_string();
        assert!(error.starts_with("the conductor is lost: "), "{error}");
    }

    #[test]
    fn no_other_machine_has_a_program_started() {
        let none = std::path::PathBuf::new;
        let (program, schema, message) = (none(), none(), none());
        let coding = CodecSetup { program, arguments: Vec::new(), schema, message };
        let (here, there) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([192, 0, 2, 1]));
        check_codec_allowed(Some(&coding), here).unwrap();
        check_codec_allowed(None, there).unwrap();
        let error = check_codec_allowed(Some(&coding), there).unwrap_err().to_string();
        assert!(error.contains("192.0.2.1"), "{error}");
    }
}
