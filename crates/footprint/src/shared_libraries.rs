//! The shared libraries that a program loads, and those that they load.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use object::elf::{DT_NEEDED, DT_NULL};
use object::{File, Object, ObjectSection};
use wiregauge_build_tools::Toolchain;

use crate::sections::Sections;

/// What every program in C++ loads: of the C library, the compiler and C++ itself.
const LANGUAGE: [&str; 9] = [
    "libc.so",
    "libm.so",
    "libdl.so",
    "librt.so",
    "libpthread.so",
    "libgcc_s.so",
    "libstdc++.so",
    "ld-linux",
    "linux-vdso",
];

/// A shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLibrary {
    /// As programs name it: `libfastcdr.so.1`.
    pub name: String,
    /// Where the toolchain has it.
    pub path: PathBuf,
    /// What it is in memory.
    pub sections: Sections,
    /// Whether every program of the language loads it.
    pub is_of_language: bool,
}

/// All shared libraries that a program loads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedLibraries(pub Vec<SharedLibrary>);

impl SharedLibraries {
    /// Those of a program, with those that they load, as this toolchain finds them. None of
    /// a program that is linked statically.
    ///
    /// # Errors
    /// When one is not found.
    pub fn find(program: &Path, toolchain: &Toolchain) -> Result<SharedLibraries> {
        let mut names = needed(program)?;
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            let is_of_language = LANGUAGE.iter().any(|of| name.starts_with(of));
            let path = toolchain.find_library(&name);
            let path = path.with_context(|| format!("the shared library {name} is not found"))?;
            for more in needed(&path)? {
                if !names.contains(&more) {
                    names.push(more);
                }
            }
            let sections = Sections::read(&path)?;
            found.push(SharedLibrary { name, path, sections, is_of_language });
        }
        Ok(SharedLibraries(found))
    }

    /// What those have that are not the language's own.
    pub fn beyond_language(&self) -> Sections {
        self.0.iter().filter(|library| !library.is_of_language).map(|l| l.sections).sum()
    }
}

/// The libraries that a file names.
fn needed(path: &Path) -> Result<Vec<String>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = File::parse(&*bytes);
    let file = file.with_context(|| format!("{} is no ELF file", path.display()))?;
    let section = |name: &str| file.section_by_name(name).and_then(|section| section.data().ok());
    let (Some(table), Some(names)) = (section(".dynamic"), section(".dynstr")) else {
        return Ok(Vec::new());
    };
    let width = if file.is_64() { 8 } else { 4 };
    let number = |bytes: &[u8]| {
        let digits = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        match file.is_little_endian() {
            true => bytes.iter().rev().fold(0, digits),
            false => bytes.iter().fold(0, digits),
        }
    };
    let entries = table.chunks_exact(2 * width).map(|entry| entry.split_at(width));
    let entries = entries.map(|(tag, value)| (number(tag), number(value)));
    let entries = entries.take_while(|(tag, _)| *tag != u64::from(DT_NULL as u32));
    let name = |(_, offset)| {
        let text = names.get(usize::try_from(offset).ok()?..)?;
        let text = text.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    };
    Ok(entries.filter(|(tag, _)| *tag == u64::from(DT_NEEDED as u32)).filter_map(name).collect())
}
