//! FlatBuffers Rust: Google's crate and flatc's code for it, from the definition
//! with structs.

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use super::flatc_release::FlatcRelease;
use super::{may_lose_sign, Dialect, ElementKind, Style, ARRAYS, BUILDER, FLATC, SIGN, VERIFY};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::{self, FlattenedField};
use crate::language::rust::glue;

inventory::submit! {
    Codec {
        name: "flatbuffers",
        title: "FlatBuffers Rust structs",
        format: "flatbuffers",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("flatbuffers"),
        options: &[
            "the crate follows the machine's flatc: 2.1.2 for 2.0.8, else 23.5.26 or 25.12.19",
            "records of plain data are structs; unlike C++, the crate does not align them in the \
             message",
            ARRAYS,
            SIGN,
            BUILDER,
            VERIFY,
        ],
        calls: &[
            "encode: builder.reset(); builder.create_vector_direct(&structs), since 22.9 create_vector, for each list of structs; X::create(&mut builder, &XArgs { … }); builder.finish(root, None); builder.finished_data()",
            "decode: flatbuffers::root_unchecked::<X>(wire); every accessor; lists of numbers by safe_slice(), since 22.9 by bytes(), of structs as blocks",
            "project, fixed, element: flatbuffers::root_unchecked::<X>(wire), then the accessors on the way",
            "verify and the checked ones: flatbuffers::root_with_opts::<X>(&options, wire)",
        ],
        needs: &[FLATC],
        check_type: |schema, id| super::check_type(schema, id, Style::Structs),
        idl: Some(|schema| super::idl(schema, Style::Structs)),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let generation = FlatcRelease::installed()?;
    Ok(Emission {
        files: vec![
            super::idl(unit.schema, Style::Structs)?,
            glue::main_file(
                "Flatbuffers",
                &["codec", "glue", "message_generated", "plain", "tables", "vectors"],
            ),
            File::new("codec.rs", include_str!("rust/codec.rs")),
            File::new("plain.rs", include_str!("rust/plain.rs")),
            File::new("tables.rs", include_str!("rust/tables.rs")),
            File::new("vectors.rs", generation.vectors),
            File::new("glue.rs", glue(unit, generation)),
        ],
        features: vec![generation.feature.into()],
        steps: vec![GeneratorStep::command(["flatc", "--rust", "message.fbs"])],
        ..Emission::default()
    })
}

fn glue(unit: &Unit, generation: FlatcRelease) -> String {
    let schema = unit.schema;
    let slices = generation.gives_slices();
    let dialect = Dialect { slices, ..Dialect::new(schema, Style::Structs) };
    let mut code = glue::begin_glue_for(&format!("flatbuffers {}", generation.version));
    code.line(format!("pub const DEPTH: usize = {};", dialect.depth()));
    code.line("");
    code.line("use std::mem::{offset_of, size_of};");
    code.line("use flatbuffers::{UOffsetT, WIPOffset};");
    code.line("use crate::message_generated::wg;");
    code.line("use crate::plain::{structs, take_structs, Plain};");
    code.line("use crate::tables::{children, counted, keep_sign, Builder};");
    code.line("use crate::vectors::*;");
    code.line("");
    code.line(format!("pub type Root<'a> = wg::{}<'a>;", dialect.type_name(schema.root)));
    code.line("");
    scratch(dialect, &mut code);
    for (id, record) in schema.records() {
        if dialect.is_struct(id) {
            plain(dialect, id, record, &mut code);
        } else {
            admit(dialect, id, record, &mut code);
            build(dialect, id, record, &mut code);
            take(dialect, id, record, &mut code);
        }
        tally(dialect, id, record, &mut code);
    }
    accessor(dialect, "fixed", unit.projection.fixed.as_deref(), &mut code);
    accessor(dialect, "element", unit.projection.element.as_deref(), &mut code);
    glue::alias_root_functions(schema, &["admit", "build", "take", "tally"], &mut code);
    code.finish()
}

/// flatc's Rust name of a field: it escapes its own reserved words.
fn field_name(field: &Field) -> String {
    const ESCAPED: &str = "alignment f32 f64 follow from_little_endian i128 i16 i32 i64 i8 isize \
         proc pure push size std to_little_endian u128 u16 u32 u64 u8 usize";
    let name = super::field_name(field);
    if ESCAPED.split(' ').any(|word| word == name) {
        format!("{name}_")
    } else {
        name
    }
}

/// `Scratch`: what building a message needs room for besides the builder.
fn scratch(dialect: Dialect, code: &mut SourceWriter) {
    code.line("/// Kept between messages, so that building one allocates nothing.");
    code.line("#[derive(Default)]");
    code.block("pub struct Scratch {", "}", |code| {
        code.line("/// Offsets of children that are built before their parent; a stack.");
        code.line("pub offsets: Vec<UOffsetT>,");
        for (id, record) in dialect.schema.records() {
            if dialect.is_struct(id) {
                code.line(format!("{}: Vec<wg::{}>,", record.name.legal, dialect.type_name(id)));
            }
        }
    });
}

/// `Plain` for a record that is a struct.
fn plain(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let wire = dialect.type_name(id);
    let layout = dialect.layout(id);
    code.line("");
    code.block(format!("impl Plain for crate::message::{name} {{"), "}", |code| {
        code.line(format!("type Wire = wg::{wire};"));
        let mut terms = vec![
            "cfg!(target_endian = \"little\")".to_string(),
            format!("size_of::<Self>() == {}", layout.size()),
            format!("size_of::<wg::{wire}>() == {}", layout.size()),
        ];
        for (field, offset) in record.fields.iter().zip(&layout.offsets) {
            terms.push(format!("offset_of!(Self, {}) == {offset}", field.name.legal));
            if let Element::Record(inner) = field.element {
                let inner = &dialect.schema.record(inner).name.legal;
                terms.push(format!("<crate::message::{inner} as Plain>::SAME"));
            }
        }
        code.line(format!("const SAME: bool = {};", terms.join("\n  && ")));
        code.line(format!("const GAPS: bool = {};", layout.has_gaps()));
        code.line(format!("const BOOLS: bool = {};", dialect.has_bools(id)));
        code.line(format!(
            "fn scratch(scratch: &mut Scratch) -> &mut Vec<wg::{wire}> {{ &mut scratch.{name} }}"
        ));
        code.block("fn pack(&self) -> Self::Wire {", "}", |code| {
            code.block(format!("wg::{wire}::new("), ")", |code| {
                for field in &record.fields {
                    let f = &field.name.legal;
                    code.line(match (field.element, field.cardinality) {
                        (Element::Record(_), Cardinality::Array { .. }) => {
                            format!("&std::array::from_fn(|at| self.{f}[at].pack()),")
                        }
                        (Element::Record(_), _) => format!("&self.{f}.pack(),"),
                        (_, Cardinality::Array { .. }) => format!("&self.{f},"),
                        _ => format!("self.{f},"),
                    });
                }
            });
        });
        code.block("fn unpack(from: &Self::Wire) -> Self {", "}", |code| {
            code.block("Self {", "}", |code| {
                for field in &record.fields {
                    let f = &field.name.legal;
                    let value = format!("from.{}()", field_name(field));
                    code.line(match (field.element, field.cardinality) {
                        (Element::Record(_), Cardinality::Array { .. }) => format!(
                            "{f}: {{ let array = {value}; \
                             std::array::from_fn(|at| Plain::unpack(array.get(at))) }},"
                        ),
                        (Element::Record(_), _) => format!("{f}: Plain::unpack({value}),"),
                        (_, Cardinality::Array { .. }) => format!(
                            "{f}: {{ let array = {value}; std::array::from_fn(|at| array.get(at)) }},"
                        ),
                        _ => format!("{f}: {value},"),
                    });
                }
            });
        });
    });
}

/// `build_X`: normalized to a table, its children first.
fn build(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let table = dialect.type_name(id);
    code.line("");
    code.block(
        format!(
            "pub fn build_{name}(from: &crate::message::{name}, builder: &mut Builder, scratch: &mut Scratch) \
             -> WIPOffset<wg::{table}<'static>> {{"
        ),
        "}",
        |code| {
            let slots = dialect.slots(id);
            for FlattenedField { field, .. } in &slots {
                child(dialect, field, code);
            }
            code.block(format!("wg::{table}::create(builder, &wg::{table}Args {{"), "})", |code| {
                for FlattenedField { field, value: from, .. } in &slots {
                    let (f, n) = (&field.name.legal, field_name(field));
                    let value = match (dialect.kind(field.element), field.cardinality) {
                        (_, Cardinality::List { .. }) => format!("{f}_at"),
                        (_, Cardinality::Array { .. }) => format!("Some({f}_at)"),
                        (ElementKind::Scalar(_), _) => format!("from.{from}"),
                        (ElementKind::Struct(_), Cardinality::Optional) => format!("{f}_at.as_ref()"),
                        (ElementKind::Struct(_), _) => format!("Some(&{f}_at)"),
                        (ElementKind::Table(_), Cardinality::Implicit) | (_, Cardinality::Required) => {
                            format!("Some({f}_at)")
                        }
                        _ => format!("{f}_at"),
                    };
                    code.line(format!("{n}: {value},"));
                }
            });
        },
    );
}

/// Builds what a field refers to, as `FIELD_at`.
fn child(dialect: Dialect, field: &Field, code: &mut SourceWriter) {
    let f = &field.name.legal;
    let kind = dialect.kind(field.element);
    let record = |id: TypeId| &dialect.schema.record(id).name.legal;
    match field.cardinality {
        Cardinality::List { .. } | Cardinality::Array { .. } => {
            let all = match kind {
                ElementKind::Scalar(_) => format!("vector(&from.{f}[..], builder)"),
                ElementKind::Struct(_) => format!("structs(&from.{f}[..], builder, scratch)"),
                ElementKind::Text | ElementKind::Bytes | ElementKind::Table(_) => {
                    let (one, wire) = match kind {
                        ElementKind::Table(id) => (
                            format!("build_{}(value, builder, scratch)", record(id)),
                            format!("wg::{}", dialect.type_name(id)),
                        ),
                        ElementKind::Bytes => (
                            format!(
                                "{{ let value = vector(&value[..], builder); \
                                 wg::{0}::create(builder, &wg::{0}Args {{ value: Some(value) }}) }}",
                                dialect.bytes_name()
                            ),
                            format!("wg::{}", dialect.bytes_name()),
                        ),
                        _ => ("builder.create_string(value)".to_string(), "&str".to_string()),
                    };
                    format!(
                        "{{ let base = scratch.offsets.len(); \
                         for value in &from.{f} {{ let child = {one}; scratch.offsets.push(child.value()); }} \
                         children::<{wire}>(base, builder, scratch) }}"
                    )
                }
            };
            code.line(match field.cardinality {
                Cardinality::Array { .. } => format!("let {f}_at = {all};"),
                _ => format!(
                    "let {f}_at = if from.{f}.is_empty() {{ None }} else {{ Some({all}) }};"
                ),
            });
        }
        cardinality => {
            let one = |value: &str| match kind {
                ElementKind::Scalar(_) => None,
                ElementKind::Text => Some(format!("builder.create_string({value})")),
                ElementKind::Bytes => Some(format!("vector(&{value}[..], builder)")),
                ElementKind::Struct(_) => Some(format!("{value}.pack()")),
                ElementKind::Table(id) => {
                    Some(format!("build_{}({value}, builder, scratch)", record(id)))
                }
            };
            let (Some(from), Some(value)) = (one(&format!("(&from.{f})")), one("value")) else {
                return;
            };
            code.line(match (kind, cardinality) {
                (_, Cardinality::Optional) => format!(
                    "let {f}_at = match &from.{f} {{ None => None, Some(value) => Some({value}) }};"
                ),
                (ElementKind::Text | ElementKind::Bytes, Cardinality::Implicit) => format!(
                    "let {f}_at = if from.{f}.is_empty() {{ None }} else {{ Some({from}) }};"
                ),
                _ => format!("let {f}_at = {from};"),
            });
        }
    }
}

/// Whether a list or array of these can be had as a slice.
fn has_slice(dialect: Dialect, kind: ElementKind) -> bool {
    matches!(kind, ElementKind::Struct(_))
        || dialect.slices && matches!(kind, ElementKind::Scalar(_))
}

/// A list or array as a slice, an absent one as an empty slice.
fn slice(dialect: Dialect, field: &Field, kind: ElementKind) -> String {
    let n = field_name(field);
    if !dialect.slices {
        return match field.cardinality {
            Cardinality::Array { .. } => format!("structs_of(from.{n}())"),
            _ => format!("from.{n}().map_or(&[][..], structs_of)"),
        };
    }
    // flatc gives slices itself where the host's byte order does not matter.
    let is_slice = matches!(
        kind,
        ElementKind::Struct(_) | ElementKind::Scalar(Scalar::Bool | Scalar::U8 | Scalar::I8)
    );
    match (field.cardinality, is_slice) {
        (Cardinality::Array { .. }, true) => format!("from.{n}()"),
        (Cardinality::Array { .. }, false) => format!("from.{n}().safe_slice()"),
        (_, true) => format!("from.{n}().unwrap_or(&[])"),
        (_, false) => format!("from.{n}().map_or(&[][..], |list| list.safe_slice())"),
    }
}

/// `take_X`: a table to normalized, into whatever that held before.
fn take(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let table = dialect.type_name(id);
    code.line("");
    code.block(
        format!(
            "pub fn take_{name}(from: wg::{table}<'_>, to: &mut crate::message::{name}) -> Result<(), Error> {{"
        ),
        "}",
        |code| {
            for slot in &dialect.slots(id) {
                take_field(dialect, name, slot, code);
            }
            code.line("Ok(())");
        },
    );
}

fn take_field(dialect: Dialect, record: &str, slot: &FlattenedField, code: &mut SourceWriter) {
    let FlattenedField { field, value, .. } = slot;
    let (f, n) = (&field.name.legal, field_name(field));
    let kind = dialect.kind(field.element);
    // From `value` into `to`.
    let one = match kind {
        ElementKind::Scalar(_) => "*to = value;".to_string(),
        ElementKind::Text => "to.clear(); to.push_str(value);".to_string(),
        ElementKind::Bytes if dialect.slices => {
            "to.clear(); to.extend_from_slice(value);".to_string()
        }
        ElementKind::Bytes => "to.clear(); to.extend_from_slice(value.bytes());".to_string(),
        ElementKind::Struct(_) => "*to = Plain::unpack(value);".to_string(),
        ElementKind::Table(id) => {
            format!("take_{}(value, to)?;", dialect.schema.record(id).name.legal)
        }
    };
    let in_list = if let ElementKind::Bytes = kind {
        format!("let value = value.value(); {one}")
    } else {
        one.clone()
    };
    let wrong = format!("return Err(Error::new(\"{record}.{f}: wrong length\"))");
    code.line(match (kind, field.cardinality) {
        (
            ElementKind::Scalar(_),
            Cardinality::Required | Cardinality::Implicit | Cardinality::Optional,
        ) => {
            format!("to.{value} = from.{n}();")
        }
        (ElementKind::Table(_), Cardinality::Implicit) => format!(
            "match from.{n}() {{ None => to.{f} = Default::default(), \
             Some(value) => {{ let to = &mut to.{f}; {one} }} }}"
        ),
        (ElementKind::Struct(_), Cardinality::Implicit) => {
            format!("to.{f} = from.{n}().map(Plain::unpack).unwrap_or_default();")
        }
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Implicit) => {
            format!("{{ let value = from.{n}().unwrap_or_default(); let to = &mut to.{f}; {one} }}")
        }
        (_, Cardinality::Required) => {
            format!("{{ let value = from.{n}(); let to = &mut to.{f}; {one} }}")
        }
        (_, Cardinality::Optional) => format!(
            "match from.{n}() {{ None => to.{f} = None, \
             Some(value) => {{ let to = to.{f}.get_or_insert_with(Default::default); {one} }} }}"
        ),
        (ElementKind::Scalar(scalar), Cardinality::List { .. }) if !dialect.slices => {
            let append = match scalar {
                Scalar::Bool => format!("to.{f}.extend(list)"),
                _ => format!("append(list, &mut to.{f})"),
            };
            format!("to.{f}.clear(); if let Some(list) = from.{n}() {{ {append}; }}")
        }
        (ElementKind::Scalar(_), Cardinality::List { .. }) => {
            format!("to.{f}.clear(); to.{f}.extend_from_slice({});", slice(dialect, field, kind))
        }
        (ElementKind::Struct(_), Cardinality::List { .. }) => {
            format!("take_structs({}, &mut to.{f});", slice(dialect, field, kind))
        }
        (ElementKind::Scalar(_), Cardinality::Array { .. }) if dialect.slices => format!(
            "match <&_>::try_from({}) {{ Ok(value) => to.{f} = *value, Err(_) => {wrong} }}",
            slice(dialect, field, kind)
        ),
        (ElementKind::Struct(_), Cardinality::Array { .. }) => format!(
            "let list = {}; if list.len() != to.{f}.len() {{ {wrong} }}\n\
             for (to, value) in to.{f}.iter_mut().zip(list) {{ {in_list} }}",
            slice(dialect, field, kind)
        ),
        (_, Cardinality::Array { .. }) => format!(
            "let list = from.{n}(); if list.len() != to.{f}.len() {{ {wrong} }}\n\
             for (to, value) in to.{f}.iter_mut().zip(list) {{ {in_list} }}"
        ),
        (_, Cardinality::List { .. }) => format!(
            "match from.{n}() {{ None => to.{f}.clear(), Some(list) => {{ \
             to.{f}.resize_with(counted(list.len(), &from._tab)?, Default::default);\n\
             for (to, value) in to.{f}.iter_mut().zip(list) {{ {in_list} }} }} }}"
        ),
    });
}

