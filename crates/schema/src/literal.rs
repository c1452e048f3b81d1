//! Defaults and constants as their authors wrote them, read as values.

use anyhow::{bail, ensure, Context, Result};

use crate::documentation::Constant;
use crate::model::{Cardinality, Element, Enum, Field, Scalar, Schema};

/// A value in a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A truth value.
    Bool(bool),
    /// An integer in the range of its type.
    Integer(i128),
    /// A number; may be infinite or no number.
    Float(f64),
    /// Text.
    Text(String),
    /// Several.
    List(Vec<Literal>),
}

/// The default of a field; none where it has none, or one that is of octets,
/// which definitions escape in ways of their own.
///
/// # Errors
/// When the text is no value of the field's type.
pub fn default(schema: &Schema, field: &Field) -> Result<Option<Literal>> {
    let Element::Enum(id) = field.element else { return plain_default(field) };
    let Some(text) = &field.default else { return Ok(None) };
    let value = enum_number(schema.enumeration(id), text);
    let value = value.with_context(|| format!("the default of {} is {text}", field.name.original));
    Ok(Some(Literal::Integer(value?)))
}

/// The default of a field that is of no enum; none where [`default`] has none.
pub(crate) fn plain_default(field: &Field) -> Result<Option<Literal>> {
    let Some(text) = &field.default else { return Ok(None) };
    let one = |text: &str| -> Result<Option<Literal>> {
        Ok(Some(match field.element {
            Element::Scalar(scalar) => number(text, scalar)?,
            // A ROS default is quoted, one of Protobuf is the text itself.
            Element::String => Literal::Text(unquoted(text)),
            Element::Bytes | Element::Enum(_) | Element::Record(_) => return Ok(None),
        }))
    };
    let read = || match field.cardinality {
        Cardinality::List { bound } => {
            let list = list(text, &one)?;
            let most = bound.unwrap_or(u32::MAX) as usize;
            ensure!(list.len() <= most, "the list may not have so many values");
            Ok(Some(Literal::List(list)))
        }
        Cardinality::Array { len } => {
            let list = list(text, &one)?;
            ensure!(list.len() == len as usize, "give {len} values");
            Ok(Some(Literal::List(list)))
        }
        _ => one(text),
    };
    read().with_context(|| format!("the default of {} is {text}", field.name.original))
}

/// The value of a constant.
///
/// # Errors
/// When the text is no value of its type.
pub fn constant(constant: &Constant) -> Result<(Element, Literal)> {
    let Constant { name, value, spelling, is_bare, .. } = constant;
    let kind = spelling.split(['<', '[']).next().unwrap_or(spelling);
    let scalar = match kind {
        "bool" => Scalar::Bool,
        // ROS 1 says `byte` for int8, and ROS 2 for what is no number at all.
        "byte" if *is_bare || value.starts_with('-') => Scalar::I8,
        "byte" | "char" | "uint8" => Scalar::U8,
        "int8" => Scalar::I8,
        "uint16" => Scalar::U16,
        "uint32" => Scalar::U32,
        "uint64" => Scalar::U64,
        "int16" => Scalar::I16,
        "int32" => Scalar::I32,
        "int64" => Scalar::I64,
        "float32" => Scalar::F32,
        "float64" => Scalar::F64,
        "string" | "wstring" => {
            let text = if *is_bare { value.clone() } else { unquoted(value) };
            return Ok((Element::String, Literal::Text(text)));
        }
        _ => bail!("the constant {name} has the type {spelling}, which cannot have constants"),
    };
    let value = number(value, scalar).with_context(|| format!("the constant {name} is {value}"))?;
    Ok((Element::Scalar(scalar), value))
}

