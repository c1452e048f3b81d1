//! Messages in CDR, the encoding of ROS 2: a header of four bytes that tells
//! the byte order, then the fields, numbers aligned relative to that header's
//! end.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::{Field, Record, Schema, Value};

use crate::sequence::{self, is_wide, MessageMaker, SequenceLayout, ValueMaker, WideText};

/// Largest number of bytes that a writer may add to fill up a word.
pub const MAX_PADDING: usize = 7;

/// Decodes a message with its header. Fails on any other encapsulation than
/// plain CDR, and on bytes that do not fit the schema.
pub fn decode(schema: &Schema, bytes: &[u8]) -> Result<Value> {
    read(schema, bytes, &mut ValueMaker)
}

/// The same, of which a maker makes something.
pub(crate) fn read<M: MessageMaker>(
    schema: &Schema,
    bytes: &[u8],
    maker: &mut M,
) -> Result<M::Made> {
    let (body, big_endian) = split_header(bytes)?;
    let layout = |wide| SequenceLayout {
        big_endian,
        aligned: true,
        terminated: true,
        padded_empty: true,
        wide,
    };
    let mut decoded = |wide| -> Result<M::Made> {
        let (value, left) = sequence::read(schema, body, layout(wide), maker)?;
        ensure!(
            left <= MAX_PADDING,
            "{left} bytes are left over; the definition does not fit this message"
        );
        Ok(value)
    };
    // Nothing tells how wide text is written but that the message fits.
    let first = decoded(WideText::Four);
    if first.is_ok() || !has_wide(schema) {
        return first;
    }
    let second = decoded(WideText::Two);
    second.or_else(|_| decoded(WideText::Octets)).or(first)
}

/// The content of a message behind its header, and whether numbers in it have their most
/// significant byte first.
///
/// # Errors
/// When the encapsulation is another one than plain CDR.
pub fn split_header(bytes: &[u8]) -> Result<(&[u8], bool)> {
    let (header, body) = bytes.split_first_chunk::<4>().context("ends within the CDR header")?;
    match header[..2] {
        [0, 0] => Ok((body, true)),
        [0, 1] => Ok((body, false)),
        [high, low] => {
            bail!("the encapsulation {high:02x}{low:02x} is not plain CDR (0000 or 0001)")
        }
        _ => unreachable!("two bytes"),
    }
}

/// Whether messages have wide text.
pub(crate) fn has_wide(schema: &Schema) -> bool {
    find_wide(schema).is_some()
}

/// The first field of wide text, with its record.
pub fn find_wide(schema: &Schema) -> Option<(&Record, &Field)> {
    let fields = |(_, record)| -> _ {
        let record: &Record = record;
        record.fields.iter().map(move |field| (record, field))
    };
    schema.records().flat_map(fields).find(|(record, field)| is_wide(schema, record, field))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wiregauge_schema::msg::{read_text, Dialect};

    use super::*;

    fn schema() -> Schema {
        let text =
            "uint8 a\nuint16 b\nfloat64 c\nstring d\nint32[] e\nbool f\nuint8[] g\nInner[2] h\n"
                .to_owned()
                + &"=".repeat(80)
                + "\nMSG: p/Inner\nint8 x\n";
        read_text(&text, "p/msg/R", Dialect::Ros2, "test").unwrap()
    }

    fn value() -> Value {
        let inner = |x| Value::Record(vec![Value::Signed(x)]);
        Value::Record(vec![
            Value::Unsigned(1),
            Value::Unsigned(0x0203),
            Value::F64(1.5),
            Value::String("hi".into()),
            Value::List(vec![Value::Signed(-1), Value::Signed(2)]),
            Value::Bool(true),
            Value::Bytes(vec![9]),
            Value::List(vec![inner(-1), inner(1)]),
        ])
    }

    #[rustfmt::skip]
    const LITTLE: [u8; 53] = [
        0, 1, 0, 0,
        1, 0, 3, 2, 0, 0, 0, 0,             // a, padding, b, padding
        0, 0, 0, 0, 0, 0, 0xf8, 0x3f,       // c
        3, 0, 0, 0, b'h', b'i', 0, 0,       // d, padding
        2, 0, 0, 0, 255, 255, 255, 255, 2, 0, 0, 0, // e
        1, 0, 0, 0,                         // f, padding
        1, 0, 0, 0, 9,                      // g
        255, 1,                             // h
        0, 0,                               // fills the word
    ];

    #[test]
    fn little_and_big_endian_decode() {
        assert_eq!(decode(&schema(), &LITTLE).unwrap(), value());
        #[rustfmt::skip]
        let big = [
            0, 0, 0, 0,
            1, 0, 2, 3, 0, 0, 0, 0,
            0x3f, 0xf8, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 3, b'h', b'i', 0, 0,
            0, 0, 0, 2, 255, 255, 255, 255, 0, 0, 0, 2,
            1, 0, 0, 0,
            0, 0, 0, 1, 9,
            255, 1,
        ];
        assert_eq!(decode(&schema(), &big).unwrap(), value());
    }

    #[test]
    fn damage_is_refused() {
        for len in 0..LITTLE.len() - 2 {
            assert!(decode(&schema(), &LITTLE[..len]).is_err(), "{len} bytes");
        }
        let mut huge = LITTLE;
        huge[28..32].copy_from_slice(&[255; 4]);
        let error = format!("{:#}", decode(&schema(), &huge).unwrap_err());
        assert!(error.contains("p/msg/R.e: 4294967295 elements"), "{error}");
        let mut other = LITTLE;
        other[1] = 7;
        let error = decode(&schema(), &other).unwrap_err().to_string();
        assert!(error.contains("0007 is not plain CDR"), "{error}");
        let long = [LITTLE.as_slice(), &[0; 8]].concat();
        assert!(decode(&schema(), &long).is_err());
    }

    #[test]
    fn a_record_without_fields_takes_a_byte() {
        let text = format!("Empty a\nuint8 b\n{}\nMSG: p/Empty\n", "=".repeat(80));
        let schema = read_text(&text, "p/msg/R", Dialect::Ros2, "test").unwrap();
        let wanted = Value::Record(vec![Value::Record(Vec::new()), Value::Unsigned(5)]);
        assert_eq!(decode(&schema, &[0, 1, 0, 0, 0, 5]).unwrap(), wanted);
    }

    #[test]
    fn endless_definitions_are_refused() {
        let schema = read_text("R[] r", "p/msg/R", Dialect::Ros2, "test").unwrap();
        let bytes = [vec![0, 1, 0, 0], [1, 0, 0, 0].repeat(10_000)].concat();
        let error = format!("{:#}", decode(&schema, &bytes).unwrap_err());
        assert!(error.contains("nested too deeply"), "{error}");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&schema(), &bytes);
            let _ = decode(&schema(), &[&[0, 1, 0, 0], bytes.as_slice()].concat());
        }

        #[test]
        fn damaged_messages_never_panic(at in 4..LITTLE.len(), byte: u8) {
            let mut bytes = LITTLE;
            bytes[at] = byte;
            let _ = decode(&schema(), &bytes);
        }
    }
}
