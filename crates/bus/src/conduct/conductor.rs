//! Conducts the participants of one run: starts them, leads them through
//! their life cycle, and breaks off when one is lost.

use std::collections::HashMap;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use wiregauge_participant::control::{
    self, Assignment, ConnectionClosed, ControlSender, Loaded, Master, Opened, Order,
    ParticipantResult, Peers, ReceiverResult, Report, Role, SenderResult, TransportInfo,
    HEARTBEAT_INTERVAL, PROTOCOL_VERSION,
};
use wiregauge_participant::discovery::REPORT_TIMEOUT;
use wiregauge_participant::progress::Progress;
use wiregauge_participant::sample::loss_timeout;
use wiregauge_participant::token::constant_time_eq;
use wiregauge_participant::transport::Topic;
use wiregauge_system::interrupt::{self, Interrupted};

use crate::background::Background;
use crate::catalogue::program::Program;
use crate::conduct::background::{BackgroundHosts, RunningBackground};
use crate::conduct::pause_detector::PauseDetector;
use crate::conduct::samples::SampleRows;
use crate::placement::process::Process;
use crate::placement::{Placement, ProcessPlan};
use crate::record::background::BackgroundRecord;
use crate::record::senders::all_senders;
use crate::record::windows::counted_windows;
use crate::record::RunRecord;
use crate::secret;

/// How long to look for the cause when something goes wrong.
const DIAGNOSIS_TIME: Duration = Duration::from_millis(300);
/// Most who introduce themselves at the same time.
const MAX_AT_ONCE: usize = 256;
/// Longest introduction, in bytes.
const INTRODUCTION: usize = 1 << 16;
/// How long participants may take to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

mod collect;

/// How long participants may take for a step in which samples of this size are allocated, sent
/// or awaited.
fn step_time(assignment: &Assignment) -> Duration {
    REPORT_TIMEOUT + Duration::from_nanos(loss_timeout(assignment.topic.size))
}

/// A participant as it is conducted.
struct Member {
    name: String,
    role: Role,
    bind: IpAddr,
    plan: usize,
    speaker: Option<ControlSender>,
    host: String,
    about: Option<TransportInfo>,
    /// What it told until now.
    progress: Progress,
}

/// What a participant says, by its name; an error where it is lost, and how that was noticed.
type ConductorEvent = (String, Result<Heard>);

/// What is heard of a participant.
enum Heard {
    Joined(Loaded, ControlSender),
    Reported(Report),
}

/// Runs the participants of these plans with this assignment, whose role and
/// address are each participant's own.
///
/// A run that breaks off after windows that count is told as far as it went. The
/// samples that the assignment says to keep are passed on to `keep`: those of a
/// run that broke off too, as far as their participants are still there. The background
/// loads their hosts from the round trips to the end; where it is lost, there is no record, as
/// nobody knows since when.
///
/// # Errors
/// When one of them cannot do its part or is lost before that, and which and
/// why; when the user asks to stop. No process is left either way.
pub fn conduct(
    placement: &Placement,
    program: &Program,
    plans: Vec<ProcessPlan>,
    assignment: &Assignment,
    background: Background,
    show: &dyn Fn(&str),
    keep: Option<&mut dyn FnMut(&SampleRows)>,
) -> Result<RunRecord> {
    let token: Arc<str> = secret::new_token()?.into();
    let topic = Topic { token: token.to_string(), ..assignment.topic.clone() };
    let assignment = &Assignment { topic, ..assignment.clone() };
    let (events, heard) = mpsc::channel();
    let mut controls = Vec::new();
    let mut gates = Vec::new();
    for place in &placement.locations {
        let listener = place.listen()?;
        controls.push(listener.local_addr()?);
        let silence = Duration::from_nanos(assignment.alive);
        gates.push(ControlListener::open(listener, events.clone(), silence, Arc::clone(&token))?);
    }
    let standstill = PauseDetector::watch()?;
    let (members, processes) = (Vec::new(), Vec::new());
    let mut conductor = Conductor { members, processes, heard, background: None, running: false };
    let background = BackgroundHosts::new(background, placement, &plans);
    for (number, plan) in plans.into_iter().enumerate() {
        let place = &placement.locations[plan.place];
        let names: Vec<&str> = plan.participants.iter().map(|(name, _)| name.as_str()).collect();
        let control = controls[plan.place];
        let scratch = assignment.topic.scratch.as_deref();
        conductor.processes.push(place.start(program, control, &names, &token, scratch)?);
        for (name, role) in plan.participants {
            conductor.members.push(Member {
                name,
                role,
                bind: place.address(),
                plan: number,
                speaker: None,
                host: String::new(),
                about: None,
                progress: Progress::default(),
            });
        }
    }
    let outcome = conductor.conduct(assignment, gates, &background, show);
    let outcome = match outcome {
        Err(error) if !error.is::<Interrupted>() => {
            // Then what the others did says nothing of them.
            Err(match standstill.recent_pause(Duration::from_nanos(assignment.alive)) {
                Some(time) => pause_error(time),
                None => conductor.diagnose(error, program),
            })
        }
        other => other,
    };
    let background = conductor.end_background();
    if let Some(keep) = keep.filter(|_| conductor.running) {
        show("collecting samples");
        conductor.collect(outcome.is_err(), keep);
    }
    conductor.shut_down();
    match background {
        Ok(background) => {
            let record = outcome.or_else(|error| conductor.partial_record(&error).ok_or(error))?;
            Ok(RunRecord { background, ..record })
        }
        Err(lost) => Err(outcome.err().unwrap_or(lost)),
    }
}

