//! Messages as JSON, by the definition that their channel carries.

use anyhow::{bail, Context, Result};
use wiregauge_schema::{Field, Value};

use crate::channel::Channel;
use crate::decoding::TopicDecoder;
use crate::literal::{begin_item, bytes_text, float, put};
use crate::parser::JsonFormatter;
use crate::protobuf_json::ProtobufFormatter;
use crate::sequence::MessageMaker;
use crate::{cbor, cdr, ros1};

/// What tells the messages of a channel as JSON.
///
/// # Errors
/// When they are in an encoding that is not known, or nothing defines them.
pub fn create_formatter(channel: &Channel) -> Result<Box<dyn JsonFormatter>> {
    let Channel { message_encoding, definition, .. } = channel;
    let name = definition.name.clone();
    Ok(match message_encoding.as_str() {
        "protobuf" => Box::new(ProtobufFormatter::from_channel(channel)?),
        "json" => Box::new(SchemalessFormatter { name, show: json }),
        "cbor" => Box::new(SchemalessFormatter { name, show: cbor::write_json }),
        "cdr" | "ros1" => {
            Box::new(RosFormatter { name, decoding: TopicDecoder::from_channel(channel)? })
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
}

impl JsonFormatter for RosFormatter {
    fn type_name(&self) -> &str {
        &self.name
    }

    fn write_json(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut maker = JsonMaker { before: out.len(), out };
        match &self.decoding {
            TopicDecoder::Ros1(schema) => ros1::read(schema, message, &mut maker),
            TopicDecoder::Cdr(schema) => cdr::read(schema, message, &mut maker),
            TopicDecoder::Protobuf(_) => bail!("its messages are in Protobuf"),
        }
    }
}

/// Writes JSON while a message is read.
struct JsonMaker<'o> {
    out: &'o mut Vec<u8>,
    /// Where the message begins.
    before: usize,
}

impl MessageMaker for JsonMaker<'_> {
    type Made = ();

    fn begin_message(&mut self) {
        self.out.truncate(self.before);
    }

    fn number(&mut self, number: Value) {
        match number {
            Value::Bool(truth) => put(&truth, self.out),
            Value::Unsigned(number) => put(&number, self.out),
            Value::Signed(number) => put(&number, self.out),
            Value::F32(number) => float(number, self.out),
            Value::F64(number) => float(number, self.out),
            _ => unreachable!("a number"),
        }
    }

    fn text(&mut self, text: &str) {
        put(text, self.out);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        put(&bytes_text(bytes), self.out);
    }

    fn begin_record(&mut self) {
        self.out.push(b'{');
    }

    fn begin_field(&mut self, field: &Field) {
        begin_item(b'{', self.out);
        put(&field.name.original, self.out);
        self.out.push(b':');
    }

    fn end_record(&mut self, _: Vec<()>) {
        self.out.push(b'}');
    }

    fn begin_list(&mut self) {
        self.out.push(b'[');
    }

    fn begin_element(&mut self) {
        begin_item(b'[', self.out);
    }

    fn end_list(&mut self, _: Vec<()>) {
        self.out.push(b']');
    }
}
