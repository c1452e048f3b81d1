//! Java libraries with objects of their own that are set field by field: lists are
//! `List`s of boxed values, octets are `ByteBuffer`s. `make_X` and `take_X` of each record.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Field, Scalar, TypeId};

use crate::flattened_field::FlattenedField;
use crate::language::java::glue::{is_array, JavaLibrary};
use crate::language::java::message::JavaMessage;
use crate::language::java::number::JavaNumber;

/// How a library's objects are set. How they are read [`JavaLibrary`] says.
pub trait JavaObjects: JavaLibrary {
    /// What sets a field of the object `o`.
    fn set(&self, id: TypeId, slot: &FlattenedField, value: &str) -> String;
    /// The number of Java's own, a signed one, that carries a number.
    fn carrier(&self, number: JavaNumber) -> JavaNumber;
}

/// `make_X`, `take_X`, and what these call.
pub fn write_records(form: &JavaMessage, library: &dyn JavaObjects, code: &mut SourceWriter) {
    code.open("\nprivate static byte[] octets(ByteBuffer block) {");
    code.line("byte[] octets = new byte[block.remaining()];");
    code.line("block.get(block.position(), octets);\nreturn octets;");
    code.close("}");
    code.open("\nprivate static void fixed(int length, int wanted) {");
    code.open("if (length != wanted) {");
    code.line("throw new IllegalArgumentException(\"an array has \" + length + \" elements, not \" + wanted);");
    code.close("}");
    code.close("}");
    for (id, _) in form.schema.records() {
        let glue = Glue { form, library, id };
        glue.make(code);
        glue.take(code);
    }
}

/// The element `i` of octets that lie in a `ByteBuffer`.
pub fn octet(block: &str) -> String {
    format!("{block}.get({block}.position() + i)")
}

/// The glue of a record.
struct Glue<'a> {
    form: &'a JavaMessage<'a>,
    library: &'a dyn JavaObjects,
    id: TypeId,
}

