//! The messages of a trace, one after another.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Error, Result};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{MessageInfo, Nanoseconds, Reader};
use wiregauge_trace::select::{Selection, SelectionCursor};
use wiregauge_trace::shared_bytes::SharedBytes;

use crate::error::{to_python, WiregaugeWarning};
use crate::message::{Channel, Message};

/// Most messages that are read at once, while other threads of Python run.
const MOST_MESSAGES: usize = 64;

/// So many bytes in them end it sooner: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

/// The messages of a trace, one after another, in the order of the file.
#[pyclass(module = "wiregauge", frozen)]
pub struct Messages {
    /// Locked while it is read, by threads that others of Python run beside: whoever holds
    /// Python's lock waits for it only where that is let go meanwhile.
    reading: Mutex<Reading>,
    channels: Mutex<BTreeMap<u16, Py<Channel>>>,
}

/// What comes next.
enum Step {
    Message(MessageInfo, SharedBytes),
    /// The end, and what the user must know of the file.
    End(Vec<String>),
}

/// A file that is read.
struct Reading {
    origin: String,
    reader: Box<dyn Reader>,
    selection: Selection,
    cursor: SelectionCursor,
    /// Messages that were read.
    next: VecDeque<(MessageInfo, SharedBytes)>,
    /// How many are read at once next time: few at the beginning, as not more may be wanted.
    step: usize,
    /// What comes behind them: the end of the file, or what is wrong with it.
    end: Option<Result<(), Error>>,
    /// Whether it was told what the user must know of the file.
    is_told: bool,
}

impl Reading {
    /// Opens a file.
    fn open(path: &Path, hints: &OpenHints, selection: Selection) -> Result<Reading> {
        let mut reader = open::open(path, hints)?;
        reader.verify();
        let cursor = selection.begin(reader.as_mut());
        Ok(Reading {
            origin: path.display().to_string(),
            reader,
            selection,
            cursor,
            next: VecDeque::new(),
            step: 1,
            end: None,
            is_told: false,
        })
    }

    /// Reads the next messages, where none are left.
    ///
    /// # Errors
    /// Only when the user asked to stop; what is wrong with the file comes in its turn.
    fn fill(&mut self) -> Result<(), Error> {
        let mut bytes = 0;
        while self.end.is_none() && self.next.len() < self.step && bytes < MOST_BYTES {
            match self.read_message() {
                Ok(Some((info, data))) => {
                    bytes += info.size;
                    self.next.push_back((info, data));
                }
                Ok(None) => self.end = Some(self.check_topics()),
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(error) => self.end = Some(Err(error)),
            }
        }
        self.step = (2 * self.step).min(MOST_MESSAGES);
        Ok(())
    }

    fn read_message(&mut self) -> Result<Option<(MessageInfo, SharedBytes)>> {
        match self.cursor.advance(&self.selection, self.reader.as_mut())? {
            Some(info) => Ok(Some((info, self.reader.shared_data()?))),
            None => Ok(None),
        }
    }

    /// Fails where a topic is asked for that is not there.
    fn check_topics(&self) -> Result<()> {
        self.selection.check(&self.origin, self.reader.channels().values())
    }

    /// Takes what comes next.
    fn take_step(&mut self) -> Result<Step> {
        if self.next.is_empty() {
            self.fill()?;
        }
        if let Some((info, bytes)) = self.next.pop_front() {
            return Ok(Step::Message(info, bytes));
        }
        // Asked again, there is no more.
        let end = self.end.replace(Ok(())).unwrap_or(Ok(()));
        let is_told = std::mem::replace(&mut self.is_told, true);
        end.map(|()| Step::End(if is_told { Vec::new() } else { self.reader.remarks() }))
    }
}

