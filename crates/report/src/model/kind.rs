//! What a run is like: what its subjects are called, and which of its cases are
//! shown one by one.

use indexmap::IndexMap;
use wiregauge_result::kind::Kind;
use wiregauge_result::run::{Case, Run};

/// Sweeps of more cases are shown by their ends and their curves.
const MOST_CASES: usize = 8;

/// What a dagger behind a name says.
pub const UNCHECKED: &str = "† reads bytes without checking them";

/// The run with a dagger behind the names of subjects that read unchecked
/// bytes, so that none is shown without.
pub fn marked(run: &Run) -> Run {
    let mut run = run.clone();
    for subject in run.subjects.iter_mut().filter(|subject| subject.unchecked) {
        subject.title.push('†');
    }
    run
}

/// What the daggers say, where there are any.
pub fn legend(run: &Run) -> Option<&'static str> {
    run.subjects.iter().any(|subject| subject.unchecked).then_some(UNCHECKED)
}

/// What one of the run's subjects is called: `codec`.
pub fn noun(run: &Run) -> &'static str {
    match run.kind {
        Kind::Bus => "transport",
        Kind::Cosim => "encoding",
        _ => "codec",
    }
}

/// What a fit's value at zero is called: what a message costs however long it
/// is, or what does not grow with the receivers.
pub fn fixed_part(run: &Run) -> &'static str {
    match run.kind {
        Kind::Bus => "fixed",
        _ => "per message",
    }
}

/// The cases to be shown one by one, and a word on those that are not. Of a
/// long sweep these are the first and the last: the curves and fits tell of all.
pub fn shown(run: &Run) -> (Vec<&Case>, Option<String>) {
    let mut sweeps: IndexMap<(&str, &str), Vec<&Case>> = IndexMap::new();
    for case in &run.cases {
        if let Some(parameter) = &case.parameter {
            sweeps.entry((&case.message, &parameter.name)).or_default().push(case);
        }
    }
    let (mut left_out, mut names) = (Vec::new(), Vec::new());
    // A case that is no sweep's is one of a few that were chosen by hand.
    let long = |sweep: &&Vec<&Case>| {
        sweep.len() > MOST_CASES && run.cases.iter().all(|case| case.parameter.is_some())
    };
    for sweep in sweeps.values().filter(long) {
        if let [first, between @ .., last] = sweep.as_slice() {
            left_out.extend(between.iter().map(|case| case.id.as_str()));
            names.push(format!(
                "{} cases between {} and {} are in the curves and fits only",
                between.len(),
                first.id,
                last.id
            ));
        }
    }
    let cases = run.cases.iter().filter(|case| !left_out.contains(&case.id.as_str())).collect();
    (cases, (!names.is_empty()).then(|| names.join("; ")))
}
