//! CDR by Cyclone DDS: its own stream of the structs that its compiler makes,
//! without a participant or a network.

use anyhow::Result;
use wiregauge_schema::{Cardinality, Element, Field, Schema, TypeDef, TypeId};

use crate::c_struct::{self, CLibrary, Shape};
use crate::code::Code;
use crate::codec::{Answer, Built, Codec, Emission, File, Language, Need, Step, Unit};
use crate::idl;
use crate::lowering::Lowering;

inventory::submit! {
    Codec {
        name: "cyclone-cdr",
        title: "CDR C Cyclone DDS",
        format: "cdr",
        language: Language::Cpp,
        bound: false,
        built: Built::Shared("libddsc0debian"),
        options: &[
            "the representation that Cyclone DDS itself chooses: XCDR1, and XCDR2 for types with \
             optional members",
            "final types, the machine's byte order, no encapsulation header",
            "decoding copies the bytes, normalizes them (which checks them) and reads, as Cyclone \
             DDS does on receipt; verify is copying and normalizing alone",
            "lists whose elements have the layout of Cyclone's are pointed to on encoding, strings \
             always",
            "a string that holds a NUL character is refused on encoding",
            "there is no reading in part: fixed and element decode the whole",
        ],
        calls: &[
            "encode: dds_stream_write_sample(&stream, &sample, type)",
            "decode: memcpy of the bytes; dds_stream_normalize(…); dds_stream_read_sample(&stream, &sample, type)",
            "project, fixed, element: as decode, then the struct's members",
        ],
        needs: &[
            Need::Program("idlc", "cyclonedds-tools"),
            Need::Header("dds/ddsi/ddsi_cdrstream.h", "cyclonedds-dev"),
        ],
        answer,
        idl: Some(definition),
        emit,
    }
}

fn answer(schema: &Schema, id: TypeId) -> Answer {
    Answer::lowered(match &schema.types[id] {
        TypeDef::Record(record) => c_struct::lowerings(record),
        TypeDef::Enum(_) => vec![Lowering::enumeration()],
    })
}

/// `message.idl`.
fn definition(schema: &Schema) -> Result<File> {
    let octets = c_struct::octets_type(schema);
    let mut code = Code::new();
    code.open("module wg {");
    if c_struct::uses_octets(schema) {
        code.line(format!("typedef sequence<octet> {octets};"));
    }
    for (_, record) in schema.records() {
        code.block(format!("@final struct {} {{", record.name.legal), "};", |code| {
            for field in &record.fields {
                let name = &field.name.legal;
                let of = match field.element {
                    Element::String => "string",
                    Element::Bytes => &octets,
                    Element::Record(id) => &schema.record(id).name.legal,
                    number => idl::scalar_type(schema.scalar(number).expect("a number")),
                };
                code.line(match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => format!("{of} {name};"),
                    Cardinality::Optional => format!("@optional {of} {name};"),
                    Cardinality::List { .. } => format!("sequence<{of}> {name};"),
                    Cardinality::Array { len } => format!("{of} {name}[{len}];"),
                });
            }
            if record.fields.is_empty() {
                code.line(format!("boolean {};", c_struct::UNUSED));
            }
        });
    }
    code.close("};");
    Ok(File::new("message.idl", code.finish()))
}

struct Cyclone;

impl CLibrary for Cyclone {
    fn shape(&self, _: &Schema, field: &Field) -> Shape {
        match field.cardinality {
            Cardinality::Optional => Shape::Nullable,
            Cardinality::List { .. } => Shape::List,
            _ => Shape::Value,
        }
    }

