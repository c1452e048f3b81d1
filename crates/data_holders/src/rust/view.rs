//! Views: a module that shows the fields of each record in the bytes of a message.

use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{
    Cardinality, Element, Enum, Field, Record, Scalar, Schema, TypeDef, TypeId,
};

use super::{begin_module, remark, Module, MODULES, RULES};
use crate::definition::Package;
use crate::doc_comment;
use crate::names::{Names, Rules};

/// What a view has beside its fields, and what holders keep free.
const VIEW_RULES: Rules = Rules { members: concat!("to_holder fill_holder ", members!()), ..RULES };

/// The names of its types and of what views of them have.
pub fn names(package: &Package) -> Names {
    Names::new(&package.schema, &VIEW_RULES, &package.constant_names())
}

impl Module<'_> {
    /// The module, beside that of the holders.
    pub(super) fn views(&self) -> File {
        let package = self.package;
        let views = Views { module: self, names: names(package) };
        let mut code = begin_module(package);
        // No type is called like these.
        let holders = RULES.module(&package.name, MODULES);
        code.line(format!("\nuse super::{holders} as holders;"));
        code.line("use super::wiregauge::{self as wires, Error, Limits, Reader, Wire};");
        for (id, def) in self.schema.types.iter().enumerate() {
            code.line("");
            match def {
                TypeDef::Enum(def) => views.enumeration(id, def, &mut code),
                TypeDef::Record(record) => {
                    views.view(id, record, &mut code);
                    views.write_shown(id, record, &mut code);
                }
            }
        }
        File::new(format!("{}_view.rs", package.name), code.finish())
    }
}

struct Views<'a> {
    module: &'a Module<'a>,
    names: Names,
}

