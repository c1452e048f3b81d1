//! ROS MSG: the serialization of ROS 1 by the streams of roscpp_serialization,
//! generated for the normalized structures.

use anyhow::Result;
use wiregauge_schema::{Cardinality, Element, Record, Scalar, Schema, TypeDef, TypeId};

use crate::code::Code;
use crate::codec::{Answer, Codec, Emission, File, Language, Need, Unit};
use crate::lowering::{self, Lowering};
use crate::sequential::{self, flag_name, Sequential};

inventory::submit! {
    Codec {
        name: "ros-msg",
        title: "ROS MSG",
        format: "ros-msg",
        language: Language::Cpp,
        bound: false,
        options: &[
            "no presence: an optional value takes its bytes and a flag's, absent or not",
            "IsSimple is set for records whose memory is their serialized form: lists of them move \
             as blocks",
        ],
        needs: &[Need::Header("ros/serialization.h", "libroscpp-core-dev")],
        answer,
        idl: Some(idl),
        emit,
    }
}

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Answer::lowered(vec![Lowering::enumeration()]);
    };
    let mut lowerings = lowering::unions_and_bounds(record);
    lowerings.extend(sequential::lowerings(record));
    for field in &record.fields {
        let of_bytes = field.element == Element::Bytes
            && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        if of_bytes {
            lowerings
                .push(Lowering::new("list of bytes as a list of strings", "that they are no text"));
        }
    }
    Answer::lowered(lowerings)
}

/// `Message.msg`: the message, then each record that it uses, delimited as ROS
/// itself does when it writes a definition out whole.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = Code::new();
    definition(schema, schema.root(), &mut code);
    for (id, record) in schema.records() {
        if id != schema.root {
            code.line("=".repeat(80));
            code.line(format!("MSG: wg/{}", record.name.legal));
            definition(schema, record, &mut code);
        }
    }
    Ok(File::new("Message.msg", code.finish()))
}

fn definition(schema: &Schema, record: &Record, code: &mut Code) {
    for field in &record.fields {
        let name = &field.name.legal;
        let repeats =
            matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        let element = match field.element {
            // An octet list cannot be an element; a string has the same bytes.
            Element::Bytes if repeats => "string".into(),
            Element::Bytes => "uint8[]".into(),
            other => element_type(schema, other),
        };
        code.line(match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => format!("{element} {name}"),
            Cardinality::Optional if matches!(field.element, Element::Record(_)) => {
                format!("{element}[] {name}")
            }
            Cardinality::Optional => {
                format!("bool {}\n{element} {name}", flag_name(record, field))
            }
            Cardinality::List { .. } => format!("{element}[] {name}"),
            Cardinality::Array { len } => format!("{element}[{len}] {name}"),
        });
    }
}

fn element_type(schema: &Schema, element: Element) -> String {
    match element {
        Element::String | Element::Bytes => "string".into(),
        Element::Record(id) => schema.record(id).name.legal.clone(),
        other => match schema.scalar(other).expect("a number") {
            Scalar::Bool => "bool",
            Scalar::U8 => "uint8",
            Scalar::U16 => "uint16",
            Scalar::U32 => "uint32",
            Scalar::U64 => "uint64",
            Scalar::I8 => "int8",
            Scalar::I16 => "int16",
            Scalar::I32 => "int32",
            Scalar::I64 => "int64",
            Scalar::F32 => "float32",
            Scalar::F64 => "float64",
        }
        .into(),
    }
}

