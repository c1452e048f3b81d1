//! How much a link carries.

use std::fmt;
use std::str::FromStr;

use anyhow::{ensure, Context, Error, Result};
use wiregauge_system::quantity::parse_with_unit;

/// Units of `tc`, the largest first, in bits per second.
const UNITS: [(&str, u64); 4] =
    [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1000), ("bit", 1)];
/// With less, the 64 KiB that may pass at once would be half a second's worth.
const LEAST: u64 = 1_000_000;
/// With more, no packet would ever wait.
const MOST: u64 = 100_000_000_000;

/// How much a link carries. Read and written as `tc` does it: `1gbit`. `200 Mbit/s` is read too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bits per second, headers of all layers included.
    pub bits: u64,
}

impl FromStr for Rate {
    type Err = Error;

    /// # Errors
    /// No number with a unit of bits, or out of range.
    fn from_str(text: &str) -> Result<Rate> {
        // To tc, mbps is megabytes per second: who writes it seldom means that.
        let bare = text.strip_suffix("/s").unwrap_or(text);
        let bits = parse_with_unit(bare, &UNITS.map(|(name, unit)| (name, unit as f64)));
        let bits = bits.with_context(|| {
            format!("'{text}' is not a rate; write it in kbit, mbit or gbit, such as 1gbit")
        })?;
        let bits = bits.round() as u64;
        ensure!((LEAST..=MOST).contains(&bits), "{text} is out of range; give 1mbit to 100gbit");
        Ok(Rate { bits })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, unit)| self.bits.is_multiple_of(*unit));
        let (name, unit) = whole.unwrap_or(&("bit", 1));
        write!(f, "{}{name}", self.bits / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_and_written_as_tc_does() {
        for (text, bits, shown) in [
            ("1gbit", 1_000_000_000, "1gbit"),
            ("100Mbit", 100_000_000, "100mbit"),
            ("2.5gbit", 2_500_000_000, "2500mbit"),
            ("0.01Gbit", 10_000_000, "10mbit"),
            ("1500kbit", 1_500_000, "1500kbit"),
            ("200 Mbit/s", 200_000_000, "200mbit"),
            ("1000001bit", 1_000_001, "1000001bit"),
            ("100gbit", 100_000_000_000, "100gbit"),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.bits, rate.to_string().as_str()), (bits, shown));
        }
    }

    #[test]
    fn what_is_no_rate_is_refused_with_the_remedy() {
        for text in
            ["", "1", "gbit", "1gb", "125mbps", "1/s", "-1gbit", "1e3mbit", "1.2.3gbit", "nangbit"]
        {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(&format!("'{text}'")) && error.contains("1gbit"), "{error}");
        }
        for text in ["0mbit", "999kbit", "101gbit", "99999999999999999999gbit"] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("1mbit to 100gbit"), "{error}");
        }
    }
}
