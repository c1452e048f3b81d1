//! Variables that change what programs load, how they take memory and how middleware is set.

use indexmap::IndexMap;

use super::files::Files;

/// By which the loader puts code of others into each program, and the allocator of the C library
/// or one that is loaded is set.
const CHANGING: [&str; 10] = [
    "GLIBC_TUNABLES",
    "LD_AUDIT",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_ARENA_TEST",
    "MALLOC_CHECK_",
    "MALLOC_CONF",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_PERTURB_",
    "MALLOC_TOP_PAD_",
];

/// What some of the programs heed, which says no ill of a figure: where the loader looks for
/// libraries first, and settings of middleware. Those that end in `_` are how names begin.
const TOLD: [&str; 6] = [
    "CYCLONEDDS_URI",
    "FASTDDS_",
    "FASTRTPS_",
    "LD_LIBRARY_PATH",
    "ROS_DISCOVERY_SERVER",
    "ZENOH_",
];

/// Those that this process was started with, by name.
pub(super) fn read(files: &Files) -> IndexMap<String, String> {
    let text = files.text("proc/self/environ").unwrap_or_default();
    let mut variables: IndexMap<String, String> = text
        .split('\0')
        .filter_map(|entry| entry.split_once('='))
        .filter(|(name, value)| (changes_programs(name) || is_told(name)) && !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    variables.sort_keys();
    variables
}

fn is_told(name: &str) -> bool {
    TOLD.iter().any(|told| *told == name || told.ends_with('_') && name.starts_with(told))
}

/// Whether a variable changes every program.
pub(crate) fn changes_programs(name: &str) -> bool {
    CHANGING.contains(&name)
}
