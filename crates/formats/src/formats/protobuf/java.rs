//! Protobuf's own Java library: the classes that its compiler makes, and its runtime in
//! the same release.

use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Result};
use wiregauge_build_tools::maven::{self, Jar};
use wiregauge_build_tools::run;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use super::{as_bytes, definition, Syntax};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::language::java::base_codec::object_codec;
use crate::language::java::glue::{numbers_file, JavaLibrary};
use crate::language::java::message::JavaMessage;
use crate::language::java::number::JavaNumber;

const JARS: &[Jar] = &[Jar {
    coordinates: "com.google.protobuf:protobuf-java:4.36.2",
    sha256: "0773e72eaf375e1285df330575bfec5bda5da674d544d0e142a17f89c8f754da",
}];
/// What makes the classes: the distribution's is of another release, and what is of a newer
/// one than the runtime does not run, of an older one not as its makers mean it.
const PROTOC: Jar = Jar {
    coordinates: "com.google.protobuf:protoc:4.36.2:exe:linux-x86_64",
    sha256: "f6ee22d65361338459208da8bff801c9ca689741cba9187b34990dd45198f864",
};

inventory::submit! {
    Codec {
        name: "protobuf-java",
        title: "Protobuf Java",
        format: "protobuf",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("protobuf-java"),
        options: &[
            "classes by the protoc of the same version (from Maven Central, for x86-64 only), \
             optimize_for = SPEED, the default",
            "messages are immutable: builders make a new one each time, also with --objects \
             reused; numbers of lists are set by addX(value) and read by getX(index), without \
             boxes",
            "bytes are copied into a ByteString and out of it (copyFrom, toByteArray), as the \
             library does unless the program promises not to change them",
            "a message remembers its size: each is written only once where writing alone is timed",
            "for one number the whole message is parsed: no CodedInputStream by hand",
        ],
        calls: &[
            "encode: Message.newBuilder()….build(); message.getSerializedSize(); \
             message.writeTo(CodedOutputStream.newInstance(array, 0, size))",
            "decode: Message.parseFrom(buffer), then its fields",
            "project, fixed, element: as decode, the message's fields alone",
        ],
        needs: NEEDS_WITH_JARS,
        check_type,
        idl: Some(idl),
        emit,
    }
}

/// The definition, with what Java's classes are called.
fn idl(schema: &Schema) -> Result<File> {
    let named = renamed(schema);
    let file = definition(&named, Syntax::Proto3);
    let options = format!("package wg;\noption java_outer_classname = \"{}\";\n", outer(schema));
    Ok(File::new(file.path, file.text.replacen("package wg;\n", &options, 1)))
}

/// The class that holds the others, which none of them may be called.
fn outer(schema: &Schema) -> String {
    let mut name = "Messages".to_owned();
    while schema.records().any(|(_, record)| record.name.legal.eq_ignore_ascii_case(&name)) {
        name.push('s');
    }
    name
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    match &schema.types[id] {
        TypeDef::Record(record) if record.name.legal == "SuppressWarnings" => {
            Support::Rejected("protoc's classes use Java's own type of this name".into())
        }
        _ => super::check_type(schema, id),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let library = Messages { schema: renamed(unit.schema), outer: outer(unit.schema) };
    let mut files = form.files(&[])?;
    files.push(idl(unit.schema)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.extend(object_codec());
    files.push(File::new("Numbers.java", numbers_file(&form, &library)));
    files.push(File::new("Glue.java", glue(&form, &library)));
    Ok(Emission {
        files,
        steps: vec![GeneratorStep::Call(Box::new(compile))],
        sources: vec![format!("wg/{}.java", library.outer)],
        jars: JARS,
        ..Emission::default()
    })
}

/// Runs Protobuf's compiler in the runner's folder.
fn compile(folder: &Path) -> Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "protoc 4.36.2, which makes the classes, is pinned for x86-64 only; measure it there"
    );
    let protoc = maven::program(folder, &PROTOC)?;
    let mut command = Command::new(protoc);
    run(command.args(["--java_out=.", "message.proto"]).current_dir(folder), "protoc").map(|_| ())
}

/// Its messages, and what their fields are called in them.
struct Messages {
    schema: Schema,
    outer: String,
}

impl Messages {
    /// What accessors of a field are called behind `get`.
    fn accessor(&self, id: TypeId, slot: &FlattenedField) -> String {
        let slots = flattened_field::flatten_fields(&self.schema, self.schema.record(id));
        let own = slots.iter().find(|own| own.place == slot.place && own.number == slot.number);
        camel(&own.expect("the same slots").field.name.legal)
    }
}

impl JavaLibrary for Messages {
    fn format_fields(&self, form: &JavaMessage, id: TypeId) -> Vec<FlattenedField> {
        flattened_field::flatten_fields(form.schema, form.schema.record(id))
    }

    fn class(&self, _: &JavaMessage, id: TypeId) -> String {
        format!("wg.{}.{}", self.outer, self.schema.record(id).name.legal)
    }

