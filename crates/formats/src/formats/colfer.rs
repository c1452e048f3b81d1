//! Colfer: C by the generator that the format's author publishes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::{build_folder, first_error, Need};
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::language::cpp::c_struct::{self, CLibrary, Shape};
use crate::lowering::Lowering;

const VERSION: &str = "1.11.2";

inventory::submit! {
    Codec {
        name: "colfer",
        title: "Colfer C",
        format: "colfer",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &[
            "C, by colf 1.11.2 of the author's Maven plug-in",
            "the limits of sizes and lists are lifted; a list may have no more elements than the \
             message has bytes",
            "the generated code never frees memory: it allocates from an arena, whose memory is \
             kept between messages as scratch",
            "encode does not copy texts, bytes, and lists whose layout is the same: it points to \
             them",
            "no partial reads: fixed and element decode the whole message",
            "-0.0 outside of lists is refused: Colfer drops it, as it drops 0.0",
        ],
        calls: &[
            "encode: size = T_marshal_len(&message); T_marshal(&message, bytes)",
            "decode: T_unmarshal(&message, bytes, size)",
            "project, fixed, element: as decode, then the struct's members",
        ],
        needs: &[maven::NEED, Need::Program("jar", "default-jdk-headless")],
        check_type,
        idl: Some(idl),
        emit,
    }
}

/// As many fields as a header byte can number.
const FIELDS: usize = 127;

/// The Colfer type that carries a scalar.
fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 | Scalar::I16 | Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    let members = members(schema, record);
    if members.len() > FIELDS {
        return Support::Rejected(format!(
            "Colfer allows {FIELDS} fields in a record, but with the flags of optional fields \
             there are {}",
            members.len()
        ));
    }
    let mut lowerings = c_struct::lowerings(record);
    for slot in Colfer.format_fields(schema, record) {
        let field = &slot.field;
        if slot.number.is_some() {
            lowerings.push(Lowering::spread());
        }
        let scalar = schema.scalar(field.element);
        match Colfer.shape(schema, field) {
            Shape::Flagged(_) => lowerings.push(Lowering::flagged("value")),
            Shape::Packed(scalar) => lowerings.push(Lowering::new(
                format!("list of {} as binary", scalar.rust_name()),
                "the type of the elements, which stand there little-endian; Colfer has lists of \
                 floats, texts, binaries and records only",
            )),
            Shape::Value => {
                if let Some(scalar @ (Scalar::I8 | Scalar::I16)) = scalar {
                    lowerings.push(Lowering::widened(scalar, scalar_type(scalar)));
                }
            }
            _ => {}
        }
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::fixed_array());
        }
    }
    Support::lowered(lowerings)
}

/// Colfer's C code calls a type by words with underscores, and so does its
/// schema here, where nothing is left to be converted.
fn type_name(record: &Record) -> String {
    let mut name = String::new();
    for letter in record.name.legal.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    // Colfer's own types. No word of a legal name is a mere digit.
    if matches!(name.as_str(), "timestamp" | "binary") {
        name.push_str("_1");
    }
    name
}

/// Names and types of the members of a record, in order.
fn members(schema: &Schema, record: &Record) -> Vec<(String, String)> {
    let mut members = Vec::new();
    for slot in Colfer.format_fields(schema, record) {
        let field = &slot.field;
        let shape = Colfer.shape(schema, field);
        let of = match field.element {
            _ if matches!(shape, Shape::Packed(_)) => "binary".to_string(),
            Element::String => "text".into(),
            Element::Bytes => "binary".into(),
            Element::Record(id) => type_name(schema.record(id)),
            number => scalar_type(schema.scalar(number).expect("a number")).into(),
        };
        let of = if matches!(shape, Shape::List) { format!("[]{of}") } else { of };
        if let Shape::Flagged(flag) = shape {
            members.push((flag, "bool".into()));
        }
        members.push((field.name.legal.clone(), of));
    }
    if record.fields.is_empty() {
        members.push((c_struct::UNUSED.into(), "bool".into()));
    }
    members
}

/// `message.colf`.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = SourceWriter::new();
    code.line("package wg");
    for (_, record) in schema.records() {
        code.line("");
        code.block(format!("type {} struct {{", type_name(record)), "}", |code| {
            for (name, of) in members(schema, record) {
                code.line(format!("{name} {of}"));
            }
        });
    }
    Ok(File::new("message.colf", code.finish()))
}

struct Colfer;

impl CLibrary for Colfer {
    fn record_type(&self, record: &Record) -> String {
        format!("wg_{}", type_name(record))
    }

    fn shape(&self, schema: &Schema, field: &Field) -> Shape {
        match (field.cardinality, field.element) {
            (Cardinality::Optional, Element::Record(_)) => Shape::Nullable,
            (Cardinality::Optional, _) => Shape::Flagged(c_struct::flag_name(field)),
            (Cardinality::List { .. } | Cardinality::Array { .. }, element) => {
                match schema.scalar(element) {
                    Some(scalar) if !scalar.is_float() => Shape::Packed(scalar),
                    _ => Shape::List,
                }
            }
            (_, Element::Record(_)) => Shape::Pointer,
            _ => Shape::Value,
        }
    }