/// That it is our own fault that participants ended.
fn pause_error(time: Duration) -> anyhow::Error {
    anyhow!(
        "wiregauge itself was paused for {:.1} s, so the participants gave up; leave it more \
         processor time, or raise --alive-within",
        time.as_secs_f64()
    )
}

/// Where participants come in. It closes when it is dropped.
struct ControlListener {
    _alive: Sender<()>,
}

impl ControlListener {
    fn open(
        listener: TcpListener,
        events: Sender<ConductorEvent>,
        silence: Duration,
        token: Arc<str>,
    ) -> Result<ControlListener> {
        listener.set_nonblocking(true)?;
        let (alive, ended) = mpsc::channel::<()>();
        thread::Builder::new().name("accept".into()).spawn(move || loop {
            match ended.recv_timeout(Duration::from_millis(5)) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => return,
            }
            while let Ok((stream, _)) = listener.accept() {
                // Of the participants and of strangers together.
                if Arc::strong_count(&token) > MAX_AT_ONCE {
                    continue;
                }
                let (events, token) = (events.clone(), Arc::clone(&token));
                let hear = move || receive_reports(stream, &events, silence, token);
                let _ = thread::Builder::new().name("hear".into()).spawn(hear);
            }
        })?;
        Ok(ControlListener { _alive: alive })
    }
}

/// Hears one participant until it is gone. Who does not introduce itself as
/// one, with the run's token, is not listened to.
fn receive_reports(
    stream: TcpStream,
    events: &Sender<ConductorEvent>,
    silence: Duration,
    token: Arc<str>,
) {
    let Ok((speaker, mut listener)) = control::split(stream) else { return };
    listener.limit_message_size(Some(INTRODUCTION));
    let Ok(Report::Loaded(loaded)) = listener.receive() else { return };
    if !constant_time_eq(loaded.token.as_bytes(), token.as_bytes())
        || listener.set_silence_limit(silence).is_err()
    {
        return;
    }
    drop(token);
    listener.limit_message_size(None);
    let name = loaded.name.clone();
    if events.send((name.clone(), Ok(Heard::Joined(loaded, speaker.clone())))).is_err() {
        return;
    }
    loop {
        let report = listener.receive();
        // Beat for beat, and from here: the conductor may be at starting many
        // others, for longer than a participant bears silence.
        if let Ok(Report::Beat) = report {
            // Who is gone is heard of by the listener.
            let _ = speaker.send(&Order::Beat);
            continue;
        }
        let last = report.is_err();
        if events.send((name.clone(), report.map(Heard::Reported))).is_err() || last {
            return;
        }
    }
}

struct Conductor {
    members: Vec<Member>,
    /// Of each process plan.
    processes: Vec<Process>,
    heard: Receiver<ConductorEvent>,
    background: Option<RunningBackground>,
    /// Whether samples may have been sent.
    running: bool,
}

