//! Structures that hold the way to one number of a message and nothing else, for
//! libraries that pass over what a structure does not ask for.

use wiregauge_normalized::{rust, SourceWriter, Unit};
use wiregauge_schema::path::PathStep;
use wiregauge_schema::{Cardinality, Element, Field, Schema};

/// How a library tells a structure's fields apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FieldKey {
    /// By name, with serde: other fields are left out.
    Named,
    /// By place, with serde: another field is `IgnoredAny`.
    Positional,
    /// By number, with minicbor: other fields are left out.
    Numbered,
}

/// The modules `fixed` and `element`: each a structure `Root` that is decoded
/// like the message, and `read(&Root, tally)`.
pub fn write_modules(unit: &Unit, part: FieldKey, code: &mut SourceWriter) {
    let projection = unit.projection;
    for (name, path) in [("fixed", &projection.fixed), ("element", &projection.element)] {
        code.line("");
        code.block(format!("mod {name} {{"), "}", |code| {
            code.line("use wiregauge_runner::Tally;");
            code.line("pub type Root = Part0;");
            structures(unit.schema, path.as_deref().unwrap_or_default(), part, code);
            rust::accessor(unit.schema, "read", path.as_deref(), code);
        });
    }
}

/// `Part0`, `Part1` …: a structure for each record on the way.
fn structures(schema: &Schema, path: &[PathStep], part: FieldKey, code: &mut SourceWriter) {
    let mut id = schema.root;
    for depth in 0..path.len().max(1) {
        let mut fields = Vec::new();
        for (place, field) in schema.record(id).fields.iter().enumerate() {
            let name = &field.name.legal;
            if path.get(depth).is_some_and(|step| step.field == place) {
                fields.extend(match part {
                    FieldKey::Numbered => Some(rust::minicbor_attribute(place, field)),
                    _ => rust::serde_attribute(field).map(String::from),
                });
                fields.push(format!("pub {name}: {},", field_type(schema, field, depth)));
            } else if part == FieldKey::Positional {
                fields.push(format!("{name}: serde::de::IgnoredAny,"));
            }
        }
        code.line(match part {
            FieldKey::Numbered => "#[derive(minicbor::Decode)]",
            _ => "#[derive(serde::Deserialize)]",
        });
        code.block(format!("pub struct Part{depth} {{"), "}", |code| {
            for line in fields {
                code.line(line);
            }
        });
        let next = path.get(depth).map(|step| schema.record(id).fields[step.field].element);
        match next {
            Some(Element::Record(inner)) => id = inner,
            _ => return,
        }
    }
}

/// The type of the field on the way.
fn field_type(schema: &Schema, field: &Field, depth: usize) -> String {
    if !matches!(field.element, Element::Record(_)) {
        return rust::field_type(schema, field);
    }
    let inner = format!("Part{}", depth + 1);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => inner,
        Cardinality::Optional => format!("Option<{inner}>"),
        Cardinality::List { .. } => format!("Vec<{inner}>"),
        Cardinality::Array { len } => format!("[{inner}; {len}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_schema::{msg, path, Projection};

    /// The fields that are declared, a line each.
    fn fields(part: FieldKey) -> Vec<String> {
        let text = "MSG: wg/Cloud\nuint64 stamp\nPoint[] points\nstring frame\n\
                    MSG: wg/Point\nfloat32[3] position\nuint8 intensity\n";
        let text = text.replace("\nMSG", &format!("\n{}\nMSG", "=".repeat(80)));
        let schema = msg::read_text(&text, "cloud", msg::Dialect::Ros2, "cloud.msg").unwrap();
        let projection = Projection {
            fixed: None,
            element: Some(path::parse(&schema, "points[].intensity").unwrap()),
        };
        let mut code = SourceWriter::new();
        write_modules(&Unit { schema: &schema, projection: &projection }, part, &mut code);
        let text = code.finish();
        let (_, element) = text.split_once("mod element {").unwrap();
        let is_field = |line: &&str| line.ends_with(',') && line.contains(": ");
        element.lines().map(str::trim).filter(is_field).map(String::from).collect()
    }

    #[test]
    fn a_part_holds_the_way_and_nothing_else() {
        let way = ["pub points: Vec<Part1>,", "pub intensity: u8,"];
        assert_eq!(fields(FieldKey::Named), way);
        assert_eq!(fields(FieldKey::Numbered), way);
    }

    #[test]
    fn by_place_each_other_field_is_passed_over() {
        assert_eq!(
            fields(FieldKey::Positional),
            [
                "stamp: serde::de::IgnoredAny,",
                "pub points: Vec<Part1>,",
                "frame: serde::de::IgnoredAny,",
                "position: serde::de::IgnoredAny,",
                "pub intensity: u8,",
            ]
        );
    }
}
