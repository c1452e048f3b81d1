//! How a holder is measured, written and read, field after field.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Field, Record, TypeId};

use super::method_parts::Method;
use super::Module;
use crate::layout;
use crate::wire::Wire;

/// A bound as the fixed part takes it.
fn bound_literal(bound: Option<u32>) -> String {
    match bound.and_then(|bound| i32::try_from(bound).ok()) {
        Some(bound) => bound.to_string(),
        // What no array in Java could have is no bound.
        None => "Sizer.NO_BOUND".into(),
    }
}

/// Whether some wire has the size of a field before it.
fn is_sized(field: &Field) -> bool {
    let is_list = matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
    is_list && Wire::SEQUENTIAL.iter().any(|wire| layout::is_delimited(*wire, field.element))
}

/// What the walk of a field goes by.
struct FieldWalk<'a> {
    place: usize,
    field: &'a Field,
    /// `this.ranges`.
    member: String,
    /// The bounds of its list and of its texts.
    most: String,
    most_text: String,
}

impl Module<'_> {
    /// The methods of `Sequential`.
    pub(super) fn sequential(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let walked = |(place, field): (usize, &'_ Field)| {
            let list = match field.cardinality {
                Cardinality::List { bound } => bound,
                _ => None,
            };
            let member = format!("this.{}", self.names.member(id, place));
            let most_text = bound_literal(self.package.text_bound(record, field));
            (member, bound_literal(list), most_text)
        };
        let fields: Vec<FieldWalk> = record
            .fields
            .iter()
            .enumerate()
            .map(|(place, field)| {
                let (member, most, most_text) = walked((place, field));
                FieldWalk { place, field, member, most, most_text }
            })
            .collect();
        let nothing = record.fields.is_empty();
        let method = |name, parameters, fails| Method { access: "public", name, parameters, fails };
        let measure = method("measure", ("Sizer sizer", "sizer"), !nothing);
        let write = method("write", ("Writer writer", "writer"), false);
        let read = method("read", ("Reader reader", "reader"), true);
        if nothing {
            for method in [measure, write, read] {
                code.line("@Override");
                method.write(&[()], code, |(), code| {
                    code.line(format!("{}.nothing();", method.parameters.1));
                });
            }
            return;
        }
        code.line("@Override");
        measure.write(&fields, code, |field, code| self.measure(field, code));
        code.line("@Override");
        write.write(&fields, code, |field, code| self.write(field, code));
        code.line("@Override");
        read.write(&fields, code, |field, code| self.read(field, code));
    }

    fn measure(&self, walked: &FieldWalk, code: &mut SourceWriter) {
        let FieldWalk { field, member, most, most_text, .. } = walked;
        if is_sized(field) {
            code.line("sizer.open();");
        }
        let one = |value: &str| match (field.element, self.packed(field)) {
            (Element::String, _) => format!("sizer.text({value}, {most_text});"),
            (Element::Bytes, _) => format!("sizer.octets({value});"),
            (_, Some(kind)) if kind.is_widened() => {
                format!("sizer.{}({value});", kind.reader_method())
            }
            (_, Some(kind)) => format!("sizer.number({});", kind.size()),
            _ => format!("sizer.there({value}).measure(sizer);"),
        };
        match (field.cardinality, self.packed(field), field.element) {
            (Cardinality::Required | Cardinality::Implicit, ..) => code.line(one(member)),
            (Cardinality::Optional, _, Element::Record(_)) => {
                code.line(format!("sizer.option({member});"));
            }
            (Cardinality::Optional, ..) => {
                code.open(format!("if (sizer.presence({member} != null)) {{"));
                code.line(one(&self.or_empty(field, member)));
                code.close("}");
            }
            (Cardinality::List { .. }, Some(_), _) => {
                code.line(format!("sizer.list({member}, {most});"));
            }
            (Cardinality::Array { len }, Some(_), _) => {
                code.line(format!("sizer.array({member}, {len});"));
            }
            (cardinality, None, _) => {
                code.line(match cardinality {
                    Cardinality::Array { len } => format!("sizer.exactly({member}, {len});"),
                    _ => format!("sizer.count({member}, {most});"),
                });
                self.each(field, member, code, &one("one"));
            }
        }
    }

    fn write(&self, walked: &FieldWalk, code: &mut SourceWriter) {
        let FieldWalk { place, field, member, .. } = walked;
        if is_sized(field) {
            code.line(format!("int start{place} = writer.open();"));
        }
        let one = |value: &str| match (field.element, self.packed(field)) {
            (Element::String, _) => format!("writer.text({value});"),
            (Element::Bytes, _) => format!("writer.octets({value});"),
            (_, Some(kind)) => format!("writer.{}({value});", kind.writer_method()),
            _ => format!("{value}.write(writer);"),
        };
        match (field.cardinality, self.packed(field), field.element) {
            (Cardinality::Required | Cardinality::Implicit, ..) => code.line(one(member)),
            (Cardinality::Optional, _, Element::Record(_)) => {
                code.line(format!("writer.option({member});"));
            }
            (Cardinality::Optional, ..) => {
                code.open(format!("if (writer.presence({member} != null)) {{"));
                code.line("int start = writer.place();");
                code.line(one(&self.or_empty(field, member)));
                code.line("writer.end(start);");
                code.close("}");
            }
            (Cardinality::List { .. }, Some(_), _) => code.line(format!("writer.list({member});")),
            (Cardinality::Array { .. }, Some(_), _) => {
                code.line(format!("writer.array({member});"));
            }
            (cardinality, None, _) => {
                let is_list = matches!(cardinality, Cardinality::List { .. });
                if is_list {
                    code.line(format!("int list{place} = writer.begin({member}.size());"));
                }
                self.each(field, member, code, &one("one"));
                if is_list {
                    code.line(format!("writer.end(list{place});"));
                }
            }
        }
        if is_sized(field) {
            code.line(format!("writer.close(start{place});"));
        }
    }

    fn read(&self, walked: &FieldWalk, code: &mut SourceWriter) {
        let FieldWalk { place, field, member, most, most_text } = walked;
        if is_sized(field) {
            code.line(format!("int end{place} = reader.open();"));
        }
        let value = |old: &str| match (field.element, self.packed(field)) {
            (Element::String, _) => format!("reader.text({most_text})"),
            (Element::Bytes, _) => format!("reader.octets({old})"),
            (_, Some(kind)) => format!("reader.{}()", kind.reader_method()),
            _ => unreachable!("records are read into"),
        };
        match (field.cardinality, self.packed(field), field.element) {
            (Cardinality::Required | Cardinality::Implicit, _, Element::Record(id)) => {
                self.read_record(id, member, code);
            }
            (Cardinality::Required | Cardinality::Implicit, ..) => {
                code.line(format!("{member} = {};", value(member)));
            }
            (Cardinality::Optional, _, Element::Record(id)) => {
                let least = self.min_element_size(field.element);
                code.line(format!("int option{place} = reader.option({least});"));
                code.open(format!("if (option{place} < 0) {{"));
                code.line(format!("{member} = null;"));
                code.next("} else {");
                self.read_record(id, member, code);
                code.line(format!("reader.ended(option{place});"));
                code.close("}");
            }
            (Cardinality::Optional, kind, _) => {
                let kind = match kind {
                    Some(kind) => kind.single_type(),
                    None => self.element(field.element),
                };
                code.open("{");
                code.line("int option = reader.presence();");
                code.line("boolean isThere = option >= 0;");
                code.open("if (reader.presence(isThere)) {");
                code.line(format!("{kind} value = {};", value(member)));
                code.line(format!("{member} = isThere ? value : null;"));
                code.next("} else {");
                code.line(format!("{member} = null;"));
                code.close("}");
                code.line("reader.ended(option);");
                code.close("}");
            }
            (Cardinality::List { .. }, Some(_), _) => {
                code.line(format!("{member} = reader.list({member}, {most});"));
            }
            (Cardinality::Array { len }, Some(_), _) => {
                code.line(format!("{member} = reader.array({member}, {len});"));
            }
            (Cardinality::List { .. }, None, Element::String) => {
                code.line(format!("{member} = reader.texts({member}, {most}, {most_text});"));
            }
            (Cardinality::List { .. }, None, Element::Record(id)) => {
                let (name, least) =
                    (self.names.type_name(id), self.min_element_size(field.element));
                code.line(format!(
                    "{member} = reader.records({member}, {least}, {most}, {name}::new);"
                ));
                code.open(format!("for ({name} one : reader.unread({member})) {{"));
                code.line("one.read(reader);");
                code.close("}");
            }
            (Cardinality::List { .. }, None, _) => {
                code.line(format!("{member} = reader.blocks({member}, {most});"));
            }
            (Cardinality::Array { len }, None, element) => {
                let kind = self.element(element);
                code.open(format!("if ({member} == null || {member}.length != {len}) {{"));
                let made = match element {
                    Element::Bytes => format!("new byte[{len}][]"),
                    _ => format!("new {kind}[{len}]"),
                };
                code.line(format!("{member} = {made};"));
                code.close("}");
                code.open(format!("for (int place = 0; place < {len}; place++) {{"));
                let place = format!("{member}[place]");
                match element {
                    Element::Record(id) => self.read_record(id, &place, code),
                    _ => code.line(format!("{place} = {};", value(&place))),
                }
                code.close("}");
            }
        }
        if is_sized(field) {
            code.line(format!("reader.close(end{place});"));
        }
    }

    fn read_record(&self, id: TypeId, member: &str, code: &mut SourceWriter) {
        code.open(format!("if ({member} == null) {{"));
        code.line(format!("{member} = new {}();", self.names.type_name(id)));
        code.close("}");
        code.line(format!("{member}.read(reader);"));
    }

    fn each(&self, field: &Field, member: &str, code: &mut SourceWriter, statement: &str) {
        code.open(format!("for ({} one : {member}) {{", self.element(field.element)));
        code.line(statement);
        code.close("}");
    }

    /// An optional value, or what stands for it where it is absent.
    fn or_empty(&self, field: &Field, member: &str) -> String {
        let empty = match (field.element, self.packed(field)) {
            (Element::String, _) => "\"\"",
            (Element::Bytes, _) => "new byte[0]",
            (_, Some(kind)) if kind.single_type() == "boolean" => "false",
            _ => "0",
        };
        format!("{member} == null ? {empty} : {member}")
    }

    /// The fewest bytes of an element on whatever wire, one at least.
    fn min_element_size(&self, element: Element) -> i32 {
        let sizes =
            Wire::SEQUENTIAL.map(|wire| layout::min_element_size(self.schema, element, wire));
        let least = sizes.into_iter().min().unwrap_or(1).max(1);
        i32::try_from(least).unwrap_or(i32::MAX)
    }
}