    fn list(&self, object: &str, field: &Field) -> String {
        format!("{object}.{}", field.name.legal)
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut octets = String::new();
    if c_struct::uses_octets(schema) {
        octets = OCTETS.replace("OCTETS", &c_struct::octets_type(schema));
    }
    let root = Cyclone.record_type(schema.root());
    let main = [
        HEAD,
        &octets,
        &c_struct::glue(unit, &Cyclone),
        &bounds(schema),
        &CODEC.replace("ROOT", &root),
    ];
    Ok(Emission {
        files: vec![definition(schema)?, File::new("main.cpp", main.concat())],
        // Without type information, which no stream needs.
        steps: vec![Step::command([
            "idlc",
            "-l",
            "c",
            "-f",
            "case-sensitive",
            "-t",
            "message.idl",
        ])],
        sources: vec!["main.cpp".into(), "message.c".into()],
        libraries: vec!["ddsc".into()],
        ..Emission::default()
    })
}

/// `bound`: how many bytes a message takes at most. The library's stream grows
/// by 4 KiB at a time; with the room known it writes into the output buffer.
fn bounds(schema: &Schema) -> String {
    let mut code = Code::new();
    code.line(BOUNDS);
    for (id, record) in schema.records() {
        let name = format!("message::{}", record.name.legal);
        let members: Vec<String> =
            record.fields.iter().map(|f| format!("bound(from.{})", f.name.legal)).collect();
        let sum = if members.is_empty() { "1".to_string() } else { members.join(" + ") };
        if schema.is_pod(id) {
            code.line(format!("template <>\nconstexpr bool kFixed<{name}> = true;"));
        }
        code.block(
            format!("inline std::size_t bound([[maybe_unused]] const {name} &from) {{"),
            "}",
            |code| code.line(format!("return {sum};")),
        );
    }
    code.line("");
    code.line("}  // namespace message");
    code.finish()
}

const HEAD: &str = r#"// Generated by wiregauge: glue between the normalized message and Cyclone DDS's.
#include "message.hpp"
#include "wiregauge/serve.hpp"
#include "wiregauge/c_struct.hpp"
#include "message.h"
#include "dds/ddsi/ddsi_cdrstream.h"
#include "dds/version.h"

namespace c_struct {

// A sequence, as an argument of what lists have.
template <class Sequence>
auto span(const Sequence &from) {
  return span(from._buffer, from._length);
}

template <class Container, class Sequence>
void fill_list(const Container &from, Sequence &to, Arena &arena) {
  fill_list(from, to._buffer, to._length, arena);
  to._maximum = to._length;
  to._release = false;
}

}  // namespace c_struct

"#;

const OCTETS: &str = r#"namespace c_struct {

template <>
struct Glue<std::vector<std::uint8_t>, wg_OCTETS> {
  using From = std::vector<std::uint8_t>;
  using To = wg_OCTETS;
  static constexpr bool kSame = false;
  static void fill(const From &from, To &to, Arena &arena) { fill_list(from, to, arena); }
  static void take(const To &from, From &to) { take_list(span(from), to); }
  template <class Tally>
  static void tally(const To &from, unsigned place, Tally &tally) {
    tally.length(place, from._length);
  }
};

}  // namespace c_struct

"#;

const BOUNDS: &str = r#"
namespace message {

// Whether all values of a type have one bound.
template <class T>
constexpr bool kFixed = std::is_arithmetic_v<T>;
template <class T, std::size_t N>
constexpr bool kFixed<std::array<T, N>> = kFixed<T>;

// A count of four bytes, and in XCDR2 a size; both aligned.
constexpr std::size_t kListHeader = 14;

// How many bytes a value takes at most, alignment included.
template <class T>
constexpr std::enable_if_t<std::is_arithmetic_v<T>, std::size_t> bound(T) {
  return 2 * sizeof(T) - 1;
}
inline std::size_t bound(const std::string &from) { return kListHeader + from.size() + 1; }
template <class T>
std::size_t bound(const std::vector<T> &from);
template <class T, std::size_t N>
std::size_t bound(const std::array<T, N> &from);
template <class T>
std::size_t bound(const std::optional<T> &from);
"#;

const CODEC: &str = r#"
namespace message {

template <class T>
std::size_t bounds(const T *from, std::size_t count) {
  std::size_t total = kListHeader;
  if constexpr (std::is_arithmetic_v<T>) {
    total += sizeof(T) - 1 + count * sizeof(T);
  } else if constexpr (kFixed<T>) {
    total += count * bound(T{});
  } else {
    for (std::size_t i = 0; i < count; ++i) total += bound(from[i]);
  }
  return total;
}
template <class T>
std::size_t bound(const std::vector<T> &from) {
  return bounds(from.data(), from.size());
}
template <class T, std::size_t N>
std::size_t bound(const std::array<T, N> &from) {
  return bounds(from.data(), N);
}
template <class T>
std::size_t bound(const std::optional<T> &from) {
  return 1 + (from ? bound(*from) : 0);
}

}  // namespace message

namespace {

// The library's message: one to write, with an arena that it is lent, and one
// that was read, which owns and keeps its memory.
class Object {
 public:
  Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  ~Object() { dds_stream_free_sample(&read_, ROOT_desc.m_ops); }