impl Conductor {
    fn conduct(
        &mut self,
        assignment: &Assignment,
        gates: Vec<ControlListener>,
        background: &BackgroundHosts,
        show: &dyn Fn(&str),
    ) -> Result<RunRecord> {
        show("loading");
        self.await_participants(assignment)?;
        // Nobody looks for more while it is measured.
        drop(gates);
        show("opening");
        let mut senders = 0..;
        for member in &self.members {
            let mut own = assignment.clone();
            (own.role, own.topic.bind) = (member.role, member.bind);
            if let (Role::Sender, Some(several)) = (member.role, &mut own.topic.several) {
                several.sender = senders.next().unwrap_or(0);
            }
            member.send(&Order::Open(Box::new(own)))?;
        }
        let step_time = step_time(assignment);
        let opened = self.reports_of_all("initialize", step_time, |report| match report {
            Report::Initialized(opened) => Some(opened),
            _ => None,
        })?;
        if let Some(library) = opened.iter().find_map(|(_, opened)| opened.library.clone()) {
            let about = self.members.iter_mut().filter_map(|member| member.about.as_mut());
            about.for_each(|about| about.library.clone_from(&library));
        }
        self.connect(&opened, assignment.round_trips > 0, step_time)?;
        self.background = background.start()?;
        let mut round_trips = None;
        if assignment.round_trips > 0 {
            show("taking round trips");
            let master = self.timing_master()?;
            master.send(&Order::Ping)?;
            let master = vec![master.name.clone()];
            let pinged = |report| match report {
                Report::Pinged(pinged) => Some(pinged),
                _ => None,
            };
            let reports = self.reports(master, "take round trips", step_time, pinged)?;
            round_trips = reports.into_iter().next().map(|(_, pinged)| pinged);
        }
        show("running");
        self.running = true;
        // Receivers first, so that the first sample finds them waiting.
        let running = |report| matches!(report, Report::Running).then_some(());
        for role in [Role::Receiver, Role::Sender] {
            self.send_to_role(role, &Order::Start)?;
            self.reports_of_role(role, "start", step_time, running)?;
        }
        let stopped = |report| match report {
            Report::Stopped(outcome) => Some(*outcome),
            _ => None,
        };
        let longest = Duration::from_nanos(assignment.duration + assignment.patience) + step_time;
        let outcomes = self.reports_of_role(Role::Sender, "end", longest, stopped)?;
        let sent = outcomes.into_iter().map(|(name, outcome)| match outcome {
            ParticipantResult::Sent(sent) => Ok(sent),
            ParticipantResult::Received(_) => Err(anyhow!("{name} reported received samples")),
        });
        let sent: Vec<SenderResult> = sent.collect::<Result<_>>()?;
        show("finishing");
        let counts = sent.iter().map(|sent| sent.samples).collect();
        self.send_to_role(Role::Receiver, &Order::Finish(counts))?;
        let sent = all_senders(sent);
        let outcomes = self.reports_of_role(Role::Receiver, "end", step_time, stopped)?;
        let received = outcomes
            .into_iter()
            .map(|(name, outcome)| match outcome {
                ParticipantResult::Received(received) => Ok(received),
                ParticipantResult::Sent(_) => Err(anyhow!("{name} reported sent samples")),
            })
            .collect::<Result<_>>()?;
        let about = self.members.iter().find_map(|member| member.about.clone());
        let about = about.context("no participant has the transport")?;
        Ok(RunRecord { about, round_trips, sent, received, background: None, broken: None })
    }

    /// Ends the background: what it took, if there is one. Who asks to stop need not wait for it.
    fn end_background(&mut self) -> Result<Option<BackgroundRecord>> {
        let Some(background) = self.background.take() else { return Ok(None) };
        background.check()?;
        match background.finish() {
            Err(error) if error.is::<Interrupted>() => Ok(None),
            finished => finished.map(Some),
        }
    }

    /// What was told until it broke off; none without a window that counts.
    fn partial_record(&mut self, error: &anyhow::Error) -> Option<RunRecord> {
        // What they told meanwhile.
        while let Ok((name, heard)) = self.heard.try_recv() {
            if let Ok(Heard::Reported(Report::Progress(news))) = heard {
                self.add_progress(&name, news);
            }
        }
        let of_role = |role| self.members.iter().filter(move |member| member.role == role);
        let receivers = of_role(Role::Receiver).map(|member| &member.progress.windows);
        let received: Vec<ReceiverResult> = receivers
            .map(|windows| ReceiverResult { windows: windows.clone(), ..ReceiverResult::default() })
            .collect();
        if received.iter().any(|received| counted_windows(&received.windows).is_empty()) {
            return None;
        }
        let steps = of_role(Role::Sender).flat_map(|member| member.progress.steps.clone());
        let sent = SenderResult { steps: steps.collect(), ..SenderResult::default() };
        let about = self.members.iter().find_map(|member| member.about.clone())?;
        let broken = Some(format!("{error:#}"));
        Some(RunRecord { about, round_trips: None, sent, received, background: None, broken })
    }

