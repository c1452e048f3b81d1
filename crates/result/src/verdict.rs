//! Whether a result meets what is required of it.
//!
//! A requirement holds if what is known of the figure is within the limit: of a
//! count the count itself, of a time the whole of its 95 % interval. It does not
//! hold if all of the interval is beyond the limit; in between nothing can be
//! told.

use crate::requirement::{Relation, Requirement, Requirements, Statistic};
use crate::run::{Case, Run, Status, Subject};
use crate::run_kind::RunKind;
use crate::stats::{tail, Summary};
use crate::warning;

/// Counts of mishaps, which are left out of a result where they are 0.
const MISHAPS: [&str; 6] = ["unsent", "repeated", "damaged", "foreign", "timeouts", "udp-errors"];

/// Whether it is counted only if it happened: where it is missing it is 0.
pub fn is_mishap(metric: &str) -> bool {
    MISHAPS.contains(&metric)
}

/// What is to be said of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequirementVerdict {
    /// It holds.
    Pass,
    /// The interval holds the limit, or there are too few samples.
    CannotTell,
    /// It does not hold.
    Fail,
}

impl RequirementVerdict {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            RequirementVerdict::Pass => "pass",
            RequirementVerdict::CannotTell => "cannot tell",
            RequirementVerdict::Fail => "fail",
        }
    }
}

/// A requirement held against one subject on one case.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementFinding {
    /// Place of the requirement among all.
    pub requirement: usize,
    /// The case; empty if it is about the whole run.
    pub case: String,
    /// Title of the subject; empty if it is about the whole run.
    pub subject: String,
    /// What was found, if anything.
    pub found: Option<MeasuredFigure>,
    /// What is to be said of it.
    pub verdict: RequirementVerdict,
    /// Why nothing can be told.
    pub why: Option<String>,
}

/// A figure with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredFigure {
    /// The figure, if there are enough samples for it.
    pub value: Option<f64>,
    /// Lower end of its interval; a count is its own.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Unit of all three.
    pub unit: String,
    /// What keeps an end from being known.
    pub lacks: Option<String>,
}

impl MeasuredFigure {
    fn exact(value: f64, unit: &str) -> MeasuredFigure {
        let known = Some(value);
        MeasuredFigure { value: known, low: known, high: known, unit: unit.into(), lacks: None }
    }
}

impl Requirements {
    /// Holds a result against them, subject by subject and case by case.
    pub fn check(&self, run: &Run) -> Vec<RequirementFinding> {
        let mut findings = Vec::new();
        if run.warnings.iter().any(|warning| warning.code == warning::INTERRUPTED) {
            findings.push(RequirementFinding::unknown(0, "the run was interrupted before its end"));
        }
        for (index, requirement) in self.all().iter().enumerate() {
            findings.extend(requirement.check(index, run));
        }
        findings
    }
}

/// The verdict on all findings together.
pub fn overall(findings: &[RequirementFinding]) -> RequirementVerdict {
    findings.iter().map(|finding| finding.verdict).max().unwrap_or(RequirementVerdict::CannotTell)
}

impl RequirementFinding {
    fn unknown(requirement: usize, why: impl Into<String>) -> RequirementFinding {
        RequirementFinding {
            requirement,
            case: String::new(),
            subject: String::new(),
            found: None,
            verdict: RequirementVerdict::CannotTell,
            why: Some(why.into()),
        }
    }
}

impl Requirement {
    fn check(&self, index: usize, run: &Run) -> Vec<RequirementFinding> {
        let means = |said: &Option<String>, names: &[&str]| {
            said.as_ref()
                .is_none_or(|said| names.iter().any(|name| name.eq_ignore_ascii_case(said)))
        };
        let mut findings = Vec::new();
        for case in run.cases.iter().filter(|case| means(&self.case, &[&case.id])) {
            let subjects: Vec<&Subject> = run
                .subjects
                .iter()
                .filter(|s| means(&self.subject, &[&s.id, &s.title]))
                .filter(|s| !is_beside(run, s) || self.subject.is_some())
                .collect();
            // What no subject has is no metric of this case: a step without steps.
            let measured = |s: &&Subject| self.find(run, case, s).is_some();
            if !subjects.iter().any(measured) {
                continue;
            }
            findings.extend(subjects.iter().filter_map(|s| self.judge(index, run, case, s)));
        }
        if findings.is_empty() {
            findings.push(RequirementFinding::unknown(index, self.absence_reason(run)));
        }
        findings
    }

