//! Loads over transports, one run after another, and the result of all.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_bus::catalogue::{Entry, Reach};
use wiregauge_bus::conductor::{conduct, Account, Station};
use wiregauge_bus::load::Load;
use wiregauge_bus::result::{Cell, DROPPED_FIRST, DROPPED_LAST};
use wiregauge_gauge::environment::Environment;
use wiregauge_gauge::interrupt::Interrupted;
use wiregauge_gauge::run::{Reference, Run, Settings, Status, Subject, FORMAT, VERSION};
use wiregauge_gauge::warning;
use wiregauge_participant::control::{Assignment, Role};
use wiregauge_participant::transport::Topic;

use super::run::time;
use crate::matter::build_folder;
use crate::output::{command, hand_over, Form};
use crate::progress::Progress;
use crate::tools;

/// What all measuring sub-verbs take.
#[derive(clap::Args)]
pub struct Common {
    /// These transports, and raw TCP as the floor.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// How long each run lasts: 10s, 5m.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub duration: Option<Duration>,
    /// Shortest window of the receiver.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    window: Duration,
    /// How long a step may go unacknowledged in discrete mode.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    timeout: Duration,
    /// Announce each step by a message of its own in discrete mode, and not by
    /// its sample alone.
    #[arg(long)]
    announce: bool,
    /// What else to say to a transport, such as dds.domain=7.
    #[arg(long, value_name = "TRANSPORT.NAME=VALUE", value_parser = option)]
    option: Vec<Choice>,
    /// Seed of the samples' content.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the result here.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

impl Common {
    /// How long each run lasts.
    pub fn duration(&self, otherwise: Duration) -> Duration {
        self.duration.unwrap_or(otherwise)
    }
}

/// Loads over transports.
pub struct Series {
    /// Title of the result.
    pub title: String,
    /// What is sent.
    pub loads: Vec<Load>,
    /// Over what.
    pub entries: Vec<Entry>,
    /// How long each.
    pub duration: Duration,
    /// What was published of the same.
    pub reference: Option<Reference>,
}

/// A transport with what came of it.
struct Row {
    entry: Entry,
    /// The program that brings it, where there is one.
    program: Option<Program>,
    subject: Subject,
}

impl Series {
    /// Runs all, writes the result and prints it.
    pub fn run(self, common: &Common) -> Result<ExitCode> {
        let windows = (DROPPED_FIRST + DROPPED_LAST + 1) as u32;
        ensure!(
            self.duration > common.window * windows && !common.window.is_zero(),
            "--duration must be more than {windows} windows of {:?}: the first {DROPPED_FIRST} and \
             the last are dropped",
            common.window
        );
        for Choice { transport, .. } in &common.option {
            let known = self.entries.iter().any(|entry| entry.transport == *transport);
            ensure!(known, "--option is for '{transport}', which takes no part in this run");
        }
        let began = Instant::now();
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let progress = Progress::new();
        let mut rows = Vec::new();
        for entry in &self.entries {
            rows.push(Row::new(entry, Program::of(entry, &progress))?);
        }
        let mut environment = Environment::probe(tools::versions());
        let (mut measurements, mut facts, mut cautions) = (Vec::new(), Vec::new(), Vec::new());
        let total = self.loads.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        for load in &self.loads {
            for row in &mut rows {
                let Some(program) = &row.program else { continue };
                let what = format!("{}, {}", row.entry.title, load.id());
                progress.show(&what, done, total);
                let show = |state: &str| progress.show(&format!("{what}: {state}"), done, total);
                let mut machine = Environment::probe(IndexMap::new());
                let outcome = self.measure(load, &row.entry, program, common, &show);
                machine.finish();
                done += 1;
                match outcome {
                    Ok(account) => {
                        row.measured(&account);
                        let (subject, machine) = (row.entry.id, &machine);
                        let cell = Cell { load, subject, account: &account, machine };
                        measurements.extend(cell.measurements());
                        facts.extend(cell.facts());
                        cautions.extend(cell.cautions(row.entry.title));
                    }
                    Err(error) if error.is::<Interrupted>() => return Err(error),
                    Err(error) => row.failed(load, &error),
                }
            }
        }
        drop(progress);
        environment.finish();
        cautions.splice(0..0, environment.cautions());
        let run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: self.title,
            kind: "bus".into(),
            command: command(),
            started,
            seconds: began.elapsed().as_secs_f64(),
            environment,
            warnings: warning::merge(&cautions),
            settings: Settings {
                processes: 1,
                rounds: (self.duration.as_nanos() / common.window.as_nanos()) as u32
                    - (DROPPED_FIRST + DROPPED_LAST) as u32,
                epoch_ns: common.window.as_nanos() as u64,
                buffers: "reused".into(),
                objects: "reused".into(),
                seed: common.seed,
            },
            cases: self.loads.iter().map(Load::case).collect(),
            subjects: rows.into_iter().map(|row| row.subject).collect(),
            measurements,
            facts,
            reference: self.reference,
        };
        hand_over(&run, &common.output, common.format)
    }

