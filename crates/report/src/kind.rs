//! What a run is like: what its subjects are called, and which of its cases are
//! shown one by one.

use wiregauge_gauge::run::{Case, Run};

/// Sweeps of more cases are shown by their ends and their curves.
const MOST_CASES: usize = 8;

/// What one of the run's subjects is called: `codec`.
pub fn noun(run: &Run) -> &'static str {
    match run.kind.as_str() {
        "bus" => "transport",
        "cosim" => "encoding",
        _ => "codec",
    }
}

/// The cases to be shown one by one, and a word on those that are not. Of a
/// long sweep these are the first and the last: the curves and fits tell of all.
pub fn shown(run: &Run) -> (Vec<&Case>, Option<String>) {
    let all: Vec<&Case> = run.cases.iter().collect();
    match all.as_slice() {
        [first, between @ .., last]
            if all.len() > MOST_CASES && all.iter().all(|case| case.parameter.is_some()) =>
        {
            let names = format!(
                "{} cases between {} and {} are in the curves and fits only",
                between.len(),
                first.id,
                last.id
            );
            (vec![first, last], Some(names))
        }
        _ => (all, None),
    }
}
