//! Simple Binary Encoding: the flyweights of its own compiler, here in C++.
//!
//! A message is a block of fixed fields, then groups, then data, and so is each
//! entry of a group. A record of fixed size is a composite in the block that
//! holds it, any other a group of one entry.

mod definition;
mod glue;
mod java;
mod layout;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::{build_folder, first_error, Need};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Scalar, Schema, TypeDef, TypeId};

use self::layout::{block_size, groups, has_flag, placement, FieldPlacement};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::lowering::{self, Lowering};

/// The largest block: its length is a uint16.
const MAX_BLOCK: u64 = u16::MAX as u64;

/// The most groups of a message. The compiler writes a class for each place
/// where a group stands, of some hundred lines.
const MAX_GROUPS: u64 = 1000;

inventory::submit! {
    Codec {
        name: "sbe",
        title: "SBE C++",
        format: "sbe",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &[
            "flyweights with their bounds checks on, kept between messages",
            "entries of fixed size are written and decoded by the group's own flyweight",
            "one field of a group: next().skip() for each entry before it; fields in the message's \
             block are read in place",
            "the length is computed before writing, so that the buffer has the right size",
            "lists of numbers are groups of one field and move as blocks",
        ],
        calls: &[
            "encode: message.wrapAndApplyHeader(buffer, 0, size); message.x(value), \
             putArray(data); auto &group = message.groupCount(n); group.next().x(value); \
             putText(data, size)",
            "decode: message.wrapForDecode(buffer, …); message.x(); auto &group = message.group(); \
             group.next().x(); getTextAsStringView()",
            "project: the same accessors, entry by entry",
            "fixed, element: message.x(); for a field in a group group.next().skip() up to its \
             entry, then group.next().x()",
        ],
        needs: &[maven::NEED, Need::Program("java", "default-jdk-headless")],
        check_type,
        idl: Some(definition::idl),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    let block = block_size(schema, id);
    if block > MAX_BLOCK {
        return Support::Rejected(format!(
            "its fixed fields take {block} bytes, and a block of SBE at most {MAX_BLOCK}"
        ));
    }
    let groups = groups(schema, id);
    if groups > MAX_GROUPS {
        return Support::Rejected(format!(
            "SBE cannot share a group's definition, so this message needs {groups} groups; a \
             runner with more than {MAX_GROUPS} takes too long to compile"
        ));
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    for field in &record.fields {
        if schema.scalar(field.element) == Some(Scalar::Bool) {
            lowerings.push(Lowering::new("bool as uint8", "that it is 0 or 1"));
        }
        if has_flag(field) {
            lowerings
                .push(Lowering::flagged("value").and("SBE's null values cannot carry every value"));
        }
        if placement(schema, field) == FieldPlacement::Group {
            lowerings.push(match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => {
                    Lowering::new("record as a group of one", "that there is exactly one")
                }
                Cardinality::Optional => Lowering::optional_record("group"),
                Cardinality::Array { .. } => {
                    Lowering::fixed_array().and("only numbers have arrays")
                }
                Cardinality::List { .. } => continue,
            });
        }
    }
    Support::lowered(lowerings)
}

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(Emission {
        files: vec![
            definition::idl(unit.schema)?,
            File::new("main.cpp", include_str!("sbe/main.cpp")),
            File::new("groups.hpp", include_str!("sbe/groups.hpp")),
            File::new("glue.hpp", glue::glue(unit)),
        ],
        steps: vec![GeneratorStep::Call(Box::new(|folder| compile(folder, "Cpp")))],
        sources: vec!["main.cpp".into()],
        ..Emission::default()
    })
}

/// SBE's compiler, of the version that the glue names.
const COMPILER: Jar = Jar {
    coordinates: "uk.co.real-logic:sbe-all:1.38.1",
    sha256: "26e29e5503faa70cc56158fcdacd6369ecfc3088b9a61c90b882feb54451c9b5",
};

/// Runs SBE's compiler in the runner's folder, for a language in its word.
fn compile(folder: &Path, language: &str) -> Result<()> {
    let compiler = maven::jar(build_folder(folder)?, &COMPILER)?;
    let output = Command::new("java")
        .args(["--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED"])
        // It runs for a second: what pays off later only costs.
        .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1"])
        .arg(format!("-Dsbe.target.language={language}"))
        .arg("-Dsbe.output.dir=.")
        .args(["-Dsbe.validation.stop.on.error=true", "-Dsbe.errorLog=yes", "-jar"])
        .arg(compiler)
        .arg("message.xml")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("cannot start java; apt-get install default-jdk-headless")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            !text.contains("UnsupportedClassVersionError"),
            "SBE's compiler needs Java 17 or newer; apt-get install openjdk-17-jdk-headless"
        );
        bail!("SBE's compiler failed: {}", first_error(&[&text]));
    }
    Ok(())
}
