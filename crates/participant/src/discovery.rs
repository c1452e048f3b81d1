//! How a writer finds its readers.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::transport::Writer;

/// How long the participants of a run look for each other. Over DDS with security on a loaded machine
/// it takes more than 20 s.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until a writer knows of so many readers, or the deadline is over, or it is `aborted`. How many
/// there are.
///
/// # Errors
/// When the transport fails.
pub fn find_readers(
    writer: &mut dyn Writer,
    wanted: usize,
    deadline: Instant,
    mut aborted: impl FnMut() -> bool,
) -> Result<usize> {
    loop {
        let found = writer.readers()?;
        if found >= wanted || Instant::now() >= deadline || aborted() {
            return Ok(found);
        }
        thread::sleep(PAUSE);
    }
}
