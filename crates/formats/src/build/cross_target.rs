//! Rust for a target that is not the machine's.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::toolchain::Target;
use wiregauge_build_tools::{network, run, Progress, Toolchain};

use crate::build::runner_build::BuildFolders;
use crate::build::variant::Variant;

/// What cargo is told of a target that is not the machine's.
pub(super) struct CrossTarget {
    /// As Rust calls it.
    pub(super) triple: &'static str,
    linker: String,
}

impl CrossTarget {
    /// That of a row which is compiled in this folder, with its standard library; none where the
    /// row is of the machine.
    pub(super) fn find(
        row: &Variant,
        folder: &Path,
        progress: Progress,
    ) -> Result<Option<CrossTarget>> {
        let Toolchain::Cross(cross) = &*row.toolchain else { return Ok(None) };
        let compiler = add_standard_library(cross.target(), folder, progress)?;
        Ok(Some(CrossTarget { triple: cross.target().rust, linker: cross.linker(&compiler)? }))
    }

    /// Has cargo build for it.
    pub(super) fn adjust(&self, command: &mut Command, place: &BuildFolders) {
        let variable = self.triple.replace('-', "_").to_uppercase();
        // The linker sees files that are below the build folder.
        command.args(["--target", self.triple]).env("TMPDIR", &place.target);
        command.env(format!("CARGO_TARGET_{variable}_LINKER"), &self.linker);
    }
}

/// The folder of the compiler that rustup takes in this folder, which need not be that of the
/// working folder, with the standard library for a target: by rustup where it is not there yet.
fn add_standard_library(target: &Target, within: &Path, progress: Progress) -> Result<PathBuf> {
    let mut command = Command::new("rustc");
    let folder = run(command.args(["--print", "sysroot"]).current_dir(within), "rustc")?;
    let folder = PathBuf::from(folder.trim());
    if folder.join("lib/rustlib").join(target.rust).is_dir() {
        return Ok(folder);
    }
    network::allow_download(&format!("Rust's standard library for {}", target.rust))?;
    progress(&format!("fetching Rust's standard library for {}", target.rust), 0, 1)?;
    // Of the toolchain that compiles, whichever is the default.
    let toolchain = folder.file_name().unwrap_or_default();
    let mut command = Command::new("rustup");
    command.args(["target", "add", target.rust, "--toolchain"]).arg(toolchain);
    run(&mut command, "rustup").with_context(|| {
        format!("Rust's standard library for {0} is missing: rustup target add {0}", target.rust)
    })?;
    Ok(folder)
}
