//! Whether a message has a negative zero where a library that leaves out what equals
//! the default would lose its sign. Nothing here is timed.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Field, TypeId};

use crate::flattened_field;
use crate::language::python::message::PythonMessage;

/// The function `loses_sign` of a message, where `is_lost` says which numbers of a
/// record are concerned; short arrays are so many fields.
pub fn loses_sign_functions(
    form: &PythonMessage,
    is_lost: impl Fn(TypeId, &Field) -> bool,
) -> String {
    let mut code = SourceWriter::indented(4);
    code.line("\n\nfrom math import copysign\n\n");
    code.open("def is_minus_zero(v):");
    code.line("return v == 0 and copysign(1.0, v) < 0");
    code.outdent();
    for (id, record) in form.records() {
        let mut terms = Vec::new();
        for slot in flattened_field::flatten_fields(form.schema, record) {
            let value = form.member_access("m", id, &slot);
            match (slot.field.element, slot.field.cardinality) {
                (Element::Record(inner), cardinality) => {
                    let inner = format!("loses_sign_{}", form.class(inner));
                    terms.push(match cardinality {
                        Cardinality::Required | Cardinality::Implicit => {
                            format!("{inner}({value})")
                        }
                        Cardinality::Optional => {
                            format!("{value} is not None and {inner}({value})")
                        }
                        _ => format!("any(map({inner}, {value}))"),
                    });
                }
                _ if is_lost(id, &slot.field) => terms.push(format!("is_minus_zero({value})")),
                _ => {}
            }
        }
        code.line("\n");
        code.open(format!("def loses_sign_{}(m):", form.class(id)));
        let terms = if terms.is_empty() { "False".into() } else { terms.join(" or ") };
        code.line(format!("return {terms}"));
        code.outdent();
    }
    code.line(format!("\n\nloses_sign = loses_sign_{}", form.class(form.schema.root)));
    code.finish()
}
