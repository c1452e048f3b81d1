//! `wiregauge schema`: a message as wiregauge sees it, and each format's
//! answer to it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_codec_run::definitions::load_schema;
use wiregauge_codec_run::format_answers::{definition_text, format_answers};
use wiregauge_schema::describe;
use wiregauge_schema::small_arrays::SmallArrays;
use wiregauge_system::output::print_escaped;
use wiregauge_system::text::escape_lines;

use crate::list_format::ListFormat;

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
    /// A definition (.msg, .srv, .action, .idl, .proto, a descriptor set, or a folder of
    /// them) or a recording (.mcap, .bag, .db3 or its folder, .osi); after a colon the
    /// type or topic, where there are several.
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
        let mut schema = load_schema(&self.source, &self.include, None)?;
        schema.small_array = self.small_arrays.longest();
        match &self.idl {
            Some(name) => print_escaped(&definition_text(&schema, name)?)?,
            None => self.format.print(&schema, |schema| {
                escape_lines(&format!("{}\n{}", describe(schema), format_answers(schema)))
            })?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
