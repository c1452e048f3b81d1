//! A line of a definition: a field, a constant or nothing.

use anyhow::{bail, ensure, Context, Result};

use super::dialect::{scalar, Dialect};
use crate::documentation::Constant;
use crate::model::Cardinality;

/// A field as it is written.
pub(super) struct Line {
    pub(super) number: usize,
    /// The element's type: `float32`, `Point` or `pkg/Point`.
    pub(super) element: String,
    pub(super) cardinality: Cardinality,
    pub(super) name: String,
    pub(super) default: Option<String>,
    /// The type as spelled: `string<=10[4]`.
    pub(super) spelling: String,
}

/// What a line holds.
pub(super) enum Statement {
    Field(Line),
    /// Its value is all behind the `=`: only the dialect tells whether that has a
    /// comment.
    Constant(Constant),
}

pub(super) fn is_separator(line: &str) -> bool {
    line.len() == 80 && line.bytes().all(|b| b == b'=')
}

/// The line without its comment; a `#` in quotes starts none.
pub(super) fn uncomment(line: &str) -> &str {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    line
}

/// The comment on a line, without its mark.
pub(super) fn comment(line: &str) -> Option<&str> {
    let own = line.trim_start();
    let text = if own.starts_with('#') { own } else { &line[uncomment(line).len()..] };
    text.strip_prefix('#').map(str::trim)
}

/// The field or constant on a line; none where the line holds nothing.
pub(super) fn parse_line(number: usize, line: &str, ros2: &mut bool) -> Result<Option<Statement>> {
    // An apostrophe may stand in a comment or in a ROS 1 constant, where it
    // quotes nothing, so comments at the start of a line are looked at first.
    if line.trim_start().starts_with('#') {
        return Ok(None);
    }
    let whole = line.trim();
    let line = uncomment(line).trim();
    if line.is_empty() {
        return Ok(None);
    }
    ensure!(
        line != "---",
        "'---' separates the parts of a service or an action; put each part into a separate .msg \
         file"
    );
    let (element, rest) = line
        .split_once(char::is_whitespace)
        .context("not a field and not a constant; write 'type name'")?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let whole_name = |rest: &str| {
        let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        format!("{name}{}", &rest[..end])
    };
    ensure!(!whole_name(rest).is_empty(), "the name after the type is missing; write 'type name'");
    ensure!(
        name.starts_with(|c: char| c.is_ascii_alphabetic()),
        "the name '{}' does not begin with a letter from a to z, which ROS requires; rename it",
        whole_name(rest)
    );
    ensure!(
        rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '='),
        "the name '{}' has characters other than letters, digits and '_'; rename it, and write a \
         length after the type: 'uint8[4] name'",
        whole_name(rest)
    );
    let rest = rest.trim();
    if rest.starts_with('=') {
        let kind = element.split('<').next().unwrap_or(element);
        ensure!(scalar(kind, Dialect::Ros2).is_some(), "a constant must have a primitive type");
        let value = whole.split_once('=').map_or("", |(_, value)| value.trim());
        return Ok(Some(Statement::Constant(Constant {
            name: name.to_owned(),
            spelling: element.to_owned(),
            value: value.to_owned(),
            is_bare: false,
            comment: String::new(),
        })));
    }
    let spelling = element.to_owned();
    let (element, cardinality) = parse_type(element, ros2)?;
    let default = (!rest.is_empty()).then(|| rest.to_owned());
    *ros2 |= default.is_some();
    let name = name.to_owned();
    Ok(Some(Statement::Field(Line { number, element, cardinality, name, default, spelling })))
}

/// Splits `string<=10[<=5]` into the element's type and its cardinality.
fn parse_type(text: &str, ros2: &mut bool) -> Result<(String, Cardinality)> {
    let (element, cardinality) = match text.strip_suffix(']') {
        None => (text, Cardinality::Required),
        Some(open) => {
            let (element, size) = open.rsplit_once('[').context("']' without '['")?;
            let cardinality = if size.is_empty() {
                Cardinality::List { bound: None }
            } else if let Some(bound) = size.strip_prefix("<=") {
                *ros2 = true;
                let bound = bound.parse().context("the list's bound")?;
                ensure!(
                    bound > 0,
                    "a list of 0 elements, which ROS does not allow; remove the field"
                );
                Cardinality::List { bound: Some(bound) }
            } else {
                Cardinality::Array { len: size.parse().context("the array's length")? }
            };
            (element, cardinality)
        }
    };
    let element = match element.split_once("<=") {
        None => element,
        Some((element @ ("string" | "wstring"), bound)) => {
            let bound: u32 = bound.parse().context("the string's bound")?;
            ensure!(bound > 0, "a string of length 0, which ROS does not allow; remove the field");
            *ros2 = true;
            element
        }
        Some((other, _)) => bail!("{other} cannot have a bound; only strings and lists can"),
    };
    let legal = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    ensure!(
        element.split('/').all(legal),
        "'{element}' is not a type; the name of a type begins with a letter and has letters, \
         digits and '_'"
    );
    *ros2 |= element == "wstring"
        || element.contains("/msg/")
        || element.starts_with("builtin_interfaces/");
    Ok((element.to_owned(), cardinality))
}
