//! `wiregauge trace split`: one trace in several parts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_system::file::Folder;
use wiregauge_system::quantity::{parse_nonzero_bytes, parse_time};
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::extras::FileExtras;
use wiregauge_trace::open;
use wiregauge_trace::split::{split, PartFactory, SplitLimit};
use wiregauge_trace::write::writer::output_error;
use wiregauge_trace::write::{OutputFormat, Writer};

use super::output_args::{open_target, OutputArgs};
use super::progress::byte_progress;
use super::selection_args::SelectionArgs;
use crate::output::print_notice;

/// Split a trace file by size, duration or channel.
///
/// The parts have the name of the file and a number or channel, and the same container;
/// parts of bags are .mcap. Each .mcap part has the metadata. The first one has the
/// attachments and the channels without messages. If anything fails, no part is left.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace split drive.mcap -o parts --by-duration 60s
      parts/drive_000.mcap, parts/drive_001.mcap, …
  wiregauge trace split drive.mcap -o parts --by-size 1GB
  wiregauge trace split drive.mcap -o parts --by-channel")]
#[group(skip)]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag, .db3, or the folder of a ROS 2 bag.
    input: PathBuf,
    /// The folder for the parts. It is made if it is missing.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// End a part after so many bytes of messages.
    #[arg(long, value_name = "SIZE", value_parser = parse_nonzero_bytes, group = "by")]
    by_size: Option<u64>,
    /// End a part after so much time on the clock of the trace.
    #[arg(long, value_name = "TIME", value_parser = parse_time, group = "by")]
    by_duration: Option<std::time::Duration>,
    /// Make a part of each channel.
    #[arg(long, group = "by")]
    by_channel: bool,
    #[command(flatten)]
    selecting: SelectionArgs,
    #[command(flatten)]
    putting: OutputArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let by = match (self.by_size, self.by_duration) {
            (Some(size), _) => SplitLimit::Size(size),
            (_, Some(duration)) => SplitLimit::Duration(duration.as_nanos() as i128),
            _ => SplitLimit::Channel,
        };
        ensure!(
            by != SplitLimit::Channel || self.by_channel,
            "give one of --by-size 1GB, --by-duration 60s or --by-channel"
        );
        ensure!(by != SplitLimit::Duration(0), "--by-duration must be above 0s");
        let extension = match open::container_name(&self.input)? {
            "OSI" => "osi",
            _ => "mcap",
        };
        let _folder = Folder::create(&self.output)?;
        let mut parts = Parts { arguments: &self, extension, paths: Vec::new(), whole: Vec::new() };
        let outcome = self.split(by, &mut parts);
        if outcome.is_err() {
            parts.remove();
        }
        let (made, remarks) = outcome?;
        remarks.iter().for_each(|remark| print_notice(&escape_short(remark)));
        print_notice(&format!(
            "{} in {}",
            format_count(made as u64, "part"),
            self.output.display()
        ));
        Ok(ExitCode::SUCCESS)
    }

    /// Makes the parts. How many there are, and what is to be told.
    fn split(&self, by: SplitLimit, parts: &mut Parts) -> Result<(usize, Vec<String>)> {
        let wish = self.putting.read_hints();
        let selection = self.selecting.resolve(std::slice::from_ref(&self.input), &wish)?;
        let rest = FileExtras::read(open::open(&self.input, &wish)?.as_mut())?;
        let mut reader = self.putting.repeating(open::open(&self.input, &wish)?, &self.input);
        let made =
            split(reader.as_mut(), &rest, &selection, by, parts, &mut byte_progress("splitting"));
        let made = made.map_err(|error| output_error(&error).unwrap_or(error))?;
        let topics = reader.channels().values();
        selection.check(&self.input.display().to_string(), topics)?;
        ensure!(made > 0, self.selecting.explain_empty(&self.input));
        Ok((made, reader.remarks()))
    }
}

/// Makes the parts as files.
struct Parts<'a> {
    arguments: &'a Arguments,
    extension: &'static str,
    /// Where they are, and which of them are there by now.
    paths: Vec<PathBuf>,
    whole: Vec<usize>,
}

impl Parts<'_> {
    /// Removes those that are there: half of a recording looks like all of one.
    fn remove(&self) {
        for number in &self.whole {
            let _ = std::fs::remove_file(&self.paths[*number]);
        }
    }
}

impl PartFactory for Parts<'_> {
    fn begin_part(&mut self, number: usize, topic: Option<&str>) -> Result<Box<dyn Writer>> {
        let Arguments { input, output, putting, .. } = self.arguments;
        let stem = input.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.strip_suffix(".osi").unwrap_or(&stem);
        let part = match topic {
            Some(topic) => format!("{number:03}_{}", file_name_part(topic)),
            None => format!("{number:03}"),
        };
        let path = output.join(format!("{stem}_{part}.{}", self.extension));
        self.paths.push(path.clone());
        let draft = open_target(&path, std::slice::from_ref(input))?.start_draft()?;
        OutputFormat::from_path(&path)?.begin(draft, putting.chunks.packing())
    }

    fn describe(&mut self, channel: &Channel) -> Result<Channel> {
        let Arguments { input, putting, .. } = self.arguments;
        let form = OutputFormat::from_path(Path::new(&format!("part.{}", self.extension)))?;
        putting.describe(input, None, channel, form)
    }

    fn finished(&mut self, number: usize) {
        self.whole.push(number);
    }
}

/// A topic as a part of a file's name.
fn file_name_part(topic: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    topic.trim_matches('/').chars().map(letter).collect()
}
