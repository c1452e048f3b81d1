//! Files that a user writes in TOML, scenarios and chains: values as the command line takes
//! them, and errors that name file and line.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use anyhow::{anyhow, Result};
use serde::de::{self, Deserializer, Visitor};
use serde::Deserialize;
use toml::Spanned;
use wiregauge_system::input::read_text;
use wiregauge_system::quantity::parse_time;

/// Longest file, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a file, of whose text `parse` makes something.
///
/// # Errors
/// A file that is not there, and what is wrong in it: the file, the line and what is known
/// instead.
pub fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, TomlError>) -> Result<T> {
    let shown = path.display();
    let text = read_text(path, LONGEST)?;
    parse(&text).map_err(|wrong| match wrong.place {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(&text);
            let line = before.matches('\n').count() + 1;
            anyhow!("{shown}:{line}: {}", wrong.what)
        }
        None => anyhow!("{shown}: {}", wrong.what),
    })
}

/// A span of time: `10ms`.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "Words")]
pub struct Time(pub Duration);

impl TryFrom<Words> for Time {
    type Error = ErrorChain;
    fn try_from(Words(text): Words) -> Result<Time, ErrorChain> {
        parse_time(&text).map(Time).map_err(ErrorChain)
    }
}

/// A text, or a number or truth value as its text: `size = 500` is what
/// `--size 500` is.
pub struct Words(pub String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Words, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text or a number")
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Words, E> {
                Ok(Words(value.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Words, E> {
                Ok(Words(value.to_string()))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Words, E> {
                Ok(Words(value.to_string()))
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Words, E> {
                Ok(Words(value.to_string()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// An error with all its causes in one line.
pub struct ErrorChain(pub anyhow::Error);

impl fmt::Display for ErrorChain {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// What is wrong in a file, and where.
#[derive(Debug)]
pub struct TomlError {
    what: String,
    place: Option<Range<usize>>,
}

impl From<toml::de::Error> for TomlError {
    fn from(error: toml::de::Error) -> TomlError {
        // What serde calls a field is a key here.
        let what = error.message().replace("unknown field", "unknown key");
        let what = what.replace("missing field", "missing key");
        TomlError { what, place: error.span() }
    }
}

impl From<anyhow::Error> for TomlError {
    fn from(error: anyhow::Error) -> TomlError {
        TomlError { what: format!("{error:#}"), place: None }
    }
}

/// What is wrong with a value, and where that is.
pub trait WithPosition<T> {
    /// The same, with the place of the value.
    ///
    /// # Errors
    /// Those that there are.
    fn with_position<V>(self, value: &Spanned<V>) -> Result<T, TomlError>;
}

impl<T> WithPosition<T> for Result<T> {
    fn with_position<V>(self, value: &Spanned<V>) -> Result<T, TomlError> {
        self.map_err(|error| TomlError { place: Some(value.span()), ..TomlError::from(error) })
    }
}
