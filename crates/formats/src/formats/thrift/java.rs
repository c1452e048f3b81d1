//! Thrift's own Java library: the classes of the machine's compiler, by the jar of its
//! release.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use wiregauge_build_tools::maven::Jar;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, FieldPath};
use wiregauge_schema::{Cardinality, Element, Field, Scalar, Schema, TypeDef, TypeId};

use super::{idl, member_name, slots};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::language::java::accumulator::Accumulator;
use crate::language::java::base_codec::object_codec;
use crate::language::java::glue::{jar_name, library_file, numbers_file, JavaLibrary};
use crate::language::java::message::JavaMessage;
use crate::language::java::number::JavaNumber;
use crate::language::java::objects::{self, JavaObjects};
use crate::language::java::plain_objects::{self, CANONICAL_NANS};

const NEEDS: &[Need] =
    &[NEEDS_WITH_JARS[0], NEEDS_WITH_JARS[1], NEEDS_WITH_JARS[2], super::NEEDS[0]];

const CALLS: &[&str] = &[
    "encode: transport.reset(); object.write(protocol); transport.getBuf().array()",
    "decode: transport.reset(array, from, length); object.read(protocol), then its members",
    "project: as decode, the object's members alone",
    "fixed, element: protocol.readFieldBegin(), readListBegin(), TProtocolUtil.skip(protocol, \
     type) of what stands before",
];

inventory::submit! {
    Codec {
        name: "thrift-java",
        title: "Thrift Java binary",
        format: "thrift",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("libthrift"),
        options: &[
            "TBinaryProtocol, and the jar of the machine's compiler: 0.17.0, 0.19.0 or 0.24.0; for \
             another compiler the next newer jar",
            "--gen java:unsafe_binaries, so that setters do not copy bytes; lists are ArrayLists \
             of boxed values",
            "objects are new for each message, also with --objects reused: with --gen \
             java:reuse_objects an absent optional record would read as present",
            "writes into an AutoExpandingBufferWriteTransport that is kept and handed over \
             uncopied: TSerializer copies the bytes once more, TMemoryBuffer locks for each write; \
             reads by TMemoryInputTransport in place, as TDeserializer does",
            "the library's limit of a message is set to the message's size; it does not limit the \
             count of a list of records, so this count is checked against the remaining bytes",
            CANONICAL_NANS,
            "fixed and element read by the protocol, which skips everything before by the \
             library's skip()",
        ],
        calls: CALLS,
        needs: NEEDS,
        check_type,
        idl: Some(definition),
        emit: |unit| emit(unit, "TBinaryProtocol"),
    }
}

inventory::submit! {
    Codec {
        name: "thrift-java-compact",
        title: "Thrift Java compact",
        format: "thrift-compact",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("libthrift"),
        options: &["TCompactProtocol; otherwise as in the binary protocol"],
        calls: CALLS,
        needs: NEEDS,
        check_type,
        idl: Some(definition),
        emit: |unit| emit(unit, "TCompactProtocol"),
    }
}

/// The library by its release, oldest first. Each was tried with the compiler of its
/// release. Classes compile with a newer library, those of 0.24.0 with no older one.
const JARS: [(&str, &[Jar]); 3] = [
    (
        "0.17.0",
        &[Jar {
            coordinates: "org.apache.thrift:libthrift:0.17.0",
            sha256: "91135681b23af6132865725509f1ba8e7f8a0d89076b6105ce4d9b9fec4024cc",
        }],
    ),
    (
        "0.19.0",
        &[Jar {
            coordinates: "org.apache.thrift:libthrift:0.19.0",
            sha256: "2b6e6550b40467ede7b3034a1a9eb9148fbf920cfdae5bf0b1d2bb3d4e780625",
        }],
    ),
    (
        "0.24.0",
        &[Jar {
            coordinates: "org.apache.thrift:libthrift:0.24.0",
            sha256: "b72e321ff144e3e5211964764bd45794b96fdf250085f153c44416b35df89a07",
        }],
    ),
];

/// The library for the compiler on the path, which is asked once.
fn jars() -> Result<&'static [Jar]> {
    static SAID: OnceLock<Option<String>> = OnceLock::new();
    let said = SAID.get_or_init(|| {
        let thrift = Command::new("thrift").arg("--version").stdin(Stdio::null()).output();
        thrift.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    });
    jars_of(said.as_deref().context("cannot start thrift; apt-get install thrift-compiler")?)
}

