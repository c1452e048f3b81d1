//! OSI said in FlatBuffers, by the message compiler and from the official
//! descriptors: once with tables alone, once with structs for the common types.

use anyhow::{Context, Result};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
};
use wiregauge_formats::formats::flatbuffers::definition::definition;
use wiregauge_schema::proto;

/// The namespace of the definitions.
pub const NAMESPACE: &str = "osi3";

/// The messages that the FMUs exchange.
const MESSAGES: [(&str, &str); 3] = [
    ("sensor_view", "osi3/osi_sensorview.proto"),
    ("sensor_data", "osi3/osi_sensordata.proto"),
    ("traffic_update", "osi3/osi_trafficupdate.proto"),
];

/// Their types, in the same order.
const TYPES: [&str; 3] = [".osi3.SensorView", ".osi3.SensorData", ".osi3.TrafficUpdate"];

/// What is a struct in the variant with structs: the common types, as in both
/// published measurements, and the reflections, as in Persival's.
pub const STRUCTS: [&str; 9] = [
    "osi3.Vector2d",
    "osi3.Vector3d",
    "osi3.Dimension3d",
    "osi3.Orientation3d",
    "osi3.Spherical3d",
    "osi3.Identifier",
    "osi3.Timestamp",
    "osi3.LidarSensorView.Reflection",
    "osi3.RadarSensorView.Reflection",
];

/// The definitions.
pub struct Definitions {
    /// Every record is a table.
    pub tables: String,
    /// Common types and reflections are structs.
    pub structs: String,
}

impl Definitions {
    /// The definitions of what an encoded `FileDescriptorSet` of OSI defines.
    pub fn from_descriptors(descriptors: &[u8]) -> Result<Definitions> {
        let mut files = FileDescriptorSet::decode(descriptors)
            .context("OSI's descriptors are not a descriptor set")?;
        files.file.push(all_messages());
        let schema = proto::read_descriptors(
            &files.encode_to_vec(),
            Some("wiregauge.Messages"),
            "OSI's descriptor set",
        )?;
        Ok(Definitions {
            tables: definition(&schema, NAMESPACE, &[])?,
            structs: definition(&schema, NAMESPACE, &STRUCTS)?,
        })
    }
}

/// A message that has the exchanged ones as members: a schema has one root.
fn all_messages() -> FileDescriptorProto {
    let field = |((name, _), type_name): (&(&str, &str), &&str), number| FieldDescriptorProto {
        name: Some(name.to_string()),
        number: Some(number),
        label: Some(Label::Optional as i32),
        r#type: Some(Type::Message as i32),
        type_name: Some(type_name.to_string()),
        ..Default::default()
    };
    FileDescriptorProto {
        name: Some("wiregauge/messages.proto".into()),
        package: Some("wiregauge".into()),
        dependency: MESSAGES.iter().map(|(_, file)| file.to_string()).collect(),
        message_type: vec![DescriptorProto {
            name: Some("Messages".into()),
            field: MESSAGES.iter().zip(&TYPES).zip(1..).map(|(m, n)| field(m, n)).collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}
