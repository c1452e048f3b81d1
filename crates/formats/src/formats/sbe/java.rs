//! SBE in Java: the flyweights of its own compiler over Agrona's buffers.

mod flyweights;
mod glue;
mod number_reader;

use anyhow::Result;
use wiregauge_build_tools::maven::Jar;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Element, Schema, TypeId};

use self::flyweights::capital;
use super::glue::VERSION;
use super::layout::{self, FieldPlacement};
use super::{compile, definition};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::java::glue::library_file;
use crate::language::java::message::JavaMessage;

const JARS: &[Jar] = &[Jar {
    coordinates: "org.agrona:agrona:2.6.0",
    sha256: "4c63d96ad30a4af7e90006c1a662d710a3275950955643a5e0904620b9d59fe1",
}];

inventory::submit! {
    Codec {
        name: "sbe-java",
        title: "SBE Java",
        format: "sbe",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("agrona"),
        options: &[
            "flyweights kept between messages; Agrona 2.6.0 with its bounds checks on, the default",
            "written into an ExpandableArrayBuffer, which grows by itself, read from an \
             UnsafeBuffer over the array; where buffers are fresh, a new ExpandableArrayBuffer \
             starts with its default of 128 bytes",
            "lists of numbers are groups of one field and move as blocks between the array and \
             Java's own arrays",
            "the count of a group and the length of data are checked against the remaining bytes, \
             because flyweights allocate an array of that length first",
            "one field of a group: next().sbeSkip() for each entry before it; fields in the \
             message's block are read in place",
        ],
        calls: &[
            "encode: encoder.wrapAndApplyHeader(buffer, 0, header); encoder.x(value), putX(a, b, \
             c); group = encoder.groupCount(n); group.next().x(value); encoder.text(string)",
            "decode: decoder.wrapAndApplyHeader(buffer, 0, header); decoder.x(); group = \
             decoder.group(); group.next().x(); decoder.text()",
            "project: the same accessors, entry by entry; of texts the length, by skipText()",
            "fixed, element: decoder.x(); for a field in a group group.next().sbeSkip() up to its \
             entry, then group.next().x()",
        ],
        needs: NEEDS_WITH_JARS,
        check_type,
        idl: Some(definition::idl),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    if id == schema.root {
        if let Some(name) = nested(schema, id, &mut Vec::new()) {
            return Support::Rejected(format!(
                "a group {name} is inside of a group {name}; in Java a class cannot have an inner \
                 class of the same name"
            ));
        }
    }
    super::check_type(schema, id)
}

/// The name of a group that stands in another of that name.
fn nested(schema: &Schema, id: TypeId, outer: &mut Vec<String>) -> Option<String> {
    if layout::groups(schema, id) > super::MAX_GROUPS {
        return None;
    }
    schema.record(id).fields.iter().find_map(|field| {
        if layout::placement(schema, field) != FieldPlacement::Group {
            return None;
        }
        // A list of numbers is a group as well, though none stands in it.
        let name = capital(&field.name.legal);
        if outer.contains(&name) {
            return Some(field.name.legal.clone());
        }
        let Element::Record(inner) = field.element else { return None };
        outer.push(name);
        let found = nested(schema, inner, outer);
        outer.pop();
        found
    })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let mut files = form.files(&[])?;
    files.push(definition::idl(unit.schema)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.push(File::new("Blocks.java", include_str!("java/Blocks.java")));
    files.push(File::new("Glue.java", glue::glue(&form)));
    files.push(library_file(&format!("sbe-all {VERSION}")));
    let mut names = vec!["Message_header".to_owned(), unit.schema.root().name.legal.clone()];
    names.extend(
        flyweights::composites(unit.schema).map(|id| unit.schema.record(id).name.legal.clone()),
    );
    let both = |name: String| ["Encoder", "Decoder"].map(|way| format!("wg/{name}{way}.java"));
    let mut sources: Vec<String> = names.into_iter().flat_map(both).collect();
    sources.push("wg/MetaAttribute.java".into());
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(|folder| compile(folder, "Java")))],
        sources,
        jars: JARS,
        machine: "--add-opens java.base/jdk.internal.misc=ALL-UNNAMED ",
        ..Emission::default()
    })
}

#[cfg(test)]
mod tests {
    use wiregauge_schema::msg::{self, Dialect};

    use super::*;

    fn answer_of(kind: &str, inner: &str) -> Support {
        let line = "=".repeat(80);
        let text = format!(
            "Outer[] points\n{line}\nMSG: pkg/Outer\n{kind}[] {inner}\n{line}\nMSG: pkg/Inner\n\
             string text\n"
        );
        let schema = msg::read_text(&text, "pkg/msg/Root", Dialect::Ros2, "root.msg");
        let schema = schema.expect("it reads");
        check_type(&schema, schema.root)
    }

    #[test]
    fn a_group_in_one_of_its_name_is_refused() {
        for kind in ["Inner", "float64"] {
            let Support::Rejected(why) = answer_of(kind, "points") else { panic!("not refused") };
            assert!(why.starts_with("a group points is inside of a group points"), "{why}");
            assert!(!matches!(answer_of(kind, "others"), Support::Rejected(_)));
        }
    }
}