/// By what the compiler says: `Thrift version 0.17.0`.
fn jars_of(said: &str) -> Result<&'static [Jar]> {
    let own = said.trim().rsplit(' ').next().unwrap_or_default();
    let wanted = numbers(own)
        .with_context(|| format!("thrift does not say its version: {}", said.trim()))?;
    let is_enough = |version: &str| numbers(version).is_some_and(|known| known >= wanted);
    let found = JARS.iter().find(|(version, _)| is_enough(version));
    let (newest, _) = JARS[JARS.len() - 1];
    found.map(|(_, jars)| *jars).with_context(|| {
        format!(
            "the classes of thrift {own} need the jar of that release, but {newest} is the newest \
             known jar; install thrift {newest} or older"
        )
    })
}

/// A version as numbers that can be compared.
fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|number| number.parse().ok()).collect()
}

/// The most that a method may take, itself among it and a number of eight bytes counted twice.
const MAX_ARGUMENTS: usize = 255;

fn check_type(schema: &Schema, id: TypeId) -> Support {
    if let TypeDef::Record(record) = &schema.types[id] {
        let slots = slots(schema, record);
        let count = 1 + slots.iter().map(|slot| arguments(schema, &slot.field)).sum::<usize>();
        if count > MAX_ARGUMENTS {
            return Support::Rejected(format!(
                "its class would have a constructor that takes {count} arguments, and one of Java \
                 takes {MAX_ARGUMENTS}"
            ));
        }
    }
    super::check_type(schema, id)
}

/// How many arguments a field is of its class's constructor.
fn arguments(schema: &Schema, field: &Field) -> usize {
    let size = schema.scalar(field.element).map(|scalar| carrier(JavaNumber(scalar)).0.size());
    match (field.cardinality, size) {
        (Cardinality::Optional, _) => 0,
        (Cardinality::Required | Cardinality::Implicit, Some(8)) => 2,
        _ => 1,
    }
}

/// The definition, with names that Java can have.
fn definition(schema: &Schema) -> Result<File> {
    idl(&renamed(schema), "java")
}

/// The schema with other names where classes use them for what is Java's. No legal name
/// ends like these, and bytes know nothing of names.
fn renamed(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        if let "Cloneable" | "Comparable" | "SuppressWarnings" = &*record.name.legal {
            record.name.legal.push('_');
        }
        for field in &mut record.fields {
            if let "java" | "org" = &*field.name.legal {
                field.name.legal.push('_');
            }
        }
    }
    schema
}

fn emit(unit: &Unit, protocol: &str) -> Result<Emission> {
    let jars = jars()?;
    let form = JavaMessage::new(unit)?;
    let library = Structures { schema: renamed(unit.schema) };
    let mut files = form.files(&[])?;
    files.push(definition(unit.schema)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.extend(object_codec());
    files.push(File::new("Fields.java", include_str!("java/Fields.java")));
    files.push(File::new("Nans.java", plain_objects::NANS));
    files.push(File::new("Protocol.java", self::protocol(protocol)));
    files.push(File::new("Numbers.java", numbers_file(&form, &library)));
    files.push(File::new("Glue.java", glue(&form, &library)));
    files.push(library_file(&jar_name(&jars[0])));
    let names = library.schema.records().map(|(_, record)| record.name.legal.clone());
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::command([
            "thrift",
            "--gen",
            "java:generated_annotations=suppress,unsafe_binaries",
            "-out",
            ".",
            "message.thrift",
        ])],
        sources: names.map(|name| format!("wg/{name}.java")).collect(),
        jars,
        ..Emission::default()
    })
}

/// `Protocol.java`: the protocol, with the count of a list held against what is left.
fn protocol(name: &str) -> String {
    let mut code = SourceWriter::indented(4);
    code.line("// Generated by wiregauge: the protocol.");
    code.line(format!(
        "import org.apache.thrift.TException;\nimport org.apache.thrift.protocol.{name};"
    ));
    code.line("import org.apache.thrift.protocol.TList;");
    code.line("import org.apache.thrift.transport.TTransport;\n");
    code.open(format!("final class Protocol extends {name} {{"));
    code.open("Protocol(TTransport transport) {");
    code.line("super(transport);");
    code.close("}\n");
    code.line("@Override");
    code.open("public TList readListBegin() throws TException {");
    code.line("TList list = super.readListBegin();");
    code.open("if (list.size > trans_.getBytesRemainingInBuffer()) {");
    code.line("throw new IllegalArgumentException(\"more elements than bytes\");");
    code.close("}");
    code.line("return list;");
    code.close("}");
    code.close("}");
    code.finish()
}

/// The number of Java's that carries one: what Thrift has is signed.
fn carrier(number: JavaNumber) -> JavaNumber {
    JavaNumber(match super::scalar_type(number.0) {
        "i8" => Scalar::I8,
        "i16" => Scalar::I16,
        "i32" => Scalar::I32,
        "i64" => Scalar::I64,
        "double" => Scalar::F64,
        _ => number.0,
    })
}

