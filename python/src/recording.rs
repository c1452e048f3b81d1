//! A recording that is opened: what is in it, and its messages.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use wiregauge_columns::TableSelection;
use wiregauge_points::{Elevation, Rays, SensorConventions};
use wiregauge_system::text;
use wiregauge_trace::channel;
use wiregauge_trace::mcap::summary::Summary;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{MessageCounts, Nanoseconds, Reader};
use wiregauge_trace::select::Selection;

use crate::columns::Columns;
use crate::error::to_python;
use crate::file_identity::{require_same, FileIdentity};
use crate::message::Channel;
use crate::messages::{Messages, Topics};
use crate::table_source::{Definition, TableSource};

/// A recording: its channels and times, and its messages as they are and as columns.
#[pyclass(module = "wiregauge", frozen)]
pub struct Recording {
    path: PathBuf,
    hints: OpenHints,
    definition: Option<Definition>,
    /// What it was, where it lies in an archive.
    opened: Option<FileIdentity>,
    /// Keeps what was unpacked of a file that is packed as a whole.
    _opened: Mutex<Box<dyn Reader>>,
    /// What is in it, once that was asked for.
    contents: Mutex<Option<Contents>>,
}

#[derive(Clone)]
struct Contents {
    channels: Vec<(channel::Channel, u64)>,
    counts: MessageCounts,
}

/// Opens a recording: MCAP, a trace of OSI (.osi), a bag of ROS 1 (.bag) or of ROS 2 (.db3, or
/// its folder), also packed by gzip, xz or zstd. The address of a file in an archive stands for
/// the file: "s3://bucket/drive.mcap", and gs://, az:// and https:// in the same way.
///
/// `osi_type` is the type of the messages of an .osi file whose name does not tell it:
/// "SensorView". `definition` is an encoded FileDescriptorSet, or the path of a file with one,
/// for columns of a file that has none, as .osi.
///
/// Raises WiregaugeError, in one line, where the file cannot be read.
///
/// >>> import wiregauge
/// >>> drive = wiregauge.open("drive.mcap")
/// >>> [(channel.topic, channel.schema_name, channel.count) for channel in drive.channels]
/// [('/SensorView', 'osi3.SensorView', 5), ('/SensorData', 'osi3.SensorData', 5)]
/// >>> drive.count, drive.start_time, drive.end_time
/// (10, 0, 400000000)
#[pyfunction]
#[pyo3(name = "open", signature = (path, *, osi_type=None, definition=None))]
pub fn open_recording(
    python: Python<'_>,
    path: PathBuf,
    osi_type: Option<String>,
    definition: Option<Definition>,
) -> PyResult<Recording> {
    let hints = OpenHints { osi_type };
    let open = || Ok((FileIdentity::of_opened(&path)?, open::open(&path, &hints)?));
    let (opened, reader) = python.detach(open).map_err(to_python)?;
    let (_opened, contents) = (Mutex::new(reader), Mutex::default());
    Ok(Recording { path, hints, definition, opened, _opened, contents })
}

impl Recording {
    /// What is in it: as its summary or index tells, or by reading it once.
    fn contents(&self, python: Python<'_>) -> PyResult<Contents> {
        let known = self.contents.lock_py_attached(python);
        let known = known.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let counted = python.detach(|| self.count_messages()).map_err(to_python)?;
        let known = self.contents.lock_py_attached(python);
        *known.unwrap_or_else(PoisonError::into_inner) = Some(counted.clone());
        Ok(counted)
    }

    fn count_messages(&self) -> Result<Contents> {
        require_same(self.opened.as_ref(), &self.path)?;
        let mut reader = open::open(&self.path, &self.hints)?;
        let summary = Summary::open(&self.path)?.filter(Summary::has_channels);
        let known = summary.as_ref().and_then(|summary| summary.statistics.as_ref());
        let counted = match known {
            Some(known) => {
                let (first, last) = known.times;
                let times = (known.messages > 0).then_some((first.into(), last.into()));
                Some(MessageCounts { by_channel: known.by_channel.clone(), times })
            }
            None => reader.indexed_counts()?,
        };
        let mut counts = MessageCounts::default();
        match counted {
            Some(counted) => counts = counted,
            None => {
                while let Some(head) = reader.next()? {
                    *counts.by_channel.entry(head.channel).or_default() += 1;
                    if let Some(time) = head.time {
                        let (first, last) = counts.times.unwrap_or((time, time));
                        counts.times = Some((first.min(time), last.max(time)));
                    }
                }
            }
        }
        let count = |id: &u16| counts.by_channel.get(id).copied().unwrap_or(0);
        let channels = reader.channels().iter();
        let channels = channels.map(|(id, channel)| (channel.clone(), count(id))).collect();
        Ok(Contents { channels, counts })
    }

