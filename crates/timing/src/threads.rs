//! The start of threads.

use std::io;
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};

/// Starts a thread of this name, which tools of the system show.
///
/// # Errors
/// When the system gives none: with what limits it, as its own word is only that it is
/// 'temporarily unavailable'.
pub fn start_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    explain_no_thread(Builder::new().name(name.into()).spawn(work))
}

/// What came of the start of a thread, with what limits it where there is none.
///
/// # Errors
/// When there is none.
pub fn explain_no_thread<T>(started: io::Result<T>) -> Result<T> {
    started.context(
        "no thread can be started: there is no memory for it, or too many run; raise 'ulimit -v' \
         or 'ulimit -u'",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_name_and_a_refusal_its_reason() {
        let name = || std::thread::current().name().map(str::to_owned);
        assert_eq!(start_thread("beat", name).unwrap().join().unwrap().as_deref(), Some("beat"));
        let refused: io::Result<()> = Err(io::Error::from_raw_os_error(libc::EAGAIN));
        let error = format!("{:#}", explain_no_thread(refused).unwrap_err());
        assert!(error.contains("ulimit -v") && error.contains("os error 11"), "{error}");
    }
}
