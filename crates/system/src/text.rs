//! Words of others (other machines, programs, FMUs, files) made safe to show: a
//! terminal obeys what it is sent, and a line break forges a line.

/// Most characters of a text that are shown.
pub const MOST: usize = 2000;

/// A text as one line that no terminal obeys, and no longer than [`MOST`]
/// characters of it. See [`escape`].
pub fn escape_short(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => escape(&text[..end]) + "…",
        None => escape(text),
    }
}

/// A text as one line that no terminal obeys: control characters and those that
/// turn the direction of writing are written out, as `\u{1b}`.
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            _ if is_control(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// A text of several lines, each of them [`escape`].
pub fn escape_lines(text: &str) -> String {
    text.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

/// So many of something, in words: `1 message`, `8 messages`.
pub fn format_count(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Whether a terminal may do something else with it than to show it.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(escape_short("Grüße, 100 µs ±2 %"), "Grüße, 100 µs ±2 %");
        assert_eq!(escape_short("\x1b[2J\x07"), "\\u{1b}[2J\\u{7}");
        assert_eq!(escape_short("a\nwiregauge: all is well\r"), "a wiregauge: all is well ");
        assert_eq!(escape_short("\u{9b}31m\u{202e}txt"), "\\u{9b}31m\\u{202e}txt");
        assert_eq!(escape_lines("a\n\x1b[2Jb\n"), "a\n\\u{1b}[2Jb\n");
        assert_eq!(escape_short(&"x".repeat(MOST + 5)).chars().count(), MOST + 1);
    }
}
