//! Sizes, times, rates and speeds as people write them: on the command line, in scenarios
//! and in requirements. docs/inputs.md says the grammar.
//!
//! A size is a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB; without a unit it
//! is bytes. A time is a number with ns, us, ms, s, min, h, d or w, or several of them
//! in a row. A rate is a number with Hz or kHz, or without a unit; a speed is one with
//! km/h, mph or m/s. Letters may be large or small, blanks may stand around units, numbers
//! may have a decimal point. What is below 0, beyond what can be held, or no whole number
//! of bytes or nanoseconds is refused.

use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};

/// Units of sizes in bytes, in small letters.
const BYTES: [(&str, u64); 9] = [
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

const MINUTE: u64 = 60 * 1_000_000_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Units of times in nanoseconds, in small letters.
const TIMES: [(&[&str], u64); 8] = [
    (&["ns", "nsec"], 1),
    // The micro sign, and the Greek letter that looks like it.
    (&["us", "\u{b5}s", "\u{3bc}s", "usec"], 1_000),
    (&["ms", "msec"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (&["m", "min", "mins", "minute", "minutes"], MINUTE),
    (&["h", "hr", "hrs", "hour", "hours"], HOUR),
    (&["d", "day", "days"], DAY),
    (&["w", "week", "weeks"], 7 * DAY),
];

/// The longest that anything may be told to take: a week.
const LONGEST: Duration = Duration::from_nanos(7 * DAY);

/// Bytes of a unit of sizes, as `MiB`.
pub fn unit_of_bytes(unit: &str) -> Option<u64> {
    let unit = unit.to_lowercase();
    BYTES.iter().find(|(name, _)| *name == unit).map(|&(_, bytes)| bytes)
}

/// Nanoseconds of a unit of times, as `ms`.
pub fn unit_of_time(unit: &str) -> Option<u64> {
    let unit = unit.to_lowercase();
    TIMES.iter().find(|(names, _)| names.contains(&&*unit)).map(|&(_, time)| time)
}

/// A size in bytes: `500`, `10MB`, `1.5 GiB`.
///
/// # Errors
/// A unit that there is not, no number, one below 0, part of a byte, or too much.
pub fn parse_bytes<T: TryFrom<u64>>(text: &str) -> Result<T> {
    let trimmed = text.trim();
    ensure!(!trimmed.starts_with('-'), "'{text}' is below 0; give a size of 0 or more");
    let (number, unit, rest) = split_number(trimmed);
    ensure!(
        !number.is_empty() && rest.is_empty(),
        "'{text}' is not a size; write it as 500 or 10MB"
    );
    let unit = match unit {
        "" => 1,
        _ => unit_of_bytes(unit).with_context(|| {
            format!("'{unit}' is not a unit of bytes; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB")
        })?,
    };
    match scale(number, unit) {
        Scaled::Whole(bytes) => {
            let size = u64::try_from(bytes).ok().and_then(|bytes| T::try_from(bytes).ok());
            size.with_context(|| format!("'{text}' is too large"))
        }
        Scaled::Broken => bail!("'{text}' is not a whole number of bytes"),
        Scaled::TooMuch => bail!("'{text}' is too large"),
        Scaled::NoNumber => bail!("'{text}' is not a size; write it as 500 or 10MB"),
    }
}

/// A size of memory or of a file, which is not 0.
///
/// # Errors
/// As [`parse_bytes`], and 0.
pub fn parse_nonzero_bytes(text: &str) -> Result<u64> {
    let size: u64 = parse_bytes(text)?;
    ensure!(size > 0, "the size must be above 0");
    Ok(size)
}

/// A time: `1ms`, `1.5 s`, `1m 30s`, or 0.
///
/// # Errors
/// A unit that there is not, or none, no number, one below 0, part of a nanosecond,
/// or too much.
pub fn parse_time(text: &str) -> Result<Duration> {
    ensure!(!text.trim().starts_with('-'), "'{text}' is below 0; give a time of 0 or more");
    let nanoseconds = parse_nanoseconds(text)?;
    let whole = u64::try_from(nanoseconds / 1_000_000_000);
    let rest = (nanoseconds % 1_000_000_000) as u32;
    Ok(Duration::new(whole.with_context(|| format!("'{text}' is too large"))?, rest))
}

/// How long something may take, from a second to a week: as [`parse_time`], and seconds
/// where there is no unit.
///
/// # Errors
/// As [`parse_time`], and beyond those bounds.
pub fn parse_timeout(text: &str) -> Result<Duration> {
    let is_plain = text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let allowed =
        parse_time(&if is_plain { format!("{}s", text.trim()) } else { text.to_owned() })?;
    ensure!(
        (Duration::from_secs(1)..=LONGEST).contains(&allowed),
        "'{text}' must be 1s to 1w; a plain number means seconds"
    );
    Ok(allowed)
}

/// A time in nanoseconds that may lie before its beginning: `-2s`.
///
/// # Errors
/// As [`parse_time`], but for what is below 0.
pub fn parse_nanoseconds(text: &str) -> Result<i128> {
    let trimmed = text.trim();
    let (sign, mut rest) = match trimmed.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, trimmed),
    };
    let wrong = || format!("'{text}' is not a time; write it as 12.5s, 300ms or 1m 30s");
    ensure!(!rest.is_empty(), wrong());
    if rest == "0" {
        return Ok(0);
    }
    let mut sum = 0i128;
    while !rest.is_empty() {
        let (number, unit, behind) = split_number(rest);
        ensure!(!number.is_empty(), wrong());
        ensure!(!unit.is_empty(), "'{text}' has no unit; write the time as 12.5s, 300ms or 1m 30s");
        let unit = unit_of_time(unit).with_context(|| {
            format!(
                "'{text}' is not a time: '{unit}' is not one of the units ns, us, ms, s, min, h, \
                 d, w"
            )
        })?;
        let time = match scale(number, unit) {
            Scaled::Whole(time) => i128::try_from(time).ok(),
            Scaled::TooMuch => None,
            Scaled::Broken => bail!("'{text}' is finer than a nanosecond"),
            Scaled::NoNumber => bail!(wrong()),
        };
        sum = time
            .and_then(|time| sum.checked_add(time))
            .with_context(|| format!("'{text}' is too large"))?;
        rest = behind;
    }
    Ok(sign * sum)
}

/// How often something happens in a second: `10Hz`, `2 kHz`, or a plain number.
///
/// # Errors
/// No number, a unit that there is not, or what is no rate.
pub fn parse_rate(text: &str) -> Result<f64> {
    let rate = parse_with_unit(text, &[("", 1.0), ("hz", 1.0), ("khz", 1000.0)]);
    let rate = rate.with_context(|| format!("'{text}' is not a rate; write it as 10Hz"))?;
    ensure!(
        (1e-3..=1e9).contains(&rate),
        "'{text}' is not a rate from 0.001 to 1000000000 a second"
    );
    Ok(rate)
}

/// The speed of a vehicle in meters per second: `100km/h`, `60mph`, `30m/s`.
///
/// # Errors
/// No number, a unit that there is not or none, or what is not above 0.
pub fn parse_speed(text: &str) -> Result<f64> {
    let speed = parse_with_unit(text, &[("km/h", 1.0 / 3.6), ("mph", 0.44704), ("m/s", 1.0)]);
    let speed = speed
        .with_context(|| format!("'{text}' is not a speed; write it as 100km/h, 60mph or 30m/s"))?;
    ensure!(speed > 0.0 && speed.is_finite(), "'{text}' is not above 0");
    Ok(speed)
}

/// A share above 0: `5%` or `0.05`.
///
/// # Errors
/// No number, or what is not above 0.
pub fn parse_share(text: &str) -> Result<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().context("write a share such as 5%")? / scale;
    ensure!(share > 0.0 && share.is_finite(), "write a share above 0, such as 5%");
    Ok(share)
}

