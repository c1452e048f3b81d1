//! Messages in CBOR (RFC 8949) as JSON.

use std::io::Write;

use anyhow::{bail, ensure, Context, Result};

use crate::literal::{bytes_text, float};

/// Deepest nesting that is followed.
const DEPTH: usize = 64;

/// Puts a message in CBOR as JSON behind what is there.
///
/// # Errors
/// When it is none.
pub fn write_json(message: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut reader = Reader { rest: message };
    reader.item(0, out)?;
    ensure!(reader.rest.is_empty(), "{} bytes are left over after the item", reader.rest.len());
    Ok(())
}

struct Reader<'a> {
    rest: &'a [u8],
}

/// What stands before an item: its kind and its number; none where its length is open.
type Head = (u8, u8, Option<u64>);

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let count = usize::try_from(count).ok().filter(|count| *count <= self.rest.len());
        let count = count.context("it ends within an item")?;
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(taken)
    }

    fn head(&mut self) -> Result<Head> {
        let first = self.take(1)?[0];
        let (kind, short) = (first >> 5, first & 31);
        let number = match short {
            0..=23 => Some(short.into()),
            24..=27 => {
                let bytes = self.take(1 << (short - 24))?;
                Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
            }
            31 if matches!(kind, 2..=5 | 7) => None,
            _ => bail!("byte {first:02x} does not begin an item"),
        };
        Ok((kind, short, number))
    }

    /// Whether the item of open length ends here.
    fn ends(&mut self) -> bool {
        let ends = self.rest.first() == Some(&0xff);
        if ends {
            self.rest = &self.rest[1..];
        }
        ends
    }

    fn item(&mut self, depth: usize, out: &mut Vec<u8>) -> Result<()> {
        ensure!(depth < DEPTH, "items are nested too deeply");
        let (kind, short, number) = self.head()?;
        match (kind, number) {
            (0, Some(number)) => write!(out, "{number}")?,
            (1, Some(number)) => write!(out, "{}", -1 - i128::from(number))?,
            (2 | 3, number) => {
                let bytes = self.string(kind, number)?;
                match kind {
                    2 => serde_json::to_writer(out, &bytes_text(&bytes))?,
                    _ => serde_json::to_writer(out, std::str::from_utf8(&bytes)?)?,
                }
            }
            (4, count) => {
                out.push(b'[');
                let mut at = 0;
                while count.map_or_else(|| !self.ends(), |count| at < count) {
                    if at > 0 {
                        out.push(b',');
                    }
                    self.item(depth + 1, out)?;
                    at += 1;
                }
                out.push(b']');
            }
            (5, count) => {
                out.push(b'{');
                let mut at = 0;
                while count.map_or_else(|| !self.ends(), |count| at < count) {
                    if at > 0 {
                        out.push(b',');
                    }
                    self.key(depth + 1, out)?;
                    out.push(b':');
                    self.item(depth + 1, out)?;
                    at += 1;
                }
                out.push(b'}');
            }
            // What a tag says of an item JSON cannot say.
            (6, Some(_)) => self.item(depth + 1, out)?,
            (7, Some(bits)) => self::simple(short, bits, out)?,
            _ => bail!("an item ends before it begins"),
        }
        Ok(())
    }

    /// A key, which is a text in JSON.
    fn key(&mut self, depth: usize, out: &mut Vec<u8>) -> Result<()> {
        if self.rest.first().is_some_and(|first| first >> 5 == 3) {
            return self.item(depth, out);
        }
        let mut key = Vec::new();
        self.item(depth, &mut key)?;
        let key = String::from_utf8(key)?;
        Ok(serde_json::to_writer(out, key.trim_matches('"'))?)
    }

    fn string(&mut self, kind: u8, length: Option<u64>) -> Result<Vec<u8>> {
        if let Some(length) = length {
            return Ok(self.take(length)?.to_vec());
        }
        let mut whole = Vec::new();
        while !self.ends() {
            let (part, _, length) = self.head()?;
            let length =
                length.filter(|_| part == kind).context("the parts of a text have another type")?;
            whole.extend_from_slice(self.take(length)?);
        }
        Ok(whole)
    }
}

/// A truth value, nothing, or a float.
fn simple(short: u8, bits: u64, out: &mut Vec<u8>) -> Result<()> {
    match short {
        20 => out.extend_from_slice(b"false"),
        21 => out.extend_from_slice(b"true"),
        22 | 23 => out.extend_from_slice(b"null"),
        25 => float(half(bits as u16), out),
        26 => float(f32::from_bits(bits as u32), out),
        27 => float(f64::from_bits(bits), out),
        _ => write!(out, "{bits}")?,
    }
    Ok(())
}

/// A float of 16 bits.
fn half(bits: u16) -> f32 {
    let (exponent, part) = (bits >> 10 & 31, f32::from(bits & 1023));
    let value = match exponent {
        0 => part * 2f32.powi(-24),
        31 if part == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + part) * 2f32.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 {
        -value
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The examples of RFC 8949, appendix A.
    #[test]
    fn items_are_shown_as_json() {
        #[rustfmt::skip]
        let examples: &[(&[u8], &str)] = &[
            (&[0x18, 0x64], "100"),
            (&[0x3b, 255, 255, 255, 255, 255, 255, 255, 255], "-18446744073709551616"),
            (&[0xf9, 0x3e, 0x00], "1.5"),
            (&[0xf9, 0x00, 0x01], "0.000000059604645"),
            (&[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a], "1.1"),
            (&[0xf9, 0x7e, 0x00], "\"NaN\""),
            (&[0xf6], "null"),
            (&[0x44, 1, 2, 3, 4], "\"AQIDBA==\""),
            (&[0xc1, 0x1a, 0x51, 0x4b, 0x67, 0xb0], "1363896240"),
            (&[0xa2, 0x61, b'a', 1, 0x61, b'b', 0x82, 2, 3], r#"{"a":1,"b":[2,3]}"#),
            (&[0xa1, 1, 2], r#"{"1":2}"#),
            (&[0x7f, 0x61, b's', 0x61, b't', 0xff], "\"st\""),
            (&[0x9f, 1, 0x9f, 0xff, 0xff], "[1,[]]"),
            (&[0xbf, 0x61, b'a', 0xf5, 0xff], r#"{"a":true}"#),
        ];
        for (bytes, wanted) in examples {
            let mut out = Vec::new();
            write_json(bytes, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), *wanted);
            assert!(write_json(&bytes[..bytes.len() - 1], &mut Vec::new()).is_err(), "{wanted}");
        }
        assert!(write_json(&[0x81; 100], &mut Vec::new())
            .unwrap_err()
            .to_string()
            .contains("deeply"));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut out = Vec::new();
            if write_json(&bytes, &mut out).is_ok() {
                prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&out).is_ok());
            }
        }
    }
}
