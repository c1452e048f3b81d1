//! What a run is like: what its subjects are called, and which of its cases are
//! shown one by one.

use indexmap::{IndexMap, IndexSet};
use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::run_kind::RunKind;

/// Sweeps of more cases are shown by their ends and their curves.
const MOST_CASES: usize = 8;

/// What a dagger behind a name says.
const UNCHECKED: &str = "† reads without checking the bytes first";

/// A library that is older than its makers' newest by more months is marked.
const MONTHS_OLD: i64 = 24;

/// The run with marks behind the names of subjects, so that none is shown without: a
/// dagger where unchecked bytes are read, a double one where the library is old.
pub fn mark_subjects(run: &Run) -> Run {
    let mut run = run.clone();
    for subject in &mut run.subjects {
        subject.title.push_str(&marks(&[subject]));
    }
    run
}

/// The marks behind a name that stands for these subjects.
fn marks(subjects: &[&Subject]) -> String {
    let marks = [
        ('†', subjects.iter().any(|subject| subject.unchecked)),
        ('‡', subjects.iter().any(|subject| old_library(subject).is_some())),
    ];
    marks.iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).collect()
}

/// What the same subject of several runs is called, with its marks: without the end in which
/// its titles differ, which is the version of its library.
pub fn common_title(subjects: &[&Subject]) -> String {
    let Some((first, others)) = subjects.split_first() else { return String::new() };
    let shared = |place: &usize| {
        let word = |subject: &Subject| subject.title.split(' ').nth(*place).map(str::to_owned);
        others.iter().all(|other| word(other) == word(first))
    };
    let words = first.title.split(' ').count();
    let differ = others.iter().any(|other| other.title != first.title);
    let title = match (0..words).take_while(shared).count() {
        0 => first.id.clone(),
        count if differ => first.title.split(' ').take(count).collect::<Vec<_>>().join(" "),
        _ => first.title.clone(),
    };
    title + &marks(subjects)
}

/// What the marks of these runs say, a line each.
pub fn legend(runs: &[&Run]) -> Vec<String> {
    let subjects = || runs.iter().flat_map(|run| &run.subjects);
    let mut lines = Vec::new();
    if subjects().any(|subject| subject.unchecked) {
        lines.push(UNCHECKED.to_owned());
    }
    let libraries: IndexSet<String> = subjects().filter_map(old_library).collect();
    if !libraries.is_empty() {
        let libraries = libraries.into_iter().collect::<Vec<_>>().join(", ");
        lines.push(format!(
            "‡ old library, its makers released a newer version more than two years after it: \
             {libraries}"
        ));
    }
    lines
}

/// The library of a subject with its year and what is newest, where it is old.
fn old_library(subject: &Subject) -> Option<String> {
    let origin = subject.origin.as_ref().filter(|_| !subject.library.is_empty())?;
    let (released, newest) = (origin.released.as_ref()?, origin.newest.as_ref()?);
    let year = |month: &str| month.split('-').next().unwrap_or_default().to_owned();
    (origin.months_behind()? > MONTHS_OLD).then(|| {
        let (version, of) = (&newest.version, year(&newest.released));
        format!("{} of {} (newest {version} of {of})", subject.library, year(released))
    })
}

/// What one of the run's subjects is called: `codec`.
pub fn subject_noun(run: &Run) -> &'static str {
    match run.kind {
        RunKind::Bus => "transport",
        RunKind::Cosim => "encoding",
        RunKind::Points => "reduction",
        RunKind::Chain => "chain",
        _ => "codec",
    }
}

/// What a fit's value at zero is called: what a message costs however long it
/// is, or what does not grow with the receivers.
pub fn intercept_label(run: &Run) -> &'static str {
    match run.kind {
        RunKind::Bus => "fixed",
        _ => "per message",
    }
}

/// The cases to be shown one by one, and a word on those that are not. Of a
/// long sweep these are the first and the last: the curves and fits tell of all.
pub fn select_cases(run: &Run) -> (Vec<&Case>, Option<String>) {
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
