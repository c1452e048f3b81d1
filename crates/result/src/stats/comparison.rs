//! Two runs held against each other: what became faster or slower?
//!
//! The difficulty is not to find a difference between two runs (on most
//! machines there is always one) but to find out whether it is the codec's.
//! These precautions are taken:
//!
//! 1. **Processes are the unit.** A cell's difference is that of the mean
//!    logarithms of its process medians, with Welch's interval. Memory layouts
//!    come in kinds, and a few processes may all happen to fall into one, so
//!    no cell is believed to be quieter than the upper quartile of all cells:
//!    its variance between processes is raised to that. And what moves cells
//!    from run to run, as pages that the machine hands out, shows in no
//!    process: how far all cells scatter beyond what their processes explain is
//!    taken for it and added.
//! 2. **Several views.** Taken by itself, a cell moves when the machine moves.
//!    So it is also seen in relation to the bound row of its case and metric
//!    (memcpy does not change; if it moved, the machine did) and in relation
//!    to the other subjects. A verdict of faster or slower needs the views to
//!    agree; where both relations show it, the time itself need only lean to
//!    the same side by more than the threshold.
//! 3. **A size that matters.** The whole interval must lie beyond ± the
//!    threshold for a difference, and within it for none; Bonferroni's
//!    correction over all cells makes the confidence one of the whole table.
//!    Else the data cannot tell.
//! 4. **Parts and wholes.** A phase is a part of its experiment. A difference
//!    that the one shows and the other does not is the machine's.
//! 5. **A busy machine** takes time from some and not from others, and it did so
//!    in one run more than in the other: then only [`BUSY`] counts.

mod cell;
mod change;
mod index;
mod sides;
#[cfg(test)]
pub(crate) mod simulation;

pub use cell::{Cell, WIDEST};
pub use change::{Change, ChangeVerdict, ComparisonView};

use serde::{Deserialize, Serialize};

pub(super) use self::cell::judge;
pub(super) use self::index::process_medians;
use self::index::{median_of, views, MeasurementIndex};
pub(super) use self::sides::FEWEST_PROCESSES;
use self::sides::{CellMedians, ViewNoise};
use super::sample::median;
use crate::run::{is_footprint, is_size, parent_metric, Fact, Measurement, Run, Status};
use crate::warning::{MOST_OTHERS, MOST_STEAL};

/// Smallest relative difference that counts where the machine was busy in one
/// of the runs.
pub const BUSY: f64 = 0.5;

/// Share of a phase's difference that its whole must show, or the other way
/// round.
const SHOWN: f64 = 0.5;

/// What counts as a difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Smallest relative difference that counts: 0.05 is 5 %. Faster means
    /// below 1 / (1 + threshold), slower above 1 + threshold.
    pub threshold: f64,
    /// Confidence that no verdict of the whole table is wrong.
    pub confidence: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { threshold: 0.05, confidence: 0.99 }
    }
}

/// Two runs held against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What counted as a difference.
    pub limits: Limits,
    /// One entry per case, subject and metric that both runs measured in
    /// restarted processes; bound rows are in [`Comparison::drift`] instead.
    pub cells: Vec<Cell>,
    /// How far the bound rows moved: the machine, not the codecs.
    pub drift: Vec<Drift>,
    /// Counted figures (sizes, allocations, instructions) that are not the same.
    pub facts: Vec<FactChange>,
    /// What the base run measured and the new one did not, with the reason.
    pub lost: Vec<String>,
    /// What only the new run measured.
    pub added: Vec<String>,
    /// Whether the machine was busy with other things in one of the runs, so
    /// that only [`BUSY`] counted.
    pub busy: bool,
    /// Whether both runs counted instructions, or measured what is added to a program, of
    /// the same: there is something to compare where nothing was timed.
    pub counted: bool,
}

/// How far a bound row moved between the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Case id.
    pub case: String,
    /// Subject id of the bound.
    pub subject: String,
    /// Metric.
    pub metric: String,
    /// Median of process medians, new / base.
    pub ratio: f64,
}

