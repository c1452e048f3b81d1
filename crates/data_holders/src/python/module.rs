//! What all parts of a module in Python are written from.

use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeId};

use crate::definition::Package;
use crate::names::Names;

/// A package in Python, while it is written.
pub struct Module<'a> {
    pub package: &'a Package,
    pub schema: &'a Schema,
    pub names: Names,
}

impl Module<'_> {
    /// The code of a number's type, where lists of it are blocks of numbers.
    pub fn code(&self, field: &Field) -> Option<(&'static str, usize)> {
        let scalar = self.schema.scalar(field.element)?;
        (scalar != Scalar::Bool).then(|| (code_of(scalar), scalar.size()))
    }

    /// The numbers of a plain record as expressions.
    pub fn spread(&self, id: TypeId, record: &Record, at: &str, values: &mut Vec<String>) {
        for (place, field) in record.fields.iter().enumerate() {
            let member = format!("{at}.{}", self.names.member(id, place));
            match (field.element, field.cardinality) {
                (Element::Record(inner), Cardinality::Array { len }) => {
                    (0..len).for_each(|index| {
                        let inner_record = self.schema.record(inner);
                        self.spread(inner, inner_record, &format!("{member}[{index}]"), values);
                    })
                }
                (Element::Record(inner), _) => {
                    self.spread(inner, self.schema.record(inner), &member, values);
                }
                (element, Cardinality::Array { .. }) => {
                    let is_single = element == Element::Scalar(Scalar::F32);
                    let all = if is_single { format!("_singles({member})") } else { member };
                    values.push(format!("*{all}"));
                }
                _ => values.push(member),
            }
        }
    }
}

/// The letter of a number's type in NumPy.
pub fn numpy_kind(scalar: Scalar) -> char {
    match scalar {
        Scalar::Bool => 'b',
        Scalar::F32 | Scalar::F64 => 'f',
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => 'i',
        _ => 'u',
    }
}

/// The code of a number in the modules struct and array.
pub fn code_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "?",
        Scalar::U8 => "B",
        Scalar::U16 => "H",
        Scalar::U32 => "I",
        Scalar::U64 => "Q",
        Scalar::I8 => "b",
        Scalar::I16 => "h",
        Scalar::I32 => "i",
        Scalar::I64 => "q",
        Scalar::F32 => "f",
        Scalar::F64 => "d",
    }
}
