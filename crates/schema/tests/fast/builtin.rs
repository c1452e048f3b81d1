//! The built-in messages load, and have the shape that the references measured.

use std::path::Path;

use wiregauge_schema::source::load;
use wiregauge_schema::{
    Cardinality, Element, Field, ProtobufEncoding, Scalar, Schema, SchemaSource, TypeId, Value,
};

fn builtin(file: &str) -> Schema {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas")).join(file);
    load(&SchemaSource { path, type_name: None, folders: Vec::new() }).unwrap()
}

#[test]
fn the_lidar_message_is_that_of_the_reference() {
    let schema = builtin("lidar.msg");
    assert_eq!(schema.root().name.legal, "LidarPointsMsg");
    let names: Vec<&str> = schema.records().map(|(_, r)| r.name.legal.as_str()).collect();
    assert_eq!(names, ["MsgInfo", "LidarPoint", "LidarPointsMsg"]);
    let Element::Record(point) = schema.root().fields[1].element else { panic!() };
    assert!(schema.is_pod(point));
    assert_eq!(schema.max_size(point), Some(13));
}

/// The notification of the reference, with all texts and data of `f` bytes.
fn notification(schema: &Schema, f: usize) -> Value {
    let bytes = || Value::Bytes(vec![7; f]);
    fill(schema, schema.root, &|field| match field {
        "causes" | "user_times" => Value::List(Vec::new()),
        "sequence_number" => Value::Unsigned(1),
        "create_time" => Value::Signed(1),
        "send_time" => Value::Signed(2),
        "receive_time" | "deliver_time" => Value::Signed(0),
        "user_infos" => Value::List(vec![Value::Record(vec![bytes(), bytes()])]),
        _ => bytes(),
    })
}

/// A record with the values of a function from field names; nested records are
/// filled likewise.
fn fill(schema: &Schema, id: TypeId, value: &dyn Fn(&str) -> Value) -> Value {
    let fields = schema.record(id).fields.iter();
    let values = fields.map(|field| match (field.cardinality, field.element) {
        (Cardinality::Required, Element::Record(inner)) => fill(schema, inner, value),
        _ => value(&field.name.original),
    });
    Value::Record(values.collect())
}

/// The elements of a field: those of a list, or the one value.
fn elements<'a>(field: &Field, value: &'a Value) -> Vec<&'a Value> {
    match (field.cardinality, value) {
        (Cardinality::List { .. }, Value::List(values)) => values.iter().collect(),
        _ => vec![value],
    }
}

/// Size in ROS MSG: everything is there, a `u32` before bytes and lists.
fn ros_size(schema: &Schema, id: TypeId, value: &Value) -> usize {
    let Value::Record(values) = value else { panic!() };
    let fields = schema.record(id).fields.iter().zip(values);
    let size = fields.map(|(field, value)| {
        assert_ne!(field.cardinality, Cardinality::Optional, "ROS MSG would pay for a flag");
        let counts = matches!(field.cardinality, Cardinality::List { .. });
        let sizes = elements(field, value).into_iter().map(|value| match (field.element, value) {
            (Element::Record(inner), value) => ros_size(schema, inner, value),
            (Element::Bytes, Value::Bytes(bytes)) => 4 + bytes.len(),
            (Element::Scalar(scalar), _) => scalar.size(),
            (other, _) => panic!("{other:?}"),
        });
        4 * usize::from(counts) + sizes.sum::<usize>()
    });
    size.sum()
}

fn varint_size(mut value: u64) -> usize {
    let mut size = 1;
    while value >= 128 {
        value >>= 7;
        size += 1;
    }
    size
}

