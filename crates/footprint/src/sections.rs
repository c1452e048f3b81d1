//! Sizes of an ELF file's sections, as `size` adds them up.

use std::fs;
use std::iter::Sum;
use std::ops::Add;
use std::path::Path;

use anyhow::{bail, Context, Result};
use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE};
use object::{File, Object, ObjectSection, SectionFlags, SectionKind};

/// Bytes of what a program or a library has in memory, by what may be done with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// What is executed.
    pub text: u64,
    /// What is only read: constants, and tables for unwinding.
    pub read_only: u64,
    /// What is written, and begins with values from the file.
    pub data: u64,
    /// What is written, and begins with zeros that are in no file.
    pub zeros: u64,
}

impl Sections {
    /// Those of a program or a library.
    ///
    /// # Errors
    /// When the file cannot be read, or is no ELF file.
    pub fn read(path: &Path) -> Result<Sections> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = File::parse(&*bytes);
        let file = file.with_context(|| format!("{} is no ELF file", path.display()))?;
        let mut sections = Sections::default();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else {
                bail!("{} is no ELF file", path.display());
            };
            let has = |flag: u32| sh_flags & u64::from(flag) != 0;
            if !has(SHF_ALLOC) {
                continue;
            }
            let is_zero = matches!(
                section.kind(),
                SectionKind::UninitializedData | SectionKind::UninitializedTls
            );
            let part = match (is_zero, has(SHF_EXECINSTR), has(SHF_WRITE)) {
                (true, ..) => &mut sections.zeros,
                (_, true, _) => &mut sections.text,
                (_, _, true) => &mut sections.data,
                _ => &mut sections.read_only,
            };
            *part += section.size();
        }
        Ok(sections)
    }

    /// What it has more than another one; what it has less of counts as nothing.
    pub fn beyond(&self, base: &Sections) -> Sections {
        Sections {
            text: self.text.saturating_sub(base.text),
            read_only: self.read_only.saturating_sub(base.read_only),
            data: self.data.saturating_sub(base.data),
            zeros: self.zeros.saturating_sub(base.zeros),
        }
    }

    /// Each by its name in results.
    pub fn named(&self) -> [(&'static str, u64); 4] {
        [("text", self.text), ("rodata", self.read_only), ("data", self.data), ("bss", self.zeros)]
    }
}

impl Add for Sections {
    type Output = Sections;

    fn add(self, other: Sections) -> Sections {
        Sections {
            text: self.text + other.text,
            read_only: self.read_only + other.read_only,
            data: self.data + other.data,
            zeros: self.zeros + other.zeros,
        }
    }
}

impl Sum for Sections {
    fn sum<I: Iterator<Item = Sections>>(all: I) -> Sections {
        all.fold(Sections::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "no program").unwrap();
        let error = format!("{:#}", Sections::read(&path).unwrap_err());
        assert!(error.contains("is no ELF file"), "{error}");
        assert!(Sections::read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn less_than_the_base_is_nothing() {
        let base = Sections { text: 10, read_only: 10, data: 10, zeros: 10 };
        let more = Sections { text: 15, read_only: 5, ..base };
        assert_eq!(more.beyond(&base), Sections { text: 5, ..Sections::default() });
        assert_eq!([base, more].into_iter().sum::<Sections>().text, 25);
    }
}
