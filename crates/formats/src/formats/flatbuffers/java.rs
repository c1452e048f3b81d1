//! FlatBuffers Java: the format's own library, from the definition with tables only and
//! from the one with structs, by the jar of the machine's flatc.

mod glue;

use anyhow::Result;
use wiregauge_holders::{File, Unit};
use wiregauge_schema::{Cardinality, Element, Schema, TypeDef, TypeId};
use wiregauge_workshop::Need;

use super::generation;
use super::{Dialect, Kind, Style, ARRAYS, FLATC, SIGN};
use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Answer, Codec, Emission, Linkage, Step};
use crate::java_form::JavaForm;
use crate::java_glue::{self, Library};
use crate::java_number::Number;
use crate::slot::Slot;

const NEEDS: &[Need] = &[NEEDS_WITH_JARS[0], NEEDS_WITH_JARS[1], NEEDS_WITH_JARS[2], FLATC];

const JAR: &str = "the jar of the machine's flatc, whose classes want that release alone: 2.0.8, \
                   23.5.26 or 25.2.10; its ByteBuffers are over arrays, the builder's default";
const BUILDER: &str =
    "one builder is cleared and reused; its finished bytes are taken from where they are; where \
     buffers are fresh, it is made anew with its default of 1 KiB and grows";
const READING: &str =
    "read in place by accessors, those of elements by one object a list and by the vectors that \
     flatc generates; the length of a text by its bytes; ByteBuffer checks each access, and the \
     library has no verifier";
const PRESENCE: &str =
    "an optional number is added with forceDefaults(true): flatc's setter leaves out a zero, which \
     would read as absent";

inventory::submit! {
    Codec {
        name: "flatbuffers-java",
        title: "FlatBuffers Java tables",
        format: "flatbuffers-tables",
        language: &JAVA,
        bound: false,
        built: Linkage::Jar("flatbuffers-java"),
        options: &["every record a table", JAR, ARRAYS, SIGN, PRESENCE, BUILDER, READING],
        calls: &[
            "encode: builder.clear(); createUnintializedVector(…).asFloatBuffer().put(array), createString, startX, addX, endX from the leaves up; builder.finish(root); builder.dataBuffer()",
            "decode: X.getRootAsX(buffer); every accessor; lists of numbers as blocks by xAsByteBuffer()",
            "project, fixed, element: X.getRootAsX(buffer), then the accessors on the way; xVector().get(i)",
        ],
        needs: NEEDS,
        answer: |schema, id| answer(schema, id, Style::Tables),
        idl: Some(|schema| super::idl(&renamed(schema), Style::Tables)),
        emit: |unit| emit(unit, Style::Tables),
    }
}

inventory::submit! {
    Codec {
        name: "flatbuffers-java-structs",
        title: "FlatBuffers Java structs",
        format: "flatbuffers",
        language: &JAVA,
        bound: false,
        built: Linkage::Jar("flatbuffers-java"),
        options: &[
            "plain old data as structs, each written by createX with its numbers one by one, as \
             flatc generates",
            JAR,
            ARRAYS,
            SIGN,
            PRESENCE,
            BUILDER,
            READING,
        ],
        calls: &[
            "encode: as with tables; startXVector(builder, count) and createX(builder, …) for each struct of a list, from the last to the first",
            "decode: X.getRootAsX(buffer); every accessor; lists of numbers as blocks by xAsByteBuffer()",
            "project, fixed, element: X.getRootAsX(buffer), then the accessors on the way; xVector().get(object, i)",
        ],
        needs: NEEDS,
        answer: |schema, id| answer(schema, id, Style::Structs),
        idl: Some(|schema| super::idl(&renamed(schema), Style::Structs)),
        emit: |unit| emit(unit, Style::Structs),
    }
}

/// The most that a method may take, a number of eight bytes counted twice.
const MAX_ARGUMENTS: usize = 255;

