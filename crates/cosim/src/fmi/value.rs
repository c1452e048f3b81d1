//! A value for a parameter of an FMU.

use std::ffi::CString;

use anyhow::{bail, ensure, Context, Result};

use crate::package::description::Variable;

/// A value for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A floating-point number.
    Real(f64),
    /// An integer.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
    /// A text.
    Text(CString),
}

impl Value {
    /// Reads a value of a variable's type.
    ///
    /// # Errors
    /// Says that the text is none.
    pub fn parse(variable: &Variable, text: &str) -> Result<Value> {
        let kind = variable.kind.as_str();
        let wrong = || format!("'{text}' is not a value for {}, which is {kind}", variable.name);
        ensure!(!variable.is_array, "{} is an array, which cannot be set", variable.name);
        Ok(match kind {
            "Real" | "Float64" | "Float32" => Value::Real(text.parse().with_context(wrong)?),
            "Boolean" => Value::Boolean(match text {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => bail!(wrong()),
            }),
            "String" => Value::Text(CString::new(text).with_context(wrong)?),
            "Binary" | "Clock" => bail!("{} is {kind}, which cannot be set", variable.name),
            _ => {
                let value: i64 = text.parse().with_context(wrong)?;
                let fits = match kind {
                    "Int8" => i8::try_from(value).is_ok(),
                    "UInt8" => u8::try_from(value).is_ok(),
                    "Int16" => i16::try_from(value).is_ok(),
                    "UInt16" => u16::try_from(value).is_ok(),
                    "UInt32" => u32::try_from(value).is_ok(),
                    "UInt64" => value >= 0,
                    "Int64" => true,
                    _ => i32::try_from(value).is_ok(),
                };
                if !fits {
                    bail!("{text} is too large for {}, which is {kind}", variable.name);
                }
                Value::Integer(value)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_not_set_to_one_value() {
        let (name, kind, causality) = ("gains".into(), "Float64".into(), "parameter".into());
        let mut variable = Variable { name, reference: 0, kind, causality, is_array: false };
        assert!(Value::parse(&variable, "1.5").is_ok());
        variable.is_array = true;
        let Err(error) = Value::parse(&variable, "1.5") else { panic!("it is an array") };
        assert_eq!(error.to_string(), "gains is an array, which cannot be set");
    }
}
