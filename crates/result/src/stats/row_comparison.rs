//! Rows of one run that are held against each other.
//!
//! What disturbs the machine disturbs both sides of a round, so no bound and no other row has
//! to say how the machine moved: the ratios within rounds are the change, as they are of the
//! rows of a table. Processes are the unit here, too, and Bonferroni's correction over all
//! cells makes the confidence one of the whole table.

use super::comparison::{
    is_exact, is_side_measurement, judge, lost_line, process_medians, reconcile_phases, Cell,
    Change, Comparison, ComparisonView, FactChange, Limits, FEWEST_PROCESSES,
};
use super::ratio::Ratio;
use crate::row_pairs::RowPair;
use crate::run::{Fact, Measurement, Run};

/// Compares the rows that were measured for it: cells are named after the newer row. What was
/// counted of both is compared as in [`super::compare()`]. None where nothing is to be compared.
pub fn compare_rows(run: &Run) -> Option<Comparison> {
    let wanted = run.compared.as_ref()?;
    let limits = Limits { threshold: wanted.threshold(), ..Limits::default() };
    let of_old = |pair: &RowPair, m: &&Measurement| {
        m.subject == pair.old && !process_medians(m).is_empty() && !is_side_measurement(m, run)
    };
    let (mut found, mut lost, mut facts) = (Vec::new(), Vec::new(), Vec::new());
    let mut counted = false;
    for pair in &wanted.pairs {
        for old in run.measurements.iter().filter(|m| of_old(pair, m)) {
            let new = run.measurement(&old.case, &pair.new, &old.metric);
            match new.filter(|new| !process_medians(new).is_empty()) {
                Some(new) => found.push((old, new)),
                None => lost.push(lost_line(&old.case, &pair.new, &old.metric, run)),
            }
        }
        for fact in run.facts.iter().filter(|fact| fact.subject == pair.old) {
            let is_count = is_exact(&fact.metric);
            let fact = Fact { subject: pair.new.clone(), ..fact.clone() };
            match run.fact(&fact.case, &fact.subject, &fact.metric) {
                Some(now) => facts.extend(FactChange::from_fact(&fact, now, limits)),
                None if is_count => {
                    lost.push(lost_line(&fact.case, &fact.subject, &fact.metric, run));
                }
                None => {}
            }
            counted |= is_count;
        }
    }
    lost.dedup();
    let confidence = 1.0 - (1.0 - limits.confidence) / found.len().max(1) as f64;
    let cell = |(old, new): &(&Measurement, &Measurement)| {
        let change = change(old, new, confidence);
        let cell =
            judge(old, new, change.into_iter().collect(), (limits.threshold, limits.threshold));
        Cell { subject: new.subject.clone(), ..cell }
    };
    let mut cells: Vec<Cell> = found.iter().map(cell).collect();
    reconcile_phases(&mut cells);
    let (drift, added, busy) = (Vec::new(), Vec::new(), false);
    Some(Comparison { limits, cells, drift, facts, lost, added, busy, counted })
}

/// How the newer of two rows differs; none of too few processes.
fn change(old: &Measurement, new: &Measurement, confidence: f64) -> Option<Change> {
    let fewest = process_medians(old).len().min(process_medians(new).len());
    let ratio = Ratio::with_confidence(new, old, confidence)?;
    let interval = ratio.interval.filter(|_| fewest >= FEWEST_PROCESSES)?;
    let (view, ratio) = (ComparisonView::Times, ratio.median);
    Some(Change { view, ratio, low: interval.low, high: interval.high })
}

