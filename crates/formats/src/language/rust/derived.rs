//! Runners of libraries that go straight between the normalized structure and
//! bytes by what the structure derives. They differ in two calls, which are in
//! the file `library.rs` beside each.

use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Field, Schema, TypeDef, TypeId};

use crate::codec::{Emission, Support};
use crate::language::rust::glue;
use crate::language::rust::partial_struct::{self, FieldKey};
use crate::lowering::Lowering;

/// A library that derives.
pub struct DerivingLibrary {
    /// The crate.
    pub library: &'static str,
    /// What it derives.
    pub derive: Derive,
    /// Its calls, as the module `library`: `encode(message, out)` appends to `out`,
    /// and `decode(wire)` makes what is asked for, the message or a part of it.
    pub calls: &'static str,
    /// How one number is read without the rest; none where the library cannot
    /// but decode the whole message.
    pub partial: Option<FieldKey>,
}

impl DerivingLibrary {
    /// The whole runner.
    pub fn emit(&self, unit: &Unit) -> Emission {
        self.emit_with(unit, |_| ())
    }

    /// The same where the calls need more of the module `glue`.
    pub fn emit_with(&self, unit: &Unit, items: impl FnOnce(&mut SourceWriter)) -> Emission {
        let mut code = glue::begin_glue(self.library);
        code.line("use crate::library;");
        code.line("use crate::message::Root;");
        for name in ["fixed", "element"] {
            reading(name, self.partial, &mut code);
        }
        if let Some(part) = self.partial {
            partial_struct::write_modules(unit, part, &mut code);
        }
        items(&mut code);
        let files = vec![
            glue::main_file_deriving(self.derive, "Derived", &["codec", "glue", "library"]),
            File::new("codec.rs", include_str!("derived/codec.rs")),
            File::new("library.rs", self.calls),
            File::new("glue.rs", code.finish()),
        ];
        Emission { files, ..Emission::default() }
    }
}

/// `NAME`: one number, of the decoded message or of a part that holds little else.
fn reading(name: &str, part: Option<FieldKey>, code: &mut SourceWriter) {
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
pub fn check_type(schema: &Schema, id: TypeId) -> Support {
    match schema.types[id] {
        TypeDef::Enum(_) => Support::lowered(vec![Lowering::enumeration()]),
        TypeDef::Record(_) => Support::Supported,
    }
}

/// The same where serde is told that lists of u8 are octets, which become what
/// the format has for a block of them.
pub fn check_type_with_octets(schema: &Schema, id: TypeId, block: &str) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return check_type(schema, id);
    };
    let is_list = Field::is_octet_list;
    let lists = record.fields.iter().filter(|field| is_list(field));
    Support::lowered(lists.map(|_| Lowering::octets(block)).collect())
}
