//! Colfer: C by the generator that the format's author publishes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::c_struct::{self, CLibrary, Shape};
use crate::code::Code;
use crate::codec::{Answer, Built, Codec, Emission, File, Language, Need, Step, Unit};
use crate::lowering::Lowering;
use crate::maven;
use crate::slot::{self, Slot};

const VERSION: &str = "1.11.2";

inventory::submit! {
    Codec {
        name: "colfer",
        title: "Colfer C",
        format: "colfer",
        language: Language::Cpp,
        bound: false,
        built: Built::Headers,
        options: &[
            "C, by colf 1.11.2 of the author's Maven plug-in",
            "size and list limits lifted; decoding allows a list no more elements than the \
             message has bytes",
            "the generated code, which never frees, allocates from an arena, whose memory is kept \
             between messages as scratch",
            "on encoding lists are pointed to where the layouts agree, strings and octets always",
            "there is no reading in part: fixed and element decode the whole",
            "-0.0 outside of lists is refused: Colfer drops it as it drops 0.0",
        ],
        calls: &[
            "encode: size = T_marshal_len(&message); T_marshal(&message, bytes)",
            "decode: T_unmarshal(&message, bytes, size)",
            "project, fixed, element: as decode, then the struct's members",
        ],
        needs: &[maven::NEED, Need::Program("jar", "default-jdk-headless")],
        answer,
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
    for slot in Colfer.slots(schema, record) {
        let field = &slot.field;
        if slot.number.is_some() {
            lowerings.push(Lowering::spread());
        }
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
    for slot in Colfer.slots(schema, record) {
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

    fn slots(&self, schema: &Schema, record: &Record) -> Vec<Slot> {
        slot::slots(schema, record)
    }

    fn fill(&self, schema: &Schema, slot: &Slot) -> Option<String> {
        let is_list =
            matches!(slot.field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        let is_float = schema.scalar(slot.field.element).is_some_and(Scalar::is_float);
        (is_float && !is_list).then(|| format!("check_sign(from.{});", slot.value))
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
  template <class Tally>
  static void tally(const colfer_text &from, unsigned place, Tally &tally) {
    tally.length(place, from.len);
  }
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
  template <class Tally>
  static void tally(const colfer_binary &from, unsigned place, Tally &tally) {
    tally.length(place, from.len);
  }
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

// Colfer writes a zero of either sign as nothing, and reads it as a positive one.
template <class T>
void check_sign(T value) {
  if (value == 0 && std::signbit(value))
    throw wiregauge::Rejected("it loses the sign of zero: -0.0 is not written, as 0.0 is not");
}
template <class T>
void check_sign(const std::optional<T> &value) {
  if (value) check_sign(*value);
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

// The library's message, filled or read, and the arena that it is lent.
class Object {
 public:
  void fill(const message::Root &from) {
    arena->clear();
    c_struct::fill_value(from, root_, *arena);
  }

  void read(wiregauge::Wire wire) {
    arena->clear();
    allocating = arena.get();
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

  std::unique_ptr<c_struct::Arena> arena;

 private:
  ROOT root_{};
};

class Colfer : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = ::Object;
  static std::string library() { return "Colfer VERSION"; }

  Colfer() { colfer_size_max = kUnlimited; }

  void populate(const Message &message, Object &object) {
    if (!object.arena) object.arena = arenas_.lend();
    object.fill(message);
  }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    colfer_list_max = kUnlimited;
    const std::size_t size = ROOT_marshal_len(&object.get());
    if (size == 0) throw wiregauge::Rejected("it is larger than Colfer's limits");
    out.resize(size);
    if (ROOT_marshal(&object.get(), out.data()) != size)
      throw std::runtime_error("Colfer wrote another size than it said");
  }

  void recycle(Object &object) { arenas_.take_back(std::move(object.arena)); }

  void parse(wiregauge::Wire wire, Object &object) {
    if (!object.arena) object.arena = arenas_.lend();
    object.read(wire);
  }

  void extract(wiregauge::Wire, Object &object, Message &message) {
    c_struct::take_value(object.get(), message);
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    tally = c_struct::Glue<Message, ROOT>::numbers<Tally>(object.get());
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    c_struct::fixed(object.get(), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    c_struct::element(object.get(), tally);
  }

 private:
  // Far from where adding it to an address would overflow.
  static constexpr std::size_t kUnlimited = std::size_t{1} << 40;

  c_struct::Arenas arenas_;
};

}  // namespace

int main() { return wiregauge::serve<Colfer>(); }
"#;
