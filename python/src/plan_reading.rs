//! Reads the parts of a plan in their order, several at once.

use std::collections::VecDeque;
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use wiregauge_system::interrupt;
use wiregauge_system::text;

use crate::stop_request;
use crate::table_source::{TableReading, TableSource};

/// Batches of a part that may wait.
const WAITING: usize = 2;

/// How long it is waited for a batch before it is asked whether the user wants to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// A batch, or the end of a part: a thread that fails does not send it.
type Answer = Option<Result<RecordBatch, ArrowError>>;

/// The parts that nobody reads yet.
type Queue = Arc<Mutex<VecDeque<(TableSource, SyncSender<Answer>)>>>;

/// The parts of a plan that are read.
pub struct PlanReading {
    schema: SchemaRef,
    queue: Queue,
    /// What reads each part, in their order.
    parts: VecDeque<Receiver<Answer>>,
}

impl PlanReading {
    /// Begins to read parts, one on each processor.
    pub fn begin(sources: &[TableSource], schema: SchemaRef) -> PlanReading {
        let (mut queue, mut parts) = (VecDeque::new(), VecDeque::new());
        for source in sources {
            let (sender, receiver) = sync_channel(WAITING);
            queue.push_back((source.clone(), sender));
            parts.push_back(receiver);
        }
        let queue = Arc::new(Mutex::new(queue));
        let processors = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..processors.min(sources.len()) {
            let queue = queue.clone();
            thread::spawn(move || read_parts(&queue));
        }
        PlanReading { schema, queue, parts }
    }
}

/// Reads parts until none is left, or nobody wants them.
fn read_parts(queue: &Queue) {
    // Who waits for a batch may have Python's lock.
    stop_request::ignore_in_this_thread();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((source, sender)) = next else { return };
        let batches = match TableReading::open(&source) {
            Ok(batches) => batches,
            Err(error) => {
                let said = text::escape(&format!("{error:#}"));
                let _ = sender.send(Some(Err(ArrowError::ExternalError(said.into()))));
                continue;
            }
        };
        for batch in batches {
            if sender.send(Some(batch)).is_err() {
                return;
            }
        }
        let _ = sender.send(None);
    }
}

impl Iterator for PlanReading {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let failure = match self.parts.front()?.recv_timeout(PATIENCE) {
                Ok(Some(Ok(batch))) => return Some(Ok(batch)),
                Ok(Some(Err(error))) => error,
                Ok(None) => {
                    self.parts.pop_front();
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => match interrupt::check() {
                    Ok(()) => continue,
                    Err(error) => ArrowError::ExternalError(error.to_string().into()),
                },
                Err(RecvTimeoutError::Disconnected) => {
                    ArrowError::ExternalError("a thread that reads has failed".into())
                }
            };
            self.parts.clear();
            return Some(Err(failure));
        }
    }
}

impl RecordBatchReader for PlanReading {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Drop for PlanReading {
    fn drop(&mut self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
