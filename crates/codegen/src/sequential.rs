//! Formats that write one field after another, without tags, offsets or
//! presence: the C++ functions that do so for every record of a schema.
//!
//! What such a format cannot say becomes something else: an optional record a
//! list of none or one; any other option a flag and the value, which is zero or
//! empty where it is absent; an enum the integer that represents it.
//!
//! The format's own file brings what its library does with single values, in
//! namespace `glue`:
//!
//! ```text
//! after(at, size, count)      the offset behind `count` numbers of `size` bytes
//!                             that are written, aligned, at offset `at`
//! after_text(at, size)        the same of a text
//! end<T>(at)                  declared: where a record of fixed size ends
//! after_all<T>(at, count)     the offset behind many of these
//! class Out                   put(value), count(n), block(numbers, count)
//! class In                    get(value), count(least), block(numbers, count),
//!                             flags(bytes, count), total<T>(count), text(),
//!                             at(), seek(offset), finish()
//! put_all, get_all, sum_all   so many records, of a list or an array
//! ```

use wiregauge_schema::path::{Index, Step};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeId};

use crate::code::Code;
use crate::codec::Unit;
use crate::lowering::Lowering;

/// A schema in a format of this kind.
pub struct Sequential<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// Whether an octet stands for a record without fields, which the format
    /// does not know.
    pub filler: bool,
}

/// What formats of this kind make of a record's optional fields.
pub fn lowerings(record: &Record) -> impl Iterator<Item = Lowering> + '_ {
    let is_optional = |field: &&Field| field.cardinality == Cardinality::Optional;
    record.fields.iter().filter(is_optional).map(|field| match field.element {
        Element::Record(_) => Lowering::optional_record("list").and("four bytes each"),
        _ => Lowering::flagged("value").and("an absent value is paid for"),
    })
}

/// The name of the flag beside an optional value, unlike that of any field.
pub fn flag_name(record: &Record, field: &Field) -> String {
    let name = format!("has_{}", field.name.legal);
    match record.fields.iter().any(|other| other.name.legal == name) {
        false => name,
        // No legal name ends like this.
        true => name + "_",
    }
}

