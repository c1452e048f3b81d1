//! What a user requires of a result: `p99.9 latency < 500us, lost = 0`. The
//! language; [`crate::verdict`] holds a result against it.

use std::fmt;
use std::str::FromStr;

use anyhow::{bail, ensure, Context, Error, Result};
use serde::{Deserialize, Serialize};
use wiregauge_system::quantity;

/// All that is required of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Requirements(Vec<Requirement>);

/// One figure and its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As the user wrote it.
    pub text: String,
    pub(crate) statistic: Statistic,
    pub(crate) metric: String,
    /// Id or title of the only subject that is meant.
    pub(crate) subject: Option<String>,
    /// Id of the only case that is meant.
    pub(crate) case: Option<String>,
    pub(crate) relation: Relation,
    pub(crate) limit: f64,
    /// Unit of the limit, as results have it.
    pub(crate) unit: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Statistic {
    /// The figure as it is quoted: the median of what was sampled, or a count.
    Quoted,
    /// The time that this share of all stays within.
    Share(f64),
    /// The largest that was seen.
    Largest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}
impl Requirements {
    /// Each of them.
    pub fn all(&self) -> &[Requirement] {
        &self.0
    }
}

/// Units that users write beside those of sizes and times: what they are of those in
/// results.
const UNITS: [(&str, f64, &str); 14] = [
    ("", 1.0, "1"),
    ("k", 1e3, "1"),
    ("B/s", 1e-6, "MB/s"),
    ("kB/s", 1e-3, "MB/s"),
    ("MB/s", 1.0, "MB/s"),
    ("GB/s", 1e3, "MB/s"),
    ("/s", 1.0, "1/s"),
    ("1/s", 1.0, "1/s"),
    ("Hz", 1.0, "1/s"),
    ("kHz", 1e3, "1/s"),
    ("%", 1.0, "%"),
    ("(MB/s)²", 1.0, "(MB/s)²"),
    ("(MB/s)^2", 1.0, "(MB/s)²"),
    ("MB²/s²", 1.0, "(MB/s)²"),
];

/// What a requirement looks like.
const FORM: &str = "'p99.9 latency < 500us' or 'lost = 0'";

impl FromStr for Requirements {
    type Err = Error;

    fn from_str(text: &str) -> Result<Requirements> {
        let parts = split(text)?;
        let all = parts.iter().map(|part| part.parse()).collect::<Result<Vec<_>>>()?;
        ensure!(!all.is_empty(), "the requirement is empty; write one such as {FORM}");
        Ok(Requirements(all))
    }
}

impl FromStr for Requirement {
    type Err = Error;

    fn from_str(text: &str) -> Result<Requirement> {
        let text = text.trim();
        let at = find_unquoted(text, |c| "<>=".contains(c))
            .with_context(|| format!("'{text}' has no limit; write one such as {FORM}"))?;
        let (left, right) = text.split_at(at);
        let (relation, right) = relation(right);
        let (limit, unit) = limit(right)?;
        let RequirementWords { statistic, metric, subject, case } = parse_words(left)?;
        let text = text.to_owned();
        Ok(Requirement { text, statistic, metric, subject, case, relation, limit, unit })
    }
}

impl TryFrom<String> for Requirements {
    type Error = Error;

    fn try_from(text: String) -> Result<Requirements> {
        text.parse()
    }
}

impl From<Requirements> for String {
    fn from(requirements: Requirements) -> String {
        requirements.to_string()
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|requirement| requirement.text.as_str()).collect();
        f.write_str(&texts.join(", "))
    }
}

/// The place of the first such character that is not in quotes.
fn find_unquoted(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, c)| {
        quoted ^= c == '"';
        (!quoted && wanted(c)).then_some(at)
    })
}

/// The parts between commas.
fn split(mut text: &str) -> Result<Vec<&str>> {
    ensure!(
        text.matches('"').count().is_multiple_of(2),
        "a quotation mark is not closed in {text}"
    );
    let mut parts = Vec::new();
    while let Some(at) = find_unquoted(text, |c| c == ',') {
        parts.push(&text[..at]);
        text = &text[at + 1..];
    }
    parts.push(text);
    parts.retain(|part| !part.trim().is_empty());
    Ok(parts)
}

