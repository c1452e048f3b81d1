//! The holders that `wiregauge generate` writes, on each wire: they are the
//! normalized form themselves.

/// What a user of a language's views does, and what that costs.
macro_rules! view_options {
    ($($more:literal),*) => {
        &[
            "the code of wiregauge generate, compiled with the runner: messages are written from \
             its holders, which are the normalized form, and read by its views of the bytes",
            $crate::codec::OWN_CODE,
            "each read begins with the check of the whole message, because only a checked message \
             has a view; verify is this check alone",
            "decode is the check, and then filling a holder, which checks again: to read into \
             holders, use the rows without views",
            "element: found directly where all elements have the same size; elsewhere the elements \
             before it are skipped by their lengths",
            $($more),*
        ]
    };
}

// Behind the macro, which the views take.
mod cpp;
mod cpp_views;
mod java;
mod python;
mod rust;
mod rust_no_alloc;
mod rust_views;
mod table;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_data_holders::{generate, losses, HolderLanguage, Names, Package, Wire};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Field, Schema, TypeDef, TypeId};

use crate::codec::{Codec, Emission, Linkage, Support, OWN_CODE};
use crate::lowering::{self, Lowering};
use crate::runner_language::RunnerLanguage;
use crate::sequential;

/// What a user of a language's holders does, and what that costs.
const OPTIONS: &[&str] = &[
    "the code of wiregauge generate, compiled with the runner. Its holders are the normalized \
     form, so there is nothing to populate: to compare with a library that has structures of its \
     own, look at that library's write and parse too",
    OWN_CODE,
    "lists of numbers move as blocks, on SOME/IP with the bytes of each number turned around; \
     lists of plain records too, where memory and encoding are the same",
    "every length is checked before it is used, as are bounds, and texts for UTF-8 in both \
     directions",
    "no partial reads: the whole message is read for one number",
];

/// What the rows of a language's holders, or of its views, have alike on every wire.
struct GeneratedCode {
    language: &'static RunnerLanguage,
    options: &'static [&'static str],
    needs: &'static [Need],
}

impl GeneratedCode {
    /// The row of a wire, which is the format of this name.
    const fn codec(
        self,
        (name, title): (&'static str, &'static str),
        format: &'static str,
        calls: &'static [&'static str],
        check_type: fn(&Schema, TypeId) -> Support,
        emit: fn(&Unit) -> Result<Emission>,
    ) -> Codec {
        Codec {
            name,
            title,
            format,
            language: self.language,
            is_bound: false,
            linkage: Linkage::Own,
            options: self.options,
            calls,
            needs: self.needs,
            check_type,
            idl: None,
            emit,
        }
    }
}

fn check_type(wire: Wire, schema: &Schema, id: TypeId) -> Support {
    let package = Package::new(Some("message"), vec![("the message".to_owned(), schema.clone())]);
    let losses = package.and_then(|package| losses(wire, &package));
    if let Some(why) = losses.err().and_then(|why| explain_rejection(schema, id, &why)) {
        return Support::Rejected(why);
    }
    match &schema.types[id] {
        _ if wire == Wire::Protobuf => Support::Supported,
        TypeDef::Enum(_) => Support::lowered(vec![Lowering::enumeration()]),
        TypeDef::Record(record) if wire.counts_bytes() => {
            let is_optional = |field: &&Field| field.cardinality == Cardinality::Optional;
            let optional = record.fields.iter().filter(is_optional).map(|_| Lowering::option());
            let empty = record.fields.is_empty().then(Lowering::no_fields);
            Support::lowered(
                lowering::unions(record).into_iter().chain(optional).chain(empty).collect(),
            )
        }
        // An absent value takes nothing there, and a record is no list.
        TypeDef::Record(record) if wire.is_delimited() => {
            Support::lowered(lowering::unions(record).into_iter().collect())
        }
        TypeDef::Record(record) => Support::lowered(
            lowering::unions(record).into_iter().chain(sequential::lowerings(record)).collect(),
        ),
    }
}

/// What holders cannot say, without the name of the type that it is about, as whoever asks names
/// it. None where it is about another type.
fn explain_rejection(schema: &Schema, id: TypeId, why: &anyhow::Error) -> Option<String> {
    let why = format!("{why:#}");
    let rest = |def: &TypeDef| {
        why.strip_prefix(def.original()).filter(|rest| rest.starts_with([' ', '.']))
    };
    // The longest: `pkg.Scan.Point` is not a field of `pkg.Scan`.
    let about = schema.types.iter().enumerate().filter_map(|(id, def)| Some((rest(def)?, id)));
    match about.min_by_key(|(rest, _)| rest.len()) {
        Some((rest, about)) if about == id => Some(rest.trim_start_matches([' ', '.']).to_owned()),
        Some(_) => None,
        None => Some(why),
    }
}

/// The holders of a message in a language, with one wire.
struct GeneratedHolders {
    files: Vec<File>,
    /// The message, with the names that its holders have as legal ones: those of types
    /// with the module before them.
    schema: Schema,
    is_without_alloc: bool,
}

impl GeneratedHolders {
    fn new(
        unit: &Unit,
        wire: Wire,
        language: HolderLanguage,
        names: fn(&Package) -> Names,
        module: &str,
    ) -> Result<GeneratedHolders> {
        GeneratedHolders::from_package(package(unit.schema)?, wire, language, names, module)
    }

    fn from_package(
        package: Package,
        wire: Wire,
        language: HolderLanguage,
        names: fn(&Package) -> Names,
        module: &str,
    ) -> Result<GeneratedHolders> {
        let names = names(&package);
        let mut schema = package.schema.clone();
        for (id, def) in schema.types.iter_mut().enumerate() {
            let name = format!("{module}::{}", names.type_name(id));
            match def {
                TypeDef::Enum(def) => def.name.legal = name,
                TypeDef::Record(record) => {
                    record.name.legal = name;
                    for (place, field) in record.fields.iter_mut().enumerate() {
                        names.member(id, place).clone_into(&mut field.name.legal);
                    }
                }
            }
        }
        let files = generate(&package, language, &[wire])?;
        Ok(GeneratedHolders { files, schema, is_without_alloc: package.is_without_alloc })
    }
}

fn package(schema: &Schema) -> Result<Package> {
    Package::new(Some("holders"), vec![("the message".to_owned(), schema.clone())])
}
