//! Numbers in Java, which has no unsigned ones: a single one is held in a type that
//! has room for it, those of lists by their bits, so that they move at once.

use wiregauge_schema::literal::Literal;
use wiregauge_schema::Scalar;

/// A type of numbers, or truth values.
#[derive(Clone, Copy)]
pub struct JavaScalar(Scalar);

impl JavaScalar {
    pub fn from_scalar(scalar: Scalar) -> JavaScalar {
        JavaScalar(scalar)
    }

    /// The type of a single one.
    pub fn single_type(self) -> &'static str {
        match self.0 {
            Scalar::U8 | Scalar::U16 => "int",
            Scalar::U32 => "long",
            _ => self.element_type(),
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

    /// The type of a single one that may be absent.
    pub fn boxed_type(self) -> &'static str {
        match self.single_type() {
            "boolean" => "Boolean",
            "byte" => "Byte",
            "short" => "Short",
            "int" => "Integer",
            "long" => "Long",
            "float" => "Float",
            _ => "Double",
        }
    }

    pub fn size(self) -> usize {
        self.0.size()
    }

    pub fn is_float(self) -> bool {
        self.0.is_float()
    }

    /// Whether a single one is held in a type that has room for others.
    pub fn is_widened(self) -> bool {
        self.single_type() != self.element_type()
    }

    /// The method by which a reader gives a single one.
    pub fn reader_method(self) -> &'static str {
        match self.0 {
            Scalar::Bool => "bool",
            Scalar::U8 => "u8",
            Scalar::I8 => "i8",
            Scalar::U16 => "u16",
            Scalar::I16 => "i16",
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::U64 | Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The method by which a writer takes a single one.
    pub fn writer_method(self) -> &'static str {
        match self.0 {
            Scalar::Bool => "bool",
            Scalar::U8 | Scalar::I8 => "number1",
            Scalar::U16 | Scalar::I16 => "number2",
            Scalar::U32 | Scalar::I32 => "number4",
            Scalar::U64 | Scalar::I64 => "number8",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// What is said of unsigned ones.
    pub fn range_note(self, repeats: bool) -> Option<String> {
        let (most, class) = match self.0 {
            Scalar::U8 => ("255", "Byte.toUnsignedInt"),
            Scalar::U16 => ("65535", "Short.toUnsignedInt"),
            Scalar::U32 => ("4294967295", "Integer.toUnsignedLong"),
            Scalar::U64 => ("18446744073709551615", "Long.toUnsignedString"),
            _ => return None,
        };
        Some(match repeats || !self.is_widened() {
            true => format!("Unsigned, by its bits: {class}."),
            false => format!("From 0 to {most}."),
        })
    }

    /// A single value as it is shown.
    pub fn text_expression(self, value: &str) -> String {
        match self.0 {
            Scalar::U64 => format!("Long.toUnsignedString({value})"),
            _ => value.to_owned(),
        }
    }

    /// A single value as a literal.
    pub fn single_literal(self, value: &Literal) -> String {
        match (value, self.0) {
            (Literal::Bool(value), _) => value.to_string(),
            (Literal::Integer(value), Scalar::U32) => format!("{value}L"),
            (Literal::Integer(value), Scalar::I64 | Scalar::U64) => match i64::try_from(*value) {
                Ok(value) => format!("{value}L"),
                Err(_) => format!("{value:#x}L"),
            },
            (Literal::Integer(value), _) => value.to_string(),
            (Literal::Float(value), Scalar::F32) => {
                // Out of its range it would not compile.
                let value = *value as f32;
                match value {
                    value if value.is_nan() => "Float.NaN".into(),
                    f32::INFINITY => "Float.POSITIVE_INFINITY".into(),
                    f32::NEG_INFINITY => "Float.NEGATIVE_INFINITY".into(),
                    value => format!("{value:?}F"),
                }
            }
            (Literal::Float(value), _) => match *value {
                value if value.is_nan() => "Double.NaN".into(),
                f64::INFINITY => "Double.POSITIVE_INFINITY".into(),
                f64::NEG_INFINITY => "Double.NEGATIVE_INFINITY".into(),
                value => format!("{value:?}"),
            },
            (other, _) => unreachable!("{other:?} is no number"),
        }
    }

    /// A value in a list as a literal.
    pub fn element_literal(self, value: &Literal) -> String {
        let Literal::Integer(number) = value else { return self.single_literal(value) };
        let most = match self.0 {
            Scalar::U8 => i8::MAX.into(),
            Scalar::U16 => i16::MAX.into(),
            Scalar::U32 => i32::MAX.into(),
            _ => return self.single_literal(value),
        };
        match *number > most {
            true => format!("({}) {}", self.element_type(), self.single_literal(value)),
            false => number.to_string(),
        }
    }
}