  void fill(const message::Root &from) {
    arena->clear();
    c_struct::fill_value(from, filled_, *arena);
  }
  const ROOT &filled() const { return filled_; }
  ROOT &read() { return read_; }

  std::unique_ptr<c_struct::Arena> arena;

 private:
  ROOT filled_{};
  ROOT read_{};
};

class Cyclone : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = ::Object;
  static std::string library() { return "Cyclone DDS " DDS_VERSION; }
  static constexpr bool verifies = true;

  // The type as the library's own readers and writers know it.
  Cyclone() {
    const dds_topic_descriptor_t &topic = ROOT_desc;
    type_.type.size = topic.m_size;
    type_.type.align = topic.m_align;
    type_.type.flagset = topic.m_flagset;
    type_.type.ops.ops = const_cast<std::uint32_t *>(topic.m_ops);
    type_.type.ops.nops = dds_stream_countops(topic.m_ops, topic.m_nkeys, topic.m_keys);
    type_.opt_size_xcdr1 = dds_stream_check_optimize(&type_.type, CDR_ENC_VERSION_1);
    type_.opt_size_xcdr2 = dds_stream_check_optimize(&type_.type, CDR_ENC_VERSION_2);
    version_ = dds_stream_minimum_xcdr_version(topic.m_ops);
  }

  void populate(const Message &message, Object &object) {
    if (!object.arena) object.arena = arenas_.lend();
    object.fill(message);
  }

  void recycle(Object &object) { arenas_.take_back(std::move(object.arena)); }

  void write(const Message &message, Object &object, wiregauge::Buffer &out) {
    const std::size_t bound = message::bound(message);
    if (bound > UINT32_MAX / 2) throw wiregauge::Rejected("it is longer than 2 GiB");
    out.reserve(bound);
    dds_ostream_t stream{out.data(), static_cast<std::uint32_t>(out.capacity()), 0, version_};
    const bool written = dds_stream_write_sample(&stream, &object.filled(), &type_);
    // Had the stream outgrown its room, the buffer would be gone.
    if (stream.m_buffer != out.data()) std::abort();
    if (!written) throw std::runtime_error("Cyclone DDS cannot write the message");
    out.resize(stream.m_index);
  }

  void parse(wiregauge::Wire wire, Object &object) {
    normalize(wire);
    dds_istream_t stream;
    dds_istream_init(&stream, static_cast<std::uint32_t>(wire.size), received_.data(), version_);
    dds_stream_read_sample(&stream, &object.read(), &type_);
    dds_istream_fini(&stream);
  }

  void extract(wiregauge::Wire, Object &object, Message &message) {
    c_struct::take_value(object.read(), message);
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    tally = c_struct::Glue<Message, ROOT>::numbers<Tally>(object.read());
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    c_struct::fixed(object.read(), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    c_struct::element(object.read(), tally);
  }

  void verify(wiregauge::Wire wire) { normalize(wire); }

 private:
  // Checks the bytes, in a copy: the library may change what it normalizes.
  void normalize(wiregauge::Wire wire) {
    if (wire.size > UINT32_MAX / 2) throw std::runtime_error("longer than 2 GiB");
    received_.clear();
    received_.append(wire.data, wire.size);
    const auto size = static_cast<std::uint32_t>(wire.size);
    std::uint32_t used = 0;
    if (!dds_stream_normalize(received_.data(), size, false, version_, &type_, false, &used))
      throw std::runtime_error("not CDR of this type");
    if (used != size) throw std::runtime_error("bytes left over after the message");
  }

  ddsi_sertype_default type_{};
  std::uint32_t version_ = 0;
  wiregauge::Buffer received_{64};
  c_struct::Arenas arenas_;
};

}  // namespace

int main() { return wiregauge::serve<Cyclone>(); }
"#;