    /// The verdict on one subject; none if it was not to be measured here.
    fn judge(
        &self,
        index: usize,
        run: &Run,
        case: &Case,
        subject: &Subject,
    ) -> Option<RequirementFinding> {
        let found = self.find(run, case, subject);
        let (mut verdict, mut why) = match (&subject.status, &found) {
            (Status::Failed(reason), _) => (RequirementVerdict::Fail, Some(reason.clone())),
            (Status::Skipped(reason) | Status::Rejected(reason), None) => {
                self.subject.as_ref()?;
                (RequirementVerdict::CannotTell, Some(reason.clone()))
            }
            (_, None) => {
                (RequirementVerdict::CannotTell, Some("it has no such figure in this case".into()))
            }
            (_, Some(found)) => self.compare(found),
        };
        let is_not = |fact: &str| run.fact(&case.id, &subject.id, fact) == Some(0.0);
        if is_not("valid") {
            verdict = RequirementVerdict::CannotTell;
            why = Some("the machine disturbed the run; see the warnings".into());
        } else if is_not("complete") && verdict == RequirementVerdict::Pass {
            verdict = RequirementVerdict::CannotTell;
            why = Some("the run ended early".into());
        }
        let (case, subject) = (case.id.clone(), subject.title.clone());
        Some(RequirementFinding { requirement: index, case, subject, found, verdict, why })
    }

    /// Holds a figure against the limit.
    fn compare(&self, found: &MeasuredFigure) -> (RequirementVerdict, Option<String>) {
        // Nothing is nothing in any unit.
        let is_nothing = self.limit == 0.0 && self.unit == "1";
        if found.unit != self.unit && !is_nothing {
            let why = format!(
                "'{}' is in {}, but the limit has another unit",
                self.metric,
                unit_in_words(found)
            );
            return (RequirementVerdict::CannotTell, Some(why));
        }
        // The end that must be within the limit, and the one that must be beyond.
        let (within, beyond) = match self.relation {
            Relation::Less | Relation::AtMost => (found.high, found.low),
            Relation::AtLeast | Relation::More => (found.low, found.high),
            Relation::Equal if found.low == found.high => (found.low, found.high),
            Relation::Equal => {
                let why = "a figure with an interval cannot be tested for equality; use < or >";
                return (RequirementVerdict::CannotTell, Some(why.into()));
            }
        };
        if within.is_some_and(|end| self.holds(end)) {
            return (RequirementVerdict::Pass, None);
        }
        if beyond.is_some_and(|end| !self.holds(end)) {
            return (RequirementVerdict::Fail, None);
        }
        let why = found.lacks.clone().unwrap_or("the limit lies within its interval".into());
        (RequirementVerdict::CannotTell, Some(why))
    }

    fn holds(&self, value: f64) -> bool {
        match self.relation {
            Relation::Less => value < self.limit,
            Relation::AtMost => value <= self.limit,
            Relation::Equal => value == self.limit,
            Relation::AtLeast => value >= self.limit,
            Relation::More => value > self.limit,
        }
    }

    /// The figure of a subject on a case.
    fn find(&self, run: &Run, case: &Case, subject: &Subject) -> Option<MeasuredFigure> {
        let key = (case.id.as_str(), subject.id.as_str());
        match self.statistic {
            Statistic::Quoted => table_figure(run, key, &self.metric),
            Statistic::Share(share) => time_within(run, key, &self.metric, share),
            Statistic::Largest => {
                let fact = fact(run, key, &format!("{}/max", self.metric))?;
                Some(MeasuredFigure::exact(fact.0, fact.1))
            }
        }
    }

