//! Java 17: a package of final classes, and beside it the package of the wires, the
//! same for all holders.

mod equality;
mod method_parts;
mod scalar;
mod tagged;
mod text;
mod wire;

use std::collections::{BTreeSet, HashSet};

use anyhow::{ensure, Result};
use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::literal::{self, Literal};
use wiregauge_schema::{Cardinality, Element, Enum, Field, Record, Schema, TypeDef, TypeId};

use self::equality::EqualityMethod;
use self::method_parts::joined;
use self::scalar::JavaScalar;
use self::text::{block, quoted, text_literal};
use crate::definition::Package;
use crate::doc_comment;
use crate::identity::{self, TypeIdentity};
use crate::names::{Names, Rules};
use crate::wire::Wire;

const RULES: Rules = Rules {
    keywords: "abstract assert boolean break byte case catch char class const continue default do \
               double else enum extends false final finally float for goto if implements import \
               instanceof int interface long native new null package private protected public \
               return short static strictfp super switch synchronized this throw throws transient \
               true try void volatile while",
    macros: "",
    // Beside constants what methods go by: a field of the name would hide it.
    members: "Decoder NAME ROS1_TYPE ROS1_MD5 ROS1_DEFINITION ROS2_TYPE ROS2_HASH ROS2_DESCRIPTION Arrays \
              Boolean Byte Double Float Integer List Long Objects Short Sizer String WireException",
    types: "ArrayList Arrays Boolean Byte Class Decoder Double Encoder Enum Exception Float Integer Iterable List \
            Long Math Object Objects Override Reader Record Sequential Short Sizer String \
            StringBuilder Supplier Tagged Thread Throwable Void Wire WireException Writer",
    values: "String",
    members_unlike_types: false,
    types_are_files: true,
};

/// Most fields of a record: a class has room for no more.
const MOST_FIELDS: usize = 5000;
/// Most numbers that a method names, which has 64 KiB of code at most.
const MOST_NAMES: usize = 1000;

/// What the package of the wires always has.
const FIXED: [(&str, &str); 2] = [
    ("Texts", include_str!("java/Texts.java")),
    ("WireException", include_str!("java/WireException.java")),
];

/// What it has for wires that write field after field.
const SEQUENTIAL: [(&str, &str); 5] = [
    ("Reader", include_str!("java/Reader.java")),
    ("Sequential", include_str!("java/Sequential.java")),
    ("Sizer", include_str!("java/Sizer.java")),
    ("Wire", include_str!("java/Wire.java")),
    ("Writer", include_str!("java/Writer.java")),
];

/// What it has for Protobuf's.
const TAGGED: [(&str, &str); 4] = [
    ("Decoder", include_str!("java/Decoder.java")),
    ("Encoder", include_str!("java/Encoder.java")),
    ("Protobuf", include_str!("java/Protobuf.java")),
    ("Tagged", include_str!("java/Tagged.java")),
];

/// The same with Java's packages in this one: `org.example`.
///
/// # Errors
/// When that is no name of a package.
pub fn with_java_package(package: Package, name: &str) -> Result<Package> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_part = |part: &str| {
        part.starts_with(is_letter)
            && part.chars().all(|c| is_letter(c) || c.is_ascii_digit())
            && RULES.module(part, "_ java") == part
    };
    ensure!(
        name.split('.').all(is_part),
        "'{name}' is not a Java package name; use words of small letters, digits and underscores \
         with dots between them, such as org.example"
    );
    Ok(Package { within: name.to_owned(), ..package })
}

/// What types and fields are called.
pub fn names(package: &Package) -> Names {
    Names::new(&package.schema, &RULES, &package.constant_names())
}

