//! Where a sample lies in memory that processes share, so that a codec's runner, a process of its
//! own, can write or read it in place.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The memory that this process shares with others, as it was when it was last looked at.
#[derive(Debug, Default)]
pub struct SharedMemory {
    mappings: Vec<Mapping>,
}

/// A part of a file that is mapped.
#[derive(Debug, PartialEq)]
struct Mapping {
    addresses: Range<usize>,
    /// Where it begins in the file.
    offset: u64,
    path: PathBuf,
}

impl SharedMemory {
    /// The file that bytes of this process lie in, and where in it they begin. The file stays
    /// what it is as long as it is mapped, so it is looked for once.
    ///
    /// # Errors
    /// When they lie in memory of the process alone, or that others cannot open.
    pub fn locate(&mut self, bytes: &[u8]) -> Result<(&Path, u64)> {
        let first = bytes.as_ptr() as usize;
        let addresses = first..first + bytes.len();
        let holds = |mapping: &Mapping| {
            mapping.addresses.start <= addresses.start && addresses.end <= mapping.addresses.end
        };
        if !self.mappings.iter().any(holds) {
            let maps = fs::read_to_string("/proc/self/maps").context("/proc/self/maps")?;
            self.mappings = maps.lines().filter_map(parse_mapping).collect();
        }
        let found = self.mappings.iter().find(|mapping| holds(mapping));
        let found =
            found.context("a sample does not lie in memory that another process can open")?;
        Ok((&found.path, found.offset + (first - found.addresses.start) as u64))
    }
}

/// A line of proc_pid_maps(5), where it is of a file that is shared and still has its name.
fn parse_mapping(line: &str) -> Option<Mapping> {
    let (addresses, rest) = line.split_once(' ')?;
    let (access, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let path = &rest[rest.find('/')?..];
    if !access.ends_with('s') || path.ends_with(" (deleted)") {
        return None;
    }
    let number = |text: &str| usize::from_str_radix(text, 16).ok();
    let (start, end) = addresses.split_once('-')?;
    Some(Mapping {
        addresses: number(start)?..number(end)?,
        offset: u64::from_str_radix(offset, 16).ok()?,
        // The kernel's own writing of a line break.
        path: path.replace("\\012", "\n").into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_shared_and_have_a_name_count() {
        let line = |access: &str, path: &str| {
            format!("7f0000001000-7f0000003000 {access} 00002000 00:1a 42          {path}")
        };
        let found = parse_mapping(&line("rw-s", "/dev/shm/a b")).unwrap();
        assert_eq!(found.addresses, 0x7f00_0000_1000..0x7f00_0000_3000);
        assert_eq!((found.offset, found.path.to_str()), (0x2000, Some("/dev/shm/a b")));
        for (access, path) in [
            ("rw-p", "/dev/shm/a"),
            ("rw-s", "/dev/shm/a (deleted)"),
            ("rw-s", "anon_inode:[perf_event]"),
            ("rw-p", "[heap]"),
            ("rw-s", ""),
        ] {
            assert_eq!(parse_mapping(&line(access, path)), None, "{access} {path}");
        }
    }

    #[test]
    fn memory_of_the_process_alone_is_told() {
        let own = vec![0; 100];
        let error = SharedMemory::default().locate(&own).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
    }
}
