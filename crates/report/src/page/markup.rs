//! Text inside HTML.

use std::fmt::{self, Display, Write};

use crate::text::plain_text::clean;

/// A text that HTML takes literally, in content and in quoted attributes.
pub struct Escaped<'a>(&'a str);

/// Escapes a text.
pub fn escape(text: &str) -> Escaped<'_> {
    Escaped(text)
}

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for c in clean(self.0).chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
