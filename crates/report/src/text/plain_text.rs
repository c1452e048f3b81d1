//! Plain text: columns that line up, and names from other people's files.

use serde::Serialize;

/// How a column lines up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Lines up rows of cells two spaces apart. Rows may be shorter than `aligns`.
pub fn align_rows(rows: &[Vec<String>], aligns: &[Align]) -> String {
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| text_width(cell))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..aligns.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), align) in row.iter().zip(&widths).zip(aligns) {
            if width == 0 {
                continue;
            }
            if !line.is_empty() {
                line.push_str("  ");
            }
            let gap = " ".repeat(width - text_width(cell));
            match align {
                Align::Left => line.extend([cell.as_str(), &gap]),
                Align::Right => line.extend([gap.as_str(), cell]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Lines up rows of cells as [`align_rows`] does, in several tables one below the
/// other where they are wider than `width`. Each begins with the first `keys`
/// columns.
pub fn align_tables(rows: &[Vec<String>], aligns: &[Align], keys: usize, width: usize) -> String {
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| text_width(cell))
            .max()
            .filter(|width| *width > 0)
            .map_or(0, |width| width + 2)
    };
    let key: usize = (0..keys).map(wide).sum();
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut used = usize::MAX;
    for column in keys..aligns.len() {
        used = used.saturating_add(wide(column));
        // The last column ends with nothing behind it.
        if used > width + 2 {
            used = key + wide(column);
            blocks.push((0..keys).collect());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(column);
        }
    }
    let table = |block: &Vec<usize>| {
        let of = |row: &Vec<String>| {
            block.iter().map(|&i| row.get(i).cloned().unwrap_or_default()).collect()
        };
        let rows: Vec<Vec<String>> = rows.iter().map(of).collect();
        let aligns: Vec<Align> = block.iter().map(|&i| aligns[i]).collect();
        align_rows(&rows, &aligns)
    };
    blocks.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// Breaks lines that are longer than `width` between words. What follows is
/// indented.
pub fn wrap_lines(text: &str, width: usize) -> String {
    let mut folded = String::new();
    for line in text.lines() {
        let own = line.len() - line.trim_start().len();
        let indent = " ".repeat((own + 2).min(width / 2));
        let mut rest = line.to_owned();
        while text_width(&rest) > width {
            let end = rest.char_indices().nth(width + 1).map_or(rest.len(), |(at, _)| at);
            let begin = (rest.len() - rest.trim_start().len()).min(end);
            let Some(space) = rest[begin..end].rfind(' ') else { break };
            let after = rest.split_off(begin + space);
            folded.push_str(rest.trim_end());
            folded.push('\n');
            rest = format!("{indent}{}", after.trim_start());
        }
        folded.push_str(&rest);
        folded.push('\n');
    }
    folded
}

/// Cells padded to one width, so that a cell of several parts lines up part by
/// part.
pub fn pad_cells(cells: &mut [String]) {
    let width = cells.iter().map(|cell| text_width(cell)).max().unwrap_or(0);
    for cell in cells {
        *cell = format!("{}{cell}", " ".repeat(width - text_width(cell)));
    }
}

/// Width of a text in characters.
pub fn text_width(text: &str) -> usize {
    text.chars().count()
}

/// A text without what a terminal obeys.
pub use wiregauge_system::text::escape as clean;

/// A document as JSON, in which what a terminal obeys is written out, too.
pub fn to_json(document: &impl Serialize) -> String {
    // Plain records with string keys always serialize.
    let text = serde_json::to_string_pretty(document).unwrap_or_default() + "\n";
    let obeyed =
        |c: char| c != '\n' && !c.is_ascii() && clean(c.encode_utf8(&mut [0; 4])).starts_with('\\');
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // All of them have four digits, and stand in a text.
            _ if character == '\u{7f}' || obeyed(character) => {
                shown.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// A command line as a shell takes it.
pub fn quote_command(words: &[String]) -> String {
    let quoted = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Rows of changes below their head, aligned, in lines of at most so many characters.
pub fn align_changes(rows: &[Vec<String>], width: Option<usize>) -> String {
    let mut aligns = [Align::Right; 8];
    aligns[..3].fill(Align::Left);
    aligns[7..].fill(Align::Left);
    match width {
        Some(width) => align_tables(rows, &aligns, 3, width),
        None => align_rows(rows, &aligns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive_a_shell() {
        let words = ["wiregauge", "codecs", "--channel", "/li dar", "it's", ""].map(String::from);
        assert_eq!(quote_command(&words), r"wiregauge codecs --channel '/li dar' 'it'\''s' ''");
    }

    #[test]
    fn wide_tables_are_broken_and_long_lines_folded() {
        let row = |name: &str| {
            let cells = (0..6).map(|i| format!("{i}23456789"));
            [name.to_owned()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let rows = [row("a"), row("long name")];
        let aligns = [Align::Left; 7];
        for width in [30, 40, 60, 100] {
            let text = align_tables(&rows, &aligns, 1, width);
            assert!(text.lines().all(|line| text_width(line) <= width), "{width}:\n{text}");
            assert_eq!(text.matches("523456789").count(), 2);
        }
        assert_eq!(
            wrap_lines("  one two three four\nfive", 10),
            "  one two\n    three\n    four\nfive\n"
        );
        assert_eq!(wrap_lines("unbreakable-word", 4), "unbreakable-word\n");
        assert_eq!(wrap_lines("            far", 6), "            far\n");
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1 µs".to_owned()], vec!["bcd".into(), "12 µs".into()]];
        assert_eq!(align_rows(&rows, &[Align::Left, Align::Right]), "a     1 µs\nbcd  12 µs\n");
        assert_eq!(clean("a\u{1b}[31mb"), "a\\u{1b}[31mb");
    }
}
