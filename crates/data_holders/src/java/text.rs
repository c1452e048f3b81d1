//! Texts in Java: comments and literals. Files are ASCII, so that they mean the same
//! in whatever encoding a compiler takes them for.

use std::fmt::Write;

/// Most bytes of a literal: a class file has no room for longer ones.
const MOST: usize = 30_000;

/// A line of a comment: no escape that a compiler would obey.
pub fn remark(line: &str) -> String {
    let plain = |c: char| if c == '\\' || !(' '..='~').contains(&c) { '?' } else { c };
    line.chars().map(plain).collect()
}

/// A comment for Javadoc of paragraphs; blank lines part them too.
pub fn javadoc(paragraphs: &[&str]) -> String {
    let mut text = String::from("/**");
    let mut count = 0;
    for paragraph in paragraphs {
        let mut is_open = false;
        for line in paragraph.lines() {
            let line = escaped(line.trim_end());
            if line.trim().is_empty() {
                is_open = false;
                continue;
            }
            if !is_open && count > 0 {
                text += "\n *\n * <p>";
            } else {
                text += "\n * ";
            }
            text += if is_open { &line } else { line.trim_start() };
            is_open = true;
            count += 1;
        }
    }
    text + "\n */"
}

/// Whether nothing of a comment would be left.
pub fn is_blank(comment: &str) -> bool {
    comment.lines().all(|line| escaped(line).trim().is_empty())
}

/// What neither HTML nor Javadoc nor the compiler obeys.
fn escaped(line: &str) -> String {
    let mut text = String::new();
    for letter in line.chars() {
        match letter {
            '/' if !text.ends_with('*') => text.push(letter),
            '&' | '<' | '>' | '@' | '\\' | '/' | '{' | '}' => {
                write!(text, "&#{};", u32::from(letter)).expect("writing to a string");
            }
            ' '..='~' => text.push(letter),
            '\t' => text.push(' '),
            c if c.is_control() || is_odd(c) => {}
            c => write!(text, "&#{};", u32::from(c)).expect("writing to a string"),
        }
    }
    text
}

/// No letters, whose numbers HTML does not take.
fn is_odd(letter: char) -> bool {
    let number = u32::from(letter);
    number & 0xfffe == 0xfffe || (0xfdd0..0xfdf0).contains(&number)
}

/// A text as a literal.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for unit in text.encode_utf16() {
        match unit {
            0x22 | 0x5c => quoted.extend(['\\', char::from(unit as u8)]),
            0x0a => quoted.push_str("\\n"),
            0x20..=0x7e => quoted.push(char::from(unit as u8)),
            // Not as \u000d, which would end the line.
            0..=0x7f => write!(quoted, "\\{unit:03o}").expect("writing to a string"),
            other => write!(quoted, "\\u{other:04x}").expect("writing to a string"),
        }
    }
    quoted + "\""
}

/// A text as a literal where there is room for one, and else in parts.
pub fn text_literal(text: &str) -> String {
    if text.len() > MOST {
        block(text)
    } else {
        quoted(text)
    }
}

/// A text in a line each; of more parts where it is too long for one.
pub fn block(text: &str) -> String {
    let (mut parts, mut lines, mut size) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        // A line alone may be too long.
        for piece in split_line(line) {
            if size + piece.len() > MOST {
                parts.push(std::mem::take(&mut lines));
                size = 0;
            }
            size += piece.len();
            lines.push(quoted(piece));
        }
    }
    let joined = |lines: &Vec<String>| lines.join("\n        + ");
    match (parts.is_empty(), lines.len()) {
        (true, 0) => "\"\"".into(),
        (true, 1) => lines.remove(0),
        (true, _) => format!("\n    {}", joined(&lines)),
        (false, _) => {
            parts.push(lines);
            let parts: Vec<String> = parts.iter().map(joined).collect();
            format!("String.join(\"\",\n    {})", parts.join(",\n    "))
        }
    }
}

/// A line in pieces that are short enough, parted between letters.
fn split_line(line: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), line);
    while rest.len() > MOST / 2 {
        let at = (0..=MOST / 2).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0);
        let (piece, more) = rest.split_at(at);
        pieces.push(piece);
        rest = more;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_comment_leaves_its_place() {
        let text = javadoc(&["a */ \\u002a/ {@code} <b> ß", "", "b\n\n  c\u{7}"]);
        assert_eq!(
            text,
            "/**\n * a *&#47; &#92;u002a/ &#123;&#64;code&#125; &#60;b&#62; &#223;\
             \n *\n * <p>b\n *\n * <p>c\n */"
        );
        assert_eq!(remark("\\u000a ß"), "?u000a ?");
    }

    #[test]
    fn texts_are_literals_in_ascii() {
        assert_eq!(quoted("a\"\\u\n\rß😀"), "\"a\\\"\\\\u\\n\\015\\u00df\\ud83d\\ude00\"");
        assert_eq!(block("a\nb"), "\n    \"a\\n\"\n        + \"b\"");
        let long = block(&"ß".repeat(MOST));
        assert!(long.starts_with("String.join(\"\",\n    \"\\u00df"), "{}", &long[..40]);
        assert_eq!(long.matches("\\u00df").count(), MOST);
        assert!(long.split('"').all(|part| part.matches("\\u00df").count() * 2 <= MOST));
    }
}