/// A field's name as methods have it.
fn upper(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// Its classes, and what their members are called.
struct Structures {
    schema: Schema,
}

impl Structures {
    fn name(&self, id: TypeId, slot: &FlattenedField) -> String {
        let slots = slots(&self.schema, self.schema.record(id));
        let own = slots.iter().find(|own| own.place == slot.place && own.number == slot.number);
        member_name(&own.expect("the same slots").field)
    }
}

impl JavaLibrary for Structures {
    fn format_fields(&self, form: &JavaMessage, id: TypeId) -> Vec<FlattenedField> {
        slots(form.schema, form.schema.record(id))
    }

    fn class(&self, _: &JavaMessage, id: TypeId) -> String {
        format!("wg.{}", self.schema.record(id).name.legal)
    }

    fn get(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        format!("{at}.{}", self.name(id, slot))
    }

    fn is_present(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        format!("{at}.isSet{}()", upper(&self.name(id, slot)))
    }

    fn list_length(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        let value = self.get(form, at, id, slot);
        match slot.field.repeats_octets() {
            true => self.octets_length(&value),
            false => format!("{value}.size()"),
        }
    }

    fn element_at(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        let value = self.get(form, at, id, slot);
        match slot.field.repeats_octets() {
            true => objects::octet(&value),
            false => format!("{value}.get(i)"),
        }
    }

    fn octets_length(&self, value: &str) -> String {
        format!("{value}.remaining()")
    }

    fn sum_term(&self, number: JavaNumber, value: &str, _: bool) -> String {
        // Unsigned ones are by their bits everywhere.
        number.sum_term(value, true)
    }

    fn number_bits(&self, number: JavaNumber, value: &str) -> String {
        match number.0 {
            Scalar::F32 => number.bits(&format!("(float) (double) {value}")),
            _ => number.bits(value),
        }
    }
}

impl JavaObjects for Structures {
    fn set(&self, id: TypeId, slot: &FlattenedField, value: &str) -> String {
        format!("o.set{}({value});", upper(&self.name(id, slot)))
    }

    fn carrier(&self, number: JavaNumber) -> JavaNumber {
        carrier(number)
    }
}

/// `Glue.java`: `make`, `write`, `read` and `take`, and one number by the protocol.
fn glue(form: &JavaMessage, library: &Structures) -> String {
    let root = form.schema.root;
    let (name, class, own) = (form.name(root), library.class(form, root), form.class(root));
    let mut code = SourceWriter::indented(4);
    code.line("// Generated by wiregauge: the normalized form to Thrift's classes and back.");
    code.line("import java.nio.ByteBuffer;\nimport java.util.ArrayList;\nimport java.util.List;");
    code.line("import org.apache.thrift.TException;\nimport org.apache.thrift.protocol.TProtocol;");
    code.line("import org.apache.thrift.protocol.TType;\nimport wiregauge_runner.Tally;\n");
    code.open("final class Glue {");
    code.open("static Object make(Object m) {");
    code.line(format!("return make_{name}(({own}) m);"));
    code.close("}");
    code.open("\nstatic void write(Object o, TProtocol out) throws TException {");
    code.line(format!("(({class}) o).write(out);"));
    code.close("}");
    code.open("\nstatic Object read(TProtocol in) throws TException {");
    code.line(format!("{class} o = new {class}();\no.read(in);\nreturn o;"));
    code.close("}");
    code.open("\nstatic Object take(Object o) {");
    code.line(format!("return take_{name}(({class}) o);"));
    code.close("}");
    objects::write_records(form, library, &mut code);
    let projection = form.unit.projection;
    for (name, path) in [("fixed", &projection.fixed), ("element", &projection.element)] {
        for reading in Accumulator::ALL {
            walk(form, library, reading, name, path.as_ref(), &mut code);
        }
    }
    code.close("}");
    code.finish()
}

/// The library's constant of an element's type on the wire.
fn wire_type(form: &JavaMessage, field: &Field) -> &'static str {
    match (field.element, form.number(field).map(|number| carrier(number).0)) {
        (Element::Record(_), _) => "TType.STRUCT",
        (_, None) => "TType.STRING",
        (_, Some(Scalar::Bool)) => "TType.BOOL",
        (_, Some(Scalar::I8)) => "TType.BYTE",
        (_, Some(Scalar::I16)) => "TType.I16",
        (_, Some(Scalar::I32)) => "TType.I32",
        (_, Some(Scalar::I64)) => "TType.I64",
        (_, Some(_)) => "TType.DOUBLE",
    }
}

/// The next number.
fn read(number: JavaNumber) -> &'static str {
    match (number.0, carrier(number).0) {
        (Scalar::F32, _) => "(float) in.readDouble()",
        (_, Scalar::Bool) => "in.readBool()",
        (_, Scalar::I8) => "in.readByte()",
        (_, Scalar::I16) => "in.readI16()",
        (_, Scalar::I32) => "in.readI32()",
        (_, Scalar::I64) => "in.readI64()",
        _ => "in.readDouble()",
    }
}