/// `admit_X`: refuses a negative zero where a table would leave it out. Lists and
/// what else is never left out may hold one.
fn admit(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!("pub fn admit_{name}(from: &crate::message::{name}) -> Result<(), Error> {{"),
        "}",
        |code| {
            for FlattenedField { field, place, value, .. } in &dialect.slots(id) {
                let original = &record.fields[*place].name.legal;
                code.line(match (dialect.kind(field.element), field.cardinality) {
                    (ElementKind::Scalar(_), _) if may_lose_sign(dialect.schema, field) => {
                        format!("keep_sign(f64::from(from.{value}), \"{name}.{original}\")?;")
                    }
                    (ElementKind::Table(id), cardinality) => {
                        let inner = &dialect.schema.record(id).name.legal;
                        match cardinality {
                            Cardinality::Required | Cardinality::Implicit => {
                                format!("admit_{inner}(&from.{value})?;")
                            }
                            _ => format!("for value in &from.{value} {{ admit_{inner}(value)?; }}"),
                        }
                    }
                    _ => continue,
                });
            }
            code.line("Ok(())");
        },
    );
}

/// `tally_X`: every number of a table or struct.
fn tally(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    let wire = dialect.type_name(id);
    let is_struct = dialect.is_struct(id);
    let of = if is_struct { format!("&wg::{wire}") } else { format!("wg::{wire}<'_>") };
    code.line("");
    code.block(format!("pub fn tally_{name}<T: Tally>(from: {of}) -> T {{"), "}", |code| {
        code.line("let mut tally = T::default();");
        for FlattenedField { field, place, .. } in &dialect.slots(id) {
            tally_field(dialect, is_struct, *place, field, code);
        }
        code.line("tally");
    });
}

