//! The Rust runners: one package a message, one program a codec.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use wiregauge_build_tools::toolchain::Target;
use wiregauge_build_tools::{network, run, Need, Progress, Toolchain};
use wiregauge_normalized::{rust, Unit};

use crate::build::build_system::BuildSystem;
use crate::build::cargo_package::CargoPackage;
use crate::build::footprint_builds::rust::compile_footprints;
use crate::build::runner_build::{BuildFolders, RunnerBuild};
use crate::build::variant::Variant;
use crate::runner_language::RunnerLanguage;

/// Rust, by the pinned toolchain.
pub static RUST: RunnerLanguage = RunnerLanguage {
    name: "Rust",
    key: "rust",
    is_default: true,
    needs: &[],
    // Its programs are linked by cc.
    compilers: &[Need::Program("cargo", "rustup"), Need::Program("cc", "build-essential")],
    flags: "release: opt-level 3, one codegen unit",
    footprint_flags: "opt-level 2 and s, panic = abort, one codegen unit, static, no \
                      relocation, sections collected",
    takes_libraries_of_toolchain: false,
    link_time: "lto=\"fat\"",
    // Libraries stay as they are, compiled once: what is generic or inlined is compiled with the
    // program.
    line_tables: &[
        "debug=\"line-tables-only\"",
        "package.\"*\".debug=false",
        "package.\"*\".strip=\"debuginfo\"",
    ],
    unexplained: None,
    compiler: |_| rustc(),
    folder: |group, name| group.join("src/bin").join(name),
    message: |unit| Ok(rust::message(unit).into_iter().map(|file| file.text).collect()),
};

inventory::submit! {
    BuildSystem { language: &RUST, compile, compile_footprints: Some(compile_footprints) }
}

/// The first line that rustc prints of its version; nothing where there is none.
fn rustc() -> String {
    static RUST: OnceLock<String> = OnceLock::new();
    RUST.get_or_init(|| {
        let output = Command::new("rustc").arg("--version").stdin(Stdio::null()).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().next().unwrap_or_default().trim().to_owned()
    })
    .clone()
}

/// The folder of the compiler, with the standard library for a target: by rustup where it is
/// not there yet.
fn add_standard_library(target: &Target, progress: Progress) -> Result<PathBuf> {
    let folder = run(Command::new("rustc").args(["--print", "sysroot"]), "rustc")?;
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

/// What cargo is told of a target that is not the machine's.
pub(in crate::build) struct CrossTarget {
    /// As Rust calls it.
    pub(in crate::build) triple: &'static str,
    linker: String,
}

impl CrossTarget {
    /// That of a row, with its standard library; none where the row is of the machine.
    pub(in crate::build) fn find(row: &Variant, progress: Progress) -> Result<Option<CrossTarget>> {
        let Toolchain::Cross(cross) = &*row.toolchain else { return Ok(None) };
        let compiler = add_standard_library(cross.target(), progress)?;
        Ok(Some(CrossTarget { triple: cross.target().rust, linker: cross.linker(&compiler)? }))
    }

    /// Has cargo build for it.
    pub(in crate::build) fn adjust(&self, command: &mut Command, place: &BuildFolders) {
        let variable = self.triple.replace('-', "_").to_uppercase();
        // The linker sees files that are below the build folder.
        command.args(["--target", self.triple]).env("TMPDIR", &place.target);
        command.env(format!("CARGO_TARGET_{variable}_LINKER"), &self.linker);
    }
}

/// Compiles the programs; an outcome for each build, in order.
fn compile(
    place: &BuildFolders,
    unit: &Unit,
    builds: &[&RunnerBuild],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    let package = CargoPackage::write(place, unit, builds)?;
    let profile: Vec<String> = builds[0].variant.arguments().map(str::to_owned).collect();
    let cross = CrossTarget::find(&builds[0].variant, progress)?;
    let adjust = |command: &mut Command| {
        if let Some(cross) = &cross {
            cross.adjust(command, place);
        }
    };
    package.build(builds, &profile, "programs", adjust, progress)
}
