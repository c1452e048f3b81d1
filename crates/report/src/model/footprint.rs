//! What codecs add to a program, as tables.

use wiregauge_result::run::{Case, Run};

use crate::model::table::Table;

/// The tables: what stands above each, and its columns in order. All others are in the
/// result alone.
const TABLES: [(&str, &[&str]); 3] = [
    (
        "added to a program",
        &["text/both", "rodata/both", "data/both", "bss/both", "text-Os/both", "rodata-Os/both"],
    ),
    ("code of one direction", &["text/encode", "text/decode", "text-Os/encode", "text-Os/decode"]),
    (
        "stack and heap",
        &[
            "stack/encode",
            "stack/decode",
            "heap-peak/encode",
            "heap-peak/decode",
            "first-allocations/encode",
            "first-allocations/decode",
        ],
    ),
];

/// What the figures are, behind the tables.
pub const FOOTPRINT_LEGEND: [&str; 3] = [
    "text, rodata, data, bss: what the codec adds to a statically linked program that has the \
     message already",
    "-Os: optimized for size, else -O2; encode, decode: with one of the two alone",
    "stack, heap, first allocations: the most for one message, in a process that has done nothing \
     else",
];

/// The tables of a case that have rows.
pub fn footprint_tables<'a>(run: &'a Run, case: &'a Case) -> Vec<Table<'a>> {
    let all = Table::facts(run, case);
    let table = |&(heading, metrics): &(&'static str, &[&str])| {
        let column = |metric: &&str| all.iter().find(|column| column.metric == **metric).cloned();
        let columns = metrics.iter().filter_map(column).collect();
        Table { heading, ..Table::from_columns(run, case, columns) }
    };
    TABLES.iter().map(table).filter(|table| !table.is_empty()).collect()
}