/// A share from 0 to 1.
///
/// # Errors
/// No number, or one beyond these.
pub fn parse_fraction(text: &str) -> Result<f64> {
    let share: f64 = text.parse()?;
    ensure!((0.0..=1.0).contains(&share), "write a share from 0 to 1");
    Ok(share)
}

/// A number in the first of these units, which are in small letters; none where it is no
/// number in one of them.
pub fn parse_with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, unit, rest) = split_number(text.trim());
    let unit = unit.to_lowercase();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.parse().ok()?;
    rest.is_empty().then_some(number * factor)
}

/// A number at the beginning, its unit, and what is behind it, without blanks.
fn split_number(text: &str) -> (&str, &str, &str) {
    let end = |text: &str, is_in: fn(char) -> bool| {
        text.find(|character| !is_in(character)).unwrap_or(text.len())
    };
    let (number, rest) = text.split_at(end(text, |c| c.is_ascii_digit() || c == '.'));
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(end(rest, |c| !c.is_whitespace() && !c.is_ascii_digit()));
    (number, unit, rest.trim_start())
}

/// A decimal number times a unit.
enum Scaled {
    Whole(u128),
    /// Something is left behind the decimal point.
    Broken,
    TooMuch,
    NoNumber,
}

fn scale(number: &str, unit: u64) -> Scaled {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + part.len() == 0 || !digits(whole) || !digits(part) {
        return Scaled::NoNumber;
    }
    let part = part.trim_end_matches('0');
    // With so many digits no product below is too large for its type.
    if part.len() > 18 {
        return Scaled::Broken;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => Ok(0),
        whole => whole.parse::<u128>(),
    };
    let (unit, tens) = (u128::from(unit), 10u128.pow(part.len() as u32));
    let part = part.parse::<u128>().unwrap_or(0) * unit;
    if part % tens != 0 {
        return Scaled::Broken;
    }
    let all = whole.ok().and_then(|whole| whole.checked_mul(unit)?.checked_add(part / tens));
    all.map_or(Scaled::TooMuch, Scaled::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("500", 500),
            ("0", 0),
            ("64kB", 64_000),
            ("64KB", 64_000),
            ("1mib", 1 << 20),
            ("1MIB", 1 << 20),
            (" 10 MB ", 10_000_000),
            ("1.5MB", 1_500_000),
            ("0.5GiB", 1 << 29),
            (".5kb", 500),
            ("2TiB", 2 << 40),
            ("18446744073709551615", u64::MAX),
            ("007", 7),
        ] {
            assert_eq!(parse_bytes::<u64>(text).unwrap(), size, "{text}");
        }
        for (text, why) in [
            ("", "is not a size"),
            ("MB", "is not a size"),
            (".", "is not a size"),
            ("1.2.3", "is not a size"),
            ("1e6", "is not a size"),
            ("-1", "below 0"),
            ("-1MB", "below 0"),
            ("0.5", "not a whole number of bytes"),
            ("0.0001kB", "not a whole number of bytes"),
            ("1.0000000000000000001GB", "not a whole number of bytes"),
            ("10 parsecs", "not a unit of bytes"),
            ("1MB 5", "is not a size"),
            ("99999999999999GB", "too large"),
            ("18446744073709551616", "too large"),
            ("999999999999999999999999999999999999999999", "too large"),
        ] {
            let error = parse_bytes::<u64>(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(parse_nonzero_bytes("0MB").is_err());
    }

    #[test]
    fn times_have_units_but_for_nothing() {
        let seconds = Duration::from_secs;
        for (text, time_of_it) in [
            ("0", Duration::ZERO),
            ("0s", Duration::ZERO),
            ("1500us", Duration::from_micros(1500)),
            ("1500\u{b5}s", Duration::from_micros(1500)),
            ("12.5s", Duration::from_millis(12_500)),
            ("1MS", Duration::from_millis(1)),
            ("5m", seconds(300)),
            ("5 Min", seconds(300)),
            ("1m 30s", seconds(90)),
            ("1m30s", seconds(90)),
            ("1.5h", seconds(5400)),
            ("2days", seconds(2 * 86_400)),
            ("0.000000001s", Duration::from_nanos(1)),
        ] {
            assert_eq!(parse_time(text).unwrap(), time_of_it, "{text}");
        }
        for (text, why) in [
            ("", "is not a time"),
            ("5", "no unit"),
            ("soon", "is not a time"),
            ("5 parsecs", "is not a time"),
            ("-1s", "below 0"),
            ("1e3s", "is not a time"),
            ("0.1ns", "finer than a nanosecond"),
            ("1s-1s", "is not a time"),
            ("99999999999999999999s", "too large"),
            ("99999999999999999999999999999999999999999999s", "too large"),
        ] {
            let error = parse_time(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert_eq!(parse_nanoseconds("-2s").unwrap(), -2_000_000_000);
    }

    #[test]
    fn an_allowance_without_a_unit_is_seconds() {
        assert_eq!(parse_timeout("60").unwrap(), Duration::from_secs(60));
        assert_eq!(parse_timeout("1.5").unwrap(), Duration::from_millis(1500));
        assert_eq!(parse_timeout("2min").unwrap(), Duration::from_secs(120));
        for text in ["0", "0.5", "8d", "", "-1", "soon"] {
            assert!(parse_timeout(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_and_speeds_have_units() {
        for (text, rate) in [("10Hz", 10.0), ("2 kHz", 2000.0), ("25", 25.0), (" .5 HZ ", 0.5)] {
            assert_eq!(parse_rate(text).unwrap(), rate, "{text}");
        }
        for text in ["", "0Hz", "-5", "1e10", "nan", "often", "10Hz 5Hz", "1.2.3", "9999999kHz"] {
            let error = parse_rate(text).unwrap_err().to_string();
            assert!(error.contains("is not a rate"), "{text}: {error}");
        }
        assert!((parse_speed("100km/h").unwrap() - 27.7778).abs() < 1e-4);
        assert!((parse_speed("60 mph").unwrap() - 26.8224).abs() < 1e-9);
        for (text, why) in
            [("100", "is not a speed"), ("-3m/s", "is not a speed"), ("0m/s", "not above")]
        {
            let error = parse_speed(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn shares_are_percent_or_plain() {
        assert_eq!(parse_share("5%").unwrap(), 0.05);
        assert_eq!(parse_share("0.1").unwrap(), 0.1);
        assert!(parse_share("0%").is_err());
        assert!(parse_share("-3%").is_err());
        assert!(parse_share("fast").is_err());
    }
}
