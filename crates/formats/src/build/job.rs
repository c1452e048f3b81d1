//! One runner to be built, and what became of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_holders::{cpp, rust, Unit};
use wiregauge_workshop::{hash, run, write_if_new};

use super::common::Common;
use super::origin::{self, Origin};
use crate::codec::{Codec, Emission, Language, Step};
use crate::release;

/// One codec's program, or why there is none.
pub struct Built {
    /// The codec.
    pub codec: &'static Codec,
    /// Path of its runner.
    pub program: Result<PathBuf>,
    /// What it was built with, which need not be what is on the machine now.
    pub origin: Origin,
}

/// Where things go.
pub(super) struct Place<'a> {
    pub(super) common: &'a Common,
    pub(super) target: PathBuf,
    pub(super) message: PathBuf,
}

/// One runner to be built.
pub(super) struct Job {
    pub(super) codec: &'static Codec,
    pub(super) emission: Emission,
    /// The runner's own folder.
    pub(super) folder: PathBuf,
    /// Where the finished program goes.
    pub(super) program: PathBuf,
    /// Hash of everything that the program is made from.
    pub(super) stamp: String,
    /// What it is or would be built with.
    pub(super) origin: Origin,
}

impl Job {
    pub(super) fn prepare(place: &Place, codec: &'static Codec, unit: &Unit) -> Result<Job> {
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
            Language::Cpp => vec![cpp::message(unit).into_bytes()],
        });
        for step in &emission.steps {
            if let Step::Command(words) = step {
                parts.push(words.join(" ").into_bytes());
            }
        }
        parts.push(emission.sources.join(" ").into_bytes());
        parts.push(emission.libraries.join(" ").into_bytes());
        parts.push(emission.features.join(" ").into_bytes());
        let origin = Origin::now(codec);
        let program = place.message.join("bin").join(codec.name);
        Ok(Job { codec, emission, folder, program, stamp: hash(parts), origin })
    }

    /// The outcome, with what the program that is there was built with.
    pub(super) fn built(&self, program: Result<PathBuf>) -> Built {
        let program =
            program.map_err(|error| match release::unknown(self.codec, &self.origin.packages) {
                Some(unknown) => error.context(unknown),
                None => error,
            });
        let origin = origin::read(&self.origin_path()).unwrap_or_else(|| self.origin.clone());
        Built { codec: self.codec, program, origin }
    }

    pub(super) fn origin_path(&self) -> PathBuf {
        self.program.with_extension("origin.json")
    }

    pub(super) fn stamp_path(&self) -> PathBuf {
        self.program.with_extension("stamp")
    }

    pub(super) fn is_fresh(&self) -> bool {
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
    pub(super) fn generate(&self) -> Result<()> {
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
    pub(super) fn install(&self, made: &Path) -> Result<PathBuf> {
        // A running copy of the old program must not be written to.
        let _ = fs::remove_file(&self.program);
        fs::copy(made, &self.program)
            .with_context(|| format!("cannot copy {} into the build folder", made.display()))?;
        fs::write(self.origin_path(), serde_json::to_vec_pretty(&self.origin)?)?;
        fs::write(self.stamp_path(), &self.stamp)?;
        Ok(self.program.clone())
    }
}
