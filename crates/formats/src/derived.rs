//! Runners of libraries that go straight between the normalized structure and
//! bytes by what the structure derives. They differ in two calls, which are in
//! the file `library.rs` beside each.

use wiregauge_holders::rust::Derive;
use wiregauge_holders::{File, SourceWriter, Unit};
use wiregauge_schema::{Field, Schema, TypeDef, TypeId};

use crate::codec::{Answer, Emission};
use crate::lowering::Lowering;
use crate::part::{self, Part};
use crate::rust_glue;

/// A library that derives.
pub struct Derived {
    /// The crate.
    pub library: &'static str,
    /// What it derives.
    pub derive: Derive,
    /// Its calls, as the module `library`: `encode(message, out)` appends to `out`,
    /// and `decode(wire)` makes what is asked for, the message or a part of it.
    pub calls: &'static str,
    /// How one number is read without the rest; none where the library cannot
    /// but decode the whole message.
    pub part: Option<Part>,
}

impl Derived {
    /// The whole runner.
    pub fn emit(&self, unit: &Unit) -> Emission {
        self.emit_with(unit, |_| ())
    }

    /// The same where the calls need more of the module `glue`.
    pub fn emit_with(&self, unit: &Unit, items: impl FnOnce(&mut SourceWriter)) -> Emission {
        let mut code = rust_glue::glue(self.library);
        code.line("use crate::library;");
        code.line("use crate::message::Root;");
        for name in ["fixed", "element"] {
            reading(name, self.part, &mut code);
        }
        if let Some(part) = self.part {
            part::modules(unit, part, &mut code);
        }
        items(&mut code);
        let files = vec![
            rust_glue::main_deriving(self.derive, "Derived", &["codec", "glue", "library"]),
            File::new("codec.rs", include_str!("derived/codec.rs")),
            File::new("library.rs", self.calls),
            File::new("glue.rs", code.finish()),
        ];
        Emission { files, ..Emission::default() }
    }
}

/// `NAME`: one number, of the decoded message or of a part that holds little else.
fn reading(name: &str, part: Option<Part>, code: &mut SourceWriter) {
    code.line("");
    code.line(format!("pub fn {name}<T: Tally>("));
    code.line("  wire: &[u8], message: &mut Root, tally: &mut T,");
    code.block(") -> Result<(), Error> {", "}", |code| {
        code.line(match part {
            None => format!(
                "*message = library::decode(wire)?;\ncrate::message::{name}(message, tally);"
            ),
            Some(_) => format!(
                "let part: {name}::Root = library::decode(wire)?;\n{name}::read(&part, tally);"
            ),
        });
        code.line("Ok(())");
    });
}

/// What a derive makes of a type: everything but the names of enum values.
pub fn answer(schema: &Schema, id: TypeId) -> Answer {
    match schema.types[id] {
        TypeDef::Enum(_) => Answer::lowered(vec![Lowering::enumeration()]),
        TypeDef::Record(_) => Answer::Supported,
    }
}

/// The same where serde is told that lists of u8 are octets, which become what
/// the format has for a block of them.
pub fn answer_octets(schema: &Schema, id: TypeId, block: &str) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        return answer(schema, id);
    };
    let is_list = Field::is_octet_list;
    let lists = record.fields.iter().filter(|field| is_list(field));
    Answer::lowered(lists.map(|_| Lowering::octets(block)).collect())
}