/// `fixed` or `element`, or what proves it: one number, all before it skipped.
fn walk(
    form: &JavaMessage,
    library: &Structures,
    reading: Accumulator,
    name: &str,
    path: Option<&FieldPath>,
    code: &mut SourceWriter,
) {
    let nothing = reading.return_empty();
    let (kind, method) = (reading.result_type(), reading.method_name(name));
    code.open(format!("\nstatic {kind} {method}(TProtocol in) throws TException {{"));
    let absent = |condition: String, code: &mut SourceWriter| {
        code.open(format!("if ({condition}) {{"));
        code.line(nothing);
        code.close("}");
    };
    let mut id = form.schema.root;
    let mut found = None;
    for (depth, step) in path.into_iter().flatten().enumerate() {
        let slots = library.format_fields(form, id);
        let Some((slot, index)) = flattened_field::find_step(&slots, step) else { break };
        let field = &slot.field;
        let element = wire_type(form, field);
        let outer = match field.cardinality {
            _ if field.repeats_octets() => "TType.STRING",
            Cardinality::List { .. } | Cardinality::Array { .. } => "TType.LIST",
            _ => element,
        };
        absent(format!("!Fields.find(in, {}, {outer})", field.id), code);
        let (n, i) = (format!("n{depth}"), format!("i{depth}"));
        match field.cardinality {
            _ if field.repeats_octets() => {
                code.line(format!(
                    "ByteBuffer octets = in.readBinary();\nint {n} = octets.remaining();"
                ));
            }
            Cardinality::List { .. } | Cardinality::Array { .. } => {
                code.line(format!("int {n} = Fields.list(in, {element});"));
            }
            _ => {}
        }
        if !matches!(index, ElementIndex::Single) {
            code.line(match index {
                ElementIndex::At(at) => format!("int {i} = {at};"),
                _ => format!("int {i} = {n} / 2;"),
            });
            absent(format!("{i} >= {n}"), code);
        }
        match (field.element, form.number(field)) {
            (_, Some(number)) if field.repeats_octets() => {
                found = Some((number, format!("octets.get(octets.position() + {i})")));
                break;
            }
            _ if outer == "TType.LIST" => code.line(format!("Fields.skip(in, {element}, {i});")),
            _ => {}
        }
        match (field.element, form.number(field)) {
            (Element::Record(inner), _) => id = inner,
            (_, number) => {
                let number = number.expect("a path leads to a number");
                found = Some((number, read(number).to_owned()));
            }
        }
    }
    match (found, reading) {
        (None, _) => code.line(nothing),
        (Some((number, value)), Accumulator::Sum) => {
            code.line(format!("return {};", number.sum_term(&value, true)));
        }
        (Some((number, value)), Accumulator::Exact) => {
            code.line("Tally t = new Tally();");
            code.line(format!("t.number(0, {});\nreturn t;", number.bits(&value)));
        }
    }
    code.close("}");
}

#[cfg(test)]
mod tests {
    use wiregauge_schema::msg::{self, Dialect};

    use super::*;

    #[test]
    fn a_compiler_has_the_jar_of_its_release_or_the_next_newer_one() {
        for (thrift, version) in [
            ("0.16.0", "0.17.0"),
            ("0.17.0", "0.17.0"),
            ("0.18.1", "0.19.0"),
            ("0.19.0", "0.19.0"),
            ("0.24.0", "0.24.0"),
        ] {
            let found = jars_of(&format!("Thrift version {thrift}\n")).expect(thrift);
            assert!(found[0].coordinates.ends_with(&format!(":{version}")), "{thrift}");
        }
        let refusal = |said: &str| jars_of(said).unwrap_err().to_string();
        assert_eq!(
            refusal("Thrift version 0.25.0"),
            "the classes of thrift 0.25.0 need the jar of that release, but 0.24.0 is the newest \
             known jar; install thrift 0.24.0 or older"
        );
        assert_eq!(refusal("Thrift"), "thrift does not say its version: Thrift");
    }

    #[test]
    fn a_record_of_more_than_a_constructor_takes_is_refused() {
        let refusal = |numbers: usize| {
            let text: String = (0..numbers).map(|at| format!("float64 n{at}\n")).collect();
            let schema = msg::read_text(&text, "pkg/msg/Root", Dialect::Ros2, "root.msg");
            let schema = schema.expect("it reads");
            match check_type(&schema, schema.root) {
                Support::Rejected(why) => Some(why),
                _ => None,
            }
        };
        assert_eq!(refusal(127), None);
        let why = refusal(128).expect("it is refused");
        assert!(why.contains("takes 257 arguments"), "{why}");
    }
}
