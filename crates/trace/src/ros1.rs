//! Messages in the encoding of ROS 1: the fields little-endian and without
//! padding.

use anyhow::{ensure, Result};
use wiregauge_schema::{Schema, Value};

use crate::sequence::{self, MessageMaker, SequenceLayout, ValueMaker, WideText};

const LAYOUT: SequenceLayout = SequenceLayout {
    big_endian: false,
    aligned: false,
    terminated: false,
    padded_empty: false,
    wide: WideText::Four,
};

/// Decodes a message. Fails on bytes that do not fit the schema.
pub fn decode(schema: &Schema, bytes: &[u8]) -> Result<Value> {
    read(schema, bytes, &mut ValueMaker)
}

/// The same, of which a maker makes something.
pub(crate) fn read<M: MessageMaker>(
    schema: &Schema,
    bytes: &[u8],
    maker: &mut M,
) -> Result<M::Made> {
    let (made, left) = sequence::read(schema, bytes, LAYOUT, maker)?;
    ensure!(left == 0, "{left} bytes are left over; the definition does not fit this message");
    Ok(made)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wiregauge_schema::msg::{read_text, Dialect};

    use super::*;

    fn schema() -> Schema {
        let text = "uint8 a\ntime t\nstring s\nfloat32[] x\n";
        read_text(text, "p/R", Dialect::Ros1, "test").unwrap()
    }

    #[test]
    fn fields_stand_without_padding() {
        #[rustfmt::skip]
        let bytes = [
            1,
            5, 0, 0, 0, 6, 0, 0, 0,
            2, 0, 0, 0, b'h', b'i',
            1, 0, 0, 0, 0, 0, 0xc0, 0x3f,
        ];
        let time = Value::Record(vec![Value::Unsigned(5), Value::Unsigned(6)]);
        let wanted = Value::Record(vec![
            Value::Unsigned(1),
            time,
            Value::String("hi".into()),
            Value::List(vec![Value::F32(1.5)]),
        ]);
        assert_eq!(decode(&schema(), &bytes).unwrap(), wanted);
        assert!(decode(&schema(), &bytes[..bytes.len() - 1]).is_err());
        assert!(decode(&schema(), &[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn elements_without_content_do_not_multiply() {
        let text = format!("Empty[100] a\nuint8[] b\n{}\nMSG: p/Empty\n", "=".repeat(80));
        let schema = read_text(&text, "p/R", Dialect::Ros1, "test").unwrap();
        let bytes = [vec![196, 0, 0, 0], vec![0; 196]].concat();
        let error = format!("{:#}", decode(&schema, &bytes).unwrap_err());
        assert!(error.contains("have no content"), "{error}");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&schema(), &bytes);
        }
    }
}
