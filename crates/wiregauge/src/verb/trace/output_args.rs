//! Where messages go, and what is said of them there.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Error, Result};
use wiregauge_flatbuffers::convert::{ConversionTarget, Converter};
use wiregauge_flatbuffers::{json, Losses};
use wiregauge_packing::unpacker::Unpacker;
use wiregauge_system::file::Target;
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::channel::{Channel, CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION};
use wiregauge_trace::copy::{copy, CopyCounts, CopySource};
use wiregauge_trace::message_sorter::SortOptions;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::osi::{self, Stamp};
use wiregauge_trace::parser;
use wiregauge_trace::read::{Loss, Reader};
use wiregauge_trace::select::Selection;
use wiregauge_trace::static_data::StaticDataRepeater;
use wiregauge_trace::version::{self, Version};
use wiregauge_trace::write::writer::output_error;
use wiregauge_trace::write::{Json, OsiTimeWriter, Output, OutputFormat, Writer};

use super::compression_args::CompressionArgs;
use super::encoding_args::{is_osi_flat, osi_definition};
use super::progress::byte_progress;
use super::selection_args::SelectionArgs;
use crate::output::print_notice;
use crate::workload::osi_definitions;

/// The arguments that say what is written.
#[derive(clap::Args)]
pub struct OutputArgs {
    /// How MCAP is packed.
    #[command(flatten)]
    pub chunks: CompressionArgs,
    /// Type of the messages in an .osi file, if its name does not say it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Name in MCAP for the channel of an .osi file [default: its type].
    #[arg(long, value_name = "TOPIC")]
    channel_name: Option<String>,
    /// Version of the Protobuf library that wrote an .osi file: 3.21.12. MCAP should
    /// say it, and the file does not.
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    protobuf_version: Option<Version>,
    /// Version of OSI of an .osi file, if its messages do not say it.
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    osi_version: Option<Version>,
    /// Repeat static data (lanes, signs, stationary objects, the version, …) in each
    /// GroundTruth and SensorView that lacks it. esmini writes it only in the first
    /// message.
    #[arg(long)]
    repeat_static: bool,
}

/// A version.
pub fn parse_version(text: &str) -> Result<Version, String> {
    version::parse(text).ok_or_else(|| "a version has three numbers, such as 3.21.12".to_owned())
}

impl OutputArgs {
    /// As usual, of `.osi` files of this type where their names do not tell it.
    pub fn with_defaults(kind: Option<String>) -> OutputArgs {
        let chunks = CompressionArgs::default();
        let (channel_name, protobuf_version, osi_version) = (None, None, None);
        OutputArgs {
            chunks,
            kind,
            channel_name,
            protobuf_version,
            osi_version,
            repeat_static: false,
        }
    }

    /// What the user says of files that do not tell it.
    pub fn read_hints(&self) -> OpenHints {
        OpenHints { osi_type: self.kind.clone() }
    }

    /// Copies what is wanted of some files into one, and tells how much that was.
    pub fn copy(&self, inputs: &[PathBuf], selecting: &SelectionArgs, output: &Path) -> Result<()> {
        self.copy_sorted(inputs, selecting, None, output)?.print(output);
        Ok(())
    }

    /// Copies what is wanted of some files into one, each file in order where that is wanted.
    pub fn copy_sorted(
        &self,
        inputs: &[PathBuf],
        selecting: &SelectionArgs,
        sorting: Option<SortOptions>,
        output: &Path,
    ) -> Result<CopySummary> {
        let form = OutputFormat::from_path(output)?;
        let draft = open_target(output, inputs)?.start_draft()?;
        let writer = self.begin(form, draft)?;
        let readers = self.open(inputs)?;
        self.copy_into(inputs, readers, selecting, sorting, form, writer)
    }

