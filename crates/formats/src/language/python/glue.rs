//! The glue between the normalized form in Python and a library's own objects:
//! `give_X` and `take_X` for each record, and the numbers as they are read of the
//! library's objects. What is proven (`exact`) is written from the same expressions
//! as what is timed (`project`).

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, TypeId};

use crate::flattened_field::{self, FlattenedField};
use crate::language::python::message::PythonMessage;

/// How a library's objects are made and read. What is not said is as plain objects
/// of Python have it.
pub trait PythonLibrary {
    /// Whether it has objects of its own for a record.
    fn has_class(&self, _id: TypeId) -> bool {
        true
    }
    /// Whether short arrays of numbers in a record are so many fields.
    fn flattens_arrays(&self, _id: TypeId) -> bool {
        false
    }
    /// Whether a list or an array of numbers is octets to it.
    fn is_octets(&self, _field: &Field) -> bool {
        false
    }
    /// The value of a record's field in the object `at`.
    fn get(&self, at: &str, id: TypeId, field: &Field, place: usize) -> String;
    /// Whether an optional field is there, of the object and the value.
    fn is_present(&self, _at: &str, _record: &Record, _field: &Field, value: &str) -> String {
        format!("{value} is not None")
    }
    /// An object of these values; none where the library fills its objects by
    /// statements, which its own glue then has.
    fn make(
        &self,
        form: &PythonMessage,
        id: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String>;
    /// Octets for the library.
    fn octets_to_library(&self, value: &str) -> String {
        value.to_owned()
    }
    /// Octets of the library.
    fn octets_from_library(&self, value: &str) -> String {
        value.to_owned()
    }
    /// A text of the library.
    fn text_from_library(&self, value: &str) -> String {
        value.to_owned()
    }
    /// How many octets a text of the library has.
    fn text_size(&self, value: &str) -> String {
        format!("octets({value})")
    }
    /// A list of numbers, an `array`, for the library.
    fn numbers_to_library(&self, _field: &Field, code: &str, value: &str) -> String {
        match code {
            "?" => value.to_owned(),
            _ => format!("{value}.tolist()"),
        }
    }
    /// A list of numbers of the library as an `array`.
    fn numbers_from_library(&self, _field: &Field, code: &str, value: &str) -> String {
        format!("array(\"{code}\", {value})")
    }
    /// A fixed array of numbers, a list, for the library.
    fn array_to_library(&self, _field: &Field, _code: &str, value: &str) -> String {
        value.to_owned()
    }
    /// Numbers of the library as a list.
    fn list_from_library(&self, _field: &Field, value: &str) -> String {
        value.to_owned()
    }
    /// One number of the library as Python's own.
    fn number_from_library(&self, _field: &Field, value: &str) -> String {
        value.to_owned()
    }
    /// One number for the library.
    fn number_to_library(&self, _field: &Field, value: &str) -> String {
        value.to_owned()
    }
    /// Whether the normalized form is made of its objects by glue of its own.
    fn has_own_take(&self) -> bool {
        false
    }
    /// What stands for a value that is not there.
    fn absent_value(&self, _field: &Field) -> &'static str {
        "None"
    }
    /// An optional record that is there, for the library.
    fn optional_record_to_library(&self, _field: &Field, one: &str) -> String {
        one.to_owned()
    }
    /// The sum of a list of records, and their tally in that of the record `t`, where
    /// the library reads them all at once.
    fn read_rows(
        &self,
        _form: &PythonMessage,
        _field: &Field,
        _value: &str,
    ) -> Option<RowExpressions> {
        None
    }
    /// A list of records, where the library reads them all at once.
    fn rows_from_library(
        &self,
        _form: &PythonMessage,
        _field: &Field,
        _value: &str,
    ) -> Option<String> {
        None
    }
    /// The number in a list of records that `rest` leads to from one of them, where they
    /// are no objects of the library.
    fn number_in_row(
        &self,
        _form: &PythonMessage,
        _field: &Field,
        _value: &str,
        _index: ElementIndex,
        _rest: &[PathStep],
    ) -> Option<String> {
        None
    }
    /// The sum of a list of numbers.
    fn sum(&self, _field: &Field, value: &str) -> String {
        format!("sum({value})")
    }
}

/// How a list of records is read all at once.
pub struct RowExpressions {
    /// The sum of its numbers.
    pub sum: String,
    /// A list of tallies, one for each record.
    pub tallies: String,
}

