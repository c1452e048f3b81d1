//! What rows execute, side by side, and where two of them differ: lines that add up.

use indexmap::IndexMap;
use wiregauge_result::explanation::{Explanation, FunctionCounts, INSTRUCTIONS, UNNAMED};
use wiregauge_result::run::{Case, Run};

use crate::model::explained_lines;
use crate::model::function_name::shorten;
use crate::model::number_format::{
    count_noun, format_count, format_difference, format_percent, format_ratio,
};
use crate::model::side_by_side::{self, count_cells, count_difference, head};

/// The costliest functions of each row are shown, so many.
const FUNCTIONS: usize = 10;

/// Kinds of work with less of a difference are not in its sentence.
const LEAST_SHARE: f64 = 0.1;

/// What a table's words mean, a line each.
pub const NOTES: [&str; 6] = [
    "program: generated code, headers, crates and glue in the runner's program; libraries: shared \
     libraries but the C library; copying, filling: memcpy, memset and the like, where they are \
     called and not compiled in",
    "cache misses, last-cache misses and mispredictions are simulated: caches of 32 KiB for code and \
     for data, 8 MiB behind them; they are no property of this machine",
    "forwarded and blocked reads, of the first message: reads of what the 64 instructions before have \
     written; where one write holds all that is read, a processor forwards it in some cycles, else \
     the read is blocked until the cache has it, ten cycles and more",
    "copies: calls of memcpy and memmove, and blocks that are moved as they grow; allocations: \
     calls of malloc and its kin; both counted in a process of their own",
    "each function without what it calls; what is compiled into another function counts there; \
     names are shortened, run.json has them whole",
    "a line of a source has what was compiled from it, wherever that was compiled into; a function \
     whose lines are not known, as of a library, is one line",
];

/// An experiment or a phase of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedMetric {
    /// Its name: `encode`.
    pub metric: String,
    /// What makes the difference, where two rows are compared.
    pub difference: Option<String>,
    /// Tables, whose first rows are their heads and whose first columns are names.
    pub tables: Vec<Vec<Vec<String>>>,
}

/// What was explained on a case, whole experiments before their phases.
pub fn explained_metrics(run: &Run, case: &Case) -> Vec<ExplainedMetric> {
    let mut by_metric: IndexMap<&str, Vec<&Explanation>> = IndexMap::new();
    for explanation in run.explanations.iter().filter(|of| of.case == case.id) {
        by_metric.entry(&explanation.metric).or_default().push(explanation);
    }
    by_metric.into_iter().map(|(metric, rows)| explain_metric(metric, &rows)).collect()
}

fn explain_metric(metric: &str, rows: &[&Explanation]) -> ExplainedMetric {
    let functions = FunctionLines::new(rows);
    let work = functions.work_lines();
    let mut tables =
        vec![totals(metric, rows), work.table(&format!("{metric}: instructions by work"), rows)];
    tables.push(match rows {
        [row] => costliest(metric, row),
        rows => functions.table(&format!("{metric}: instructions by function"), rows),
    });
    tables.extend(explained_lines::table(metric, rows));
    let difference = match rows {
        [a, b] => describe_difference([&a.subject, &b.subject], &work).map(|text| {
            let nameless = [a, b].into_iter().find(|row| has_nameless_c_library(row));
            text + &nameless.map_or(String::new(), |row| {
                format!(
                    "; the C library of {} has no names inside, so its allocating, copying and \
                     filling are one line",
                    row.subject
                )
            })
        }),
        _ => None,
    };
    ExplainedMetric { metric: metric.to_owned(), difference, tables }
}

/// What was counted in all, a line for each event.
fn totals(metric: &str, rows: &[&Explanation]) -> Vec<Vec<String>> {
    let mut lines: IndexMap<&str, Vec<Option<f64>>> = IndexMap::new();
    for row in rows {
        for event in &row.events {
            let total = |row: &&Explanation| row.total(event).map(without_noise);
            lines.entry(event).or_insert_with(|| rows.iter().map(total).collect());
        }
    }
    type Figure = fn(&Explanation) -> Option<f64>;
    let others: [(&str, Figure); 6] = [
        ("allocations", |row| row.memory.map(|memory| memory.allocations)),
        ("allocated bytes", |row| row.memory.map(|memory| memory.allocated)),
        ("copies", |row| row.memory.map(|memory| memory.copies)),
        ("copied bytes", |row| row.memory.map(|memory| memory.copied)),
        ("forwarded reads", |row| row.store_reads.map(|reads| reads.forwarded)),
        ("blocked reads", |row| row.store_reads.map(|reads| reads.blocked)),
    ];
    for (name, figure) in others {
        let counts: Vec<Option<f64>> = rows.iter().map(|row| figure(row)).collect();
        if counts.iter().any(Option::is_some) {
            lines.insert(name, counts);
        }
    }
    let mut table = vec![head(&format!("{metric}, for a message"), rows)];
    for (name, counts) in lines {
        let shown = |count: &Option<f64>| count.map_or("-".to_owned(), format_count);
        let mut line = vec![name.to_owned()];
        line.extend(counts.iter().map(shown));
        if let [Some(a), Some(b)] = counts[..] {
            line.push(format_difference(b - a));
        }
        table.push(line);
    }
    table
}