fn number(text: &str, scalar: Scalar) -> Result<Literal> {
    if scalar == Scalar::Bool {
        return match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Literal::Bool(true)),
            "false" | "0" => Ok(Literal::Bool(false)),
            _ => bail!("not a truth value; write true or false"),
        };
    }
    if scalar.is_float() {
        let value: f64 = text.parse().context("not a number")?;
        return Ok(Literal::Float(value));
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    // A second sign would be taken by the parsers.
    ensure!(lower.starts_with(|c: char| c.is_ascii_digit()), "not an integer");
    let value = match lower.get(..2) {
        Some("0x") => i128::from_str_radix(&lower[2..], 16),
        Some("0b") => i128::from_str_radix(&lower[2..], 2),
        Some("0o") => i128::from_str_radix(&lower[2..], 8),
        _ => lower.parse(),
    };
    let value = value.context("not an integer")?;
    ensure!(!lower[1..].contains(['+', '-']), "not an integer");
    let value = sign * value;
    let bits = 8 * scalar.size() as u32;
    let signed = matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64);
    let (least, most) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    ensure!((least..=most).contains(&value), "outside of the range of {}", scalar.rust_name());
    Ok(Literal::Integer(value))
}

fn enum_number(def: &Enum, text: &str) -> Result<i128> {
    let value = def.values.iter().find(|value| value.name.original == text);
    Ok(value.with_context(|| format!("not a value of {}", def.name.original))?.number.into())
}

/// The text between quotes, where it is in quotes.
fn unquoted(text: &str) -> String {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote.filter(|quote| text.len() >= 2 && text.ends_with(*quote)) else {
        return text.to_owned();
    };
    let inner = &text[1..text.len() - 1];
    inner.replace(&format!("\\{quote}"), &quote.to_string())
}

/// `[1, 2]`, with texts in quotes that may hold commas.
fn list(text: &str, one: &dyn Fn(&str) -> Result<Option<Literal>>) -> Result<Vec<Literal>> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.context("not a list; write [1, 2]")?;
    let (mut items, mut item, mut quote) = (Vec::new(), String::new(), None);
    for letter in inner.chars() {
        match (quote, letter) {
            (None, ',') => items.push(std::mem::take(&mut item)),
            (None, '"' | '\'') => {
                quote = Some(letter);
                item.push(letter);
            }
            (Some(open), letter) => {
                quote = (letter != open).then_some(open);
                item.push(letter);
            }
            (None, letter) => item.push(letter),
        }
    }
    if !item.trim().is_empty() || !items.is_empty() {
        items.push(item);
    }
    let values = items.iter().map(|item| one(item.trim()));
    values.map(|value| value?.context("this type cannot have a default")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_range_of_their_type() {
        assert_eq!(number("0xff", Scalar::U8).unwrap(), Literal::Integer(255));
        assert_eq!(number("-128", Scalar::I8).unwrap(), Literal::Integer(-128));
        for (text, scalar) in [("256", Scalar::U8), ("-1", Scalar::U64), ("1.5", Scalar::I32)] {
            assert!(number(text, scalar).is_err(), "{text}");
        }
        for text in ["--5", "0x-5", "-", "", "-170141183460469231731687303715884105728", "5é"] {
            assert!(number(text, Scalar::I64).is_err(), "{text}");
        }
        assert_eq!(number("1e3", Scalar::F32).unwrap(), Literal::Float(1000.0));
        assert_eq!(number("-inf", Scalar::F32).unwrap(), Literal::Float(f64::NEG_INFINITY));
        assert!(matches!(number("-nan", Scalar::F64), Ok(Literal::Float(nan)) if nan.is_nan()));
    }

    #[test]
    fn quotes_belong_to_a_text_of_ros_1() {
        let value = r#""a\" b""#;
        for (is_bare, wanted) in [(true, value), (false, r#"a" b"#)] {
            let one = Constant {
                name: "A".into(),
                spelling: "string".into(),
                value: value.into(),
                is_bare,
                comment: String::new(),
            };
            assert_eq!(constant(&one).unwrap().1, Literal::Text(wanted.into()));
        }
    }

    #[test]
    fn lists_may_hold_quoted_commas() {
        let texts = list("['a, b', \"c\"]", &|text| Ok(Some(Literal::Text(unquoted(text)))));
        let text = |text: &str| Literal::Text(text.into());
        assert_eq!(texts.unwrap(), [text("a, b"), text("c")]);
        assert_eq!(list("[]", &|_| Ok(None)).unwrap(), []);
    }
}
