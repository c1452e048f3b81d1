//! Loads over transports, one run after another, and the result of all.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, Result};
use wiregauge_bus::catalogue::TransportEntry;
use wiregauge_bus::conduct::run_settings::{RunSettings, TransportOption};
use wiregauge_bus::conduct::samples::SampleRows;
use wiregauge_bus::conduct::trial::Trial;
use wiregauge_bus::load::transport_option::parse_transport_option;
use wiregauge_bus::load::{self, Load};
use wiregauge_bus::machines::cyclictest;
use wiregauge_bus::placement::emulation::{Emulation, Rate};
use wiregauge_bus::placement::Placement;
use wiregauge_bus::result::measured_trial::MeasuredTrial;
use wiregauge_bus::result::windows::{DROPPED_FIRST, DROPPED_LAST};
use wiregauge_bus::scenario::Scenario;
use wiregauge_participant::realtime::Realtime;
use wiregauge_result::run::{Case, Reference};
use wiregauge_system::file::Target;
use wiregauge_system::interrupt::{self, Interrupted};
use wiregauge_system::quantity::parse_time;

use super::payload::PayloadMessage;
use super::result_builder::{ResultBuilder, ResultInfo};
use super::samples_file::{receiver_names, samples_per_load, SeriesSamples};
use super::transport_row::TransportRow;
use crate::output::{print_notice, ResultFormat, ResultTarget};
use crate::progress::Progress;
use crate::requirements::RequirementArgs;

/// Shortest window unless the user says so.
const WINDOW: Duration = Duration::from_secs(1);

/// How long a step may go unacknowledged unless the user says so.
const PATIENCE: Duration = Duration::from_secs(5);

/// Round trips before each run unless the user says so.
const ROUND_TRIPS: u32 = 1000;

/// What all measuring sub-verbs take.
#[derive(clap::Args)]
pub struct RunArgs {
    /// Measure these transports, and raw TCP as the floor.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// How long each run lasts: 10s, 5m. It must be longer than five windows; the first
    /// three windows and the last one do not count. With eight more windows, seven
    /// transports can be told apart.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub duration: Option<Duration>,
    /// Shortest window of the receiver [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub window: Option<Duration>,
    /// How long a step may stay unacknowledged in discrete mode [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Announce each step by its own message in discrete mode, not only by its
    /// sample.
    #[arg(long)]
    pub announce: bool,
    /// How many round trips to measure before each run, in two seconds at most
    /// [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub round_trips: Option<u32>,
    /// Emulate two hosts on this machine, with a link of this rate: 100mbit, 1gbit.
    /// Needs root.
    #[arg(long, value_name = "RATE")]
    emulate: Option<Rate>,
    /// How long a participant may be silent before it counts as lost.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_time)]
    alive_within: Duration,
    /// Run participants under SCHED_FIFO with this priority, from 1 to 99.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=99))]
    priority: Option<i32>,
    /// Run participants on these processors only, numbered from 0.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    processors: Vec<usize>,
    /// Lock the participants' memory (mlockall).
    #[arg(long)]
    lock_memory: bool,
    /// Set an option of a transport, such as dds.domain=7.
    #[arg(long, value_name = "TRANSPORT.NAME=VALUE", value_parser = parse_transport_option)]
    option: Vec<TransportOption>,
    /// Seed of the samples' content.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub delivery: ResultArgs,
}

/// Where the result goes.
#[derive(clap::Args)]
pub struct ResultArgs {
    /// Write the result here. With -, the result goes to standard output and the table
    /// to standard error [default: run.json].
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Format of what is printed [default: table].
    #[arg(long, value_enum)]
    format: Option<ResultFormat>,
    #[command(flatten)]
    required: RequirementArgs,
}

impl ResultArgs {
    /// Looks whether the result can be kept, which replaces none of `inputs`.
    pub fn open(&self, inputs: &[&Path]) -> Result<ResultTarget> {
        let output = self.output.as_deref().unwrap_or(Path::new("run.json"));
        ResultTarget::open(
            output,
            self.format.unwrap_or(ResultFormat::Table),
            inputs,
            &self.required,
        )
    }

    /// Whether the user said anything of it.
    pub fn is_given(&self) -> bool {
        self.output.is_some() || self.format.is_some() || self.required.is_given()
    }
}

impl RunArgs {
    /// How each run goes, which lasts so long unless the user says so.
    pub fn run_settings(&self, duration: Duration) -> RunSettings {
        RunSettings {
            duration: self.duration.unwrap_or(duration),
            window: self.window.unwrap_or(WINDOW),
            patience: self.timeout.unwrap_or(PATIENCE),
            announced: self.announce,
            round_trips: self.round_trips.unwrap_or(ROUND_TRIPS).into(),
            alive: self.alive_within,
            realtime: Realtime {
                priority: self.priority,
                processors: self.processors.clone(),
                locked: self.lock_memory,
            },
            seed: self.seed,
            choices: self.option.clone(),
        }
    }

