//! Sizes, times and choices as people write them, on the command line and in
//! scenarios.

use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::conduct::terms::Choice;

/// A size in bytes: `500`, `10MB`, `1GiB`.
///
/// # Errors
/// A unit that there is not, no number, or too large a one.
pub fn bytes(text: &str) -> Result<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        unit => bail!("'{unit}' is no unit of bytes; there are B, kB, MB, GB, KiB, MiB, GiB"),
    };
    let number: usize =
        digits.trim_end().parse().with_context(|| format!("'{text}' is no size"))?;
    number.checked_mul(scale).with_context(|| format!("{text} is too much"))
}

/// A time: `1ms`, `5m`, or 0.
///
/// # Errors
/// What is no time.
pub fn time(text: &str) -> Result<Duration> {
    match text {
        "0" => Ok(Duration::ZERO),
        _ => humantime::parse_duration(text).with_context(|| format!("'{text}' is no time")),
    }
}

/// Something to say to a transport: `dds.domain=7`.
///
/// # Errors
/// What is not of this form.
pub fn choice(text: &str) -> Result<Choice> {
    let choice = text.split_once('=').and_then(|(key, value)| {
        let (transport, name) = key.split_once('.')?;
        Some(Choice { transport: transport.into(), name: name.into(), value: value.into() })
    });
    choice.context("wants TRANSPORT.NAME=VALUE, such as dds.domain=7")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, size) in
            [("500", 500), ("64kB", 64_000), ("10 MB", 10_000_000), ("1GiB", 1 << 30)]
        {
            assert_eq!(bytes(text).unwrap(), size);
        }
        for text in ["", "MB", "-1", "1.5MB", "10 parsecs", "99999999999999GB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_units_but_for_nothing() {
        assert_eq!(time("0").unwrap(), Duration::ZERO);
        assert_eq!(time("1500us").unwrap(), Duration::from_micros(1500));
        for text in ["5", "soon", "-1s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_choice_names_its_transport() {
        let Choice { transport, name, value } = choice("dds.topic=a=b").unwrap();
        assert_eq!([transport, name, value], ["dds", "topic", "a=b"]);
        assert!(choice("domain=7").is_err() && choice("dds.domain").is_err());
    }
}
