//! The sources of programs: what they are called in tables, and what their lines say.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use wiregauge_build_tools::rustc;

/// Larger sources are not read.
const LARGEST: u64 = 8 << 20;

/// The longest text of a line that is kept.
const LONGEST_TEXT: usize = 160;

/// The lines of sources that were read.
#[derive(Default)]
pub struct Sources {
    lines: HashMap<String, Vec<String>>,
    /// Rust's own sources, where they are installed.
    rust: Option<Option<PathBuf>>,
}

impl Sources {
    /// What a line says, without the blanks around it; empty where it is not there.
    pub fn text(&mut self, source: &str, number: u32) -> String {
        if !self.lines.contains_key(source) {
            let lines = self.read(source).unwrap_or_default();
            self.lines.insert(source.to_owned(), lines);
        }
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.lines[source].get(at)).cloned().unwrap_or_default()
    }

    fn read(&mut self, source: &str) -> Option<Vec<String>> {
        let path = match in_rust_library(source) {
            Some(rest) => self.rust.get_or_insert_with(find_rust_library).as_ref()?.join(rest),
            None => PathBuf::from(source),
        };
        let is_small = fs::metadata(&path).is_ok_and(|of| of.is_file() && of.len() <= LARGEST);
        let bytes = is_small.then(|| fs::read(&path).ok())??;
        let text = String::from_utf8_lossy(&bytes);
        let kept = |line: &str| line.trim().chars().take(LONGEST_TEXT).collect();
        Some(text.lines().map(kept).collect())
    }
}

/// The part of a path below the library of Rust's sources, which paths begin with whose compiler
/// was built elsewhere: `/rustc/HASH/library/core/src/str.rs`.
fn in_rust_library(source: &str) -> Option<&str> {
    let (_, rest) = source.strip_prefix("/rustc/")?.split_once('/')?;
    rest.strip_prefix("library/")
}

fn find_rust_library() -> Option<PathBuf> {
    let output = rustc().args(["--print", "sysroot"]).stdin(Stdio::null()).output().ok()?;
    let root = String::from_utf8(output.stdout).ok()?;
    let library = Path::new(root.trim()).join("lib/rustlib/src/rust/library");
    library.is_dir().then_some(library)
}

/// What a source is called in results: the same on every machine, without the folders of its
/// user. That of a crate begins with its name and version, that of a runner with its codec, that
/// of a header with the folder that it is included by.
pub fn short_name(source: &str) -> String {
    if let Some(rest) = in_rust_library(source) {
        return rest.to_owned();
    }
    // `…/registry/src/index.crates.io-1949cf8c6b5b557f/prost-0.14.4/src/encoding.rs`
    let after = |folder: &str| source.rsplit_once(folder).map(|(_, rest)| rest);
    if let Some((_, rest)) = after("/registry/src/").and_then(|rest| rest.split_once('/')) {
        return rest.to_owned();
    }
    for folder in ["/src/bin/", "/usr/include/", "/include/"] {
        if let Some(rest) = after(folder) {
            return rest.to_owned();
        }
    }
    let parts: Vec<&str> = source.rsplitn(3, '/').collect();
    match parts[..] {
        [name, folder, _] => format!("{folder}/{name}"),
        _ => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_on_every_machine() {
        for (source, name) in [
            ("/rustc/4a4ef493e3a1/library/core/src/str/mod.rs", "core/src/str/mod.rs"),
            (
                "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/prost-0.14.4/src/lib.rs",
                "prost-0.14.4/src/lib.rs",
            ),
            ("/b/messages/m12/rust-lines/src/bin/prost/codec.rs", "prost/codec.rs"),
            ("src/bin/prost/codec.rs", "prost/codec.rs"),
            ("/usr/include/c++/12/bits/stl_vector.h", "c++/12/bits/stl_vector.h"),
            ("/b/messages/m12/cpp-lines/include/message.hpp", "message.hpp"),
            ("/b/messages/m12/cpp-lines/sbe/main.cpp", "sbe/main.cpp"),
            ("./malloc/malloc.c", "malloc/malloc.c"),
            ("main.cpp", "main.cpp"),
        ] {
            assert_eq!(short_name(source), name);
        }
    }

    #[test]
    fn lines_are_read_as_far_as_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        fs::write(&path, b"one\n\t two \xff\n").unwrap();
        let path = path.display().to_string();
        let mut sources = Sources::default();
        assert_eq!(sources.text(&path, 1), "one");
        assert_eq!(sources.text(&path, 2), "two \u{fffd}");
        for (source, number) in [(&path, 0), (&path, 3), (&"/none".to_owned(), 1)] {
            assert_eq!(sources.text(source, number), "");
        }
        // A folder, and what would never end.
        for source in ["/", "/dev/zero"] {
            assert_eq!(sources.text(source, 1), "");
        }
    }
}
