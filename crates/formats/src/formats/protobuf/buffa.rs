//! Buffa: plain Rust structs with the code of its own generator, and views that borrow from
//! the bytes.

use std::fs;
use std::path::Path;

use anyhow::{anyhow, Context, Result};
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::ElementIndex;
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema};

use super::{describe, from_rust, is_plain, prost};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage};
use crate::flattened_field::{self, FlattenedField};
use crate::language::rust::glue;

inventory::submit! {
    Codec {
        name: "buffa",
        title: "Protobuf Rust buffa",
        format: "protobuf",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("buffa"),
        options: &[
            "texts and bytes are owned (String, Vec<u8>), single records are held inline, and each \
             record keeps unknown fields, for which it has 24 bytes: the generator's defaults",
            "decode makes a new message, as users do, also with --objects reused",
            "elements of lists may take up to 1 GiB of memory (with_element_memory_limit): the \
             default is 32 MiB, and refuses larger messages",
            "the output has room for the size before it is written, as in encode_to_vec(); the \
             cache of sizes is kept as scratch",
            "all numbers are read from views, which borrow texts and bytes; one number from lazy \
             views (lazy_views), which decode a record when it is asked for",
            "the crate buffa-codegen makes the code, as for buffa-build and protoc-gen-buffa; -0.0 is \
             written, which other Rust libraries drop",
        ],
        calls: &[
            "encode: size = object.compute_size(&mut cache); out.reserve(size); \
             object.write_to(&mut cache, out), as encode_to_vec() does",
            "decode: message = OPTIONS.decode_from_slice::<Message>(bytes), then moved",
            "project: OPTIONS.decode_view::<MessageView>(bytes), then its members",
            "fixed, element: OPTIONS.decode_lazy_view::<MessageLazyView>(bytes), get() on the way",
        ],
        needs: &[],
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(Emission {
        files: vec![
            super::idl(unit.schema)?,
            glue::main_file("Buffa", &["codec", "glue", "wg"]),
            File::new("codec.rs", include_str!("buffa/codec.rs")),
            File::new("glue.rs", glue_file(unit)),
        ],
        steps: vec![GeneratorStep::Call(Box::new(generate))],
        features: vec!["buffa".into()],
        ..Emission::default()
    })
}

/// Makes `wg.rs` of `message.proto`, in the runner's folder.
fn generate(folder: &Path) -> Result<()> {
    describe(folder)?;
    let bytes = fs::read(folder.join("message.descriptors")).context("the descriptors")?;
    let options = buffa_codegen::tooling_decode_options().map_err(|error| anyhow!(error))?;
    let set: buffa_codegen::generated::descriptor::FileDescriptorSet =
        options.decode_from_slice(&bytes).context("buffa does not take the descriptors")?;
    let mut config = buffa_codegen::CodeGenConfig::default();
    config.lazy_views = true;
    config.file_per_package = true;
    let files = buffa_codegen::generate(&set.file, &["message.proto".to_owned()], &config)
        .context("buffa-codegen does not take the definition")?;
    for file in files {
        let path = folder.join(&file.name);
        fs::write(&path, file.content)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn glue_file(unit: &Unit) -> String {
    let schema = unit.schema;
    let root = &schema.root().name.legal;
    let mut code = glue::begin_glue("buffa");
    code.line("use crate::wg;");
    code.line("use crate::wg::__buffa::{lazy_view, view};");
    code.line("");
    code.line(format!("pub type Whole = wg::{root};"));
    code.line(format!("pub type WholeView<'a> = view::{root}View<'a>;"));
    code.line(format!("pub type WholeLazyView<'a> = lazy_view::{root}LazyView<'a>;"));
    for (_, record) in schema.records() {
        let object = format!("wg::{}", record.name.legal);
        let slots = flattened_field::flatten_fields(schema, record);
        super::fill(record, &object, &slots, &mut code, |slot| fill(schema, slot));
        super::take(record, &object, &slots, &mut code, |slot| {
            (slot.field.name.legal.clone(), take(schema, slot))
        });
        tally(schema, record, &slots, &mut code);
    }
    glue::alias_root_functions(schema, &["fill", "take", "tally"], &mut code);
    accessors(unit, &mut code);
    code.finish()
}

fn is_single_record(field: &Field) -> bool {
    matches!(field.element, Element::Record(_))
        && !matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// Fills a member, whatever it held before. Single records are in a MessageField.
fn fill(schema: &Schema, slot: &FlattenedField) -> String {
    let (f, m) = (&slot.value, &slot.field.name.legal);
    let (Element::Record(id), true) = (slot.field.element, is_single_record(&slot.field)) else {
        return prost::fill(schema, slot);
    };
    let fill = format!("fill_{}::<CHECK>", schema.record(id).name.legal);
    match slot.field.cardinality {
        Cardinality::Optional => format!(
            "match &from.{f} {{ None => to.{m} = Default::default(), \
             Some(from) => lost |= {fill}(from, to.{m}.get_or_insert_default()) }}"
        ),
        _ => format!("lost |= {fill}(&from.{f}, to.{m}.get_or_insert_default());"),
    }
}

/// Takes from a member; what is owned moves.
fn take(schema: &Schema, slot: &FlattenedField) -> String {
    let (f, m) = (&slot.value, &slot.field.name.legal);
    let (Element::Record(id), true) = (slot.field.element, is_single_record(&slot.field)) else {
        return prost::take(schema, slot);
    };
    let take = format!("take_{}", schema.record(id).name.legal);
    match slot.field.cardinality {
        Cardinality::Optional => format!(
            "match from.{m}.as_option_mut() {{ None => to.{f} = None, Some(from) => \
             {take}(from, to.{f}.get_or_insert_with(Default::default))? }}"
        ),
        _ => format!(
            "match from.{m}.as_option_mut() {{ None => to.{f} = Default::default(), \
             Some(from) => {take}(from, &mut to.{f})? }}"
        ),
    }
}

/// `tally_X(from)`: every number that a view shows.
fn tally(schema: &Schema, record: &Record, slots: &[FlattenedField], code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    let head = format!("pub fn tally_{name}<T: Tally>(from: &view::{name}View<'_>) -> T {{");
    code.block(head, "}", |code| {
        code.line("let mut tally = T::default();");
        for slot in slots {
            let (field, place, m) = (&slot.field, slot.place, &slot.field.name.legal);
            // The statement that adds `v`, a reference.
            let add = match field.element {
                Element::Record(id) => {
                    format!("tally.record({place}, tally_{}(v));", schema.record(id).name.legal)
                }
                Element::String | Element::Bytes => format!("tally.length({place}, v.len());"),
                _ => format!("tally.number({place}, {});", from_rust(schema, field, "*v")),
            };
            code.line(if is_single_record(field) {
                format!("if let Some(v) = from.{m}.as_option() {{ {add} }}")
            } else if is_plain(field) {
                format!("{{ let v = &from.{m}; {add} }}")
            } else {
                format!("for v in from.{m}.iter() {{ {add} }}")
            });
        }
        code.line("tally");
    });
}

/// The functions `fixed` and `element`: the number at a path, nothing where it is not
/// there. A lazy view decodes a record, which may fail, when it is asked for.
fn accessors(unit: &Unit, code: &mut SourceWriter) {
    let schema = unit.schema;
    let projection = unit.projection;
    for (name, path) in [("fixed", &projection.fixed), ("element", &projection.element)] {
        code.line("");
        code.line(format!("pub fn {name}<T: Tally>("));
        code.line("  at: WholeLazyView<'_>, tally: &mut T,");
        code.block(") -> Result<(), Error> {", "}", |code| {
            let mut id = schema.root;
            for step in path.iter().flatten() {
                let slots = flattened_field::flatten_fields(schema, schema.record(id));
                let Some((slot, index)) = flattened_field::find_step(&slots, step) else { break };
                code.line(descend(&slot.field, index));
                match slot.field.element {
                    Element::Record(inner) => id = inner,
                    _ => {
                        let number = from_rust(schema, &slot.field, "at");
                        code.line(format!("tally.number(0, {number});"));
                    }
                }
            }
            code.line("Ok(())");
        });
    }
}

/// The statement that goes down to a field's value or element.
fn descend(field: &Field, index: ElementIndex) -> String {
    let value = format!("at.{}", field.name.legal);
    let is_record = matches!(field.element, Element::Record(_));
    let at = |index: String| match is_record {
        true => format!("{value}.try_get({index})?"),
        false => format!("{value}.get({index}).copied()"),
    };
    let found = match index {
        ElementIndex::Single if is_record => format!("{value}.get()?"),
        ElementIndex::Single if is_plain(field) => return format!("let at = {value};"),
        ElementIndex::Single => value,
        ElementIndex::At(index) => at(index.to_string()),
        ElementIndex::Middle => at(format!("{value}.len() / 2")),
    };
    format!("let Some(at) = {found} else {{ return Ok(()) }};")
}