    /// Waits until all participants are there.
    fn await_participants(&mut self, assignment: &Assignment) -> Result<()> {
        let deadline = Instant::now() + REPORT_TIMEOUT;
        while let Some(missing) = self.members.iter().find(|member| member.speaker.is_none()) {
            let missing = missing.name.clone();
            let Some((name, heard)) = self.next_event(deadline)? else {
                bail!("{missing} did not start")
            };
            match heard {
                Heard::Joined(loaded, speaker) => self.admit(loaded, speaker, assignment)?,
                Heard::Reported(other) => bail!("{name} sent {other:?} too early"),
            }
        }
        Ok(())
    }

    fn admit(
        &mut self,
        loaded: Loaded,
        speaker: ControlSender,
        assignment: &Assignment,
    ) -> Result<()> {
        let Loaded { version, name, host, transports, .. } = loaded;
        let member = self.members.iter_mut().find(|m| m.name == name && m.speaker.is_none());
        // Someone who is not waited for is sent away.
        let Some(member) = member else { return speaker.send(&Order::Quit) };
        ensure!(
            version == PROTOCOL_VERSION,
            "{name} uses version {version} of the protocol, but wiregauge uses {PROTOCOL_VERSION}"
        );
        let about = transports.into_iter().find(|about| about.name == assignment.transport);
        ensure!(about.is_some(), "{name} has no transport '{}'", assignment.transport);
        (member.speaker, member.host, member.about) = (Some(speaker), host, about);
        Ok(())
    }

    /// Tells everyone where the others are.
    fn connect(
        &mut self,
        opened: &[(String, Opened)],
        echo: bool,
        step_time: Duration,
    ) -> Result<()> {
        let of: HashMap<&str, &Opened> =
            opened.iter().map(|(name, opened)| (name.as_str(), opened)).collect();
        let master: Master = opened
            .iter()
            .find_map(|(_, opened)| opened.master)
            .context("no participant is the timing master")?;
        let sender = self.timing_master()?;
        let host = &sender.host;
        let endpoints: Vec<String> = self
            .members
            .iter()
            .filter(|member| member.role == Role::Receiver)
            .filter_map(|member| Some(of.get(member.name.as_str())?.endpoint.clone()))
            .collect();
        // The first receiver sends back, to the sender's own endpoint.
        let mut back = of.get(sender.name.as_str()).map(|opened| opened.endpoint.clone());
        back = back.filter(|_| echo);
        for member in &self.members {
            let shared = !host.is_empty() && member.host == *host;
            let back = if member.role == Role::Receiver { back.take() } else { None };
            let peers = Peers { endpoints: endpoints.clone(), back, master, shared };
            member.send(&Order::Connect(peers))?;
        }
        self.reports_of_all("find the others", step_time, |report| {
            matches!(report, Report::Ready).then_some(())
        })?;
        Ok(())
    }

    /// The first sender.
    fn timing_master(&self) -> Result<&Member> {
        let master = self.members.iter().find(|member| member.role == Role::Sender);
        master.context("no participant sends")
    }

    fn send_to_role(&self, role: Role, order: &Order) -> Result<()> {
        self.members.iter().filter(|member| member.role == role).try_for_each(|m| m.send(order))
    }

    fn reports_of_all<T>(
        &mut self,
        what: &str,
        patience: Duration,
        wanted: impl Fn(Report) -> Option<T>,
    ) -> Result<Vec<(String, T)>> {
        let names = self.members.iter().map(|member| member.name.clone()).collect();
        self.reports(names, what, patience, wanted)
    }

    fn reports_of_role<T>(
        &mut self,
        role: Role,
        what: &str,
        patience: Duration,
        wanted: impl Fn(Report) -> Option<T>,
    ) -> Result<Vec<(String, T)>> {
        let of_role = self.members.iter().filter(|member| member.role == role);
        let names = of_role.map(|member| member.name.clone()).collect();
        self.reports(names, what, patience, wanted)
    }

