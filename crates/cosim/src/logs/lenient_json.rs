//! JSON as performance logs hold it: perhaps cut off, perhaps with a comma too
//! many. Numbers keep their text, as a time in a 64-bit float loses digits.

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Null, or nothing where something should be.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A number as it stands there.
    Number(&'a str),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value<'a>>),
    /// Fields by name, in their order.
    Map(Vec<(String, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The field of a map.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        match self {
            Value::Map(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The elements of a list.
    pub fn list(&self) -> &[Value<'a>] {
        match self {
            Value::List(elements) => elements,
            _ => &[],
        }
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a number, also where it was put in quotes.
    pub fn number(&self) -> Option<&str> {
        match self {
            Value::Number(text) => Some(text),
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedJson<'a> {
    /// The value, as far as it goes.
    pub value: Value<'a>,
    /// Whether the text ended before the value did.
    pub cut: bool,
}

/// Reads a value.
///
/// # Errors
/// Says what is wrong, and in which line, when it is not merely cut off.
pub fn parse(text: &str) -> Result<ParsedJson<'_>, String> {
    let mut reader = Reader { text, at: 0, cut: false, depth: 0 };
    let value = reader.value().map_err(|what| {
        let line = text[..reader.at.min(text.len())].matches('\n').count() + 1;
        format!("{what} in line {line}")
    })?;
    Ok(ParsedJson { value, cut: reader.cut })
}

/// Deepest nesting.
const MAX_DEPTH: usize = 64;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    cut: bool,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// The next byte that is no space; none at the end, which is then a cut.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let byte = self.text.as_bytes().get(self.at).copied();
        self.cut |= byte.is_none();
        byte
    }

    fn value(&mut self) -> Result<Value<'a>, String> {
        let Some(byte) = self.peek() else { return Ok(Value::Null) };
        match byte {
            b'{' | b'[' => {
                if self.depth == MAX_DEPTH {
                    return Err("nested too deeply".into());
                }
                self.depth += 1;
                self.at += 1;
                let value = if byte == b'{' { self.map() } else { self.list() };
                self.depth -= 1;
                value
            }
            b'"' => Ok(Value::Text(self.string()?)),
            _ => self.word(),
        }
    }

    fn list(&mut self) -> Result<Value<'a>, String> {
        let mut elements = Vec::new();
        loop {
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::List(elements));
                }
                Some(b',') => self.at += 1,
                // A list that was not closed: its parent's bracket ends it.
                Some(b'}') => {
                    self.cut = true;
                    return Ok(Value::List(elements));
                }
                Some(_) => elements.push(self.value()?),
                None => return Ok(Value::List(elements)),
            }
        }
    }

    fn map(&mut self) -> Result<Value<'a>, String> {
        let mut fields = Vec::new();
        loop {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Map(fields));
                }
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.cut = true;
                    return Ok(Value::Map(fields));
                }
                Some(b'"') => {
                    let key = self.string()?;
                    match self.peek() {
                        Some(b':') => self.at += 1,
                        Some(_) => return Err("a colon is missing".into()),
                        None => return Ok(Value::Map(fields)),
                    }
                    let value = self.value()?;
                    fields.push((key, value));
                }
                Some(_) => return Err("a name in quotes is missing".into()),
                None => return Ok(Value::Map(fields)),
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut string = String::new();
        let mut characters = self.text[self.at..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                '"' => {
                    self.at += offset + 1;
                    return Ok(string);
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => string.push('\n'),
                    Some((_, 't')) => string.push('\t'),
                    Some((_, 'u')) => {
                        let digits: String = characters.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok();
                        string.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    Some((_, other)) => string.push(other),
                    None => {}
                },
                other => string.push(other),
            }
        }
        self.at = self.text.len();
        self.cut = true;
        Ok(string)
    }

    /// A number, `true`, `false`, `null`.
    fn word(&mut self) -> Result<Value<'a>, String> {
        let rest = &self.text[self.at..];
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ']' | '}' | ':' | '"');
        let Some(length) = rest.find(ends) else {
            // Perhaps half a number: not to be trusted.
            self.at = self.text.len();
            self.cut = true;
            return Ok(Value::Null);
        };
        let word = &rest[..length];
        let value = match word {
            "null" | "nan" | "NaN" | "inf" => Value::Null,
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
                Value::Number(word)
            }
            _ => {
                let shown: String = rest.chars().take(20).collect();
                return Err(format!("{shown:?} is not JSON"));
            }
        };
        self.at += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_as_it_stands() {
        let loose = parse(r#"{"a": [1, -2.50e3, "x\"\u0041", true, null], "b": {}}"#).unwrap();
        assert!(!loose.cut);
        let a = loose.value.get("a").unwrap().list();
        assert_eq!(a[1], Value::Number("-2.50e3"));
        assert_eq!(a[2].text(), Some("x\"A"));
        assert_eq!(loose.value.get("b"), Some(&Value::Map(vec![])));
    }

    #[test]
    fn commas_and_brackets_may_be_wrong() {
        let whole = parse("[[1,2],[3,4]]").unwrap().value;
        for text in ["[[1,2],[3,4],]", "[[1,2],[3,4]", "[[1,2],[3,4],\n", "[[1,2,],[3,4]]"] {
            assert_eq!(parse(text).unwrap().value, whole, "{text}");
        }
        let missing = parse(r#"{"a": [{"b": [1, 2], "c": 3]}"#).unwrap();
        assert!(missing.cut);
        assert_eq!(missing.value.get("a").unwrap().list()[0].get("c"), Some(&Value::Number("3")));
    }

    #[test]
    fn half_a_number_is_none() {
        assert_eq!(
            parse("[1, 23").unwrap().value,
            Value::List(vec![Value::Number("1"), Value::Null])
        );
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_line() {
        assert!(parse("[1,\n2,\nhello there]").unwrap_err().ends_with("line 3"));
        assert!(parse(&"[".repeat(100)).is_err());
        assert!(parse("{1: 2}").is_err());
    }
}
