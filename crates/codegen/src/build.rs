//! From emissions to programs: writes the runners of one message into the
//! build folder, runs the formats' generators and both compilers, and keeps
//! what it built by content, so that the same message builds once.
//!
//! ```text
//! BUILD/common/HASH/       the fixed parts: runner library, C++ headers, alloc.c
//! BUILD/target/            cargo's target folder, shared by all messages
//! BUILD/messages/HASH/     one message: rust/, cpp/, and bin/ with its runners,
//!                          each with its stamp and what it was built with
//! ```

mod cargo;
pub mod cmake;
mod common;
mod cpp;
mod origin;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use sha2::{Digest, Sha256};
use wiregauge_schema::{Projection, Schema};

pub use common::Common;
pub use origin::Origin;

use crate::codec::{Codec, Emission, Language, Step, Unit};
use crate::rust;

/// What a build tells of its progress: a short word on what it does, and how
/// much of how much is done. An error that it returns, such as the user's wish
/// to stop, ends the build.
pub type Progress<'a> = &'a dyn Fn(&str, usize, usize) -> Result<()>;

/// One codec's program, or why there is none.
pub struct Built {
    /// The codec.
    pub codec: &'static Codec,
    /// Path of its runner.
    pub program: Result<PathBuf>,
    /// What it was built with, which need not be what is on the machine now.
    pub origin: Origin,
}