    /// Begins a file of messages as they are read. What shows them shows packed fields as
    /// what is in them, and FlatBuffers, too: as JSON by their own definition, as Protobuf's
    /// text by that of OSI.
    fn begin(&self, form: OutputFormat, out: impl Output + 'static) -> Result<Box<dyn Writer>> {
        Ok(match form {
            OutputFormat::Json => Box::new(Unpacker::new_for_display(Box::new(
                Json::with_formatters(out, json::create_formatter),
            ))),
            OutputFormat::Text => {
                let text = form.begin(out, self.chunks.packing())?;
                let encoding = ConversionTarget::Protobuf { definition: Box::new(osi_definition) };
                let converter = Converter::new(text, "", encoding, Losses::new(true));
                Box::new(Unpacker::new_for_display(Box::new(converter.optional_for(is_osi_flat))))
            }
            _ => form.begin(out, self.chunks.packing())?,
        })
    }

    /// Writes what is wanted of a file anew by a writer of the caller's.
    pub fn write_by(
        &self,
        input: &Path,
        selecting: &SelectionArgs,
        output: &Path,
        by: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>,
    ) -> Result<CopySummary> {
        let form = OutputFormat::from_path(output)?;
        let inputs = [input.to_owned()];
        let draft = open_target(output, &inputs)?.start_draft()?;
        let writer = by(form.begin(draft, self.chunks.packing())?);
        let readers = self.open(&inputs)?;
        self.copy_into(&inputs, readers, selecting, None, form, writer)
    }

    /// Copies what is whole of a damaged file, and tells how much that was. What was lost.
    pub fn salvage(&self, input: &Path, output: &Path) -> Result<Vec<Loss>> {
        self.write_anew(input, output, |writer| writer)
    }

    /// Writes a file anew so that it keeps the rules as far as that can be known.
    pub fn fix(&self, input: &Path, output: &Path) -> Result<()> {
        self.write_anew(input, output, |writer| Box::new(OsiTimeWriter::new(writer))).map(drop)
    }

    fn write_anew(
        &self,
        input: &Path,
        output: &Path,
        by: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>,
    ) -> Result<Vec<Loss>> {
        let form = OutputFormat::from_path(output)?;
        let inputs = [input.to_owned()];
        let draft = open_target(output, &inputs)?.start_draft()?;
        let writer = by(form.begin(draft, self.chunks.packing())?);
        let mut readers = self.open(&inputs)?;
        readers[0].salvage();
        let copied = self.copy_into(&inputs, readers, &SelectionArgs::all(), None, form, writer)?;
        copied.print(output);
        Ok(copied.losses)
    }

    /// Opens what is read.
    pub fn open(&self, inputs: &[PathBuf]) -> Result<Vec<Box<dyn Reader>>> {
        let open = |path: &PathBuf| {
            let reader = open::open_with(path, &self.read_hints(), &osi_definitions)?;
            Ok(self.repeating(reader, path))
        };
        inputs.iter().map(open).collect()
    }

    /// What is read of a file, with static data in each message where that is wanted.
    pub fn repeating(&self, reader: Box<dyn Reader>, path: &Path) -> Box<dyn Reader> {
        match self.repeat_static {
            true => Box::new(StaticDataRepeater::new(reader, &path.display().to_string())),
            false => reader,
        }
    }

    /// Writes what is wanted of a file to standard output. That its reader went away, as
    /// `head` does, is no error.
    pub fn print(&self, input: &Path, selecting: &SelectionArgs, form: OutputFormat) -> Result<()> {
        let writer = self.begin(form, std::io::stdout())?;
        let inputs = [input.to_owned()];
        let outcome = self.copy_into(&inputs, self.open(&inputs)?, selecting, None, form, writer);
        match outcome {
            Err(error) if is_broken_pipe(&error) => Ok(()),
            other => other.map(|outcome| outcome.print_notices()),
        }
    }

