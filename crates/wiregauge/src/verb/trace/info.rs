//! `wiregauge trace info`: what is in trace files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_report::page::facts_page::{self, FactsHistogram, FactsSection};
use wiregauge_system::file::Target;
use wiregauge_system::output::print;
use wiregauge_system::progress::byte_progress;
use wiregauge_system::text::escape_short;
use wiregauge_trace::info::text::{
    channel_facts, channel_name, file_facts, file_title, format_info,
};
use wiregauge_trace::info::{read_info, ChannelInfo, TraceInfo};

use super::osi_type_arg::OsiTypeArg;
use crate::list_format::ListFormat;

/// Show what is in trace files: channels, types, versions, times, rates, sizes.
///
/// It uses the summary of an MCAP file and the index of a bag; --all reads all messages. An
/// .osi file has neither, so it skips from message to message by their lengths.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace info drive.mcap
  wiregauge trace info --all drive.mcap
      also rates, gaps and sizes, for which it reads all messages
  wiregauge trace info --all drive.mcap --page drive.html
      the same as a page, with the sizes of messages as a picture
  wiregauge trace info *.osi --format json")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; or the folder of
    /// a ROS 2 bag.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read every message, also of MCAP and bags.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    typed: OsiTypeArg,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
    /// Also write a page, with the sizes of messages as a picture.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let wish = self.typed.open_hints();
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        let wanted = self.page.as_ref().map(|page| Target::open(page, &inputs)).transpose()?;
        let mut shown = byte_progress("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            infos.push(read_info(path, &wish, self.all, &mut shown)?);
        }
        drop(shown);
        if let Some(target) = wanted {
            target.write(format_page(&infos).as_bytes())?;
        }
        match self.format {
            ListFormat::Json => print(&serde_json::to_string_pretty(&infos)?)?,
            ListFormat::Table => {
                let texts: Vec<String> = infos.iter().map(format_info).collect();
                print(&texts.join("\n"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The files as a page, with the sizes of their messages as pictures.
fn format_page(infos: &[TraceInfo]) -> String {
    let mut parts = Vec::new();
    for info in infos {
        let remarks = info.remarks.iter().map(|remark| ("note", escape_short(remark)));
        let facts = file_facts(info).into_iter().chain(remarks);
        let facts = facts.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect();
        parts.push(FactsSection { title: file_title(info), facts, histogram: None });
        parts.extend(info.channels.iter().map(format_channel));
    }
    let names: Vec<&str> = infos.iter().map(|info| info.file.as_str()).collect();
    facts_page::render_facts(&names.join(", "), &parts)
}

fn format_channel(channel: &ChannelInfo) -> FactsSection {
    // The bars of a terminal have no name.
    let facts = channel_facts(channel).into_iter().filter(|(key, _)| !key.is_empty());
    let facts = facts.map(|(key, value)| (key.to_owned(), value)).collect();
    let histogram = channel.read.as_ref().filter(|read| !read.sizes.is_empty());
    let histogram = histogram.map(|read| FactsHistogram {
        what: "Sizes of messages".into(),
        unit: "B".into(),
        span: (read.smallest, read.largest),
        counts: read.sizes.clone(),
    });
    FactsSection { title: channel_name(channel).to_owned(), facts, histogram }
}