impl Sequential<'_> {
    /// The number type of an element that is one.
    fn number(&self, field: &Field) -> Option<Scalar> {
        self.schema.scalar(field.element)
    }

    /// Whether a record takes the same bytes whatever it holds, but for what
    /// alignment adds.
    fn is_fixed(&self, id: TypeId) -> bool {
        self.schema.record(id).fields.iter().all(|field| match field.element {
            Element::String | Element::Bytes => false,
            Element::Record(inner) => {
                !matches!(field.cardinality, Cardinality::Optional | Cardinality::List { .. })
                    && self.is_fixed(inner)
            }
            _ => !matches!(field.cardinality, Cardinality::List { .. }),
        })
    }

    /// The fewest bytes that an element takes, without alignment.
    fn least(&self, element: Element) -> u64 {
        let Element::Record(id) = element else {
            return self.schema.scalar(element).map_or(4, |scalar| scalar.size() as u64);
        };
        let fields = &self.schema.record(id).fields;
        if fields.is_empty() {
            return u64::from(self.filler);
        }
        let least = |field: &Field| match (field.element, field.cardinality) {
            (Element::Record(_), Cardinality::Optional) | (_, Cardinality::List { .. }) => 4,
            (element, Cardinality::Optional) => 1 + self.least(element),
            (element, Cardinality::Array { len }) => u64::from(len) * self.least(element),
            (element, _) => self.least(element),
        };
        fields.iter().map(least).sum()
    }

    /// `end<T>(at)` of every record of fixed size: where one ends that is
    /// written at offset `at`.
    pub fn layouts(&self, code: &mut Code) {
        for (_, record) in self.schema.records().filter(|(id, _)| self.is_fixed(*id)) {
            let name = &record.name.legal;
            code.line("");
            code.line("template <>");
            code.block(
                format!("constexpr std::size_t end<message::{name}>(std::size_t at) {{"),
                "}",
                |code| {
                    for field in &record.fields {
                        for line in self.field_end(field) {
                            code.line(line);
                        }
                    }
                    if record.fields.is_empty() && self.filler {
                        code.line("at = after(at, 1, 1);");
                    }
                    code.line("return at;");
                },
            );
        }
    }

    /// Moves `at` behind a field, of which `from` is the record if the field's
    /// size varies.
    fn field_end(&self, field: &Field) -> Vec<String> {
        let f = format!("from.{}", field.name.legal);
        let flag = "at = after(at, 1, 1);".to_string();
        let count = "at = after(at, 4, 1);".to_string();
        match field.element {
            Element::Record(id) => {
                let name = &self.schema.record(id).name.legal;
                let fixed = self.is_fixed(id);
                let one = |value: &str| {
                    if fixed {
                        format!("at = end<message::{name}>(at);")
                    } else {
                        format!("at = end({value}, at);")
                    }
                };
                let each = format!("for (const auto &value : {f}) {}", one("value"));
                match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => vec![one(&f)],
                    Cardinality::Optional => {
                        vec![count, format!("if ({f}) {}", one(&format!("*{f}")))]
                    }
                    Cardinality::List { .. } if fixed => {
                        vec![count, format!("at = after_all<message::{name}>(at, {f}.size());")]
                    }
                    Cardinality::List { .. } => vec![count, each],
                    Cardinality::Array { len } if fixed => {
                        vec![format!("at = after_all<message::{name}>(at, {len});")]
                    }
                    Cardinality::Array { .. } => vec![each],
                }
            }
            Element::String | Element::Bytes => {
                let one = |size: &str| match field.element {
                    Element::String => format!("at = after_text(at, {size});"),
                    _ => format!("at = after(after(at, 4, 1), 1, {size});"),
                };
                let each = format!("for (const auto &value : {f}) {}", one("value.size()"));
                match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => {
                        vec![one(&format!("{f}.size()"))]
                    }
                    Cardinality::Optional => vec![flag, one(&format!("{f} ? {f}->size() : 0"))],
                    Cardinality::List { .. } => vec![count, each],
                    Cardinality::Array { .. } => vec![each],
                }
            }
            other => {
                let size = self.schema.scalar(other).expect("a number").size();
                match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => {
                        vec![format!("at = after(at, {size}, 1);")]
                    }
                    Cardinality::Optional => vec![flag, format!("at = after(at, {size}, 1);")],
                    Cardinality::List { .. } => {
                        vec![count, format!("at = after(at, {size}, {f}.size());")]
                    }
                    Cardinality::Array { len } => vec![format!("at = after(at, {size}, {len});")],
                }
            }
        }
    }

    /// `end`, `put`, `get`, `skip<T>` and `sum<T>` of every record, and the
    /// numbers `fixed` and `element`.
    pub fn functions(&self, unit: &Unit, code: &mut Code) {
        code.line(SHARED);
        for (id, record) in self.schema.records() {
            if !self.is_fixed(id) {
                self.end(record, code);
            }
            self.put(record, code);
            self.get(record, code);
            self.skip(id, code);
            self.sum(record, code);
        }
        self.length(code);
        self.accessor("fixed", unit.projection.fixed.as_deref(), code);
        self.accessor("element", unit.projection.element.as_deref(), code);
    }

    /// The codec and `main`, behind namespace `glue`: the class by this name,
    /// the C++ expression for its `library`, and the statements that `resize`
    /// the buffer `out` to `size` bytes.
    pub fn codec(&self, class: &str, library: &str, resize: &str, code: &mut Code) {
        code.line(
            CODEC
                .replace("CLASS", class)
                .replace("LIBRARY", library)
                .replace("RESIZE", resize)
                .replace("ROOT", &self.schema.root().name.legal),
        );
    }

    /// `end(from, at)`: where a record of variable size ends.
    fn end(&self, record: &Record, code: &mut Code) {
        let name = &record.name.legal;
        code.line("");
        code.block(
            format!("inline std::size_t end(const message::{name} &from, std::size_t at) {{"),
            "}",
            |code| {
                for field in &record.fields {
                    for line in self.field_end(field) {
                        code.line(line);
                    }
                }
                code.line("return at;");
            },
        );
    }

    /// `length(message)`: the bytes that the message takes.
    fn length(&self, code: &mut Code) {
        let name = &self.schema.root().name.legal;
        let end = match self.is_fixed(self.schema.root) {
            true => format!("end<message::{name}>(0)"),
            false => "end(from, 0)".into(),
        };
        code.line("");
        code.block(
            format!("inline std::size_t length([[maybe_unused]] const message::{name} &from) {{"),
            "}",
            |code| code.line(format!("return {end};")),
        );
    }

    /// `put`: normalized form to bytes.
    fn put(&self, record: &Record, code: &mut Code) {
        let name = &record.name.legal;
        code.line("");
        code.block(
            format!(
                "inline void put([[maybe_unused]] Out &out,\n\
                 \x20               [[maybe_unused]] const message::{name} &from) {{"
            ),
            "}",
            |code| {
                for field in &record.fields {
                    let f = format!("from.{}", field.name.legal);
                    let is_list = matches!(field.cardinality, Cardinality::List { .. });
                    if is_list {
                        code.line(format!("out.count({f}.size());"));
                    }
                    code.line(match (field.element, field.cardinality) {
                        (Element::Record(_), Cardinality::Required | Cardinality::Implicit) => {
                            format!("put(out, {f});")
                        }
                        (Element::Record(_), Cardinality::Optional) => {
                            format!("out.count({f} ? 1 : 0);\nif ({f}) put(out, *{f});")
                        }
                        (Element::Record(_), _) => format!("put_all(out, {f}.data(), {f}.size());"),
                        (_, Cardinality::Required | Cardinality::Implicit) => {
                            format!("out.put({f});")
                        }
                        (_, Cardinality::Optional) => format!("put_optional(out, {f});"),
                        (Element::String | Element::Bytes, _) => {
                            format!("for (const auto &value : {f}) out.put(value);")
                        }
                        _ => format!("out.block({f}.data(), {f}.size());"),
                    });
                }
                if record.fields.is_empty() && self.filler {
                    code.line("out.put(std::uint8_t{0});");
                }
            },
        );
    }

    /// `get`: bytes to normalized form.
    fn get(&self, record: &Record, code: &mut Code) {
        let name = &record.name.legal;
        code.line("");
        code.block(
            format!(
                "inline void get([[maybe_unused]] In &in,\n\
                 \x20               [[maybe_unused]] message::{name} &to) {{"
            ),
            "}",
            |code| {
                for field in &record.fields {
                    let f = format!("to.{}", field.name.legal);
                    let least = self.least(field.element);
                    let is_list = matches!(field.cardinality, Cardinality::List { .. });
                    if is_list {
                        code.line(format!("{f}.resize(in.count({least}));"));
                    }
                    code.line(match (field.element, field.cardinality) {
                        (Element::Record(_), Cardinality::Required | Cardinality::Implicit) => {
                            format!("get(in, {f});")
                        }
                        (Element::Record(_), Cardinality::Optional) => {
                            format!(
                                "if (get_presence(in, {least}))\n  \
                                 get(in, {f} ? *{f} : {f}.emplace());\n\
                                 else\n  {f}.reset();"
                            )
                        }
                        (Element::Record(_), _) => format!("get_all(in, {f}.data(), {f}.size());"),
                        (_, Cardinality::Required | Cardinality::Implicit) => {
                            format!("in.get({f});")
                        }
                        (_, Cardinality::Optional) => format!("get_optional(in, {f});"),
                        (Element::String | Element::Bytes, _) => {
                            format!("for (auto &value : {f}) in.get(value);")
                        }
                        _ if is_list && self.number(field) == Some(Scalar::Bool) => {
                            format!("in.flags({f}.data(), {f}.size());")
                        }
                        _ => format!("in.block({f}.data(), {f}.size());"),
                    });
                }
                if record.fields.is_empty() && self.filler {
                    code.line("skip_numbers(in, 1, 1);");
                }
            },
        );
    }

    /// `skip<T>`: goes behind a record.
    fn skip(&self, id: TypeId, code: &mut Code) {
        let name = &self.schema.record(id).name.legal;
        code.line("");
        code.line("template <>");
        code.block(format!("inline void skip<message::{name}>(In &in) {{"), "}", |code| {
            if self.is_fixed(id) {
                code.line(format!("in.seek(end<message::{name}>(in.at()));"));
            } else {
                for field in &self.schema.record(id).fields {
                    code.line(self.field_skip(field));
                }
            }
        });
    }

    /// Goes behind a field.
    fn field_skip(&self, field: &Field) -> String {
        let least = self.least(field.element);
        match field.element {
            Element::Record(id) => {
                let name = &self.schema.record(id).name.legal;
                let all = if self.is_fixed(id) { "skip_all_fixed" } else { "skip_all" };
                match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => {
                        format!("skip<message::{name}>(in);")
                    }
                    Cardinality::Array { len } => format!("{all}<message::{name}>(in, {len});"),
                    Cardinality::Optional | Cardinality::List { .. } => {
                        format!("{all}<message::{name}>(in, in.count({least}));")
                    }
                }
            }
            Element::String | Element::Bytes => {
                let one = match field.element {
                    Element::String => "in.text();",
                    _ => "skip_numbers(in, 1, in.count(1));",
                };
                match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => one.into(),
                    Cardinality::Optional => format!("skip_numbers(in, 1, 1);\n{one}"),
                    Cardinality::List { .. } => {
                        format!(
                            "for (std::size_t left = in.count({least}); left != 0; --left) {one}"
                        )
                    }
                    Cardinality::Array { len } => {
                        format!("for (std::size_t left = {len}; left != 0; --left) {one}")
                    }
                }
            }
            _ => match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => {
                    format!("skip_numbers(in, {least}, 1);")
                }
                Cardinality::Optional => {
                    format!("skip_numbers(in, 1, 1);\nskip_numbers(in, {least}, 1);")
                }
                Cardinality::List { .. } => {
                    format!("skip_numbers(in, {least}, in.count({least}));")
                }
                Cardinality::Array { len } => format!("skip_numbers(in, {least}, {len});"),
            },
        }
    }

    /// `sum<T>`: every number of a record, which it goes behind.
    fn sum(&self, record: &Record, code: &mut Code) {
        let name = &record.name.legal;
        code.line("");
        code.line("template <>");
        code.block(
            format!("inline double sum<message::{name}>([[maybe_unused]] In &in) {{"),
            "}",
            |code| {
                code.line("double total = 0;");
                for field in &record.fields {
                    let least = self.least(field.element);
                    let one = match field.element {
                        Element::Record(id) => {
                            format!("sum<message::{}>(in)", self.schema.record(id).name.legal)
                        }
                        Element::String => "static_cast<double>(in.text())".into(),
                        Element::Bytes => "octets(in)".into(),
                        other => {
                            format!(
                                "number<{}>(in)",
                                self.schema.scalar(other).expect("a number").cpp()
                            )
                        }
                    };
                    let scalar = self.number(field).map(Scalar::cpp);
                    let each = |count: String| match field.element {
                        Element::Record(id) => format!(
                            "total += sum_all<message::{}>(in, {count});",
                            self.schema.record(id).name.legal
                        ),
                        _ => format!(
                            "for (std::size_t left = {count}; left != 0; --left) total += {one};"
                        ),
                    };
                    code.line(match (field.cardinality, scalar) {
                        (Cardinality::Required | Cardinality::Implicit, _) => {
                            format!("total += {one};")
                        }
                        (Cardinality::Optional, _)
                            if matches!(field.element, Element::Record(_)) =>
                        {
                            each(format!("in.count({least})"))
                        }
                        // An absent value is zero or empty.
                        (Cardinality::Optional, _) => {
                            format!("skip_numbers(in, 1, 1);\ntotal += {one};")
                        }
                        // Truth values of a list are kept as octets.
                        (Cardinality::List { .. }, Some(_))
                            if least == 1 && scalar == Some("bool") =>
                        {
                            "total += in.total<std::uint8_t>(in.count(1));".into()
                        }
                        (Cardinality::List { .. }, Some(scalar)) => {
                            format!("total += in.total<{scalar}>(in.count({least}));")
                        }
                        (Cardinality::List { .. }, None) => each(format!("in.count({least})")),
                        (Cardinality::Array { len }, Some(scalar)) => {
                            format!("total += in.total<{scalar}>({len});")
                        }
                        (Cardinality::Array { len }, None) => each(len.to_string()),
                    });
                }
                if record.fields.is_empty() && self.filler {
                    code.line("skip_numbers(in, 1, 1);");
                }
                code.line("return total;");
            },
        );
    }

    /// `double NAME(In &)`: the number at a path, 0 where it is not there.
    fn accessor(&self, name: &str, path: Option<&[Step]>, code: &mut Code) {
        code.line("");
        code.block(format!("inline double {name}([[maybe_unused]] In &in) {{"), "}", |code| {
            let Some(path) = path else {
                code.line("return 0;");
                return;
            };
            let mut id = self.schema.root;
            for step in path {
                let fields = &self.schema.record(id).fields;
                for earlier in &fields[..step.field] {
                    code.line(self.field_skip(earlier));
                }
                let field = &fields[step.field];
                let least = self.least(field.element);
                match (field.cardinality, step.index) {
                    (Cardinality::Required | Cardinality::Implicit, _) => {}
                    (Cardinality::Optional, _) => code.line(match field.element {
                        Element::Record(_) => format!("if (in.count({least}) == 0) return 0;"),
                        _ => "if (number<bool>(in) == 0) return 0;".into(),
                    }),
                    (cardinality, index) => {
                        let count = match cardinality {
                            Cardinality::Array { len } => len.to_string(),
                            _ => format!("in.count({least})"),
                        };
                        let index = match index {
                            Index::At(index) => index.to_string(),
                            _ => "count / 2".into(),
                        };
                        code.open("{");
                        code.line(format!("const std::size_t count = {count};"));
                        code.line(format!("const std::size_t index = {index};"));
                        code.line("if (index >= count) return 0;");
                        code.line(match field.element {
                            Element::Record(inner) => {
                                let name = &self.schema.record(inner).name.legal;
                                let all = if self.is_fixed(inner) {
                                    "skip_all_fixed"
                                } else {
                                    "skip_all"
                                };
                                format!("{all}<message::{name}>(in, index);")
                            }
                            _ => format!("skip_numbers(in, {least}, index);"),
                        });
                        code.close("}");
                    }
                }
                match field.element {
                    Element::Record(inner) => id = inner,
                    other => {
                        let scalar = self.schema.scalar(other).expect("paths end at numbers");
                        code.line(format!("return number<{}>(in);", scalar.cpp()));
                    }
                }
            }
        });
    }
}