    /// Why there is nothing to judge.
    fn absence_reason(&self, run: &Run) -> String {
        let missing = |said: &Option<String>, what: &str, known: Vec<&str>| {
            let said = said.as_ref()?;
            let is_known = known.iter().any(|name| name.eq_ignore_ascii_case(said));
            (!is_known)
                .then(|| format!("there is no {what} '{said}'; choose from {}", known.join("; ")))
        };
        let subjects = run.subjects.iter().flat_map(|s| [s.id.as_str()]).collect();
        let titled = self.subject.as_ref().is_some_and(|said| {
            run.subjects.iter().any(|subject| subject.title.eq_ignore_ascii_case(said))
        });
        let cases = run.cases.iter().map(|case| case.id.as_str()).collect();
        if let Some(why) = missing(&self.subject, "subject", subjects).filter(|_| !titled) {
            return why;
        }
        if let Some(why) = missing(&self.case, "case", cases) {
            return why;
        }
        let sampled = run.measurements.iter().any(|m| m.metric == self.metric);
        if sampled && self.statistic != Statistic::Quoted {
            return format!(
                "each sample of '{}' is a mean of many operations, so it has no percentiles; \
                 require the median: '{} < …'",
                self.metric, self.metric
            );
        }
        let metrics = run.measurements.iter().map(|m| &m.metric);
        let mut metrics: Vec<&str> =
            metrics.chain(run.facts.iter().map(|fact| &fact.metric)).map(String::as_str).collect();
        metrics.sort_unstable();
        metrics.dedup();
        metrics.retain(|metric| !metric.contains("/p"));
        format!("'{}' was not measured; choose from {}", self.metric, metrics.join(", "))
    }
}

/// Whether a subject is there to compare with, and not what is required of: a bound, or what
/// a change of a chain brings.
fn is_beside(run: &Run, subject: &Subject) -> bool {
    let drawn = run.subjects.first().is_some_and(|first| first.id == subject.id);
    subject.bound || (run.kind == RunKind::Chain && !drawn)
}

fn fact<'r>(run: &'r Run, (case, subject): (&str, &str), metric: &str) -> Option<(f64, &'r str)> {
    let of = |f: &&crate::run::Fact| f.case == case && f.subject == subject && f.metric == metric;
    run.facts.iter().find(of).map(|fact| (fact.value, fact.unit.as_str()))
}

/// The figure as tables have it.
fn table_figure(run: &Run, key: (&str, &str), metric: &str) -> Option<MeasuredFigure> {
    if let Some(measurement) = run.measurement(key.0, key.1, metric) {
        let summary = Summary::from_measurement(measurement)?;
        let lacks = "there are too few samples for an interval of its median";
        return Some(MeasuredFigure {
            value: Some(summary.median),
            low: summary.interval.map(|interval| interval.low),
            high: summary.interval.map(|interval| interval.high),
            unit: measurement.unit.clone(),
            lacks: summary.interval.is_none().then(|| lacks.into()),
        });
    }
    if let Some((value, unit)) = fact(run, key, metric) {
        return Some(MeasuredFigure::exact(value, unit));
    }
    // Where losses are counted, so are mishaps.
    let counted = is_mishap(metric) && fact(run, key, "lost").is_some();
    counted.then(|| MeasuredFigure::exact(0.0, "1")).or_else(|| time_within(run, key, metric, 0.5))
}

/// The time that a share of all stays within.
fn time_within(run: &Run, key: (&str, &str), metric: &str, share: f64) -> Option<MeasuredFigure> {
    let of = |curve: &&crate::run::Curve| {
        curve.case == key.0
            && curve.subject == key.1
            && curve.metric == metric
            && curve.over == "share"
    };
    let curve = run.curves.iter().find(of)?;
    let largest = fact(run, key, &format!("{metric}/max")).map(|(value, _)| value);
    // A share that is not among those told is taken from the next one, on the
    // side that claims less.
    let up = |share: f64| {
        let next = curve.points.iter().find(|(known, _)| *known >= share - 1e-12);
        next.map(|(_, value)| *value).or(largest)
    };
    let down = |share: f64| {
        let last = curve.points.iter().rev().find(|(known, _)| *known <= share + 1e-12);
        last.map(|(_, value)| *value)
    };
    let mut found = MeasuredFigure {
        value: curve.points.last().filter(|(last, _)| share <= *last).and_then(|_| up(share)),
        low: None,
        high: None,
        unit: curve.unit.clone(),
        lacks: None,
    };
    let Some((count, _)) = fact(run, key, &format!("{metric}/count")) else {
        found.lacks = Some("the result does not give the number of its samples".into());
        return Some(found);
    };
    let ends = tail::percentile_ranks(share, count as u64);
    found.low = ends.low.and_then(down);
    found.high = ends.high.and_then(up);
    if ends.high.is_none() {
        found.lacks = Some(format!(
            "p{} needs {} samples, but there are {count}",
            percentile(share),
            tail::min_samples(share)
        ));
    }
    Some(found)
}