fn tally_field(
    dialect: Dialect,
    is_struct: bool,
    place: usize,
    field: &Field,
    code: &mut SourceWriter,
) {
    let n = field_name(field);
    let kind = dialect.kind(field.element);
    let add = |value: &str| match kind {
        ElementKind::Struct(id) | ElementKind::Table(id) => {
            let inner = &dialect.schema.record(id).name.legal;
            format!("tally.record({place}, tally_{inner}({value}));")
        }
        ElementKind::Text | ElementKind::Bytes => format!("tally.length({place}, {value}.len());"),
        ElementKind::Scalar(_) => format!("tally.number({place}, {value});"),
    };
    let is_scalar = matches!(kind, ElementKind::Scalar(_));
    code.line(match (kind, field.cardinality) {
        (_, Cardinality::Array { .. }) if is_struct => {
            format!("for value in from.{n}().iter() {{ {} }}", add("value"))
        }
        (ElementKind::Scalar(_), Cardinality::List { .. } | Cardinality::Array { .. })
            if dialect.slices =>
        {
            format!("for value in {} {{ {} }}", slice(dialect, field, kind), add("*value"))
        }
        (ElementKind::Struct(_), Cardinality::List { .. } | Cardinality::Array { .. }) => {
            format!("for value in {} {{ {} }}", slice(dialect, field, kind), add("value"))
        }
        (_, cardinality @ (Cardinality::List { .. } | Cardinality::Array { .. })) => {
            let value = if let ElementKind::Bytes = kind { "value.value()" } else { "value" };
            let each = format!("for value in list {{ {} }}", add(value));
            match cardinality {
                Cardinality::Array { .. } => format!("{{ let list = from.{n}(); {each} }}"),
                _ => format!("if let Some(list) = from.{n}() {{ {each} }}"),
            }
        }
        // What is empty is left out.
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Implicit) => {
            add(&format!("from.{n}().unwrap_or_default()"))
        }
        (_, Cardinality::Implicit) if !is_scalar && !is_struct => {
            format!("if let Some(value) = from.{n}() {{ {} }}", add("value"))
        }
        (_, Cardinality::Optional) => {
            format!("if let Some(value) = from.{n}() {{ {} }}", add("value"))
        }
        _ => add(&format!("from.{n}()")),
    });
}