/// The older rows that could not be measured beside the newer ones: the newer row, and why.
pub fn missing_rows(run: &Run) -> Vec<(&str, &str)> {
    let pairs = run.compared.iter().flat_map(|compared| &compared.pairs);
    let missing = pairs.filter_map(|pair| {
        let (_, why) = run.subject(&pair.old)?.status.absence()?;
        Some((pair.new.as_str(), why))
    });
    missing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_pairs::RowPairs;
    use crate::run::Status;
    use crate::stats::comparison::simulation::{SimulatedNoise, Simulation};
    use crate::stats::comparison::ChangeVerdict;

    /// Each of four rows beside one that is the same but for `slower` of the last.
    fn pairs(seed: u64, noise: SimulatedNoise, slower: f64) -> Run {
        let mut run = Simulation::new(seed, noise).flat().slower("s8", slower).run();
        let pair = |at| RowPair { old: format!("s{at}"), new: format!("s{}", at + 4) };
        run.compared = Some(RowPairs { fail_above: None, pairs: (1..=4).map(pair).collect() });
        run.settings.processes = run.measurements[0].samples.len() as u32;
        run
    }

    /// A machine on which others work, and which drifts: both sides of a round see it.
    fn busy(processes: usize) -> SimulatedNoise {
        SimulatedNoise {
            processes,
            offsets: 0.01,
            rounds_drift: 0.1,
            between_runs: 0.3,
            tails: 0.2,
            others: 0.5,
            ..SimulatedNoise::default()
        }
    }

    #[test]
    fn the_same_rows_raise_no_alarm_in_ten_thousand_cells() {
        for processes in [3, 5, 10, 20] {
            let (mut cells, mut alarms) = (0, 0);
            for seed in 0..250 {
                let run = pairs(seed, busy(processes), 1.0);
                let comparison = compare_rows(&run).expect("rows are compared");
                cells += comparison.cells.len();
                alarms += comparison.count(ChangeVerdict::Slower);
                alarms += comparison.count(ChangeVerdict::Faster);
            }
            assert!(cells >= 2_500 && alarms == 0, "{processes}: {alarms} of {cells}");
        }
    }

    #[test]
    fn a_slowdown_is_found_from_what_is_said_to_be_the_smallest_on() {
        let tries = 100;
        let mut found = [0; 2];
        for seed in 0..tries {
            let smallest = compare_rows(&pairs(seed, busy(20), 1.0)).unwrap().resolution().unwrap();
            assert!((0.01..0.1).contains(&smallest), "{smallest}");
            for (found, factor) in found.iter_mut().zip([1.5 * smallest, 0.5 * smallest]) {
                let comparison = compare_rows(&pairs(seed, busy(20), 1.0 + factor)).unwrap();
                let slower: Vec<&Cell> = comparison
                    .cells
                    .iter()
                    .filter(|cell| cell.verdict == ChangeVerdict::Slower)
                    .collect();
                assert!(slower.iter().all(|cell| cell.subject == "s8"), "{slower:?}");
                *found += slower.len();
            }
        }
        let cells = tries as usize * Simulation::METRICS.len();
        assert!(found[0] * 100 >= cells * 90, "{found:?} of {cells}");
        assert!(found[1] * 100 <= cells * 10, "{found:?} of {cells}");
    }

    #[test]
    fn what_is_not_there_is_lost_or_missing_and_counts_are_compared() {
        let mut run = pairs(1, busy(5), 1.0);
        let fact = |subject: &str, value| Fact {
            case: "points=100".into(),
            subject: subject.into(),
            metric: "instructions/encode".into(),
            unit: "1".into(),
            value,
        };
        run.facts = vec![fact("s1", 1000.0), fact("s5", 1020.0)];
        let comparison = compare_rows(&run).unwrap();
        assert_eq!(comparison.facts.len(), 1);
        assert!(comparison.facts[0].regressed && comparison.regressed());
        run.facts[1].value = 1005.0;
        assert!(!compare_rows(&run).unwrap().regressed());
        run.facts.pop();
        assert!(compare_rows(&run).unwrap().regressed(), "they are no longer counted");
        run.facts.clear();

        run.measurements.retain(|one| one.subject != "s6");
        run.subjects[6].status = Status::Failed("it crashed".into());
        run.subjects[3].status = Status::Skipped("it is gone".into());
        let comparison = compare_rows(&run).unwrap();
        assert_eq!(comparison.lost, ["s6 failed in the new run: it crashed"]);
        assert_eq!(missing_rows(&run), [("s7", "it is gone")]);
        run.compared = None;
        assert!(compare_rows(&run).is_none() && missing_rows(&run).is_empty());
    }
}
