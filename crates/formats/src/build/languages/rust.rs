//! The Rust runners: one package a message, one program a codec.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{anyhow, Context, Result};
use serde::Deserialize;
use wiregauge_build_tools::toolchain;
use wiregauge_build_tools::{
    copy_program, first_error, lock, run, write_if_changed, CompilerProcess, Progress, Toolchain,
};
use wiregauge_normalized::{rust, Unit};

use crate::build::build_system::BuildSystem;
use crate::build::runner_build::{BuildFolders, RunnerBuild};
use crate::build::CompilerFlags;
use crate::runner_language::RunnerLanguage;

/// Rust, by the pinned toolchain.
pub static RUST: RunnerLanguage = RunnerLanguage {
    name: "Rust",
    key: "rust",
    is_default: true,
    needs: &[],
    flags: "release: opt-level 3, one codegen unit",
    takes_libraries_of_toolchain: false,
    link_time: "lto=\"fat\"",
    unexplained: None,
    compiler: |_| rustc(),
    folder: |group, name| group.join("src/bin").join(name),
    message: |unit| Ok(rust::message(unit).into_iter().map(|file| file.text).collect()),
};

inventory::submit! { BuildSystem { language: &RUST, compile } }

/// What cargo reports of its work, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Report {
    CompilerArtifact {
        package_id: String,
        target: Target,
        executable: Option<PathBuf>,
    },
    CompilerMessage {
        target: Target,
        message: Diagnostic,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
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
fn add_standard_library(target: &toolchain::Target, progress: Progress) -> Result<PathBuf> {
    let folder = run(Command::new("rustc").args(["--print", "sysroot"]), "rustc")?;
    let folder = PathBuf::from(folder.trim());
    if folder.join("lib/rustlib").join(target.rust).is_dir() {
        return Ok(folder);
    }
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

/// Compiles the programs; an outcome for each build, in order.
fn compile(
    place: &BuildFolders,
    unit: &Unit,
    builds: &[&RunnerBuild],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    let release = builds[0].variant.release.as_deref();
    let folder = place.message.join(builds[0].variant.group());
    let message = folder.join("src/message");
    fs::create_dir_all(&message)?;
    let fixed = place.common.folder.join("rust");
    // In a shared target folder cargo tells packages apart by name and version,
    // not by path: without a version of its own, one message's programs would
    // pass for another's.
    let hash = place.message.file_name().context("the message's folder has a name")?;
    let of_release = release.map_or_else(String::new, |release| format!("-r{}", release.key()));
    let flags = builds[0].variant.flags.as_deref();
    let of_flags = flags.map_or_else(String::new, |flags| format!("-f{}", flags.key()));
    let version = format!("version = \"0.0.0-{}{of_release}{of_flags}\"", hash.to_string_lossy());
    let own = |text: String| text.replacen("version = \"0.0.0\"", &version, 1);
    let manifest = fs::read_to_string(fixed.join("Cargo.toml"))?
        .replace("path = \"..", &format!("path = \"{}", place.common.folder.display()));
    let locked = fs::read_to_string(fixed.join("Cargo.lock"))?;
    let manifest = match release {
        Some(release) => release.manifest(&own(manifest))?,
        None => own(manifest),
    };
    // Cargo has written into the lock what another release depends on.
    let is_locked = release.is_some()
        && folder.join("Cargo.lock").exists()
        && fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|old| old == manifest);
    if !is_locked {
        write_if_changed(&folder.join("Cargo.lock"), own(locked.clone()).as_bytes())?;
    }
    write_if_changed(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    for file in rust::message(unit) {
        let path = message.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(&message))?;
        write_if_changed(&path, file.text.as_bytes())?;
    }

    // Programs of all messages go by the same names in the target folder: they are
    // taken out of it before another message's are built there.
    let programs_folder = folder.join("programs");
    fs::create_dir_all(&programs_folder)?;
    fs::create_dir_all(&place.target)?;
    let _lock = lock(&place.target)?;
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--keep-going", "--message-format=json"])
        .args(release.is_none().then_some("--locked"))
        .args(
            flags
                .into_iter()
                .flat_map(CompilerFlags::arguments)
                .flat_map(|setting| ["--config".to_owned(), format!("profile.release.{setting}")]),
        )
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", &place.target)
        // The caller's wish for its own build is not the runners'.
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Toolchain::Cross(cross) = &*builds[0].variant.toolchain {
        let triple = cross.target().rust;
        let linker = cross.linker(&add_standard_library(cross.target(), progress)?)?;
        let variable = triple.replace('-', "_").to_uppercase();
        // The linker sees files that are below the build folder.
        command.args(["--target", triple]).env("TMPDIR", &place.target);
        command.env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
    }
    for build in builds {
        command.args(["--bin", build.variant.codec.name]);
        for feature in &build.emission.features {
            command.args(["--features", feature]);
        }
    }
    let mut child =
        CompilerProcess(command.spawn().context("cannot start cargo; install Rust with rustup")?);
    let errors = child.0.stderr.take().context("cargo's stderr is piped")?;
    let errors = std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default());

    let total = locked.matches("[[package]]").count() + builds.len();
    let mut seen = BTreeSet::new();
    let mut programs = BTreeMap::new();
    let mut failures = BTreeMap::new();
    let output = BufReader::new(child.0.stdout.take().context("cargo's stdout is piped")?);
    for line in output.lines() {
        match serde_json::from_str(&line?) {
            Ok(Report::CompilerArtifact { package_id, target, executable }) => {
                seen.insert((package_id, executable.is_some().then(|| target.name.clone())));
                progress(&format!("compiling Rust: {}", target.name), seen.len(), total)?;
                if let Some(executable) = executable {
                    let program = programs_folder.join(&target.name);
                    let _ = fs::remove_file(&program);
                    fs::hard_link(&executable, &program)
                        .or_else(|_| copy_program(&executable, &program))?;
                    programs.insert(target.name, program);
                }
            }
            Ok(Report::CompilerMessage { target, message }) if message.level == "error" => {
                failures.entry(target.name).or_insert(message.message);
            }
            _ => {}
        }
    }
    let status = child.0.wait()?;
    let errors = errors.join().unwrap_or_default();
    Ok(builds
        .iter()
        .map(|build| {
            let name = build.variant.codec.name;
            programs.remove(name).ok_or_else(|| {
                let why = failures
                    .get(name)
                    .cloned()
                    .unwrap_or_else(|| format!("cargo {status}: {}", first_error(&[&errors])));
                anyhow!("does not compile: {why} (see {})", build.folder.display())
            })
        })
        .collect())
}
