//! Java libraries that take plain objects as they are: the normalized form itself. They
//! differ in a file `Main.java` beside each format.

use anyhow::Result;
use wiregauge_build_tools::maven::Jar;
use wiregauge_data_holders::Wire;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Scalar, Schema, TypeDef, TypeId};

use crate::codec::{Emission, Support};
use crate::language::java::base_codec::parsing_codec;
use crate::language::java::glue::{numbers_file, PlainObjects};
use crate::language::java::message::JavaMessage;
use crate::lowering::{self, Lowering};

/// Refuses a message whose not-a-numbers a library would change: `Nans.refuse(message)`.
pub const NANS: &str = include_str!("plain_objects/Nans.java");

/// What becomes of not-a-numbers, as an option of such a library.
pub const CANONICAL_NANS: &str =
    "Java would change a NaN whose bits differ from its own NaN: messages are searched for them \
     once, before timing, and refused";

/// The whole runner: the holders on these wires, and these files.
///
/// # Errors
/// When the definition contradicts itself.
pub fn emit(
    unit: &Unit,
    wires: &[Wire],
    own: &[(&str, &str)],
    jars: &'static [Jar],
) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let mut files = form.files(wires)?;
    files.push(File::new("Numbers.java", numbers_file(&form, &PlainObjects)));
    files.push(parsing_codec());
    files.extend(own.iter().map(|(path, text)| File::new(*path, *text)));
    Ok(Emission { files, jars, ..Emission::default() })
}

/// What becomes of a type where numbers go as Java has them.
pub fn lowerings(schema: &Schema, id: TypeId) -> Vec<Lowering> {
    let TypeDef::Record(record) = &schema.types[id] else {
        return vec![Lowering::enumeration()];
    };
    let mut all = lowering::unions_and_bounds(record);
    for field in &record.fields {
        all.extend(number(schema, field));
        if let Cardinality::Array { .. } = field.cardinality {
            all.push(Lowering::fixed_array());
        }
    }
    all
}

/// What becomes of numbers that Java does not have: the normalized form holds single
/// ones in a wider type, those of lists by their bits.
fn number(schema: &Schema, field: &Field) -> Option<Lowering> {
    let (Element::Scalar(scalar), true) = (field.element, schema.scalar(field.element).is_some())
    else {
        return None;
    };
    let repeats = matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
    let (signed, wide) = match scalar {
        Scalar::U8 => ("byte", Some("int")),
        Scalar::U16 => ("short", Some("int")),
        Scalar::U32 => ("int", Some("long")),
        Scalar::U64 => ("long", None),
        _ => return None,
    };
    Some(match wide {
        Some(wide) if !repeats => Lowering::widened(scalar, wide),
        _ => Lowering::as_signed(scalar, signed),
    })
}

/// The answer of a library that has nothing but what Java has.
pub fn check_type(schema: &Schema, id: TypeId) -> Support {
    Support::lowered(lowerings(schema, id))
}
