//! FMUs that are recorded, by this program as their host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use wiregauge_cosim::recording::Recording;
use wiregauge_trace_stream::fmu_recorder::{FmuRecorder, FmuRun};

use crate::output::print_notice;
use crate::progress::Progress;

/// What records FMUs to a file.
pub struct Recorder<'a> {
    files: FmuRecorder<'a>,
    patience: Duration,
}

impl<'a> Recorder<'a> {
    /// Writes everything to a file, packed as usual, of FMUs that may take so long for a step.
    pub fn new(output: &'a Path, inputs: &'a [&'a Path], patience: Duration) -> Recorder<'a> {
        Recorder { files: FmuRecorder::new(output, inputs, &print_notice), patience }
    }

    /// Steps the FMUs so many times and writes what comes out. Whether all messages are what
    /// they are said to be.
    ///
    /// # Errors
    /// Those of [`FmuRecorder::record`].
    pub fn record(&self, recording: &Recording, steps: u64) -> Result<bool> {
        self.files.record(recording, run_fmus(steps, self.patience)?)
    }
}

/// How FMUs are run while they are recorded: by this program, which shows how far they are.
pub fn run_fmus(steps: u64, patience: Duration) -> Result<FmuRun<'static>> {
    let progress = Progress::new();
    let progress = Box::new(move |what: &str, done, total| progress.show(what, done, total));
    Ok(FmuRun { host: host()?, patience, steps, progress })
}

/// The program that FMUs run in.
pub fn host() -> Result<(PathBuf, Vec<String>)> {
    Ok((std::env::current_exe()?, vec!["cosim".into(), "host".into()]))
}