    /// One wanted report from each of these participants, in their order.
    fn reports<T>(
        &mut self,
        names: Vec<String>,
        what: &str,
        patience: Duration,
        wanted: impl Fn(Report) -> Option<T>,
    ) -> Result<Vec<(String, T)>> {
        let deadline = Instant::now() + patience;
        let mut reports: HashMap<String, T> = HashMap::new();
        while let Some(missing) = names.iter().find(|name| !reports.contains_key(*name)) {
            let Some((name, heard)) = self.next_event(deadline)? else {
                bail!("{missing} did not {what} within {patience:?}");
            };
            match heard {
                Heard::Reported(report) => {
                    let shown = format!("{report:?}");
                    let report = wanted(report).with_context(|| {
                        format!("{name} sent '{:.40}' when it should {what}", shown)
                    })?;
                    reports.insert(name, report);
                }
                Heard::Joined(_, speaker) => speaker.send(&Order::Quit)?,
            }
        }
        Ok(names
            .into_iter()
            .filter_map(|name| reports.remove(&name).map(|report| (name, report)))
            .collect())
    }

    fn add_progress(&mut self, name: &str, news: Progress) {
        if let Some(member) = self.members.iter_mut().find(|member| member.name == name) {
            member.progress.add(news);
        }
    }

    /// What is heard next, but for progress; none until the deadline. Beats go out meanwhile.
    ///
    /// # Errors
    /// When a participant has failed or is lost, or the user asks to stop.
    fn next_event(&mut self, deadline: Instant) -> Result<Option<(String, Heard)>> {
        loop {
            interrupt::check()?;
            // What has come is heard after the deadline too, so that a pause of ours is no loss.
            let left = deadline.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left.min(HEARTBEAT_INTERVAL / 2)) {
                Ok((name, heard)) => match heard.with_context(|| format!("{name} is lost"))? {
                    Heard::Reported(Report::Progress(news)) => self.add_progress(&name, news),
                    Heard::Reported(Report::Failed(reason)) => bail!("{name}: {reason}"),
                    other => return Ok(Some((name, other))),
                },
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("the conductor's listener ended"),
            }
            self.check_processes()?;
        }
    }

    /// A process that ends before its participants have come up is not heard of
    /// otherwise, nor a machine that is silent while its participants are not, nor a
    /// background that has ended.
    fn check_processes(&self) -> Result<()> {
        self.background.as_ref().map_or(Ok(()), RunningBackground::check)?;
        for member in &self.members {
            let process = &self.processes[member.plan];
            let up = member.speaker.is_some();
            ensure!(up || !process.has_ended(), "{} did not start", member.name);
            ensure!(!process.is_out_of_reach(), "{} is lost", member.name);
        }
        Ok(())
    }

    /// Why it went wrong: what a process died of says more than what the others
    /// noticed of it.
    fn diagnose(&mut self, error: anyhow::Error, program: &Program) -> anyhow::Error {
        // Whose connection is closed is ending, which takes its time on a loaded machine.
        let is_ending = error.is::<ConnectionClosed>();
        let limit = if is_ending { SHUTDOWN_TIMEOUT } else { DIAGNOSIS_TIME };
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            for (plan, process) in self.processes.iter_mut().enumerate() {
                if !process.has_ended() {
                    continue;
                }
                let names: Vec<&str> = self
                    .members
                    .iter()
                    .filter(|member| member.plan == plan)
                    .map(|member| member.name.as_str())
                    .collect();
                let names = names.join(" and ");
                return match process.death(Instant::now() + SHUTDOWN_TIMEOUT) {
                    Some(death) => anyhow!("{names} is lost: {death}{}", program.advice(&death)),
                    None => error.context(format!("{names} is lost")),
                };
            }
            thread::sleep(Duration::from_millis(10));
        }
        error
    }

    /// Tells all to end, and sees to it.
    fn shut_down(&mut self) {
        for member in &self.members {
            // Who is gone needs not be told.
            let _ = member.send(&Order::Quit);
        }
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        for process in self.processes.drain(..) {
            // Killed if it does not end by itself.
            process.finish(deadline);
        }
    }
}

impl Member {
    fn send(&self, order: &Order) -> Result<()> {
        let speaker = self.speaker.as_ref().with_context(|| format!("{} is lost", self.name))?;
        speaker.send(order).with_context(|| format!("{} is lost", self.name))
    }
}
