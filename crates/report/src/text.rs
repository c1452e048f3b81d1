//! Plain text: columns that line up, and names from other people's files.

/// How a column lines up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Lines up rows of cells two spaces apart. Rows may be shorter than `aligns`.
pub fn grid(rows: &[Vec<String>], aligns: &[Align]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| chars(cell)).max().unwrap_or(0)
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
            let gap = " ".repeat(width - chars(cell));
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

/// Cells padded to one width, so that a cell of several parts lines up part by
/// part.
pub fn justify(cells: &mut [String]) {
    let width = cells.iter().map(|cell| chars(cell)).max().unwrap_or(0);
    for cell in cells {
        *cell = format!("{}{cell}", " ".repeat(width - chars(cell)));
    }
}

/// Width of a text in characters.
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// A text without control characters, which could change a terminal's state.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A command line as a shell takes it.
pub fn command(words: &[String]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive_a_shell() {
        let words = ["wiregauge", "codecs", "--topic", "/li dar", "it's", ""].map(String::from);
        assert_eq!(command(&words), r"wiregauge codecs --topic '/li dar' 'it'\''s' ''");
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1 µs".to_owned()], vec!["bcd".into(), "12 µs".into()]];
        assert_eq!(grid(&rows, &[Align::Left, Align::Right]), "a     1 µs\nbcd  12 µs\n");
        assert_eq!(clean("a\u{1b}[31mb"), "a [31mb");
    }
}
