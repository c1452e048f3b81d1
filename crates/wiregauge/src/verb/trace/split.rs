//! `wiregauge trace split`: one trace in several parts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_system::file::Folder;
use wiregauge_system::quantity::{some_bytes, time};
use wiregauge_system::text::{count, safe};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::open;
use wiregauge_trace::rest::Rest;
use wiregauge_trace::split::{split, By, Maker};
use wiregauge_trace::write::writer::of_output;
use wiregauge_trace::write::{Form, Writer};

use super::progress::news;
use super::putting::{target, Putting};
use super::selecting::Selecting;
use crate::output::tell;

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
    #[arg(long, value_name = "SIZE", value_parser = some_bytes, group = "by")]
    by_size: Option<u64>,
    /// End a part after so much time on the clock of the trace.
    #[arg(long, value_name = "TIME", value_parser = time, group = "by")]
    by_duration: Option<std::time::Duration>,
    /// Make a part of each channel.
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
        let by = match (self.by_size, self.by_duration) {
            (Some(size), _) => By::Size(size),
            (_, Some(duration)) => By::Duration(duration.as_nanos() as i128),
            _ => By::Channel,
        };
        ensure!(
            by != By::Channel || self.by_channel,
            "say where parts end: --by-size 1GB, --by-duration 60s or --by-channel"
        );
        ensure!(by != By::Duration(0), "--by-duration 0s is no part of a trace");
        let extension = match open::kind(&self.input)? {
            "OSI" => "osi",
            _ => "mcap",
        };
        let _folder = Folder::make(&self.output)?;
        let mut parts = Parts { arguments: &self, extension, paths: Vec::new(), whole: Vec::new() };
        let outcome = self.split(by, &mut parts);
        if outcome.is_err() {
            parts.remove();
        }
        let (made, remarks) = outcome?;
        remarks.iter().for_each(|remark| tell(&safe(remark)));
        tell(&format!("{} in {}", count(made as u64, "part"), self.output.display()));
        Ok(ExitCode::SUCCESS)
    }

    /// Makes the parts. How many there are, and what is to be told.
    fn split(&self, by: By, parts: &mut Parts) -> Result<(usize, Vec<String>)> {
        let wish = self.putting.wish();
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &wish)?;
        let rest = Rest::of(open::open(&self.input, &wish)?.as_mut())?;
        let mut reader = self.putting.repeating(open::open(&self.input, &wish)?, &self.input);
        let made = split(reader.as_mut(), &rest, &selection, by, parts, &mut news("splitting"));
        let made = made.map_err(|error| of_output(&error).unwrap_or(error))?;
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

impl Maker for Parts<'_> {
    fn part(&mut self, number: usize, topic: Option<&str>) -> Result<Box<dyn Writer>> {
        let Arguments { input, output, putting, .. } = self.arguments;
        let stem = input.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.strip_suffix(".osi").unwrap_or(&stem);
        let part = match topic {
            Some(topic) => format!("{number:03}_{}", plain(topic)),
            None => format!("{number:03}"),
        };
        let path = output.join(format!("{stem}_{part}.{}", self.extension));
        self.paths.push(path.clone());
        let draft = target(&path, std::slice::from_ref(input))?.begin()?;
        Form::of(&path)?.begin(draft, putting.chunks.packing())
    }

    fn describe(&mut self, channel: &Channel) -> Result<Channel> {
        let Arguments { input, putting, .. } = self.arguments;
        let form = Form::of(Path::new(&format!("part.{}", self.extension)))?;
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
