//! Stages of a chain: each takes the newest sample of the stage before it, has it decoded,
//! works, has its own message encoded and sends it. The stages of a program are threads. Who
//! started the program leads it over standard input and output ([`setup`]), or names another
//! machine that leads it over TCP; it ends with either.

pub mod input;
pub mod setup;
pub mod worker;

use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};

use self::setup::{
    CodecSource, ProgramSetup, StageCounts, StageLead, StageOrder, StageReport, StageStart,
};
use self::worker::{Stage, StageEvent, StageRecord};
use crate::control::PROTOCOL_VERSION;
use crate::stderr::print_line;
use crate::stream::parent_process::ParentProcess;
use crate::tcp::Tcp;
use crate::transport::Transport;
use wiregauge_timing::clock::monotonic;
use wiregauge_timing::threads::start_thread;
use wiregauge_timing::usage::host_id;

/// How long the program waits for its stages until it looks whether it is still wanted.
const SLICE: Duration = Duration::from_millis(50);

/// Runs the stages that who started this program names, over these transports and raw TCP.
pub fn serve(transports: &[&'static dyn Transport]) -> ExitCode {
    let mut all = transports.to_vec();
    if !all.iter().any(|transport| transport.name() == Tcp.name()) {
        all.push(&Tcp);
    }
    let outcome = begin().and_then(|(mut parent, setup)| {
        let ran = run_stages(&mut parent, setup, &all);
        if let Err(error) = &ran {
            // Heard as long as there is someone to hear.
            let _ = parent.send_report(&StageReport::Failed(format!("{error:#}")));
        }
        ran
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // For who started it, where that is not who leads.
            print_line(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Who leads, and which stages it wants.
fn begin() -> Result<(ParentProcess, ProgramSetup)> {
    let mut parent = ParentProcess::open()?;
    let start = parent.read_message()?;
    parent.watch()?;
    let StageStart::Led(StageLead { leader, token, host }) = start else {
        let StageStart::Here(setup) = start else { bail!("no setup") };
        return Ok((parent, setup));
    };
    let mut parent = parent.connect(leader, &token)?;
    let mut setup: ProgramSetup = parent.read_message()?;
    parent.watch()?;
    let links = setup.stages.iter_mut().flat_map(|stage| [&mut stage.input, &mut stage.output]);
    for link in links.flatten() {
        link.topic.scratch = Some(host.scratch.clone());
        // Whoever leads starts no other programs on this machine than this one's own.
        let CodecSource::Named(name) = &link.codec else { bail!("a codec of another machine") };
        let own = host.codecs.get(name);
        let own = own.with_context(|| format!("this machine has no {name}"))?;
        link.codec = CodecSource::Setup(own.clone());
    }
    Ok((parent, setup))
}

fn run_stages(
    parent: &mut ParentProcess,
    setup: ProgramSetup,
    transports: &[&'static dyn Transport],
) -> Result<()> {
    let own = PROTOCOL_VERSION;
    ensure!(setup.version == own, "the setup has version {}, not {own}", setup.version);
    let count = setup.stages.len();
    let (events, heard) = mpsc::channel();
    let (mut threads, mut orders) = (Vec::new(), Vec::new());
    for (place, stage) in setup.stages.into_iter().enumerate() {
        let (order, ordered) = mpsc::channel();
        let stage = Stage::new(place, stage, transports, events.clone(), ordered)?;
        threads.push(start_thread("stage", move || stage.run())?);
        orders.push(order);
    }
    let mut events = Events { heard, parent };
    let opened = events.of_all(count, |event| match event {
        StageEvent::Opened(place, endpoint) => Ok((place, endpoint)),
        other => Err(other),
    })?;
    events.parent.send_report(&StageReport::Opened { host: host_id(), endpoints: opened })?;
    let StageOrder::Connect(endpoints) = events.parent.read_message()? else {
        bail!("an order came too early");
    };
    ensure!(endpoints.len() == count, "it has {count} stages");
    for (order, endpoint) in orders.iter().zip(endpoints) {
        // A stage that is gone has said why.
        let _ = order.send(StageOrder::Connect(vec![endpoint]));
    }
    events.of_all(count, |event| match event {
        StageEvent::Ready(place) => Ok((place, ())),
        other => Err(other),
    })?;
    events.parent.send_report(&StageReport::Ready)?;
    let schedule = loop {
        match events.parent.read_message()? {
            StageOrder::TellTime => tell_time(events.parent)?,
            StageOrder::Start(schedule) => break schedule,
            StageOrder::Connect(_) => bail!("an order came too early"),
        }
    };
    for order in &orders {
        let _ = order.send(StageOrder::Start(schedule.clone()));
    }
    let records = events.of_all(count, |event| match event {
        StageEvent::Done(place, record) => Ok((place, *record)),
        other => Err(other),
    })?;
    let counts: Vec<StageCounts> = records.iter().map(StageRecord::counts).collect();
    events.parent.send_report(&StageReport::Done(counts))?;
    for record in &records {
        events.parent.write_record(&record.to_bytes(), &[])?;
    }
    // What is open stays so until nobody reads from it any more.
    while !events.parent.is_gone() {
        let asked = events.parent.has_more(SLICE)?;
        if asked && matches!(events.parent.read_message(), Ok(StageOrder::TellTime)) {
            tell_time(events.parent)?;
        }
    }
    drop(orders);
    for thread in threads {
        let _ = thread.join();
    }
    Ok(())
}

fn tell_time(parent: &mut ParentProcess) -> Result<()> {
    parent.send_report(&StageReport::Time(monotonic()))
}

/// What the stages say.
struct Events<'a> {
    heard: mpsc::Receiver<StageEvent>,
    parent: &'a mut ParentProcess,
}

impl Events<'_> {
    /// One wanted event of each stage, in the order of the stages.
    fn of_all<T>(
        &mut self,
        count: usize,
        wanted: impl Fn(StageEvent) -> Result<(usize, T), StageEvent>,
    ) -> Result<Vec<T>> {
        let mut found: Vec<Option<T>> = (0..count).map(|_| None).collect();
        while found.iter().any(Option::is_none) {
            match self.heard.recv_timeout(SLICE) {
                Ok(StageEvent::Failed(name, why)) => bail!("{name}: {why}"),
                Ok(event) => match wanted(event) {
                    Ok((place, value)) => found[place] = Some(value),
                    Err(_) => bail!("a stage did something else than it was told"),
                },
                Err(RecvTimeoutError::Timeout) => {
                    ensure!(!self.parent.is_gone(), "nobody wants the stages any more");
                }
                Err(RecvTimeoutError::Disconnected) => bail!("all stages have ended"),
            }
        }
        found.into_iter().map(|value| value.context("a stage said nothing")).collect()
    }
}