    /// Where participants run.
    pub fn placement(&self) -> Result<Placement> {
        match self.emulate {
            Some(rate) => Ok(Placement::emulated(&Emulation::build(rate)?)),
            None => Ok(Placement::local()),
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
    pub entries: Vec<TransportEntry>,
    /// Where.
    pub placement: Placement,
    /// How; whoever makes a series has checked it.
    pub terms: RunSettings,
    /// The message that is carried, if not generated content.
    pub cargo: Option<PayloadMessage>,
    /// Where every sample is kept, if anywhere.
    pub samples: Option<Target>,
    /// What was published of the same.
    pub reference: Option<Reference>,
}

impl Series {
    /// What a scenario says, at this placement.
    pub fn from_scenario(scenario: Scenario, placement: Placement) -> Series {
        let Scenario { title, entries, loads, terms, .. } = scenario;
        Series {
            title,
            loads,
            entries,
            placement,
            terms,
            cargo: None,
            samples: None,
            reference: None,
        }
    }

    /// Runs all, writes the result and prints it.
    pub fn run(self, outlet: ResultTarget) -> Result<ExitCode> {
        self.run_with(outlet, &|| {})
    }

    /// The same, with something that is done before each load over a transport.
    pub fn run_with(self, outlet: ResultTarget, before: &dyn Fn()) -> Result<ExitCode> {
        let terms = &self.terms;
        let codecs = self.cargo.as_ref().map_or(1, |cargo| cargo.codecs.len());
        let each = self.entries.len() * codecs;
        let allotted = samples_per_load(self.samples.as_ref(), &self.loads, each, terms.duration)?;
        let progress = Progress::new();
        let mut rows = TransportRow::for_transports(&self.entries, &self.placement, &progress)?;
        if let Some(cargo) = &self.cargo {
            let each =
                rows.iter().flat_map(|row| cargo.codecs.iter().map(|codec| row.with_codec(codec)));
            rows = each.collect();
        }
        let mut findings = ResultBuilder::new();
        let mut cases = load::cases(&self.loads, self.cargo.as_ref().map(|cargo| &cargo.case));
        progress.show("measuring how late this machine wakes up", 0, 0);
        let wake_ups = cyclictest::measure(&terms.realtime).map(|found| found.to_string());
        for case in &mut cases {
            case.notes.extend(self.placement.notes());
            case.notes.extend(terms.notes());
            case.notes.extend(wake_ups.clone());
        }
        let swept = cases.iter().any(|case| case.parameter.is_some());
        let total = self.loads.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        let receivers = receiver_names(&self.placement, &self.loads, &self.entries);
        let begin = |target| SeriesSamples::create(target, allotted, &cases, &rows, receivers);
        let mut keeping = self.samples.map(begin).transpose()?;
        let mut notes: Vec<(usize, String)> = Vec::new();
        'all: for (number, (load, Case { id, .. })) in self.loads.iter().zip(&cases).enumerate() {
            for row in &mut rows {
                let Some(program) = &row.program else { continue };
                let what = format!("{}, {id}", row.title());
                before();
                progress.show(&what, done, total);
                let show = |state: &str| progress.show(&format!("{what}: {state}"), done, total);
                let load = &row.carried_load(load);
                let coding = row.codec.as_ref().and_then(|codec| codec.coding.as_ref());
                let (placement, entry) = (&self.placement, &row.entry);
                let trial = Trial { placement, load, entry, program, coding, settings: terms };
                let kept = keeping.as_ref().map_or(0, |keeping| keeping.allotted[number]);
                let outcome = match &mut keeping {
                    Some(SeriesSamples { samples, .. }) => {
                        let subject = row.id();
                        let mut keep = |rows: &SampleRows| samples.add(id, subject, load, rows);
                        trial.run(&show, Some((kept, &mut keep)))
                    }
                    None => trial.run(&show, None),
                };
                done += 1;
                match outcome {
                    Ok((record, machine)) => {
                        row.mark_measured(&record.about);
                        let (subject, record, machine) = (row.id(), &record, &machine);
                        let measured = MeasuredTrial { case: id, load, subject, record, machine };
                        findings.add(&measured, row.title());
                        if let Some(points) = self.cargo.as_ref().and_then(|cargo| cargo.points) {
                            findings.add_points(id, subject, points);
                        }
                        notes.extend(
                            measured.describe_misses(row.title()).map(|told| (number, told)),
                        );
                        let sent = record.sent.samples;
                        if keeping.is_some() && sent > kept {
                            let left = format!(
                                "{}: the file of samples has the first {kept} of {sent} samples",
                                row.title()
                            );
                            notes.push((number, left));
                        }
                        if swept {
                            findings.measurements.extend(measured.slowest());
                        }
                        let losses = measured.losses(row.title(), row.entry.drops);
                        findings.cautions.extend(losses);
                        if let Some(reason) = &record.broken {
                            notes.push((number, format!("{} ended early: {reason}", row.title())));
                            if interrupt::interrupted() {
                                break 'all;
                            }
                            row.mark_failed(
                                id,
                                &anyhow!("{reason}; the figures are from the time before that"),
                            );
                        }
                    }
                    Err(error) if error.is::<Interrupted>() => break 'all,
                    Err(error) => row.mark_failed(id, &error),
                }
            }
        }
        drop(progress);
        for (number, note) in notes {
            cases[number].notes.push(note);
        }
        let rounds = (terms.duration.as_nanos() / terms.window.as_nanos()) as u32;
        let about = ResultInfo {
            title: self.title,
            cases,
            rounds: rounds - (DROPPED_FIRST + DROPPED_LAST) as u32,
            epoch_ns: terms.window.as_nanos() as u64,
            seed: terms.seed,
            reference: self.reference,
        };
        let kept = keeping.map(|keeping| {
            let shown = keeping.samples.display_name().to_owned();
            (shown, keeping.samples.finish())
        });
        let code = findings.write(about, rows, outlet);
        if let Some((shown, kept)) = kept {
            let kept = kept?;
            if kept > 0 {
                print_notice(&format!("{kept} samples in {shown}"));
            }
        }
        code
    }
}
