//! In C++: the holders, and what their views have in common with them.

use anyhow::Result;
use wiregauge_data_holders::{cpp_names, HolderLanguage, Wire};
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Record, Schema};

use super::{GeneratedCode, GeneratedHolders, OPTIONS};
use crate::build::languages::cpp::CPP;
use crate::codec::Emission;

pub(super) const CODE: GeneratedCode =
    GeneratedCode { language: &CPP, options: OPTIONS, needs: &[] };

/// The type of a sequential wire; none of Protobuf, whose calls are others.
fn wire_type(wire: Wire) -> Option<&'static str> {
    match wire {
        Wire::RosMsg => Some("RosMsg"),
        Wire::Cdr => Some("Cdr"),
        Wire::Xcdr2 => Some("Xcdr2"),
        Wire::SomeIp => Some("SomeIp"),
        Wire::Protobuf => None,
    }
}

pub(super) fn emit(wire: Wire, unit: &Unit) -> Result<Emission> {
    let form = GeneratedHolders::new(unit, wire, HolderLanguage::Cpp, cpp_names, "holders")?;
    let schema = &form.schema;
    let mut code = begin_glue(wire, &form, &[]);
    tallies(schema, &mut code);
    cpp::accessor(schema, "fixed", unit.projection.fixed.as_deref(), &mut code);
    cpp::accessor(schema, "element", unit.projection.element.as_deref(), &mut code);
    let main = include_str!("cpp/main.cpp");
    Ok(finish_runner(wire, form, code, main))
}

/// The glue up to the holders' root.
pub(super) fn begin_glue(wire: Wire, form: &GeneratedHolders, headers: &[&str]) -> SourceWriter {
    let header = format!("wiregauge/{}.hpp", wire.name().replace('-', "_"));
    let headers = [&["holders.hpp", &header], headers].concat();
    let mut code = cpp::begin_glue(&headers);
    code.line("namespace glue {");
    code.line("");
    code.line(format!("inline constexpr char kVersion[] = \"{}\";", env!("CARGO_PKG_VERSION")));
    code.line(format!("using Root = {};", form.schema.root().name.legal));
    if let Some(name) = wire_type(wire) {
        code.line(format!("using OnWire = wiregauge::{name};"));
    }
    code
}

/// The runner, of its glue and its `main.cpp`.
pub(super) fn finish_runner(
    wire: Wire,
    form: GeneratedHolders,
    mut code: SourceWriter,
    main: &str,
) -> Emission {
    code.line("");
    code.line("}  // namespace glue");
    let calls = match wire_type(wire) {
        Some(_) => include_str!("cpp/sequential.hpp"),
        None => include_str!("cpp/protobuf.hpp"),
    };
    let mut files = form.files;
    files.extend([
        File::new("main.cpp", main),
        File::new("holder.hpp", include_str!("cpp/holder.hpp")),
        File::new("message.hpp", include_str!("cpp/message.hpp")),
        File::new("calls.hpp", calls),
        File::new("glue.hpp", code.finish()),
    ]);
    Emission { files, sources: vec!["main.cpp".into()], ..Emission::default() }
}

/// `tally(from)` of each record: its numbers.
pub(super) fn tallies(schema: &Schema, code: &mut SourceWriter) {
    // Records of records: each is named before it is called.
    for (_, record) in schema.records() {
        code.line(format!("template <class Tally>\nTally tally(const {} &);", record.name.legal));
    }
    for (_, record) in schema.records() {
        tally(schema, record, code);
    }
    code.line("");
}

fn tally(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    code.line("");
    code.line("template <class Tally>");
    let open = format!("Tally tally([[maybe_unused]] const {} &from) {{", record.name.legal);
    code.block(open, "}", |code| {
        code.line("Tally tally{};");
        for (place, field) in record.fields.iter().enumerate() {
            let member = format!("from.{}", field.name.legal);
            let add = |value: &str| match field.element {
                Element::Record(_) => {
                    format!("tally.record({place}, glue::tally<Tally>({value}));")
                }
                element => cpp::add_statement(schema, place, element, value),
            };
            code.line(match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => add(&member),
                Cardinality::Optional => format!("if ({member}) {}", add(&format!("(*{member})"))),
                _ => format!("for (const auto &value : {member}) {}", add("value")),
            });
        }
        code.line("return tally;");
    });
}
