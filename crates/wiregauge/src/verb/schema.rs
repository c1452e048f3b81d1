//! `wiregauge schema`: a message as wiregauge sees it, and each format's
//! answer to it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, Context, Result};
use wiregauge_codec_run::workload::definition_lookup;
use wiregauge_formats::{Codec, Support};
use wiregauge_schema::msg::Dialect;
use wiregauge_schema::{describe, package, source, Schema, SchemaSource};
use wiregauge_system::notice::print_notice;
use wiregauge_system::output::{print, print_escaped};
use wiregauge_system::text::escape_short;
use wiregauge_trace::Recording;

use crate::list_format::ListFormat;
use crate::small_arrays::SmallArrays;

/// Show a message definition, and whether each format can express it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge schema scan.msg
      the model and each format's answer
  wiregauge schema robot.proto:pkg.Type           one type of several
  wiregauge schema scan.msg -I ~/ros2/src
      with packages that lie elsewhere
  wiregauge schema drive.mcap:/lidar              the schema of a recorded topic
  wiregauge schema drive.bag:/lidar
      of ROS 1; drive.db3 or its folder of ROS 2
  wiregauge schema 20240618T122540Z_sv_370_244_20_x.osi
      of a trace of OSI
  wiregauge schema scan.msg --idl flatbuffers-cpp
      the definition that is compiled
  wiregauge schema scan.msg --format json         the model for scripts")]
pub struct Arguments {
    /// A definition (.msg, .proto, a descriptor set, or a folder of them) or a recording (.mcap,
    /// .bag, .db3 or its folder, .osi); after a colon the type or topic, where
    /// there are several.
    #[arg(value_name = "FILE[:TYPE]")]
    source: String,
    /// Also look for definitions in this folder. Give it several times for several
    /// folders.
    #[arg(short = 'I', long, value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Show the definition for this codec or format in its own language.
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    idl: Option<String>,
    /// How formats without fixed arrays write those of up to four numbers.
    #[arg(long, value_enum, value_name = "FORM", default_value = "fields")]
    small_arrays: SmallArrays,
    /// Format of what is printed. json is the model alone.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let mut schema = load(&self.source, &self.include, None)?;
        schema.small_array = self.small_arrays.longest();
        if self.format == ListFormat::Json {
            print(&serde_json::to_string_pretty(&schema)?)?;
        } else if let Some(name) = &self.idl {
            print_escaped(&definition(&schema, name)?)?;
        } else {
            print_escaped(&format!("{}\n{}", describe(&schema), format_answers(&schema)))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The extensions of recordings.
const RECORDINGS: [&str; 5] = ["mcap", "bag", "active", "db3", "osi"];

/// The extensions of an `.osi` file that is packed as a whole.
const PACKED: [&str; 5] = ["gz", "xz", "zst", "zstd", "lzma"];

/// Whether it is a recording, by its name.
pub fn is_recording(path: &Path) -> bool {
    let end =
        |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_packed = PACKED.contains(&end(path).as_str()) && end(&path.with_extension("")) == "osi";
    let is_bag = path.is_dir() && !package::is_of_definitions(path);
    is_packed || RECORDINGS.contains(&end(path).as_str()) || is_bag
}

/// The schema of a definition or of a recorded topic.
pub fn load(text: &str, folders: &[PathBuf], dialect: Option<Dialect>) -> Result<Schema> {
    let source = SchemaSource::parse(text).with_folders(folders);
    if is_recording(&source.path) {
        let recording = Recording::open_with(&source.path, definition_lookup(folders))?;
        recording.remarks().iter().for_each(|remark| print_notice(&escape_short(remark)));
        let topic = match (&source.type_name, recording.topics()) {
            (Some(topic), _) => topic.clone(),
            (None, [only]) => only.name.clone(),
            (None, topics) => {
                let names: Vec<&str> = topics.iter().map(|t| t.name.as_str()).collect();
                bail!(
                    "{text} has several topics; write {text}:TOPIC with one of {}",
                    names.join(", ")
                )
            }
        };
        return recording.schema(&topic);
    }
    source::load_as(dialect, &source)
}

/// The definition in a format's own language.
fn definition(schema: &Schema, format: &str) -> Result<String> {
    let codec = Codec::find(format)
        .or_else(|| Codec::all().into_iter().find(|c| c.format == format && c.idl.is_some()))
        .with_context(|| {
            let known: Vec<&str> = Codec::all().iter().map(|codec| codec.name).collect();
            format!("unknown format '{format}'; choose from {}", known.join(", "))
        })?;
    if let Support::Rejected(why) = codec.check_schema(schema) {
        bail!("{} cannot express this message: {why}", codec.title);
    }
    let idl = codec.idl.with_context(|| {
        format!("{} has no definition files; its types in the code are the definition", codec.title)
    })?;
    Ok(idl(schema)?.text)
}

/// Each codec's answer, with what is lost.
fn format_answers(schema: &Schema) -> String {
    let mut text = String::new();
    for codec in Codec::all().into_iter().filter(|codec| !codec.is_bound) {
        let name = codec.name;
        match codec.check_schema(schema) {
            Support::Supported => text += &format!("{name:24} supported\n"),
            Support::Rejected(why) => text += &format!("{name:24} rejected: {why}\n"),
            Support::Lowered(lowerings) => {
                for (at, lowering) in lowerings.iter().enumerate() {
                    let (name, word) = if at == 0 { (name, "lowered: ") } else { ("", "") };
                    let (what, lost) = (&lowering.what, &lowering.lost);
                    text += &format!("{name:24} {word:9}{what} (lost: {lost})\n");
                }
            }
        }
    }
    text
}
