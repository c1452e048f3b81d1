//! The shape that the glue of C libraries shares: between normalized C++
//! structures and the plain C structs that a format's compiler generates.
//!
//! What is done for each shape of a member is written in `wiregauge/c_struct.hpp`; here
//! is chosen which of its functions each member of each record calls.

use wiregauge_normalized::{SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeId};

use crate::flattened_field::{self, FlattenedField};
use crate::lowering::{self, Lowering};

/// How a field is carried in a C struct, under its legal name.
pub enum Shape {
    /// As it is; a fixed array as C's own.
    Value,
    /// Optional: a value and the flag with this name.
    Flagged(String),
    /// A value that is always there, although the flag with this name says so.
    Marked(String),
    /// Optional: a pointer, null where absent.
    Nullable,
    /// A record that is always there, behind a pointer.
    Pointer,
    /// A list, or a fixed array that is checked to have its length.
    List,
    /// Optional: a list of none or one.
    OptionalList,
    /// A list or fixed array of numbers as octets, little-endian.
    Packed(Scalar),
}

/// What differs between C libraries.
pub trait CLibrary {
    /// The C type of a record.
    fn record_type(&self, record: &Record) -> String {
        format!("wg_{}", record.name.legal)
    }
    /// The fields of a record as the format has them.
    fn format_fields(&self, _: &Schema, record: &Record) -> Vec<FlattenedField> {
        flattened_field::keep_fields(record)
    }
    /// How a field is carried.
    fn shape(&self, schema: &Schema, field: &Field) -> Shape;
    /// Name of the only member of a record without fields.
    fn unused(&self) -> &'static str {
        UNUSED
    }
    /// The C expressions, comma-separated, that `span` and `fill_list` take for
    /// a list in `object`.
    fn list_arguments(&self, object: &str, field: &Field) -> String;
}

/// Name of the only member of a record without fields. It gives the record the
/// same size in C and C++; the formats' compilers would make an empty struct,
/// which has none in C and one byte in C++.
pub const UNUSED: &str = "unused";

/// What C libraries lose alike: the fields of a record that has none, the
/// bounds of lists, and unions.
pub fn lowerings(record: &Record) -> Vec<Lowering> {
    let mut lowerings = lowering::unions_and_bounds(record);
    if record.fields.is_empty() {
        lowerings.push(Lowering::no_fields());
    }
    lowerings
}

/// Whether some field holds octets, which then need a type of their own.
pub fn uses_octets(schema: &Schema) -> bool {
    schema
        .records()
        .any(|(_, record)| record.fields.iter().any(|field| field.element == Element::Bytes))
}

/// Name of the flag that tells whether an optional field is there. No legal
/// field name is derived from another in this way.
pub fn flag_name(field: &Field) -> String {
    format!("has_{}", field.name.legal)
}

/// A name for the type of octets that no type of the schema has.
pub fn octets_type(schema: &Schema) -> String {
    let mut name = "Octets".to_string();
    let names = || {
        let records = schema.records().map(|(_, record)| &record.name.legal);
        records.chain(schema.enums().map(|(_, enumeration)| &enumeration.name.legal))
    };
    while names().any(|taken| taken.eq_ignore_ascii_case(&name)) {
        name.insert_str(0, "Raw");
    }
    name
}

/// `Root`, specializations of `Glue` for all records, and the two functions
/// `fixed` and `element` that read a number from a root struct; to stand in
/// namespace `c_struct`.
pub fn glue(unit: &Unit, library: &dyn CLibrary, code: &mut SourceWriter) {
    let schema = unit.schema;
    code.line("");
    code.line(format!("using Root = {};", library.record_type(schema.root())));
    for (id, record) in schema.records() {
        code.line("");
        record_glue(schema, id, record, library, code);
    }
    accessor(schema, "fixed", unit.projection.fixed.as_deref(), library, code);
    accessor(schema, "element", unit.projection.element.as_deref(), library, code);
}

