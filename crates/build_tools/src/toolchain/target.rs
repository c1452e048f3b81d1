//! The architectures that runners can be built for, and run on by an emulator.

use std::env;

use anyhow::{Context, Result};

/// An architecture that runners can be built for.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// GNU's name of it, which is that of folders and compilers: `aarch64-linux-gnu`.
    pub name: &'static str,
    /// Debian's name of it: `arm64`.
    pub debian: &'static str,
    /// Rust's name of it: `aarch64-unknown-linux-gnu`.
    pub rust: &'static str,
    /// What its emulator's name ends in: `aarch64` of `qemu-aarch64`.
    pub emulator: &'static str,
    /// The processor that is emulated, as the emulator calls it: a usual one.
    pub processor: &'static str,
    /// What starts its programs, where its libraries are.
    loader: &'static str,
    /// The oldest of Debian's suites that has it, where its libraries come from.
    pub suite: &'static str,
    /// The numbers of the system call clock_gettime.
    pub clock_calls: &'static [u32],
}

/// Debian 12 where it has the architecture: its libraries are then those of a machine with it.
static TARGETS: [Target; 4] = [
    Target {
        name: "x86_64-linux-gnu",
        debian: "amd64",
        rust: "x86_64-unknown-linux-gnu",
        emulator: "x86_64",
        // Without the instruction that copies any number of bytes, which counts for each byte:
        // the C library copies by registers then, as on the others.
        processor: "max,-erms,-fsrm",
        loader: "ld-linux-x86-64.so.2",
        suite: "bookworm",
        clock_calls: &[228],
    },
    Target {
        name: "aarch64-linux-gnu",
        debian: "arm64",
        rust: "aarch64-unknown-linux-gnu",
        emulator: "aarch64",
        processor: "cortex-a76",
        loader: "ld-linux-aarch64.so.1",
        suite: "bookworm",
        clock_calls: &[113],
    },
    Target {
        name: "arm-linux-gnueabihf",
        debian: "armhf",
        rust: "armv7-unknown-linux-gnueabihf",
        emulator: "arm",
        processor: "cortex-a15",
        loader: "ld-linux-armhf.so.3",
        suite: "bookworm",
        // With 32 and with 64 bits of seconds.
        clock_calls: &[263, 403],
    },
    Target {
        name: "riscv64-linux-gnu",
        debian: "riscv64",
        rust: "riscv64gc-unknown-linux-gnu",
        emulator: "riscv64",
        processor: "rv64",
        loader: "ld-linux-riscv64-lp64d.so.1",
        suite: "trixie",
        clock_calls: &[113],
    },
];

impl Target {
    /// The one of this name, GNU's or Debian's.
    ///
    /// # Errors
    /// When none has it.
    pub fn find(name: &str) -> Result<&'static Target> {
        let found = TARGETS.iter().find(|target| [target.name, target.debian].contains(&name));
        found.with_context(|| {
            let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            format!("unknown target '{name}'; choose from {}", known.join(", "))
        })
    }

    /// The machine's own; none where that is none of them.
    pub fn machine() -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.is_machine())
    }

    /// Whether it is the machine's own.
    pub fn is_machine(&self) -> bool {
        self.name.split('-').next() == Some(env::consts::ARCH)
    }

    /// Where its libraries are, below a root.
    pub(super) fn libraries(&self) -> String {
        format!("usr/lib/{}", self.name)
    }

    /// What starts its programs, below a root. The link to it from the root's top leads out of
    /// some roots.
    pub(super) fn loader(&self) -> String {
        format!("{}/{}", self.libraries(), self.loader)
    }

    /// Debian's package of the compiler for it on other machines.
    pub(super) fn compiler_package(&self) -> String {
        format!("g++-{}", self.name.replace('_', "-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_goes_by_two_names() {
        assert_eq!(Target::find("armhf").unwrap(), Target::find("arm-linux-gnueabihf").unwrap());
        let error = Target::find("vax").unwrap_err().to_string();
        assert!(error.contains("'vax'") && error.contains("riscv64-linux-gnu"), "{error}");
        assert_eq!(Target::find("amd64").unwrap().compiler_package(), "g++-x86-64-linux-gnu");
    }

    #[test]
    fn the_machine_is_one_of_them_where_tests_run() {
        assert!(Target::machine().is_some_and(Target::is_machine));
    }
}
