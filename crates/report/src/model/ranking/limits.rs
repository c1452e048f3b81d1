//! What may not be concluded from several results, and why.

use indexmap::{IndexMap, IndexSet};
use wiregauge_result::run::{Case, Origin, Status, Subject};

use crate::model::number_format::count_noun;
use crate::model::ranking::experiment_ranking::{ExperimentRanking, RankedCell};
use crate::model::ranking::named_result::{count_machines, Machine, NamedResult};
use crate::model::run_labels::common_title;

/// Rows that a line names; of more it says how many.
const MOST_NAMES: usize = 3;

/// Warnings of a result that concern the comparison of its rows, and not only its times.
const DISTURBED: [&str; 5] = ["load", "steal", "other-processes", "debug-build", "interrupted"];

/// What a reader must know before he concludes anything: a sentence each.
pub fn find_limits(results: &[NamedResult], experiments: &[ExperimentRanking]) -> Vec<String> {
    let mut limits = repeated_measurements(results);
    limits.extend(single_machine(results));
    limits.extend(same_machine_exchanges(results, experiments));
    limits.extend(single_processes(results));
    limits.extend(different_settings(results));
    limits.extend(different_tools(results));
    limits.extend(different_subjects(results, experiments));
    limits.extend(disturbed(results));
    limits
}

/// A copy of a result confirms nothing.
fn repeated_measurements(results: &[NamedResult]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, result) in results.iter().enumerate() {
        let same = |other: &&NamedResult| {
            let (a, b) = (&result.run, &other.run);
            a.started == b.started && a.measurements == b.measurements && a.facts == b.facts
        };
        if let Some(other) = results[..at].iter().find(same) {
            lines.push(format!(
                "{} and {} are the same measurement: the one does not confirm the other",
                other.name, result.name
            ));
        }
    }
    lines
}

fn machines(results: &[NamedResult]) -> Vec<Machine> {
    results.iter().map(|result| Machine::from_environment(&result.run.environment)).collect()
}

fn single_machine(results: &[NamedResult]) -> Option<String> {
    let machines = machines(results);
    (count_machines(machines.iter()) == 1).then(|| {
        let machine = machines.first().and_then(|machine| machine.cpu.clone());
        format!(
            "all results are of one machine, or of machines alike{}: what holds on others is not \
             known",
            machine.map_or(String::new(), |cpu| format!(" ({cpu})"))
        )
    })
}

/// Pairs that change places between results of one machine: not its processor moves them.
fn same_machine_exchanges(
    results: &[NamedResult],
    experiments: &[ExperimentRanking],
) -> Option<String> {
    let machines = machines(results);
    let of_name = |name: &String| results.iter().position(|result| result.name == *name);
    let mut count = 0u64;
    for experiment in experiments {
        let places: Vec<Option<&Machine>> = experiment
            .results
            .iter()
            .map(|name| of_name(name).map(|place| &machines[place]))
            .collect();
        for pair in &experiment.pairs.exchanged {
            let orders: Vec<_> =
                pair.ratios.iter().map(|ratio| ratio.and_then(|r| r.order)).collect();
            let turned = |i: usize, j: usize| {
                let opposite = orders[i].map(std::cmp::Ordering::reverse);
                let alike = places[i].zip(places[j]).is_some_and(|(a, b)| a.is_alike(b));
                orders[j].is_some() && orders[j] == opposite && alike
            };
            count += u64::from((0..orders.len()).any(|i| (0..i).any(|j| turned(i, j))));
        }
    }
    let (pairs, change) = match count {
        0 => return None,
        1 => ("1 pair".to_owned(), "changes"),
        _ => (count_noun(count, "pair", "pairs"), "change"),
    };
    Some(format!(
        "{pairs} {change} places between results of one machine, or of machines alike: something \
         else than the processor moves them"
    ))
}

