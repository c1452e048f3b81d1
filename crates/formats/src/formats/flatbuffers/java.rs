//! FlatBuffers Java: the format's own library, from the definition with tables only and
//! from the one with structs, by the jar of the machine's flatc.

mod accessors;
mod glue;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Schema, TypeDef, TypeId};

use self::accessors::{renamed, Accessors};
use super::flatc_release;
use super::{Dialect, Style, ARRAYS, FLATC, SIGN};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::java::base_codec::parsing_codec;
use crate::language::java::glue::{jar_name, library_file, numbers_file};
use crate::language::java::message::JavaMessage;

const NEEDS: &[Need] = &[NEEDS_WITH_JARS[0], NEEDS_WITH_JARS[1], NEEDS_WITH_JARS[2], FLATC];

const JAR: &str = "the jar follows the machine's flatc, whose classes need exactly this version: \
                   2.0.8, 23.5.26 or 25.2.10; its ByteBuffers are over arrays, the builder's \
                   default";
const BUILDER: &str =
    "one builder is cleared and reused; its finished bytes are not copied; where buffers are \
     fresh, a new builder starts with its default of 1 KiB and grows";
const READING: &str =
    "read in place by accessors; elements by one object for each list and by the vectors that \
     flatc generates; the length of a text by its bytes; ByteBuffer checks each access, and the \
     library has no verifier";
const PRESENCE: &str =
    "an optional number is added with forceDefaults(true): otherwise flatc's setter leaves out a \
     zero, which would read as absent";

inventory::submit! {
    Codec {
        name: "flatbuffers-java",
        title: "FlatBuffers Java tables",
        format: "flatbuffers-tables",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("flatbuffers-java"),
        options: &["every record is a table", JAR, ARRAYS, SIGN, PRESENCE, BUILDER, READING],
        calls: &[
            "encode: builder.clear(); createUnintializedVector(…).asFloatBuffer().put(array), createString, startX, addX, endX from the leaves up; builder.finish(root); builder.dataBuffer()",
            "decode: X.getRootAsX(buffer); every accessor; lists of numbers as blocks by xAsByteBuffer()",
            "project, fixed, element: X.getRootAsX(buffer), then the accessors on the way; xVector().get(i)",
        ],
        needs: NEEDS,
        check_type: |schema, id| check_type(schema, id, Style::Tables),
        idl: Some(|schema| super::idl(&renamed(schema), Style::Tables)),
        emit: |unit| emit(unit, Style::Tables),
    }
}

inventory::submit! {
    Codec {
        name: "flatbuffers-java-structs",
        title: "FlatBuffers Java structs",
        format: "flatbuffers",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("flatbuffers-java"),
        options: &[
            "records of plain data are structs, each written by createX with its numbers one by \
             one, as flatc generates",
            JAR,
            ARRAYS,
            SIGN,
            PRESENCE,
            BUILDER,
            READING,
        ],
        calls: &[
            "encode: as with tables; startXVector(builder, count) and createX(builder, …) for each struct of a list, from the last to the first",
            "decode: X.getRootAsX(buffer); every accessor; lists of numbers as blocks by xAsByteBuffer()",
            "project, fixed, element: X.getRootAsX(buffer), then the accessors on the way; xVector().get(object, i)",
        ],
        needs: NEEDS,
        check_type: |schema, id| check_type(schema, id, Style::Structs),
        idl: Some(|schema| super::idl(&renamed(schema), Style::Structs)),
        emit: |unit| emit(unit, Style::Structs),
    }
}

/// The most that a method may take, a number of eight bytes counted twice.
const MAX_ARGUMENTS: usize = 255;

fn check_type(schema: &Schema, id: TypeId, style: Style) -> Support {
    let dialect = Dialect::new(schema, style);
    if matches!(schema.types[id], TypeDef::Record(_)) && dialect.is_struct(id) {
        let leaves = glue::leaves(schema, &|_, _| String::new(), id, "", &[]);
        let wide = |leaf: &glue::Leaf| leaf.dims.is_empty() && leaf.scalar.size() == 8;
        let count = 1 + leaves.len() + leaves.iter().filter(|leaf| wide(leaf)).count();
        if count > MAX_ARGUMENTS {
            return Support::Rejected(format!(
                "flatc writes a struct by a method that would take {count} arguments, and one of \
                 Java takes {MAX_ARGUMENTS}"
            ));
        }
    }
    super::check_type(schema, id, style)
}

fn emit(unit: &Unit, style: Style) -> Result<Emission> {
    let jars = flatc_release::jars()?;
    let form = JavaMessage::new(unit)?;
    let schema = renamed(unit.schema);
    let accessors = Accessors { dialect: Dialect::new(&schema, style) };
    let dialect = accessors.dialect;
    let mut files = form.files(&[])?;
    files.push(super::idl(&schema, style)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.push(parsing_codec());
    files.push(File::new("Blocks.java", include_str!("java/Blocks.java")));
    files.push(File::new("Numbers.java", numbers_file(&form, &accessors)));
    files.push(File::new("Glue.java", glue::glue(&form, &accessors)));
    files.push(library_file(&jar_name(&jars[0])));
    let records = schema.records().map(|(id, _)| dialect.type_name(id));
    let octets = dialect.has_bytes_lists().then(|| dialect.bytes_name());
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::command(["flatc", "--java", "message.fbs"])],
        sources: records.chain(octets).map(|name| format!("wg/{name}.java")).collect(),
        jars,
        ..Emission::default()
    })
}

#[cfg(test)]
mod tests {
    use wiregauge_schema::msg::{self, Dialect};

    use super::*;

    /// A message with a list of records of so many numbers.
    fn schema(numbers: usize) -> Schema {
        let fields: String = (0..numbers).map(|at| format!("float64 n{at}\n")).collect();
        let line = "=".repeat(80);
        let text = format!("Inner[] all\n{line}\nMSG: pkg/Inner\n{fields}");
        msg::read_text(&text, "pkg/msg/Root", Dialect::Ros2, "root.msg").expect("it reads")
    }

    #[test]
    fn a_struct_of_more_than_a_method_takes_is_refused() {
        let refusal = |numbers, style| {
            let schema = schema(numbers);
            let refused = |id| match check_type(&schema, id, style) {
                Support::Rejected(why) => Some(why),
                _ => None,
            };
            (0..schema.types.len()).find_map(refused)
        };
        assert_eq!(refusal(127, Style::Structs), None);
        let why = refusal(128, Style::Structs).expect("it is refused");
        assert!(why.contains("would take 257 arguments"), "{why}");
        assert_eq!(refusal(128, Style::Tables), None);
    }
}
