//! Avro's own Java library: the classes that its compiler makes, and its runtime in the
//! same release.

mod classes;
mod partial_reader;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::{build_folder, run};
use wiregauge_normalized::{File, SourceWriter, Unit};

use self::classes::{renamed, Classes};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::language::java::base_codec::object_codec;
use crate::language::java::glue::{jar_name, library_file, numbers_file, JavaLibrary};
use crate::language::java::jackson;
use crate::language::java::message::JavaMessage;
use crate::language::java::objects;

const JARS: &[Jar] = &[
    Jar {
        coordinates: "org.apache.avro:avro:1.12.2",
        sha256: "6522e2a146b859ad158bb024dcc3b0bc826680794a2523b0881dafcbd59ce2df",
    },
    jackson::CORE,
    jackson::DATABIND,
    jackson::ANNOTATIONS,
    Jar {
        coordinates: "org.slf4j:slf4j-api:2.0.18",
        sha256: "44508fd1576500688c790b190acdd16fec4f8c79a3e0b900afd70503cf055f55",
    },
];

/// What the compiler is besides.
const COMPILER: &[Jar] = &[
    Jar {
        coordinates: "org.apache.avro:avro-compiler:1.12.2",
        sha256: "2fc749a84cb3b8c9124a29c8b1eb135d021521b12f6a29dd9b7b1e95be398325",
    },
    Jar {
        coordinates: "org.apache.velocity:velocity-engine-core:2.4.1",
        sha256: "1c19157d1171d560088e485be97c93a7a2f7e9f56e517f0a30273c5c39df6231",
    },
    Jar {
        coordinates: "org.apache.commons:commons-lang3:3.20.0",
        sha256: "69e5c9fa35da7a51a5fd2099dfe56a2d8d32cf233e2f6d770e796146440263f4",
    },
];

inventory::submit! {
    Codec {
        name: "avro-java",
        title: "Avro Java",
        format: "avro",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("avro"),
        options: &[
            "only the bytes of the message: no definition, no container, no fingerprint",
            "specific records by SpecificCompiler of the same version, texts as String; lists are \
             ArrayLists of boxed values, bytes are wrapped and not copied",
            "writes by the generated customEncode (setCustomCoders(true)), which the documentation \
             calls a beta for faster code: it takes a third of the default's time, or less",
            "reads by the default reader (fastread), which checks counts against the remaining \
             bytes. The generated customDecode makes a list as long as its count says, and takes \
             three times as long for lists of numbers",
            "encoder, decoder and output are kept between messages; with --objects reused a \
             message is read into the last one",
            "one number: a reader's definition has only the path to it, so Avro skips everything \
             else; if the path goes through a list, all its elements are read",
        ],
        calls: &[
            "encode: encoder = factory.binaryEncoder(out, encoder); writer.write(object, encoder); \
             encoder.flush(); out.asByteBuffer()",
            "decode, project: decoder = factory.binaryDecoder(array, from, length, decoder); \
             reader.read(null, decoder)",
            "fixed, element: part = new GenericDatumReader<>(definition, definition of the way), \
             once; part.read(null, decoder)",
        ],
        needs: NEEDS_WITH_JARS,
        check_type: super::check_type,
        idl: Some(|schema| super::idl(&renamed(schema))),
        emit,
    }
}

/// What Java's virtual machine is told: Avro makes objects of no classes but those of
/// packages that are trusted, and its logger would say that it logs nowhere.
const MACHINE: &str =
    "-Dorg.apache.avro.SERIALIZABLE_PACKAGES=wg -Dslf4j.internal.verbosity=ERROR ";

/// Where what calls the compiler is put. It is none of the runner's own sources.
const CALLER: &str = "Classes.java.txt";

fn emit(unit: &Unit) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let library = Classes { schema: renamed(unit.schema) };
    let mut files = form.files(&[])?;
    files.push(super::idl(&library.schema)?);
    files.push(File::new(CALLER, include_str!("java/Classes.java")));
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.extend(object_codec());
    files.push(File::new("Numbers.java", numbers_file(&form, &library)));
    files.push(File::new("Parts.java", partial_reader::partial_reader_file(&form, &library)));
    files.push(File::new("Glue.java", glue(&form, &library)));
    files.push(library_file(&jar_name(&JARS[0])));
    let names = library.schema.records().map(|(_, record)| record.name.legal.clone());
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(compile))],
        sources: names.map(|name| format!("wg/{name}.java")).collect(),
        jars: JARS,
        machine: MACHINE,
        ..Emission::default()
    })
}

/// Runs Avro's compiler in the runner's folder.
fn compile(folder: &Path) -> Result<()> {
    let build = build_folder(folder)?;
    let jars = maven::jars(build, JARS.iter().chain(COMPILER))?;
    let path = std::env::join_paths(jars).context(
        "the build folder's name has a colon, which Java's class path does not allow; set \
         WIREGAUGE_BUILD to another folder",
    )?;
    let mut command = Command::new("java");
    // It runs for a second: what pays off later only costs.
    command.args(["-XX:TieredStopAtLevel=1", "-Dslf4j.internal.verbosity=ERROR", "-cp"]).arg(path);
    command.args(["--source", "17", CALLER, "message.avsc", "."]);
    command.current_dir(folder).stdin(Stdio::null());
    run(&mut command, "Avro's compiler").map(|_| ())
}

/// `Glue.java`: `make` and `take`.
fn glue(form: &JavaMessage, library: &Classes) -> String {
    let root = form.schema.root;
    let (name, class, own) = (form.name(root), library.class(form, root), form.class(root));
    let mut code = SourceWriter::indented(4);
    code.line("// Generated by wiregauge: the normalized form to Avro's classes and back.");
    code.line("import java.nio.ByteBuffer;\nimport java.util.ArrayList;\nimport java.util.List;");
    code.line("import org.apache.avro.Schema;\n");
    code.open("final class Glue {");
    code.line(format!("static final Schema SCHEMA = {class}.getClassSchema();"));
    code.open("\nstatic Object make(Object m) {");
    code.line(format!("return make_{name}(({own}) m);"));
    code.close("}");
    code.open("\nstatic Object take(Object o) {");
    code.line(format!("return take_{name}(({class}) o);"));
    code.close("}");
    objects::write_records(form, library, &mut code);
    code.close("}");
    code.finish()
}
