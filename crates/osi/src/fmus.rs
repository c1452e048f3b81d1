//! Builds the FMUs, whose sources this program carries, with OSI's types from
//! the official descriptors.
//!
//! ```text
//! BUILD/fmus/HASH/definitions/         osi.fds, tables.fbs, structs.fbs
//! BUILD/fmus/HASH/source/              fmus/ and the packed field's header
//! BUILD/fmus/HASH/{release,debug}/     CMake's folder; the FMUs are in fmus/
//! BUILD/fmus/HASH/windows/             the same of those that Windows loads, too
//! ```
//!
//! HASH is that of the definitions: OSI's own code takes minutes to compile,
//! and what a change of our sources calls for is ninja's to find out.

use std::fmt;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use wiregauge_build_tools::program_apart::{profile, RELEASE};
use wiregauge_build_tools::{
    check_starts_programs, cmake, create_build_folder, embedded, hash, lock, write_if_changed,
    Need, Progress,
};

use crate::descriptors::descriptors;
use crate::flatbuffers::Definitions;
use crate::python::Python;

/// What a model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// SensorView out.
    Source,
    /// SensorView in, SensorData out.
    Sensor,
    /// SensorView in, TrafficUpdate out.
    Pedestrian,
    /// SensorView out, of a trace file.
    Player,
    /// SensorView in, into a trace file.
    Recorder,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Source => "source",
            Model::Sensor => "sensor",
            Model::Pedestrian => "pedestrian",
            Model::Player => "player",
            Model::Recorder => "recorder",
        })
    }
}

/// The compiler for Windows: with threads as POSIX has them, which the C++ library wants.
const WINDOWS_COMPILER: Need =
    Need::Program("x86_64-w64-mingw32-g++-posix", "g++-mingw-w64-x86-64-posix");
/// FlatBuffers' headers, which are those of Linux, too.
const FLATBUFFERS: Need = Need::Header("flatbuffers/flatbuffers.h", "libflatbuffers-dev");

/// How messages are written: the name of a file in `fmus/encodings/`, and its
/// name in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// `flatbuffers-tables`.
    pub name: &'static str,
    /// `FlatBuffers tables`.
    pub title: &'static str,
    /// Whether there are FMUs with FMI 3's binary variables.
    pub fmi3: bool,
}

impl Encoding {
    /// Whether it is compiled for Windows, too: Debian has no library of Protobuf for it.
    pub fn is_for_windows(&self) -> bool {
        self.name.starts_with("flatbuffers")
    }
}

/// All encodings, in the order of tables.
pub const ENCODINGS: [Encoding; 9] = [
    Encoding { name: "protobuf", title: "Protobuf", fmi3: true },
    Encoding { name: "protobuf-arena", title: "Protobuf arena", fmi3: true },
    Encoding { name: "flatbuffers-tables", title: "FlatBuffers tables", fmi3: false },
    Encoding { name: "flatbuffers-structs", title: "FlatBuffers structs", fmi3: false },
    Encoding { name: "flatbuffers-objects", title: "FlatBuffers Object API", fmi3: false },
    Encoding { name: "packed", title: "packed field", fmi3: true },
    Encoding { name: "packed-f32", title: "packed field, f32", fmi3: false },
    Encoding { name: "packed-reduced", title: "packed field, 1 mm", fmi3: false },
    Encoding { name: "packed-exact", title: "packed field, exact", fmi3: false },
];

/// How an FMU is compiled: by CMake's Release with `-O3`, or by its Debug. Release is quicker to
/// compile, with `-O1`, where [`PROFILE_VARIABLE`](wiregauge_build_tools::program_apart::PROFILE_VARIABLE)
/// names another profile than cargo's release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Build {
    /// Optimized.
    Release,
    /// Not optimized.
    Debug,
}

impl Build {
    /// `release` or `debug`.
    pub fn name(self) -> &'static str {
        match self {
            Build::Release => "release",
            Build::Debug => "debug",
        }
    }
}

/// One FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fmu {
    /// What it does.
    pub model: Model,
    /// How its messages are written.
    pub encoding: Encoding,
    /// FMI's version: 2 or 3.
    pub fmi: u8,
    /// How it is compiled.
    pub build: Build,
}

