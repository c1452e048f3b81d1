//! Messages in another encoding, and by which definitions.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::{run, Need};
use wiregauge_flatbuffers::convert::{ConversionTarget, Converter, FindDefinition};
use wiregauge_flatbuffers::Losses;
use wiregauge_formats::formats::flatbuffers::definition::definition;
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_osi::flatbuffers::STRUCTS;
use wiregauge_packing::unpacker::Unpacker;
use wiregauge_schema::file;
use wiregauge_schema::proto::Definitions;
use wiregauge_trace::channel::{Channel, Definition, FLATBUFFER};
use wiregauge_trace::parser;
use wiregauge_trace::write::{OutputFormat, Writer};

/// What makes a `.bfbs` of a definition.
const FLATC: Need = Need::Program("flatc", "flatbuffers-compiler");

/// The encodings that messages are converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum TargetEncoding {
    /// As Protobuf's libraries write it, without packed fields.
    Protobuf,
    /// Every record is a table; nothing is lost.
    FlatbuffersTables,
    /// Vectors, ids, times and reflections are structs, whose numbers are always there.
    FlatbuffersStructs,
}

/// How messages become others.
pub struct Conversion {
    losses: Losses,
    /// Whether packed columns that OSI has no field for are left out.
    drops: bool,
    to: TargetDefinition,
}

enum TargetDefinition {
    Protobuf(Box<FindDefinition>),
    FlatBuffers(Box<FindDefinition>),
}

impl Conversion {
    /// A conversion to messages in an encoding, by the user's definition or that of OSI or of
    /// the channel. What the definition has no field for is an error unless it may be lost.
    ///
    /// # Errors
    /// When the output's container cannot hold the encoding, or the definition cannot be read.
    pub fn new(
        encoding: TargetEncoding,
        definition: Option<&Path>,
        lossy: bool,
        output: &Path,
    ) -> Result<Conversion> {
        let holds_any = matches!(
            OutputFormat::from_path(output)?,
            OutputFormat::Mcap | OutputFormat::LengthPrefixed
        );
        let structs = encoding == TargetEncoding::FlatbuffersStructs;
        let to = match encoding {
            TargetEncoding::Protobuf => TargetDefinition::Protobuf(read_descriptors(definition)?),
            _ if holds_any => TargetDefinition::FlatBuffers(read_flatbuffers(definition, structs)?),
            _ => {
                bail!("{} cannot hold FlatBuffers; end the name in .mcap or .bin", output.display())
            }
        };
        Ok(Conversion { losses: Losses::new(lossy), drops: lossy, to })
    }

    /// A writer of such messages before the one that gets them. `origin` says in errors what
    /// is read.
    pub fn wrap_writer(self, writer: Box<dyn Writer>, origin: &str) -> Box<dyn Writer> {
        let Conversion { losses, drops, to } = self;
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

/// The user's definition in FlatBuffers, or that of each channel.
fn read_flatbuffers(path: Option<&Path>, structs: bool) -> Result<Box<FindDefinition>> {
    let Some(path) = path else {
        return Ok(Box::new(move |channel| derive_definition(channel, structs)));
    };
    let data = if path.extension().is_some_and(|end| end == "bfbs") {
        file::read_bytes(path)?
    } else {
        compile(path)?
    };
    let read = wiregauge_flatbuffers::Definition::read(&data);
    let read = read.with_context(|| path.display().to_string())?;
    let root = read.root();
    let root = root.with_context(|| format!("{} has no root_type", path.display()))?;
    let own = Definition { name: root.to_owned(), encoding: FLATBUFFER.into(), data };
    Ok(Box::new(move |_| Ok(own.clone())))
}

/// The user's definition in Protobuf, or that of OSI.
fn read_descriptors(path: Option<&Path>) -> Result<Box<FindDefinition>> {
    let Some(path) = path else { return Ok(Box::new(osi_definition)) };
    let descriptors = file::read_bytes(path)?;
    Definitions::decode(&descriptors).with_context(|| {
        format!(
            "{} is not a complete descriptor set; make it with protoc --include_imports",
            path.display()
        )
    })?;
    Ok(Box::new(move |channel| parser::extract_definition(&descriptors, &channel.definition.name)))
}

/// A writer before one that takes Protobuf: messages of OSI in FlatBuffers become such, and
/// others are handed on. What Protobuf's definition has no field for is left out where that
/// is wanted.
pub fn convert_to_protobuf(writer: Box<dyn Writer>, origin: &str, lossy: bool) -> Box<dyn Writer> {
    let encoding = ConversionTarget::Protobuf { definition: Box::new(osi_definition) };
    let converter = Converter::new(writer, origin, encoding, Losses::new(lossy));
    Box::new(converter.optional_for(is_osi_flat))
}

/// Whether a channel is of OSI in FlatBuffers.
pub fn is_osi_flat(channel: &Channel) -> bool {
    channel.message_encoding == FLATBUFFER && channel.definition.name.starts_with("osi3.")
}

/// What defines in Protobuf the messages of a channel of OSI, which does not say it itself.
///
/// # Errors
/// When it is no channel of OSI, or OSI's package cannot be installed.
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
    let descriptors = if channel.definition.data.is_empty() {
        osi_definition(channel)?.data
    } else {
        channel.definition.data.clone()
    };
    let definitions = Definitions::decode(&descriptors)?;
    let message = definitions.message(name)?;
    let schema = definitions.schema(&message)?;
    let is_there = |name: &&str| schema.records().any(|(_, record)| record.name.original == *name);
    let structs: Vec<&str> = STRUCTS.into_iter().filter(is_there).filter(|_| structs).collect();
    let text = definition(&schema, message.package_name(), &structs)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("message.fbs");
    fs::write(&path, text)?;
    let data = compile(&path)?;
    let root =
        wiregauge_flatbuffers::Definition::read(&data)?.root().unwrap_or_default().to_owned();
    Ok(Definition { name: root, encoding: FLATBUFFER.into(), data })
}

/// The `.bfbs` of a `.fbs`.
fn compile(path: &Path) -> Result<Vec<u8>> {
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
