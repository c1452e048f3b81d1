//! Source text under construction, indented by its braces.

use std::fmt::Write;

/// Source text under construction.
#[derive(Default)]
pub struct SourceWriter {
    text: String,
    depth: usize,
}

impl SourceWriter {
    /// No text yet.
    pub fn new() -> SourceWriter {
        SourceWriter::default()
    }

    /// Adds a line, or several that come with their own relative indentation.
    pub fn line(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().split('\n') {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                let width = self.depth * 2;
                writeln!(self.text, "{:width$}{line}", "").expect("writing to a string");
            }
        }
    }

    /// Adds a line and indents what follows.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Ends the indentation and adds a line.
    pub fn close(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
    }

    /// Adds a line between two blocks: ends one, begins the next.
    pub fn next(&mut self, line: impl AsRef<str>) {
        self.close(line);
        self.depth += 1;
    }

    /// Adds an opening line, the body and a closing line.
    pub fn block(
        &mut self,
        open: impl AsRef<str>,
        close: &str,
        body: impl FnOnce(&mut SourceWriter),
    ) {
        self.open(open);
        body(self);
        self.close(close);
    }

    /// The text.
    pub fn finish(self) -> String {
        debug_assert_eq!(self.depth, 0, "every block is closed");
        self.text
    }
}
