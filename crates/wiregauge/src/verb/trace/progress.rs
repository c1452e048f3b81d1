//! How far a file was read, on standard error.

use crate::progress::Progress;

/// Shows bytes that were read, of how many.
pub fn byte_progress(what: &str) -> impl FnMut(u64, u64) {
    let (what, progress) = (format!("{what} (MB)"), Progress::new());
    move |done, total| {
        let mebibytes = |bytes: u64| (bytes / 1_000_000) as usize;
        progress.show(&what, mebibytes(done), mebibytes(total));
    }
}
