//! In what encoding messages are written: the arguments for that, and by which definitions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use clap::ValueEnum;
use wiregauge_build_tools::{run, Need};
use wiregauge_flatbuffers::convert::{ConversionTarget, Converter, FindDefinition};
use wiregauge_flatbuffers::Losses;
use wiregauge_formats::formats::flatbuffers::definition::definition;
use wiregauge_osi::flatbuffers::STRUCTS;
use wiregauge_packing::unpacker::Unpacker;
use wiregauge_schema::file;
use wiregauge_schema::proto::Definitions;
use wiregauge_trace::channel::{Channel, Definition, FLATBUFFER};
use wiregauge_trace::parser;
use wiregauge_trace::write::{OutputFormat, Writer};

use crate::workload::osi_definitions;

/// What makes a `.bfbs` of a definition.
const FLATC: Need = Need::Program("flatc", "flatbuffers-compiler");

/// In what encoding messages are written.
#[derive(clap::Args)]
pub struct EncodingArgs {
    /// Encoding of the output [default: as in the input]. FlatBuffers use the definition
    /// of OSI or of the channel, or --definition.
    #[arg(long, value_enum)]
    encoding: Option<TargetEncoding>,
    /// Your definition. For FlatBuffers: a .fbs or .bfbs whose root is the message. For
    /// Protobuf: a descriptor set, as protoc --include_imports writes it.
    #[arg(long, value_name = "FILE", requires = "encoding")]
    definition: Option<PathBuf>,
    /// Leave out what the other definition has no field for, and name it.
    #[arg(long, requires = "encoding")]
    lossy: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TargetEncoding {
    /// As Protobuf's libraries write it, without packed fields.
    Protobuf,
    /// Every record is a table; nothing is lost.
    FlatbuffersTables,
    /// Vectors, ids, times and reflections are structs, whose numbers are always there.
    FlatbuffersStructs,
}

/// How messages become others.
pub struct Way {
    losses: Losses,
    drops: bool,
    to: TargetDefinition,
}

enum TargetDefinition {
    Protobuf(Box<FindDefinition>),
    FlatBuffers(Box<FindDefinition>),
}

impl Way {
    /// A writer of such messages before the one that gets them.
    pub fn wrap_writer(self, writer: Box<dyn Writer>, origin: &str) -> Box<dyn Writer> {
        let Way { losses, drops, to } = self;
        let unpacker = |writer| {
            let (unpacker, _) = Unpacker::new(writer, origin, drops);
            Box::new(unpacker.only_osi_if_any("--lossy"))
        };
        match to {
            TargetDefinition::Protobuf(definition) => {
                let encoding = ConversionTarget::Protobuf { definition };
                Box::new(Converter::new(unpacker(writer), origin, encoding, losses))
            }
            TargetDefinition::FlatBuffers(definition) => {
                let encoding = ConversionTarget::FlatBuffers {
                    definition,
                    protobuf: Box::new(osi_definition),
                };
                let converter = Converter::new(writer, origin, encoding, losses);
                unpacker(Box::new(converter))
            }
        }
    }
}

impl EncodingArgs {
    /// Whether messages are to be written in an encoding.
    pub fn is_wanted(&self) -> bool {
        self.encoding.is_some()
    }

    /// What messages become in this file; none where they stay as they are.
    ///
    /// # Errors
    /// When the container cannot hold it, or the definition cannot be read.
    pub fn conversion_to(&self, output: &Path) -> Result<Option<Way>> {
        let Some(wanted) = self.encoding else { return Ok(None) };
        let holds_any = matches!(
            OutputFormat::from_path(output)?,
            OutputFormat::Mcap | OutputFormat::LengthPrefixed
        );
        let structs = wanted == TargetEncoding::FlatbuffersStructs;
        let to = match wanted {
            TargetEncoding::Protobuf => TargetDefinition::Protobuf(self.protobuf()?),
            _ if holds_any => TargetDefinition::FlatBuffers(self.flatbuffers(structs)?),
            _ => {
                bail!("{} cannot hold FlatBuffers; end the name in .mcap or .bin", output.display())
            }
        };
        Ok(Some(Way { losses: Losses::new(self.lossy), drops: self.lossy, to }))
    }

