//! Messages as JSON, by the definition that their channel carries.

use std::io::Write;

use anyhow::{bail, Context, Result};
use wiregauge_schema::{Element, Schema, TypeId, Value};

use crate::cbor;
use crate::channel::Channel;
use crate::decoding::TopicDecoder;
use crate::literal::{bytes_text, float};
use crate::parser::{JsonFormatter, Parser};

/// What tells the messages of a channel as JSON.
///
/// # Errors
/// When they are in an encoding that is not known, or nothing defines them.
pub fn create_formatter(channel: &Channel) -> Result<Box<dyn JsonFormatter>> {
    let Channel { message_encoding, definition, .. } = channel;
    let name = definition.name.clone();
    Ok(match message_encoding.as_str() {
        "protobuf" => Box::new(Parser::from_channel(channel)?),
        "json" => Box::new(SchemalessFormatter { name, show: json }),
        "cbor" => Box::new(SchemalessFormatter { name, show: cbor::write_json }),
        "cdr" | "ros1" => {
            let decoding = TopicDecoder::from_channel(channel)?;
            let schema = decoding.schema().clone();
            Box::new(RosFormatter { name, decoding, schema })
        }
        "" => bail!("the recording does not name the encoding of its messages"),
        other => bail!(
            "messages in '{other}' cannot be shown, only protobuf, flatbuffer, json, cbor, cdr and \
             ros1; 'wiregauge trace cat --format raw' writes their bytes"
        ),
    })
}

/// Messages that need no definition.
struct SchemalessFormatter {
    name: String,
    show: fn(&[u8], &mut Vec<u8>) -> Result<()>,
}

impl JsonFormatter for SchemalessFormatter {
    fn type_name(&self) -> &str {
        &self.name
    }

    fn write_json(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()> {
        (self.show)(message, out)
    }
}

/// JSON as it is, in one line.
fn json(message: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let text = std::str::from_utf8(message).context("not valid JSON")?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).context("not valid JSON")?;
    // Within texts lines end by an escape, so that these stand between what JSON is made of.
    out.extend(text.trim().bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
    Ok(())
}

/// Messages of ROS.
struct RosFormatter {
    name: String,
    decoding: TopicDecoder,
    schema: Schema,
}

impl JsonFormatter for RosFormatter {
    fn type_name(&self) -> &str {
        &self.name
    }

    fn write_json(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let (value, _) = self.decoding.decode(message)?;
        record(&self.schema, self.schema.root, &value, out)
    }
}

/// A value of a field by what its elements are.
fn value(schema: &Schema, element: Element, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match (value, element) {
        (Value::Record(_), Element::Record(id)) => record(schema, id, value, out)?,
        (Value::Record(_), _) => bail!("there is a record where its definition has none"),
        (Value::List(values), _) => {
            out.push(b'[');
            for (at, inner) in values.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                self::value(schema, element, inner, out)?;
            }
            out.push(b']');
        }
        (Value::Bool(truth), _) => write!(out, "{truth}")?,
        (Value::Unsigned(number), _) => write!(out, "{number}")?,
        (Value::Signed(number), _) => write!(out, "{number}")?,
        (Value::F32(number), _) => float(*number, out)?,
        (Value::F64(number), _) => float(*number, out)?,
        (Value::String(text), _) => serde_json::to_writer(out, text)?,
        (Value::Bytes(bytes), _) => serde_json::to_writer(out, &bytes_text(bytes))?,
        (Value::Absent, _) => out.extend_from_slice(b"null"),
    }
    Ok(())
}

fn record(schema: &Schema, id: TypeId, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let Value::Record(values) = value else {
        bail!("a record is missing where its definition has one")
    };
    out.push(b'{');
    for (at, (field, inner)) in schema.record(id).fields.iter().zip(values).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, &field.name.original)?;
        out.push(b':');
        self::value(schema, field.element, inner, out)?;
    }
    out.push(b'}');
    Ok(())
}
