//! A file that ends too early.

/// The file ends before it should.
#[derive(Clone, Copy, Debug)]
pub(super) struct TruncatedError;

impl std::fmt::Display for TruncatedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the file ends here")
    }
}

impl std::error::Error for TruncatedError {}