/// The whole glue: `give`, `take`, `project`, `exact`, `fixed` and `element` of the
/// library's object of the message. `head` is what it needs beside.
pub fn glue_file(form: &PythonMessage, library: &dyn PythonLibrary, head: &str) -> String {
    let mut code = SourceWriter::indented(4);
    code.line("# Generated by wiregauge: what the runner's code needs to know of the message.");
    code.line("from array import array\n\nimport message");
    code.line("from wiregauge_runner.tally import Tally, octets");
    code.line(head);
    for (id, record) in form.records().filter(|(id, _)| library.has_class(*id)) {
        let glue = Glue { form, library, id, slots: slots(id, form, library) };
        glue.give(&mut code);
        if !library.has_own_take() {
            glue.take(record, &mut code);
        }
        glue.sum(&mut code);
        glue.exact(&mut code);
    }
    let root = form.class(form.schema.root);
    for (name, of) in [("give", "give"), ("take", "take"), ("project", "sum"), ("exact", "exact")] {
        let is_there = match name {
            "give" => has_constructor(form, library),
            "take" => !library.has_own_take(),
            _ => true,
        };
        if is_there {
            code.line(format!("\n\n{name} = {of}_{root}"));
        }
    }
    accessors(form, library, &mut code);
    code.finish()
}

fn has_constructor(form: &PythonMessage, library: &dyn PythonLibrary) -> bool {
    library.make(form, form.schema.root, &[]).is_some()
}

fn slots(id: TypeId, form: &PythonMessage, library: &dyn PythonLibrary) -> Vec<FlattenedField> {
    let record = form.schema.record(id);
    match library.flattens_arrays(id) {
        true => flattened_field::flatten_fields(form.schema, record),
        false => flattened_field::keep_fields(record),
    }
}

/// The glue of a record.
struct Glue<'a> {
    form: &'a PythonMessage<'a>,
    library: &'a dyn PythonLibrary,
    id: TypeId,
    slots: Vec<FlattenedField>,
}