    /// Writes what is wanted of some files by a writer, for which channels are described as
    /// a container of this form wants them.
    pub fn copy_into(
        &self,
        inputs: &[PathBuf],
        mut readers: Vec<Box<dyn Reader>>,
        selecting: &SelectionArgs,
        sorting: Option<SortOptions>,
        form: OutputFormat,
        mut writer: Box<dyn Writer + '_>,
    ) -> Result<CopySummary> {
        let selection = selecting.resolve(inputs, &self.read_hints())?;
        let names = self.names(inputs);
        let mut sources = Vec::new();
        for (path, reader) in inputs.iter().zip(&mut readers) {
            let name = path.display().to_string();
            sources.push(CopySource::new_sorted(&name, reader.as_mut(), &selection, sorting)?);
        }
        let mut lacks = Vec::new();
        let mut describe = |source: usize, channel: &Channel| {
            let (path, name) = (&inputs[source], names[source].as_deref());
            let channel = self.describe(path, name, channel, form)?;
            if form == OutputFormat::Mcap {
                lacks.extend(
                    missing_versions(&channel).iter().map(|key| (channel.topic.clone(), *key)),
                );
            }
            Ok(channel)
        };
        let mut shown = byte_progress("copying");
        let copied = copy(&mut sources, writer.as_mut(), &mut describe, &mut shown);
        let (copied, left_out) = copied.map_err(|error| output_error(&error).unwrap_or(error))?;
        let read = inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let read = read.join(", ");
        selection.check(&read, sources.iter_mut().flat_map(CopySource::channels))?;
        if copied.messages == 0 {
            self.allow_none(inputs, &selection, writer.has_room(), &mut sources)?;
        }
        let mut remarks = writer.remarks();
        writer.finish().map_err(|error| {
            output_error(&error).unwrap_or_else(|| with_file_name(error, &read))
        })?;
        remarks.extend(readers.iter().flat_map(|reader| reader.remarks()));
        let losses = readers.iter().flat_map(|reader| reader.losses().to_vec()).collect();
        Ok(CopySummary { copied, left_out, lacks, losses, remarks })
    }

    /// Fails where nothing was copied, unless the files hold no messages but something else
    /// that the container has room for.
    fn allow_none(
        &self,
        inputs: &[PathBuf],
        selection: &Selection,
        has_room: bool,
        sources: &mut [CopySource],
    ) -> Result<()> {
        let read = inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let read = read.join(", ");
        if selection.is_part() {
            for path in inputs {
                let mut reader = open::open_with(path, &self.read_hints(), &osi_definitions)?;
                ensure!(
                    reader.next()?.is_none(),
                    "no message in {read} has the channel, time and number that were asked for"
                );
            }
        }
        let is_damaged = sources.iter_mut().any(CopySource::has_nothing);
        ensure!(!is_damaged, "{read} has no whole message");
        ensure!(has_room, "{read} has no messages");
        Ok(())
    }

    /// What the channels of `.osi` files are called: by `--channel-name`, or where several are of
    /// one type by their files, as there may be a left one and a right one.
    fn names(&self, inputs: &[PathBuf]) -> Vec<Option<String>> {
        let kind = |path: &Path| osi::OsiFileName::parse(path).map(|name| name.code);
        let is_alone =
            |path: &Path| inputs.iter().filter(|other| kind(other) == kind(path)).count() < 2;
        let name = |path: &PathBuf| match &self.channel_name {
            Some(topic) => Some(topic.clone()),
            None if is_alone(path) => None,
            None => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        };
        inputs.iter().map(name).collect()
    }

    /// A channel as it is described where it goes: what comes out of an `.osi` file gets
    /// its definition and its versions.
    pub fn describe(
        &self,
        path: &Path,
        topic: Option<&str>,
        channel: &Channel,
        form: OutputFormat,
    ) -> Result<Channel> {
        let mut channel = channel.clone();
        let bare = matches!(form, OutputFormat::Osi | OutputFormat::LengthPrefixed);
        if bare || channel.message_encoding != "protobuf" {
            return Ok(channel);
        }
        // Only a file that has neither topics nor types lacks both.
        ensure!(
            !channel.definition.name.is_empty() || !channel.topic.is_empty(),
            osi::missing_type_message(path)
        );
        if channel.is_osi() && channel.definition.data.is_empty() {
            let definitions = osi_definitions()?;
            let definition = parser::extract_definition(&definitions, &channel.definition.name)?;
            channel.definition = definition.into();
            if let Some(topic) = topic {
                channel.topic = topic.to_owned();
            }
        }
        if form == OutputFormat::Mcap && channel.is_osi() {
            self.add_versions(path, &mut channel)?;
        }
        Ok(channel)
    }