/// One process says nothing of another layout of memory.
fn single_processes(results: &[NamedResult]) -> Option<String> {
    let few = |result: &&NamedResult| result.run.is_timed() && result.run.settings.processes < 2;
    let names: Vec<&str> = results.iter().filter(few).map(|result| result.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} measured in one process, which tells no two codecs apart: measure with \
             --processes 5",
            names.join(", ")
        )
    })
}

/// `What: this (a, c), that (b)`, where values are not the same.
fn different<'a>(
    what: &str,
    values: impl Iterator<Item = (&'a str, Option<String>)>,
) -> Option<String> {
    let mut names: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (name, value) in values {
        let value = value.filter(|value| !value.is_empty());
        names.entry(value.unwrap_or_else(|| "not known".into())).or_default().push(name);
    }
    let parts = names.iter().map(|(value, names)| format!("{value} ({})", names.join(", ")));
    (names.len() > 1).then(|| format!("{what}: {}", parts.collect::<Vec<_>>().join(", ")))
}

/// How results were measured.
fn different_settings(results: &[NamedResult]) -> Vec<String> {
    let of = |what: &str, value: &dyn Fn(&NamedResult) -> Option<String>| {
        different(what, results.iter().map(|result| (result.name.as_str(), value(result))))
    };
    let notes = |result: &NamedResult| -> Option<String> {
        let notes = result.run.cases.iter().flat_map(|case: &Case| case.notes.clone());
        Some(notes.collect::<IndexSet<_>>().into_iter().collect::<Vec<_>>().join("; "))
    };
    let source = |result: &NamedResult| {
        let sources = result.run.cases.iter().map(|case| case.source.clone());
        Some(sources.collect::<IndexSet<_>>().into_iter().collect::<Vec<_>>().join("; "))
    };
    let lines = [
        of("messages from", &source),
        of("output buffers", &|result| Some(result.run.settings.buffers.clone())),
        of("message objects", &|result| Some(result.run.settings.objects.clone())),
        of("scratch space", &|result| Some(result.run.settings.scratch.clone())),
        of("values", &notes),
        of("wiregauge", &|result| Some(result.run.environment.wiregauge.clone())),
        of("wiregauge's build", &|result| Some(result.run.environment.build.clone())),
    ];
    lines.into_iter().flatten().collect()
}

/// Compilers and what counts, by the names that results have for them.
fn different_tools(results: &[NamedResult]) -> Vec<String> {
    let wanted = |name: &&String| {
        name.ends_with(" compiler") || name.ends_with(" flags") || *name == "valgrind"
    };
    let mut names: Vec<&String> = Vec::new();
    for name in results.iter().flat_map(|result| result.run.environment.tools.keys()).filter(wanted)
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let line = |name: &&String| {
        let having = results.iter().filter_map(|result| {
            let tool = result.run.environment.tools.get(*name)?;
            Some((result.name.as_str(), Some(tool.clone())))
        });
        different(name, having)
    };
    names.iter().filter_map(line).collect()
}

