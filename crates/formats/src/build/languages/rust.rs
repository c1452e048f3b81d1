//! The Rust runners: one package a message, one program a codec.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::Result;
use wiregauge_build_tools::program_apart::{profile, RELEASE};
use wiregauge_build_tools::{rustc, Need, Progress};
use wiregauge_normalized::{rust, Unit};

use crate::build::build_system::BuildSystem;
use crate::build::cargo_package::CargoPackage;
use crate::build::cross_target::CrossTarget;
use crate::build::footprint_builds::rust::compile_footprints;
use crate::build::runner_build::{BuildFolders, RunnerBuild};
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
    compiler: |_| rustc_version(),
    folder: |group, name| group.join("src/bin").join(name),
    message: |unit| Ok(rust::message(unit).into_iter().map(|file| file.text).collect()),
};

/// Libraries that take half of the time that all take to compile. Where another profile is named,
/// for tests, they are not optimized.
const HEAVY: [&str; 8] = [
    "arrow-array",
    "arrow-buffer",
    "arrow-cmp",
    "arrow-data",
    "arrow-ipc",
    "arrow-schema",
    "arrow-select",
    "rasn",
];

inventory::submit! {
    BuildSystem { language: &RUST, compile, compile_footprints: Some(compile_footprints) }
}

/// The first line that rustc prints of its version; nothing where there is none.
fn rustc_version() -> String {
    static RUST: OnceLock<String> = OnceLock::new();
    RUST.get_or_init(|| {
        let output = rustc().arg("--version").stdin(Stdio::null()).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().next().unwrap_or_default().trim().to_owned()
    })
    .clone()
}

/// Compiles the programs; an outcome for each build, in order.
fn compile(
    place: &BuildFolders,
    unit: &Unit,
    builds: &[&RunnerBuild],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    let package = CargoPackage::write(place, unit, builds)?;
    let mut settings: Vec<String> = builds[0].variant.arguments().map(str::to_owned).collect();
    if profile() != RELEASE {
        settings.extend(HEAVY.map(|library| format!("package.{library}.opt-level=0")));
    }
    let cross = CrossTarget::find(&builds[0].variant, &package.folder, progress)?;
    let adjust = |command: &mut Command| {
        if let Some(cross) = &cross {
            cross.adjust(command, place);
        }
    };
    package.build(builds, &settings, "programs", adjust, progress)
}