fn answer(schema: &Schema, id: TypeId, style: Style) -> Answer {
    let dialect = Dialect::new(schema, style);
    if matches!(schema.types[id], TypeDef::Record(_)) && dialect.is_struct(id) {
        let leaves = glue::leaves(schema, &|_, _| String::new(), id, "", &[]);
        let wide = |leaf: &glue::Leaf| leaf.dims.is_empty() && leaf.scalar.size() == 8;
        let count = 1 + leaves.len() + leaves.iter().filter(|leaf| wide(leaf)).count();
        if count > MAX_ARGUMENTS {
            return Answer::Rejected(format!(
                "flatc writes a struct by a method that would take {count} arguments, and one of \
                 Java takes {MAX_ARGUMENTS}"
            ));
        }
    }
    super::answer(schema, id, style)
}

/// The schema with other names where flatc's Java code uses them for itself.
fn renamed(schema: &Schema) -> Schema {
    const TYPES: [&str; 14] = [
        "BaseVector",
        "BooleanVector",
        "ByteBuffer",
        "ByteOrder",
        "ByteVector",
        "Constants",
        "DoubleVector",
        "FlatBufferBuilder",
        "FloatVector",
        "IntVector",
        "LongVector",
        "ShortVector",
        "StringVector",
        "SuppressWarnings",
    ];
    const DERIVED: [&str; 4] = ["Length", "Vector", "AsByteBuffer", "InByteBuffer"];
    let mut schema = schema.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        if TYPES.contains(&record.name.legal.as_str()) {
            record.name.legal.push('_');
        }
        let all: Vec<String> = record.fields.iter().map(|f| camel(&f.name.legal)).collect();
        for field in &mut record.fields {
            let own = camel(&field.name.legal);
            let is_derived = all.iter().any(|other| {
                own.strip_prefix(other.as_str()).is_some_and(|rest| DERIVED.contains(&rest))
                    || own == format!("has{}", upper(other))
            });
            if is_derived || own == "builder" || OBJECT.contains(&own.as_str()) {
                // No legal name ends like this.
                field.name.legal.push('_');
            }
        }
    }
    schema
}

/// Methods without parameters that every table has.
const OBJECT: [&str; 8] =
    ["clone", "finalize", "getByteBuffer", "getClass", "hashCode", "notify", "toString", "wait"];

/// A field's name as flatc makes one of Java of it.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    let rest: String = words.map(|word| if word.is_empty() { "_".into() } else { upper(word) }).collect();
    first + &rest
}

fn upper(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn emit(unit: &Unit, style: Style) -> Result<Emission> {
    let jars = generation::jars()?;
    let form = JavaForm::new(unit)?;
    let schema = renamed(unit.schema);
    let accessors = Accessors { dialect: Dialect::new(&schema, style) };
    let dialect = accessors.dialect;
    let mut files = form.files(&[])?;
    files.push(super::idl(&schema, style)?);
    files.push(File::new("Main.java", include_str!("java/Main.java")));
    files.push(File::new("Blocks.java", include_str!("java/Blocks.java")));
    files.push(File::new("Numbers.java", java_glue::numbers(&form, &accessors)));
    files.push(File::new("Glue.java", glue::glue(&form, &accessors)));
    files.push(java_glue::library(&java_glue::jar_name(&jars[0])));
    let records = schema.records().map(|(id, _)| dialect.type_name(id));
    let octets = dialect.has_bytes_lists().then(|| dialect.bytes_name());
    Ok(Emission {
        files,
        steps: vec![Step::command(["flatc", "--java", "message.fbs"])],
        sources: records.chain(octets).map(|name| format!("wg/{name}.java")).collect(),
        jars,
        ..Emission::default()
    })
}

/// flatc's classes.
struct Accessors<'a> {
    dialect: Dialect<'a>,
}