    fn get(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        format!("{at}.get{}()", self.accessor(id, slot))
    }

    fn is_present(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        format!("{at}.has{}()", self.accessor(id, slot))
    }

    fn list_length(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        match as_bytes(&slot.field) {
            true => format!("{}.size()", self.get(form, at, id, slot)),
            false => format!("{at}.get{}Count()", self.accessor(id, slot)),
        }
    }

    fn element_at(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        match as_bytes(&slot.field) {
            true => format!("{}.byteAt(i)", self.get(form, at, id, slot)),
            false => format!("{at}.get{}(i)", self.accessor(id, slot)),
        }
    }

    fn octets_length(&self, value: &str) -> String {
        format!("{value}.size()")
    }

    fn sum_term(&self, number: JavaNumber, value: &str, _: bool) -> String {
        // Unsigned ones are by their bits everywhere.
        number.sum_term(value, true)
    }
}

/// A field's name as the compiler makes one of Java of it.
fn camel(name: &str) -> String {
    let mut text = String::new();
    let mut begins = true;
    for letter in name.chars() {
        match letter {
            'a'..='z' if begins => text.push(letter.to_ascii_uppercase()),
            'a'..='z' | 'A'..='Z' | '0'..='9' => text.push(letter),
            _ => {}
        }
        begins = !letter.is_ascii_alphabetic();
    }
    text
}

/// The schema with other names where accessors of two fields would be called the same, which
/// the bytes know nothing of.
fn renamed(schema: &Schema) -> Schema {
    const DERIVED: [&str; 7] =
        ["Count", "List", "Bytes", "Builder", "OrBuilder", "BuilderList", "OrBuilderList"];
    const OWN: [&str; 9] = [
        "Class",
        "DefaultInstanceForType",
        "ParserForType",
        "SerializedSize",
        "AllFields",
        "DescriptorForType",
        "InitializationErrorString",
        "UnknownFields",
        "CachedSize",
    ];
    let mut schema = schema.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        let mut all: Vec<String> = record.fields.iter().map(|f| camel(&f.name.legal)).collect();
        for place in 0..all.len() {
            let others = |all: &[String], name: &str| {
                let mut others = all.iter().enumerate().filter(|(other, _)| *other != place);
                OWN.contains(&name)
                    || others.any(|(_, other)| {
                        other == name
                            || name.strip_prefix(&**other).is_some_and(|e| DERIVED.contains(&e))
                    })
            };
            let field = &mut record.fields[place];
            while others(&all, &all[place]) {
                field.name.legal.push_str("_x");
                all[place] = camel(&field.name.legal);
            }
        }
    }
    schema
}

/// `Glue.java`: `make`, `parse` and `take`.
fn glue(form: &JavaMessage, library: &Messages) -> String {
    let root = form.schema.root;
    let (name, class, own) = (form.name(root), library.class(form, root), form.class(root));
    let mut code = SourceWriter::indented(4);
    code.line("// Generated by wiregauge: the normalized form to Protobuf's messages and back.");
    code.line("import com.google.protobuf.ByteString;\nimport java.nio.ByteBuffer;\n");
    code.open("final class Glue {");
    code.open("static Object make(Object m) {");
    code.line(format!("return make_{name}(({own}) m);"));
    code.close("}");
    code.open(format!("\nstatic {class} parse(ByteBuffer wire) throws Exception {{"));
    code.line(format!("return {class}.parseFrom(wire);"));
    code.close("}");
    code.open("\nstatic Object take(Object o) {");
    code.line(format!("return take_{name}(({class}) o);"));
    code.close("}");
    code.open("\nprivate static void fixed(int length, int wanted) {");
    code.open("if (length != wanted) {");
    code.line("throw new IllegalArgumentException(\"an array has \" + length + \" elements, not \" + wanted);");
    code.close("}");
    code.close("}");
    for (id, record) in form.schema.records() {
        let glue = Glue { form, library, id, record };
        glue.make(&mut code);
        glue.take(&mut code);
    }
    code.close("}");
    code.finish()
}

/// The glue of a record.
struct Glue<'a> {
    form: &'a JavaMessage<'a>,
    library: &'a Messages,
    id: TypeId,
    record: &'a Record,
}

