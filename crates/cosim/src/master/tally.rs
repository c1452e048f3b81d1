//! What the steps of a subject on a case come to, over all of its processes.

use wiregauge_result::run::{Fact, SlowestSample};
use wiregauge_sample_log as sample_log;
use wiregauge_timing::misses::Misses;
use wiregauge_timing::slowest::{SlowSample, MAX_SLOWEST};

use crate::master::record::StepRecord;

/// What they come to.
#[derive(Debug, Default)]
pub struct StepTally {
    /// What a step may take; none so far.
    cycle: Option<u64>,
    late: u64,
    /// The longest run of misses and the process that it is of.
    misses: (usize, Misses),
    /// The slowest and their processes, the slowest first.
    slowest: Vec<(usize, SlowSample)>,
    kept: u64,
    left_out: u64,
}

impl StepTally {
    /// The steps of one more process, and what its host said of the slowest.
    pub fn add(&mut self, process: usize, record: &StepRecord, slowest: &[SlowSample]) {
        self.kept += record.kept.len() as u64;
        self.left_out += record.left_out;
        if !record.counts() {
            return;
        }
        self.cycle = Some(record.cycle);
        self.late += record.late;
        if record.misses().longest > self.misses.1.longest {
            self.misses = (process, record.misses());
        }
        self.slowest.extend(record.counted_slow_steps(slowest).map(|slow| (process, slow)));
        self.slowest.sort_by_key(|(_, slow)| std::cmp::Reverse(slow.time));
        self.slowest.truncate(MAX_SLOWEST);
    }

    /// As figures.
    pub fn facts(&self, case: &str, subject: &str) -> Vec<Fact> {
        let Some(cycle) = self.cycle else { return Vec::new() };
        let fact = |metric: &str, unit: &str, value: f64| Fact {
            case: case.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        };
        let (process, misses) = &self.misses;
        let mut facts =
            vec![fact("cycle/time", "ns", cycle as f64), fact("late", "1", self.late as f64)];
        facts.extend(sample_log::miss_facts(case, subject, misses));
        if misses.longest > 0 {
            facts.push(fact("misses/longest/process", "1", *process as f64));
        }
        facts
    }

    /// The slowest of all.
    pub fn slowest(&self, case: &str, subject: &str) -> Vec<SlowestSample> {
        let told = |(process, slow): &(usize, SlowSample)| SlowestSample {
            process: Some(*process as u64),
            ..sample_log::slow_sample(case, subject, "exchange", slow)
        };
        self.slowest.iter().map(told).collect()
    }

    /// What is to be said of them in words.
    pub fn notes(&self, title: &str) -> Vec<String> {
        let (process, misses) = &self.misses;
        let were = "took longer than the step size";
        let whole = format!("process {}", process + 1);
        let mut notes = Vec::new();
        notes.extend(
            sample_log::describe_misses(misses, "step", were, &whole)
                .map(|told| format!("{title}: {told}")),
        );
        if self.kept > 0 && self.left_out > 0 {
            notes.push(format!(
                "{title}: of {} steps the first {} are in the file of samples",
                self.kept + self.left_out,
                self.kept
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::job::StepTimes;

    fn record(times: &[u64]) -> StepRecord {
        let step =
            |(number, &model)| StepTimes { number, began: number, model, ..StepTimes::default() };
        let steps: Vec<StepTimes> = (0..).zip(times).map(step).collect();
        let mut record = StepRecord::new(100, 2);
        record.add(0, true, &steps);
        record
    }

    #[test]
    fn the_worst_process_tells_the_run_of_misses() {
        let mut tally = StepTally::default();
        tally.add(0, &StepRecord::new(100, 2), &[]);
        assert!(tally.facts("c", "s").is_empty() && tally.notes("S").is_empty());
        tally.add(0, &record(&[1, 200]), &[]);
        tally.add(1, &record(&[1, 200, 200, 1]), &[]);
        tally.add(2, &record(&[200, 200]), &[]);
        let facts = tally.facts("c", "s");
        let fact = |metric: &str| facts.iter().find(|f| f.metric == metric).unwrap().value;
        assert_eq!((fact("cycle/time"), fact("late")), (100.0, 5.0));
        assert_eq!((fact("misses/longest"), fact("misses/longest/process")), (2.0, 1.0));
        assert_eq!(fact("misses/longest/sequence"), 1.0);
        let told = tally.notes("S").join("\n");
        assert!(told.contains("S: 2 steps in a row took longer than the step size"), "{told}");
        assert!(told.contains("into process 2") && told.contains("of 8 steps the first 6"));
    }

    #[test]
    fn the_slowest_of_all_processes_are_kept() {
        let mut tally = StepTally::default();
        let record = record(&[1; 40]);
        for process in 0..3 {
            let slow = |number| SlowSample {
                sequence: number,
                at: number,
                time: 100 - number + process,
                ..SlowSample::default()
            };
            let told: Vec<SlowSample> = (0..10).map(slow).collect();
            tally.add(process as usize, &record, &told);
        }
        let slowest = tally.slowest("c", "s");
        let first: Vec<(u64, Option<u64>)> =
            slowest.iter().take(3).map(|slow| (slow.value as u64, slow.process)).collect();
        assert_eq!(first, [(102, Some(2)), (101, Some(1)), (101, Some(2))]);
        assert_eq!(slowest.len(), 10);
    }
}
