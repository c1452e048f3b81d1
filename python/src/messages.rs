//! The messages of a recording, one after another.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Error, Result};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyCapsule;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{MessageInfo, Reader};
use wiregauge_trace::select::{Selection, SelectionCursor};
use wiregauge_trace::shared_bytes::SharedBytes;

use crate::arrow::{schema_capsule, stream_capsule};
use crate::error::{to_python, WiregaugeWarning};
use crate::file_identity::{require_same, FileIdentity};
use crate::message::{Channel, Message};
use crate::message_rows::{message_schema, MessageRows};

/// Most messages that are read at once, while other threads of Python run.
const MOST_MESSAGES: usize = 64;

/// So many bytes in them end it sooner: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

/// The messages of a recording, one after another, in the order of the file. It is Arrow data,
/// too: pyarrow, Polars and DuckDB take it as a table with the columns log_time, publish_time,
/// sequence, channel and data, for which the file is read anew.
#[pyclass(module = "wiregauge", frozen)]
pub struct Messages {
    /// Locked while it is read, by threads that others of Python run beside: whoever holds
    /// Python's lock waits for it only where that is let go meanwhile.
    reading: Mutex<Reading>,
    path: PathBuf,
    hints: OpenHints,
    selection: Selection,
    /// What a file in an archive was when it was opened.
    opened: Option<FileIdentity>,
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
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(
        path: PathBuf,
        hints: OpenHints,
        selection: Selection,
        opened: Option<FileIdentity>,
    ) -> Result<Messages> {
        require_same(opened.as_ref(), &path)?;
        let reading = Reading::open(&path, &hints, selection.clone())?;
        let (reading, channels) = (Mutex::new(reading), Mutex::default());
        Ok(Messages { reading, path, hints, selection, opened, channels })
    }

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
        let channel = Channel::new(reading.reader.channels()[&id].clone(), None);
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

    /// The types of the columns, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(python, &message_schema())
    }

    /// All messages as a stream of record batches, for which the file is read anew.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types may be wished for, and need not be given.
        let _ = requested_schema;
        let open = || {
            require_same(self.opened.as_ref(), &self.path)?;
            MessageRows::open(&self.path, &self.hints, &self.selection)
        };
        stream_capsule(python, python.detach(open).map_err(to_python)?)
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

impl From<Topics> for Vec<String> {
    fn from(topics: Topics) -> Vec<String> {
        match topics {
            Topics::One(topic) => vec![topic],
            Topics::Several(topics) => topics,
        }
    }
}
