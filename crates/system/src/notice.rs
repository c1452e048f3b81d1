//! What is said to the user on standard error.

use std::io::Write;

use crate::text::escape_lines;

/// Tells the user something. Paths and names in it are the words of others, so what a
/// terminal would obey is written out. That nobody reads it is no error.
pub fn print_notice(what: &str) {
    let _ = std::io::stderr().lock().write_all(escape_lines(&end_line(what)).as_bytes());
}

/// Tells the user several things, a line each.
pub fn print_notices(notices: &[String]) {
    notices.iter().for_each(|notice| print_notice(notice));
}

/// A text that ends with one end of a line.
pub fn end_line(text: &str) -> String {
    format!("{}\n", text.strip_suffix('\n').unwrap_or(text))
}