impl Fmu {
    /// Its name: `sensor-packed-fmi3`.
    pub fn name(&self) -> String {
        let fmi = if self.fmi == 3 { "-fmi3" } else { "" };
        format!("{}-{}{fmi}", self.model, self.encoding.name)
    }

    /// Its file's name.
    pub fn file(&self) -> String {
        format!("{}.fmu", self.name())
    }
}

/// Builds FMUs below the build folder and returns their paths, in order. One
/// that does not compile does not hinder the others. Errors are those that
/// concern all: no compiler, no OSI package.
pub fn build(folder: &Path, wanted: &[Fmu], progress: Progress) -> Result<Vec<Result<PathBuf>>> {
    let folder = create_build_folder(folder)?;
    check_starts_programs(&folder, "WIREGAUGE_BUILD")?;
    progress("fetching the OSI package", 0, wanted.len())?;
    let python = Python::environment(&folder)?;
    let descriptors = descriptors(&folder, &python)?;
    let definitions = Definitions::from_descriptors(&descriptors)?;
    let made = [
        ("osi.fds", descriptors.as_slice()),
        ("tables.fbs", definitions.tables.as_bytes()),
        ("structs.fbs", definitions.structs.as_bytes()),
    ];
    let place = folder.join("fmus").join(&hash(made.map(|(_, bytes)| bytes.to_vec()))[..16]);
    fs::create_dir_all(&place)?;
    let _lock = lock(&place)?;
    embedded::fmus().write(&place.join("source"))?;
    let folder = place.join("definitions");
    fs::create_dir_all(&folder)?;
    for (name, bytes) in made {
        write_if_changed(&folder.join(name), bytes)?;
    }

    let mut built: Vec<Option<Result<PathBuf>>> = wanted.iter().map(|_| None).collect();
    for build in [Build::Release, Build::Debug] {
        let here: Vec<usize> = (0..wanted.len()).filter(|i| wanted[*i].build == build).collect();
        let fmus: Vec<Fmu> = here.iter().map(|i| wanted[*i]).collect();
        if here.is_empty() {
            continue;
        }
        let mut settings = settings(&place, &python, build)?;
        let mut name = build.name().to_owned();
        if build == Build::Release && profile() != RELEASE {
            settings.push("-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG".into());
            name = profile();
        }
        let made = compile(&place, &name, &settings, &fmus, progress)?;
        for (index, fmu) in here.into_iter().zip(made) {
            built[index] = Some(fmu);
        }
    }
    Ok(built.into_iter().flatten().collect())
}

/// The same FMUs, optimized, with a library for 64-bit Windows beside that for Linux. They are of
/// encodings that need no library for Windows.
///
/// # Errors
/// Those of [`build`], and when there is no compiler for Windows.
pub fn build_for_windows(
    folder: &Path,
    wanted: &[Fmu],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    if let Some(why) = WINDOWS_COMPILER.explain_missing() {
        bail!("{why}");
    }
    let built = build(folder, wanted, progress)?;
    let Some(output) = built.iter().flatten().find_map(|path| path.ancestors().nth(2)) else {
        return Ok(built);
    };
    let place = output.parent().context("FMUs are built in a folder")?;
    let _lock = lock(place)?;
    let headers = FLATBUFFERS.path().context("flatbuffers/flatbuffers.h is missing")?;
    let include = place.join("include");
    let link = include.join("flatbuffers");
    fs::create_dir_all(&include)?;
    if !link.exists() {
        let _ = fs::remove_file(&link);
        symlink(headers.parent().unwrap_or(&headers), &link)?;
    }
    let encodings = ENCODINGS.iter().filter(|encoding| encoding.is_for_windows());
    let encodings: Vec<&str> = encodings.map(|encoding| encoding.name).collect();
    let mut settings =
        settings(place, &Python::environment(&folder.canonicalize()?)?, Build::Release)?;
    settings.extend([
        format!("-DENCODINGS={}", encodings.join(";")),
        format!("-DCMAKE_TOOLCHAIN_FILE={}", place.join("source/cmake/windows.cmake").display()),
        format!("-DFLATBUFFERS_INCLUDE={}", include.display()),
        format!("-DOTHER_PLATFORM={}", output.display()),
    ]);
    let there: Vec<Fmu> =
        wanted.iter().zip(&built).filter(|(_, b)| b.is_ok()).map(|(f, _)| *f).collect();
    let mut both = compile(place, "windows", &settings, &there, progress)?.into_iter();
    let both =
        built.into_iter().map(|linux| linux.and_then(|_| both.next().context("one for each")?));
    Ok(both.collect())
}

