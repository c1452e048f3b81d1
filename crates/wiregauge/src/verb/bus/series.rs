//! Loads over transports, one run after another, and the result of all.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_bus::catalogue::Entry;
use wiregauge_bus::conductor::Account;
use wiregauge_bus::load::Load;
use wiregauge_bus::program::Program;
use wiregauge_bus::result::{Cell, DROPPED_FIRST, DROPPED_LAST};
use wiregauge_bus::site::Site;
use wiregauge_bus::trial::{Choice, Terms, Trial};
use wiregauge_gauge::environment::Environment;
use wiregauge_gauge::interrupt::Interrupted;
use wiregauge_gauge::run::{Reference, Run, Settings, Status, Subject, FORMAT, VERSION};
use wiregauge_gauge::warning;

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
    /// How many round trips to take before each run, in two seconds at most.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    round_trips: u32,
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
    fn terms(&self, duration: Duration) -> Terms {
        Terms {
            duration,
            window: self.window,
            patience: self.timeout,
            announced: self.announce,
            round_trips: self.round_trips.into(),
            seed: self.seed,
            choices: self.option.clone(),
        }
    }

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
    /// Where.
    pub site: Site,
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
        let terms = common.terms(self.duration);
        let began = Instant::now();
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let progress = Progress::new();
        let mut rows = Vec::new();
        for entry in &self.entries {
            rows.push(Row::new(entry, self.program(entry, &progress))?);
        }
        let mut environment = Environment::probe(tools::versions());
        let (mut measurements, mut facts) = (Vec::new(), Vec::new());
        let (mut curves, mut cautions) = (Vec::new(), Vec::new());
        let total = self.loads.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        for load in &self.loads {
            for row in &mut rows {
                let Some(program) = &row.program else { continue };
                let what = format!("{}, {}", row.entry.title, load.id());
                progress.show(&what, done, total);
                let show = |state: &str| progress.show(&format!("{what}: {state}"), done, total);
                let trial = Trial {
                    site: &self.site,
                    load,
                    entry: &row.entry,
                    program,
                    coding: None,
                    terms: &terms,
                };
                let outcome = trial.run(&show);
                done += 1;
                match outcome {
                    Ok((account, machine)) => {
                        row.measured(&account);
                        let (subject, machine) = (row.entry.id, &machine);
                        let cell = Cell { load, subject, account: &account, machine };
                        measurements.extend(cell.measurements());
                        facts.extend(cell.facts());
                        curves.extend(cell.curves());
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
            curves,
            reference: self.reference,
        };
        hand_over(&run, &common.output, common.format)
    }

    /// The program of a transport, if it is of use here.
    fn program(&self, entry: &Entry, progress: &Progress) -> Result<Program> {
        if let Some(why) = self.site.out_of(entry.reach) {
            bail!("{why}");
        }
        Program::of(entry, &build_folder()?, &|what, done, total| {
            progress.show(&format!("{}: {what}", entry.title), done, total);
        })
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

/// `TRANSPORT.NAME=VALUE`.
fn option(text: &str) -> Result<Choice> {
    let choice = text.split_once('=').and_then(|(key, value)| {
        let (transport, name) = key.split_once('.')?;
        Some(Choice { transport: transport.into(), name: name.into(), value: value.into() })
    });
    choice.context("wants TRANSPORT.NAME=VALUE, such as dds.domain=7")
}
