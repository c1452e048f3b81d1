//! Splits a file into files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use wiregauge_system::file::Folder;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::ProgressCallback;
use wiregauge_trace::extras::FileExtras;
use wiregauge_trace::open;
use wiregauge_trace::split::{split, PartFactory, SplitLimit};
use wiregauge_trace::write::writer::output_error;
use wiregauge_trace::write::{OutputFormat, Writer};

use crate::copy_job::CopyOptions;
use crate::message_filter::MessageFilter;
use crate::output_file::{extension, open_target};

/// A file that is split.
pub struct SplitJob<'j> {
    /// The file.
    pub input: &'j Path,
    /// The folder of the parts. It is made if it is missing.
    pub folder: &'j Path,
    /// Where parts end.
    pub limit: SplitLimit,
    /// Which messages are in them.
    pub filter: &'j MessageFilter,
    /// How the file is read, and MCAP written.
    pub options: &'j CopyOptions,
}

/// What came of a split.
#[derive(Debug)]
pub struct SplitSummary {
    /// How many parts there are.
    pub parts: usize,
    /// What the reader has to say.
    pub remarks: Vec<String>,
}

impl SplitJob<'_> {
    /// Writes the parts. They have the name of the file with a number or a channel, and the
    /// same container; parts of bags are MCAP. `news` is told how many bytes of how many were
    /// read.
    ///
    /// # Errors
    /// When the file is damaged, nothing is selected, or a part cannot be written. Then no
    /// part is left.
    pub fn write(&self, news: &mut ProgressCallback) -> Result<SplitSummary> {
        ensure!(self.limit != SplitLimit::Duration(0), "--by-duration must be above 0s");
        let extension = extension(self.input)?;
        let _folder = Folder::create(self.folder)?;
        let (paths, finished) = Default::default();
        let mut parts = PartFiles { job: self, extension, paths, finished };
        let outcome = self.write_parts(&mut parts, news);
        if outcome.is_err() {
            parts.remove();
        }
        outcome
    }

    fn write_parts(
        &self,
        parts: &mut PartFiles,
        news: &mut ProgressCallback,
    ) -> Result<SplitSummary> {
        let hints = self.options.hints.open_hints();
        let selection = self.filter.resolve(&[self.input.to_owned()], &hints)?;
        // Each part has what is said of the whole file, which may stand behind the messages: so
        // the file is looked through before it is read.
        let extras = FileExtras::read(open::open(self.input, &hints)?.as_mut())?;
        let reader = open::open(self.input, &hints)?;
        let mut reader = self.options.repeat_static_data(reader, self.input);
        let made = split(reader.as_mut(), &extras, &selection, self.limit, parts, news);
        let parts = made.map_err(|error| output_error(&error).unwrap_or(error))?;
        let name = self.input.display().to_string();
        selection.check(&name, reader.channels().values())?;
        ensure!(parts > 0, self.filter.explain_empty(&name));
        Ok(SplitSummary { parts, remarks: reader.remarks() })
    }
}

/// Makes the parts as files.
struct PartFiles<'j> {
    job: &'j SplitJob<'j>,
    extension: &'static str,
    /// Where they are, by their numbers.
    paths: Vec<PathBuf>,
    /// The numbers of those that are written.
    finished: Vec<usize>,
}

impl PartFiles<'_> {
    /// Removes those that are written: half of a recording looks like all of one.
    fn remove(&self) {
        for number in &self.finished {
            let _ = fs::remove_file(&self.paths[*number]);
        }
    }
}

impl PartFactory for PartFiles<'_> {
    fn begin_part(&mut self, number: usize, topic: Option<&str>) -> Result<Box<dyn Writer>> {
        let SplitJob { input, folder, options, .. } = self.job;
        let stem = input.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.strip_suffix(".osi").unwrap_or(&stem);
        let part = match topic {
            Some(topic) => format!("{number:03}_{}", file_name_part(topic)),
            None => format!("{number:03}"),
        };
        let path = folder.join(format!("{stem}_{part}.{}", self.extension));
        self.paths.push(path.clone());
        let draft = open_target(&path, &[input.to_path_buf()])?.start_draft()?;
        OutputFormat::from_path(&path)?.begin(draft, options.chunks)
    }

    fn describe(&mut self, channel: &Channel) -> Result<Channel> {
        let form = OutputFormat::from_path(Path::new(&format!("part.{}", self.extension)))?;
        self.job.options.hints.describe(self.job.input, None, channel, form)
    }

    fn finished(&mut self, number: usize) {
        self.finished.push(number);
    }
}

/// A topic as a part of a file's name.
fn file_name_part(topic: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    topic.trim_matches('/').chars().map(letter).collect()
}
