//! How the recorded messages of a topic are decoded, by the definition that the recording
//! carries or that is found for it.

use std::path::PathBuf;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{idl, Schema, Value};

use crate::channel::{is_empty_of_ros, Channel};
use crate::protobuf::Decoder;
use crate::topic::{Topic, TopicDefinition};
use crate::{cdr, ros1};

/// How the messages of a topic are decoded.
pub enum TopicDecoder {
    /// As ROS 2 writes them.
    Cdr(Schema),
    /// As ROS 1 writes them.
    Ros1(Schema),
    /// By the descriptors that the recording carries.
    Protobuf(Box<Decoder>),
}

impl TopicDecoder {
    /// Of a channel, where messages are shown.
    ///
    /// # Errors
    /// When nothing defines its messages that can be read.
    pub fn from_channel(channel: &Channel) -> Result<TopicDecoder> {
        let definition = TopicDefinition(channel.definition.data.clone());
        TopicDecoder::find(&Topic::from_channel(channel), &definition, None)
    }

    /// Of a topic and its definition; one that the recording lacks is looked for in the ROS
    /// that is sourced, and in folders of it where the user can give them.
    ///
    /// # Errors
    /// When there is none that can be read.
    pub(crate) fn find(
        topic: &Topic,
        definition: &TopicDefinition,
        folders: Option<&[PathBuf]>,
    ) -> Result<TopicDecoder> {
        let Topic { schema_name: name, schema_encoding, message_encoding, .. } = topic;
        // What has parts that are not read may be sourced in the other language of ROS 2.
        let is_idl = schema_encoding == "ros2idl";
        if !definition.0.is_empty() {
            let own = TopicDecoder::new(topic, definition).and_then(|own| own.refuse_wide(folders));
            if own.is_ok() || !is_idl {
                return own;
            }
        }
        let dialect = match message_encoding.as_str() {
            "cdr" => Dialect::Ros2,
            "ros1" => Dialect::Ros1,
            _ => return TopicDecoder::new(topic, definition),
        };
        ensure!(
            !name.is_empty(),
            "the recording has neither a definition nor a type for its messages"
        );
        let schema = msg::read_type(name, dialect, &msg::folders(folders.unwrap_or_default()))?;
        if schema.is_none() && is_empty_of_ros(schema_encoding, &definition.0) {
            return TopicDecoder::new(topic, definition);
        }
        let schema = schema.with_context(|| {
            let give = match folders {
                Some(_) => {
                    format!("give the folder with {} by -I, or source", msg::usual_file(name))
                }
                None => "source".to_owned(),
            };
            format!(
                "the recording has no readable definition of {name}; {give} the ROS that has it"
            )
        })?;
        Ok(match dialect {
            Dialect::Ros1 => TopicDecoder::Ros1(schema),
            Dialect::Ros2 => TopicDecoder::Cdr(schema),
        })
    }

    fn new(topic: &Topic, definition: &TopicDefinition) -> Result<TopicDecoder> {
        let Topic { schema_name, schema_encoding, message_encoding, .. } = topic;
        let ros = |dialect| -> Result<Schema> {
            let text = std::str::from_utf8(&definition.0).context("the definition is not text")?;
            msg::read_text(text, schema_name, dialect, schema_name)
        };
        match (schema_encoding.as_str(), message_encoding.as_str()) {
            ("ros2msg", "cdr") => Ok(TopicDecoder::Cdr(ros(Dialect::Ros2)?)),
            ("ros2idl" | "omgidl", "cdr") => {
                let text =
                    std::str::from_utf8(&definition.0).context("the definition is not text")?;
                Ok(TopicDecoder::Cdr(idl::read_text(text, schema_name, schema_name)?))
            }
            ("ros1msg", "ros1") => Ok(TopicDecoder::Ros1(ros(Dialect::Ros1)?)),
            ("protobuf", "protobuf") => {
                Ok(TopicDecoder::Protobuf(Box::new(Decoder::new(&definition.0, schema_name)?)))
            }
            ("", encoding) => {
                bail!(
                    "the recording has no definition of its messages in '{encoding}'; record it \
                     with schemas"
                )
            }
            (schema, message) => bail!(
                "messages in '{message}' with definitions in '{schema}' cannot be read; wiregauge \
                 reads cdr with ros2msg, ros2idl or omgidl, ros1 with ros1msg, and protobuf with \
                 protobuf"
            ),
        }
    }

    /// Itself where messages are shown. Where they are measured wide text is no string: in the
    /// model it is one, but not on the wire.
    fn refuse_wide(self, folders: Option<&[PathBuf]>) -> Result<TopicDecoder> {
        let has_wide = cdr::has_wide(self.schema());
        let name = &self.schema().root().name.original;
        ensure!(
            folders.is_none() || !has_wide,
            "{name} has a wstring, which wiregauge can show but not measure"
        );
        Ok(self)
    }

    /// The schema of the messages.
    pub fn schema(&self) -> &Schema {
        match self {
            TopicDecoder::Cdr(schema) | TopicDecoder::Ros1(schema) => schema,
            TopicDecoder::Protobuf(decoder) => decoder.schema(),
        }
    }

    /// The message, and the number of its fields that are unknown.
    ///
    /// # Errors
    /// When it does not fit the schema.
    pub fn decode(&self, bytes: &[u8]) -> Result<(Value, u64)> {
        let decoded = match self {
            TopicDecoder::Cdr(schema) => cdr::decode(schema, bytes).map(|value| (value, 0)),
            TopicDecoder::Ros1(schema) => ros1::decode(schema, bytes).map(|value| (value, 0)),
            TopicDecoder::Protobuf(decoder) => decoder.decode(bytes),
        };
        // Recorders that did not find a definition have left an empty one, too.
        let root = self.schema().root();
        let explain = || format!("the recording defines {} without fields", root.name.original);
        if root.fields.is_empty() {
            decoded.with_context(explain)
        } else {
            decoded
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::channel::Definition;

    #[test]
    fn a_type_without_fields_has_a_text_without_letters() {
        let decoder = |message: &str, language: &str| {
            let definition = Definition {
                name: "own/msg/Nothing".into(),
                encoding: language.into(),
                data: Vec::new(),
            };
            assert_eq!(definition.is_known(), !language.is_empty());
            let definition = Arc::new(definition);
            let message_encoding = message.into();
            TopicDecoder::from_channel(&Channel {
                message_encoding,
                definition,
                ..Channel::default()
            })
        };
        // In CDR a structure has a byte at least.
        for (message, language, bytes) in
            [("cdr", "ros2msg", &[0, 1, 0, 0, 0][..]), ("ros1", "ros1msg", &[])]
        {
            let found = decoder(message, language).unwrap();
            assert_eq!(found.decode(bytes).unwrap(), (Value::Record(Vec::new()), 0));
            let error = format!("{:#}", found.decode(&[0, 1, 0, 0].repeat(9)).unwrap_err());
            assert!(error.contains("Nothing without fields: "), "{error}");
            let error = decoder(message, "").map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("no readable definition of own/msg/Nothing"), "{error}");
        }
    }
}
