//! A gate by instructions: what it finds, and that it raises no false alarm. The figures are
//! those of a run of ten codecs; two runs gave the same.

use std::path::Path;

use wiregauge_result::random::Random;
use wiregauge_result::run::Run;
use wiregauge_result::stats::{compare, Comparison, Limits};

/// The limit of the gate: `--fail-above 0.5%`.
const LIMITS: Limits = Limits { threshold: 0.005, confidence: 0.99 };
/// How far two counts of the same program may be apart, with other options: twice what was
/// seen (docs/instructions.md).
const NOISE: f64 = 0.000_12;

fn counted() -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/instructions.json");
    let mut run = Run::read(&path).expect("it was counted");
    let bounds: Vec<String> =
        run.subjects.iter().filter(|row| row.bound).map(|row| row.id.clone()).collect();
    run.facts.retain(|fact| !bounds.contains(&fact.subject));
    run
}

/// The same counted again, where it need not be the same to the last instruction.
fn again(run: &Run, random: &mut Random) -> Run {
    let mut again = run.clone();
    for fact in &mut again.facts {
        let share = random.next() as f64 / u64::MAX as f64;
        fact.value *= 1.0 + NOISE * (2.0 * share - 1.0);
    }
    again
}

/// What the gate names.
fn alarms(comparison: &Comparison) -> Vec<(&str, &str)> {
    let found = comparison.facts.iter().filter(|fact| fact.regressed);
    found.map(|fact| (fact.subject.as_str(), fact.metric.as_str())).collect()
}

#[test]
fn a_slowdown_of_a_percent_is_found_in_any_row() {
    let base = counted();
    let rows: Vec<String> =
        base.subjects.iter().filter(|row| !row.bound).map(|row| row.id.clone()).collect();
    assert_eq!(rows.len(), 10);
    let mut random = Random::new(1);
    for turn in 0..100 {
        let row = &rows[turn % rows.len()];
        let mut new = again(&base, &mut random);
        let of_row: Vec<usize> =
            (0..new.facts.len()).filter(|&at| new.facts[at].subject == *row).collect();
        let place = of_row[turn / rows.len() % of_row.len()];
        new.facts[place].value = base.facts[place].value * 1.01;
        let comparison = compare(&base, &new, LIMITS);
        assert!(comparison.regressed() && comparison.counted);
        let wanted = (row.as_str(), base.facts[place].metric.as_str());
        assert_eq!(alarms(&comparison), [wanted], "try {turn}");
    }
}

#[test]
fn the_same_counts_raise_no_alarm_in_ten_thousand_cells() {
    let base = counted();
    let (mut random, mut cells) = (Random::new(2), 0);
    while cells < 10_000 {
        let (one, other) = (again(&base, &mut random), again(&base, &mut random));
        let comparison = compare(&one, &other, LIMITS);
        assert!(!comparison.regressed(), "{:?}", alarms(&comparison));
        cells += one.facts.len();
    }
}

/// The limit itself is not above the limit.
#[test]
fn the_limit_is_strict() {
    let base = counted();
    let mut new = base.clone();
    new.facts[0].value = base.facts[0].value * (1.0 + LIMITS.threshold);
    assert!(!compare(&base, &new, LIMITS).regressed());
    new.facts[0].value *= 1.000_001;
    assert!(compare(&base, &new, LIMITS).regressed());
}
