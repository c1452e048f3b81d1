//! What the shell of who calls says to compilers, for builds of its own: it is no part of what is
//! measured, whose compilers and flags are told with the figures.

use std::env;
use std::process::Command;

/// Variables by which CMake and Cargo take other compilers and flags. What finds headers,
/// libraries and tools, as `CPATH` and `PATH` do, is left alone; so is what no shell has
/// by default and packages are built with: `CARGO_ENCODED_RUSTFLAGS`, `CC_TARGET`.
const NAMES: [&str; 12] = [
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CMAKE_TOOLCHAIN_FILE",
    "RUSTC",
    "RUSTFLAGS",
    "CARGO_BUILD_INCREMENTAL",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_INCREMENTAL",
];

/// How settings of Cargo's profiles begin.
const PROFILES: &str = "CARGO_PROFILE_";

/// Has a command that compiles not see them.
pub(crate) fn remove_callers_flags(command: &mut Command) -> &mut Command {
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_callers_flag)) {
        command.env_remove(name);
    }
    command
}

fn is_callers_flag(name: &str) -> bool {
    NAMES.contains(&name) || name.starts_with(PROFILES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_from_what_finds_tools() {
        let flags = ["CXX", "LDFLAGS", "CARGO_PROFILE_RELEASE_OPT_LEVEL"];
        assert!(flags.into_iter().all(is_callers_flag));
        let others = ["PATH", "CPATH", "CARGO_HOME", "RUSTC_WRAPPER", "CCACHE_DIR"];
        assert!(!others.into_iter().any(is_callers_flag));
    }
}