    fn list_arguments(&self, object: &str, field: &Field) -> String {
        format!("{object}.{0}.list, {object}.{0}.len", field.name.legal)
    }

    fn format_fields(&self, schema: &Schema, record: &Record) -> Vec<FlattenedField> {
        flattened_field::flatten_fields(schema, record)
    }
}

/// `admit`: refuses a negative zero, which Colfer leaves out. Lists may hold one.
fn admit(schema: &Schema, code: &mut SourceWriter) {
    let open =
        |name: &str| format!("inline void admit([[maybe_unused]] const message::{name} &from)");
    code.line("");
    for (_, record) in schema.records() {
        code.line(format!("{};", open(&record.name.legal)));
    }
    for (_, record) in schema.records() {
        code.block(format!("{} {{", open(&record.name.legal)), "}", |code| {
            for FlattenedField { field, value, .. } in Colfer.format_fields(schema, record) {
                let is_float = schema.scalar(field.element).is_some_and(Scalar::is_float);
                let check = match field.element {
                    Element::Record(_) => "admit",
                    _ if is_float => "check_sign",
                    _ => continue,
                };
                match field.cardinality {
                    Cardinality::List { .. } | Cardinality::Array { .. } if is_float => {}
                    Cardinality::List { .. } | Cardinality::Array { .. } => {
                        code.line(format!(
                            "for (const auto &value : from.{value}) {check}(value);"
                        ));
                    }
                    Cardinality::Optional => {
                        code.line(format!("if (from.{value}) {check}(*from.{value});"));
                    }
                    _ => code.line(format!("{check}(from.{value});")),
                }
            }
        });
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = cpp::begin_glue(&["message.hpp", "values.hpp"]);
    code.line("namespace c_struct {");
    c_struct::glue(unit, &Colfer, &mut code);
    admit(schema, &mut code);
    code.line("");
    code.line("}  // namespace c_struct");
    code.line("");
    code.line("// What Colfer's generator made for the message, and which one it is.");
    code.line("namespace generated {");
    let root = Colfer.record_type(schema.root());
    for function in ["marshal_len", "marshal", "unmarshal"] {
        code.line(format!("inline constexpr auto &{function} = {root}_{function};"));
    }
    code.line(format!("inline constexpr char kVersion[] = \"{VERSION}\";"));
    code.line("}  // namespace generated");
    Ok(Emission {
        files: vec![
            idl(schema)?,
            File::new("main.cpp", include_str!("colfer/main.cpp")),
            File::new("values.hpp", include_str!("colfer/values.hpp")),
            File::new("library.c", include_str!("colfer/library.c")),
            File::new("glue.hpp", code.finish()),
        ],
        steps: vec![GeneratorStep::Call(Box::new(generate))],
        sources: vec!["main.cpp".into(), "library.c".into()],
        ..Emission::default()
    })
}

/// Has the author's generator make `Colfer.c` and `Colfer.h`.
fn generate(folder: &Path) -> Result<()> {
    let colf = generator(folder)?;
    let output = Command::new(&colf)
        .args(["C", "message.colf"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", colf.display()))?;
    if !output.status.success() {
        bail!("colf failed: {}", first_error(&[&String::from_utf8_lossy(&output.stderr)]));
    }
    Ok(())
}

/// What the generator comes in.
const PLUGIN: Jar = Jar {
    coordinates: "net.quies.colfer:colfer-maven-plugin:1.11.2",
    sha256: "81ec30b9ef5d84d57414d8174e02cfdc83b53f0d9ab8b8c99e40d8d065facbcb",
};

/// The generator. It is a program inside the plug-in's jar, and comes to stand
/// beside it.
fn generator(folder: &Path) -> Result<PathBuf> {
    if !cfg!(target_arch = "x86_64") {
        bail!("Colfer's generator is published for x86-64 only");
    }
    let jar = maven::jar(build_folder(folder)?, &PLUGIN)?;
    let program = jar.with_file_name(format!("colf-{VERSION}"));
    if program.exists() {
        return Ok(program);
    }
    const INSIDE: &str = "amd64/colf-linux";
    let status = Command::new("jar")
        .arg("--extract")
        .arg("--file")
        .arg(&jar)
        .arg(INSIDE)
        .current_dir(folder)
        .stdin(Stdio::null())
        .status()
        .context("cannot start jar; apt-get install default-jdk-headless")?;
    let extracted = folder.join(INSIDE);
    if !status.success() || !extracted.exists() {
        bail!("{} holds no {INSIDE}", jar.display());
    }
    fs::set_permissions(&extracted, fs::Permissions::from_mode(0o755))?;
    // In one step, so that nobody sees half a program.
    fs::rename(&extracted, &program)
        .with_context(|| format!("cannot put {} in its place", program.display()))?;
    Ok(program)
}
