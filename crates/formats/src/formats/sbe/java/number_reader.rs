//! The part of `Glue.java` that reads numbers: all of them, or one by walking.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::path::{ElementIndex, FieldPath, PathStep};
use wiregauge_schema::{Cardinality, Element, Scalar};

use super::flyweights::{capital, Glue};
use crate::formats::sbe::layout::{group, has_flag, placement, FieldPlacement, GroupEntry};
use crate::language::java::accumulator::Accumulator;
use crate::language::java::number::JavaNumber;
use crate::sequential::flag_name;

/// The expression of a number: truth values are 0 or 1, whatever number stands for true.
fn add(reading: Accumulator, at: usize, scalar: Scalar, value: &str) -> String {
    match scalar {
        Scalar::Bool => reading.add_number(at, JavaNumber(scalar), &format!("({value} != 0)")),
        _ => reading.add_number(at, JavaNumber(scalar), value),
    }
}

impl Glue<'_> {
    /// `sum_N` or `exact_N`, in the order of the bytes.
    pub fn read(&self, reading: Accumulator, number: usize, code: &mut SourceWriter) {
        let spot = &self.spots[number];
        let record = self.record(number);
        let (kind, word) = (reading.result_type(), reading.method_prefix());
        let class = if spot.names.is_empty() { "Object".into() } else { spot.class("Decoder") };
        code.open(format!("\nprivate {kind} {word}_{number}({class} from) {{"));
        code.line(reading.declaration());
        let inner =
            |at: usize, from: &str| reading.add_record(at, &spot.inner[&at].to_string(), from);
        for wanted in [
            FieldPlacement::Nowhere,
            FieldPlacement::Block,
            FieldPlacement::Group,
            FieldPlacement::Data,
        ] {
            for (at, field) in record.fields.iter().enumerate() {
                if placement(self.schema, field) != wanted {
                    continue;
                }
                let value = format!("from.{}_", field.name.legal);
                let scalar = self.schema.scalar(field.element);
                let flag = has_flag(field)
                    .then(|| format!("if (from.{}_() != 0) {{", flag_name(record, field)));
                match (&wanted, field.element, field.cardinality) {
                    (FieldPlacement::Nowhere, ..) => code.line(inner(at, "null")),
                    (FieldPlacement::Block, Element::Record(_), _) => {
                        code.line(inner(at, &format!("{value}()")));
                    }
                    (FieldPlacement::Block, _, Cardinality::Array { len }) if len > 1 => {
                        code.open(format!("for (int i = 0; i < {len}; i++) {{"));
                        let scalar = scalar.expect("a number");
                        code.line(add(reading, at, scalar, &format!("{value}(i)")));
                        code.close("}");
                    }
                    (FieldPlacement::Block, ..) => {
                        let one =
                            add(reading, at, scalar.expect("a number"), &format!("{value}()"));
                        match flag {
                            Some(flag) => code.block(flag, "}", |code| code.line(one)),
                            None => code.line(one),
                        }
                    }
                    (FieldPlacement::Group, ..) => code.block("{", "}", |code| {
                        self.enter(field, "from", "g", "n", code);
                        code.open("for (int i = 0; i < n; i++) {");
                        code.line(match group(self.schema, field).0 {
                            GroupEntry::Number(scalar) => {
                                add(reading, at, scalar, "g.next().value_()")
                            }
                            GroupEntry::Octets => reading.add_length(at, "g.next().skipValue_()"),
                            GroupEntry::Record(_) => inner(at, "g.next()"),
                        });
                        code.close("}");
                    }),
                    (FieldPlacement::Data, ..) => {
                        let skip = format!("from.skip{}_()", capital(&field.name.legal));
                        match flag {
                            Some(flag) => {
                                code.open(flag);
                                code.line(reading.add_length(at, &skip));
                                code.next("} else {");
                                code.line(format!("{skip};"));
                                code.close("}");
                            }
                            None => code.line(reading.add_length(at, &skip)),
                        }
                    }
                }
            }
        }
        code.line(reading.return_statement());
        code.close("}");
    }

    /// `fixed` or `element`, or what proves it: what stands in a block is read there, groups
    /// are walked.
    pub fn walk(
        &self,
        reading: Accumulator,
        name: &str,
        path: Option<&FieldPath>,
        code: &mut SourceWriter,
    ) {
        let method = reading.method_name(name);
        let none = reading.return_empty();
        code.open(format!("\n{} {method}() {{", reading.result_type()));
        let found = self.descend(path.map_or(&[], |path| path), none, code);
        match found {
            None => code.line(none),
            Some((scalar, value)) => {
                code.line(reading.declaration());
                code.line(add(reading, 0, scalar, &value));
                code.line(reading.return_statement());
            }
        }
        code.close("}");
    }

    /// The way along a path; what is found at its end.
    fn descend(
        &self,
        path: &[PathStep],
        none: &str,
        code: &mut SourceWriter,
    ) -> Option<(Scalar, String)> {
        let schema = self.schema;
        let mut id = schema.root;
        let mut at = "decoder".to_owned();
        for (depth, step) in path.iter().enumerate() {
            let record = schema.record(id);
            let field = &record.fields[step.field];
            let member = format!("{at}.{}_", field.name.legal);
            if has_flag(field) {
                code.open(format!("if ({at}.{}_() == 0) {{", flag_name(record, field)));
                code.line(none);
                code.close("}");
            }
            let scalar = || schema.scalar(field.element).expect("paths end at numbers");
            match (placement(schema, field), field.element, field.cardinality) {
                (FieldPlacement::Block, Element::Record(inner), _) => {
                    at = format!("{member}()");
                    id = inner;
                }
                (FieldPlacement::Block, _, Cardinality::Array { len }) => {
                    let index = match step.index {
                        ElementIndex::At(index) => index,
                        _ => len / 2,
                    };
                    return match (index >= len, len) {
                        (true, _) => None,
                        (_, 1) => Some((scalar(), format!("{member}()"))),
                        _ => Some((scalar(), format!("{member}({index})"))),
                    };
                }
                (FieldPlacement::Block, ..) => return Some((scalar(), format!("{member}()"))),
                _ => {
                    let earlier = record
                        .fields
                        .iter()
                        .filter(|f| placement(schema, f) == FieldPlacement::Group);
                    for (number, other) in
                        earlier.take_while(|other| other.id != field.id).enumerate()
                    {
                        let (g, n) = (format!("g{depth}_{number}"), format!("n{depth}_{number}"));
                        self.enter(other, &at, &g, &n, code);
                        code.open(format!("for (int i = 0; i < {n}; i++) {{"));
                        code.line(format!("{g}.next().sbeSkip();"));
                        code.close("}");
                    }
                    let (g, n, i) = (format!("g{depth}"), format!("n{depth}"), format!("i{depth}"));
                    self.enter(field, &at, &g, &n, code);
                    code.line(match step.index {
                        ElementIndex::Single => format!("int {i} = 0;"),
                        ElementIndex::At(index) => format!("int {i} = {index};"),
                        ElementIndex::Middle => format!("int {i} = {n} / 2;"),
                    });
                    code.open(format!("if ({i} >= {n}) {{"));
                    code.line(none);
                    code.close("}");
                    code.open(format!("for (int i = 0; i < {i}; i++) {{"));
                    code.line(format!("{g}.next().sbeSkip();"));
                    code.close("}");
                    code.line(format!("{g}.next();"));
                    match field.element {
                        Element::Record(inner) => {
                            id = inner;
                            at = g;
                        }
                        _ => return Some((scalar(), format!("{g}.value_()"))),
                    }
                }
            }
        }
        None
    }
}
