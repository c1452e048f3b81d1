//! `wiregauge bus headroom`: the highest rate, or the largest sample, that is
//! still carried whole and in time.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use wiregauge_bus::catalogue;
use wiregauge_bus::conduct::record::RunRecord;
use wiregauge_bus::conduct::run_settings::RunSettings;
use wiregauge_bus::conduct::trial::Trial;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::result::measured_trial::MeasuredTrial;
use wiregauge_bus::search::goal::{Aim, Goal};
use wiregauge_bus::search::headroom::{Search, TriedValue, Verdict};
use wiregauge_result::run::{Curve, Fact};
use wiregauge_result::warning::Caution;
use wiregauge_system::interrupt::{self, Interrupted};
use wiregauge_system::quantity::{parse_bytes, parse_time};

use super::result_builder::{self, ResultBuilder};
use super::run::Modes;
use super::series::RunArgs;
use super::transport_row::TransportRow;
use crate::progress::Progress;
use crate::quantity::rate;

/// How long a trial lasts.
const TRIAL: Duration = Duration::from_secs(3);
/// Windows of a trial.
const WINDOWS: u32 = 10;
/// What is told of each value that was tried.
const CURVE_FIGURES: [&str; 4] = ["latency/p50", "latency/p99", "step/p99", "lost"];
/// What is told of the value that was found, besides.
const RESULT_FIGURES: [&str; 6] =
    ["latency/p50", "latency/p99", "step/p50", "step/p99", "cpu/sender", "cpu/receiver"];

/// Search for the highest rate at a size, or the largest size at a rate, without loss and
/// in time.
///
/// A trial lasts three seconds (--duration). It is good if nothing is lost, damaged or
/// left unsent, no step times out, and the 99th percentile of the latency is within the
/// cycle; in discrete mode also that of the step. The rate or size grows until a trial is
/// bad. Then the search narrows to 5 %.
#[derive(clap::Args)]
#[command(mut_arg("round_trips", |argument| argument.hide(true)))]
#[command(after_help = "\
Examples:
  wiregauge bus headroom --size 500
      the highest rate of 500 B
  wiregauge bus headroom --cycle 10ms --mode discrete
      the largest sample for each 10 ms
  wiregauge bus headroom --rate 100Hz --transport dds,zenoh
      the largest sample at 100 a second")]
pub struct Arguments {
    /// Search the rate at this size: 500, 64kB, 10MB.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes::<usize>)]
    size: Option<usize>,
    /// Search the size in this cycle.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    cycle: Option<Duration>,
    /// Search the size at this rate of samples: 100Hz, 1kHz.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    /// How participants stay in step.
    #[arg(long, value_enum, default_value = "continuous")]
    mode: Modes,
    /// Number of participants; one sends, the others receive.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=64))]
    participants: u32,
    #[command(flatten)]
    common: RunArgs,
}

/// What is kept of a trial.
struct TrialFigures {
    /// Its figures; none where it did not come to an end.
    facts: Vec<Fact>,
}

impl TrialFigures {
    fn figure(&self, metric: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.metric == metric)
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let common = &self.common;
        ensure!(
            common.round_trips.is_none(),
            "--round-trips has no effect: headroom judges one direction only"
        );
        let outlet = common.delivery.open(&[])?;
        let aim = self.aim()?;
        let terms = common.run_settings(TRIAL);
        let window = common.window.unwrap_or(terms.duration / WINDOWS);
        let terms = RunSettings { window, round_trips: 0, ..terms };
        let entries = catalogue::select_or_built_in(&common.transport)?;
        terms.check_permissions(&entries)?;
        let receivers = self.participants as usize - 1;
        let goal = |mode| Goal { aim, mode, receivers };
        let goals: Vec<Goal> = self.mode.all().into_iter().map(goal).collect();
        for goal in &goals {
            goal.range(terms.duration)?;
        }
        let (placement, progress) = (common.placement()?, Progress::new());
        let mut rows = TransportRow::for_transports(&entries, &placement, &progress)?;
        let mut findings = ResultBuilder::new();
        let mut cases = Vec::new();
        let total = goals.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        for goal in &goals {
            let mut notes = Vec::new();
            for row in rows.iter_mut().filter(|row| row.program.is_some()) {
                let what = format!("{}, {}", row.entry.title, goal.id());
                let show = |state: &str| progress.show(&format!("{what}: {state}"), done, total);
                match search_transport(goal, row, &placement, &terms, &show) {
                    Ok(search) => {
                        let told = SearchResult { goal, search: &search, row };
                        findings.facts.extend(told.facts());
                        findings.curves.extend(told.curves());
                        findings.cautions.extend(told.caution());
                        notes.push(told.note());
                    }
                    Err(error) if error.is::<Interrupted>() => break,
                    Err(error) => row.mark_failed(&goal.id(), &error),
                }
                done += 1;
            }
            notes.extend(placement.notes());
            notes.extend(terms.notes());
            cases.push(goal.case(notes));
            if interrupt::interrupted() {
                break;
            }
        }
        drop(progress);
        let title = match aim {
            Aim::Rate { .. } => "The highest rate of a bus",
            Aim::Size { .. } => "The largest sample of a bus",
        };
        let about = result_builder::ResultInfo {
            title: title.into(),
            cases,
            rounds: 1,
            epoch_ns: terms.duration.as_nanos() as u64,
            seed: terms.seed,
            reference: None,
        };
        findings.write(about, rows, outlet)
    }

    /// What is given and what is searched.
    fn aim(&self) -> Result<Aim> {
        Ok(match (self.size, self.cycle, self.rate) {
            (Some(size), None, None) => Aim::Rate { size },
            (None, Some(cycle), None) => Aim::Size { cycle },
            (None, None, Some(rate)) => {
                Aim::Size { cycle: Duration::from_nanos((1e9 / rate).round() as u64) }
            }
            (None, None, None) => bail!(
                "give --size to search the highest rate, or --rate or --cycle to search the \
                 largest size"
            ),
            (None, ..) => bail!("--cycle and --rate mean the same; give one of them"),
            _ => bail!(
                "--size searches the rate, and --rate or --cycle searches the size; to measure one \
                 load give both to 'wiregauge bus run'"
            ),
        })
    }
}

