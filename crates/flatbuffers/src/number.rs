//! A number on its way between two formats, which keeps its value or is refused.

use anyhow::{Context, Result};
use prost_reflect::{Kind, Value};

/// What numbers a field or an element has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A truth value.
    Bool,
    /// Of so many bytes.
    Unsigned(u8),
    /// Of so many bytes.
    Signed(u8),
    /// Of so many bytes.
    Float(u8),
}

impl Scalar {
    /// Its bytes.
    pub fn size(self) -> usize {
        match self {
            Scalar::Bool => 1,
            Scalar::Unsigned(size) | Scalar::Signed(size) | Scalar::Float(size) => size.into(),
        }
    }
}

/// A number of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole one.
    Integer(i128),
    /// Any.
    Float(f64),
}

impl Number {
    /// Of a value of Protobuf; none of a text, bytes or a message.
    pub fn from_value(value: &Value) -> Option<Number> {
        Some(match *value {
            Value::Bool(of) => Number::Integer(of.into()),
            Value::I32(of) | Value::EnumNumber(of) => Number::Integer(of.into()),
            Value::I64(of) => Number::Integer(of.into()),
            Value::U32(of) => Number::Integer(of.into()),
            Value::U64(of) => Number::Integer(of.into()),
            Value::F32(of) => Number::Float(of.into()),
            Value::F64(of) => Number::Float(of),
            _ => return None,
        })
    }

    /// Out of the bytes of FlatBuffers.
    pub fn read(scalar: Scalar, bytes: &[u8]) -> Number {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        let number = u64::from_le_bytes(whole);
        match scalar {
            Scalar::Bool => Number::Integer((number != 0).into()),
            Scalar::Unsigned(_) => Number::Integer(number.into()),
            Scalar::Signed(size) => {
                let above = 64 - 8 * u32::from(size);
                Number::Integer(((number << above) as i64 >> above).into())
            }
            Scalar::Float(4) => Number::Float(f32::from_bits(number as u32).into()),
            Scalar::Float(_) => Number::Float(f64::from_bits(number)),
        }
    }

    /// As a value of Protobuf.
    ///
    /// # Errors
    /// When the type has no such value.
    pub fn to_value(self, kind: &Kind) -> Result<Value> {
        let value = match (kind, self) {
            (Kind::Bool, Number::Integer(of @ (0 | 1))) => Some(Value::Bool(of == 1)),
            (Kind::Int32 | Kind::Sint32 | Kind::Sfixed32, Number::Integer(of)) => {
                of.try_into().ok().map(Value::I32)
            }
            (Kind::Enum(_), Number::Integer(of)) => of.try_into().ok().map(Value::EnumNumber),
            (Kind::Int64 | Kind::Sint64 | Kind::Sfixed64, Number::Integer(of)) => {
                of.try_into().ok().map(Value::I64)
            }
            (Kind::Uint32 | Kind::Fixed32, Number::Integer(of)) => {
                of.try_into().ok().map(Value::U32)
            }
            (Kind::Uint64 | Kind::Fixed64, Number::Integer(of)) => {
                of.try_into().ok().map(Value::U64)
            }
            (Kind::Float, of) => of.to_f32().map(Value::F32),
            (Kind::Double, of) => of.to_f64().map(Value::F64),
            _ => None,
        };
        value.with_context(|| format!("{self} is not a {kind:?}"))
    }

    /// As the bytes of FlatBuffers.
    ///
    /// # Errors
    /// When the type has no such value.
    pub fn to_bytes(self, scalar: Scalar) -> Result<Vec<u8>> {
        let bytes = match (scalar, self) {
            (Scalar::Bool, Number::Integer(of @ (0 | 1))) => Some(vec![of as u8]),
            (Scalar::Unsigned(size), Number::Integer(of)) => {
                let fits = of >= 0 && of >> (8 * u32::from(size)) == 0;
                fits.then(|| of.to_le_bytes()[..size.into()].to_vec())
            }
            (Scalar::Signed(size), Number::Integer(of)) => {
                let above = of >> (8 * u32::from(size) - 1);
                (above == 0 || above == -1).then(|| of.to_le_bytes()[..size.into()].to_vec())
            }
            (Scalar::Float(4), of) => of.to_f32().map(|of| of.to_le_bytes().to_vec()),
            (Scalar::Float(_), of) => of.to_f64().map(|of| of.to_le_bytes().to_vec()),
            _ => None,
        };
        bytes.with_context(|| format!("{self} does not fit into {scalar:?}"))
    }

    /// With double precision, where nothing is lost by it.
    fn to_f64(self) -> Option<f64> {
        match self {
            Number::Float(of) => Some(of),
            Number::Integer(of) => Some(of as f64).filter(|float| *float as i128 == of),
        }
    }

    /// With single precision, where nothing is lost by it.
    fn to_f32(self) -> Option<f32> {
        let double = self.to_f64()?;
        let single = double as f32;
        (f64::from(single) == double || double.is_nan()).then_some(single)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Integer(of) => of.fmt(f),
            Number::Float(of) => of.fmt(f),
        }
    }
}
