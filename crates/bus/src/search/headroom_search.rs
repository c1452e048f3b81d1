//! The search for the headroom of transports: the highest rate, or the largest sample,
//! that each of them still carries whole and in time.

use anyhow::{bail, Result};
use wiregauge_result::run::{Curve, Fact};
use wiregauge_result::warning::Caution;
use wiregauge_system::interrupt::{self, Interrupted};

use crate::catalogue::TransportEntry;
use crate::conduct::trial::Trial;
use crate::placement::Placement;
use crate::record::RunRecord;
use crate::result::measured_trial::MeasuredTrial;
use crate::run_settings::RunSettings;
use crate::search::goal::Goal;
use crate::search::headroom::{Search, TriedValue, Verdict};
use crate::series::context::SeriesContext;
use crate::series::result_builder::{BusResult, ResultBuilder, ResultInfo};
use crate::series::transport_row::TransportRow;

/// What is told of each value that was tried.
const CURVE_FIGURES: [&str; 4] = ["latency/p50", "latency/p99", "step/p99", "lost"];
/// What is told of the value that was found, besides.
const RESULT_FIGURES: [&str; 9] = [
    "latency/p50",
    "latency/p99",
    "step/p50",
    "step/p99",
    "cpu/sender",
    "cpu/receiver",
    "background/processors",
    "background/sent",
    "background/arrived",
];

/// A search over transports.
pub struct HeadroomSearch {
    /// Title of the result.
    pub title: &'static str,
    /// What is searched, one after the other.
    pub goals: Vec<Goal>,
    /// Over what.
    pub entries: Vec<TransportEntry>,
    /// Where.
    pub placement: Placement,
    /// How a trial goes; whoever makes a search has checked it, and the goals by it.
    pub settings: RunSettings,
}

impl HeadroomSearch {
    /// Searches all goals over all transports.
    ///
    /// # Errors
    /// A link to load and none there, or that the user asks to stop before anything is found.
    pub fn measure(&self, context: &SeriesContext) -> Result<BusResult> {
        self.settings.background.check_link(self.placement.has_link())?;
        let mut rows = TransportRow::for_transports(&self.entries, &self.placement, context)?;
        let mut builder = ResultBuilder::new(context);
        let mut cases = Vec::new();
        let total = self.goals.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        for goal in &self.goals {
            let mut notes = Vec::new();
            for row in rows.iter_mut().filter(|row| row.program.is_some()) {
                let what = format!("{}, {}", row.entry.title, goal.id());
                let show = |state: &str| (context.show)(&format!("{what}: {state}"), done, total);
                match search_transport(goal, row, &self.placement, &self.settings, &show) {
                    Ok(search) => {
                        let told = SearchResult { goal, search: &search, row };
                        builder.facts.extend(told.facts());
                        builder.curves.extend(told.curves());
                        builder.cautions.extend(told.caution());
                        notes.push(told.note());
                    }
                    Err(error) if error.is::<Interrupted>() => break,
                    Err(error) => row.mark_failed(&goal.id(), &error),
                }
                done += 1;
            }
            notes.extend(self.placement.notes());
            notes.extend(self.settings.notes());
            cases.push(goal.case(notes));
            if interrupt::interrupted() {
                break;
            }
        }
        let about = ResultInfo {
            title: self.title.into(),
            cases,
            rounds: 1,
            epoch_ns: self.settings.duration.as_nanos() as u64,
            background: self.settings.background,
            seed: self.settings.seed,
            reference: None,
        };
        builder.finish(about, rows)
    }
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
                row.mark_measured(&record.about, &terms.choices);
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
