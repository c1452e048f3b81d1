//! Hands samples over in the thread of a library that has them, while the thread that takes them
//! waits.

use std::ops::ControlFlow;
use std::ptr;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Error, Result};

use crate::transport::TopicSampleHandler;

/// What takes a sample of a topic, and says whether it goes on.
type Handler = dyn FnMut(usize, &[u8]) -> Result<ControlFlow<()>>;

/// Who takes samples at the moment.
#[derive(Default)]
pub struct SampleTaker {
    take: Option<*mut Handler>,
    /// Whether it got any.
    any: bool,
    error: Option<Error>,
}

// SAFETY: a handler is called by one thread at a time, under the lock, while the thread that it
// belongs to waits in [`SampleSource::deliver`]. What it holds are this program's own counters,
// sockets and writers of transports, which belong to no thread.
unsafe impl Send for SampleTaker {}

impl SampleTaker {
    /// Whether anybody wants samples.
    pub fn is_waiting(&self) -> bool {
        self.take.is_some()
    }

    /// Hands over a sample of a topic. Whether anybody wanted it.
    pub fn give(&mut self, topic: usize, sample: &[u8]) -> bool {
        let Some(take) = self.take else { return false };
        self.any = true;
        // SAFETY: while there is a handler, `deliver` has not returned, and the handler lives. The
        // lock keeps others out.
        match unsafe { (*take)(topic, sample) } {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => self.take = None,
            Err(error) => self.fail(error),
        }
        true
    }

    /// Ends the wait by this error.
    pub fn fail(&mut self, error: Error) {
        (self.take, self.error) = (None, Some(error));
    }
}

/// What a library's thread and the thread that takes samples share, under a lock.
///
/// # Safety
/// [`taker`](SampleSource::taker) is the same one each time, and it is used and kept under the lock
/// alone: the handler in it does not live longer than the call of [`deliver`](SampleSource::deliver).
pub unsafe trait SampleSource: Sized {
    /// Who takes samples.
    fn taker(&mut self) -> &mut SampleTaker;

    /// Gives the taker what is there already.
    fn serve(&mut self);

    /// Has samples handed over until one is enough, for so long: [`Reader::deliver_any`]. Whoever
    /// gives samples notifies `changed` when nobody wants more, or when there are some to be served.
    ///
    /// # Errors
    /// Those of who takes them, and of [`SampleTaker::fail`].
    ///
    /// [`Reader::deliver_any`]: crate::transport::Reader::deliver_any
    fn deliver(
        source: &Mutex<Self>,
        changed: &Condvar,
        patience: Duration,
        take: TopicSampleHandler<'_>,
    ) -> Result<bool> {
        // SAFETY: only its lifetime is forgotten. The handler is removed before this call returns,
        // or a panic poisons the lock, under which alone it is used.
        let take = unsafe {
            std::mem::transmute::<TopicSampleHandler<'_>, TopicSampleHandler<'static>>(take)
        };
        let mut state = source.lock().unwrap_or_else(PoisonError::into_inner);
        *state.taker() = SampleTaker { take: Some(ptr::from_mut(take)), any: false, error: None };
        let waits = |state: &mut Self| {
            // What came while nobody took it.
            state.serve();
            state.taker().is_waiting()
        };
        let waited = changed.wait_timeout_while(state, patience, waits);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let SampleTaker { any, error, .. } = std::mem::take(state.taker());
        error.map_or(Ok(any), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::thread;

    use anyhow::bail;

    use super::*;

    /// Samples of one byte.
    #[derive(Default)]
    struct Queue {
        taker: SampleTaker,
        waiting: VecDeque<u8>,
    }

    // SAFETY: the queue has one, which stays in it.
    unsafe impl SampleSource for Queue {
        fn taker(&mut self) -> &mut SampleTaker {
            &mut self.taker
        }

        fn serve(&mut self) {
            while self.taker.is_waiting() {
                let Some(sample) = self.waiting.pop_front() else { return };
                self.taker.give(7, &[sample]);
            }
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_waits_comes_first_and_one_is_enough() {
        let (queue, changed) = (Mutex::new(Queue::default()), Condvar::new());
        queue.lock().unwrap().waiting.extend([1, 2, 3]);
        let mut came = Vec::new();
        let mut take = |topic: usize, sample: &[u8]| {
            came.push((topic, sample[0]));
            Ok(if sample[0] < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        assert!(Queue::deliver(&queue, &changed, LONG, &mut take).unwrap());
        assert_eq!(came, [(7, 1), (7, 2)]);
        let left = &mut *queue.lock().unwrap();
        assert_eq!(left.waiting, [3]);
        assert!(!left.taker.give(7, &[4]), "nobody waits");
    }

    #[test]
    fn another_thread_hands_over_while_one_waits() {
        let (queue, changed) = (Mutex::new(Queue::default()), Condvar::new());
        let mut sum = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                for sample in 1..=100 {
                    let mut queue = queue.lock().unwrap();
                    if !queue.taker.give(0, &[sample]) {
                        queue.waiting.push_back(sample);
                    }
                    drop(queue);
                    changed.notify_one();
                }
            });
            let mut take = |_: usize, sample: &[u8]| {
                sum += u32::from(sample[0]);
                Ok(if sample[0] < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            };
            assert!(Queue::deliver(&queue, &changed, LONG, &mut take).unwrap());
        });
        assert_eq!(sum, 5050);
    }

    #[test]
    fn an_error_ends_the_wait_and_nothing_in_time_is_none() {
        let (queue, changed) = (Mutex::new(Queue::default()), Condvar::new());
        let soon = Duration::from_millis(5);
        let mut refuse = |_: usize, _: &[u8]| bail!("too much");
        assert!(!Queue::deliver(&queue, &changed, soon, &mut refuse).unwrap());
        queue.lock().unwrap().waiting.push_back(1);
        let error = Queue::deliver(&queue, &changed, LONG, &mut refuse).unwrap_err();
        assert_eq!(error.to_string(), "too much");
        assert!(!queue.lock().unwrap().taker.is_waiting());
    }
}