/// What is the same for every format of this kind.
const SHARED: &str = r#"
template <class T>
void put_optional(Out &out, const std::optional<T> &from) {
  out.put(from.has_value());
  if (from) {
    out.put(*from);
  } else {
    out.put(T{});
  }
}

template <class T>
void get_optional(In &in, std::optional<T> &to) {
  bool present = false;
  in.get(present);
  if (!to) to.emplace();
  in.get(*to);
  if (!present) to.reset();
}

inline bool get_presence(In &in, std::size_t least) {
  const std::size_t count = in.count(least);
  if (count > 1) throw std::runtime_error("an optional record occurs more than once");
  return count == 1;
}

template <class T>
double number(In &in) {
  T value;
  in.get(value);
  return static_cast<double>(value);
}

inline void skip_numbers(In &in, std::size_t size, std::size_t count) {
  in.seek(after(in.at(), size, count));
}

inline double octets(In &in) {
  const std::size_t count = in.count(1);
  skip_numbers(in, 1, count);
  return static_cast<double>(count);
}

template <class T>
void skip(In &in);

template <class T>
void skip_all(In &in, std::size_t count) {
  for (; count != 0; --count) skip<T>(in);
}

template <class T>
void skip_all_fixed(In &in, std::size_t count) {
  in.seek(after_all<T>(in.at(), count));
}
"#;

const CODEC: &str = r#"
}  // namespace glue

namespace {

class CLASS {
 public:
  using Message = message::ROOT;
  using Object = wiregauge::None;
  static std::string library() { return LIBRARY; }
  static constexpr bool verifies = false;

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    const std::size_t size = glue::length(message);
    RESIZE
    glue::Out writer(out);
    glue::put(writer, message);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    glue::In in(wire);
    glue::get(in, message);
    in.finish();
  }

  double project(wiregauge::Wire wire) {
    glue::In in(wire);
    return glue::sum<Message>(in);
  }

  double fixed(wiregauge::Wire wire) {
    glue::In in(wire);
    return glue::fixed(in);
  }

  double element(wiregauge::Wire wire) {
    glue::In in(wire);
    return glue::element(in);
  }
};

}  // namespace

int main() { return wiregauge::serve<CLASS>(); }
"#;