fn relation(text: &str) -> (Relation, &str) {
    let all = [
        ("<=", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("==", Relation::Equal),
        ("<", Relation::Less),
        (">", Relation::More),
        ("=", Relation::Equal),
    ];
    let found = all
        .into_iter()
        .find_map(|(sign, relation)| text.strip_prefix(sign).map(|rest| (relation, rest)));
    found.unwrap_or((Relation::Equal, text))
}

/// A number and its unit, in the unit of results.
fn limit(text: &str) -> Result<(f64, &'static str)> {
    let text = text.trim();
    let at = text.char_indices().map(|(at, _)| at).chain([text.len()]).rev();
    for at in at {
        let (number, unit) = (text[..at].trim(), text[at..].trim());
        let Ok(number) = number.parse::<f64>() else { continue };
        let Some((factor, of)) = find_unit(unit) else { break };
        ensure!(number.is_finite(), "'{text}' is not a limit");
        return Ok((number * factor, of));
    }
    let known: Vec<&str> = UNITS.iter().map(|(unit, ..)| *unit).skip(1).take(8).collect();
    bail!(
        "'{text}' is not a number with one of these units: ns us ms s min h d B kB MB GB TB KiB \
         MiB GiB TiB {}",
        known.join(" ")
    )
}

/// What a unit is of one in results. Letters may be large or small.
fn find_unit(unit: &str) -> Option<(f64, &'static str)> {
    let same = |(name, ..): &&(&str, f64, &str)| name.to_lowercase() == unit.to_lowercase();
    let other = || UNITS.iter().find(same).map(|&(_, factor, of)| (factor, of));
    let time = quantity::unit_of_time(unit).map(|time| (time as f64, "ns"));
    time.or_else(|| quantity::unit_of_bytes(unit).map(|bytes| (bytes as f64, "B"))).or_else(other)
}

struct RequirementWords {
    statistic: Statistic,
    metric: String,
    subject: Option<String>,
    case: Option<String>,
}

/// `p99.9 latency of tcp at "500 B, 1 ms"`, the statistic first or last.
fn parse_words(text: &str) -> Result<RequirementWords> {
    let mut found = RequirementWords {
        statistic: Statistic::Quoted,
        metric: String::new(),
        subject: None,
        case: None,
    };
    let mut metric = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (word, after) = token(rest);
        match word {
            "of" | "at" => {
                let (name, after) = token(after);
                ensure!(!name.is_empty(), "in '{}' a name is missing after '{word}'", text.trim());
                let name = Some(name.to_owned());
                match word {
                    "of" => found.subject = name,
                    _ => found.case = name,
                }
                rest = after;
                continue;
            }
            _ => match (statistic(word)?, found.statistic) {
                (Some(statistic), Statistic::Quoted) => found.statistic = statistic,
                (Some(_), _) => bail!("'{}' names two statistics; give one", text.trim()),
                (None, _) => metric.push(word),
            },
        }
        rest = after;
    }
    // Percentiles are metrics of their own in results: latency/p99.9.
    found.metric = metric.join(" ");
    if let Some((name, last)) = found.metric.rsplit_once('/') {
        if let (Some(statistic), Statistic::Quoted) = (statistic(last)?, found.statistic) {
            (found.statistic, found.metric) = (statistic, name.to_owned());
        }
    }
    ensure!(
        !found.metric.is_empty(),
        "'{}' names no figure; write a requirement such as {FORM}",
        text.trim()
    );
    Ok(found)
}

/// The first word, or what stands in quotes, and the rest.
fn token(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        if let Some((inside, rest)) = quoted.split_once('"') {
            return (inside, rest.trim_start());
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The statistic that a word names, if it is one.
fn statistic(word: &str) -> Result<Option<Statistic>> {
    match word {
        "median" => return Ok(Some(Statistic::Quoted)),
        "max" => return Ok(Some(Statistic::Largest)),
        _ => {}
    }
    let Some(number) = word.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok()) else {
        return Ok(None);
    };
    ensure!(
        number > 0.0 && number < 100.0,
        "{word} is not a percentile; write p50, p99.9 and so on"
    );
    // As 0.999 is written, and not 99.9 ÷ 100.
    Ok(Some(Statistic::Share((number * 1e7).round() / 1e9)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_all_verbs() {
        for (text, wanted) in [
            ("500us", (5e5, "ns")),
            ("500 US", (5e5, "ns")),
            ("1.5min", (9e10, "ns")),
            ("1mib", (1_048_576.0, "B")),
            ("2TB", (2e12, "B")),
            ("1e3 kB", (1e6, "B")),
            ("99mb/s", (99.0, "MB/s")),
            ("10 Hz", (10.0, "1/s")),
            ("5%", (5.0, "%")),
            ("-1", (-1.0, "1")),
        ] {
            assert_eq!(limit(text).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_in_a_line() {
        for (text, wanted) in [
            ("", "the requirement is empty"),
            (" , ", "the requirement is empty"),
            ("latency", "has no limit"),
            ("< 5ms", "names no figure"),
            ("latency < fast", "is not a number"),
            ("latency < 5 fortnights", "is not a number"),
            ("latency < inf", "is not a limit"),
            ("p100 latency < 1ms", "is not a percentile"),
            ("p99 latency p50 < 1ms", "names two statistics"),
            ("latency of < 1ms", "a name is missing after 'of'"),
            ("latency at \"x < 1ms", "a quotation mark is not closed"),
        ] {
            let error = format!("{:#}", text.parse::<Requirements>().unwrap_err());
            assert!(error.contains(wanted) && !error.contains('\n'), "{text}: {error}");
        }
        let text = "p99.9 latency of tcp at \"10 B, 5 ms\" < 500us, lost = 0";
        assert_eq!(text.parse::<Requirements>().unwrap().to_string(), text);
    }
}
