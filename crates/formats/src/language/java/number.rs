//! Numbers as the normalized form in Java has them: Java has no unsigned ones. A single
//! one is held in a type that has room for it, those of lists by their bits.

use wiregauge_schema::Scalar;

/// A type of numbers, or truth values.
#[derive(Clone, Copy, PartialEq)]
pub struct JavaNumber(pub Scalar);

impl JavaNumber {
    /// The type of a single one that may be absent.
    pub fn boxed_type(self) -> &'static str {
        match self.0 {
            Scalar::Bool => "Boolean",
            Scalar::I8 => "Byte",
            Scalar::I16 => "Short",
            Scalar::U8 | Scalar::U16 | Scalar::I32 => "Integer",
            Scalar::U32 | Scalar::U64 | Scalar::I64 => "Long",
            Scalar::F32 => "Float",
            Scalar::F64 => "Double",
        }
    }

    /// The type of one in a list.
    pub fn element_type(self) -> &'static str {
        match self.0 {
            Scalar::Bool => "boolean",
            Scalar::U8 | Scalar::I8 => "byte",
            Scalar::U16 | Scalar::I16 => "short",
            Scalar::U32 | Scalar::I32 => "int",
            Scalar::U64 | Scalar::I64 => "long",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    /// The method by which canonical bytes are read.
    pub fn reader_method(self) -> &'static str {
        match self.0 {
            Scalar::Bool => "bool",
            Scalar::U64 => "i64",
            scalar => scalar.rust_name(),
        }
    }

    /// What makes an unsigned number, which Java does not have, of its bits in a signed one;
    /// none where no wider one holds it.
    pub fn mask(self) -> Option<&'static str> {
        match self.0 {
            Scalar::U8 => Some("0xff"),
            Scalar::U16 => Some("0xffff"),
            Scalar::U32 => Some("0xffffffffL"),
            _ => None,
        }
    }

    /// What one counts, of an expression of its plain type, or of its bits in a signed one
    /// where it is of a list.
    pub fn sum_term(self, value: &str, packed: bool) -> String {
        match (self.0, self.mask()) {
            (Scalar::Bool, _) => format!("({value} ? 1 : 0)"),
            (Scalar::U64, _) => format!("Tally.unsigned({value})"),
            (_, Some(mask)) if packed => format!("({value} & {mask})"),
            _ => value.to_owned(),
        }
    }

    /// Its bits at its own width.
    pub fn bits(self, value: &str) -> String {
        match self.0.size() {
            _ if matches!(self.0, Scalar::Bool | Scalar::F32 | Scalar::F64) => {
                format!("Tally.word({value})")
            }
            1 => format!("{value} & 0xffL"),
            2 => format!("{value} & 0xffffL"),
            4 => format!("{value} & 0xffffffffL"),
            _ => value.to_owned(),
        }
    }
}
