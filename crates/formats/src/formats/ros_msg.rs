//! ROS MSG: the serialization of ROS 1 by roscpp_serialization, with serializers
//! generated for the normalized structures.

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::lowering::{self, Lowering};
use crate::packaged_library::PackagedLibrary;
use crate::sequential::{self, flag_name};

inventory::submit! {
    PackagedLibrary {
        name: "roscpp_core",
        packages: &["libroscpp-core-dev"],
        tried: &[("0.7.2", "2020-05"), ("0.7.3", "2023-06")],
        newest: ("0.7.3", "2023-06"),
    }
}

inventory::submit! {
    Codec {
        name: "ros-msg",
        title: "ROS 1 MSG C++ roscpp",
        format: "ros-msg",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &[
            "the format has no optional values: an optional value takes its bytes and those of a \
             flag, present or not",
            "serializers as gencpp generates them; texts, bytes and lists by roscpp's own",
            "IsFixedSize is set as by gencpp; IsSimple is set, as roscpp lets its users do, for \
             records whose memory is their serialized form: lists of them move as blocks",
            "header only, except that the shared library has the code that throws at an overrun",
            "no partial reads: the whole message is deserialized for one number",
        ],
        calls: &[
            "encode: serializationLength(message), then serialize(OStream(buffer, length), message)",
            "decode, project, fixed, element: deserialize(IStream(bytes, size), message)",
        ],
        needs: &[Need::Header("ros/serialization.h", "libroscpp-core-dev")],
        check_type,
        idl: Some(idl),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    let mut lowerings = lowering::unions_and_bounds(record);
    lowerings.extend(sequential::lowerings(record));
    for field in &record.fields {
        let of_bytes = field.element == Element::Bytes
            && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        if of_bytes {
            lowerings
                .push(Lowering::new("list of bytes as a list of strings", "that they are no text"));
        }
    }
    Support::lowered(lowerings)
}

/// `Message.msg`: the message, then each record that it uses, delimited as ROS
/// itself does when it writes a definition out whole.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = SourceWriter::new();
    definition(schema, schema.root(), &mut code);
    for (id, record) in schema.records() {
        if id != schema.root {
            code.line("=".repeat(80));
            code.line(format!("MSG: wg/{}", record.name.legal));
            definition(schema, record, &mut code);
        }
    }
    Ok(File::new("Message.msg", code.finish()))
}

fn definition(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    for field in &record.fields {
        let name = &field.name.legal;
        let repeats =
            matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        let element = match field.element {
            // An octet list cannot be an element; a string has the same bytes.
            Element::Bytes if repeats => "string".into(),
            Element::Bytes => "uint8[]".into(),
            other => element_type(schema, other),
        };
        code.line(match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => format!("{element} {name}"),
            Cardinality::Optional if matches!(field.element, Element::Record(_)) => {
                format!("{element}[] {name}")
            }
            Cardinality::Optional => {
                format!("bool {}\n{element} {name}", flag_name(record, field))
            }
            Cardinality::List { .. } => format!("{element}[] {name}"),
            Cardinality::Array { len } => format!("{element}[{len}] {name}"),
        });
    }
}

fn element_type(schema: &Schema, element: Element) -> String {
    match element {
        Element::String | Element::Bytes => "string".into(),
        Element::Record(id) => schema.record(id).name.legal.clone(),
        other => sequential::ros_number(schema.scalar(other).expect("a number")).into(),
    }
}

/// Whether every byte is a valid value of every field, so that a record may be
/// copied from bytes. Truth values are not so.
fn takes_any_bytes(schema: &Schema, id: TypeId) -> bool {
    schema.is_pod(id)
        && schema.record(id).fields.iter().all(|field| match field.element {
            Element::Record(inner) => takes_any_bytes(schema, inner),
            other => schema.scalar(other) != Some(Scalar::Bool),
        })
}

/// Whether a record takes the same number of bytes whatever it holds.
fn is_fixed_size(schema: &Schema, id: TypeId) -> bool {
    schema.record(id).fields.iter().all(|field| match (field.element, field.cardinality) {
        (_, Cardinality::List { .. }) | (Element::String | Element::Bytes, _) => false,
        (Element::Record(_), Cardinality::Optional) => false,
        (Element::Record(inner), _) => is_fixed_size(schema, inner),
        _ => true,
    })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = cpp::begin_glue(&["message.hpp", "serializers.hpp"]);
    code.line("namespace ros::message_traits {");
    for (id, record) in schema.records() {
        traits(schema, id, record, &mut code);
    }
    code.line("");
    code.line("}  // namespace ros::message_traits");
    code.line("");
    code.line("namespace ros::serialization {");
    for (_, record) in schema.records() {
        serializer(record, &mut code);
    }
    code.line("");
    code.line("}  // namespace ros::serialization");
    Ok(Emission {
        files: vec![
            File::new("main.cpp", include_str!("ros_msg/main.cpp")),
            File::new("serializers.hpp", include_str!("ros_msg/serializers.hpp")),
            File::new("glue.hpp", code.finish()),
        ],
        sources: vec!["main.cpp".into()],
        libraries: vec!["roscpp_serialization".into()],
        ..Emission::default()
    })
}

/// What roscpp is told of a record.
fn traits(schema: &Schema, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = format!("message::{}", record.name.legal);
    let mut tell = |what: &str, holds: &str| {
        code.line(format!("template <>\nstruct {what}<{name}> : {holds} {{}};"));
    };
    tell("IsMessage", "TrueType");
    if is_fixed_size(schema, id) {
        tell("IsFixedSize", "TrueType");
    }
    if takes_any_bytes(schema, id) {
        let size = schema.max_size(id).unwrap_or(0);
        tell(
            "IsSimple",
            &format!("std::conditional_t<sizeof({name}) == {size}, TrueType, FalseType>"),
        );
    }
}

/// The serializer of a record, as gencpp generates it.
fn serializer(record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <>");
    code.block(format!("struct Serializer<message::{name}> {{"), "};", |code| {
        code.line("template <typename Stream, typename T>");
        code.line("inline static void allInOne([[maybe_unused]] Stream &stream,");
        code.block("                            [[maybe_unused]] T m) {", "}", |code| {
            for field in &record.fields {
                code.line(format!("stream.next(m.{});", field.name.legal));
            }
        });
        code.line("ROS_DECLARE_ALLINONE_SERIALIZER");
    });
}
