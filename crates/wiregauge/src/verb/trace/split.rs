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

use super::progress::news;
use super::putting::{target, Putting};
use super::selecting::Selecting;
use crate::output::tell;

/// Split a trace file by size, duration or channel.
///
/// The parts are called after the file, with a number or their channel, and are in the
/// same container; those of bags are .mcap. Each part of .mcap has the metadata; the first
/// one has the attachments, and the channels without messages. All parts are there in the
/// end, or none.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace split drive.mcap -o parts --duration 60s
      parts/drive_000.mcap, parts/drive_001.mcap, …
  wiregauge trace split drive.mcap -o parts --size 1GB
  wiregauge trace split drive.mcap -o parts --by-channel")]
#[group(skip)]
pub struct Arguments {
    /// What is read: .mcap, .osi, .bag, .db3, or the folder of a ROS 2 bag.
    input: PathBuf,
    /// The folder for the parts; it is made where it is not there.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// A part ends after so many bytes of messages.
    #[arg(long, value_name = "SIZE", value_parser = parse_nonzero_bytes, group = "by")]
    size: Option<u64>,
    /// A part ends after so much time on the clock of the trace.
    #[arg(long, value_name = "TIME", value_parser = parse_time, group = "by")]
    duration: Option<std::time::Duration>,
    /// Each channel is a part.
    #[arg(long, group = "by")]
    by_channel: bool,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let by = match (self.size, self.duration) {
            (Some(size), _) => SplitLimit::Size(size),
            (_, Some(duration)) => SplitLimit::Duration(duration.as_nanos() as i128),
            _ => SplitLimit::Channel,
        };
        ensure!(
            by != SplitLimit::Channel || self.by_channel,
            "say where parts end: --size 1GB, --duration 60s or --by-channel"
        );
        ensure!(by != SplitLimit::Duration(0), "--duration 0s is no part of a trace");
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
        remarks.iter().for_each(|remark| tell(&escape_short(remark)));
        tell(&format!("{} in {}", format_count(made as u64, "part"), self.output.display()));
        Ok(ExitCode::SUCCESS)
    }

    /// Makes the parts. How many there are, and what is to be told.
    fn split(&self, by: SplitLimit, parts: &mut Parts) -> Result<(usize, Vec<String>)> {
        let wish = self.putting.wish();
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &wish)?;
        let rest = FileExtras::read(open::open(&self.input, &wish)?.as_mut())?;
        let mut reader = self.putting.repeating(open::open(&self.input, &wish)?, &self.input);
        let made = split(reader.as_mut(), &rest, &selection, by, parts, &mut news("splitting"));
        let made = made.map_err(|error| output_error(&error).unwrap_or(error))?;
        let topics = reader.channels().values();
        selection.check(&self.input.display().to_string(), topics)?;
        ensure!(made > 0, self.selecting.nothing(&self.input));
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
            Some(topic) => format!("{number:03}_{}", plain(topic)),
            None => format!("{number:03}"),
        };
        let path = output.join(format!("{stem}_{part}.{}", self.extension));
        self.paths.push(path.clone());
        let draft = target(&path, std::slice::from_ref(input))?.start_draft()?;
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
fn plain(topic: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    topic.trim_matches('/').chars().map(letter).collect()
}
