//! Points instead of the messages that hold them.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use wiregauge_columns::TableFormat;
use wiregauge_flatbuffers::convert::Decoder;
use wiregauge_points::{
    CloudWriter, PointSource, PointTable, SensorConventions, SkipCounter, TableWriter, ToProtobuf,
};
use wiregauge_system::file::Draft;
use wiregauge_system::text::escape_short;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::ProgressCallback;
use wiregauge_trace::write::{OutputFormat, Writer};

use crate::channel_hints::ensure_types;
use crate::copy_job::{CopyInput, CopyOptions};
use crate::copy_summary::CopySummary;
use crate::encoding::{is_osi_flat, osi_definition};
use crate::message_filter::MessageFilter;
use crate::output_file::open_target;

/// Points that are made of the messages of a file.
pub struct PointsJob<'j> {
    /// The file.
    pub input: &'j Path,
    /// Which of its messages.
    pub filter: &'j MessageFilter,
    /// How the file is read, and MCAP written.
    pub options: &'j CopyOptions,
    /// What sensors mean by their numbers.
    pub conventions: SensorConventions,
    /// Whether clouds are written beside all messages, and not alone.
    pub keeps_messages: bool,
    /// Whether messages whose points cannot be read are left out, and no error.
    pub skips_failed: bool,
}

impl PointsJob<'_> {
    /// Writes clouds to `.mcap`, or a table to `.arrow` or `.parquet`, and says how many
    /// messages were left out, as their points cannot be read. `news` is told how many bytes of
    /// how many were read, for a table maybe twice. `notices` gets a line for each thing that the user
    /// must know, also where this fails.
    ///
    /// # Errors
    /// When the input is damaged or holds no points, or the output cannot be written.
    pub fn write(
        &self,
        output: &Path,
        news: &mut ProgressCallback,
        notices: &mut Vec<String>,
    ) -> Result<u64> {
        match TableFormat::from_path(output) {
            Some(form) => self.write_table(form, output, news, notices),
            None => self.write_clouds(output, news, notices),
        }
    }

    fn write_table(
        &self,
        form: TableFormat,
        output: &Path,
        news: &mut ProgressCallback,
        notices: &mut Vec<String>,
    ) -> Result<u64> {
        ensure!(!self.keeps_messages, "a table can hold points only; leave out --keep-messages");
        let skipped = SkipCounter::default();
        let table = PointTable::new(self.skips_failed.then(|| skipped.clone()));
        let target = open_target(output, &self.files())?;
        let mut draft = Some(target.start_draft()?);
        // A second time only where a message has more than the first ones.
        while !table.is_written() {
            let is_early = draft.as_ref().is_some_and(Draft::is_stream) && !table.is_known();
            let out = match draft.take() {
                Some(stream) if is_early => {
                    draft = Some(stream);
                    None
                }
                Some(draft) => Some(draft),
                None => Some(open_target(output, &self.files())?.start_draft()?),
            };
            let writer = |expected| -> Box<dyn Writer> {
                let out = out.map(|draft| (draft, form, expected));
                let writer = TableWriter::new(&self.origin(), out, self.conventions, &table);
                Box::new(writer.with_decoders(create_flat_decoder))
            };
            let summary = self.copy(OutputFormat::Osi, writer, news);
            if summary.is_err() {
                notices.extend(table.notices(self.conventions).iter().map(|it| escape_short(it)));
            }
            let summary = summary?;
            if table.is_written() {
                notices.extend(summary.read_notices(output));
            }
        }
        Ok(skipped.count())
    }

    fn write_clouds(
        &self,
        output: &Path,
        news: &mut ProgressCallback,
        notices: &mut Vec<String>,
    ) -> Result<u64> {
        ensure!(
            OutputFormat::from_path(output)? == OutputFormat::Mcap,
            "{}: end the name in .mcap for clouds of points, or in .arrow or .parquet for \
             tables",
            output.display()
        );
        let draft = open_target(output, &self.files())?.start_draft()?;
        let inner = OutputFormat::Mcap.begin(draft, self.options.chunks)?;
        // What is kept is described as in any other MCAP.
        let form = if self.keeps_messages { OutputFormat::Mcap } else { OutputFormat::Osi };
        let skipped = SkipCounter::default();
        let clouds = CloudWriter::new(&self.origin(), inner, self.keeps_messages, self.conventions)
            .with_decoders(create_flat_decoder)
            .skip_failed(self.skips_failed.then(|| skipped.clone()));
        let summary = self.copy(form, |_| Box::new(clouds), news)?;
        notices.extend(summary.read_notices(output));
        Ok(skipped.count())
    }

    fn files(&self) -> [PathBuf; 1] {
        [self.input.to_owned()]
    }

    fn origin(&self) -> String {
        self.input.display().to_string()
    }

    /// Hands the messages to a writer of points, which is made for so many channels of them.
    /// `form` says how channels are described where messages are kept; where none are it is that
    /// of `.osi`, which describes none.
    fn copy<'w>(
        &self,
        form: OutputFormat,
        writer: impl FnOnce(usize) -> Box<dyn Writer + 'w>,
        news: &mut ProgressCallback,
    ) -> Result<CopySummary> {
        let files = self.files();
        let mut readers = self.options.open(&files)?;
        for (path, reader) in files.iter().zip(&readers) {
            ensure_types(path, reader.as_ref())?;
        }
        let has_points = |channel: &Channel| {
            is_osi_flat(channel) || PointSource::from_channel(channel).is_some()
        };
        let expected = readers.iter().flat_map(|reader| reader.channels().values());
        let expected = expected.filter(|channel| has_points(channel)).count();
        // What is neither shown nor kept need not be unpacked.
        if form == OutputFormat::Osi && !self.filter.selects_by_number() {
            readers.iter_mut().for_each(|reader| reader.select_channels(&has_points));
        }
        let input = CopyInput::new(&files, self.filter);
        self.options.copy_into(&input, readers, form, writer(expected), news)
    }
}

/// What makes Protobuf of OSI's messages in FlatBuffers.
fn create_flat_decoder(channel: &Channel) -> Result<Option<ToProtobuf>> {
    if !is_osi_flat(channel) {
        return Ok(None);
    }
    let decoder = Decoder::from_channel(channel, &osi_definition(channel)?)?;
    Ok(Some(Box::new(move |message: &[u8]| decoder.decode(message))))
}
