//! What Linux tells in files, under a root.

use std::fs;
use std::path::Path;
use std::str::FromStr;

/// The files under a root.
pub(super) struct Files<'a>(pub(super) &'a Path);

impl Files<'_> {
    /// A file as text, without surrounding blanks; none if it is not there or
    /// empty.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        // Firmware strings need not be UTF-8, and device-tree ones end in NUL.
        let bytes = fs::read(self.0.join(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The first line of a file.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        Some(self.text(path)?.lines().next()?.trim().to_owned())
    }

    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    /// Names in a folder, sorted.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(path)).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The first value of `key` in a file of lines like `key: value`.
    pub(super) fn value(&self, path: &str, key: &str) -> Option<String> {
        self.text(path)?.lines().find_map(|line| {
            let (name, value) = line.split_once([':', '='])?;
            let value = value.trim().trim_matches('"');
            (name.trim() == key && !value.is_empty()).then(|| value.to_owned())
        })
    }
}
