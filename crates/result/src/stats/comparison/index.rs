//! The measurements of a run, and what each is held against.

use indexmap::IndexMap;

use super::super::sample::median;
use super::change::ComparisonView;
use super::sides::CellMedians;
use crate::run::{Measurement, Run};

/// Other subjects that make their median a view.
const FEWEST_OTHERS: usize = 3;

/// The measurements of a run by case, subject and metric.
pub(super) struct MeasurementIndex<'a> {
    run: &'a Run,
    pub(super) measurements: IndexMap<(&'a str, &'a str, &'a str), &'a Measurement>,
}

impl<'a> MeasurementIndex<'a> {
    pub(super) fn from_run(run: &'a Run) -> MeasurementIndex<'a> {
        let key = |m: &'a Measurement| (m.case.as_str(), m.subject.as_str(), m.metric.as_str());
        MeasurementIndex {
            run,
            measurements: run.measurements.iter().map(|m| (key(m), m)).collect(),
        }
    }

    fn find(&self, case: &str, subject: &str, metric: &str) -> Option<&'a Measurement> {
        self.measurements.get(&(case, subject, metric)).copied()
    }

    pub(super) fn is_bound(&self, measurement: &Measurement) -> bool {
        self.run.subject(&measurement.subject).is_some_and(|subject| subject.bound)
    }

    /// The subjects, bounds or not, that both runs measured beside `like`.
    fn common_subjects<'s>(
        &'s self,
        like: &'s Measurement,
        other: &'s MeasurementIndex,
        bound: bool,
    ) -> impl Iterator<Item = &'s str> {
        self.run
            .subjects
            .iter()
            .filter(move |subject| subject.bound == bound && subject.id != like.subject)
            .map(|subject| subject.id.as_str())
            .filter(|id| self.find(&like.case, id, &like.metric).is_some())
            .filter(|id| other.find(&like.case, id, &like.metric).is_some())
    }

    /// The slowest bound: the one that is most like a codec.
    fn slowest_bound<'s>(
        &'s self,
        like: &'s Measurement,
        other: &'s MeasurementIndex,
    ) -> Option<&'s str> {
        let time = |id: &str| self.find(&like.case, id, &like.metric).map_or(0.0, median_of);
        self.common_subjects(like, other, true).max_by(|a, b| time(a).total_cmp(&time(b)))
    }

    fn other_subjects<'s>(
        &'s self,
        like: &'s Measurement,
        other: &'s MeasurementIndex,
    ) -> Vec<&'s str> {
        self.common_subjects(like, other, false).collect()
    }
}

/// The logarithm of each process's median. Samples that are not positive have
/// none and are left out.
pub(crate) fn process_medians(measurement: &Measurement) -> Vec<f64> {
    let logs = |process: &Vec<Option<f64>>| {
        median(process.iter().flatten().filter(|v| **v > 0.0).map(|v| v.ln()))
    };
    measurement.samples.iter().filter_map(logs).collect()
}

/// For each process, the median over its rounds of the logarithm of the sample
/// less that of the machine's pace in the same round: the median of how far
/// each of `references` is off its level there.
fn relative(of: &Measurement, references: &[(&Measurement, f64)]) -> Vec<f64> {
    let log = |m: &Measurement, process: usize, round: usize| {
        let sample = *m.samples.get(process)?.get(round)?;
        sample.filter(|v| *v > 0.0).map(f64::ln)
    };
    let rounds = |process: usize| {
        let paced = (0..of.samples[process].len()).filter_map(move |round| {
            let off = |(m, level): &(&Measurement, f64)| Some(log(m, process, round)? - level.ln());
            let pace = median(references.iter().filter_map(off))?;
            Some(log(of, process, round)? - pace)
        });
        median(paced)
    };
    (0..of.samples.len()).filter_map(rounds).collect()
}

pub(super) fn median_of(measurement: &Measurement) -> f64 {
    median(process_medians(measurement)).map_or(0.0, f64::exp)
}

/// All views of a cell that both runs offer.
pub(super) fn views(
    base: &MeasurementIndex,
    new: &MeasurementIndex,
    in_base: &Measurement,
    in_new: &Measurement,
) -> Vec<CellMedians> {
    let mut sides = vec![CellMedians {
        view: ComparisonView::Times,
        base: process_medians(in_base),
        new: process_medians(in_new),
    }];
    let mut against = |view, subjects: Vec<&str>| {
        let in_run = |index: &MeasurementIndex, m: &Measurement| {
            let level = |id: &str| Some(median_of(base.find(&m.case, id, &m.metric)?));
            let references: Vec<(&Measurement, f64)> = subjects
                .iter()
                .filter_map(|id| Some((index.find(&m.case, id, &m.metric)?, level(id)?)))
                .collect();
            relative(m, &references)
        };
        sides.push(CellMedians { view, base: in_run(base, in_base), new: in_run(new, in_new) });
    };
    if let Some(bound) = base.slowest_bound(in_base, new) {
        against(ComparisonView::Bound, vec![bound]);
    }
    let others = base.other_subjects(in_base, new);
    if others.len() >= FEWEST_OTHERS {
        against(ComparisonView::Others, others);
    }
    sides
}
