//! In Rust: features of the package say what is called.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::{lock, run, rustc, Progress, Toolchain};
use wiregauge_normalized::Unit;

use crate::build::cargo_package::CargoPackage;
use crate::build::cross_target::CrossTarget;
use crate::build::footprint::{link_flags, FootprintLevel, FootprintProgram, WRAPPED};
use crate::build::runner_build::{BuildFolders, RunnerBuild};
use crate::build::CompilerFlags;

/// Compiles the programs of each build into `FOLDER/PROGRAM/CODEC`; the folder, or why not,
/// for each build.
pub(in crate::build) fn compile_footprints(
    place: &BuildFolders,
    unit: &Unit,
    builds: &[&RunnerBuild],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    let package = CargoPackage::write(place, unit, builds)?;
    let objects = compile_measuring(place, builds[0])?;
    let cross = CrossTarget::find(&builds[0].variant, &package.folder, progress)?;
    let triple = cross.as_ref().map_or_else(host_triple, |cross| Ok(cross.triple.to_owned()))?;
    let mut flags = vec!["-Ctarget-feature=+crt-static".into(), "-Crelocation-model=static".into()];
    flags.extend(objects.iter().map(|object| format!("-Clink-arg={}", object.display())));
    flags.extend(WRAPPED.map(|name| format!("-Clink-arg=-Wl,--wrap={name}")));
    // What these objects take of the libraries of C; some linkers look for it only behind them. By
    // their whole names, as the shared ones would come in otherwise, and as a group, as each of the
    // two takes of the other.
    let libraries = ["-Wl,--start-group", "-l:libgcc.a", "-l:libc.a", "-Wl,--end-group"];
    flags.extend(libraries.map(|word| format!("-Clink-arg={word}")));
    let plain = link_flags(&builds[0].variant.toolchain);
    flags.extend(plain.iter().map(|flag| format!("-Clink-arg={flag}")));
    let flags = flags.join("\u{1f}");
    let more = builds[0].variant.flags.as_deref();
    let mut outcomes: Vec<Result<PathBuf>> =
        builds.iter().map(|_| Ok(package.folder.join("footprint"))).collect();
    let mut programs: Vec<FootprintProgram> =
        builds.iter().flat_map(|build| FootprintProgram::for_codec(build.variant.codec)).collect();
    programs.sort_by_key(FootprintProgram::file_name);
    programs.dedup();
    for program in programs.iter().filter(|program| !program.is_shared_base) {
        let takes = |build: &RunnerBuild| {
            FootprintProgram::for_codec(build.variant.codec).contains(program)
        };
        let places: Vec<usize> =
            (0..builds.len()).filter(|at| outcomes[*at].is_ok() && takes(builds[*at])).collect();
        let own: Vec<&RunnerBuild> = places.iter().map(|at| builds[*at]).collect();
        if own.is_empty() {
            continue;
        }
        let mut profile = vec![opt_level(program.level).to_owned(), "panic=\"abort\"".to_owned()];
        let given = more.into_iter().flat_map(CompilerFlags::arguments);
        profile.extend(given.map(str::to_owned));
        let mut features = vec!["footprint"];
        features.extend(program.part.encodes().then_some("footprint-encode"));
        features.extend(program.part.decodes().then_some("footprint-decode"));
        let out = format!("footprint/{}", program.file_name());
        let adjust = |command: &mut Command| {
            command.args(["--features", &features.join(",")]);
            match &cross {
                Some(cross) => cross.adjust(command, place),
                None => {
                    command.args(["--target", &triple]);
                }
            }
            command.env("CARGO_ENCODED_RUSTFLAGS", &flags);
        };
        let made = package.build(&own, &profile, &out, adjust, progress)?;
        for (at, outcome) in places.into_iter().zip(made) {
            if let Err(error) = outcome {
                outcomes[at] = Err(error);
            }
        }
    }
    Ok(outcomes)
}

fn opt_level(level: FootprintLevel) -> &'static str {
    match level {
        FootprintLevel::O2 => "opt-level=2",
        FootprintLevel::Os => "opt-level=\"s\"",
    }
}

/// Compiles what measures, as objects that every program is linked with.
fn compile_measuring(place: &BuildFolders, build: &RunnerBuild) -> Result<Vec<PathBuf>> {
    // At one place for all: cargo compiles everything anew where its flags differ.
    let folder = match &*build.variant.toolchain {
        Toolchain::Cross(cross) => place.target.join("measuring").join(cross.target().name),
        _ => place.target.join("measuring"),
    };
    std::fs::create_dir_all(&folder)?;
    let _lock = lock(&folder)?;
    let sources = place.common.folder.join("footprint");
    let compile = |name: &str| -> Result<PathBuf> {
        let object = folder.join(name).with_extension("o");
        let compiler = build.variant.toolchain.c_compiler()?;
        let mut command = Command::new(&compiler);
        // Of this machine, one in a root sees the build folder alone.
        command.current_dir(&folder);
        command.args(["-std=c11", "-O2", "-fno-builtin", "-ffunction-sections", "-fdata-sections"]);
        command.arg("-fno-pie").arg("-c").arg(sources.join(name)).arg("-o").arg(&object);
        run(&mut command, &compiler)?;
        Ok(object)
    };
    ["counter.c", "measure.c"].into_iter().map(compile).collect()
}

/// The machine's own target, as Rust calls it: flags for it are not those of build scripts.
fn host_triple() -> Result<String> {
    let said = run(rustc().arg("-vV"), "rustc")?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