impl Messages {
    /// The channel of a message.
    fn channel(&self, python: Python<'_>, id: u16) -> PyResult<Py<Channel>> {
        let known = self.channels.lock_py_attached(python);
        let known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = known.get(&id) {
            return Ok(channel.clone_ref(python));
        }
        drop(known);
        let reading = self.reading.lock_py_attached(python);
        let reading = reading.unwrap_or_else(PoisonError::into_inner);
        let channel = Channel::new(reading.reader.channels()[&id].clone());
        drop(reading);
        let channel = Py::new(python, channel)?;
        let known = self.channels.lock_py_attached(python);
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        // Of two threads that made it the first one has it.
        Ok(known.entry(id).or_insert(channel).clone_ref(python))
    }
}

#[pymethods]
impl Messages {
    fn __iter__(messages: Bound<'_, Self>) -> Bound<'_, Self> {
        messages
    }

    fn __next__(&self, python: Python<'_>) -> PyResult<Option<Message>> {
        let step = python
            .detach(|| self.reading.lock().unwrap_or_else(PoisonError::into_inner).take_step());
        match step.map_err(to_python)? {
            Step::Message(info, bytes) => {
                Ok(Some(Message::new(self.channel(python, info.channel)?, info, bytes)))
            }
            Step::End(remarks) => {
                let category = python.get_type::<WiregaugeWarning>();
                for remark in remarks {
                    let remark = CString::new(text::escape(&remark))?;
                    PyErr::warn(python, &category, &remark, 1)?;
                }
                Ok(None)
            }
        }
    }

    /// The channels that are known by now: all of them where the file has a summary, and else
    /// those of the messages up to here.
    #[getter]
    fn channels(&self, python: Python<'_>) -> PyResult<Vec<Py<Channel>>> {
        let reading = self.reading.lock_py_attached(python);
        let reading = reading.unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<u16> = reading.reader.channels().keys().copied().collect();
        drop(reading);
        ids.into_iter().map(|id| self.channel(python, id)).collect()
    }

    fn __repr__(&self, python: Python<'_>) -> String {
        let reading = self.reading.lock_py_attached(python);
        format!("<Messages of {:?}>", reading.unwrap_or_else(PoisonError::into_inner).origin)
    }
}

/// The topics that are wanted, as Python says it.
#[derive(FromPyObject)]
pub enum Topics {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// The messages of a trace, one after another, in the order of the file.
///
/// `path` is an MCAP file, a trace of OSI (.osi), a bag of ROS 1 (.bag) or of ROS 2 (.db3, or
/// its folder), also packed by gzip, xz or zstd. `topics` are the channels that are wanted; *
/// stands for any letters. `start` and `end` are times in nanoseconds on the clock of the
/// trace, both included. `osi_type` is the type of the messages of an .osi file whose name
/// does not tell it: "SensorView".
///
/// Nothing is copied: the bytes of a message are a view of the buffer that they were read or
/// unpacked to. They stay as long as the view is kept, and the whole buffer with them, so keep
/// `bytes(message.data)` where only a few messages of a large file are kept.
///
/// Raises WiregaugeError, in one line, where the file cannot be read; where it is damaged, the
/// messages before that come first.
///
/// >>> import wiregauge
/// >>> for message in wiregauge.read("drive_sv.osi", start=400_000_000):
/// ...     print(message.topic, message.schema_name, message.log_time, len(message.data))
/// SensorView osi3.SensorView 400000000 120
#[pyfunction]
#[pyo3(signature = (path, topics=None, start=None, end=None, *, osi_type=None))]
pub fn read(
    python: Python<'_>,
    path: PathBuf,
    topics: Option<Topics>,
    start: Option<Nanoseconds>,
    end: Option<Nanoseconds>,
    osi_type: Option<String>,
) -> PyResult<Messages> {
    let channels = match topics {
        None => Vec::new(),
        Some(Topics::One(topic)) => vec![topic],
        Some(Topics::Several(topics)) => topics,
    };
    let selection = Selection { channels, from: start, to: end, ..Selection::default() };
    let hints = OpenHints { osi_type };
    let reading = python.detach(|| Reading::open(&path, &hints, selection)).map_err(to_python)?;
    Ok(Messages { reading: Mutex::new(reading), channels: Mutex::default() })
}