/// A file for each type, and those of the wires.
pub fn emit(package: &Package, wires: &[Wire]) -> Result<Vec<File>> {
    let schema = &package.schema;
    let module = Module { package, schema, names: names(package) };
    let name = RULES.module(&package.name, "_ java wiregauge");
    let place = |name: &str| match package.within.as_str() {
        "" => name.to_owned(),
        within => format!("{within}.{name}"),
    };
    let (name, wires_name) = (place(&name), place("wiregauge"));
    let folder = name.replace('.', "/");
    let mut files = Vec::new();
    for (id, def) in schema.types.iter().enumerate() {
        let mut code = SourceWriter::indented(4);
        match def {
            TypeDef::Enum(def) => {
                module.head(&name, Vec::new(), &mut code);
                module.enumeration(id, def, &mut code);
            }
            TypeDef::Record(record) => {
                module.head(&name, module.imports(record, wires, &wires_name), &mut code);
                module.holder(id, record, wires, &mut code)?;
            }
        }
        files.push(File::new(
            format!("{folder}/{}.java", module.names.type_name(id)),
            code.finish(),
        ));
    }
    let version = env!("CARGO_PKG_VERSION");
    let mut fixed = if wires.is_empty() { Vec::new() } else { FIXED.to_vec() };
    if wires.iter().any(|wire| wire.is_sequential()) {
        fixed.extend(SEQUENTIAL);
    }
    if wires.contains(&Wire::Protobuf) {
        fixed.extend(TAGGED);
    }
    for (name, text) in fixed {
        let text = text.replacen("package wiregauge;", &format!("package {wires_name};"), 1);
        let text =
            format!("// Generated by wiregauge {version}, the same for all holders.\n{text}");
        files.push(File::new(format!("{}/{name}.java", wires_name.replace('.', "/")), text));
    }
    Ok(files)
}

/// A package in Java, while it is written.
struct Module<'a> {
    package: &'a Package,
    schema: &'a Schema,
    names: Names,
}

