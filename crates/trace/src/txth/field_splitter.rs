//! Finds the fields of messages in text, one behind the other.

/// A field that begins in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where the name begins, counted over all that was taken.
    pub at: u64,
}

/// Takes text byte by byte.
#[derive(Debug, Default)]
pub struct FieldSplitter {
    at: u64,
    depth: usize,
    /// The quote that ends the current string, and whether the next byte is escaped.
    quote: Option<u8>,
    is_escaped: bool,
    is_comment: bool,
    /// The current word, and one that may be a name, by what follows it.
    word: Option<Field>,
    name: Option<Field>,
}

impl FieldSplitter {
    /// Takes the next byte. The outermost field that it shows to have begun.
    pub fn push(&mut self, byte: u8) -> Result<Option<Field>, &'static str> {
        let at = self.at;
        self.at += 1;
        if self.is_comment {
            self.is_comment = byte != b'\n';
            return Ok(None);
        }
        if let Some(quote) = self.quote {
            if self.is_escaped {
                self.is_escaped = false;
            } else if byte == b'\\' {
                self.is_escaped = true;
            } else if byte == quote {
                self.quote = None;
            }
            return Ok(None);
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+') {
            if self.depth == 0 {
                self.name = None;
                let word = self.word.get_or_insert(Field { name: String::new(), at });
                // Longer names are none.
                if word.name.len() < 256 {
                    word.name.push(char::from(byte));
                }
            }
            return Ok(None);
        }
        self.name = self.word.take().or(self.name.take());
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'#' => self.is_comment = true,
            b':' if self.depth == 0 => return Ok(self.name.take()),
            b'{' | b'<' | b'[' => {
                let name = self.name.take().filter(|_| byte != b'[');
                self.depth += 1;
                return Ok(name);
            }
            b'}' | b'>' | b']' => {
                self.depth =
                    self.depth.checked_sub(1).ok_or("a bracket is closed that was not opened")?;
            }
            b'"' | b'\'' => (self.quote, self.name) = (Some(byte), None),
            b':' | b',' | b';' | b'/' => self.name = None,
            _ => return Err("this is not text of Protobuf"),
        }
        Ok(None)
    }

    /// Whether the text may end here.
    pub fn is_whole(&self) -> bool {
        self.depth == 0 && self.quote.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Result<Vec<(String, u64)>, &'static str> {
        let mut split = FieldSplitter::default();
        let mut found = Vec::new();
        for byte in text.bytes() {
            found.extend(split.push(byte)?.map(|field| (field.name, field.at)));
        }
        assert!(split.is_whole());
        Ok(found)
    }

    #[test]
    fn outermost_fields_are_found_however_they_are_written() {
        let text =
            "a { b: 1 c <d: 2> }\nb: FOO\ne:\"x { y: \\\" z:\" # f: 1 {\n g # {\n : [1, 2]h{}\n\
                    i: -1.5e+3 j: 'a\"' \"b: \"";
        let names: Vec<String> = fields(text).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "e", "g", "h", "i", "j"]);
        for (name, at) in fields(text).unwrap() {
            assert!(text[at as usize..].starts_with(&name));
        }
        assert_eq!(fields("[x.y] { a: 1 } c: 1").unwrap().len(), 1);
        assert!(fields("a: 1 }").is_err());
        assert!(fields("$$__$$").is_err());
    }
}