impl Views<'_> {
    /// The struct with a method for each field. No field begins with a low line, as what
    /// finds them does.
    fn view(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let (name, original) = (self.names.type_name(id), &record.name.original);
        let package = self.module.package;
        remark(&format!("{original}, in place.\n{}", package.comment(original)), code);
        code.line("#[derive(Clone, Copy)]");
        let marks = 1 + self.marks(record).iter().flatten().count();
        code.line(format!("pub struct {name}<'a, W: Wire>(wires::Place<'a, W, {marks}>);\n"));
        code.open(format!("impl<'a, W: Wire> {name}<'a, W> {{"));
        for (at, field) in record.fields.iter().enumerate() {
            let (member, written) = (self.names.member(id, at), &field.name.original);
            remark(package.member_comment(original, written), code);
            remark(&doc_comment::renamed_note(member, written).unwrap_or_default(), code);
            doc_comment::field_notes(field).iter().for_each(|text| remark(text, code));
            code.line("#[inline]");
            let open = format!("pub fn {member}(&self) -> {} {{", self.view_type(field));
            let show = format!("{}::show(self.0.bytes, self._at_{at}())", self.kind(field));
            code.block(open, "}\n", |code| code.line(show));
        }
        let marks = self.marks(record);
        let mut mark = 0;
        for at in 0..record.fields.len() {
            let begin = match at.checked_sub(1) {
                None => "self.0.marks[0]".to_owned(),
                Some(before) if marks[before].is_some() => {
                    mark += 1;
                    format!("self.0.marks[{mark}]")
                }
                Some(before) => {
                    let kind = self.kind(&record.fields[before]);
                    format!("{kind}::behind(self.0.bytes, self._at_{before}())")
                }
            };
            code.line("#[inline]");
            code.block(format!("fn _at_{at}(&self) -> usize {{"), "}\n", |code| code.line(begin));
        }
        code.line("/// Copies it.");
        let open = format!("pub fn to_holder(&self) -> holders::{name} {{");
        code.block(open, "}\n", |code| {
            code.line("let mut holder = Default::default();\nself.0.fill(&mut holder);\nholder");
        });
        code.line("/// Copies it into a holder, whose memory is used again.");
        let open = format!("pub fn fill_holder(&self, holder: &mut holders::{name}) {{");
        code.block(open, "}", |code| code.line("self.0.fill(holder);"));
        code.close("}");
    }

    /// How it is checked and shown.
    fn write_shown(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let name = self.names.type_name(id);
        let kinds: Vec<String> = record.fields.iter().map(|field| self.kind(field)).collect();
        let marks = self.marks(record);
        let last = marks.iter().rposition(Option::is_some);
        code.line("");
        code.open(format!("impl<W: Wire> wires::Shown<W> for holders::{name} {{"));
        code.line(format!("type Seen<'a> = {name}<'a, W>;"));
        code.line("type Many<'a> = wires::List<'a, W, Self>;");
        let spans: String = kinds.iter().map(|kind| format!("\n    .then({kind}::SPAN)")).collect();
        let span = if kinds.is_empty() { "filler::<W>()" } else { "NOTHING" };
        code.line(format!("const SPAN: wires::Span = wires::Span::{span}{spans};\n"));
        code.block(format!("{} -> Result<{name}<'a, W>, Error> {{", CHECK), "}\n", |code| {
            let binding = if last.is_some() { "let mut place" } else { "let place" };
            code.line(format!("{binding} = wires::Place::next(reader);"));
            for (at, field) in record.fields.iter().enumerate() {
                let limits = self.module.limits(record, field);
                code.line(format!("{}::check(reader, {limits})?;", kinds[at]));
                if let Some(mark) = marks[at] {
                    code.line(format!("place.mark({mark}, reader);"));
                }
            }
            if kinds.is_empty() {
                code.line("reader.nothing()?;");
            }
            code.line(format!("Ok({name}(place))"));
        });
        code.line("#[inline]");
        code.block(format!("{SHOW} -> {name}<'_, W> {{"), "}\n", |code| {
            let binding = if last.is_some() { "let mut place" } else { "let place" };
            code.line(format!("{binding} = wires::Place::new(bytes, at);"));
            for at in 0..last.map_or(0, |last| last + 1) {
                code.line(format!("let at = {}::behind(bytes, at);", kinds[at]));
                if let Some(mark) = marks[at] {
                    code.line(format!("place.marks[{mark}] = at;"));
                }
            }
            code.line(format!("{name}(place)"));
        });
        let open = format!("{SHOW_ALL} -> wires::List<'_, W, Self> {{");
        code.block(open, "}\n", |code| code.line("wires::List::new(bytes, at, count)"));
        code.line("#[inline]");
        let bytes = if kinds.is_empty() { "_" } else { "bytes" };
        code.block(format!("fn behind({bytes}: &[u8], at: usize) -> usize {{"), "}", |code| {
            for kind in &kinds {
                code.line(format!("let at = {kind}::behind(bytes, at);"));
            }
            code.line(if kinds.is_empty() { "at + usize::from(W::HAS_FILLER)" } else { "at" });
        });
        code.close("}");
    }

    fn enumeration(&self, id: TypeId, _: &Enum, code: &mut SourceWriter) {
        let functions = [
            (format!("{CHECK} -> Result<Self, Error> {{"), "wires::number_checked(reader)"),
            (format!("{SHOW} -> Self {{"), "wires::number::<W, Self>(bytes, at)"),
            (
                format!("{SHOW_ALL} -> wires::Numbers<'_, Self> {{"),
                "wires::Numbers::new::<W>(bytes, at, count)",
            ),
            (
                "fn behind(_: &[u8], at: usize) -> usize {".to_owned(),
                "wires::behind_number::<W, Self>(at)",
            ),
        ];
        let open =
            format!("impl<W: Wire> wires::Shown<W> for holders::{} {{", self.names.type_name(id));
        code.block(open, "}", |code| {
            code.line("type Seen<'a> = Self;");
            code.line("type Many<'a> = wires::Numbers<'a, Self>;");
            code.line("const SPAN: wires::Span = wires::Span::number::<W>(size_of::<Self>());");
            for (open, body) in functions {
                code.line("");
                code.block(open, "}", |code| code.line(body));
            }
        });
    }

    /// A field as what knows how it is shown.
    fn kind(&self, field: &Field) -> String {
        let one = match field.element {
            Element::Record(id) | Element::Enum(id) => {
                format!("holders::{}", self.names.type_name(id))
            }
            other => self.module.element(other),
        };
        let kind = match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => one,
            Cardinality::Optional => format!("Option<{one}>"),
            Cardinality::List { .. } => format!("Vec<{one}>"),
            Cardinality::Array { len } => format!("[{one}; {len}]"),
        };
        format!("<{kind} as wires::Shown<W>>")
    }

    /// As what a field is shown.
    fn view_type(&self, field: &Field) -> String {
        let one = match field.element {
            Element::String => "&'a str".into(),
            Element::Bytes => "&'a [u8]".into(),
            Element::Record(id) => format!("{}<'a, W>", self.names.type_name(id)),
            Element::Enum(id) => format!("holders::{}", self.names.type_name(id)),
            Element::Scalar(scalar) => scalar.rust_name().into(),
        };
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => one,
            Cardinality::Optional => format!("Option<{one}>"),
            Cardinality::List { .. } | Cardinality::Array { .. } => match field.element {
                Element::Scalar(Scalar::U8) => "&'a [u8]".into(),
                Element::Scalar(_) | Element::Enum(_) => format!("wires::Numbers<'a, {one}>"),
                Element::Record(id) => {
                    format!("wires::List<'a, W, holders::{}>", self.names.type_name(id))
                }
                other => format!("wires::List<'a, W, {}>", self.module.element(other)),
            },
        }
    }

    /// The mark of each field's end: of those that have not always the same size, but of the
    /// last field, as nothing is behind it.
    fn marks(&self, record: &Record) -> Vec<Option<usize>> {
        let mut marks = vec![None; record.fields.len()];
        let before = record.fields.len().saturating_sub(1);
        let open = (0..before).filter(|at| is_open(self.module.schema, &record.fields[*at]));
        open.enumerate().for_each(|(mark, at)| marks[at] = Some(mark + 1));
        marks
    }
}

const CHECK: &str = "fn check<'a>(reader: &mut Reader<'a, W>, _: Limits)";
const SHOW: &str = "fn show(bytes: &[u8], at: usize)";
const SHOW_ALL: &str = "fn show_all(bytes: &[u8], at: usize, count: usize)";

/// Whether a field takes more or fewer bytes by what it holds, on some wire.
fn is_open(schema: &Schema, field: &Field) -> bool {
    match (field.cardinality, field.element) {
        (Cardinality::List { .. } | Cardinality::Optional, _)
        | (_, Element::String | Element::Bytes) => true,
        (_, Element::Record(id)) => {
            schema.record(id).fields.iter().any(|field| is_open(schema, field))
        }
        _ => false,
    }
}