/// A counted figure that is not the same in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactChange {
    /// Case id.
    pub case: String,
    /// Subject id.
    pub subject: String,
    /// Metric, such as `size`.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// The base run's figure.
    pub base: f64,
    /// The new run's figure.
    pub new: f64,
    /// Whether it is an encoded size, a number of instructions, or added to a program, and
    /// grew by more than the threshold.
    pub regressed: bool,
}

impl Comparison {
    /// Cells with this verdict.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        self.cells.iter().filter(|cell| cell.verdict == verdict).count()
    }

    /// Whether a check should fail: something became slower or larger by more
    /// than the threshold, or is no longer there.
    pub fn regressed(&self) -> bool {
        self.count(ChangeVerdict::Slower) > 0
            || self.facts.iter().any(|fact| fact.regressed)
            || !self.lost.is_empty()
    }

    /// The smallest relative slowdown that would have been found in half of
    /// the cells: threshold plus the median width of the intervals.
    pub fn resolution(&self) -> Option<f64> {
        let widths = self.cells.iter().filter_map(|cell| Some(cell.change()?.half_width()));
        Some((1.0 + self.limits.threshold) * median(widths)? - 1.0)
    }

    /// The same in each of the cells.
    pub fn coarsest_resolution(&self) -> Option<f64> {
        let widths = self.cells.iter().filter_map(|cell| Some(cell.change()?.half_width()));
        Some((1.0 + self.limits.threshold) * widths.max_by(f64::total_cmp)? - 1.0)
    }

    /// How far the bounds moved in the median, new / base.
    pub fn machine_drift(&self) -> Option<f64> {
        median(self.drift.iter().map(|drift| drift.ratio))
    }
}

/// Holds `new` against `base`.
pub fn compare(base: &Run, new: &Run, limits: Limits) -> Comparison {
    let (base_index, new_index) =
        (MeasurementIndex::from_run(base), MeasurementIndex::from_run(new));
    let mut pairs = Vec::new();
    let mut drift = Vec::new();
    let mut lost = Vec::new();
    for (key, &in_base) in &base_index.measurements {
        if process_medians(in_base).is_empty() || is_side_measurement(in_base, base) {
            continue;
        }
        match new_index.measurements.get(key).filter(|m| !process_medians(m).is_empty()) {
            None => {
                lost.push(lost_line(&in_base.case, &in_base.subject, &in_base.metric, new));
            }
            Some(&in_new) if base_index.is_bound(in_base) => {
                drift.extend(Drift::from_measurements(in_base, in_new))
            }
            Some(&in_new) => pairs.push((in_base, in_new)),
        }
    }
    lost.extend(lost_counts(base, new));
    lost.dedup();
    let mut added: Vec<String> = new_index
        .measurements
        .iter()
        .filter(|(key, _)| !base_index.measurements.contains_key(*key))
        .map(|(_, m)| format!("{}: {}, {}", m.case, m.subject, m.metric))
        .collect();
    added.dedup();

    let units: Vec<Vec<CellMedians>> = pairs
        .iter()
        .map(|(in_base, in_new)| views(&base_index, &new_index, in_base, in_new))
        .collect();
    let noise = ViewNoise::from_cells(&units);
    let busy = is_busy(base) || is_busy(new);
    let least = if busy { limits.threshold.max(BUSY) } else { limits.threshold };
    let testable =
        units.iter().filter(|sides| sides.iter().all(CellMedians::has_enough_processes)).count();
    let confidence = 1.0 - (1.0 - limits.confidence) / testable.max(1) as f64;
    let mut cells: Vec<Cell> = pairs
        .iter()
        .zip(&units)
        .map(|((in_base, in_new), sides)| {
            let changes = sides.iter().filter_map(|side| side.change(&noise, confidence)).collect();
            judge(in_base, in_new, changes, (limits.threshold, least))
        })
        .collect();
    reconcile_phases(&mut cells);
    let facts = fact_changes(base, new, limits);
    let counted = base.facts.iter().any(|fact| {
        is_exact(&fact.metric) && new.fact(&fact.case, &fact.subject, &fact.metric).is_some()
    });
    Comparison { limits, cells, drift, facts, lost, added, busy, counted }
}