impl Glue<'_> {
    fn make(&self, code: &mut SourceWriter) {
        let (form, library, id) = (self.form, self.library, self.id);
        let (class, own) = (library.class(form, id), form.class(id));
        code.open(format!("\nprivate static {class} make_{}({own} m) {{", form.name(id)));
        code.line(format!("{class}.Builder b = {class}.newBuilder();"));
        for slot in flattened_field::flatten_fields(form.schema, self.record) {
            let (member, name) =
                (self.form.member_access("m", self.id, &slot), library.accessor(id, &slot));
            let value =
                |value: &str, boxed: bool| match (slot.field.element, form.number(&slot.field)) {
                    (Element::Record(inner), _) => format!("make_{}({value})", form.name(inner)),
                    (Element::Bytes, _) => format!("ByteString.copyFrom({value})"),
                    (_, Some(number)) => to_message(number, value, &slot, boxed),
                    _ => value.to_owned(),
                };
            match slot.field.cardinality {
                Cardinality::Required | Cardinality::Implicit => {
                    code.line(format!("b.set{name}({});", value(&member, false)));
                }
                Cardinality::Optional => {
                    code.open(format!("if ({member} != null) {{"));
                    code.line(format!("b.set{name}({});", value(&member, true)));
                    code.close("}");
                }
                _ if as_bytes(&slot.field) => {
                    code.line(format!("b.set{name}(ByteString.copyFrom({member}));"));
                }
                Cardinality::List { .. } | Cardinality::Array { .. } => {
                    code.open(format!("for (var e : {member}) {{"));
                    code.line(format!("b.add{name}({});", value("e", false)));
                    code.close("}");
                }
            }
        }
        code.line("return b.build();");
        code.close("}");
    }

    fn take(&self, code: &mut SourceWriter) {
        let (form, library, id) = (self.form, self.library, self.id);
        let (class, own) = (library.class(form, id), form.class(id));
        code.open(format!("\nprivate static {own} take_{}({class} o) {{", form.name(id)));
        code.line(format!("{own} m = new {own}();"));
        for slot in flattened_field::flatten_fields(form.schema, self.record) {
            let field = &slot.field;
            let member = self.form.member_access("m", self.id, &slot);
            let value = |value: &str| match (field.element, form.number(field)) {
                (Element::Record(inner), _) => format!("take_{}({value})", form.name(inner)),
                (Element::Bytes, _) => format!("{value}.toByteArray()"),
                (_, Some(number)) => from_message(number, value, &slot),
                _ => value.to_owned(),
            };
            let get = library.get(form, "o", id, &slot);
            let count = library.list_length(form, "o", id, &slot);
            if let Cardinality::Array { len } = field.cardinality {
                code.line(format!("fixed({count}, {len});"));
            }
            match (field.cardinality, form.number(field)) {
                (Cardinality::Required | Cardinality::Implicit, _) => match field.element {
                    Element::Record(_) => {
                        code.open(format!("if ({}) {{", library.is_present(form, "o", id, &slot)));
                        code.line(format!("{member} = {};", value(&get)));
                        code.close("}");
                    }
                    _ => code.line(format!("{member} = {};", value(&get))),
                },
                (Cardinality::Optional, _) => {
                    code.open(format!("if ({}) {{", library.is_present(form, "o", id, &slot)));
                    code.line(format!("{member} = {};", value(&get)));
                    code.close("}");
                }
                _ if as_bytes(field) => code.line(format!("{member} = {get}.toByteArray();")),
                (_, Some(number)) => {
                    let at = from_message(number, &library.element_at(form, "o", id, &slot), &slot);
                    code.line(format!("{member} = new {}[{count}];", number.element_type()));
                    code.open(format!("for (int i = 0; i < {member}.length; i++) {{"));
                    code.line(format!("{member}[i] = {at};"));
                    code.close("}");
                }
                (cardinality, None) => {
                    let at = value(&library.element_at(form, "o", id, &slot));
                    code.open(format!("for (int i = 0, n = {count}; i < n; i++) {{"));
                    code.line(match cardinality {
                        Cardinality::Array { .. } => format!("{member}[i] = {at};"),
                        _ => format!("{member}.add({at});"),
                    });
                    code.close("}");
                }
            }
        }
        code.line("return m;");
        code.close("}");
    }
}

/// Whether a number is of an array in the normalized form, where it is by its bits.
fn is_packed(field: &Field, slot: &FlattenedField) -> bool {
    slot.number.is_some()
        || matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// A number of the normalized form as Protobuf's messages take it.
fn to_message(number: JavaNumber, value: &str, slot: &FlattenedField, boxed: bool) -> String {
    match (number.0, is_packed(&slot.field, slot)) {
        (Scalar::U8, true) => format!("{value} & 0xff"),
        (Scalar::U16, true) => format!("{value} & 0xffff"),
        (Scalar::U32, false) if boxed => format!("{value}.intValue()"),
        (Scalar::U32, false) => format!("(int) {value}"),
        _ => value.to_owned(),
    }
}

/// A number of Protobuf's messages as the normalized form has it.
fn from_message(number: JavaNumber, value: &str, slot: &FlattenedField) -> String {
    match (number.0, is_packed(&slot.field, slot)) {
        (Scalar::U8, true) | (Scalar::I8, _) => format!("(byte) {value}"),
        (Scalar::U16, true) | (Scalar::I16, _) => format!("(short) {value}"),
        (Scalar::U8, false) => format!("{value} & 0xff"),
        (Scalar::U16, false) => format!("{value} & 0xffff"),
        (Scalar::U32, false) => format!("{value} & 0xffffffffL"),
        _ => value.to_owned(),
    }
}
