//! What the harness itself costs, in each language. What takes less than twice
//! as long cannot be told from it.

use wiregauge_result::run::{Run, Subject};
use wiregauge_result::stats::Summary;

/// Id of the empty operation; in other languages than Rust with the language
/// after it, as `noop-cpp`.
const NOOP_ID: &str = "noop";
/// How many times the empty operation a figure must be, to be told from it.
const FLOOR_FACTOR: f64 = 2.0;

/// The floors of one metric of a case.
#[derive(Clone, Debug, Default)]
pub struct Floors<'a>(Vec<(&'a str, f64)>);

impl<'a> Floors<'a> {
    /// What the bounds that do nothing took.
    pub fn from_run(run: &'a Run, case: &str, metric: &str) -> Floors<'a> {
        let nothing = |subject: &&Subject| {
            let rest = subject.id.strip_prefix(NOOP_ID);
            subject.bound && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let floor = |subject: &'a Subject| {
            let measurement = run.measurement(case, &subject.id, metric)?;
            let time = Summary::from_measurement(measurement)?.median;
            (measurement.unit == "ns" && time > 0.0)
                .then_some((subject.language.as_str(), FLOOR_FACTOR * time))
        };
        Floors(run.subjects.iter().filter(nothing).filter_map(floor).collect())
    }

    /// The time below which a subject's cannot be told from the harness's.
    pub fn threshold(&self, subject: &Subject) -> Option<f64> {
        let own = self.0.iter().find(|(language, _)| *language == subject.language);
        own.map(|(_, end)| *end)
    }

    /// Whether a subject's time cannot be told from the harness's.
    pub fn is_at_floor(&self, subject: &Subject, time: f64) -> bool {
        self.threshold(subject).is_some_and(|end| time < end)
    }

    /// How many times the end of the floor a subject's time is at least: of its
    /// own language's, or of the highest.
    pub fn at_least(&self, subject: &Subject, time: f64) -> Option<f64> {
        let highest = self.0.iter().map(|(_, end)| *end).fold(0.0, f64::max);
        let end = self.threshold(subject).unwrap_or(highest);
        (end > 0.0).then(|| time / end)
    }
}
