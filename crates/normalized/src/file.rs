//! A file to be written.

/// A file to be written, below the runner's own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl File {
    /// A file with this text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> File {
        File { path: path.into(), text: text.into() }
    }
}
