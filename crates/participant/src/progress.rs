//! What a participant has seen so far, told window by window: where it is lost,
//! or broken off, that much is known.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::window::Window;

/// What was seen since it was last told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Of a receiver: its windows.
    pub windows: Vec<Window>,
    /// Of the sender in discrete mode: windows of steps.
    pub steps: Vec<Window>,
}

impl Progress {
    /// Adds what was seen later.
    pub fn add(&mut self, mut later: Progress) {
        self.windows.append(&mut later.windows);
        self.steps.append(&mut later.steps);
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.steps.is_empty()
    }
}

/// Where who measures leaves what it has seen, for the thread that tells it: a
/// socket would take time that belongs to the next sample.
#[derive(Debug, Default)]
pub struct ProgressBuffer(Mutex<Progress>);

impl ProgressBuffer {
    /// Leaves windows of a receiver.
    pub fn add_windows(&self, news: &[Window]) {
        if !news.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).windows.extend_from_slice(news);
        }
    }

    /// Leaves windows of steps.
    pub fn add_steps(&self, news: &[Window]) {
        if !news.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).steps.extend_from_slice(news);
        }
    }

    /// Takes what is there.
    pub fn take(&self) -> Option<Progress> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!seen.is_empty()).then(|| std::mem::take(&mut *seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_told_once() {
        let seen = ProgressBuffer::default();
        assert_eq!(seen.take(), None);
        seen.add_windows(&[Window::default()]);
        seen.add_steps(&[]);
        let mut all = seen.take().unwrap();
        assert_eq!((all.windows.len(), all.steps.len(), seen.take()), (1, 0, None));
        seen.add_steps(&[Window::default()]);
        all.add(seen.take().unwrap());
        assert_eq!((all.windows.len(), all.steps.len()), (1, 1));
    }
}