impl Glue<'_> {
    fn class(&self) -> &str {
        self.form.class(self.id)
    }

    fn record(&self) -> &Record {
        self.form.schema.record(self.id)
    }

    /// The member of the normalized form that a slot is, or is a number of.
    fn normalized(&self, at: &str, slot: &FlattenedField) -> String {
        self.form.member_access(at, self.id, slot)
    }

    fn give(&self, code: &mut SourceWriter) {
        let values = self.slots.iter().map(|slot| {
            let value = self.normalized("m", slot);
            (slot.clone(), library_value(self.form, self.library, &slot.field, &value))
        });
        let values: Vec<_> = values.collect();
        let Some(made) = self.library.make(self.form, self.id, &values) else { return };
        code.line("\n");
        code.open(format!("def give_{}(m):", self.class()));
        code.line(format!("return {made}"));
        code.outdent();
    }

    fn take(&self, record: &Record, code: &mut SourceWriter) {
        code.line("\n");
        code.open(format!("def take_{}(o):", self.class()));
        let mut values = Vec::new();
        for (place, field) in record.fields.iter().enumerate() {
            let own: Vec<&FlattenedField> =
                self.slots.iter().filter(|slot| slot.place == place).collect();
            values.push(match (own.as_slice(), field.cardinality) {
                ([slot], Cardinality::Array { len }) if slot.number.is_none() => {
                    self.take_array(field, place, len, code)
                }
                ([slot], _) if slot.number.is_none() => {
                    self.normalized_value(field, &self.library.get("o", self.id, field, place))
                }
                (numbers, _) => {
                    let get = |slot: &&FlattenedField| {
                        let value = self.library.get("o", self.id, &slot.field, place);
                        self.library.number_from_library(&slot.field, &value)
                    };
                    format!("[{}]", numbers.iter().map(get).collect::<Vec<_>>().join(", "))
                }
            });
        }
        code.line(format!("return message.{}({})", self.class(), values.join(", ")));
        code.outdent();
    }

    /// A fixed array, which is asked for once and must have its length.
    fn take_array(&self, field: &Field, place: usize, len: u32, code: &mut SourceWriter) -> String {
        let array = format!("a{place}");
        let value = self.library.get("o", self.id, field, place);
        let octets = self.library.is_octets(field);
        let value = if octets { self.library.octets_from_library(&value) } else { value };
        code.line(format!("{array} = {value}"));
        code.open(format!("if len({array}) != {len}:"));
        let member = self.form.member(self.id, place);
        code.line(format!("raise ValueError(\"{member}: wrong length\")"));
        code.outdent();
        match octets {
            true => format!("list({array})"),
            false => self.normalized_value(field, &array),
        }
    }

    /// A field's value in the library's object `o` as the normalized form has it.
    fn normalized_value(&self, field: &Field, value: &str) -> String {
        let library = self.library;
        let one = |value: &str| match field.element {
            Element::Record(id) => format!("take_{}({value})", self.form.class(id)),
            Element::Bytes => library.octets_from_library(value),
            Element::String => library.text_from_library(value),
            _ => library.number_from_library(field, value),
        };
        match (field.cardinality, self.form.type_code(field)) {
            (Cardinality::Optional, _) => {
                let there = library.is_present("o", self.record(), field, "(v := {})");
                match there.contains("{}") {
                    // The value is asked for once.
                    true => format!("{} if {} else None", one("v"), there.replace("{}", value)),
                    false => format!("{} if {there} else None", one(value)),
                }
            }
            (Cardinality::Required | Cardinality::Implicit, _) => one(value),
            (Cardinality::List { .. }, Some(code)) if library.is_octets(field) => {
                format!("array(\"{code}\", {})", library.octets_from_library(value))
            }
            (Cardinality::List { .. }, Some(code)) if code != "?" => {
                library.numbers_from_library(field, code, value)
            }
            (_, Some(_)) => library.list_from_library(field, value),
            _ => library.rows_from_library(self.form, field, value).unwrap_or_else(|| {
                match one("e").as_str() {
                    "e" => format!("list({value})"),
                    one => format!("[{one} for e in {value}]"),
                }
            }),
        }
    }

    /// `sum_X`: every number of the library's object.
    fn sum(&self, code: &mut SourceWriter) {
        code.line("\n");
        code.open(format!("def sum_{}(o):", self.class()));
        code.line("s = 0.0");
        self.each(code, |_, field, value, code| match (field.element, is_list(field)) {
            (Element::Record(id), false) => {
                code.line(format!("s += sum_{}({value})", self.form.class(id)));
            }
            (Element::Record(id), true) => match self.library.read_rows(self.form, field, value) {
                Some(rows) => code.line(format!("s += {}", rows.sum)),
                None => {
                    code.open(format!("for e in {value}:"));
                    code.line(format!("s += sum_{}(e)", self.form.class(id)));
                    code.outdent();
                }
            },
            (Element::String, false) => {
                code.line(format!("s += {}", self.library.text_size(value)));
            }
            (Element::Bytes, false) => {
                code.line(format!("s += len({})", self.library.octets_from_library(value)));
            }
            (Element::String, true) => code.line(match self.library.text_size("e").as_str() {
                "octets(e)" => format!("s += sum(map(octets, {value}))"),
                size => format!("s += sum([{size} for e in {value}])"),
            }),
            (Element::Bytes, true) => {
                let one = self.library.octets_from_library("e");
                code.line(format!("s += sum([len({one}) for e in {value}])"));
            }
            (_, false) => {
                code.line(format!("s += {}", self.library.number_from_library(field, value)));
            }
            (_, true) if self.library.is_octets(field) => {
                code.line(format!("s += sum({})", self.library.octets_from_library(value)));
            }
            (_, true) => code.line(format!("s += {}", self.library.sum(field, value))),
        });
        code.line("return s");
        code.outdent();
    }

    /// `exact_X`: the same numbers, told one by one.
    fn exact(&self, code: &mut SourceWriter) {
        code.line("\n");
        code.open(format!("def exact_{}(o):", self.class()));
        code.line("t = Tally()");
        self.each(code, |place, field, value, code| match (field.element, is_list(field)) {
            (Element::Record(id), false) => {
                code.line(format!("t.record({place}, exact_{}({value}))", self.form.class(id)));
            }
            (Element::Record(id), true) => {
                let inner = format!("exact_{}(e)", self.form.class(id));
                let (each, inner) = match self.library.read_rows(self.form, field, value) {
                    Some(rows) => (rows.tallies, "e"),
                    None => (value.to_owned(), inner.as_str()),
                };
                code.open(format!("for e in {each}:"));
                code.line(format!("t.record({place}, {inner})"));
                code.outdent();
            }
            (Element::String, false) => {
                code.line(format!("t.length({place}, {})", self.library.text_size(value)));
            }
            (Element::Bytes, false) => {
                let octets = self.library.octets_from_library(value);
                code.line(format!("t.length({place}, len({octets}))"));
            }
            (Element::String | Element::Bytes, true) => {
                code.open(format!("for e in {value}:"));
                code.line(match field.element {
                    Element::String => {
                        format!("t.length({place}, {})", self.library.text_size("e"))
                    }
                    _ => {
                        format!("t.length({place}, len({}))", self.library.octets_from_library("e"))
                    }
                });
                code.outdent();
            }
            (_, repeats) => {
                let kind = self.form.type_code(field).unwrap_or("B");
                let numbers = match repeats {
                    false => format!("[{}]", self.library.number_from_library(field, value)),
                    true if self.library.is_octets(field) => {
                        self.library.octets_from_library(value)
                    }
                    true => self.library.list_from_library(field, value),
                };
                code.line(format!("t.numbers({place}, \"{kind}\", {numbers})"));
            }
        });
        code.line("return t");
        code.outdent();
    }

    /// Each value of the library's object `o` that is there, with its place.
    fn each(&self, code: &mut SourceWriter, add: impl Fn(usize, &Field, &str, &mut SourceWriter)) {
        for slot in &self.slots {
            let field = &slot.field;
            let value = self.library.get("o", self.id, field, slot.place);
            if field.cardinality == Cardinality::Optional {
                let there = self.library.is_present("o", self.record(), field, "(v := {})");
                code.open(format!("if {}:", there.replace("{}", &value)));
                let value = if there.contains("{}") { "v" } else { &value };
                add(slot.place, field, value, code);
                code.outdent();
            } else {
                add(slot.place, field, &value, code);
            }
        }
    }
}

