//! Loads over transports, one run after another, and the result of all.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use wiregauge_bus::catalogue::{self, Entry};
use wiregauge_bus::emulation::{Emulation, Rate};
use wiregauge_bus::load::{self, Load};
use wiregauge_bus::result::{Cell, DROPPED_FIRST, DROPPED_LAST};
use wiregauge_bus::site::Site;
use wiregauge_bus::trial::{Choice, Terms, Trial};
use wiregauge_gauge::interrupt::Interrupted;
use wiregauge_gauge::run::Reference;

use super::findings::{About, Findings};
use super::row::Row;
use super::run::time;
use crate::output::Form;
use crate::progress::Progress;

/// What all measuring sub-verbs take.
#[derive(clap::Args)]
pub struct Common {
    /// These transports, and raw TCP as the floor.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// How long each run lasts: 10s, 5m.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub duration: Option<Duration>,
    /// Shortest window of the receiver [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub window: Option<Duration>,
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
    /// Between two hosts that this machine emulates, over a link of this rate:
    /// 100mbit, 1gbit. Wants root.
    #[arg(long, value_name = "RATE")]
    emulate: Option<Rate>,
    /// What else to say to a transport, such as dds.domain=7.
    #[arg(long, value_name = "TRANSPORT.NAME=VALUE", value_parser = option)]
    option: Vec<Choice>,
    /// Seed of the samples' content.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the result here.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    pub output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    pub format: Form,
}

impl Common {
    /// Whether what was said suits these transports.
    ///
    /// # Errors
    /// An option for one that is not among them.
    pub fn check(&self, entries: &[Entry]) -> Result<()> {
        for Choice { transport, .. } in &self.option {
            let known = entries.iter().any(|entry| entry.transport == *transport);
            ensure!(known, "--option is for '{transport}', which takes no part in this run");
        }
        Ok(())
    }

    /// What holds for all runs of this duration.
    pub fn terms(&self, duration: Duration, window: Duration) -> Terms {
        Terms {
            duration,
            window,
            patience: self.timeout,
            announced: self.announce,
            round_trips: self.round_trips.into(),
            seed: self.seed,
            choices: self.option.clone(),
        }
    }

    /// The transports that are named, or those that need not be built.
    ///
    /// # Errors
    /// A name that there is not.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = catalogue::select(&self.transport)?;
        if self.transport.is_empty() {
            entries.retain(|entry| entry.engine.is_none());
        }
        Ok(entries)
    }

    /// Where participants run.
    pub fn site(&self) -> Result<Site> {
        match self.emulate {
            Some(rate) => Ok(Site::emulated(&Emulation::build(rate)?)),
            None => Ok(Site::here()),
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

impl Series {
    /// Runs all, writes the result and prints it.
    pub fn run(self, common: &Common) -> Result<ExitCode> {
        let window = common.window.unwrap_or(Duration::from_secs(1));
        let windows = (DROPPED_FIRST + DROPPED_LAST + 1) as u32;
        ensure!(
            self.duration > window * windows && !window.is_zero(),
            "--duration must be more than {windows} windows of {window:?}: the first \
             {DROPPED_FIRST} and the last are dropped"
        );
        common.check(&self.entries)?;
        let terms = common.terms(self.duration, window);
        let progress = Progress::new();
        let mut rows = Row::all(&self.entries, &self.site, &progress)?;
        let mut findings = Findings::new();
        let mut cases = load::cases(&self.loads);
        for case in &mut cases {
            case.notes.extend(self.site.notes.iter().cloned());
        }
        let swept = cases.iter().any(|case| case.parameter.is_some());
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
                        row.measured(&account.about);
                        let (subject, machine) = (row.entry.id, &machine);
                        let cell = Cell { load, subject, account: &account, machine };
                        findings.add(&cell, row.entry.title);
                        if swept {
                            findings.measurements.extend(cell.slowest());
                        }
                    }
                    Err(error) if error.is::<Interrupted>() => return Err(error),
                    Err(error) => row.failed(&load.id(), &error),
                }
            }
        }
        drop(progress);
        let rounds = (self.duration.as_nanos() / window.as_nanos()) as u32;
        let about = About {
            title: self.title,
            cases,
            rounds: rounds - (DROPPED_FIRST + DROPPED_LAST) as u32,
            epoch_ns: window.as_nanos() as u64,
            reference: self.reference,
        };
        findings.hand_over(about, rows, common)
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