/// Size in Protobuf: a tag, a length where there is one, and the content;
/// nothing for an implicit field that is zero or empty.
fn protobuf_size(schema: &Schema, id: TypeId, value: &Value) -> usize {
    let Value::Record(values) = value else { panic!() };
    let mut size = 0;
    for (field, value) in schema.record(id).fields.iter().zip(values) {
        if field.cardinality == Cardinality::Implicit && *value == Value::empty_field(schema, field)
        {
            continue;
        }
        for value in elements(field, value) {
            let delimited = |len| varint_size(len as u64) + len;
            size += varint_size(u64::from(field.id) << 3);
            size += match (field.element, value) {
                (Element::Record(inner), value) => delimited(protobuf_size(schema, inner, value)),
                (Element::Bytes, Value::Bytes(bytes)) => delimited(bytes.len()),
                (_, Value::Unsigned(number)) => varint_size(*number),
                (_, Value::Signed(number)) => varint_size(*number as u64),
                (other, _) => panic!("{other:?}"),
            };
        }
    }
    size
}

#[test]
fn the_notification_has_the_sizes_of_the_reference() {
    let schema = builtin("rsb.proto");
    assert_eq!(schema.root().name.original, "rsb.Notification");
    let wanted = [
        (4, 55, 104),
        (8, 83, 132),
        (16, 139, 188),
        (32, 251, 300),
        (64, 477, 524),
        (128, 933, 972),
    ];
    for (f, protobuf, ros) in wanted {
        let value = notification(&schema, f);
        wiregauge_schema::canonical::encode(&schema, &value).unwrap();
        assert_eq!(protobuf_size(&schema, schema.root, &value), protobuf, "Protobuf, f = {f}");
        assert_eq!(ros_size(&schema, schema.root, &value), ros, "ROS MSG, f = {f}");
    }
}

/// RSB's public definitions (open-rsx/rsb-protocol, proto/rsb/protocol): record, field,
/// number, type, and whether it repeats. What may be absent there is always there here,
/// as the comparison had it.
const RSB: [(&str, &str, u32, &str, bool); 19] = [
    ("Notification", "scope", 6, "bytes", false),
    ("Notification", "wire_schema", 7, "bytes", false),
    ("Notification", "data", 9, "bytes", false),
    ("Notification", "causes", 13, "EventId", true),
    ("Notification", "method", 14, "bytes", false),
    ("Notification", "meta_data", 15, "EventMetaData", false),
    ("Notification", "event_id", 108, "EventId", false),
    ("EventId", "sender_id", 1, "bytes", false),
    ("EventId", "sequence_number", 2, "uint32", false),
    ("EventMetaData", "create_time", 2, "int64", false),
    ("EventMetaData", "send_time", 3, "int64", false),
    ("EventMetaData", "receive_time", 4, "int64", false),
    ("EventMetaData", "deliver_time", 5, "int64", false),
    ("EventMetaData", "user_times", 6, "UserTime", true),
    ("EventMetaData", "user_infos", 7, "UserInfo", true),
    ("UserTime", "key", 1, "bytes", false),
    ("UserTime", "timestamp", 2, "uint64", false),
    ("UserInfo", "key", 1, "bytes", false),
    ("UserInfo", "value", 2, "bytes", false),
];

#[test]
fn the_notification_is_rsbs_own() {
    let schema = builtin("rsb.proto");
    let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let mut fields = Vec::new();
    for (_, record) in schema.records() {
        for field in &record.fields {
            let kind = match field.element {
                Element::Bytes => "bytes".to_owned(),
                Element::Record(id) => short(&schema.record(id).name.original),
                Element::Scalar(Scalar::U32) => "uint32".to_owned(),
                Element::Scalar(Scalar::U64) => "uint64".to_owned(),
                Element::Scalar(Scalar::I64) => "int64".to_owned(),
                other => format!("{other:?}"),
            };
            assert_eq!(field.wire, ProtobufEncoding::default(), "{}", field.name.original);
            let repeats = match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => false,
                Cardinality::List { bound: None } => true,
                other => panic!("{}: {other:?}", field.name.original),
            };
            let (record, name) = (short(&record.name.original), field.name.original.clone());
            fields.push((record, name, field.id, kind, repeats));
        }
    }
    let mut wanted: Vec<_> = RSB
        .into_iter()
        .map(|(record, name, id, kind, repeats)| {
            (record.to_owned(), name.to_owned(), id, kind.to_owned(), repeats)
        })
        .collect();
    wanted.sort();
    fields.sort();
    assert_eq!(fields, wanted);
}