    fn table(
        &self,
        python: Python<'_>,
        channel: Option<String>,
        table: TableSelection,
        points: Option<SensorConventions>,
        times: (Option<Nanoseconds>, Option<Nanoseconds>),
    ) -> PyResult<Columns> {
        let source = TableSource {
            path: self.path.clone(),
            hints: self.hints.clone(),
            selection: select(channel.into_iter().collect(), times),
            table,
            points,
            definition: self.definition.clone(),
            skips: false,
            opened: self.opened.clone(),
            part: None,
        };
        python.detach(|| Columns::open(source)).map_err(to_python)
    }
}

/// The messages of these channels between two times.
pub fn select(
    channels: Vec<String>,
    (from, to): (Option<Nanoseconds>, Option<Nanoseconds>),
) -> Selection {
    Selection { channels, from, to, ..Selection::default() }
}

/// What sensors mean by their numbers, as Python says it.
pub fn read_conventions(
    elevation: Option<String>,
    rays: Option<String>,
) -> PyResult<SensorConventions> {
    let elevation =
        choose("elevation", elevation, [("down", Elevation::Down), ("up", Elevation::Up)])?;
    let rays = choose("rays", rays, [("edges", Rays::Edges), ("centers", Rays::Centers)])?;
    Ok(SensorConventions { elevation, rays })
}

/// What a word of two stands for.
fn choose<T>(name: &str, word: Option<String>, words: [(&str, T); 2]) -> PyResult<Option<T>> {
    let Some(word) = word else { return Ok(None) };
    let [one, other] = words.each_ref().map(|(word, _)| *word);
    let chosen = words.into_iter().find(|(own, _)| *own == word);
    let refuse = || PyValueError::new_err(format!("{name} is '{one}' or '{other}', not '{word}'"));
    chosen.map(|(_, meaning)| Some(meaning)).ok_or_else(refuse)
}

#[pymethods]
impl Recording {
    /// Its path as it was given.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Its channels, each with the number of its messages. A file whose summary or index does
    /// not tell it is read for it once.
    #[getter]
    fn channels(&self, python: Python<'_>) -> PyResult<Vec<Channel>> {
        let contents = self.contents(python)?;
        let channels = contents.channels.into_iter();
        Ok(channels.map(|(channel, count)| Channel::new(channel, Some(count))).collect())
    }

    /// How many messages it has.
    #[getter]
    fn count(&self, python: Python<'_>) -> PyResult<u64> {
        Ok(self.contents(python)?.counts.messages())
    }

    /// The earliest time of a message, in nanoseconds; None where none has one.
    #[getter]
    fn start_time(&self, python: Python<'_>) -> PyResult<Option<Nanoseconds>> {
        Ok(self.contents(python)?.counts.times.map(|(first, _)| first))
    }

    /// The latest time of a message, in nanoseconds; None where none has one.
    #[getter]
    fn end_time(&self, python: Python<'_>) -> PyResult<Option<Nanoseconds>> {
        Ok(self.contents(python)?.counts.times.map(|(_, last)| last))
    }

