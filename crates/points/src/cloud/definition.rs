//! The definition of `foxglove.PointCloud`, as <https://docs.foxglove.dev> has it, for the
//! file that holds such messages. Of its fields those that are written are there.

use prost_reflect::prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet,
};
use wiregauge_trace::channel::Definition;

/// The type of the messages.
pub const NAME: &str = "foxglove.PointCloud";

const TIMESTAMP: &str = "google/protobuf/timestamp.proto";

/// What defines the messages.
pub fn definition() -> Definition {
    let files = FileDescriptorSet {
        file: vec![
            file(TIMESTAMP, "google.protobuf", &[], timestamp()),
            foxglove("Vector3", &[], message("Vector3", coordinates(&["x", "y", "z"]))),
            foxglove("Quaternion", &[], message("Quaternion", coordinates(&["x", "y", "z", "w"]))),
            foxglove("Pose", &["Quaternion", "Vector3"], pose()),
            foxglove("PackedElementField", &[], element()),
            cloud(),
        ],
    };
    Definition { name: NAME.into(), encoding: "protobuf".into(), data: files.encode_to_vec() }
}

fn file(
    name: &str,
    package: &str,
    imports: &[&str],
    message: DescriptorProto,
) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name.into()),
        package: Some(package.into()),
        dependency: imports.iter().map(|import| (*import).to_owned()).collect(),
        message_type: vec![message],
        syntax: Some("proto3".into()),
        ..Default::default()
    }
}

/// A file of Foxglove's, which is called after the only message in it.
fn foxglove(name: &str, imports: &[&str], message: DescriptorProto) -> FileDescriptorProto {
    let path = |name: &str| format!("foxglove/{name}.proto");
    let mut file = file(&path(name), "foxglove", &[], message);
    file.dependency = imports.iter().map(|import| path(import)).collect();
    file
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.into()), field, ..Default::default() }
}

fn field(name: &str, number: i32, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        json_name: Some(camel(name)),
        ..Default::default()
    }
}

/// `frameId` of `frame_id`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
}

fn of_type(name: &str, number: i32, kind: Type, type_name: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(type_name.into()), ..field(name, number, kind) }
}

fn coordinates(names: &[&str]) -> Vec<FieldDescriptorProto> {
    names.iter().zip(1..).map(|(name, number)| field(name, number, Type::Double)).collect()
}

fn timestamp() -> DescriptorProto {
    message("Timestamp", vec![field("seconds", 1, Type::Int64), field("nanos", 2, Type::Int32)])
}

fn pose() -> DescriptorProto {
    message(
        "Pose",
        vec![
            of_type("position", 1, Type::Message, ".foxglove.Vector3"),
            of_type("orientation", 2, Type::Message, ".foxglove.Quaternion"),
        ],
    )
}

fn element() -> DescriptorProto {
    let names =
        ["UNKNOWN", "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT32", "FLOAT64"];
    let value = names.iter().zip(0..).map(|(name, number)| EnumValueDescriptorProto {
        name: Some((*name).into()),
        number: Some(number),
        ..Default::default()
    });
    let numeric = EnumDescriptorProto {
        name: Some("NumericType".into()),
        value: value.collect(),
        ..Default::default()
    };
    let kind = of_type("type", 3, Type::Enum, ".foxglove.PackedElementField.NumericType");
    let fields = vec![field("name", 1, Type::String), field("offset", 2, Type::Fixed32), kind];
    DescriptorProto { enum_type: vec![numeric], ..message("PackedElementField", fields) }
}

fn cloud() -> FileDescriptorProto {
    let mut fields = of_type("fields", 5, Type::Message, ".foxglove.PackedElementField");
    fields.label = Some(Label::Repeated.into());
    let cloud = message(
        "PointCloud",
        vec![
            of_type("timestamp", 1, Type::Message, ".google.protobuf.Timestamp"),
            field("frame_id", 2, Type::String),
            of_type("pose", 3, Type::Message, ".foxglove.Pose"),
            field("point_stride", 4, Type::Fixed32),
            fields,
            field("data", 6, Type::Bytes),
        ],
    );
    let mut file = foxglove("PointCloud", &["PackedElementField", "Pose"], cloud);
    file.dependency.push(TIMESTAMP.into());
    file
}
