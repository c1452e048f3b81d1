//! What keeps a time from being kept, as results tell it: the longest run of
//! misses, and the slowest samples and steps with what the machine did then.

use wiregauge_timing::misses::Misses;
use wiregauge_timing::slowest::SlowSample;

use wiregauge_result::run::{Fact, SlowestSample};

/// The longest run of misses as figures: how many, and where it was one, the
/// first of them and when it was.
pub fn miss_facts(case: &str, subject: &str, misses: &Misses) -> Vec<Fact> {
    let fact = |metric: &str, unit: &str, value: f64| Fact {
        case: case.into(),
        subject: subject.into(),
        metric: format!("misses/longest{metric}"),
        unit: unit.into(),
        value,
    };
    let mut facts = vec![fact("", "1", misses.longest as f64)];
    if misses.longest > 0 {
        facts.push(fact("/sequence", "1", misses.sequence as f64));
        facts.push(fact("/at", "s", misses.at as f64 / 1e9));
    }
    facts
}

/// The longest run of misses in words, if there is one: `30 samples in a row came
/// late or never, from sample 7 on, 1.500 s into the run`.
pub fn describe_misses(misses: &Misses, one: &str, were: &str, whole: &str) -> Option<String> {
    let Misses { longest, sequence, at } = *misses;
    let run = match longest {
        0 => return None,
        1 => format!("1 {one}"),
        _ => format!("{longest} {one}s in a row"),
    };
    let seconds = at as f64 / 1e9;
    Some(format!("{run} {were}, from {one} {sequence} on, {seconds:.3} s into {whole}"))
}

/// A slow sample or step.
pub fn slow_sample(case: &str, subject: &str, metric: &str, slow: &SlowSample) -> SlowestSample {
    let toll = &slow.toll;
    SlowestSample {
        case: case.into(),
        subject: subject.into(),
        metric: metric.into(),
        receiver: None,
        process: None,
        sequence: slow.sequence,
        at: slow.at as f64 / 1e9,
        unit: "ns".into(),
        value: slow.time as f64,
        over: slow.over as f64 / 1e9,
        steal: toll.stolen as f64 / slow.over.max(1) as f64,
        involuntary: toll.involuntary,
        voluntary: toll.voluntary,
        minor_faults: toll.minor,
        major_faults: toll.major,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_timing::slowest::ProcessCounters;

    #[test]
    fn a_run_of_misses_has_a_beginning() {
        let misses = Misses { longest: 30, sequence: 7, at: 1_500_000_000 };
        let told_of = |misses: &Misses| describe_misses(misses, "sample", "came late", "the run");
        assert_eq!(
            told_of(&misses).unwrap(),
            "30 samples in a row came late, from sample 7 on, 1.500 s into the run"
        );
        assert!(told_of(&Misses { longest: 1, ..misses }).unwrap().starts_with("1 sample came"));
        let names = |misses: &Misses| -> Vec<(String, f64)> {
            miss_facts("c", "s", misses).into_iter().map(|fact| (fact.metric, fact.value)).collect()
        };
        let [longest, sequence, at] =
            ["", "/sequence", "/at"].map(|m| format!("misses/longest{m}"));
        assert_eq!(names(&misses), [(longest.clone(), 30.0), (sequence, 7.0), (at, 1.5)]);
        assert_eq!(names(&Misses::default()), [(longest, 0.0)]);
        assert_eq!(told_of(&Misses::default()), None);
    }

    #[test]
    fn a_theft_is_a_share_of_the_time() {
        let toll = ProcessCounters { stolen: 250, ..ProcessCounters::default() };
        let slow = slow_sample(
            "c",
            "s",
            "step",
            &SlowSample { time: 300, over: 1000, toll, ..SlowSample::default() },
        );
        assert_eq!((slow.value, slow.over, slow.steal), (300.0, 1e-6, 0.25));
    }
}
