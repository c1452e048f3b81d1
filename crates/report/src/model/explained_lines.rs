//! Which lines of their sources rows execute, side by side.

use indexmap::IndexMap;
use wiregauge_result::explanation::{Explanation, LineCounts, INSTRUCTIONS};

use crate::model::function_name::shorten;
use crate::model::number_format::format_percent;
use crate::model::side_by_side::{self, count_cells, count_difference};

/// The costliest lines of each row are shown, so many.
const LINES: usize = 10;

/// Longer names of sources are shortened to so many characters.
const MOST_SOURCE: usize = 40;

/// Longer texts of lines are cut.
const MOST_TEXT: usize = 72;

/// A line of a source in each row.
struct Line {
    name: String,
    text: String,
    counts: Vec<i64>,
}

/// The costliest lines of each row, all others as one, and the sum; none where no line is known.
pub(super) fn table(metric: &str, rows: &[&Explanation]) -> Option<Vec<Vec<String>>> {
    if rows.iter().all(|row| row.lines.is_empty()) {
        return None;
    }
    let lines = shown_lines(rows);
    let total = |row: &&Explanation| row.total(INSTRUCTIONS).unwrap_or(0.0).round() as i64;
    let totals: Vec<i64> = rows.iter().map(total).collect();
    let mut table = vec![match rows {
        [_] => {
            let mut head = vec![format!("{metric}: the costliest lines")];
            head.extend(["instructions", "share", "source"].map(String::from));
            head
        }
        rows => {
            let mut head = side_by_side::head(&format!("{metric}: instructions by line"), rows);
            head.push("source".into());
            head
        }
    }];
    let cells = |name: &str, counts: &[i64], text: &str| {
        let mut cells = count_cells(name, counts);
        if let [count] = counts {
            cells.push(match totals[0] {
                0 => "-".into(),
                total => format_percent(*count as f64 / total as f64),
            });
        }
        cells.push(text.to_owned());
        cells
    };
    table.extend(lines.iter().map(|line| cells(&line.name, &line.counts, &line.text)));
    let others: Vec<i64> = totals
        .iter()
        .enumerate()
        .map(|(row, total)| {
            lines.iter().fold(*total, |left, line| left.saturating_sub(line.counts[row]))
        })
        .collect();
    if others.iter().any(|count| *count != 0) {
        table.push(cells("other lines", &others, ""));
    }
    table.push(cells("sum", &totals, ""));
    Some(table)
}

/// The costliest lines of each row, those with the largest difference first.
fn shown_lines(rows: &[&Explanation]) -> Vec<Line> {
    let mut lines: IndexMap<(String, u32), Line> = IndexMap::new();
    for (at, row) in rows.iter().enumerate() {
        for line in &row.lines {
            let own = lines.entry(key(line)).or_insert_with(|| Line {
                name: name(line),
                text: line.text.trim().chars().take(MOST_TEXT).collect(),
                counts: vec![0; rows.len()],
            });
            let count = line.instructions.round() as i64;
            own.counts[at] = own.counts[at].saturating_add(count);
        }
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    let counts: Vec<&[i64]> = lines.iter().map(|line| &line.counts[..]).collect();
    let mut shown = side_by_side::costliest(&counts, rows.len(), LINES).into_iter();
    lines.retain(|_| shown.next().unwrap_or(false));
    lines.sort_by_key(|line| std::cmp::Reverse(count_difference(&line.counts).unsigned_abs()));
    lines
}

/// What is the same line in two rows: also where it was compiled into several functions.
fn key(line: &LineCounts) -> (String, u32) {
    match line.number {
        0 => (line.function.clone(), 0),
        number => (line.source.clone(), number),
    }
}

/// A line with the end of its source's path, or the function that has no lines.
fn name(line: &LineCounts) -> String {
    if line.number == 0 {
        return shorten(&line.function);
    }
    let mut source = line.source.as_str();
    while source.chars().count() > MOST_SOURCE {
        match source.split_once('/') {
            Some((_, rest)) => source = rest,
            None => break,
        }
    }
    let name: String = source.chars().take(MOST_SOURCE).collect();
    format!("{name}:{}", line.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(function: &str, source: &str, number: u32, instructions: f64) -> LineCounts {
        let text = if number == 0 { "" } else { "  value & 0x7f" };
        let (function, source, text) = (function.into(), source.into(), text.into());
        LineCounts { function, source, number, text, instructions }
    }

    fn explanation(subject: &str, total: f64, lines: Vec<LineCounts>) -> Explanation {
        Explanation {
            case: String::new(),
            subject: subject.into(),
            metric: "encode".into(),
            events: vec![INSTRUCTIONS.into()],
            totals: vec![total],
            memory: None,
            store_reads: None,
            functions: Vec::new(),
            lines,
        }
    }

    /// Also where a line was compiled into two functions, and where more lines are there than
    /// are shown.
    #[test]
    fn lines_add_up_to_the_whole_difference() {
        let mut of_a = vec![
            line("write", "prost-0.14.4/src/encoding/varint.rs", 12, 300.4),
            line("len", "prost-0.14.4/src/encoding/varint.rs", 12, 100.2),
            line("malloc", "", 0, 50.0),
        ];
        of_a.extend((1..30).map(|at| line("write", "a.rs", at, 2.0)));
        let a = explanation("a", 600.6, of_a);
        let b = explanation("b", 70.0, vec![line("malloc", "", 0, 70.0)]);
        let table = table("encode", &[&a, &b]).unwrap();
        let wanted = [
            ["encode: instructions by line", "a", "b", "difference", "source"],
            ["prost-0.14.4/src/encoding/varint.rs:12", "400", "0", "−400", "value & 0x7f"],
            ["malloc", "50", "70", "+20", ""],
        ];
        assert_eq!(table[..3], wanted, "{table:#?}");
        assert_eq!(table[3][..4], ["a.rs:1", "2", "0", "−2"], "{table:#?}");
        assert_eq!(table.len(), 3 + 8 + 2);
        assert_eq!(table[11][..4], ["other lines", "135", "0", "−135"], "{table:#?}");
        assert_eq!(table[12][..4], ["sum", "601", "70", "−531"], "{table:#?}");
    }

    #[test]
    fn a_row_alone_has_shares() {
        let a = explanation("a", 200.0, vec![line("write", &"folder/".repeat(20), 7, 150.0)]);
        let table = table("encode", &[&a]).unwrap();
        assert_eq!(table[1][1..], ["150", "75%", "value & 0x7f"]);
        assert!(table[1][0].starts_with("folder/") && table[1][0].len() < 50, "{table:?}");
        assert_eq!(table[2][..2], ["other lines", "50"]);
        assert!(super::table("encode", &[&explanation("a", 1.0, Vec::new())]).is_none());
    }
}