/// Builds the runners of `codecs` for one message below `folder`. One that
/// cannot be emitted, generated or compiled does not hinder the others.
/// Errors are those that concern all: no space, no compiler.
pub fn build(
    folder: &Path,
    schema: &Schema,
    projection: &Projection,
    codecs: &[&'static Codec],
    progress: Progress,
) -> Result<Vec<Built>> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the build folder {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let _lock = lock(&folder)?;
    let common = Common::write(&folder)?;
    let unit = Unit { schema, projection };
    let message = hash([serde_json::to_vec(schema)?, serde_json::to_vec(projection)?]);
    let place = Place {
        common: &common,
        target: folder.join("target"),
        message: folder.join("messages").join(format!("m{}", &message[..16])),
    };
    fs::create_dir_all(place.message.join("bin"))?;
    write_if_new(&place.message.join("schema.json"), &serde_json::to_vec_pretty(schema)?)?;

    let mut built: Vec<Built> = Vec::new();
    let mut stale: Vec<Job> = Vec::new();
    for codec in codecs {
        match Job::prepare(&place, codec, &unit) {
            Ok(job) if job.is_fresh() => built.push(job.built(Ok(job.program.clone()))),
            Ok(job) => stale.push(job),
            Err(error) => {
                built.push(Built { codec, program: Err(error), origin: Origin::now(codec) })
            }
        }
    }
    let mut ready = Vec::new();
    for (done, job) in stale.iter().enumerate() {
        progress(&format!("generating {}", job.codec.title), done, stale.len())?;
        match job.generate() {
            Ok(()) => ready.push(job),
            Err(error) => built.push(job.built(Err(error))),
        }
    }
    for language in [Language::Rust, Language::Cpp] {
        let jobs: Vec<&Job> =
            ready.iter().copied().filter(|job| job.codec.language == language).collect();
        if jobs.is_empty() {
            continue;
        }
        let outcomes = match language {
            Language::Rust => cargo::compile(&place, &unit, &jobs, progress)?,
            Language::Cpp => cpp::compile(&place, &unit, &jobs, progress)?,
        };
        for (job, outcome) in jobs.iter().zip(outcomes) {
            built.push(job.built(outcome.and_then(|made| job.install(&made))));
        }
    }
    let order = |b: &Built| codecs.iter().position(|c| c.name == b.codec.name);
    built.sort_by_key(order);
    Ok(built)
}

/// The allocation counter, to be preloaded into runners.
pub fn counter(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the build folder {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let _lock = lock(&folder)?;
    let common = Common::write(&folder)?;
    let object = common.folder.join("liballoc.so");
    if !object.exists() {
        let flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-fno-builtin", "-fvisibility=hidden"];
        let made = common.folder.join("liballoc.so.new");
        let mut command = Command::new("cc");
        command.args(flags).arg("-o").arg(&made).arg(common.folder.join("alloc/alloc.c"));
        run(&mut command, "cc")?;
        fs::rename(&made, &object)?;
    }
    Ok(object)
}

/// Where things go.
struct Place<'a> {
    common: &'a Common,
    target: PathBuf,
    message: PathBuf,
}

/// One runner to be built.
struct Job {
    codec: &'static Codec,
    emission: Emission,
    /// The runner's own folder.
    folder: PathBuf,
    /// Where the finished program goes.
    program: PathBuf,
    /// Hash of everything that the program is made from.
    stamp: String,
    /// What it is or would be built with.
    origin: Origin,
}

impl Job {
    fn prepare(place: &Place, codec: &'static Codec, unit: &Unit) -> Result<Job> {
        let emission = (codec.emit)(unit)?;
        let folder = match codec.language {
            Language::Rust => place.message.join("rust/src/bin").join(codec.name),
            Language::Cpp => place.message.join("cpp").join(codec.name),
        };
        let mut parts = vec![place.common.hash.clone().into_bytes()];
        for file in &emission.files {
            parts.push(file.path.clone().into_bytes());
            parts.push(file.text.clone().into_bytes());
        }
        parts.extend(match codec.language {
            Language::Rust => {
                rust::message(unit).into_iter().map(|file| file.text.into()).collect()
            }
            Language::Cpp => vec![crate::cpp::message(unit).into_bytes()],
        });
        for step in &emission.steps {
            if let Step::Command(words) = step {
                parts.push(words.join(" ").into_bytes());
            }
        }
        parts.push(emission.sources.join(" ").into_bytes());
        parts.push(emission.libraries.join(" ").into_bytes());
        let origin = Origin::now(codec);
        let program = place.message.join("bin").join(codec.name);
        Ok(Job { codec, emission, folder, program, stamp: hash(parts), origin })
    }

    /// The outcome, with what the program that is there was built with.
    fn built(&self, program: Result<PathBuf>) -> Built {
        let origin = origin::read(&self.origin_path()).unwrap_or_else(|| self.origin.clone());
        Built { codec: self.codec, program, origin }
    }

    fn origin_path(&self) -> PathBuf {
        self.program.with_extension("origin.json")
    }

    fn stamp_path(&self) -> PathBuf {
        self.program.with_extension("stamp")
    }

    fn is_fresh(&self) -> bool {
        // Where there is no compiler now, what was built before still runs.
        let by_the_same = || {
            self.origin.compiler.is_empty()
                || origin::read(&self.origin_path()).is_some_and(|kept| kept == self.origin)
        };
        self.program.exists()
            && fs::read_to_string(self.stamp_path()).is_ok_and(|stamp| stamp == self.stamp)
            && by_the_same()
    }

    /// Writes the emitted files and runs the generators.
    fn generate(&self) -> Result<()> {
        fs::create_dir_all(&self.folder)?;
        for file in &self.emission.files {
            let path = self.folder.join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            write_if_new(&path, file.text.as_bytes())?;
        }
        for step in &self.emission.steps {
            match step {
                Step::Call(generate) => generate(&self.folder)?,
                Step::Command(words) => {
                    let (program, arguments) = words.split_first().context("an empty command")?;
                    run(Command::new(program).args(arguments).current_dir(&self.folder), program)?;
                }
            }
        }
        Ok(())
    }

    /// Puts a compiled program in its place and notes what it was made from.
    fn install(&self, made: &Path) -> Result<PathBuf> {
        // A running copy of the old program must not be written to.
        let _ = fs::remove_file(&self.program);
        fs::copy(made, &self.program)
            .with_context(|| format!("cannot copy {} into the build folder", made.display()))?;
        fs::write(self.origin_path(), serde_json::to_vec_pretty(&self.origin)?)?;
        fs::write(self.stamp_path(), &self.stamp)?;
        Ok(self.program.clone())
    }
}

/// A compiler at work, which does not go on when nobody waits for it.
struct Compiler(std::process::Child);

impl Drop for Compiler {
    fn drop(&mut self) {
        // SIGTERM: cargo and ninja end their own children.
        if let (Ok(None), Ok(id)) = (self.0.try_wait(), i32::try_from(self.0.id())) {
            if let Some(id) = rustix::process::Pid::from_raw(id) {
                let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            }
            let _ = self.0.wait();
        }
    }
}

/// Runs a program to its end; the error holds the first line that it wrote of
/// what went wrong.
pub fn run(command: &mut Command, name: &str) -> Result<String> {
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}; is it installed?"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("{name} failed: {}", first_error(&[&errors, &text]));
    }
    Ok(text)
}

/// The line that tells what is wrong, out of a tool's output.
fn first_error(texts: &[&str]) -> String {
    let lines = || texts.iter().flat_map(|text| text.lines()).map(str::trim);
    lines()
        .find(|line| line.to_lowercase().contains("error"))
        .or_else(|| lines().find(|line| !line.is_empty()))
        .unwrap_or("it says nothing")
        .to_string()
}

/// Writes a file unless it has this content, so that a build system that goes
/// by time stamps sees no change where there is none.
pub fn write_if_new(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Hash of several parts, in hexadecimal.
pub fn hash(parts: impl IntoIterator<Item = Vec<u8>>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Keeps two builds out of one folder; the second waits.
pub fn lock(folder: &Path) -> Result<fs::File> {
    let path = folder.join("lock");
    let file = fs::File::create(&path)
        .with_context(|| format!("cannot write into the build folder {}", folder.display()))?;
    file.lock()?;
    ensure!(path.exists(), "the build folder {} went away", folder.display());
    Ok(file)
}
