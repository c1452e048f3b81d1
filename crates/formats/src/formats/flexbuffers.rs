//! FlexBuffers: FlatBuffers' sister without definitions, by serde; one number is
//! found in place.

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Field, Scalar, Schema, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::derived;
use crate::language::rust::glue;

inventory::submit! {
    Codec {
        name: "flexbuffers",
        title: "FlexBuffers Rust",
        format: "flexbuffers",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("flexbuffers"),
        options: &[
            "a record is a map from field names to values, sorted by name; the names are written \
             once for the whole message (SHARE_KEYS, the default)",
            "all values of a map or list have the width of its largest one; bytes are a blob",
            "the serializer is kept between messages, and its bytes are handed over uncopied",
            "one number is found in place by names and places; all numbers: the whole message is \
             decoded",
        ],
        calls: &[
            "encode: serializer.reset(); message.serialize(&mut serializer); serializer.view()",
            "decode, project: flexbuffers::from_slice::<Message>(bytes)",
            "fixed, element: Reader::get_root(bytes), as_map().idx(name), as_vector().idx(place)",
        ],
        needs: &[],
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    derived::check_type_with_octets(schema, id, "a blob")
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = glue::begin_glue("flexbuffers");
    glue::accessors(
        unit,
        "flexbuffers::Reader<&[u8]>",
        &mut code,
        |_, field, index| descend(field, index),
        |field| number(schema, field),
    );
    let files = vec![
        glue::main_file_deriving(Derive::Serde, "Flexbuffers", &["codec", "glue"]),
        File::new("codec.rs", include_str!("flexbuffers/codec.rs")),
        File::new("glue.rs", code.finish()),
    ];
    Ok(Emission { files, ..Emission::default() })
}

/// The statement that goes down to a field's value or element. What is not there is a null.
fn descend(field: &Field, index: ElementIndex) -> String {
    let value = format!("at.as_map().idx({:?})", field.name.legal);
    let list = |place: &str| {
        format!(
            "let list = {value}.as_vector();\nif list.is_empty() {{ return }}\n\
             let at = &list.idx({place});"
        )
    };
    let found = match (index, field.cardinality) {
        (ElementIndex::At(index), _) => list(&index.to_string()),
        (ElementIndex::Middle, _) => list("list.len() / 2"),
        (ElementIndex::Single, _) => format!("let at = &{value};"),
    };
    let is_surely_there =
        matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit);
    match is_surely_there {
        true => found,
        false => format!(
            "{found}\nif at.flexbuffer_type() == flexbuffers::FlexBufferType::Null {{ return }}"
        ),
    }
}

/// The number behind a reader, as the schema's.
fn number(schema: &Schema, field: &Field) -> String {
    match schema.scalar(field.element).expect("a number") {
        Scalar::Bool => "at.as_bool()".into(),
        scalar => format!("at.as_{}()", scalar.rust_name()),
    }
}
