//! Loads over transports, one run after another, and the result of all.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use wiregauge_bus::catalogue::Entry;
use wiregauge_bus::emulation::{Emulation, Rate};
use wiregauge_bus::load::{self, Load};
use wiregauge_bus::quantity::{choice, time};
use wiregauge_bus::result::{Cell, DROPPED_FIRST, DROPPED_LAST};
use wiregauge_bus::scenario::Scenario;
use wiregauge_bus::site::Site;
use wiregauge_bus::trial::{Choice, Terms, Trial};
use wiregauge_gauge::interrupt::Interrupted;
use wiregauge_gauge::run::{Case, Reference};

use super::findings::{About, Findings};
use super::payload::Cargo;
use super::row::Row;
use crate::output::Form;
use crate::progress::Progress;

/// Shortest window unless the user says so.
const WINDOW: Duration = Duration::from_secs(1);

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
    #[arg(long, value_name = "TRANSPORT.NAME=VALUE", value_parser = choice)]
    option: Vec<Choice>,
    /// Seed of the samples' content.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub delivery: Delivery,
}

/// Where the result goes.
#[derive(clap::Args)]
pub struct Delivery {
    /// Write the result here.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    pub output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    pub format: Form,
}

impl Common {
    /// How each run goes, which lasts so long unless the user says so.
    pub fn terms(&self, duration: Duration) -> Terms {
        Terms {
            duration: self.duration.unwrap_or(duration),
            window: self.window.unwrap_or(WINDOW),
            patience: self.timeout,
            announced: self.announce,
            round_trips: self.round_trips.into(),
            seed: self.seed,
            choices: self.option.clone(),
        }
    }

    /// Where participants run.
    pub fn site(&self) -> Result<Site> {
        match self.emulate {
            Some(rate) => Ok(Site::emulated(&Emulation::build(rate)?)),
            None => Ok(Site::here()),
        }
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
    /// How.
    pub terms: Terms,
    /// The message that is carried, if not generated content.
    pub cargo: Option<Cargo>,
    /// What was published of the same.
    pub reference: Option<Reference>,
}

impl Series {
    /// What a scenario says, at this site.
    pub fn of(scenario: Scenario, site: Site) -> Series {
        let Scenario { title, entries, loads, terms, .. } = scenario;
        Series { title, loads, entries, site, terms, cargo: None, reference: None }
    }

    /// Runs all, writes the result and prints it.
    pub fn run(self, delivery: &Delivery) -> Result<ExitCode> {
        let terms = &self.terms;
        terms.check(&self.entries)?;
        let progress = Progress::new();
        let mut rows = Row::all(&self.entries, &self.site, &progress)?;
        if let Some(cargo) = &self.cargo {
            let each = rows.iter().flat_map(|row| cargo.codecs.iter().map(|codec| row.with(codec)));
            rows = each.collect();
        }
        let mut findings = Findings::new();
        let mut cases = load::cases(&self.loads, self.cargo.as_ref().map(|cargo| &cargo.case));
        for case in &mut cases {
            case.notes.extend(self.site.notes());
        }
        let swept = cases.iter().any(|case| case.parameter.is_some());
        let total = self.loads.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        for (load, Case { id, .. }) in self.loads.iter().zip(&cases) {
            for row in &mut rows {
                let Some(program) = &row.program else { continue };
                let what = format!("{}, {id}", row.title());
                progress.show(&what, done, total);
                let show = |state: &str| progress.show(&format!("{what}: {state}"), done, total);
                let load = &row.loaded(load);
                let coding = row.codec.as_ref().and_then(|codec| codec.coding.as_ref());
                let (site, entry) = (&self.site, &row.entry);
                let outcome = Trial { site, load, entry, program, coding, terms }.run(&show);
                done += 1;
                match outcome {
                    Ok((account, machine)) => {
                        row.measured(&account.about);
                        let (subject, account, machine) = (row.id(), &account, &machine);
                        let cell = Cell { case: id, load, subject, account, machine };
                        findings.add(&cell, row.title());
                        if swept {
                            findings.measurements.extend(cell.slowest());
                        }
                    }
                    Err(error) if error.is::<Interrupted>() => return Err(error),
                    Err(error) => row.failed(id, &error),
                }
            }
        }
        drop(progress);
        let rounds = (terms.duration.as_nanos() / terms.window.as_nanos()) as u32;
        let about = About {
            title: self.title,
            cases,
            rounds: rounds - (DROPPED_FIRST + DROPPED_LAST) as u32,
            epoch_ns: terms.window.as_nanos() as u64,
            seed: terms.seed,
            reference: self.reference,
        };
        findings.hand_over(about, rows, delivery)
    }
}
