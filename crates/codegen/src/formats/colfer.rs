//! Colfer: C by the generator that the format's author publishes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::c_struct::{self, CLibrary, Extra, Shape};
use crate::code::Code;
use crate::codec::{Answer, Codec, Emission, File, Language, Need, Step, Unit};
use crate::lowering::Lowering;
use crate::maven;

const VERSION: &str = "1.11.2";

inventory::submit! {
    Codec {
        name: "colfer",
        title: "Colfer",
        format: "colfer",
        language: Language::Cpp,
        bound: false,
        options: &[
            "C, by colf 1.11.2 of the author's Maven plug-in",
            "size and list limits lifted; decoding allows a list no more elements than the \
             message has bytes",
            "the generated code, which never frees, allocates from an arena that the object owns \
             and keeps",
            "on encoding lists are pointed to where the layouts agree, strings and octets always",
        ],
        needs: &[maven::NEED, Need::Program("jar", "default-jdk-headless")],
        answer,
        idl: Some(idl),
        emit,
    }
}

/// As many fields as a header byte can number.
const FIELDS: usize = 127;

/// The member that keeps the signs of zeros.
const NEGATIVE_ZEROS: &str = "negative_zeros";

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

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Answer::lowered(vec![Lowering::enumeration()]);
    };
    let members = members(schema, record);
    if members.len() > FIELDS {
        return Answer::Rejected(format!(
            "Colfer numbers at most {FIELDS} fields of a record, and these are {} with the flags \
             of optional ones",
            members.len()
        ));
    }
    let mut lowerings = c_struct::lowerings(record);
    if !float_words(schema, record).is_empty() {
        lowerings.push(Lowering::new(
            "a word of signs beside f32 and f64",
            "that -0 is -0, to a reader that does not know of the word: Colfer omits both zeros",
        ));
    }
    for field in &record.fields {
        let scalar = schema.scalar(field.element);
        match Colfer.shape(schema, field) {
            Shape::Flagged(_) => lowerings.push(Lowering::flagged("value")),
            Shape::Packed(scalar) => lowerings.push(Lowering::new(
                format!("list of {} as binary", scalar.rust()),
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
    Answer::lowered(lowerings)
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
    for field in &record.fields {
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
    for (word, _) in float_words(schema, record) {
        members.push((word, "uint64".into()));
    }
    if record.fields.is_empty() {
        members.push((c_struct::UNUSED.into(), "bool".into()));
    }
    members
}

/// `message.colf`.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = Code::new();
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

/// The words that hold the signs of a record's zeros, by name, with the fields
/// whose signs they hold, lowest bit first.
fn float_words<'a>(schema: &Schema, record: &'a Record) -> Vec<(String, Vec<&'a Field>)> {
    let is_float = |field: &&Field| {
        let single =
            !matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        single && schema.scalar(field.element).is_some_and(Scalar::is_float)
    };
    let floats: Vec<&Field> = record.fields.iter().filter(is_float).collect();
    let mut name = NEGATIVE_ZEROS.to_string();
    floats
        .chunks(64)
        .map(|fields| {
            while record.fields.iter().any(|field| field.name.legal == name) {
                name.push('s');
            }
            let word = name.clone();
            name.push('s');
            (word, fields.to_vec())
        })
        .collect()
}

struct Colfer;

impl CLibrary for Colfer {
    fn record_type(&self, record: &Record) -> String {
        format!("wg_{}", type_name(record))
    }

    fn shape(&self, schema: &Schema, field: &Field) -> Shape {
        match (field.cardinality, field.element) {
            (Cardinality::Optional, Element::Record(_)) => Shape::Nullable,
            (Cardinality::Optional, _) => Shape::Flagged(c_struct::flag(field)),
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

    fn list(&self, object: &str, field: &Field) -> String {
        format!("{object}.{0}.list, {object}.{0}.len", field.name.legal)
    }

    fn extra(&self, schema: &Schema, record: &Record) -> Vec<Extra> {
        if record.fields.is_empty() {
            return vec![Extra::unused()];
        }
        let words = float_words(schema, record);
        words.iter().map(|(word, fields)| signs(word, fields)).collect()
    }
}

/// A word of signs. Few messages have a negative zero, so taking tests for the
/// whole word first.
fn signs(word: &str, fields: &[&Field]) -> Extra {
    let bits = fields.iter().enumerate().map(|(bit, field)| {
        format!("\n    | std::uint64_t{{is_negative_zero(from.{})}} << {bit}", field.name.legal)
    });
    let takes = fields.iter().enumerate().map(|(bit, field)| {
        format!(
            "\n  if ((from.{word} >> {bit} & 1) != 0) take_negative_zero(to.{});",
            field.name.legal
        )
    });
    Extra {
        fill: format!("to.{word} = 0{};", bits.collect::<String>()),
        take: format!("if (from.{word} != 0) {{{}\n}}", takes.collect::<String>()),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let root = Colfer.record_type(schema.root());
    let main = [HEAD, &c_struct::glue(unit, &Colfer), &CODEC.replace("ROOT", &root)];
    Ok(Emission {
        files: vec![
            idl(schema)?,
            File::new("main.cpp", main.concat().replace("VERSION", VERSION)),
            File::new("library.c", LIBRARY),
        ],
        steps: vec![Step::Call(Box::new(generate))],
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
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("colf failed: {}", why.lines().next().unwrap_or("it says nothing"));
    }
    Ok(())
}

/// The generator. It is a program inside the plug-in's jar, and comes to stand
/// beside it.
fn generator(folder: &Path) -> Result<PathBuf> {
    if !cfg!(target_arch = "x86_64") {
        bail!("Colfer's generator is published for x86-64 only");
    }
    let jar = maven::artifact(folder, &format!("net.quies.colfer:colfer-maven-plugin:{VERSION}"))?;
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

const LIBRARY: &str = r#"/* Generated by wiregauge: Colfer's code, which allocates and never frees, with
   its memory from the object that is being read. */
#include <stdlib.h>
void *wiregauge_malloc(size_t size);
void *wiregauge_calloc(size_t count, size_t size);
#define malloc wiregauge_malloc
#define calloc wiregauge_calloc
#include "Colfer.c"
"#;

const HEAD: &str = r#"// Generated by wiregauge: glue between the normalized message and Colfer's.
#include <cerrno>
#include <cmath>

#include "message.hpp"
#include "wiregauge/serve.hpp"
#include "wiregauge/c_struct.hpp"
#include "Colfer.h"

namespace c_struct {

template <>
struct Glue<std::string, colfer_text> {
  static constexpr bool kSame = false;
  static void fill(const std::string &from, colfer_text &to, Arena &) {
    to = {from.data(), from.size()};
  }
  static void take(const colfer_text &from, std::string &to) {
    if (from.len == 0) {
      to.clear();
    } else {
      to.assign(from.utf8, from.len);
    }
  }
  static double sum(const colfer_text &from) { return static_cast<double>(from.len); }
};

template <>
struct Glue<std::vector<std::uint8_t>, colfer_binary> {
  static constexpr bool kSame = false;
  static void fill(const std::vector<std::uint8_t> &from, colfer_binary &to, Arena &) {
    to = {const_cast<std::uint8_t *>(from.data()), from.size()};
  }
  static void take(const colfer_binary &from, std::vector<std::uint8_t> &to) {
    to.assign(from.octets, from.octets + from.len);
  }
  static double sum(const colfer_binary &from) { return static_cast<double>(from.len); }
};

// Numbers as octets. What was read lies in an arena, aligned for any number.
template <class Container>
void fill_packed(const Container &from, colfer_binary &to, Arena &) {
  const auto *octets = reinterpret_cast<const std::uint8_t *>(from.data());
  to = {const_cast<std::uint8_t *>(octets), from.size() * sizeof(typename Container::value_type)};
}

template <class T>
Span<T> packed(const colfer_binary &from) {
  if (from.len % sizeof(T) != 0) throw std::runtime_error("a packed list ends within a number");
  return {reinterpret_cast<const T *>(from.octets), from.len / sizeof(T)};
}

template <class T>
bool is_negative_zero(T value) {
  return value == 0 && std::signbit(value);
}
template <class T>
bool is_negative_zero(const std::optional<T> &value) {
  return value && is_negative_zero(*value);
}

// Colfer wrote a zero of either sign as nothing, and read it as a positive one.
template <class T>
void take_negative_zero(T &value) {
  if (value == 0) value = -T{};
}
template <class T>
void take_negative_zero(std::optional<T> &value) {
  if (value) take_negative_zero(*value);
}

}  // namespace c_struct

"#;

const CODEC: &str = r#"
namespace {

// Where the generated code allocates.
c_struct::Arena *allocating = nullptr;

}  // namespace

extern "C" {
void *wiregauge_malloc(std::size_t size) { return allocating->allocate(size); }
void *wiregauge_calloc(std::size_t count, std::size_t size) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, size, &total)) return nullptr;
  void *memory = allocating->allocate(total);
  if (memory != nullptr) std::memset(memory, 0, total);
  return memory;
}
}

namespace {

// The library's message, filled or read, and the memory of its lists.
class Object {
 public:
  void fill(const message::Root &from) {
    arena_.clear();
    c_struct::fill_value(from, root_, arena_);
  }

  void read(wiregauge::Wire wire) {
    arena_.clear();
    allocating = &arena_;
    // What is not on the wire is not written to.
    root_ = ROOT{};
    // Each element of a list takes a byte at least.
    colfer_list_max = wire.size;
    errno = 0;
    const std::size_t used = ROOT_unmarshal(&root_, wire.data, wire.size);
    if (used == 0)
      throw std::runtime_error(errno == EWOULDBLOCK ? "the message ends too early"
                               : errno == EFBIG     ? "a list is longer than the message"
                                                    : "not a Colfer message of this type");
    if (used != wire.size) throw std::runtime_error("bytes left over after the message");
  }

  const ROOT &get() const { return root_; }

 private:
  c_struct::Arena arena_;
  ROOT root_{};
};

class Colfer {
 public:
  using Message = message::Root;
  using Object = ::Object;
  static std::string library() { return "Colfer VERSION"; }
  static constexpr bool verifies = false;

  Colfer() { colfer_size_max = kUnlimited; }

  void populate(const Message &message, Object &object) { object.fill(message); }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    colfer_list_max = kUnlimited;
    const std::size_t size = ROOT_marshal_len(&object.get());
    if (size == 0) throw std::runtime_error("larger than Colfer's limits");
    out.resize(size);
    if (ROOT_marshal(&object.get(), out.data()) != size)
      throw std::runtime_error("Colfer wrote another size than it said");
  }

  void parse(wiregauge::Wire wire, Object &object) { object.read(wire); }

  void extract(wiregauge::Wire, Object &object, Message &message) {
    c_struct::take_value(object.get(), message);
  }

  double project(wiregauge::Wire wire) {
    projected_.read(wire);
    return c_struct::sum_value<Message>(projected_.get());
  }
  double fixed(wiregauge::Wire wire) {
    projected_.read(wire);
    return c_struct::fixed(projected_.get());
  }
  double element(wiregauge::Wire wire) {
    projected_.read(wire);
    return c_struct::element(projected_.get());
  }

 private:
  // Far from where adding it to an address would overflow.
  static constexpr std::size_t kUnlimited = std::size_t{1} << 40;

  Object projected_;
};

}  // namespace

int main() { return wiregauge::serve<Colfer>(); }
"#;
