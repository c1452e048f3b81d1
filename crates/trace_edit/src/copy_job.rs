//! Copies the selected messages of files into one, through writers that may change them.

use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Error, Result};
use wiregauge_flatbuffers::json;
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_packing::unpacker::Unpacker;
use wiregauge_system::file::Draft;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::{copy, CopySource, ProgressCallback};
use wiregauge_trace::message_sorter::SortOptions;
use wiregauge_trace::open;
use wiregauge_trace::read::Reader;
use wiregauge_trace::select::Selection;
use wiregauge_trace::static_data::StaticDataRepeater;
use wiregauge_trace::write::writer::output_error;
use wiregauge_trace::write::{ChunkOptions, Json, OsiTimeWriter, Output, OutputFormat, Writer};

use crate::channel_hints::{ensure_types, has_types, missing_versions, ChannelHints};
use crate::copy_summary::CopySummary;
use crate::encoding::convert_to_protobuf;
use crate::message_filter::{explain_unmatched, MessageFilter};
use crate::output_file::{is_broken_pipe, join_names, open_target};

/// How files are read and written.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// What files do not say themselves.
    pub hints: ChannelHints,
    /// How MCAP is packed.
    pub chunks: ChunkOptions,
    /// Whether static data is repeated in each message that lacks it.
    pub repeat_static: bool,
}

/// What is copied.
#[derive(Clone, Copy)]
pub struct CopyInput<'i> {
    /// The files.
    pub files: &'i [PathBuf],
    /// Which of their messages.
    pub filter: &'i MessageFilter,
    /// How messages of a file are put in order; none to keep its own order.
    pub sorting: Option<SortOptions>,
    /// Whether what is damaged is left out.
    pub salvages: bool,
}

impl<'i> CopyInput<'i> {
    /// The messages of some files that are whole, each in its own order.
    pub fn new(files: &'i [PathBuf], filter: &'i MessageFilter) -> CopyInput<'i> {
        CopyInput { files, filter, sorting: None, salvages: false }
    }
}

impl CopyOptions {
    /// Copies into a file. `news` is told how many bytes of how many were read.
    ///
    /// # Errors
    /// When an input is damaged, nothing is selected, or the output cannot be written.
    pub fn copy(
        &self,
        input: &CopyInput,
        output: &Path,
        news: &mut ProgressCallback,
    ) -> Result<CopySummary> {
        self.write(input, output, news, |form, draft| self.begin_readable(form, draft))
    }

    /// Copies into a file by a writer of the caller's, before the one of the file.
    ///
    /// # Errors
    /// As for [`CopyOptions::copy`], and those of the caller's writer.
    pub fn copy_through(
        &self,
        input: &CopyInput,
        output: &Path,
        news: &mut ProgressCallback,
        wrap: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>,
    ) -> Result<CopySummary> {
        self.write(input, output, news, |form, draft| Ok(wrap(form.begin(draft, self.chunks)?)))
    }

    fn write(
        &self,
        input: &CopyInput,
        output: &Path,
        news: &mut ProgressCallback,
        begin: impl FnOnce(OutputFormat, Draft) -> Result<Box<dyn Writer>>,
    ) -> Result<CopySummary> {
        let form = OutputFormat::from_path(output)?;
        let writer = begin(form, open_target(output, input.files)?.start_draft()?)?;
        self.copy_into(input, self.open_input(input)?, form, writer, news)
    }

    /// Copies what is whole of a damaged file. The summary says what was lost.
    ///
    /// # Errors
    /// When nothing of it is whole, or the output cannot be written.
    pub fn salvage(
        &self,
        input: &Path,
        output: &Path,
        news: &mut ProgressCallback,
    ) -> Result<CopySummary> {
        self.salvage_through(input, output, news, |writer| writer)
    }

    /// Writes a file anew so that it keeps OSI's rules as far as what they ask for is known.
    ///
    /// # Errors
    /// As for [`CopyOptions::salvage`].
    pub fn fix(
        &self,
        input: &Path,
        output: &Path,
        news: &mut ProgressCallback,
    ) -> Result<CopySummary> {
        self.salvage_through(input, output, news, |writer| Box::new(OsiTimeWriter::new(writer)))
    }

    fn salvage_through(
        &self,
        input: &Path,
        output: &Path,
        news: &mut ProgressCallback,
        wrap: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>,
    ) -> Result<CopySummary> {
        let (files, filter) = ([input.to_owned()], MessageFilter::default());
        let input = CopyInput { salvages: true, ..CopyInput::new(&files, &filter) };
        self.copy_through(&input, output, news, wrap)
    }

