//! Hands on the frames of a trace as they come.

use std::time::Duration;

use anyhow::Result;

use super::parent_process::ParentProcess;
use super::setup::{record_header, Setup, StreamReport, FAILURE, FRAME};
use crate::transport::Transport;
use wiregauge_timing::clock::monotonic;

/// How long it waits for a frame until it looks whether it is still wanted.
const PATIENCE: Duration = Duration::from_millis(100);

/// Listens until nobody wants it any more, or the transport tells that there will be no more.
///
/// # Errors
/// When nothing can be listened to.
pub fn listen(setup: &Setup, transport: &dyn Transport, starter: &mut ParentProcess) -> Result<()> {
    let (mut reader, endpoint) = transport.reader(&setup.topic)?;
    starter.send_report(&StreamReport::Open(endpoint))?;
    while !starter.is_gone() {
        let handed = match reader.next(PATIENCE) {
            Ok(None) => continue,
            Ok(Some(sample)) => {
                let head = record_header(monotonic(), sample.len(), FRAME);
                starter.write_record(&head, sample)
            }
            Err(error) => {
                let why = format!("{error:#}");
                let head = record_header(monotonic(), why.len(), FAILURE);
                // That nobody wants to know is no error.
                let _ = starter.write_record(&head, why.as_bytes());
                return Ok(());
            }
        };
        if handed.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
