//! Records what FMUs exchange, beside a bar.

use std::cell::LazyCell;

use anyhow::Result;
use wiregauge_cosim::recording::Recording;
use wiregauge_cosim_run::recorder::Recorder;

use crate::progress::Progress;

/// Steps the FMUs so many times and writes what came out: [`Recorder::record`].
///
/// # Errors
/// Those of [`Recorder::record`].
pub fn record(recorder: &Recorder, recording: &Recording, steps: u64) -> Result<bool> {
    // Made when there is news: a bar would stand among the notices of the file's beginning.
    let progress = LazyCell::new(Progress::new);
    recorder.record(recording, steps, move |what, done, total| progress.show(what, done, total))
}