/// Whether every byte is a valid value of every field, so that a record may be
/// copied from bytes. Truth values are not so.
fn takes_any_bytes(schema: &Schema, id: TypeId) -> bool {
    schema.is_pod(id)
        && schema.record(id).fields.iter().all(|field| match field.element {
            Element::Record(inner) => takes_any_bytes(schema, inner),
            other => schema.scalar(other) != Some(Scalar::Bool),
        })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let sequential = Sequential { schema, filler: false };
    let mut code = Code::new();
    code.line(PRIMITIVES);
    sequential.layouts(&mut code);
    code.line("");
    code.line("}  // namespace glue");
    code.line("");
    code.line("// Records whose fields leave no gap in memory have it in their serialized form.");
    code.line("namespace ros::message_traits {");
    for (_, record) in schema.records().filter(|(id, _)| takes_any_bytes(schema, *id)) {
        let name = format!("message::{}", record.name.legal);
        code.line(format!(
            "template <>\nstruct IsSimple<{name}>\n    \
             : std::bool_constant<sizeof({name}) == glue::end<{name}>(0)> {{}};"
        ));
    }
    code.line("}  // namespace ros::message_traits");
    code.line(RECORDS);
    sequential.functions(unit, &mut code);
    sequential.codec("RosMsg", r#""roscpp_serialization""#, RESIZE, &mut code);
    Ok(Emission {
        files: vec![File::new("main.cpp", code.finish())],
        sources: vec!["main.cpp".into()],
        libraries: vec!["roscpp_serialization".into()],
        ..Emission::default()
    })
}

const PRIMITIVES: &str = r#"// Generated by wiregauge: the normalized message by streams of ROS 1.
#include <ros/serialization.h>

#include <algorithm>
#include <limits>

#include "message.hpp"
#include "wiregauge/serve.hpp"

namespace glue {

constexpr std::size_t after(std::size_t at, std::size_t size, std::size_t count) {
  return at + size * count;
}

constexpr std::size_t after_text(std::size_t at, std::size_t size) { return at + 4 + size; }

// Where a record of fixed size ends that is written at this offset.
template <class T>
constexpr std::size_t end(std::size_t at);

template <class T>
constexpr std::size_t after_all(std::size_t at, std::size_t count) {
  return at + count * end<T>(0);
}

class Out {
 public:
  explicit Out(wiregauge::Buffer &out)
      : stream_(out.data(), static_cast<std::uint32_t>(out.size())) {}

  template <class T>
  void put(const T &value) {
    stream_.next(value);
  }

  // Cannot be too large where the message is not.
  void count(std::size_t count) { stream_.next(static_cast<std::uint32_t>(count)); }

  template <class T>
  void block(const T *from, std::size_t count) {
    const std::size_t size = count * sizeof(T);
    if (size != 0) std::memcpy(stream_.advance(static_cast<std::uint32_t>(size)), from, size);
  }

 private:
  ros::serialization::OStream stream_;
};

class In {
 public:
  // The library takes a pointer that it might write to, but only reads here.
  explicit In(wiregauge::Wire wire)
      : stream_(const_cast<std::uint8_t *>(wire.data), checked(wire.size)), size_(wire.size) {}

  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  void get(T &value) {
    stream_.next(value);
  }

  // The library's own calls would make a new string each time, and make room
  // for octets before they know that these are there.
  void get(std::string &value) {
    const std::size_t size = count(1);
    value.assign(reinterpret_cast<const char *>(take(size)), size);
  }

  void get(std::vector<std::uint8_t> &value) {
    value.resize(count(1));
    block(value.data(), value.size());
  }

  // A count of elements that take at least so many bytes each. Elements that
  // take none are believed up to a number that does no harm.
  std::size_t count(std::size_t least) {
    std::uint32_t count = 0;
    stream_.next(count);
    if (count > (least == 0 ? std::size_t{1} << 24 : left() / least))
      throw std::runtime_error("a list is longer than the message");
    return count;
  }

  template <class T>
  void block(T *to, std::size_t count) {
    if constexpr (std::is_same_v<T, bool>) {
      for (std::size_t i = 0; i < count; ++i) stream_.next(to[i]);
    } else if (count != 0) {
      std::memcpy(to, take(count * sizeof(T)), count * sizeof(T));
    }
  }

  void flags(std::uint8_t *to, std::size_t count) {
    block(to, count);
    for (std::size_t i = 0; i < count; ++i) to[i] = to[i] != 0;
  }

  template <class T>
  double total(std::size_t count) {
    double total = 0;
    const std::uint8_t *from = take(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        total += from[i] != 0;
      } else {
        T value;
        std::memcpy(&value, from + i * sizeof(T), sizeof(T));
        total += static_cast<double>(value);
      }
    }
    return total;
  }

  // Goes behind a text; its size.
  std::size_t text() {
    const std::size_t size = count(1);
    take(size);
    return size;
  }

  std::size_t at() { return size_ - left(); }

  void seek(std::size_t at) { take(at - this->at()); }

  void finish() {
    if (left() != 0) throw std::runtime_error("bytes left over after the message");
  }

 private:
  static std::uint32_t checked(std::size_t size) {
    if (size > std::numeric_limits<std::uint32_t>::max())
      throw std::runtime_error("longer than 4 GiB");
    return static_cast<std::uint32_t>(size);
  }

  std::size_t left() { return stream_.getLength(); }

  // The stream counts in 32 bits, so what is larger must not reach it.
  const std::uint8_t *take(std::size_t size) {
    if (size > left()) ros::serialization::throwStreamOverrun();
    return stream_.advance(static_cast<std::uint32_t>(size));
  }

  ros::serialization::IStream stream_;
  std::size_t size_;
};
"#;

const RECORDS: &str = r#"
namespace glue {

// The streams are copied for the loops, so that their positions stay in
// registers.
template <class T>
void put_all(Out &out, const T *from, std::size_t count) {
  if constexpr (ros::message_traits::IsSimple<T>::value) {
    out.block(from, count);
  } else {
    Out copy = out;
    for (std::size_t i = 0; i < count; ++i) put(copy, from[i]);
    out = copy;
  }
}

template <class T>
void get_all(In &in, T *to, std::size_t count) {
  if constexpr (ros::message_traits::IsSimple<T>::value) {
    in.block(to, count);
  } else {
    In copy = in;
    for (std::size_t i = 0; i < count; ++i) get(copy, to[i]);
    in = copy;
  }
}

template <class T>
double sum(In &in);

template <class T>
double sum_all(In &in, std::size_t count) {
  double total = 0;
  In copy = in;
  for (; count != 0; --count) total += sum<T>(copy);
  in = copy;
  return total;
}
"#;

const RESIZE: &str = "\
    if (size > std::numeric_limits<std::uint32_t>::max())
      throw std::runtime_error(\"longer than 4 GiB\");
    out.resize(size);";