/// The costliest functions of a single row.
fn costliest(metric: &str, row: &Explanation) -> Vec<Vec<String>> {
    let columns = [INSTRUCTIONS, "mispredictions", "cache misses"];
    let mut head = vec![format!("{metric}: the costliest functions")];
    head.extend(
        ["instructions", "share", "mispredictions", "cache misses", "calls", "work"]
            .map(String::from),
    );
    let mut table = vec![head];
    let total = row.total(INSTRUCTIONS).unwrap_or(0.0);
    for function in row.functions.iter().take(FUNCTIONS) {
        let count = |event: &str| function.counts.get(row.place(event)?).copied();
        let mut counts = columns
            .map(|event| {
                count(event).map_or("-".into(), |n| format_count(without_noise(n).round()))
            })
            .to_vec();
        let share = count(INSTRUCTIONS).filter(|_| total > 0.0);
        counts.insert(1, share.map_or("-".into(), |count| format_percent(count / total)));
        counts.extend([format_calls(function.calls), purpose(function)]);
        table.push([vec![shorten(&function.name)], counts].concat());
    }
    table
}

/// Instructions of functions or of kinds of work, side by side: whole numbers that add up to
/// the rounded totals of the rows.
struct FunctionLines {
    lines: Vec<Line>,
}

struct Line {
    name: String,
    work: String,
    purpose: String,
    counts: Vec<i64>,
    calls: Vec<f64>,
}

impl FunctionLines {
    /// All functions of all rows. Those of one name are one line.
    fn new(rows: &[&Explanation]) -> FunctionLines {
        let mut lines: IndexMap<String, Line> = IndexMap::new();
        let is_nameless = rows.len() > 1 && rows.iter().any(|row| has_nameless_c_library(row));
        for (at, row) in rows.iter().enumerate() {
            let place = row.place(INSTRUCTIONS);
            let count = |function: &FunctionCounts| {
                place.and_then(|at| function.counts.get(at).copied()).unwrap_or(0.0)
            };
            let counts: Vec<f64> = row.functions.iter().map(count).collect();
            for (function, count) in row.functions.iter().zip(round_to_sum(&counts)) {
                let line = lines.entry(key(function)).or_insert_with(|| Line {
                    name: shorten(&function.name),
                    work: work(function, is_nameless),
                    purpose: purpose(function),
                    counts: vec![0; rows.len()],
                    calls: vec![0.0; rows.len()],
                });
                line.counts[at] = line.counts[at].saturating_add(count);
                line.calls[at] += function.calls;
            }
        }
        FunctionLines::sorted(lines)
    }

    fn sorted(lines: IndexMap<String, Line>) -> FunctionLines {
        let mut lines: Vec<Line> = lines.into_values().collect();
        lines.retain(|line| line.counts.iter().any(|count| *count != 0));
        lines.sort_by_key(|line| std::cmp::Reverse(count_difference(&line.counts).unsigned_abs()));
        FunctionLines { lines }
    }

    /// The same by kind of work.
    fn work_lines(&self) -> FunctionLines {
        let mut lines: IndexMap<String, Line> = IndexMap::new();
        for line in &self.lines {
            let sum = lines.entry(line.work.clone()).or_insert_with(|| Line {
                name: line.work.clone(),
                work: String::new(),
                purpose: String::new(),
                counts: vec![0; line.counts.len()],
                calls: Vec::new(),
            });
            for (sum, count) in sum.counts.iter_mut().zip(&line.counts) {
                *sum = sum.saturating_add(*count);
            }
        }
        FunctionLines::sorted(lines)
    }

    fn sum(lines: &[&Line], columns: usize) -> Vec<i64> {
        let column =
            |at: usize| lines.iter().map(|line| line.counts[at]).fold(0, i64::saturating_add);
        (0..columns).map(column).collect()
    }

