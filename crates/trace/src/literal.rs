//! What messages in JSON are made of: numbers and octets as Protobuf's JSON has them.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

/// A value as JSON has it.
pub fn put<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    // Only writers fail, and a list of bytes does not.
    let _ = serde_json::to_writer(out, value);
}

/// Parts what is in a list or record, which begins with this bracket.
pub fn begin_item(open: u8, out: &mut Vec<u8>) {
    // No value ends with a bracket that opens.
    if out.last() != Some(&open) {
        out.push(b',');
    }
}

/// A float with all its digits. What is no number is a text, as in Protobuf's JSON.
pub fn float(number: impl Display, out: &mut Vec<u8>) {
    let before = out.len();
    // Only writers fail, and a list of bytes does not.
    let _ = write!(out, "{number}");
    let text: &[u8] = match &out[before..] {
        b"NaN" => b"\"NaN\"",
        b"inf" => b"\"Infinity\"",
        b"-inf" => b"\"-Infinity\"",
        _ => return,
    };
    out.truncate(before);
    out.extend_from_slice(text);
}

/// Bytes as Base64, as in Protobuf's JSON.
pub fn bytes_text(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let number =
            (0..3).fold(0u32, |all, at| all << 8 | u32::from(part.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            match at <= part.len() {
                true => text.push(LETTERS[(number >> (18 - 6 * at) & 63) as usize].into()),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::bytes_text;

    /// The examples of RFC 4648.
    #[test]
    fn octets_are_base64() {
        for (bytes, wanted) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(bytes_text(bytes.as_bytes()), wanted);
        }
        assert_eq!(bytes_text(&[255, 239, 190]), "/+++");
    }
}