    /// The messages, one after another, in the order of the file: an iterator, and Arrow data.
    ///
    /// `channels` are the topics that are wanted; * stands for any letters. `from_time` and
    /// `to_time` are nanoseconds on the clock of the recording, both included.
    ///
    /// Nothing is copied: the bytes of a message are a view of the buffer that they were read
    /// or unpacked to. They stay as long as the view is kept, and the whole buffer with them,
    /// so keep `bytes(message.data)` where only a few messages of a large file are kept.
    ///
    /// Raises WiregaugeError, in one line, where the file cannot be read; where it is damaged,
    /// the messages before that come first.
    ///
    /// >>> import wiregauge
    /// >>> drive = wiregauge.open("drive_sv.osi")
    /// >>> for message in drive.messages(from_time=400_000_000):
    /// ...     print(message.topic, message.schema_name, message.log_time, len(message.data))
    /// SensorView osi3.SensorView 400000000 120
    #[pyo3(signature = (channels=None, from_time=None, to_time=None))]
    fn messages(
        &self,
        python: Python<'_>,
        channels: Option<Topics>,
        from_time: Option<Nanoseconds>,
        to_time: Option<Nanoseconds>,
    ) -> PyResult<Messages> {
        let channels = channels.map(Vec::from).unwrap_or_default();
        let (path, hints) = (self.path.clone(), self.hints.clone());
        let selection = select(channels, (from_time, to_time));
        let opened = self.opened.clone();
        let open = || Messages::open(path, hints, selection, opened);
        python.detach(open).map_err(to_python)
    }

    /// The fields of a channel's messages as columns, a row a message.
    ///
    /// `channel` may be left out where the file has one. `fields` are the paths of those that
    /// are wanted, such as "header.stamp"; all where there is none.
    ///
    /// >>> import pyarrow, wiregauge
    /// >>> drive = wiregauge.open("drive.mcap")
    /// >>> table = pyarrow.table(drive.fields("/SensorView", ["timestamp"]))
    /// >>> table.column_names
    /// ['log_time', 'publish_time', 'sequence', 'timestamp']
    #[pyo3(signature = (channel=None, fields=None, from_time=None, to_time=None))]
    fn fields(
        &self,
        python: Python<'_>,
        channel: Option<String>,
        fields: Option<Vec<String>>,
        from_time: Option<Nanoseconds>,
        to_time: Option<Nanoseconds>,
    ) -> PyResult<Columns> {
        let fields = fields.unwrap_or_default();
        let table = TableSelection { rows: None, fields, skips_failed: false };
        self.table(python, channel, table, None, (from_time, to_time))
    }

    /// The elements of a list in a channel's messages as columns, a row an element.
    ///
    /// `rows` is the path of a list of records, such as "global_ground_truth.moving_object";
    /// the paths of `fields` begin in the element. Lists in lists follow one another.
    #[pyo3(signature = (channel, rows, fields=None, from_time=None, to_time=None))]
    fn rows(
        &self,
        python: Python<'_>,
        channel: Option<String>,
        rows: String,
        fields: Option<Vec<String>>,
        from_time: Option<Nanoseconds>,
        to_time: Option<Nanoseconds>,
    ) -> PyResult<Columns> {
        let fields = fields.unwrap_or_default();
        let table = TableSelection { rows: Some(rows), fields, skips_failed: false };
        self.table(python, channel, table, None, (from_time, to_time))
    }

    /// The points of a channel's messages as columns, a row a point: of clouds and scans of ROS
    /// and Foxglove, and OSI's reflections and detections, also in the packed field.
    ///
    /// `columns` are those that are wanted, such as ["x", "y", "z"]; all where there is none.
    /// OSI does not say which way its elevation points, "down" or "up", nor where the rays of a
    /// grid lie in the field of view, at its "edges" or in the "centers" of their shares.
    ///
    /// >>> import pyarrow, wiregauge
    /// >>> drive = wiregauge.open("cloud.mcap")
    /// >>> pyarrow.table(drive.points("/points", ["x", "z"])).column_names
    /// ['log_time', 'message', 'x', 'z']
    #[pyo3(signature = (channel=None, columns=None, from_time=None, to_time=None, *, elevation=None, rays=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn points(
        &self,
        python: Python<'_>,
        channel: Option<String>,
        columns: Option<Vec<String>>,
        from_time: Option<Nanoseconds>,
        to_time: Option<Nanoseconds>,
        elevation: Option<String>,
        rays: Option<String>,
    ) -> PyResult<Columns> {
        let conventions = read_conventions(elevation, rays)?;
        let fields = columns.unwrap_or_default();
        let table = TableSelection { rows: None, fields, skips_failed: false };
        self.table(python, channel, table, Some(conventions), (from_time, to_time))
    }

    fn __repr__(&self) -> String {
        format!("<Recording {}>", text::escape(&self.path.display().to_string()))
    }
}