impl Module<'_> {
    /// Where a file is from, its package, and what it imports.
    fn head(&self, name: &str, mut imports: Vec<String>, code: &mut SourceWriter) {
        for line in self.package.header_lines() {
            code.line(format!("// {}", text::remark(&line)).trim_end());
        }
        code.line(format!("package {name};\n"));
        imports.sort();
        imports.iter().for_each(|name| code.line(format!("import {name};")));
        if !imports.is_empty() {
            code.line("");
        }
    }

    /// The classes that a holder uses, by its fields and wires alone: names and comments
    /// of a definition may be any words.
    fn imports(&self, record: &Record, wires: &[Wire], place: &str) -> Vec<String> {
        let mut names = Vec::new();
        let is_list = |field: &Field| {
            matches!(field.cardinality, Cardinality::List { .. }) && self.packed(field).is_none()
        };
        if record.fields.iter().any(is_list) {
            names.extend(["java.util.ArrayList", "java.util.List"].map(str::to_owned));
        }
        let classes = record.fields.iter().filter_map(|field| self.equality_method(field).class());
        let classes: BTreeSet<&str> = classes.collect();
        names.extend(classes.iter().map(|class| format!("java.util.{class}")));
        let mut classes = BTreeSet::new();
        if wires.iter().any(|wire| wire.is_sequential()) {
            classes.extend(["Reader", "Sequential", "Sizer", "WireException", "Writer"]);
        }
        if wires.contains(&Wire::Protobuf) {
            classes.extend(["Decoder", "Encoder", "Tagged", "WireException"]);
        }
        names.extend(classes.iter().map(|class| format!("{place}.{class}")));
        names
    }

    /// Integers with names: a message may have others, which an `enum` could not.
    fn enumeration(&self, id: TypeId, def: &Enum, code: &mut SourceWriter) {
        let (name, original) = (self.names.type_name(id), &def.name.original);
        let kind = JavaScalar::from_scalar(def.repr);
        remark(&[&format!("{original}."), self.package.comment(original)], code);
        code.open(format!("public final class {name} {{"));
        let (mut known, mut numbers) = (Vec::new(), HashSet::new());
        for (place, value) in def.values.iter().enumerate() {
            let (member, written) = (self.names.member(id, place), &value.name.original);
            let renamed = doc_comment::renamed_note(member, written).unwrap_or_default();
            write_member_comment(
                written,
                self.package.member_comment(original, written),
                &renamed,
                code,
            );
            let number = kind.single_literal(&Literal::Integer(value.number.into()));
            code.line(format!("public static final {} {member} = {number};\n", kind.single_type()));
            if numbers.insert(value.number) {
                known.push((number, written));
            }
        }
        code.line(format!("private {name}() {{}}\n"));
        code.line("/**\n * What a number is called.\n *\n * @param number the number");
        code.line(" * @return its first name in the definition, null where it has none\n */");
        let one = |(number, written): &(String, &String), code: &mut SourceWriter| {
            code.open(format!("if (number == {number}) {{"));
            code.line(format!("return {};", quoted(written)));
            code.close("}");
        };
        code.open(format!("public static String name({} number) {{", kind.single_type()));
        if known.len() <= MOST_NAMES {
            known.iter().for_each(|value| one(value, code));
            code.line("return null;");
            code.close("}");
            return code.close("}");
        }
        code.line("String name = null;");
        for part in 0..known.len().div_ceil(MOST_NAMES) {
            code.line(format!("name = name != null ? name : namePart{part}(number);"));
        }
        code.line("return name;");
        code.close("}");
        for (part, values) in known.chunks(MOST_NAMES).enumerate() {
            code.line("");
            code.open(format!(
                "private static String namePart{part}({} number) {{",
                kind.single_type()
            ));
            values.iter().for_each(|value| one(value, code));
            code.line("return null;");
            code.close("}");
        }
        code.close("}");
    }

    fn holder(
        &self,
        id: TypeId,
        record: &Record,
        wires: &[Wire],
        code: &mut SourceWriter,
    ) -> Result<()> {
        let (name, original) = (self.names.type_name(id), &record.name.original);
        let count = record.fields.len();
        ensure!(
            count <= MOST_FIELDS,
            "{original} has {count} fields, but a Java class can have {MOST_FIELDS}; move some of \
             them into a nested record"
        );
        remark(&[&format!("{original}."), self.package.comment(original)], code);
        let mut ways = Vec::new();
        if wires.iter().any(|wire| wire.is_sequential()) {
            ways.push("Sequential");
        }
        if wires.contains(&Wire::Protobuf) {
            ways.push("Tagged");
        }
        let ways = match ways.is_empty() {
            true => String::new(),
            false => format!(" implements {}", ways.join(", ")),
        };
        code.open(format!("public final class {name}{ways} {{"));
        self.constants(id, record, code)?;
        self.identity(id, original, wires, code);
        for (place, field) in record.fields.iter().enumerate() {
            let (member, written) = (self.names.member(id, place), &field.name.original);
            let mut notes = self.notes(record, field);
            notes.extend(doc_comment::field_notes(field));
            notes.extend(doc_comment::renamed_note(member, written));
            let comment = self.package.member_comment(original, written);
            write_member_comment(written, comment, &notes.join("\n"), code);
            let initial = match self.initial(field)? {
                Some(value) => format!(" = {value}"),
                None => String::new(),
            };
            code.line(format!("public {} {member}{initial};\n", self.kind(field)));
        }
        self.constructor(id, record, code);
        if wires.iter().any(|wire| wire.is_sequential()) {
            self.sequential(id, record, code);
        }
        if wires.contains(&Wire::Protobuf) {
            self.tagged(id, record, code)?;
        }
        self.equality(id, record, code);
        code.close("}");
        Ok(())
    }

    fn constants(&self, id: TypeId, record: &Record, code: &mut SourceWriter) -> Result<()> {
        for (place, constant) in self.package.constants(record).iter().enumerate() {
            let (element, value) = literal::constant(constant)?;
            let name = self.names.constant(id, place);
            let renamed = doc_comment::renamed_note(name, &constant.name).unwrap_or_default();
            write_member_comment(&constant.name, &constant.comment, &renamed, code);
            let kind = self.schema.scalar(element).map(JavaScalar::from_scalar);
            let (kind, value) = match (kind, &value) {
                (Some(kind), value) => (kind.single_type(), kind.single_literal(value)),
                (None, Literal::Text(text)) => ("String", text_literal(text)),
                (None, other) => unreachable!("a constant {other:?}"),
            };
            code.line(format!("public static final {kind} {name} = {value};\n"));
        }
        Ok(())
    }

    /// What a type is called, and what it is recognized by.
    fn identity(&self, id: TypeId, original: &str, wires: &[Wire], code: &mut SourceWriter) {
        let mut said = vec![("NAME", "What the definition calls it.", original.to_owned())];
        for (what, text) in identity::type_identities(self.package, id, wires) {
            let (name, about) = match what {
                TypeIdentity::Ros1Type => ("ROS1_TYPE", "The type in ROS 1."),
                TypeIdentity::Ros1Md5 => ("ROS1_MD5", "The md5 sum by which ROS 1 recognizes it."),
                TypeIdentity::Ros1Definition => {
                    ("ROS1_DEFINITION", "Its full definition in ROS 1.")
                }
                TypeIdentity::Ros2Type => ("ROS2_TYPE", "The type in ROS 2."),
                TypeIdentity::Ros2Hash => ("ROS2_HASH", "The hash by which ROS 2 recognizes it."),
                TypeIdentity::Ros2Description => ("ROS2_DESCRIPTION", "What of it is hashed."),
            };
            said.push((name, about, text));
        }
        for (name, about, text) in said {
            remark(&[about], code);
            code.line(format!("public static final String {name} = {};\n", block(&text)));
        }
    }

    /// What of a field its type in Java does not say.
    fn notes(&self, record: &Record, field: &Field) -> Vec<String> {
        let mut notes = Vec::new();
        let repeats =
            matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        if let Element::Enum(id) = field.element {
            notes.push(format!(
                "A value of {}, or one that it does not name.",
                self.names.type_name(id)
            ));
        }
        notes.extend(self.packed(field).and_then(|kind| kind.range_note(repeats)));
        if let Cardinality::Array { len } = field.cardinality {
            notes.push(format!("Exactly {len} elements."));
        }
        if let Some(bound) = self.package.text_bound(record, field) {
            notes.push(format!("{bound} bytes of text at most."));
        }
        if field.cardinality == Cardinality::Optional {
            notes.push("Null where it is absent.".into());
        }
        notes
    }

    fn element(&self, element: Element) -> &str {
        match element {
            Element::String => "String",
            Element::Bytes => "byte[]",
            Element::Record(id) => self.names.type_name(id),
            other => {
                JavaScalar::from_scalar(self.schema.scalar(other).expect("a number")).single_type()
            }
        }
    }

    /// How lists of a number's type are held.
    fn packed(&self, field: &Field) -> Option<JavaScalar> {
        self.schema.scalar(field.element).map(JavaScalar::from_scalar)
    }

    fn kind(&self, field: &Field) -> String {
        let element = self.element(field.element);
        match (field.cardinality, self.packed(field)) {
            (Cardinality::Required | Cardinality::Implicit, _) => element.into(),
            (Cardinality::Optional, Some(kind)) => kind.boxed_type().into(),
            (Cardinality::Optional, None) => element.into(),
            (_, Some(kind)) => format!("{}[]", kind.element_type()),
            (Cardinality::List { .. }, None) => format!("List<{element}>"),
            (Cardinality::Array { .. }, None) => format!("{element}[]"),
        }
    }

    /// What a field begins with; none where that is what Java begins with.
    fn initial(&self, field: &Field) -> Result<Option<String>> {
        let default = literal::default(self.schema, field)?;
        let one = |value: &Literal| match (self.packed(field), value) {
            (Some(kind), value) => kind.single_literal(value),
            (None, Literal::Text(text)) => text_literal(text),
            (None, other) => unreachable!("a default {other:?}"),
        };
        let (element, kind) = (self.element(field.element), self.packed(field));
        Ok(match (field.cardinality, default, kind) {
            (Cardinality::Optional, ..) => None,
            (_, Some(Literal::List(values)), Some(kind)) => {
                let values: Vec<String> =
                    values.iter().map(|value| kind.element_literal(value)).collect();
                Some(format!("{{{}}}", values.join(", ")))
            }
            (cardinality, Some(Literal::List(values)), None) => {
                let values: Vec<String> = values.iter().map(one).collect();
                let values = values.join(", ");
                match cardinality {
                    Cardinality::Array { .. } => Some(format!("{{{values}}}")),
                    _ => Some(format!("new ArrayList<>(List.of({values}))")),
                }
            }
            (_, Some(value), _) => Some(one(&value)),
            (Cardinality::List { .. }, None, Some(kind)) => {
                Some(format!("new {}[0]", kind.element_type()))
            }
            (Cardinality::List { .. }, None, None) => Some("new ArrayList<>()".into()),
            (Cardinality::Array { len }, None, Some(kind)) => {
                Some(format!("new {}[{len}]", kind.element_type()))
            }
            (Cardinality::Array { len }, None, None) => Some(match field.element {
                Element::Bytes => format!("new byte[{len}][0]"),
                _ => format!("new {element}[{len}]"),
            }),
            (_, None, Some(_)) => None,
            (_, None, None) => Some(match field.element {
                Element::String => "\"\"".into(),
                Element::Bytes => "new byte[0]".into(),
                _ => format!("new {element}()"),
            }),
        })
    }

    fn constructor(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        remark(&["With what the definition has as defaults, and zero or empty elsewhere."], code);
        code.block(format!("public {}() {{", self.names.type_name(id)), "}\n", |code| {
            for (place, field) in record.fields.iter().enumerate() {
                let member = format!("this.{}", self.names.member(id, place));
                let Cardinality::Array { len } = field.cardinality else { continue };
                match field.element {
                    Element::String if field.default.is_none() => {
                        code.line(format!("Arrays.fill({member}, \"\");"));
                    }
                    Element::Record(inner) => {
                        let open = format!("for (int place = 0; place < {len}; place++) {{");
                        code.block(open, "}", |code| {
                            let name = self.names.type_name(inner);
                            code.line(format!("{member}[place] = new {name}();"));
                        });
                    }
                    _ => {}
                }
            }
        });
    }

    /// Equal by values, numbers as `Double.compare` has them.
    fn equality(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let name = self.names.type_name(id);
        let fields: Vec<(&str, EqualityMethod)> = record
            .fields
            .iter()
            .enumerate()
            .map(|(place, field)| (self.names.member(id, place), self.equality_method(field)))
            .collect();
        let mut methods = Vec::new();
        code.line("@Override");
        code.block("public boolean equals(Object other) {", "}\n", |code| {
            if fields.is_empty() {
                return code.line(format!("return other instanceof {name};"));
            }
            code.block(format!("if (!(other instanceof {name})) {{"), "}", |code| {
                code.line("return false;");
            });
            code.line(format!("{name} that = ({name}) other;"));
            let tests: Vec<String> = fields.iter().map(|(member, how)| how.equal(member)).collect();
            let head = |part| format!("private boolean equalsPart{part}({name} that) {{");
            let (whole, parts) =
                joined(&tests, "&&", head, |part| format!("equalsPart{part}(that)"));
            code.line(format!("return {whole};"));
            methods.extend(parts.into_iter().map(|(head, whole)| (head, String::new(), whole)));
        });
        code.line("@Override");
        code.block("public int hashCode() {", "}\n", |code| {
            code.line("int hash = 1;");
            let add = |(member, how): &(&str, EqualityMethod)| {
                format!("hash = 31 * hash + {};", how.hash(member))
            };
            let mut lines: Vec<String> = fields.iter().map(add).collect();
            if lines.len() > method_parts::MOST {
                let chunks = lines.chunks(method_parts::MOST).enumerate();
                methods.extend(chunks.map(|(part, lines)| {
                    (
                        format!("private int hashPart{part}(int hash) {{"),
                        lines.join("\n"),
                        "hash".into(),
                    )
                }));
                let calls = 0..lines.len().div_ceil(method_parts::MOST);
                lines = calls.map(|part| format!("hash = hashPart{part}(hash);")).collect();
            }
            lines.iter().for_each(|line| code.line(line));
            code.line("return hash;");
        });
        code.line("@Override");
        code.block("public String toString() {", "}", |code| {
            let mut parts = Vec::new();
            for (at, (member, how)) in fields.iter().enumerate() {
                let open = if at == 0 { format!("{name}(") } else { ", ".into() };
                parts.push(format!("\"{open}{member}=\" + {}", how.text_expression(member)));
            }
            let close = if parts.is_empty() { format!("\"{name}()\"") } else { "\")\"".into() };
            parts.push(close);
            let head = |part| format!("private String shownPart{part}() {{");
            let (whole, parts) = joined(&parts, "+", head, |part| format!("shownPart{part}()"));
            code.line(format!("return {whole};"));
            methods.extend(parts.into_iter().map(|(head, whole)| (head, String::new(), whole)));
        });
        for (head, before, result) in methods {
            code.line("");
            code.block(head, "}", |code| {
                before.lines().for_each(|line| code.line(line));
                code.line(format!("return {result};"));
            });
        }
    }

    fn equality_method(&self, field: &Field) -> EqualityMethod {
        let kind = self.packed(field);
        match (field.cardinality, kind, field.element) {
            (Cardinality::Required | Cardinality::Implicit, Some(kind), _) => {
                EqualityMethod::Number(kind)
            }
            (Cardinality::Optional, Some(_), _) => EqualityMethod::Object,
            (_, Some(_), _) => EqualityMethod::Numbers,
            (Cardinality::List { .. }, None, Element::Bytes) => EqualityMethod::Blocks,
            (Cardinality::List { .. }, None, _) => EqualityMethod::Object,
            (Cardinality::Array { .. }, None, _) => EqualityMethod::Objects,
            (_, None, Element::Bytes) => EqualityMethod::Numbers,
            (_, None, _) => EqualityMethod::Object,
        }
    }
}

/// A comment for documentation, of paragraphs.
fn remark(paragraphs: &[&str], code: &mut SourceWriter) {
    code.line(text::javadoc(paragraphs));
}

/// What is said of a member, or what it is called where nothing is; then notes.
fn write_member_comment(original: &str, comment: &str, notes: &str, code: &mut SourceWriter) {
    let name = format!("{original}.");
    remark(&[if text::is_blank(comment) { &name } else { comment }, notes], code);
}
