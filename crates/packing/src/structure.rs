//! Arrays of points in a file, as sensors' data sets have them: structures without a gap,
//! one behind the other.

use std::str::FromStr;

use anyhow::{Context, Result};
use wiregauge_packed::{Element, PointField, Points, View};

/// What each point is made of: `x:f32,y:f32,z:f32,intensity:f32`.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure(pub Points);

const ELEMENTS: [(&str, Element); 11] = [
    ("f64", Element::F64),
    ("f32", Element::F32),
    ("f16", Element::F16),
    ("u64", Element::U64),
    ("u32", Element::U32),
    ("u16", Element::U16),
    ("u8", Element::U8),
    ("i64", Element::I64),
    ("i32", Element::I32),
    ("i16", Element::I16),
    ("i8", Element::I8),
];

impl FromStr for Structure {
    type Err = String;

    fn from_str(text: &str) -> Result<Structure, String> {
        let field = |one: &str| {
            let (name, kind) = one.trim().rsplit_once(':')?;
            let (_, element) = ELEMENTS.iter().find(|(name, _)| *name == kind)?;
            Some((name.to_owned(), *element))
        };
        let fields = text.split(',').map(|one| {
            field(one).ok_or_else(|| {
                let kinds = ELEMENTS.map(|(name, _)| name).join(" ");
                format!(
                    "'{one}' is not a field; write NAME:TYPE, such as x:f32, with one of the types \
                     {kinds}"
                )
            })
        });
        from_elements(fields.collect::<Result<_, _>>()?).map_err(|error| error.to_string())
    }
}

impl Structure {
    /// Of the points that a packed field was made of: its columns in their order.
    ///
    /// # Errors
    /// When it is none, or has a column that no point of a file can have.
    pub fn from_field(field: &[u8]) -> Result<Structure> {
        let view = View::open(field)?;
        let mut fields = Vec::new();
        for column in view.columns() {
            let element = column.element.with_context(|| {
                format!("column '{}' has a type of a later version; update wiregauge", column.name)
            })?;
            fields.push((column.name.to_owned(), element));
        }
        Ok(from_elements(fields)?)
    }
}

fn from_elements(all: Vec<(String, Element)>) -> Result<Structure, wiregauge_packed::Error> {
    let mut step = 0;
    let mut fields = Vec::new();
    for (name, element) in all {
        fields.push(PointField { name, offset: step, element });
        step += element.size();
    }
    Ok(Structure(Points::new(fields, step, false)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_read() {
        let Structure(points) = "x:f32, t:u64,a:b:u8".parse().unwrap();
        let told: Vec<_> = points.fields().iter().map(|f| (&*f.name, f.offset)).collect();
        assert_eq!((told, points.step()), (vec![("x", 0), ("t", 4), ("a:b", 12)], 13));
        for (text, word) in [
            ("x:f3", "as x:f32"),
            ("x", "as x:f32"),
            ("", "as x:f32"),
            ("x:f32,x:f32", "twice"),
            ("x y:f32", "printable"),
        ] {
            let error = text.parse::<Structure>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
