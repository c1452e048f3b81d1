//! zserio in Java: its makers' own library and compiler, from Maven Central.

mod glue;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::{build_folder, run};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Field, Record, Scalar, Schema, TypeDef, TypeId};

use self::glue::ZserioObjects;
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::java::base_codec::object_codec;
use crate::language::java::glue::{jar_name, library_file, numbers_file};
use crate::language::java::message::JavaMessage;
use crate::language::java::plain_objects::{CANONICAL_NANS, NANS};
use crate::lowering::Lowering;

const JARS: &[Jar] = &[Jar {
    coordinates: "io.github.ndsev:zserio-runtime:2.18.0",
    sha256: "9d58cd018cc2e6d0c0bd9bd35642bdb15a198dee5ac3c93a93110e002bfabaf8",
}];
/// What makes the classes: they call the runtime of their own release, and Maven Central has none
/// of the wheel's.
const COMPILER: Jar = Jar {
    coordinates: "io.github.ndsev:zserio:2.18.0",
    sha256: "e7f4e4fd792bff4f8ff91cec2fcae5ec51b3e078d4ef74ed52b92e8eaf6d247a",
};

inventory::submit! {
    Codec {
        name: "zserio-java",
        title: "zserio Java",
        format: "zserio",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("zserio-runtime"),
        options: &[
            "classes by the compiler of the runtime's version, both the newest on Maven Central, \
             which is older than the wheel",
            "arrays are not packed: no delta compression, the format's default",
            "one ByteArrayBitStreamWriter is kept and set back to its start; where buffers are \
             fresh, a new one starts with its default of 8 KiB; the library copies the bytes out \
             of it, and into the reader",
            "object.write without initializeOffsets, which SerializeUtil calls before: it measures \
             the whole message, and a definition without offsets has nothing to set",
            "arrays of numbers are used as they are where zserio has them in Java's type of the \
             same size; unsigned ones are copied to the next larger type, uint64 to BigInteger",
            CANONICAL_NANS,
            "the length of each list, text and bytes field is trusted, and its array is allocated, \
             before its bytes are checked; later versions, which Maven Central does not have, \
             check first",
            "no partial reads: the whole message is parsed for one number",
        ],
        calls: &[
            "encode: object.setX(value) …; writer.setBitPosition(0); object.write(writer); \
             writer.toByteArray()",
            "decode: new Message(new ByteArrayBitStreamReader(bytes)), then object.getX()",
            "project, fixed, element: as decode, the object's numbers alone",
        ],
        needs: NEEDS_WITH_JARS,
        check_type,
        idl: Some(idl),
        emit,
    }
}

/// The most that a method may take, a number of eight bytes counted twice.
const MAX_ARGUMENTS: usize = 255;

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration().and("the bytes are the same")]);
    };
    let count = 1 + record.fields.iter().map(|field| arguments(schema, field)).sum::<usize>();
    if count > MAX_ARGUMENTS {
        return Support::Rejected(format!(
            "zserio's class has a constructor that would take {count} arguments, and one of Java \
             takes {MAX_ARGUMENTS}"
        ));
    }
    Support::lowered(super::lowerings(record))
}

/// How many of Java's arguments a field is.
fn arguments(schema: &Schema, field: &Field) -> usize {
    let is_single = matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit);
    match schema.scalar(field.element) {
        Some(Scalar::U32 | Scalar::I64 | Scalar::F64) if is_single => 2,
        _ => 1,
    }
}

/// `wg.zs`.
fn idl(schema: &Schema) -> Result<File> {
    let member = |_: &Record, field: &Field| field.name.legal.clone();
    Ok(File::new("wg.zs", super::definition(schema, member, |_| false)))
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let mut files = form.files(&[])?;
    files.push(idl(unit.schema)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.extend(object_codec());
    files.push(File::new("Unsigned.java", include_str!("java/Unsigned.java")));
    files.push(File::new("Nans.java", NANS));
    files.push(File::new("Numbers.java", numbers_file(&form, &ZserioObjects)));
    files.push(File::new("Glue.java", glue::glue(&form)));
    files.push(library_file(&jar_name(&JARS[0])));
    let class = |record: &Record| format!("wg/{}.java", record.name.legal);
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(compile))],
        sources: unit.schema.records().map(|(_, record)| class(record)).collect(),
        jars: JARS,
        ..Emission::default()
    })
}

/// Runs zserio's compiler, which makes a class of each record. What it says against the definition
/// for other languages is no concern of this.
fn compile(folder: &Path) -> Result<()> {
    let compiler = maven::jar(build_folder(folder)?, &COMPILER)?;
    let mut command = Command::new("java");
    // It runs for a second: what pays off later only costs.
    command.args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-jar"]).arg(compiler);
    command.args(["-withoutCrossExtensionCheck", "-java", ".", "wg.zs"]).current_dir(folder);
    run(&mut command, "zserio's compiler")
        .map(|_| ())
        .context("zserio's compiler needs Java; apt-get install default-jdk-headless")
}

#[cfg(test)]
mod tests {
    use wiregauge_schema::msg::{self, Dialect};

    use super::*;

    /// Whether a message of so many numbers of this type is refused, and why.
    fn refusal(kind: &str, numbers: usize) -> Option<String> {
        let text: String = (0..numbers).map(|at| format!("{kind} n{at}\n")).collect();
        let schema = msg::read_text(&text, "pkg/msg/Root", Dialect::Ros2, "root.msg");
        let schema = schema.expect("it reads");
        match check_type(&schema, schema.root) {
            Support::Rejected(why) => Some(why),
            _ => None,
        }
    }

    #[test]
    fn a_record_of_more_than_a_constructor_takes_is_refused() {
        assert_eq!(refusal("int32", 254), None);
        assert_eq!(refusal("uint64", 254), None);
        assert_eq!(refusal("uint32", 127), None);
        let why = refusal("uint32", 128).expect("it is refused");
        assert!(why.contains("would take 257 arguments"), "{why}");
        assert!(refusal("int32", 255).is_some());
    }
}