    /// Copies to standard output. That its reader went away, as `head` does, is no error; then
    /// there is no summary.
    ///
    /// # Errors
    /// When an input is damaged or nothing is selected.
    pub fn print(
        &self,
        input: &CopyInput,
        form: OutputFormat,
        news: &mut ProgressCallback,
    ) -> Result<Option<CopySummary>> {
        let writer = self.begin_readable(form, stdout())?;
        let outcome = self.copy_into(input, self.open_input(input)?, form, writer, news);
        match outcome {
            Err(error) if is_broken_pipe(&error) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Begins a file of messages as they are read. Texts show packed fields as what is in
    /// them, and FlatBuffers, too: JSON by their own definition, Protobuf's text by that of OSI.
    fn begin_readable(
        &self,
        form: OutputFormat,
        out: impl Output + 'static,
    ) -> Result<Box<dyn Writer>> {
        Ok(match form {
            OutputFormat::Json => Box::new(Unpacker::new_for_display(Box::new(
                Json::with_formatters(out, json::create_formatter),
            ))),
            OutputFormat::Text => {
                let text = form.begin(out, self.chunks)?;
                Box::new(Unpacker::new_for_display(convert_to_protobuf(text, "", true)))
            }
            _ => form.begin(out, self.chunks)?,
        })
    }

    /// Opens the files that are read.
    ///
    /// # Errors
    /// When one is no recording.
    pub fn open(&self, files: &[PathBuf]) -> Result<Vec<Box<dyn Reader>>> {
        files.iter().map(|path| self.open_file(path)).collect()
    }

    /// Opens the files of an input, and leaves out what is damaged where that is wanted.
    fn open_input(&self, input: &CopyInput) -> Result<Vec<Box<dyn Reader>>> {
        let mut readers = self.open(input.files)?;
        if input.salvages {
            readers.iter_mut().for_each(|reader| reader.salvage());
        }
        Ok(readers)
    }

    fn open_file(&self, path: &Path) -> Result<Box<dyn Reader>> {
        let reader = open::open_with(path, &self.hints.open_hints(), &osi_definitions)?;
        Ok(self.repeat_static_data(reader, path))
    }

    /// A reader of a file, with static data in each message where that is wanted.
    pub fn repeat_static_data(&self, reader: Box<dyn Reader>, path: &Path) -> Box<dyn Reader> {
        match self.repeat_static {
            true => Box::new(StaticDataRepeater::new(reader, &path.display().to_string())),
            false => reader,
        }
    }

    /// Copies from readers of the input's files into a writer. Channels are described as a
    /// container of this form wants them.
    ///
    /// # Errors
    /// As for [`CopyOptions::copy`].
    pub fn copy_into(
        &self,
        input: &CopyInput,
        mut readers: Vec<Box<dyn Reader>>,
        form: OutputFormat,
        mut writer: Box<dyn Writer + '_>,
        news: &mut ProgressCallback,
    ) -> Result<CopySummary> {
        let CopyInput { files, filter, sorting, .. } = *input;
        let selection = filter.resolve(files, &self.hints.open_hints())?;
        let names = self.hints.channel_names(files);
        let mut sources = Vec::new();
        for (path, reader) in files.iter().zip(&mut readers) {
            if has_types(form) {
                ensure_types(path, reader.as_ref())?;
            }
            let name = path.display().to_string();
            sources.push(CopySource::new_sorted(&name, reader.as_mut(), &selection, sorting)?);
        }
        let mut missing = Vec::new();
        let mut describe = |source: usize, channel: &Channel| {
            let (path, name) = (&files[source], names[source].as_deref());
            let channel = self.hints.describe(path, name, channel, form)?;
            if form == OutputFormat::Mcap {
                let lacks = missing_versions(&channel).into_iter();
                missing.extend(lacks.map(|key| (channel.topic.clone(), key)));
            }
            Ok(channel)
        };
        let copied = copy(&mut sources, writer.as_mut(), &mut describe, news);
        let (copied, left_out) = copied.map_err(|error| output_error(&error).unwrap_or(error))?;
        let read = join_names(files);
        selection.check(&read, sources.iter_mut().flat_map(CopySource::channels))?;
        if copied.messages == 0 {
            self.check_empty(files, &selection, writer.has_room(), &mut sources)?;
        }
        let mut remarks = writer.remarks();
        writer.finish().map_err(|error| {
            output_error(&error).unwrap_or_else(|| add_file_names(error, &read))
        })?;
        remarks.extend(readers.iter().flat_map(|reader| reader.remarks()));
        let losses = readers.iter().flat_map(|reader| reader.losses().to_vec()).collect();
        Ok(CopySummary { copied, left_out, missing_versions: missing, losses, remarks })
    }

    /// Fails where nothing was copied, unless the files hold no messages but something else
    /// that the container has room for.
    fn check_empty(
        &self,
        files: &[PathBuf],
        selection: &Selection,
        has_room: bool,
        sources: &mut [CopySource],
    ) -> Result<()> {
        let read = join_names(files);
        let are_selected = selection.is_part() && self.has_messages(files, selection)?;
        if selection.is_part() && !are_selected {
            ensure!(!self.has_messages(files, &Selection::default())?, explain_unmatched(&read));
        }
        let is_damaged = sources.iter_mut().any(CopySource::has_nothing);
        ensure!(!is_damaged, "{read} has no whole message");
        // Where there are some, the readers leave out all but what the writer wants: it says in the
        // end what that is.
        let are_there = has_room || are_selected || self.has_messages(files, selection)?;
        ensure!(are_there, "{read} has no messages");
        Ok(())
    }

    /// Whether there are such messages in any file.
    fn has_messages(&self, files: &[PathBuf], selection: &Selection) -> Result<bool> {
        for path in files {
            let mut reader = open::open_with(path, &self.hints.open_hints(), &osi_definitions)?;
            if selection.select(reader.as_mut()).advance()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// An error of what was read, with the names of the files unless it has them.
fn add_file_names(error: Error, files: &str) -> Error {
    if format!("{error:#}").contains(files) {
        return error;
    }
    error.context(files.to_owned())
}
