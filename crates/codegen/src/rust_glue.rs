//! What the glue between the normalized message and the structures of Rust
//! libraries has in common.

use wiregauge_schema::path::Index;
use wiregauge_schema::{Element, Field, Record};

use crate::code::Code;
use crate::codec::Unit;

/// `fn tally_X<T: Tally>(from: &OF) -> T`: every number of a record, where `add`
/// is the statement that adds those of the field at a place to `tally`.
pub fn tally(record: &Record, of: &str, code: &mut Code, add: impl Fn(usize, &Field) -> String) {
    let name = &record.name.legal;
    code.line("");
    code.block(format!("fn tally_{name}<T: Tally>(from: &{of}) -> T {{"), "}", |code| {
        code.line("let mut tally = T::default();");
        for (place, field) in record.fields.iter().enumerate() {
            code.line(add(place, field));
        }
        code.line("tally");
    });
}

/// The functions `fixed` and `element`, `fn NAME<T: Tally>(at: &OF, tally: &mut
/// T)`: the number at a path, nothing where it is not there. `down` is the
/// statement that makes `at` a reference to a field's value or element, or
/// returns, and `number` what that is as the schema's number.
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
        code.block(format!("fn {name}<T: Tally>(at: &{of}, tally: &mut T) {{"), "}", |code| {
            let Some(path) = path else { return };
            let mut id = unit.schema.root;
            for step in path {
                let record = unit.schema.record(id);
                let field = &record.fields[step.field];
                code.line(down(record, field, step.index));
                match field.element {
                    Element::Record(inner) => id = inner,
                    _ => code.line(format!("tally.number(0, {});", number(field))),
                }
            }
        });
    }
}
