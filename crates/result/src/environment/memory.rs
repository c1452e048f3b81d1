//! The memory.

use serde::{Deserialize, Serialize};

use super::files::Files;

/// The memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Memory of the machine in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Memory that was free for use at the start, in bytes, under the limit of
    /// the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<String>,
}

impl Memory {
    /// What the files say of it.
    pub(super) fn read(files: &Files) -> Memory {
        let bytes = |key: &str| {
            let value = files.value("proc/meminfo", key)?;
            Some(value.strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
        };
        let left = (|| {
            let most: u64 = files.number("sys/fs/cgroup/memory.max")?;
            Some(most.saturating_sub(files.number("sys/fs/cgroup/memory.current")?))
        })();
        Memory {
            total_bytes: bytes("MemTotal"),
            available_bytes: bytes("MemAvailable").into_iter().chain(left).min(),
            huge_pages: files.line("sys/kernel/mm/transparent_hugepage/enabled").and_then(|line| {
                // The choice stands in brackets: always [madvise] never.
                let (_, rest) = line.split_once('[')?;
                Some(rest.split_once(']')?.0.to_owned())
            }),
        }
    }
}
