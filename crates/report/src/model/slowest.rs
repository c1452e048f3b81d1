//! The slowest samples and steps of a case, with what the machine did meanwhile.

use std::cmp::Reverse;

use wiregauge_result::run::{Case, Run, SlowestSample};

use crate::model::number_format::{format_count, format_percent, format_quantity};

/// By what they are the slowest.
const METRICS: [&str; 3] = ["latency", "step", "exchange"];

/// What is told of each after who it is of and how long it took: a head, and
/// what it means.
pub const HEADS: [(&str, &str); 8] = [
    ("number", "number of the sample or step, from 0"),
    ("at", "when it was sent or began, counted from when the first one was due or began"),
    ("over", "the time that the counters cover"),
    ("taken off", "times that a thread of the process was taken off its processor"),
    ("waited", "times that a thread of the process waited for something"),
    ("minor faults", "page faults for pages that were in memory"),
    ("major faults", "page faults for pages that were read from disk"),
    ("steal", "share of the time that a hypervisor took of each processor"),
];

/// The slowest of a case by one metric.
pub struct SlowestTable<'a> {
    /// What they are slow by.
    pub metric: &'static str,
    /// The slowest first.
    pub rows: Vec<SlowestRow<'a>>,
}

/// One of them.
pub struct SlowestRow<'a> {
    /// Who it is of: `TCP, receiver 2`.
    pub name: String,
    /// The one itself.
    pub slow: &'a SlowestSample,
}

impl SlowestRow<'_> {
    /// How long it took, and the figures under [`HEADS`]: for a machine and for
    /// people.
    pub fn figures(&self) -> Vec<(f64, String)> {
        let slow = self.slow;
        let counted = |value: u64| (value as f64, format_count(value as f64));
        vec![
            (slow.value, format_quantity(slow.value, &slow.unit)),
            counted(slow.sequence),
            (slow.at, format!("{:.3} s", slow.at)),
            (slow.over, format_quantity(slow.over * 1e9, "ns")),
            counted(slow.involuntary),
            counted(slow.voluntary),
            counted(slow.minor_faults),
            counted(slow.major_faults),
            (slow.steal, format_percent(slow.steal)),
        ]
    }
}

/// The tables of a case.
pub fn slowest_tables<'a>(run: &'a Run, case: &Case) -> Vec<SlowestTable<'a>> {
    let table = |metric: &'static str| {
        let of = |slow: &&SlowestSample| slow.case == case.id && slow.metric == metric;
        let mut all: Vec<&SlowestSample> = run.slowest.iter().filter(of).collect();
        all.sort_by_key(|slow| Reverse(slow.value as u64));
        let [receivers, processes] =
            [|s: &&SlowestSample| s.receiver > Some(0), |s: &&SlowestSample| s.process > Some(0)]
                .map(|other| all.iter().any(other));
        let row = |slow: &'a SlowestSample| {
            let mut name = run.subject(&slow.subject)?.title.clone();
            for (what, number, several) in
                [("receiver", slow.receiver, receivers), ("process", slow.process, processes)]
            {
                let number = number.filter(|_| several);
                name += &number.map_or(String::new(), |number| format!(", {what} {}", number + 1));
            }
            Some(SlowestRow { name, slow })
        };
        let rows: Vec<SlowestRow> = all.iter().copied().filter_map(row).collect();
        (!rows.is_empty()).then_some(SlowestTable { metric, rows })
    };
    METRICS.into_iter().filter_map(table).collect()
}