/// `fn NAME(from: wg::ROOT, tally: &mut T)`: the number at a path, nothing where
/// it is not there.
fn accessor(dialect: Dialect, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
    let root = dialect.type_name(dialect.schema.root);
    code.line("");
    let open = format!("pub fn {name}<T: Tally>(from: wg::{root}<'_>, tally: &mut T) {{");
    code.block(open, "}", |code| {
        let Some(path) = path else { return };
        let mut id = dialect.schema.root;
        for step in path {
            let slots = dialect.slots(id);
            let Some((FlattenedField { field, .. }, index)) =
                flattened_field::find_step(&slots, step)
            else {
                return;
            };
            let n = field_name(field);
            let kind = dialect.kind(field.element);
            let is_struct = dialect.is_struct(id);
            let index = match index {
                ElementIndex::Single => None,
                ElementIndex::At(index) => Some(index.to_string()),
                ElementIndex::Middle => Some("list.len() / 2".to_string()),
            };
            match (index, field.cardinality) {
                (Some(index), cardinality) => {
                    let is_slice = !is_struct && has_slice(dialect, kind);
                    let list =
                        if is_slice { slice(dialect, field, kind) } else { format!("from.{n}()") };
                    if !is_slice && matches!(cardinality, Cardinality::List { .. }) {
                        code.line(format!("let Some(list) = {list} else {{ return }};"));
                    } else {
                        code.line(format!("let list = {list};"));
                    }
                    code.line(format!("if {index} >= list.len() {{ return }}"));
                    code.line(match kind {
                        ElementKind::Scalar(_) if is_slice => format!("let from = list[{index}];"),
                        ElementKind::Struct(_) if is_slice => format!("let from = &list[{index}];"),
                        _ => format!("let from = list.get({index});"),
                    });
                }
                (None, cardinality) => {
                    let is_optional = match cardinality {
                        Cardinality::Optional => true,
                        Cardinality::Implicit => {
                            !matches!(kind, ElementKind::Scalar(_)) && !is_struct
                        }
                        _ => false,
                    };
                    code.line(if is_optional {
                        format!("let Some(from) = from.{n}() else {{ return }};")
                    } else {
                        format!("let from = from.{n}();")
                    });
                }
            }
            match field.element {
                Element::Record(inner) => id = inner,
                _ => code.line("tally.number(0, from);"),
            }
        }
    });
}
