//! Cap'n Proto Java: the format's own library, and the compiler's plugin as somebody
//! else built it.

mod glue;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::{build_folder, run, Need};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Schema, TypeDef, TypeId};

use self::glue::{outer, Structs};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::java::base_codec::parsing_codec;
use crate::language::java::glue::{jar_name, library_file, numbers_file};
use crate::language::java::message::JavaMessage;

const JARS: &[Jar] = &[Jar {
    coordinates: "org.capnproto:runtime:0.1.16",
    sha256: "ae5a19b57b78d9e90cd6bb58882438d3d3c1cd112b2c6c9018a799e939676a94",
}];
/// What brings the plugin and the definition that it wants: its makers publish neither.
const PLUGIN: Jar = Jar {
    coordinates: "org.expretio.capnp:capnp-natives:0.5.3:jar:linux-x86-64",
    sha256: "25e9c15cdf9f5005dd645a5fbe5840c1e65f5cf1e27c075723e6ef3ac103bb48",
};
/// Where it has them.
const FOLDER: &str = "org/expretio/capnp/natives/linux/x86-64";

inventory::submit! {
    Codec {
        name: "capnproto-java",
        title: "Cap'n Proto Java",
        format: "capnproto",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("org.capnproto runtime"),
        options: &[
            "classes by the machine's capnp with capnpc-java of 2016, the only one in a registry \
             (Expretio's capnp-natives on Maven Central, for x86-64 only)",
            "MessageBuilder over a first segment that is kept between messages and cleared, with \
             room for the largest message so far; where buffers are fresh, a segment of the \
             default 8 KiB, and more as needed",
            "Serialize.write into an ArrayOutputStream of the size that the library computes",
            "read in place by accessors; traversal limit: the default 64 MiB, or twice the message \
             if that is more; nesting limit: the default 64, or what the definition needs",
            "lists move element by element: the library has no blocks for lists of numbers; texts \
             and bytes by String and byte[]",
            "a fixed array of up to 4 numbers is written as that many fields",
            "empty texts, bytes and lists are left null, which reads the same",
        ],
        calls: &[
            "encode: new MessageBuilder(firstSegment).initRoot(X.factory); setX(value), \
             initX(n).set(i, value); Serialize.write(new ArrayOutputStream(buffer), builder); \
             builder.clearFirstSegment()",
            "decode: Serialize.read(buffer, options).getRoot(X.factory); getX(); getX().get(i)",
            "project, fixed, element: the same reader, then getX() of the numbers that are read",
        ],
        needs: &[
            NEEDS_WITH_JARS[0],
            NEEDS_WITH_JARS[1],
            NEEDS_WITH_JARS[2],
            Need::Program("jar", "default-jdk-headless"),
            Need::Program("capnp", "capnproto"),
        ],
        check_type,
        idl: Some(idl),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    match &schema.types[id] {
        TypeDef::Record(record) if record.name.legal == "Schemas" => {
            Support::Rejected("capnpc-java's code has a class of its own of this name".into())
        }
        _ => super::check_type(schema, id),
    }
}

/// The definition, with what Java's classes are called.
fn idl(schema: &Schema) -> Result<File> {
    let file = super::idl(schema)?;
    let java = format!(
        "\nusing Java = import \"/java.capnp\";\n$Java.package(\"wg\");\n\
         $Java.outerClassname(\"{}\");\n",
        outer(schema)
    );
    Ok(File::new(file.path, file.text + &java))
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let mut files = form.files(&[])?;
    files.push(idl(unit.schema)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.push(parsing_codec());
    files.push(File::new("Numbers.java", numbers_file(&form, &Structs)));
    files.push(File::new("Glue.java", glue::glue(&form)));
    files.push(library_file(&format!("capnproto-{}", jar_name(&JARS[0]))));
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(compile))],
        sources: vec![format!("wg/{}.java", outer(unit.schema))],
        jars: JARS,
        ..Emission::default()
    })
}

/// Runs Cap'n Proto's compiler with the plugin, which is in the folder as long as that takes.
fn compile(folder: &Path) -> Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "capnpc-java, which makes the classes, exists for x86-64 only; measure it there"
    );
    let archive = maven::jar(build_folder(folder)?, &PLUGIN)?;
    let mut command = Command::new("jar");
    command.arg("--extract").arg("--file").arg(archive);
    run(command.arg(FOLDER).current_dir(folder), "jar")?;
    let plugin = format!("./{FOLDER}/capnpc-java");
    // An archive of Java's keeps no such rights.
    fs::set_permissions(folder.join(&plugin), fs::Permissions::from_mode(0o755))?;
    fs::create_dir_all(folder.join("wg"))?;
    let mut command = Command::new("capnp");
    command.arg("compile").arg(format!("-I{FOLDER}")).arg(format!("-o{plugin}:wg"));
    run(command.arg("message.capnp").current_dir(folder), "capnp")?;
    fs::remove_dir_all(folder.join("org")).context("cannot remove the plugin")
}