/// Whether others had so much of the machine that its figures are not to be
/// trusted.
fn is_busy(run: &Run) -> bool {
    let activity = &run.environment.activity;
    activity.others.is_some_and(|share| share > MOST_OTHERS)
        || activity.steal.is_some_and(|share| share > MOST_STEAL)
}

/// Takes back the verdict on a phase that its whole does not show, and that on
/// a whole that its phases together do not show: they are measured one after
/// the other, and a codec that changed changes in both.
pub(super) fn reconcile_phases(cells: &mut [Cell]) {
    let grown = |cell: &Cell| cell.new - cell.base;
    let doubted: Vec<bool> = cells
        .iter()
        .map(|cell| {
            let beside = |other: &&Cell| other.case == cell.case && other.subject == cell.subject;
            let beside = || cells.iter().filter(beside);
            let parts = |of: &Cell| -> Vec<f64> {
                let part = |m: &str| parent_metric(m) == Some(of.metric.as_str());
                beside().filter(|other| part(&other.metric)).map(grown).collect()
            };
            let shown = match parent_metric(&cell.metric) {
                Some(whole) => beside().find(|other| other.metric == whole).map(grown),
                // A single phase is no account of the whole.
                None => Some(parts(cell)).filter(|all| all.len() > 1).map(|all| all.iter().sum()),
            };
            let found = matches!(cell.verdict, ChangeVerdict::Faster | ChangeVerdict::Slower);
            found && shown.is_some_and(|shown: f64| shown / grown(cell) < SHOWN)
        })
        .collect();
    for (cell, _) in cells.iter_mut().zip(doubted).filter(|(_, doubted)| *doubted) {
        cell.verdict = ChangeVerdict::CannotTell;
        cell.reason = Some("the phases and their sum disagree: measure both again".into());
    }
}

impl Drift {
    fn from_measurements(base: &Measurement, new: &Measurement) -> Option<Drift> {
        let ratio = median_of(new) / median_of(base);
        (ratio.is_finite() && ratio > 0.0).then(|| Drift {
            case: base.case.clone(),
            subject: base.subject.clone(),
            metric: base.metric.clone(),
            ratio,
        })
    }
}

/// Whether something was measured on the side, in fewer processes than the run
/// had, as a compressor's times are: it is no cell.
pub(super) fn is_side_measurement(measurement: &Measurement, run: &Run) -> bool {
    let processes = measurement.samples.len();
    processes < FEWEST_PROCESSES && run.settings.processes as usize > processes
}

pub(super) fn lost_line(case: &str, subject: &str, metric: &str, new: &Run) -> String {
    match new.subject(subject).map(|subject| &subject.status) {
        None => format!("{subject} is not in the new run"),
        Some(Status::Skipped(reason)) => format!("{subject} is skipped in the new run: {reason}"),
        Some(Status::Rejected(reason)) => format!("{subject} is rejected in the new run: {reason}"),
        Some(Status::Failed(reason)) => format!("{subject} failed in the new run: {reason}"),
        Some(Status::Measured) => {
            format!("{case}: {subject}, {metric} is not in the new run")
        }
    }
}

/// Whether less of it is better and it does not move by chance: instructions of a message,
/// from which those of an element follow, and what a codec adds to a program.
pub(super) fn is_exact(metric: &str) -> bool {
    metric.starts_with("instructions/") || is_footprint(metric)
}

/// What was counted exactly in the base run and not in the new one, with the reason.
fn lost_counts(base: &Run, new: &Run) -> Vec<String> {
    let is_lost = |fact: &&Fact| {
        is_exact(&fact.metric) && new.fact(&fact.case, &fact.subject, &fact.metric).is_none()
    };
    let line = |fact: &Fact| {
        let subject = new.subject(&fact.subject);
        match subject.map(|subject| subject.not_counted.as_str()).filter(|why| !why.is_empty()) {
            Some(why) => format!("{}: no instructions in the new run: {why}", fact.subject),
            None => lost_line(&fact.case, &fact.subject, &fact.metric, new),
        }
    };
    base.facts.iter().filter(is_lost).map(line).collect()
}