impl Accessors<'_> {
    /// The slots of a record with names of flatc's.
    fn slots(&self, id: TypeId) -> Vec<Slot> {
        self.dialect.slots(id)
    }

    /// What a slot is called in Java.
    fn name(&self, id: TypeId, slot: &Slot) -> String {
        let slots = self.slots(id);
        let own = slots.iter().find(|own| own.place == slot.place && own.number == slot.number);
        camel(&super::field_name(&own.expect("the same slots").field))
    }

    /// What walks a list of a slot, by the object that it is of.
    fn walker(at: &str, slot: &Slot) -> (String, String) {
        (format!("{at}v{}", slot.place), format!("{at}e{}", slot.place))
    }
}

impl Library for Accessors<'_> {
    fn slots(&self, _: &JavaForm, id: TypeId) -> Vec<Slot> {
        self.dialect.slots(id)
    }

    fn class(&self, _: &JavaForm, id: TypeId) -> String {
        format!("wg.{}", self.dialect.type_name(id))
    }

    fn get(&self, _: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        let name = self.name(id, slot);
        match slot.field.element {
            Element::String => format!("{at}.{name}AsByteBuffer()"),
            Element::Bytes => format!("{at}.{name}Length()"),
            _ => format!("{at}.{name}()"),
        }
    }

    fn is_there(&self, form: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        let name = self.name(id, slot);
        match (slot.field.element, form.number(&slot.field)) {
            (_, Some(_)) => format!("{at}.has{}()", upper(&name)),
            (Element::Bytes, _) => format!("{at}.{name}Vector() != null"),
            (Element::String, _) => format!("{at}.{name}AsByteBuffer() != null"),
            _ => format!("{at}.{name}() != null"),
        }
    }

    fn count(&self, _: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        match slot.field.cardinality {
            Cardinality::Array { len } if self.dialect.is_struct(id) => len.to_string(),
            _ => format!("{at}.{}Length()", self.name(id, slot)),
        }
    }

    fn begin(&self, form: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> Option<String> {
        let (vector, element) = Self::walker(at, slot);
        let name = self.name(id, slot);
        let of = match (self.dialect.kind(slot.field.element), form.number(&slot.field)) {
            (Kind::Struct(inner) | Kind::Table(inner), _) => {
                let class = self.class(form, inner);
                let own = format!("{class} {element} = new {class}();");
                if self.dialect.is_struct(id) {
                    return Some(own);
                }
                return Some(format!("{own}\n{class}.Vector {vector} = {at}.{name}Vector();"));
            }
            (Kind::Bytes, _) => {
                let class = format!("wg.{}", self.dialect.bytes_name());
                return Some(format!(
                    "{class} {element} = new {class}();\n{class}.Vector {vector} = {at}.{name}Vector();"
                ));
            }
            (_, Some(number)) => upper(number.packed()),
            _ => "String".into(),
        };
        (!self.dialect.is_struct(id))
            .then(|| format!("com.google.flatbuffers.{of}Vector {vector} = {at}.{name}Vector();"))
    }

    fn at(&self, _: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        let (vector, element) = Self::walker(at, slot);
        let name = self.name(id, slot);
        let is_struct = self.dialect.is_struct(id);
        match self.dialect.kind(slot.field.element) {
            Kind::Struct(_) | Kind::Table(_) if is_struct => format!("{at}.{name}({element}, i)"),
            Kind::Struct(_) | Kind::Table(_) => format!("{vector}.get({element}, i)"),
            Kind::Bytes => format!("{vector}.get({element}, i).valueLength()"),
            _ if is_struct => format!("{at}.{name}(i)"),
            _ => format!("{vector}.get(i)"),
        }
    }

    fn octets(&self, value: &str) -> String {
        value.to_owned()
    }

    fn text(&self, value: &str) -> String {
        format!("Blocks.octets({value})")
    }

    fn counted(&self, number: Number, value: &str, of_list: bool) -> String {
        number.counted(value, of_list)
    }
}
