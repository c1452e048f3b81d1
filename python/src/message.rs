//! A message of a trace, and the channel that it belongs to.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};
use wiregauge_trace::channel;
use wiregauge_trace::read::{MessageInfo, Nanoseconds};
use wiregauge_trace::shared_bytes::SharedBytes;

use crate::message_bytes;

/// A channel: messages of one type on one topic.
#[pyclass(module = "wiregauge", frozen)]
pub struct Channel {
    channel: channel::Channel,
    count: Option<u64>,
}

impl Channel {
    /// A channel as a recording has it, with the number of its messages where that is known.
    pub fn new(channel: channel::Channel, count: Option<u64>) -> Channel {
        Channel { channel, count }
    }
}

#[pymethods]
impl Channel {
    /// Its name.
    #[getter]
    fn topic(&self) -> &str {
        &self.channel.topic
    }

    /// The format of its messages: "protobuf", "cdr", "ros1".
    #[getter]
    fn encoding(&self) -> &str {
        &self.channel.message_encoding
    }

    /// The type of its messages: "osi3.SensorView"; empty where it is not told.
    #[getter]
    fn schema_name(&self) -> &str {
        &self.channel.definition.name
    }

    /// The language of the schema: "protobuf", "ros2msg"; empty where there is none.
    #[getter]
    fn schema_encoding(&self) -> &str {
        &self.channel.definition.encoding
    }

    /// The schema itself; of Protobuf an encoded FileDescriptorSet.
    #[getter]
    fn schema<'py>(&self, python: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(python, &self.channel.definition.data)
    }

    /// How many messages it has; None while they are read.
    #[getter]
    fn count(&self) -> Option<u64> {
        self.count
    }

    /// What else is said of it, as texts by their names.
    #[getter]
    fn metadata<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entries = PyDict::new(python);
        for (name, value) in &self.channel.metadata {
            entries.set_item(name, value)?;
        }
        Ok(entries)
    }

    fn __repr__(&self) -> String {
        let channel = &self.channel;
        let (topic, kind) = (&channel.topic, &channel.definition.name);
        format!("<Channel {topic:?} of {kind:?} in {:?}>", channel.message_encoding)
    }
}

/// A message.
#[pyclass(module = "wiregauge", frozen)]
pub struct Message {
    channel: Py<Channel>,
    info: MessageInfo,
    bytes: SharedBytes,
    view: PyOnceLock<Py<PyAny>>,
}

impl Message {
    /// A message of a channel.
    pub fn new(channel: Py<Channel>, info: MessageInfo, bytes: SharedBytes) -> Message {
        Message { channel, info, bytes, view: PyOnceLock::new() }
    }
}

#[pymethods]
impl Message {
    /// Its channel.
    #[getter]
    fn channel<'py>(&self, python: Python<'py>) -> &Bound<'py, Channel> {
        self.channel.bind(python)
    }

    /// Its channel's name.
    #[getter]
    fn topic(&self) -> &str {
        &self.channel.get().channel.topic
    }

    /// Its type: "osi3.SensorView"; empty where it is not told.
    #[getter]
    fn schema_name(&self) -> &str {
        &self.channel.get().channel.definition.name
    }

    /// Its format: "protobuf", "cdr", "ros1".
    #[getter]
    fn encoding(&self) -> &str {
        &self.channel.get().channel.message_encoding
    }

    /// When it was recorded, in nanoseconds on the clock of the trace, or its own time stamp
    /// where the file has no other; None where neither is there.
    #[getter]
    fn log_time(&self) -> Option<Nanoseconds> {
        self.info.time
    }

    /// When it was sent, in nanoseconds; as log_time where the file has no other.
    #[getter]
    fn publish_time(&self) -> Option<Nanoseconds> {
        self.info.publish_time
    }

    /// Its number by its sender; 0 where there is none.
    #[getter]
    fn sequence(&self) -> u32 {
        self.info.sequence
    }

    /// Its bytes where they were read or unpacked to, read-only and without a copy. They stay
    /// as long as this view or a part of it is kept.
    #[getter]
    fn data<'py>(&self, python: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let make = || message_bytes::view(python, self.bytes.clone());
        Ok(self.view.get_or_try_init(python, make)?.bind(python))
    }

    fn __repr__(&self) -> String {
        let time = self.log_time().map_or("no time".to_owned(), |time| format!("{time} ns"));
        format!("<Message of {:?} at {time}, {} bytes>", self.topic(), self.info.size)
    }
}