/// Searches over a transport. The error of its first trial is its own: then the
/// transport does not work at all.
fn search_transport(
    goal: &Goal,
    row: &mut TransportRow,
    placement: &Placement,
    terms: &RunSettings,
    show: &dyn Fn(&str),
) -> Result<Search<TrialFigures>> {
    let range = goal.range(terms.duration)?;
    let mut works = false;
    Search::run(range, |value| {
        let load = goal.load(value);
        let show = |state: &str| show(&format!("{}: {state}", goal.format_value(value)));
        let Some(program) = &row.program else { bail!("there is no program") };
        let trial = Trial {
            placement,
            load: &load,
            entry: &row.entry,
            program,
            coding: None,
            settings: terms,
        };
        // What broke off says nothing of a whole trial.
        let outcome = trial.run(&show, None);
        let whole = |(record, machine): (RunRecord, _)| Ok((record.require_complete()?, machine));
        match outcome.and_then(whole) {
            Ok((record, machine)) => {
                works = true;
                row.mark_measured(&record.about);
                let (subject, machine) = (row.entry.id, &machine);
                let case = &goal.id();
                let measured =
                    MeasuredTrial { case, load: &load, subject, record: &record, machine };
                Ok((measured.verdict(), TrialFigures { facts: measured.facts() }))
            }
            Err(error) if !works || error.is::<Interrupted>() => Err(error),
            Err(error) => {
                Ok((Verdict::Bad(format!("{error:#}")), TrialFigures { facts: Vec::new() }))
            }
        }
    })
}

/// A search, as it is told.
struct SearchResult<'a> {
    goal: &'a Goal,
    search: &'a Search<TrialFigures>,
    row: &'a TransportRow,
}

impl SearchResult<'_> {
    fn fact(&self, metric: &str, unit: &str, value: f64) -> Fact {
        Fact {
            case: self.goal.id(),
            subject: self.row.entry.id.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        }
    }

    /// What was found, and what its last trial saw.
    fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(found) = self.search.best() {
            let (value, over) = (found.value, self.goal.axis());
            facts.push(self.fact(&format!("headroom/{over}"), self.goal.unit(), value));
            let throughput = self.goal.throughput(value);
            facts.push(self.fact("headroom/throughput", "MB/s", throughput));
            let told = RESULT_FIGURES.iter().filter_map(|metric| found.seen.figure(metric));
            facts.extend(told.map(|fact| self.fact(&fact.metric, &fact.unit, fact.value)));
        }
        let trials = self.search.tried.len() as u32 + self.search.repeats();
        facts.push(self.fact("headroom/trials", "1", trials.into()));
        if self.search.repeats() > 0 {
            facts.push(self.fact("headroom/repeated", "1", self.search.repeats().into()));
        }
        facts
    }

    /// What was seen at each value that was tried.
    fn curves(&self) -> Vec<Curve> {
        let mut tried: Vec<&TriedValue<TrialFigures>> = self.search.tried.iter().collect();
        tried.sort_by(|a, b| a.value.total_cmp(&b.value));
        let curve = |metric: &&str| {
            let figures: Vec<(f64, &Fact)> = tried
                .iter()
                .filter_map(|tried| Some((tried.value, tried.seen.figure(metric)?)))
                .collect();
            let unit = figures.first()?.1.unit.clone();
            Some(Curve {
                case: self.goal.id(),
                subject: self.row.entry.id.into(),
                metric: metric.to_string(),
                unit,
                over: self.goal.axis().into(),
                points: figures.into_iter().map(|(value, fact)| (value, fact.value)).collect(),
            })
        };
        CURVE_FIGURES.iter().filter_map(curve).collect()
    }

    /// What was found, and what was wrong with more.
    fn note(&self) -> String {
        let title = self.row.entry.title;
        let shown = |tried: &TriedValue<TrialFigures>| self.goal.format_value(tried.value);
        let why = |limit: &TriedValue<TrialFigures>| match &limit.verdict {
            Verdict::Bad(reason) | Verdict::Spoiled { reason, .. } => reason.clone(),
            Verdict::Good => String::new(),
        };
        match (self.search.best(), self.search.limit()) {
            (Some(found), Some(limit)) => {
                let more = 100.0 * (limit.value / found.value - 1.0);
                let (found, at) = (shown(found), shown(limit));
                let why = why(limit);
                format!("{title}: {found} passed twice; {at}, {more:.1} % more, failed: {why}")
            }
            (Some(found), None) => {
                format!("{title}: {} passed twice, the largest value that is tried", shown(found))
            }
            (None, Some(limit)) => {
                format!("{title}: even {} failed: {}", shown(limit), why(limit))
            }
            (None, None) => format!("{title}: nothing was tried"),
        }
    }

    /// That it was the machine that set the limit.
    fn caution(&self) -> Option<Caution> {
        let limit = self.search.limit()?;
        let Verdict::Spoiled { reason, share } = &limit.verdict else { return None };
        let (title, value) = (self.row.entry.title, self.goal.format_value(limit.value));
        let cell = format!("{title} at {}, {value}", self.goal.id());
        Some(Caution::Invalid { cell, reason: reason.clone(), share: *share })
    }
}
