//! What a program or library in machine code needs of the machine that starts it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use object::{Architecture, File, Object, ObjectSection};

/// What a program or library in machine code needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElfFacts {
    /// Its architecture, by the first word of GNU's names: `aarch64`.
    pub architecture: &'static str,
    /// What starts it; none of a library, or of a program that is linked statically.
    pub loader: Option<String>,
    /// The oldest C library that it runs with; none where it uses none.
    pub glibc: Option<(u32, u32)>,
}

impl ElfFacts {
    /// Reads them from a file; none where it is not in machine code, such as a script.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<Option<ElfFacts>> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let Ok(file) = File::parse(&*bytes) else { return Ok(None) };
        let section = |name: &str| {
            let data = file.section_by_name(name).and_then(|section| section.data().ok());
            data.unwrap_or_default().split(|byte| *byte == 0).map(String::from_utf8_lossy)
        };
        let architecture = match file.architecture() {
            Architecture::X86_64 => "x86_64",
            Architecture::Aarch64 => "aarch64",
            Architecture::Arm => "arm",
            Architecture::Riscv64 => "riscv64",
            _ => "unknown",
        };
        // The versions of symbols that it wants are among the names of its dynamic section.
        let glibc = section(".dynstr").filter_map(|name| match &*name {
            // Relative relocations in the form that 2.36 was the first to know.
            "GLIBC_ABI_DT_RELR" => Some((2, 36)),
            name => parse_version(name.strip_prefix("GLIBC_")?),
        });
        let glibc = glibc.max();
        let loader = section(".interp").next().filter(|name| !name.is_empty());
        let loader = loader.map(|name| name.into_owned());
        Ok(Some(ElfFacts { architecture, loader, glibc }))
    }
}

/// `2.34`, or `2.2.5`, of which the first two numbers count.
pub(crate) fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_says_what_it_needs() {
        let facts = ElfFacts::read(&std::env::current_exe().unwrap()).unwrap().unwrap();
        assert_eq!(facts.architecture, std::env::consts::ARCH);
        assert!(facts.loader.unwrap().contains("ld-linux"));
        let glibc = facts.glibc.unwrap();
        assert!(((2, 17)..(3, 0)).contains(&glibc), "{glibc:?}");
        let script = tempfile::NamedTempFile::new().unwrap();
        fs::write(script.path(), "#!/bin/sh\n").unwrap();
        assert_eq!(ElfFacts::read(script.path()).unwrap(), None);
    }

    #[test]
    fn versions_are_numbers() {
        assert_eq!(parse_version("2.2.5"), Some((2, 2)));
        assert!(parse_version("2.34") > parse_version("2.9"));
        assert_eq!(parse_version("PRIVATE"), None);
    }
}
