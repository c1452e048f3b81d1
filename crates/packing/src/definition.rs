//! What defines a channel of clouds, when its points are packed and when they are not.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use wiregauge_trace::channel::{Channel, Definition};

/// The types of ROS 2 and of ROS 1, with points and with packed ones.
const NAMES: [(&str, &str); 2] = [
    ("sensor_msgs/msg/PointCloud2", "point_cloud_interfaces/msg/CompressedPointCloud2"),
    ("sensor_msgs/PointCloud2", "point_cloud_interfaces/CompressedPointCloud2"),
];

/// The array of points in the definitions, and the text behind it.
const POINTS: [&str; 2] = ["uint8[]", "data"];
const PACKED: [&str; 2] = ["uint8[]", "compressed_data"];
const FORMAT: &str = "string format";

/// What a recorder says of a type in a channel's metadata, which holds for that type alone.
const TYPE_METADATA: [&str; 3] = ["md5sum", "topic_type_hash", "type"];
/// Where it is kept until the type is the old one again.
const KEPT_PREFIX: &str = "unpacked.";

/// Whether a type is one of clouds, and if so whether these are packed.
pub fn is_packed(name: &str) -> Option<bool> {
    NAMES.iter().find_map(|(plain, packed)| match name {
        _ if name == *plain => Some(false),
        _ if name == *packed => Some(true),
        _ => None,
    })
}

/// The channel with packed points.
pub fn packed_channel(channel: &Channel) -> Result<Channel> {
    let metadata =
        channel.metadata.iter().map(|(key, value)| match TYPE_METADATA.contains(&&**key) {
            true => (format!("{KEPT_PREFIX}{key}"), value.clone()),
            false => (key.clone(), value.clone()),
        });
    let to = NAMES.iter().find(|(name, _)| *name == channel.definition.name);
    change_type(channel, metadata.collect(), to.map(|(_, name)| *name), |text| {
        let text = rename_array(text, POINTS, PACKED[1])?;
        let (root, rest) = text.split_at(root_end(&text));
        // Whether a line has its end must be seen when it is taken away again.
        let line = if root.ends_with('\n') { format!("{FORMAT}\n") } else { format!("\n{FORMAT}") };
        Some(format!("{root}{line}{rest}"))
    })
}

/// The channel with points as they were.
pub fn unpacked_channel(channel: &Channel) -> Result<Channel> {
    let metadata = channel.metadata.iter().map(|(key, value)| {
        (key.strip_prefix(KEPT_PREFIX).unwrap_or(key).to_owned(), value.clone())
    });
    let to = NAMES.iter().find(|(_, name)| *name == channel.definition.name);
    change_type(channel, metadata.collect(), to.map(|(name, _)| *name), |text| {
        let text = rename_array(text, PACKED, POINTS[1])?;
        let (root, rest) = text.split_at(root_end(&text));
        let root = match root.strip_suffix('\n') {
            Some(root) => root.strip_suffix(FORMAT)?,
            None => root.strip_suffix(FORMAT)?.strip_suffix('\n')?,
        };
        Some(format!("{root}{rest}"))
    })
}

/// The channel with another type and its text.
fn change_type(
    channel: &Channel,
    metadata: BTreeMap<String, String>,
    to: Option<&str>,
    by: impl Fn(&str) -> Option<String>,
) -> Result<Channel> {
    let Definition { name, encoding, data } = &*channel.definition;
    // Some recordings lack definitions.
    let text = match data.is_empty() {
        true => Some(String::new()),
        false => std::str::from_utf8(data).ok().and_then(by),
    };
    let (to, text) = to.zip(text).with_context(|| {
        format!(
            "its definition in '{encoding}' does not define {name}; leave the channel out by \
             --exclude-channel"
        )
    })?;
    let definition =
        Definition { name: to.to_owned(), encoding: encoding.clone(), data: text.into_bytes() };
    Ok(Channel { definition: definition.into(), metadata, ..channel.clone() })
}

/// The text with the array called otherwise; none where it has none.
fn rename_array(text: &str, array: [&str; 2], name: &str) -> Option<String> {
    let end = root_end(text);
    let mut at = 0;
    for line in text[..end].split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let mut words = code.split_whitespace();
        if [words.next(), words.next()] == array.map(Some) && words.next().is_none() {
            let place = at + code.find(array[1])?;
            return Some(format!("{}{name}{}", &text[..place], &text[place + array[1].len()..]));
        }
        at += line.len();
    }
    None
}

/// Where the root's own definition ends: those that it uses follow behind a line of `=`.
fn root_end(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("=====") {
            break;
        }
        at += line.len();
    }
    // Blank lines before that belong to it.
    let blank = text[..at].len() - text[..at].trim_end_matches('\n').len();
    if at < text.len() && blank > 1 {
        at -= blank - 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(text: &str) -> Channel {
        let definition = Definition {
            name: NAMES[0].0.into(),
            encoding: "ros2msg".into(),
            data: text.as_bytes().to_vec(),
        };
        Channel {
            topic: "/points".into(),
            message_encoding: "cdr".into(),
            definition: definition.into(),
            metadata: [("topic_type_hash".into(), "x".into()), ("a".into(), "b".into())].into(),
        }
    }

    #[test]
    fn definitions_come_back_to_the_byte() {
        let tail =
            format!("{}\nMSG: std_msgs/Header\nstring frame_id\nuint8[] data\n", "=".repeat(80));
        for root in [
            "uint32 width\nuint8[] data\nbool is_dense\n",
            "uint32 width\n uint8[]   data   # Actual point data\nbool is_dense\n\n",
            "uint8[] data\n# the end\n\n\n",
            "uint8[] data\nbool is_dense",
        ] {
            for text in [root.to_owned(), format!("{root}\n{tail}")] {
                let given = channel(&text);
                let there = packed_channel(&given).unwrap();
                let said = String::from_utf8(there.definition.data.clone()).unwrap();
                assert!(said.contains("compressed_data") && said.contains("string format"));
                assert_eq!(there.definition.name, NAMES[0].1);
                assert!(!there.metadata.contains_key("topic_type_hash"));
                assert_eq!(unpacked_channel(&there).unwrap(), given, "{said}");
            }
        }
        let bare = channel("");
        assert_eq!(unpacked_channel(&packed_channel(&bare).unwrap()).unwrap(), bare);
        let other = channel("uint8[] date\n");
        assert!(packed_channel(&other)
            .unwrap_err()
            .to_string()
            .contains("'ros2msg' does not define sensor"));
        assert!(unpacked_channel(&channel("uint8[] data\n")).is_err());
    }
}