    fn flatbuffers(&self, structs: bool) -> Result<Box<FindDefinition>> {
        let Some(path) = &self.definition else {
            return Ok(Box::new(move |channel| derive_definition(channel, structs)));
        };
        let data = if path.extension().is_some_and(|end| end == "bfbs") {
            file::read_bytes(path)?
        } else {
            compiled(path)?
        };
        let read = wiregauge_flatbuffers::Definition::read(&data);
        let read = read.with_context(|| path.display().to_string())?;
        let root = read.root();
        let root = root.with_context(|| format!("{} has no root_type", path.display()))?;
        let own = Definition { name: root.to_owned(), encoding: FLATBUFFER.into(), data };
        Ok(Box::new(move |_| Ok(own.clone())))
    }

    fn protobuf(&self) -> Result<Box<FindDefinition>> {
        let Some(path) = &self.definition else { return Ok(Box::new(osi_definition)) };
        let descriptors = file::read_bytes(path)?;
        Definitions::decode(&descriptors).with_context(|| {
            format!(
                "{} is not a complete descriptor set; make it with protoc --include_imports",
                path.display()
            )
        })?;
        Ok(Box::new(move |channel| {
            parser::extract_definition(&descriptors, &channel.definition.name)
        }))
    }
}

/// A writer before one that takes Protobuf: messages of OSI in FlatBuffers become such, and
/// others are handed on. What Protobuf's definition has no field for is left out where that
/// is wanted.
pub fn in_protobuf(writer: Box<dyn Writer>, origin: &str, lossy: bool) -> Box<dyn Writer> {
    let encoding = ConversionTarget::Protobuf { definition: Box::new(osi_definition) };
    let converter = Converter::new(writer, origin, encoding, Losses::new(lossy));
    Box::new(converter.optional_for(is_osi_flat))
}

/// Whether a channel is of OSI in FlatBuffers.
pub fn is_osi_flat(channel: &Channel) -> bool {
    channel.message_encoding == FLATBUFFER && channel.definition.name.starts_with("osi3.")
}

/// What defines the messages of a channel of OSI, which does not say it itself.
pub fn osi_definition(channel: &Channel) -> Result<Definition> {
    let name = &channel.definition.name;
    ensure!(
        name.starts_with("osi3."),
        "there is no Protobuf definition of {name}; give it by --definition"
    );
    parser::extract_definition(&osi_definitions()?, name)
}

/// A channel's definition, said in FlatBuffers by the message compiler.
fn derive_definition(channel: &Channel, structs: bool) -> Result<Definition> {
    let name = &channel.definition.name;
    let told = if channel.definition.data.is_empty() {
        osi_definition(channel)?.data
    } else {
        channel.definition.data.clone()
    };
    let definitions = Definitions::decode(&told)?;
    let message = definitions.message(name)?;
    let schema = definitions.schema(&message)?;
    let is_there = |name: &&str| schema.records().any(|(_, record)| record.name.original == *name);
    let structs: Vec<&str> = STRUCTS.into_iter().filter(is_there).filter(|_| structs).collect();
    let text = definition(&schema, message.package_name(), &structs)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("message.fbs");
    fs::write(&path, text)?;
    let data = compiled(&path)?;
    let root =
        wiregauge_flatbuffers::Definition::read(&data)?.root().unwrap_or_default().to_owned();
    Ok(Definition { name: root, encoding: FLATBUFFER.into(), data })
}

/// The `.bfbs` of a `.fbs`.
fn compiled(path: &Path) -> Result<Vec<u8>> {
    if let Some(lack) = FLATC.explain_missing() {
        bail!("{}: {lack}", path.display());
    }
    let folder = tempfile::tempdir()?;
    let mut flatc = Command::new("flatc");
    flatc.args(["--schema", "--binary", "--bfbs-comments", "-o"]).arg(folder.path()).arg(path);
    run(&mut flatc, "flatc").with_context(|| path.display().to_string())?;
    let name = path.file_stem().context("a definition has a name")?;
    file::read_bytes(&folder.path().join(name).with_extension("bfbs"))
}
