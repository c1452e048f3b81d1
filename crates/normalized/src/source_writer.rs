//! Source text under construction, indented by its braces.

use std::fmt::Write;

/// Source text under construction.
pub struct SourceWriter {
    text: String,
    depth: usize,
    step: usize,
}

impl Default for SourceWriter {
    fn default() -> SourceWriter {
        SourceWriter::indented(2)
    }
}

impl SourceWriter {
    /// No text yet.
    pub fn new() -> SourceWriter {
        SourceWriter::default()
    }

    /// No text yet, and so many spaces a level.
    pub fn indented(step: usize) -> SourceWriter {
        SourceWriter { text: String::new(), depth: 0, step }
    }

    /// Adds a line, or several that come with their own relative indentation.
    pub fn line(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().split('\n') {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                let width = self.depth * self.step;
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

    /// Ends the indentation, where the language has no line for that.
    pub fn outdent(&mut self) {
        self.depth -= 1;
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