/// `99.9` for 0.999.
fn percentile(share: f64) -> String {
    let text = format!("{:.7}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unit_in_words(found: &MeasuredFigure) -> &str {
    match found.unit.as_str() {
        "ns" => "a unit of time (ns, us, ms, s)",
        "B" => "bytes (B, kB, MB, GB)",
        "1" => "no unit, as it is a count",
        "1/s" => "a rate (/s, Hz, kHz)",
        unit => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Curve, Fact, Measurement};
    use crate::stats::comparison::simulation::{SimulatedNoise, Simulation};
    use crate::warning::Warning;

    const SHARES: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999];

    /// A result with one subject and one case.
    fn run() -> Run {
        let mut run = Simulation::new(1, SimulatedNoise::default()).run();
        run.measurements.clear();
        run.subjects.truncate(1);
        run.subjects[0].bound = false;
        run.cases.truncate(1);
        run
    }

    fn fact(run: &mut Run, metric: &str, unit: &str, value: f64) {
        run.facts.push(Fact {
            case: run.cases[0].id.clone(),
            subject: run.subjects[0].id.clone(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        });
    }

    /// Latencies of 1 to `count` µs.
    fn latencies(run: &mut Run, count: u64) {
        let times: Vec<f64> = (1..=count).map(|time| time as f64 * 1e3).collect();
        run.curves.push(Curve {
            case: run.cases[0].id.clone(),
            subject: run.subjects[0].id.clone(),
            metric: "latency".into(),
            unit: "ns".into(),
            over: "share".into(),
            points: tail::distribution(&times, &SHARES),
        });
        fact(run, "latency/max", "ns", count as f64 * 1e3);
        fact(run, "latency/count", "1", count as f64);
    }

    fn judged(run: &Run, text: &str) -> (RequirementVerdict, String) {
        let findings = text.parse::<Requirements>().unwrap().check(run);
        let why: Vec<String> = findings.iter().filter_map(|f| f.why.clone()).collect();
        (overall(&findings), why.join("; "))
    }

    #[test]
    fn counts_are_held_against_their_limit() {
        let mut run = run();
        fact(&mut run, "lost", "1", 3.0);
        fact(&mut run, "throughput", "MB/s", 99.5);
        for (text, verdict) in [
            ("lost = 0", RequirementVerdict::Fail),
            ("lost <= 3", RequirementVerdict::Pass),
            ("lost < 3", RequirementVerdict::Fail),
            ("lost == 3, throughput >= 99 MB/s", RequirementVerdict::Pass),
            ("lost = 3, throughput > 0.0995GB/s", RequirementVerdict::Fail),
            ("damaged = 0, timeouts = 0", RequirementVerdict::Pass),
            ("throughput > 1000kB/s", RequirementVerdict::Pass),
            ("throughput = 0", RequirementVerdict::Fail),
            ("throughput > 0", RequirementVerdict::Pass),
        ] {
            assert_eq!(judged(&run, text).0, verdict, "{text}");
        }
    }

    #[test]
    fn a_percentile_needs_its_samples() {
        let mut run = run();
        latencies(&mut run, 1000);
        for text in ["p99 latency < 1ms", "latency p99 < 1001us", "latency/p99 <= 1ms"] {
            assert_eq!(judged(&run, text).0, RequirementVerdict::Pass, "{text}");
        }
        assert_eq!(judged(&run, "p99 latency < 900us").0, RequirementVerdict::Fail);
        // The 99th of a thousand lies between the 984th and the 997th.
        assert_eq!(judged(&run, "p99 latency < 992us").0, RequirementVerdict::CannotTell);
        let (verdict, why) = judged(&run, "p99.9 latency < 2ms");
        assert_eq!(verdict, RequirementVerdict::CannotTell);
        assert_eq!(why, "p99.9 needs 3688 samples, but there are 1000");
        assert_eq!(judged(&run, "p99.9 latency < 100us").0, RequirementVerdict::Fail, "even so");
        assert_eq!(judged(&run, "max latency <= 1ms").0, RequirementVerdict::Pass);
        assert_eq!(judged(&run, "max latency < 1ms").0, RequirementVerdict::Fail);
    }

    #[test]
    fn what_is_sampled_is_judged_by_its_interval() {
        let mut run = run();
        let of =
            |base: f64| -> Vec<Option<f64>> { (0..9).map(|i| Some(base + f64::from(i))).collect() };
        run.measurements.push(Measurement {
            case: run.cases[0].id.clone(),
            subject: run.subjects[0].id.clone(),
            metric: "encode".into(),
            unit: "ns".into(),
            iterations: vec![1000; 5],
            samples: [90.0, 95.0, 100.0, 105.0, 110.0].map(of).to_vec(),
        });
        assert_eq!(judged(&run, "encode < 1us").0, RequirementVerdict::Pass);
        assert_eq!(judged(&run, "median encode < 50ns").0, RequirementVerdict::Fail);
        let (verdict, why) = judged(&run, "encode < 105ns");
        assert_eq!(
            (verdict, why.as_str()),
            (RequirementVerdict::CannotTell, "the limit lies within its interval")
        );
        let (verdict, why) = judged(&run, "encode = 104ns");
        assert!(
            verdict == RequirementVerdict::CannotTell
                && why.contains("cannot be tested for equality"),
            "{why}"
        );
        let (verdict, why) = judged(&run, "p99 encode < 1us");
        assert!(
            verdict == RequirementVerdict::CannotTell && why.contains("no percentiles"),
            "{why}"
        );
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let mut run = run();
        fact(&mut run, "lost", "1", 0.0);
        latencies(&mut run, 1000);
        for (text, wanted) in [
            ("latnecy < 1ms", "'latnecy' was not measured; choose from"),
            ("lost of tpc = 0", "there is no subject 'tpc'; choose from"),
            ("lost at \"1 B, 2 ms\" = 0", "there is no case '1 B, 2 ms'; choose from"),
            ("latency < 500", "'latency' is in a unit of time"),
            ("lost < 1ms", "'lost' is in no unit, as it is a count"),
        ] {
            let (verdict, why) = judged(&run, text);
            assert_eq!(verdict, RequirementVerdict::CannotTell, "{text}");
            assert!(why.contains(wanted), "{text}: {why}");
        }
        let (subject, case) = (run.subjects[0].title.to_uppercase(), run.cases[0].id.clone());
        let named = format!("lost of \"{subject}\" at \"{case}\" = 0");
        assert_eq!(judged(&run, &named).0, RequirementVerdict::Pass);
    }

    #[test]
    fn a_run_that_is_not_to_be_trusted_passes_nothing() {
        let mut broken = run();
        fact(&mut broken, "lost", "1", 0.0);
        let mut invalid = broken.clone();
        fact(&mut invalid, "valid", "1", 0.0);
        let mut failed = broken.clone();
        failed.subjects[0].status = Status::Failed("it died".into());
        let mut interrupted = broken.clone();
        interrupted.warnings.push(Warning {
            code: warning::INTERRUPTED.into(),
            text: String::new(),
            remedy: String::new(),
        });
        assert_eq!(judged(&broken, "lost = 0").0, RequirementVerdict::Pass);
        fact(&mut broken, "complete", "1", 0.0);
        for (run, verdict) in [
            (&broken, RequirementVerdict::CannotTell),
            (&invalid, RequirementVerdict::CannotTell),
            (&interrupted, RequirementVerdict::CannotTell),
            (&failed, RequirementVerdict::Fail),
        ] {
            assert_eq!(judged(run, "lost = 0").0, verdict);
        }
        assert_eq!(
            judged(&broken, "lost = 1").0,
            RequirementVerdict::Fail,
            "it will not get better"
        );
    }
}
