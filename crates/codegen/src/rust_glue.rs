//! What the glue between the normalized message and the structures of Rust
//! libraries has in common.

use wiregauge_schema::path::Index;
use wiregauge_schema::{Element, Field, Record};

use crate::code::Code;
use crate::codec::Unit;

/// `fn sum_X(from: &OF) -> f64`: every number of a record, where `add` is the
/// statement that adds those of a field to `sum`.
pub fn sum(record: &Record, of: &str, code: &mut Code, add: impl Fn(&Field) -> String) {
    let name = &record.name.legal;
    code.line("");
    code.block(format!("fn sum_{name}(from: &{of}) -> f64 {{"), "}", |code| {
        code.line("let mut sum = 0.0;");
        for field in &record.fields {
            code.line(add(field));
        }
        code.line("sum");
    });
}

/// The functions `fixed` and `element`, `fn NAME(at: &OF) -> f64`: the number at
/// a path, 0 where it is not there. `down` is the statement that makes `at` a
/// reference to a field's value or element, and `number` what that is as `f64`.
pub fn accessors(
    unit: &Unit,
    of: &str,
    code: &mut Code,
    down: impl Fn(&Record, &Field, Index) -> String,
    number: impl Fn(&Field) -> String,
) {
    let projection = unit.projection;
    for (name, path) in [("fixed", &projection.fixed), ("element", &projection.element)] {
        code.line("");
        code.block(format!("fn {name}(at: &{of}) -> f64 {{"), "}", |code| {
            let Some(path) = path else {
                code.line("0.0");
                return;
            };
            let mut id = unit.schema.root;
            for step in path {
                let record = unit.schema.record(id);
                let field = &record.fields[step.field];
                code.line(down(record, field, step.index));
                match field.element {
                    Element::Record(inner) => id = inner,
                    _ => code.line(number(field)),
                }
            }
        });
    }
}