    /// Adds the versions that a channel of OSI must say and does not, where they are known.
    fn add_versions(&self, path: &Path, channel: &mut Channel) -> Result<()> {
        for key in missing_versions(channel) {
            let version = match key {
                CHANNEL_OSI_VERSION => {
                    let name = &channel.definition.name;
                    let told = osi::OsiFileName::parse(path).and_then(|name| name.osi_version);
                    let own = first_message_version(path, &self.read_hints(), name)?;
                    self.osi_version.or(own).or(told.and_then(|told| version::parse(&told)))
                }
                _ => self.protobuf_version,
            };
            if let Some(version) = version {
                channel.metadata.insert(key.to_owned(), version::format_version(version));
            }
        }
        Ok(())
    }
}

/// The versions that a channel of OSI must say and does not.
fn missing_versions(channel: &Channel) -> Vec<&'static str> {
    let said = |key: &str| channel.metadata.get(key).and_then(|said| version::parse(said));
    let keys = [CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION];
    keys.into_iter().filter(|key| channel.is_osi() && said(key).is_none()).collect()
}

/// What came of copying.
pub struct CopySummary {
    copied: CopyCounts,
    /// What the container cannot hold.
    left_out: Vec<String>,
    /// The versions that channels must say and nothing tells.
    lacks: Vec<(String, &'static str)>,
    /// What was damaged.
    losses: Vec<Loss>,
    /// What the writer has to say.
    remarks: Vec<String>,
}

impl CopySummary {
    /// How many messages were of a time before that of one before them.
    pub fn late_messages(&self) -> u64 {
        self.copied.late
    }

    /// Tells it.
    pub fn print(&self, output: &Path) {
        self.print_conversion(output);
        let CopyCounts { messages, bytes, .. } = self.copied;
        print_notice(&format!(
            "{} of {bytes} bytes in {}",
            format_count(messages, "message"),
            output.display()
        ));
    }

    /// Tells it of a file that has something else than the messages.
    pub fn print_read(&self, output: &Path) {
        self.print_conversion(output);
        let CopyCounts { messages, bytes, .. } = self.copied;
        let were = if messages == 1 { "was" } else { "were" };
        let messages = format_count(messages, "message");
        print_notice(&format!("{messages} of {bytes} bytes {were} read for {}", output.display()));
    }

    /// Tells what is worth knowing of the way.
    pub fn print_conversion(&self, output: &Path) {
        let backwards = self.copied.backwards;
        let output = output.display();
        if backwards > 0 {
            let go = if backwards == 1 { "goes" } else { "go" };
            let messages = format_count(backwards, "message");
            print_notice(&format!("{messages} {go} back in time, as in the input"));
        }
        if !self.left_out.is_empty() {
            let left_out = escape_short(&self.left_out.join(", "));
            print_notice(&format!("left out, as {output} cannot hold it: {left_out}"));
        }
        for (topic, key) in &self.lacks {
            let option = match *key {
                CHANNEL_OSI_VERSION => "--osi-version 3.8.0",
                _ => "--protobuf-version 3.21.12",
            };
            let topic = escape_short(topic);
            print_notice(&format!(
                "channel {topic}: {key} is not known and is left out; give it by {option}"
            ));
        }
        self.print_notices();
    }

    /// Tells what the writer has to say.
    pub fn print_notices(&self) {
        self.remarks.iter().for_each(|remark| print_notice(&escape_short(remark)));
    }
}

/// The version of OSI that the first message of a type in a file says.
fn first_message_version(
    path: &Path,
    wish: &OpenHints,
    type_name: &str,
) -> Result<Option<Version>> {
    let mut reader = open::open_with(path, wish, &osi_definitions)?;
    reader.salvage();
    while let Some(head) = reader.next()? {
        if reader.channels()[&head.channel].definition.name == type_name {
            return Ok(Stamp::read(type_name, reader.data()?).version);
        }
    }
    Ok(None)
}

/// Where something is written that is made of recordings: none of their files.
pub fn open_target(output: &Path, inputs: &[PathBuf]) -> Result<Target> {
    let mut files = Vec::new();
    for input in inputs {
        files.extend(open::list_files(input)?);
    }
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    Target::open(output, &files)
}

/// Whether who reads standard output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let gone = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(gone)
}

/// What is wrong with what was read, which it names.
fn with_file_name(error: Error, read: &str) -> Error {
    if format!("{error:#}").contains(read) {
        return error;
    }
    error.context(read.to_owned())
}