    /// The costliest of each row, all others as one line, and the sum.
    fn table(&self, title: &str, rows: &[&Explanation]) -> Vec<Vec<String>> {
        let is_by_function = self.lines.iter().any(|line| !line.work.is_empty());
        let mut head = head(title, rows);
        if is_by_function {
            head.extend(["calls".to_owned(), "work".to_owned()]);
        }
        let counts: Vec<&[i64]> = self.lines.iter().map(|line| &line.counts[..]).collect();
        let is_costly = side_by_side::costliest(&counts, rows.len(), FUNCTIONS);
        let (mut shown, mut others): (Vec<&Line>, Vec<&Line>) = (Vec::new(), Vec::new());
        for (line, is_costly) in self.lines.iter().zip(is_costly) {
            let is_shown = !is_by_function || is_costly;
            (if is_shown { &mut shown } else { &mut others }).push(line);
        }
        let mut table = vec![head];
        for line in &shown {
            let mut cells = count_cells(&line.name, &line.counts);
            if is_by_function {
                let calls = line.calls.iter().map(|calls| format_calls(*calls));
                cells.push(calls.collect::<Vec<_>>().join(" / "));
                cells.push(line.purpose.clone());
            }
            table.push(cells);
        }
        if !others.is_empty() {
            let name = count_noun(others.len() as u64, "other function", "other functions");
            table.push(count_cells(&name, &FunctionLines::sum(&others, rows.len())));
        }
        let all: Vec<&Line> = self.lines.iter().collect();
        table.push(count_cells("sum", &FunctionLines::sum(&all, rows.len())));
        table
    }
}

/// What makes the difference, in a sentence.
fn describe_difference([a, b]: [&str; 2], work: &FunctionLines) -> Option<String> {
    let all: Vec<&Line> = work.lines.iter().collect();
    let [of_a, of_b] = FunctionLines::sum(&all, 2)[..] else { return None };
    let difference = of_b.saturating_sub(of_a);
    if difference == 0 {
        return Some(format!("{a} and {b} execute the same number of instructions"));
    }
    let (more, less, sign) = if difference > 0 { (b, a, 1) } else { (a, b, -1) };
    let ratio = of_a.max(of_b) as f64 / of_a.min(of_b).max(1) as f64;
    let share = |line: &&Line| count_difference(&line.counts) as f64 / difference as f64;
    let mut parts: Vec<&Line> =
        all.iter().copied().filter(|line| share(line).abs() >= LEAST_SHARE).collect();
    parts.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let part = |line: &Line| {
        let own = count_difference(&line.counts).saturating_mul(sign);
        let share = format_percent((own as f64 / difference as f64).abs());
        let minus = if own < 0 { "−" } else { "" };
        format!("{} {} ({minus}{share})", line.name, format_difference(own as f64))
    };
    let parts: Vec<String> = parts.into_iter().map(part).collect();
    Some(format!(
        "{more} executes {} instructions more than {less} ({}): {}",
        format_count(difference.unsigned_abs() as f64),
        format_ratio(ratio),
        parts.join(", ")
    ))
}

/// Whole numbers, each less than 1 away, whose sum is the rounded sum.
fn round_to_sum(counts: &[f64]) -> Vec<i64> {
    let mut sum = 0.0;
    let mut rounded = 0;
    counts
        .iter()
        .map(|count| {
            sum += count;
            let before = std::mem::replace(&mut rounded, f64::round(sum) as i64);
            rounded.saturating_sub(before)
        })
        .collect()
}

/// What is simulated differs by parts of an event between two loops: nothing is less than 0.
fn without_noise(count: f64) -> f64 {
    if count > 0.0 {
        count
    } else {
        0.0
    }
}

/// Calls for a message, of which there may be one in every second.
fn format_calls(calls: f64) -> String {
    format_count(if calls < 100.0 { calls } else { calls.round() })
}

/// What is the same function in two rows, though a library has another version.
fn key(function: &FunctionCounts) -> String {
    match function.name == UNNAMED {
        true => format!("{} in {}", function.name, library(&function.object)),
        false => function.name.clone(),
    }
}

/// Whether what the C library does for a row cannot be told by names, as it has none inside.
fn has_nameless_c_library(row: &Explanation) -> bool {
    row.functions.iter().any(|function| function.name == UNNAMED && is_of_c_library(function))
}

fn is_of_c_library(function: &FunctionCounts) -> bool {
    function.object.starts_with("libc.so")
}

/// The line that a function belongs to; all of the C library is one where it has no names.
fn work(function: &FunctionCounts, is_nameless: bool) -> String {
    match is_nameless && is_of_c_library(function) {
        true => "C library".to_owned(),
        false => function.work.clone(),
    }
}

/// What a function is for; of a library, which.
fn purpose(function: &FunctionCounts) -> String {
    match function.work.as_str() {
        "libraries" => library(&function.object).to_owned(),
        work => work.to_owned(),
    }
}