/// Compiles FMUs in a folder of the place by these settings; an outcome for each, in order.
fn compile(
    place: &Path,
    name: &str,
    settings: &[String],
    wanted: &[Fmu],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    progress(&format!("configuring the FMUs ({name})"), 0, wanted.len())?;
    let output = place.join(name);
    cmake::configure(&place.join("source"), &output, settings)?;
    let targets: Vec<String> = wanted.iter().map(|fmu| format!("fmu-{}", fmu.name())).collect();
    let log = cmake::ninja(&output, &targets, &mut |done, total, _| {
        progress(&format!("compiling the FMUs ({name})"), done, total)
    })?;
    let outcome = |fmu: &Fmu| {
        let path = output.join("fmus").join(fmu.file());
        match failure(&log, wanted, fmu) {
            None if path.exists() => Ok(path),
            why => {
                let why = why.as_deref().unwrap_or("no reason given");
                Err(anyhow!("{} does not compile: {why}", fmu.file()))
            }
        }
    };
    Ok(wanted.iter().map(outcome).collect())
}

/// What the CMake project is told.
fn settings(place: &Path, python: &Python, build: Build) -> Result<Vec<String>> {
    let definitions = place.join("definitions");
    let set = |name: &str, path: &Path| format!("-D{name}={}", path.display());
    Ok(vec![
        format!("-DCMAKE_BUILD_TYPE={}", if build == Build::Debug { "Debug" } else { "Release" }),
        set("OSI_DESCRIPTORS", &definitions.join("osi.fds")),
        set("OSI_TABLES", &definitions.join("tables.fbs")),
        set("OSI_STRUCTS", &definitions.join("structs.fbs")),
        set("PACKED_INCLUDE", &place.join("source/packed")),
        set("FMI_HEADERS", &python.fmi_headers()?),
    ])
}

/// Why an FMU is not there, out of ninja's log: what failed may be its own model, or something of
/// none of them, which all may need.
fn failure(log: &[String], wanted: &[Fmu], fmu: &Fmu) -> Option<String> {
    let is_shared = |step: &str| !wanted.iter().any(|fmu| is_of(step, fmu));
    cmake::explain_failure(log, |step| is_of(step, fmu))
        .or_else(|| cmake::explain_failure(log, is_shared))
}

/// Whether a step of ninja's is one of an FMU's model, which FMUs of both versions of FMI share.
fn is_of(step: &str, fmu: &Fmu) -> bool {
    // The longest, as one encoding's name may begin with another's.
    let of = ENCODINGS.iter().filter(|e| step.contains(&format!("{}-{}", fmu.model, e.name)));
    of.max_by_key(|e| e.name.len()).is_some_and(|e| *e == fmu.encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_of_its_fmus_or_of_all() {
        let fmu = |model, at: usize| Fmu {
            model,
            encoding: ENCODINGS[at],
            fmi: 2,
            build: Build::Release,
        };
        let wanted = [fmu(Model::Source, 0), fmu(Model::Source, 1), fmu(Model::Sensor, 0)];
        let said = |step: &str| {
            let log = [format!("FAILED: {step} "), "c++ a.cpp".into(), "a.cpp:1: error: no".into()];
            wanted.each_ref().map(|fmu| failure(&log, &wanted, fmu).is_some())
        };
        let arena = "CMakeFiles/model-source-protobuf-arena.dir/models/source.cpp.o";
        assert_eq!(said(arena), [false, true, false]);
        assert_eq!(said("fmus/source-protobuf.fmu"), [true, false, false]);
        for shared in ["CMakeFiles/osi.dir/protobuf/a.pb.cc.o", "CMakeFiles/protobuf-headers.dir/a"]
        {
            assert_eq!(said(shared), [true; 3], "{shared}");
        }
    }
}
