//! Views in C++, beside the holders that they are written from.

use anyhow::Result;
use wiregauge_data_holders::{cpp_names, cpp_view_names, HolderLanguage, Wire};
use wiregauge_normalized::{SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Schema, TypeDef};

use super::{cpp, GeneratedCode, GeneratedHolders};
use crate::build::languages::cpp::CPP;
use crate::codec::Emission;

pub(super) const CODE: GeneratedCode =
    GeneratedCode { language: &CPP, options: view_options!(), needs: &[] };

pub(super) fn emit(wire: Wire, unit: &Unit) -> Result<Emission> {
    let form = GeneratedHolders::new(unit, wire, HolderLanguage::Cpp, cpp_names, "holders")?;
    let mut code = cpp::begin_glue(wire, &form, &["holders.view.hpp"]);
    code.line("using View = wiregauge::View<OnWire, Root>;\n");
    code.line(include_str!("cpp/nth.hpp"));
    // The same names, by which a view is called, and what is asked of it.
    let mut views =
        GeneratedHolders::new(unit, wire, HolderLanguage::Cpp, cpp_view_names, "holders")?.schema;
    for def in &mut views.types {
        if let TypeDef::Record(record) = def {
            record.name.legal = format!("wiregauge::View<OnWire, {}>", record.name.legal);
            record.fields.iter_mut().for_each(|field| field.name.legal += "()");
        }
    }
    cpp::tallies(&views, &mut code);
    accessor(&views, "fixed", unit.projection.fixed.as_deref(), &mut code);
    accessor(&views, "element", unit.projection.element.as_deref(), &mut code);
    Ok(cpp::finish_runner(wire, form, code, include_str!("cpp/view.cpp")))
}

/// `void NAME(const View &, Tally &)`: the number at a path, nothing where it is not
/// there.
fn accessor(schema: &Schema, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
    code.line("template <class Tally>");
    let open =
        format!("void {name}([[maybe_unused]] const View &view, [[maybe_unused]] Tally &tally) {{");
    code.block(open, "}", |code| {
        let Some(path) = path else { return };
        let (mut id, mut at) = (schema.root, "view".to_owned());
        for (depth, step) in path.iter().enumerate() {
            let field = &schema.record(id).fields[step.field];
            let value = format!("at{depth}");
            code.line(format!("const auto {value} = {at}.{};", field.name.legal));
            at = match (field.cardinality, step.index) {
                (Cardinality::Required | Cardinality::Implicit, _) => value,
                (Cardinality::Optional, _) => {
                    code.line(format!("if (!{value}) return;"));
                    format!("(*{value})")
                }
                (_, index) => {
                    let index = match index {
                        ElementIndex::At(index) => index.to_string(),
                        _ => format!("{value}.size() / 2"),
                    };
                    code.line(format!("if ({index} >= {value}.size()) return;"));
                    format!("nth({value}, {index})")
                }
            };
            match field.element {
                Element::Record(inner) => id = inner,
                Element::Enum(inner) => {
                    let repr = schema.enumeration(inner).repr.cpp_name();
                    code.line(format!("tally.number(0, static_cast<{repr}>({at}));"));
                }
                _ => code.line(format!("tally.number(0, {at});")),
            }
        }
    });
}
