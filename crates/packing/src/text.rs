//! What is packed and what that took, as people read it.

use wiregauge_system::text::{escape_short, format_count};

use crate::costs::{ChannelCosts, ColumnCosts};
use crate::info::PackingInfo;

/// What became of channels, and of each of their columns.
pub fn format_costs(costs: &[ChannelCosts]) -> String {
    let text = |channel: &ChannelCosts| {
        let ChannelCosts { messages, before, after, .. } = channel;
        let factor = *before as f64 / (*after).max(1) as f64;
        let counted = format_count(*messages, "message");
        let head = format!(
            "{}{counted}, {before} to {after} B, {factor:.2} to 1\n",
            channel_title(channel)
        );
        head + &format_columns(channel)
    };
    costs.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// What is packed in files.
pub fn format_infos(infos: &[PackingInfo]) -> String {
    let mut text = String::new();
    for info in infos {
        text += &format!("{}:\n", escape_short(&info.file));
        for channel in &info.channels {
            let ChannelCosts { messages, after, .. } = channel.packed;
            text += &format!(
                "{}{}, {after} B\n",
                channel_title(&channel.packed),
                format_count(messages, "message")
            );
            text += &format_columns(&channel.packed);
            for (rows_are, rows) in &channel.unpacked {
                text += &format!("  {rows} {} are not packed\n", escape_short(rows_are));
            }
        }
        if info.channels.is_empty() {
            text += "  no channel has OSI's SensorView or SensorData, or clouds of points\n";
        }
    }
    text
}

fn channel_title(channel: &ChannelCosts) -> String {
    match channel.channel.as_str() {
        "" => String::new(),
        name => format!("{}: ", escape_short(name)),
    }
}

/// The columns, a table for each kind of rows.
fn format_columns(channel: &ChannelCosts) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for column in &channel.columns {
        if !kinds.contains(&&*column.rows_are) {
            kinds.push(&column.rows_are);
        }
    }
    let of = |kind: &&str| {
        let columns = channel.columns.iter().filter(|column| column.rows_are == **kind);
        let heads = [kind, "type", "rows", "bytes", "B a row", "resolution", "largest error"];
        align_columns(
            &[vec![heads.map(String::from)], columns.map(column_cells).collect()].concat(),
        )
    };
    kinds.iter().map(of).collect()
}

/// Names to the left, numbers to the right.
fn align_columns(lines: &[[String; 7]]) -> String {
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, width))| match at {
            0 | 1 => format!("  {cell:<width$}"),
            _ => format!("  {cell:>width$}"),
        });
        text += cells.collect::<String>().trim_end();
        text.push('\n');
    }
    text
}

fn column_cells(column: &ColumnCosts) -> [String; 7] {
    let ColumnCosts { rows, bytes, reduced, resolution, error, .. } = column;
    let a_row = *bytes as f64 / (*rows).max(1) as f64;
    let quantity =
        |value: f64| format!("{} {}", format_four_digits(value), column.unit).trim_end().to_owned();
    let kept = match (reduced, resolution) {
        (_, Some(step)) => quantity(*step),
        (true, None) => "exact".into(),
        (false, None) => "plain".into(),
    };
    [
        escape_short(&column.column),
        column.element.clone(),
        rows.to_string(),
        bytes.to_string(),
        format!("{a_row:.2}"),
        kept,
        error.map_or(String::new(), quantity),
    ]
}

/// A number by four digits.
fn format_four_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        1e-3..1e4 => {
            let digits = (3 - value.abs().log10().floor() as i32).max(0) as usize;
            let text = format!("{value:.digits$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => {
            let text = format!("{value:.3e}");
            // What is not finite has none.
            let Some((number, power)) = text.split_once('e') else { return text };
            let number = match number.contains('.') {
                true => number.trim_end_matches('0').trim_end_matches('.'),
                false => number,
            };
            format!("{number}e{power}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::format_four_digits;

    #[test]
    fn numbers_are_short() {
        for (value, wanted) in [
            (0.0, "0"),
            (0.1, "0.1"),
            (6.67e-12, "6.67e-12"),
            (3.334_999e-12, "3.335e-12"),
            (1.0, "1"),
            (1234.56, "1235"),
            (0.001, "0.001"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(format_four_digits(value), wanted);
        }
    }
}