/// The specialization of `Glue` for octets, by the format's own `OctetsGlue`.
pub fn octets_glue(octets: &str) -> String {
    format!(
        "template <>\nstruct Glue<std::vector<std::uint8_t>, {octets}> : OctetsGlue<{octets}> {{}};"
    )
}

fn record_glue(
    schema: &Schema,
    id: TypeId,
    record: &Record,
    library: &dyn CLibrary,
    code: &mut SourceWriter,
) {
    let message = format!("message::{}", record.name.legal);
    let c_type = library.record_type(record);
    code.line("template <>");
    code.block(format!("struct Glue<{message}, {c_type}> {{"), "};", |code| {
        code.line(format!("using From = {message};"));
        code.line(format!("using To = {c_type};"));
        code.line(same_layout(schema, id, record, library));
        let verbs = [
            ("static void fill([[maybe_unused]] const From &from, [[maybe_unused]] To &to,\n                 [[maybe_unused]] Arena &arena) {", GlueOperation::Fill),
            ("static void take([[maybe_unused]] const To &from, [[maybe_unused]] From &to) {", GlueOperation::Take),
            ("template <class Tally>\nstatic Tally numbers([[maybe_unused]] const To &from) {", GlueOperation::Tally),
        ];
        for (open, verb) in verbs {
            code.block(open, "}", |code| {
                if matches!(verb, GlueOperation::Tally) {
                    code.line("Tally tally{};");
                }
                for slot in library.format_fields(schema, record) {
                    code.line(statement(schema, &slot, library, verb));
                }
                if matches!(verb, GlueOperation::Fill) && record.fields.is_empty() {
                    code.line(format!("to.{} = 0;", library.unused()));
                }
                if matches!(verb, GlueOperation::Tally) {
                    code.line("return tally;");
                }
            });
        }
        code.line("template <class Tally>");
        code.block("static void tally(const To &from, unsigned place, Tally &tally) {", "}", |code| {
            code.line("tally.record(place, numbers<Tally>(from));")
        });
    });
}

/// Whether both structs of a record have the same layout: possible where every
/// member is a value, and then proven by the C++ compiler.
fn same_layout(schema: &Schema, id: TypeId, record: &Record, library: &dyn CLibrary) -> String {
    let slots = library.format_fields(schema, record);
    let is_value = |slot: &FlattenedField| {
        matches!(library.shape(schema, &slot.field), Shape::Value) && slot.number.is_none()
    };
    if slots.is_empty() || !schema.is_pod(id) || !slots.iter().all(is_value) {
        return "static constexpr bool kSame = false;".into();
    }
    let mut conditions = vec!["sizeof(From) == sizeof(To)".to_string()];
    for field in &record.fields {
        let f = &field.name.legal;
        conditions.push(format!("offsetof(From, {f}) == offsetof(To, {f})"));
        conditions.push(format!("Glue<decltype(From::{f}), decltype(To::{f})>::kSame"));
    }
    format!("static constexpr bool kSame =\n    {};", conditions.join(" &&\n    "))
}

#[derive(Clone, Copy)]
enum GlueOperation {
    Fill,
    Take,
    Tally,
}

/// What one field needs in `fill`, `take` or `tally`.
fn statement(
    schema: &Schema,
    slot: &FlattenedField,
    library: &dyn CLibrary,
    verb: GlueOperation,
) -> String {
    let (field, value, f) = (&slot.field, &slot.value, &slot.field.name.legal);
    let shape = library.shape(schema, field);
    let suffix = match shape {
        Shape::Value => "_value",
        Shape::Flagged(_) => "_flagged",
        Shape::Marked(_) => "_marked",
        Shape::Nullable => "_nullable",
        Shape::Pointer => "_pointer",
        Shape::List => "_list",
        Shape::OptionalList => "_optional_list",
        Shape::Packed(_) => "_packed",
    };
    // The member as arguments.
    let member = |object: &str| match &shape {
        Shape::Flagged(flag) | Shape::Marked(flag) => {
            format!("{object}.{flag}, {object}.{f}")
        }
        Shape::List | Shape::OptionalList => library.list_arguments(object, field),
        _ => format!("{object}.{f}"),
    };
    // What taking and tallying start from.
    let (read, suffix_read) = match &shape {
        Shape::List | Shape::OptionalList => (format!("span({})", member("from")), suffix),
        Shape::Packed(scalar) => (packed(*scalar, "from", f), "_list"),
        Shape::Marked(_) => (format!("from.{f}"), "_value"),
        _ => (member("from"), suffix),
    };
    match verb {
        GlueOperation::Fill => format!("fill{suffix}(from.{value}, {}, arena);", member("to")),
        GlueOperation::Take => format!("take{suffix_read}({read}, to.{value});"),
        GlueOperation::Tally => {
            let suffix = if matches!(shape, Shape::OptionalList) { "_list" } else { suffix_read };
            let of = match value.split_once('[') {
                None => format!("decltype(From::{value})"),
                Some((array, _)) => format!("typename decltype(From::{array})::value_type"),
            };
            format!("tally{suffix}<{of}>({read}, {}, tally);", slot.place)
        }
    }
}