/// A library without its version.
fn library(object: &str) -> &str {
    object.split(".so").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use wiregauge_result::explanation::{MemoryUse, StoreReads};

    use super::*;

    fn function(name: &str, object: &str, work: &str, counts: &[f64]) -> FunctionCounts {
        let (name, object, work) = (name.into(), object.into(), work.into());
        FunctionCounts { name, object, work, calls: 2.0, counts: counts.to_vec() }
    }

    fn explanation(subject: &str, functions: Vec<FunctionCounts>) -> Explanation {
        let sum = |at: usize| functions.iter().filter_map(|function| function.counts.get(at)).sum();
        Explanation {
            case: "points=10".into(),
            subject: subject.into(),
            metric: "encode".into(),
            events: [INSTRUCTIONS, "branches"].map(String::from).to_vec(),
            totals: vec![sum(0), sum(1)],
            memory: Some(MemoryUse { allocations: 1.0, allocated: 64.0, copies: 0.5, copied: 8.0 }),
            store_reads: Some(StoreReads { forwarded: 3.0, blocked: 7.0 }),
            functions,
            lines: Vec::new(),
        }
    }

    fn two() -> [Explanation; 2] {
        let mut a = vec![
            function("write", "a", "program", &[1000.4, 3.0]),
            function("malloc", "libc.so.6", "allocating", &[100.3, 3.0]),
        ];
        a.extend((0..30).map(|at| function(&format!("f{at}"), "a", "program", &[1.3, 0.0])));
        let b = vec![
            function("write", "b", "program", &[400.0, 3.0]),
            function("malloc", "libc.so.6", "allocating", &[2000.7, 3.0]),
            function("(without a name)", "libb.so.1", "libraries", &[7.0, 0.0]),
        ];
        [explanation("a", a), explanation("b", b)]
    }

    /// Also where it was counted of one row alone.
    #[test]
    fn reads_of_what_was_just_written_are_lines_of_the_totals() {
        let [mut a, b] = two();
        a.store_reads = None;
        let totals = &explain_metric("encode", &[&a, &b]).tables[0];
        let line = |name: &str| totals.iter().find(|line| line[0] == name).unwrap();
        assert_eq!(line("forwarded reads")[1..], ["-", "3"]);
        assert_eq!(line("blocked reads")[1..], ["-", "7"]);
    }

    fn number(text: &str) -> i64 {
        text.replace(',', "").replace('−', "-").replace('+', "").parse().unwrap()
    }

    /// In each column, and in that of the differences.
    #[test]
    fn lines_add_up_to_the_whole_difference() {
        let [a, b] = two();
        let explained = explain_metric("encode", &[&a, &b]);
        for table in &explained.tables[1..] {
            let (sum, lines) = table[1..].split_last().unwrap();
            for column in 1..4 {
                let added: i64 = lines.iter().map(|line| number(&line[column])).sum();
                assert_eq!(added, number(&sum[column]), "{column}: {table:#?}");
            }
            let totals = [&a, &b].map(|row| row.totals[0].round() as i64);
            assert_eq!([&sum[1], &sum[2]].map(|text| number(text)), totals);
            assert_eq!(number(&sum[3]), totals[1] - totals[0]);
        }
        let said = explained.difference.unwrap();
        let wanted = "b executes 1,268 instructions more than a (2.11×): allocating +1,900 (";
        assert!(said.starts_with(wanted), "{said}");
        assert!(said.contains("program −6"), "{said}");
    }

    #[test]
    fn the_costliest_functions_of_each_row_are_shown_and_the_others_are_one_line() {
        let [a, b] = two();
        let both = &explain_metric("encode", &[&a, &b]).tables[2];
        assert_eq!(both[1][0], "malloc");
        assert!(both.iter().any(|row| row[0] == "22 other functions"), "{both:#?}");
        let alone = &explain_metric("encode", &[&a]).tables[2];
        assert_eq!(alone.len(), 1 + FUNCTIONS);
        assert_eq!(alone[1][..3], ["write", "1,000", "88%"], "{alone:#?}");
    }

    #[test]
    fn a_c_library_without_names_is_one_line() {
        let [a, mut b] = two();
        b.functions[1] = function(UNNAMED, "libc.so.6", "C library", &[2000.7, 3.0]);
        let explained = explain_metric("encode", &[&a, &b]);
        let work: Vec<&str> = explained.tables[1].iter().map(|row| row[0].as_str()).collect();
        assert!(work.contains(&"C library") && !work.contains(&"allocating"), "{work:?}");
        assert!(explained.difference.unwrap().contains("the C library of b has no names"));
    }

    /// As a file from elsewhere may have them.
    #[test]
    fn counts_that_do_not_fit_together_are_shown_as_far_as_they_go() {
        let [mut a, mut b] = two();
        a.functions[0].counts = vec![f64::MAX];
        a.functions[1].counts.clear();
        b.functions[0].counts = vec![-f64::MAX, 1.0, 2.0];
        b.totals.clear();
        explain_metric("encode", &[&a, &b]);
        explain_metric("encode", &[&a, &b, &a]);
        a.events.clear();
        a.memory = None;
        explain_metric("encode", &[&a, &b]);
        b.functions.clear();
        explain_metric("encode", &[&b]);
    }
}