fn is_list(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// A value of the normalized form as the library takes it.
pub fn library_value(
    form: &PythonMessage,
    library: &dyn PythonLibrary,
    field: &Field,
    value: &str,
) -> String {
    let one = |value: &str| match field.element {
        Element::Record(id) => format!("give_{}({value})", form.class(id)),
        Element::Bytes => library.octets_to_library(value),
        Element::String => value.to_owned(),
        _ => library.number_to_library(field, value),
    };
    match (field.cardinality, form.type_code(field)) {
        (Cardinality::Optional, _) => {
            let one = match field.element {
                Element::Record(_) => library.optional_record_to_library(field, &one(value)),
                _ => one(value),
            };
            match library.absent_value(field) {
                "None" if one == value => one,
                absent => format!("{absent} if {value} is None else {one}"),
            }
        }
        (Cardinality::Required | Cardinality::Implicit, _) => one(value),
        (_, Some(_)) if library.is_octets(field) => {
            library.octets_to_library(&format!("bytes({value})"))
        }
        (Cardinality::List { .. }, Some(code)) => library.numbers_to_library(field, code, value),
        (_, Some(code)) => library.array_to_library(field, code, value),
        _ => match one("e").as_str() {
            "e" => value.to_owned(),
            one => format!("[{one} for e in {value}]"),
        },
    }
}

/// `fixed(o)` and `element(o)`: one number, None where it is not there.
fn accessors(form: &PythonMessage, library: &dyn PythonLibrary, code: &mut SourceWriter) {
    let projection = form.unit.projection;
    for (name, path) in [("fixed", &projection.fixed), ("element", &projection.element)] {
        code.line("\n");
        code.open(format!("def {name}(o):"));
        let mut id = form.schema.root;
        let steps = path.as_deref().unwrap_or_default();
        for (depth, step) in steps.iter().enumerate() {
            let slots = slots(id, form, library);
            let Some((slot, index)) = flattened_field::find_step(&slots, step) else {
                code.line("return None");
                break;
            };
            let field = &slot.field;
            let value = library.get("o", id, field, step.field);
            match (field.cardinality, index) {
                (Cardinality::Required | Cardinality::Implicit, _) => {
                    code.line(format!("o = {value}"));
                }
                (Cardinality::Optional, _) => {
                    let there = library.is_present("o", form.schema.record(id), field, &value);
                    code.open(format!("if not ({there}):"));
                    code.line("return None");
                    code.outdent();
                    code.line(format!("o = {value}"));
                }
                (_, index) => {
                    let rest = &steps[depth + 1..];
                    if let Some(number) = library.number_in_row(form, field, &value, index, rest) {
                        code.line(format!("return {number}"));
                        break;
                    }
                    let octets = library.is_octets(field);
                    let value = if octets { library.octets_from_library(&value) } else { value };
                    code.line(format!("o = {value}"));
                    let at = match index {
                        ElementIndex::At(at) => at.to_string(),
                        _ => "len(o) // 2".into(),
                    };
                    code.line(format!("i = {at}"));
                    code.open("if i >= len(o):");
                    code.line("return None");
                    code.outdent();
                    code.line("o = o[i]");
                }
            }
            match field.element {
                Element::Record(inner) => id = inner,
                _ => code.line(format!("return {}", library.number_from_library(field, "o"))),
            }
        }
        if path.is_none() {
            code.line("return None");
        }
        code.outdent();
    }
}

/// `fill_X(m, o)` for each record X that the library knows, and `fill` for the message: one
/// of two objects into the other, slot by slot.
pub fn fill(
    form: &PythonMessage,
    knows: impl Fn(TypeId) -> bool,
    slot: impl Fn(&PythonMessage, TypeId, &FlattenedField, &mut SourceWriter),
) -> String {
    let mut code = SourceWriter::indented(4);
    for (id, record) in form.records().filter(|(id, _)| knows(*id)) {
        code.line("\n");
        code.open(format!("def fill_{}(m, o):", form.class(id)));
        let slots = flattened_field::flatten_fields(form.schema, record);
        if slots.is_empty() {
            code.line("pass");
        }
        for of in &slots {
            slot(form, id, of, &mut code);
        }
        code.outdent();
    }
    code.line(format!("\n\nfill = fill_{}", form.class(form.schema.root)));
    code.finish()
}
