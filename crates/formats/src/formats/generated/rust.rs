//! In Rust: the holders, and what their views have in common with them.

use anyhow::Result;
use wiregauge_data_holders::{rust_names, HolderLanguage, Wire};
use wiregauge_normalized::rust::Memory;
use wiregauge_normalized::{rust, File, SourceWriter, Unit};
use wiregauge_schema::{Enum, TypeDef};

use super::{GeneratedCode, GeneratedHolders, OPTIONS};
use crate::build::languages::rust::RUST;
use crate::codec::Emission;
use crate::language::rust::glue;

pub(super) const CODE: GeneratedCode =
    GeneratedCode { language: &RUST, options: OPTIONS, needs: &[] };

/// The module of a wire's calls, and the type of a sequential one; Protobuf's calls
/// ask for none.
fn calls(wire: Wire) -> (&'static str, Option<&'static str>) {
    match wire {
        Wire::RosMsg => ("wiregauge", Some("RosMsg")),
        Wire::Cdr => ("wiregauge", Some("Cdr")),
        Wire::Xcdr2 => ("wiregauge", Some("Xcdr2")),
        Wire::SomeIp => ("wiregauge", Some("SomeIp")),
        Wire::Protobuf => ("wiregauge_protobuf", None),
    }
}

/// The module of the wires that write field after field.
fn sequential_module(form: &GeneratedHolders) -> &'static str {
    if form.is_without_alloc {
        "wiregauge_no_alloc"
    } else {
        "wiregauge"
    }
}

pub(super) fn emit(wire: Wire, unit: &Unit) -> Result<Emission> {
    let form =
        GeneratedHolders::new(unit, wire, HolderLanguage::Rust, rust_names, "crate::holders")?;
    Ok(emit_holders(wire, form, unit))
}

/// The runner of these holders.
pub(super) fn emit_holders(wire: Wire, form: GeneratedHolders, unit: &Unit) -> Emission {
    let mut code = begin_glue(wire, &form);
    for (_, record) in form.schema.records() {
        rust::tally(&form.schema, record, &mut code);
    }
    rust::accessor(&form.schema, "fixed", unit.projection.fixed.as_deref(), &mut code);
    rust::accessor(&form.schema, "element", unit.projection.element.as_deref(), &mut code);
    let codec = File::new("codec.rs", include_str!("rust/codec.rs"));
    finish_runner(wire, form, code, "Generated", &[], codec)
}

/// The glue up to the canonical form of the holders.
pub(super) fn begin_glue(wire: Wire, form: &GeneratedHolders) -> SourceWriter {
    let schema = &form.schema;
    let library = format!("wiregauge {}", env!("CARGO_PKG_VERSION"));
    let mut code = glue::begin_glue_for(&library);
    code.line("use crate::canonical::{read_bytes, take, write_bytes};");
    code.line(format!("pub type Root = {};", schema.root().name.legal));
    if let (_, Some(kind)) = calls(wire) {
        let module = sequential_module(form);
        code.line(format!("pub type OnWire = crate::{module}::{kind};"));
    }
    for def in &schema.types {
        code.line("");
        match def {
            TypeDef::Enum(def) => enumeration(def, wire, &mut code),
            TypeDef::Record(record) => {
                let memory =
                    if form.is_without_alloc { Memory::InPlace } else { Memory::Allocated };
                rust::canonical(schema, record, memory, &mut code);
            }
        }
    }
    code.line(include_str!("rust/message.rs"));
    code
}

/// The runner, of its glue and its codec, with these modules beside the holders.
pub(super) fn finish_runner(
    wire: Wire,
    form: GeneratedHolders,
    code: SourceWriter,
    name: &str,
    more: &[&str],
    codec: File,
) -> Emission {
    let (module, kind) = match calls(wire) {
        (_, Some(kind)) => (sequential_module(&form), Some(kind)),
        protobuf => protobuf,
    };
    let library = match kind {
        Some(_) if form.is_without_alloc => include_str!("rust/no_alloc.rs"),
        Some(_) => include_str!("rust/sequential.rs"),
        None => include_str!("rust/protobuf.rs"),
    };
    let modules = [&["calls", "canonical", "codec", "glue", "holders", module], more].concat();
    let mut files = form.files;
    files.extend([
        glue::main_file(name, &modules),
        rust::canonical_module(),
        File::new("calls.rs", library),
        codec,
        File::new("glue.rs", code.finish()),
    ]);
    Emission { files, ..Emission::default() }
}

/// An enum as the integer that it holds, for the canonical form and for tallies.
fn enumeration(def: &Enum, wire: Wire, code: &mut SourceWriter) {
    let (name, repr) = (&def.name.legal, def.repr.rust_name());
    code.block(format!("impl {name} {{"), "}", |code| {
        let size = def.repr.size();
        code.line(format!("fn to_le_bytes(self) -> [u8; {size}] {{ self.0.to_le_bytes() }}"));
    });
    code.block(format!("impl wiregauge_runner::Number for {name} {{"), "}", |code| {
        code.line("#[inline(always)]");
        code.line("fn value(self) -> f64 { wiregauge_runner::Number::value(self.0) }");
        code.line("#[inline(always)]");
        code.line("fn bits(self) -> u64 { wiregauge_runner::Number::bits(self.0) }");
    });
    // Protobuf's holders have that of their own, for its only type of enums.
    if wire != Wire::Protobuf {
        code.block(format!("impl From<{repr}> for {name} {{"), "}", |code| {
            code.line(format!("fn from(number: {repr}) -> Self {{ Self(number) }}"));
        });
    }
}
