//! What was counted of a runner's functions, as a result has it.

use wiregauge_instructions::profile::{self, Profile};
use wiregauge_instructions::source::{short_name, Sources};
use wiregauge_instructions::work::Work;
use wiregauge_result::explanation::{
    Explanation, FunctionCounts, LineCounts, MemoryUse, INSTRUCTIONS, UNNAMED,
};

/// The costliest lines that a result has, so many.
const LINES: usize = 100;

/// What results tell of a function, and of which of callgrind's events it is the sum: first
/// instructions, and reads and writes among them; then misses of the caches in front and of the
/// last one; then branches.
const EVENTS: [(&str, &[&str]); 7] = [
    (INSTRUCTIONS, &["Ir"]),
    ("reads", &["Dr"]),
    ("writes", &["Dw"]),
    ("cache misses", &["I1mr", "D1mr", "D1mw"]),
    ("last-cache misses", &["ILmr", "DLmr", "DLmw"]),
    ("branches", &["Bc", "Bi"]),
    ("mispredictions", &["Bcm", "Bim"]),
];

/// What is counted of so many messages, for one.
pub fn explain(
    (case, subject, metric): (&str, &str, &str),
    profile: &Profile,
    memory: &Profile,
    messages: u64,
) -> Explanation {
    let places = |names: &[&str]| -> Vec<usize> {
        let of = |name| profile.events.iter().position(|event| event == name);
        names.iter().filter_map(|name| of(*name)).collect()
    };
    let events: Vec<(&str, Vec<usize>)> = EVENTS
        .iter()
        .map(|(name, names)| (*name, places(names)))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    let share = |count: i64| count as f64 / messages as f64;
    let sums = |counts: &[i64]| -> Vec<f64> {
        let sum = |places: &Vec<usize>| places.iter().filter_map(|place| counts.get(*place)).sum();
        events.iter().map(|(_, places)| share(sum(places))).collect()
    };
    let mut functions: Vec<FunctionCounts> = profile
        .functions
        .iter()
        .map(|(function, cost)| FunctionCounts {
            name: function_name(function),
            object: function.object.clone(),
            work: Work::from_function(function).name().to_owned(),
            calls: share(cost.calls),
            counts: sums(&cost.events),
        })
        .filter(|function| function.counts.iter().any(|count| *count != 0.0))
        .collect();
    functions.sort_by(|a, b| {
        b.counts.first().partial_cmp(&a.counts.first()).unwrap_or(a.name.cmp(&b.name))
    });
    let memory_totals = memory.totals();
    let of_memory = |event: &str| {
        let place = memory.events.iter().position(|name| name == event)?;
        Some(share(*memory_totals.get(place)?))
    };
    let memory = || {
        Some(MemoryUse {
            allocations: of_memory("Allocations")?,
            allocated: of_memory("Allocated")?,
            copies: of_memory("Copies")?,
            copied: of_memory("Copied")?,
        })
    };
    Explanation {
        case: case.into(),
        subject: subject.into(),
        metric: metric.into(),
        events: events.iter().map(|(name, _)| (*name).to_owned()).collect(),
        totals: sums(&profile.totals()),
        memory: memory(),
        store_reads: None,
        functions,
        lines: lines(profile, messages),
    }
}

fn function_name(function: &profile::Function) -> String {
    match function.name.as_str() {
        profile::UNNAMED => UNNAMED.to_owned(),
        name => name.to_owned(),
    }
}

/// The costliest lines; none where no source is known.
fn lines(profile: &Profile, messages: u64) -> Vec<LineCounts> {
    if profile.lines.keys().all(|line| line.number == 0) {
        return Vec::new();
    }
    let mut costliest: Vec<(&profile::Line, i64)> =
        profile.lines.iter().map(|(line, count)| (line, *count)).collect();
    costliest.sort_by_key(|(line, count)| (std::cmp::Reverse(*count), *line));
    costliest.truncate(LINES);
    costliest.retain(|(_, count)| *count > 0);
    let mut sources = Sources::default();
    let counts = |(line, count): (&profile::Line, i64)| LineCounts {
        function: function_name(&line.function),
        source: short_name(&line.source),
        number: line.number,
        text: sources.text(&line.source, line.number),
        instructions: count as f64 / messages as f64,
    };
    costliest.into_iter().map(counts).collect()
}