impl Glue<'_> {
    fn make(&self, code: &mut SourceWriter) {
        let (form, library, id) = (self.form, self.library, self.id);
        let (class, own) = (library.class(form, id), form.class(id));
        code.open(format!("\nprivate static {class} make_{}({own} m) {{", form.name(id)));
        code.line(format!("{class} o = new {class}();"));
        for slot in library.format_fields(form, id) {
            let field = &slot.field;
            let member = form.member_access("m", id, &slot);
            let value = |value: &str| match (field.element, form.number(field)) {
                (Element::Record(inner), _) => format!("make_{}({value})", form.name(inner)),
                (Element::Bytes, _) => format!("ByteBuffer.wrap({value})"),
                (_, Some(number)) => self.library_value(number, value, is_packed(&slot)),
                _ => value.to_owned(),
            };
            match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => {
                    code.line(library.set(id, &slot, &value(&member)));
                }
                Cardinality::Optional => {
                    code.open(format!("if ({member} != null) {{"));
                    code.line(library.set(id, &slot, &value(&member)));
                    code.close("}");
                }
                _ if field.repeats_octets() => {
                    code.line(library.set(id, &slot, &format!("ByteBuffer.wrap({member})")));
                }
                Cardinality::List { .. } | Cardinality::Array { .. } => {
                    let count = match is_array(form, field) {
                        true => format!("{member}.length"),
                        false => format!("{member}.size()"),
                    };
                    let list = format!("l{}", slot.place);
                    let element = self.element(field);
                    code.line(format!("List<{element}> {list} = new ArrayList<>({count});"));
                    code.open(format!("for (var e : {member}) {{"));
                    code.line(format!("{list}.add({});", value("e")));
                    code.close("}");
                    code.line(library.set(id, &slot, &list));
                }
            }
        }
        code.line("return o;");
        code.close("}");
    }

    fn take(&self, code: &mut SourceWriter) {
        let (form, library, id) = (self.form, self.library, self.id);
        let (class, own) = (library.class(form, id), form.class(id));
        code.open(format!("\nprivate static {own} take_{}({class} o) {{", form.name(id)));
        code.line(format!("{own} m = new {own}();"));
        for slot in library.format_fields(form, id) {
            let field = &slot.field;
            let member = form.member_access("m", id, &slot);
            let value = |value: &str| match (field.element, form.number(field)) {
                (Element::Record(inner), _) => format!("take_{}({value})", form.name(inner)),
                (Element::Bytes, _) => format!("octets({value})"),
                (_, Some(number)) => self.normalized_value(number, value, is_packed(&slot)),
                _ => value.to_owned(),
            };
            let get = library.get(form, "o", id, &slot);
            if let Cardinality::Array { len } = field.cardinality {
                code.line(format!("fixed({}, {len});", library.list_length(form, "o", id, &slot)));
            }
            let list = format!("l{}", slot.place);
            match (field.cardinality, form.number(field)) {
                (Cardinality::Required | Cardinality::Implicit, _) => {
                    code.line(format!("{member} = {};", value(&get)));
                }
                (Cardinality::Optional, _) => {
                    code.open(format!("if ({}) {{", library.is_present(form, "o", id, &slot)));
                    code.line(format!("{member} = {};", value(&get)));
                    code.close("}");
                }
                _ if field.repeats_octets() => code.line(format!("{member} = octets({get});")),
                (_, Some(number)) => {
                    let at = value(&format!("{list}.get(i)"));
                    code.line(format!("List<{}> {list} = {get};", self.element(field)));
                    code.line(format!("{member} = new {}[{list}.size()];", number.element_type()));
                    code.open(format!("for (int i = 0; i < {member}.length; i++) {{"));
                    code.line(format!("{member}[i] = {at};"));
                    code.close("}");
                }
                (Cardinality::Array { len }, None) => {
                    let at = value(&format!("{get}.get(i)"));
                    code.open(format!("for (int i = 0; i < {len}; i++) {{"));
                    code.line(format!("{member}[i] = {at};"));
                    code.close("}");
                }
                (Cardinality::List { .. }, None) => {
                    if field.default.is_some() {
                        code.line(format!("{member}.clear();"));
                    }
                    code.open(format!("for (var e : {get}) {{"));
                    code.line(format!("{member}.add({});", value("e")));
                    code.close("}");
                }
            }
        }
        code.line("return m;");
        code.close("}");
    }

    /// The type of a list's elements.
    fn element(&self, field: &Field) -> String {
        match (field.element, self.form.number(field)) {
            (Element::Record(inner), _) => self.library.class(self.form, inner),
            (Element::String, _) => "String".into(),
            (_, None) => "ByteBuffer".into(),
            (_, Some(number)) => self.library.carrier(number).boxed_type().into(),
        }
    }

    /// A number of the normalized form as the objects have it.
    fn library_value(&self, number: JavaNumber, value: &str, is_packed: bool) -> String {
        let to = self.library.carrier(number);
        match (number.mask(), is_packed && to.0.size() > number.0.size()) {
            (Some(mask), true) => format!("{value} & {mask}"),
            _ => cast(value, java_type(number, is_packed), to.element_type()),
        }
    }

    /// A number of the objects as the normalized form has it.
    fn normalized_value(&self, number: JavaNumber, value: &str, is_packed: bool) -> String {
        let from = self.library.carrier(number);
        match (number.mask(), !is_packed && from.0.size() == number.0.size()) {
            (Some(mask), true) => format!("{value} & {mask}"),
            _ => cast(value, from.element_type(), java_type(number, is_packed)),
        }
    }
}

/// Whether a slot's numbers are of an array in the normalized form, where they are by
/// their bits.
fn is_packed(slot: &FlattenedField) -> bool {
    slot.number.is_some()
        || matches!(slot.field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// The type that a number has in the normalized form, boxed or not.
fn java_type(number: JavaNumber, is_packed: bool) -> &'static str {
    match (number.0, is_packed) {
        (Scalar::U8 | Scalar::U16, false) => "int",
        (Scalar::U32, false) => "long",
        _ => number.element_type(),
    }
}

/// A number of one type as one of another. A boxed one has to be unboxed first, which the
/// type that it has does.
fn cast(value: &str, from: &str, to: &str) -> String {
    match from == to {
        true => value.to_owned(),
        false => format!("({to}) ({from}) {value}"),
    }
}