    /// One load over one transport.
    fn measure(
        &self,
        load: &Load,
        entry: &Entry,
        program: &Program,
        common: &Common,
        show: &dyn Fn(&str),
    ) -> Result<Account> {
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let own = entry.options.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let chosen = common.option.iter().filter(|choice| choice.transport == entry.transport);
        let chosen = chosen.map(|choice| (choice.name.clone(), choice.value.clone()));
        let assignment = Assignment {
            role: Role::Receiver,
            transport: entry.transport.into(),
            topic: Topic {
                // So that runs at the same time do not meet. DDS takes no hyphens.
                name: format!("wiregauge_{}_{}", std::process::id(), entry.transport),
                size: load.size,
                bind,
                readers: load.receivers,
                options: chosen.chain(own).collect(),
            },
            seed: common.seed,
            mode: load.mode,
            cycle: load.cycle.as_nanos() as u64,
            fast: load.fast,
            duration: self.duration.as_nanos() as u64,
            window: common.window.as_nanos() as u64,
            announced: common.announce,
            patience: common.timeout.as_nanos() as u64,
        };
        let receivers = (1..=load.receivers).map(|number| match load.receivers {
            1 => ("receiver".to_owned(), Role::Receiver, bind),
            _ => (format!("receiver-{number}"), Role::Receiver, bind),
        });
        let participants = receivers.chain([("sender".to_owned(), Role::Sender, bind)]);
        let mut stations: Vec<Station> = Vec::new();
        for participant in participants {
            match stations.first_mut().filter(|_| entry.reach == Reach::Process) {
                Some(station) => station.participants.push(participant),
                None => {
                    let command = Some(program.command());
                    stations.push(Station { command, participants: vec![participant] });
                }
            }
        }
        conduct(stations, &assignment, SocketAddr::new(bind, 0), show)
    }
}

/// What starts a participant.
enum Program {
    /// This program.
    Own,
    /// One that was built apart.
    Engine(PathBuf),
}

impl Program {
    /// That of a transport, built where it is not there.
    fn of(entry: &Entry, progress: &Progress) -> Result<Program> {
        let Some(engine) = entry.engine else { return Ok(Program::Own) };
        let show = |what: &str, done: usize, total: usize| {
            progress.show(&format!("{}: {what}", entry.title), done, total);
        };
        engine.build(&build_folder()?, &show).map(Program::Engine)
    }

    fn command(&self) -> Command {
        match self {
            Program::Own => {
                // Not by its path, where another version may lie by now.
                let mut command = Command::new("/proc/self/exe");
                command.arg0("wiregauge").args(["bus", "participant"]);
                command
            }
            Program::Engine(path) => Command::new(path),
        }
    }
}

impl Row {
    /// A row without figures where there is no program. That the user asks to
    /// stop is an error.
    fn new(entry: &Entry, program: Result<Program>) -> Result<Row> {
        let (program, status) = match program {
            Ok(program) => (Some(program), Status::Measured),
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => (None, Status::Skipped(format!("{error:#}"))),
        };
        let subject = Subject {
            id: entry.id.into(),
            title: entry.title.into(),
            language: String::new(),
            library: String::new(),
            options: Vec::new(),
            bound: false,
            lowerings: Vec::new(),
            status,
        };
        Ok(Row { entry: *entry, program, subject })
    }

    fn measured(&mut self, account: &Account) {
        self.subject.library = account.about.library.clone();
        self.subject.options = account.about.options.clone();
    }

    fn failed(&mut self, load: &Load, error: &anyhow::Error) {
        let reason = format!("at {}: {error:#}", load.id());
        if !matches!(self.subject.status, Status::Failed(_)) {
            self.subject.status = Status::Failed(reason);
        }
    }
}

/// Something to say to a transport.
#[derive(Clone, Debug)]
struct Choice {
    transport: String,
    name: String,
    value: String,
}

/// `TRANSPORT.NAME=VALUE`.
fn option(text: &str) -> Result<Choice> {
    let choice = text.split_once('=').and_then(|(key, value)| {
        let (transport, name) = key.split_once('.')?;
        Some(Choice { transport: transport.into(), name: name.into(), value: value.into() })
    });
    choice.context("wants TRANSPORT.NAME=VALUE, such as dds.domain=7")
}