/// The span of packed numbers in `object`. A truth value is any byte there.
fn packed(scalar: Scalar, object: &str, member: &str) -> String {
    let item = if scalar == Scalar::Bool { Scalar::U8 } else { scalar };
    format!("packed<{}>({object}.{member})", item.cpp_name())
}

/// `void NAME(const ROOT &from, Tally &tally)`: the number at a path, nothing
/// where it is not there.
fn accessor(
    schema: &Schema,
    name: &str,
    path: Option<&[PathStep]>,
    library: &dyn CLibrary,
    code: &mut SourceWriter,
) {
    let root = library.record_type(schema.root());
    code.line("");
    code.line("template <class Tally>");
    code.block(
        format!(
            "void {name}([[maybe_unused]] const {root} &from, [[maybe_unused]] Tally &tally) {{"
        ),
        "}",
        |code| {
            let mut id = schema.root;
            let mut at = "from".to_string();
            for (depth, step) in path.unwrap_or_default().iter().enumerate() {
                let slots = library.format_fields(schema, schema.record(id));
                let Some((slot, index)) = flattened_field::find_step(&slots, step) else { return };
                let field = &slot.field;
                let member = format!("{at}.{}", field.name.legal);
                // The element behind a pointer that is null where there is none.
                let mut found = |pointer: String| {
                    code.line(format!("const auto *at{depth} = {pointer};"));
                    code.line(format!("if (at{depth} == nullptr) return;"));
                    format!("(*at{depth})")
                };
                let pick = match index {
                    ElementIndex::At(index) => format!("at({index})"),
                    ElementIndex::Middle | ElementIndex::Single => "middle()".into(),
                };
                at = match library.shape(schema, field) {
                    Shape::Value => match (field.cardinality, index) {
                        (Cardinality::Array { len }, ElementIndex::At(index)) if index >= len => {
                            return
                        }
                        (Cardinality::Array { .. }, ElementIndex::At(index)) => {
                            format!("{member}[{index}]")
                        }
                        (Cardinality::Array { len }, _) => format!("{member}[{}]", len / 2),
                        _ => member,
                    },
                    Shape::Flagged(flag) => {
                        code.line(format!("if ({at}.{flag} == 0) return;"));
                        member
                    }
                    Shape::Marked(_) => member,
                    Shape::Nullable | Shape::Pointer => found(member),
                    Shape::List => {
                        found(format!("span({}).{pick}", library.list_arguments(&at, field)))
                    }
                    Shape::OptionalList => {
                        found(format!("span({}).at(0)", library.list_arguments(&at, field)))
                    }
                    Shape::Packed(scalar) => {
                        found(format!("{}.{pick}", packed(scalar, &at, &field.name.legal)))
                    }
                };
                match field.element {
                    Element::Record(inner) => id = inner,
                    number => {
                        let scalar = schema.scalar(number).expect("a path ends at a number");
                        code.line(format!(
                            "tally.number(0, static_cast<{}>({at}));",
                            scalar.cpp_name()
                        ));
                    }
                }
            }
        },
    );
}