fn fact_changes(base: &Run, new: &Run, limits: Limits) -> Vec<FactChange> {
    let in_new = |fact: &Fact| new.fact(&fact.case, &fact.subject, &fact.metric);
    let facts = base.facts.iter();
    facts.filter_map(|fact| FactChange::from_fact(fact, in_new(fact)?, limits)).collect()
}

impl FactChange {
    /// What became of a figure that is `now` this; none where it is the same.
    pub(super) fn from_fact(fact: &Fact, now: f64, limits: Limits) -> Option<FactChange> {
        // Of these less is better, and they do not move by chance.
        let exact = is_size(&fact.metric) || is_exact(&fact.metric);
        (now != fact.value).then(|| FactChange {
            case: fact.case.clone(),
            subject: fact.subject.clone(),
            metric: fact.metric.clone(),
            unit: fact.unit.clone(),
            base: fact.value,
            new: now,
            regressed: exact && now > fact.value * (1.0 + limits.threshold),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::simulation::{SimulatedNoise, Simulation};
    use super::*;

    /// Runs whose comparison gave a verdict of faster or slower.
    fn false_alarms(tries: u64, noise: &SimulatedNoise) -> u64 {
        let alarms = (0..tries).filter(|seed| {
            let base = Simulation::new(2 * seed, noise.clone()).run();
            let new = Simulation::new(2 * seed + 1, noise.clone()).run();
            let comparison = compare(&base, &new, Limits::default());
            comparison.count(ChangeVerdict::Faster) + comparison.count(ChangeVerdict::Slower) > 0
        });
        alarms.count() as u64
    }

    #[test]
    fn the_same_binary_shows_no_difference() {
        let tries = 1_000;
        let alarms = false_alarms(tries, &SimulatedNoise::default());
        assert!(alarms * 100 < tries, "{alarms} false alarms in {tries} comparisons");
    }

    #[test]
    fn layouts_that_come_in_kinds_show_no_difference() {
        for processes in [3, 5, 10] {
            let tries = 300;
            let noise = SimulatedNoise { processes, layouts: 0.10, ..SimulatedNoise::default() };
            let alarms = false_alarms(tries, &noise);
            assert!(alarms * 100 < tries, "{processes} processes: {alarms} false alarms");
        }
    }

    #[test]
    fn a_machine_that_drifts_shows_no_difference() {
        let tries = 300;
        for noise in [
            SimulatedNoise { between_runs: 0.3, ..SimulatedNoise::default() },
            SimulatedNoise { between_runs: 0.3, bounds: false, ..SimulatedNoise::default() },
            SimulatedNoise { rounds_drift: 0.2, ..SimulatedNoise::default() },
            SimulatedNoise { tails: 0.2, ..SimulatedNoise::default() },
        ] {
            let alarms = false_alarms(tries, &noise);
            assert!(alarms * 100 < tries, "{noise:?}: {alarms} false alarms");
        }
    }

    /// Noise as it was seen: a quiet machine, and one beside a load.
    fn machines(processes: usize) -> [SimulatedNoise; 2] {
        let quiet =
            SimulatedNoise { processes, layouts: 0.05, shifts: 0.01, ..SimulatedNoise::default() };
        let loaded = SimulatedNoise {
            offsets: 0.05,
            samples: 0.1,
            tails: 0.3,
            shifts: 0.05,
            bursts: 0.2,
            others: 0.5,
            ..quiet.clone()
        };
        [quiet, loaded]
    }

    #[test]
    fn the_same_binary_is_silent_in_all_but_a_thousandth_of_cells() {
        for processes in [3, 5, 10] {
            for noise in machines(processes) {
                let (mut cells, mut alarms) = (0, 0);
                for seed in 0..250 {
                    let base = Simulation::new(2 * seed, noise.clone()).run();
                    let new = Simulation::new(2 * seed + 1, noise.clone()).run();
                    let comparison = compare(&base, &new, Limits::default());
                    cells += comparison.cells.len();
                    alarms += comparison.count(ChangeVerdict::Faster)
                        + comparison.count(ChangeVerdict::Slower);
                }
                assert!(alarms * 1000 <= cells, "{noise:?}: {alarms} alarms in {cells} cells");
            }
        }
    }

    #[test]
    fn a_fifth_more_is_mostly_found_in_ten_processes_though_runs_differ() {
        let (tries, mut found) = (100, 0);
        for seed in 0..tries {
            let [noise, _] = machines(10);
            let noise = SimulatedNoise { layouts: 0.0, between_runs: 0.02, ..noise };
            let base = Simulation::new(2 * seed, noise.clone()).run();
            let new = Simulation::new(2 * seed + 1, noise).slower("s4", 1.2).run();
            let comparison = compare(&base, &new, Limits::default());
            found += u64::from(comparison.count(ChangeVerdict::Slower) > 0);
        }
        assert!(found >= 80, "{found} of {tries}");
    }

    #[test]
    fn a_phase_alone_does_not_change() {
        let quiet =
            SimulatedNoise { processes: 10, between_runs: 0.0, ..SimulatedNoise::default() };
        let mut base = Simulation::new(1, quiet.clone()).run();
        let mut new = Simulation::new(2, quiet).slower("s4", 1.4).run();
        for run in [&mut base, &mut new] {
            // A third of the whole.
            for measurement in &mut run.measurements {
                measurement.metric = match measurement.metric.as_str() {
                    "encode" => "encode/write".into(),
                    "project" => "encode".into(),
                    _ => continue,
                };
            }
        }
        let slower =
            |new: &Run| compare(&base, new, Limits::default()).count(ChangeVerdict::Slower);
        assert_eq!(slower(&new), 3);
        // The whole is as it was.
        let whole = |run: &Run| run.measurement("points=100", "s4", "encode").unwrap().clone();
        let place = new.measurements.iter().position(|m| *m == whole(&new)).unwrap();
        new.measurements[place] = whole(&base);
        assert_eq!(slower(&new), 1);
    }

    #[test]
    fn few_cells_of_the_same_binary_say_so_in_words() {
        let noise = SimulatedNoise {
            processes: 10,
            samples: 0.01,
            offsets: 0.005,
            ..SimulatedNoise::default()
        };
        let base = Simulation::new(1, noise.clone()).run();
        let new = Simulation::new(2, noise).run();
        let comparison = compare(&base, &new, Limits::default());
        assert_eq!(comparison.count(ChangeVerdict::NoDifference), comparison.cells.len());
        assert!(!comparison.regressed());
        assert!(!comparison.drift.is_empty());
        let same = compare(&base, &base, Limits::default());
        assert_eq!(same.count(ChangeVerdict::NoDifference), same.cells.len());
    }

    #[test]
    fn a_real_slowdown_is_found_and_nothing_else() {
        for (processes, wanted) in [(5, 20), (10, 99)] {
            let (tries, mut found) = (100, 0);
            for seed in 0..tries {
                let noise =
                    SimulatedNoise { processes, between_runs: 0.02, ..SimulatedNoise::default() };
                let base = Simulation::new(2 * seed, noise.clone()).run();
                let new = Simulation::new(2 * seed + 1, noise).slower("s4", 1.2).run();
                let comparison = compare(&base, &new, Limits::default());
                let slower = |cell: &&Cell| cell.verdict == ChangeVerdict::Slower;
                found += u64::from(comparison.cells.iter().any(|c| slower(&c)));
                assert!(comparison.cells.iter().filter(slower).all(|c| c.subject == "s4"));
                assert_eq!(comparison.count(ChangeVerdict::Faster), 0);
            }
            assert!(found >= wanted, "{processes} processes: {found} of {tries}");
        }
    }

    #[test]
    fn changes_are_found_where_most_cells_changed() {
        let factors = [("s1", 0.3), ("s2", 0.5), ("s3", 1.8), ("s4", 3.0), ("s5", 0.6)];
        let (tries, mut found) = (50, 0);
        for seed in 0..tries {
            let noise = SimulatedNoise { processes: 10, ..SimulatedNoise::default() };
            let base = Simulation::new(2 * seed, noise.clone()).run();
            let new = Simulation::new(2 * seed + 1, noise);
            let new = factors.iter().fold(new, |new, (subject, f)| new.slower(subject, *f)).run();
            for cell in compare(&base, &new, Limits::default()).cells {
                let factor = factors.iter().find(|(subject, _)| *subject == cell.subject);
                let wanted = match factor {
                    Some((_, factor)) if *factor > 1.0 => ChangeVerdict::Slower,
                    Some(_) => ChangeVerdict::Faster,
                    None => ChangeVerdict::NoDifference,
                };
                let silent = [ChangeVerdict::CannotTell, ChangeVerdict::NoDifference]
                    .contains(&cell.verdict);
                assert!(silent || cell.verdict == wanted, "{cell:?}");
                found += usize::from(factor.is_some() && cell.verdict == wanted);
            }
        }
        let changed = factors.len() * Simulation::METRICS.len() * tries as usize;
        assert!(found * 100 > changed * 95, "{found} of {changed}");
    }

    #[test]
    fn a_speed_up_is_found_on_a_machine_that_drifted() {
        let noise =
            SimulatedNoise { processes: 10, between_runs: 0.15, ..SimulatedNoise::default() };
        let base = Simulation::new(11, noise.clone()).run();
        let new = Simulation::new(12, noise).slower("s4", 0.5).run();
        let comparison = compare(&base, &new, Limits::default());
        assert_eq!(comparison.count(ChangeVerdict::Faster), Simulation::METRICS.len());
        assert!(!comparison.regressed());
    }

    #[test]
    fn what_moves_as_a_whole_is_not_blamed_on_the_codecs() {
        let noise =
            SimulatedNoise { processes: 10, between_runs: 0.0, ..SimulatedNoise::default() };
        let base = Simulation::new(21, noise.clone()).run();
        let new = Simulation::new(22, noise).all_slower(1.5).run();
        let comparison = compare(&base, &new, Limits::default());
        assert_eq!(comparison.count(ChangeVerdict::Slower), 0);
        assert!((comparison.machine_drift().unwrap() - 1.5).abs() < 0.1);
        assert!(comparison.cells.iter().any(|cell| cell.reason.is_some()));
    }

    #[test]
    fn few_processes_cannot_tell() {
        let noise = SimulatedNoise { processes: 2, ..SimulatedNoise::default() };
        let base = Simulation::new(1, noise.clone()).run();
        let comparison = compare(&base, &base, Limits::default());
        assert_eq!(comparison.count(ChangeVerdict::CannotTell), comparison.cells.len());
    }

    #[test]
    fn what_is_lost_or_larger_is_a_regression() {
        let mut base = Simulation::new(1, SimulatedNoise::default()).run();
        base.facts.push(crate::run::Fact {
            case: "points=100".into(),
            subject: "s1".into(),
            metric: "size".into(),
            unit: "B".into(),
            value: 100.0,
        });
        let mut new = base.clone();
        new.facts[0].value = 104.0;
        assert!(!compare(&base, &new, Limits::default()).regressed());
        new.facts[0].value = 106.0;
        assert!(compare(&base, &new, Limits::default()).regressed());
        new.facts[0].value = 100.0;
        new.measurements.retain(|m| m.subject != "s1");
        new.subjects[1].status = Status::Failed("it crashed".into());
        let comparison = compare(&base, &new, Limits::default());
        assert_eq!(comparison.lost, ["s1 failed in the new run: it crashed"]);
        assert!(comparison.regressed());
    }
}
