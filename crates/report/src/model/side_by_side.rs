//! Tables of counts whose columns are rows of the result, side by side.

use std::cmp::Reverse;

use wiregauge_result::explanation::Explanation;

use crate::model::number_format::{format_count, format_difference};

/// The head of a table: its title, the rows, and the difference of two.
pub(super) fn head(title: &str, rows: &[&Explanation]) -> Vec<String> {
    let mut head = vec![title.to_owned()];
    head.extend(rows.iter().map(|row| row.subject.clone()));
    head.extend((rows.len() == 2).then(|| "difference".to_owned()));
    head
}

/// A line of it.
pub(super) fn count_cells(name: &str, counts: &[i64]) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend(counts.iter().map(|count| format_count(*count as f64)));
    if counts.len() == 2 {
        cells.push(format_difference(count_difference(counts) as f64));
    }
    cells
}

/// How much more the second row takes, or what the first takes where it is alone.
pub(super) fn count_difference(counts: &[i64]) -> i64 {
    match counts {
        [a, b] => b.saturating_sub(*a),
        _ => counts.first().copied().unwrap_or(0),
    }
}

/// Whether each line is among the costliest of a row, of which so many are wanted.
pub(super) fn costliest(lines: &[&[i64]], rows: usize, most: usize) -> Vec<bool> {
    let mut chosen = vec![false; lines.len()];
    for row in 0..rows {
        let mut places: Vec<usize> = (0..lines.len()).filter(|at| lines[*at][row] > 0).collect();
        places.sort_by_key(|at| Reverse(lines[*at][row]));
        places.iter().take(most).for_each(|at| chosen[*at] = true);
    }
    chosen
}
