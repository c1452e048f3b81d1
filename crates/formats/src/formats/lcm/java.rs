//! LCM in Java: the classes of the format's own compiler, over the streams of its library.

mod glue;

use anyhow::Result;
use wiregauge_build_tools::package::{self, upstream};
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Element, Record, Schema, TypeDef, TypeId};

use self::glue::LcmObjects;
use crate::build::languages::java::{JAVA, NEEDS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::cpp::c_struct;
use crate::language::java::base_codec::object_codec;
use crate::language::java::glue::{library_file, numbers_file};
use crate::language::java::message::JavaMessage;
use crate::language::java::plain_objects::{CANONICAL_NANS, NANS};
use crate::lowering::Lowering;

/// The package that brings the library.
const PACKAGE: &str = "liblcm-java";

inventory::submit! {
    Codec {
        name: "lcm-java",
        title: "LCM Java",
        format: "lcm",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("lcm"),
        options: &[
            "the distribution's jar: LCM's makers publish none on Maven Central",
            "one LCMDataOutputStream is kept and reset, as LCM.publish does; where buffers are \
             fresh, a new one starts with its default of 512 bytes",
            "arrays of numbers and bytes are handed over uncopied in both directions; the \
             generated code writes and reads numbers one by one, bytes as a block",
            "the library writes the low byte of each character: texts are given as their UTF-8 \
             bytes, one character each, so that the bytes are the same as in other languages",
            CANONICAL_NANS,
            "decodes as LCM's own subscriptions do: the length of each list and text is trusted, \
             and its array is allocated, before its bytes are checked",
            "no partial reads: fixed and element decode the whole message",
        ],
        calls: &[
            "encode: object.x = value …; out.reset(); object.encode(out); out.getBuffer()",
            "decode: new T(new LCMDataInputStream(array, from, length)), then the object's members",
            "project, fixed, element: as decode, the object's numbers alone",
        ],
        needs: &[
            NEEDS[0],
            NEEDS[1],
            Need::Program("lcm-gen", "liblcm-bin"),
            Need::Jar("lcm.jar", PACKAGE),
        ],
        check_type,
        idl: Some(super::idl),
        emit,
    }
}

/// Types of Java's and of the library's that the generated code calls without their package, in
/// lower case.
const TAKEN: [&str; 5] =
    ["arraylist", "datainput", "dataoutput", "ioexception", "lcmdatainputstream"];

fn check_type(schema: &Schema, id: TypeId) -> Support {
    if let TypeDef::Record(record) = &schema.types[id] {
        if TAKEN.contains(&record.name.legal.to_lowercase().as_str()) {
            return Support::Rejected("lcm-gen's classes use another type of this name".into());
        }
        if record.fields.iter().any(|field| field.name.legal == "wg") {
            return Support::Rejected(
                "lcm-gen's classes would take the member wg for the package of that name".into(),
            );
        }
    }
    match (super::check_type(schema, id), &schema.types[id]) {
        (Support::Lowered(mut lowerings), TypeDef::Record(record)) => {
            lowerings.extend(text(record));
            Support::lowered(lowerings)
        }
        (Support::Supported, TypeDef::Record(record)) => {
            Support::lowered(text(record).into_iter().collect())
        }
        (answer, _) => answer,
    }
}

/// What becomes of a record's texts, if it has any.
fn text(record: &Record) -> Option<Lowering> {
    let has_text = record.fields.iter().any(|field| field.element == Element::String);
    has_text.then(|| {
        Lowering::new(
            "text as a character for each octet of its UTF-8",
            "nothing; the bytes are the same as from other languages",
        )
    })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let form = JavaMessage::new(unit)?;
    let mut files = form.files(&[])?;
    files.push(super::idl(schema)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.extend(object_codec());
    files.push(File::new("Values.java", include_str!("java/Values.java")));
    files.push(File::new("Nans.java", NANS));
    files.push(File::new("Numbers.java", numbers_file(&form, &LcmObjects)));
    files.push(File::new("Glue.java", glue::glue(&form)));
    let version = package::version(PACKAGE);
    let version = version.as_deref().map_or("of no known version", upstream);
    files.push(library_file(&format!("LCM {version}")));
    let mut sources: Vec<String> =
        schema.records().map(|(_, record)| record.name.legal.clone()).collect();
    if c_struct::uses_octets(schema) {
        sources.push(c_struct::octets_type(schema));
    }
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::command(["lcm-gen", "--java", "message.lcm"])],
        sources: sources.into_iter().map(|name| format!("wg/{name}.java")).collect(),
        ..Emission::default()
    })
}

#[cfg(test)]
mod tests {
    use wiregauge_schema::msg::{self, Dialect};

    use super::*;

    fn refusal(inner: &str, member: &str) -> Option<String> {
        let line = "=".repeat(80);
        let text = format!("{inner} {member}\n{line}\nMSG: pkg/{inner}\nint32 number\n");
        let schema = msg::read_text(&text, "pkg/msg/Root", Dialect::Ros1, "root.msg");
        let schema = schema.expect("it reads");
        let mut all = (0..schema.types.len()).map(|id| check_type(&schema, id));
        all.find_map(|answer| match answer {
            Support::Rejected(why) => Some(why),
            _ => None,
        })
    }

    #[test]
    fn names_that_the_classes_use_are_refused() {
        assert_eq!(refusal("Point", "point"), None);
        for name in ["ArrayList", "IOException", "DataInput", "LCMDataInputStream"] {
            let why = refusal(name, "point").expect("it is refused");
            assert!(why.contains("another type of this name"), "{name}: {why}");
        }
        let why = refusal("Point", "wg").expect("it is refused");
        assert!(why.contains("the member wg"), "{why}");
    }
}