/// What a row was made with, where it is another thing than on the other side: a library, and
/// a compiler or flags of its own.
fn different_subjects(results: &[NamedResult], experiments: &[ExperimentRanking]) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for row in experiments.iter().flat_map(|experiment| &experiment.rows) {
        if !ids.contains(&row.subject.as_str()) {
            ids.push(&row.subject);
        }
    }
    type Part = fn(&Origin) -> &String;
    let own = |result: &NamedResult, subject: &Subject, part: Part| -> Option<String> {
        let own = part(subject.origin.as_ref()?);
        // What all rows of a result have is said once, by its tools.
        (!result.run.environment.tools.values().any(|tool| tool == own)).then(|| own.clone())
    };
    let mut lines: IndexMap<String, Vec<String>> = IndexMap::new();
    let mut called = Vec::new();
    let count = ids.len();
    for id in ids {
        let having: Vec<(&NamedResult, &Subject)> = results
            .iter()
            .filter_map(|result| Some((result, result.run.subject(id)?)))
            .filter(|(_, subject)| subject.status == Status::Measured)
            .collect();
        let title = common_title(&having.iter().map(|(_, subject)| *subject).collect::<Vec<_>>());
        let named = |value: &dyn Fn(&NamedResult, &Subject) -> Option<String>| {
            let values = having.iter().map(|(result, s)| (result.name.as_str(), value(result, s)));
            values.collect::<Vec<_>>()
        };
        let options = |subject: &Subject| (subject.options.clone(), subject.lowerings.clone());
        if having.iter().any(|(_, subject)| options(subject) != options(having[0].1)) {
            called.push(title.clone());
        }
        let library = named(&|_, subject| Some(subject.library.clone()));
        let compiler = named(&|result, subject| own(result, subject, |origin| &origin.compiler));
        let flags = named(&|result, subject| own(result, subject, |origin| &origin.flags));
        for (what, values) in [("library", library), ("compiler", compiler), ("flags", flags)] {
            // A row without a compiler of its own has that of the tools.
            let values = values.into_iter().filter(|(_, value)| value.is_some());
            if let Some(line) = different(what, values) {
                lines.entry(line).or_default().push(title.clone());
            }
        }
    }
    let mut lines: Vec<String> =
        lines.iter().map(|(line, titles)| format!("{}: {line}", name_some(titles))).collect();
    if !called.is_empty() {
        let names = if called.len() == count { "all codecs".into() } else { called.join(", ") };
        lines.push(format!("called in another way, or described in other words: {names}"));
    }
    lines
}

/// The first of these titles, and how many more there are.
fn name_some(titles: &[String]) -> String {
    let (first, more) = titles.split_at(titles.len().min(MOST_NAMES));
    match more.len() {
        0 => first.join(", "),
        count => format!("{} and {count} more", first.join(", ")),
    }
}

/// Results that were not left alone.
fn disturbed(results: &[NamedResult]) -> Vec<String> {
    let line = |result: &NamedResult| {
        let warnings = result.run.warnings.iter();
        let texts: Vec<&str> = warnings
            .filter(|warning| DISTURBED.contains(&warning.code.as_str()))
            .map(|warning| warning.text.as_str())
            .collect();
        (!texts.is_empty()).then(|| format!("warnings of {}: {}", result.name, texts.join("; ")))
    };
    results.iter().filter_map(line).collect()
}

/// Which rows results lack, and why: `b lacks X (skipped: no compiler)`.
pub fn list_absent(results: &[NamedResult], experiments: &[ExperimentRanking]) -> Vec<String> {
    let mut lines: IndexMap<(&str, String), Vec<String>> = IndexMap::new();
    for experiment in experiments {
        for row in &experiment.rows {
            for (name, cell) in experiment.results.iter().zip(&row.cells) {
                if !matches!(cell, RankedCell::Absent(_)) {
                    continue;
                }
                let result = results.iter().find(|result| result.name == *name);
                let subject = result.and_then(|result| result.run.subject(&row.subject));
                let why = match subject.map(|subject| subject.status.absence()) {
                    None => "not in the result".to_owned(),
                    Some(Some((state, reason))) => format!("{state}: {reason}"),
                    Some(None) => continue,
                };
                let titles = lines.entry((name, why)).or_default();
                if !titles.contains(&row.title) {
                    titles.push(row.title.clone());
                }
            }
        }
    }
    let line = |((name, why), titles): (&(&str, String), &Vec<String>)| {
        format!("{name} lacks {} ({why})", titles.join(", "))
    };
    let lines = lines.iter().map(line);
    let mut alone: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for row in experiments.iter().flat_map(|experiment| &experiment.alone) {
        let titles = alone.entry(&row.result).or_default();
        if !titles.contains(&row.title.as_str()) {
            titles.push(&row.title);
        }
    }
    let alone = alone.iter().map(|(name, titles)| format!("only {name} has {}", titles.join(", ")));
    lines.chain(alone).collect()
}
