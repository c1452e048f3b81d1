//! One runner to be built, and what became of it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, Context, Result};
use wiregauge_build_tools::{copy_program, hash, installed_folders, run, write_if_changed};
use wiregauge_normalized::Unit;

use super::build_origin::{self, BuildOrigin};
use super::fixed_parts::FixedParts;
use super::footprint::FootprintProgram;
use super::variant::Variant;
use crate::codec::{Codec, Emission, GeneratorStep};
use crate::packaged_library;

/// One codec's program, or why there is none.
pub struct BuiltRunner {
    /// The codec.
    pub codec: &'static Codec,
    /// Key of the row.
    pub id: String,
    /// Path of its runner.
    pub program: Result<PathBuf>,
    /// What it was built with, which need not be what is on the machine now.
    pub origin: BuildOrigin,
    /// The library and its version, where that is not the one that the runner was
    /// generated for.
    pub library: Option<String>,
}

impl BuiltRunner {
    /// One that cannot be built.
    pub(super) fn failed(variant: &Variant, error: anyhow::Error) -> BuiltRunner {
        let origin = BuildOrigin::probe(variant);
        let (codec, id) = (variant.codec, variant.id());
        BuiltRunner { codec, id, program: Err(error), origin, library: None }
    }
}

/// Where things go.
pub(super) struct BuildFolders<'a> {
    pub(super) common: &'a FixedParts,
    pub(super) target: PathBuf,
    pub(super) message: PathBuf,
}

/// One runner to be built.
pub(super) struct RunnerBuild {
    pub(super) variant: Variant,
    pub(super) emission: Emission,
    /// The runner's own folder.
    pub(super) folder: PathBuf,
    /// Where the finished program goes.
    pub(super) program: PathBuf,
    /// Hash of everything that the program is made from.
    pub(super) stamp: String,
    /// What it is or would be built with.
    pub(super) origin: BuildOrigin,
}

impl RunnerBuild {
    /// `message` is what the variant's language makes of the normalized message.
    pub(super) fn prepare(
        place: &BuildFolders,
        variant: &Variant,
        unit: &Unit,
        message: &Result<Vec<String>>,
    ) -> Result<RunnerBuild> {
        let codec = variant.codec;
        let emission = (codec.emit)(unit)?;
        let group = place.message.join(variant.group());
        let folder = (codec.language.folder)(&group, codec.name);
        let mut parts = vec![place.common.hash.clone().into_bytes()];
        for file in &emission.files {
            parts.push(file.path.clone().into_bytes());
            parts.push(file.text.clone().into_bytes());
        }
        let message = message.as_ref().map_err(|error| anyhow!("{error:#}"))?;
        parts.extend(message.iter().cloned().map(String::into_bytes));
        for step in &emission.steps {
            if let GeneratorStep::Command(words) = step {
                parts.push(words.join(" ").into_bytes());
            }
        }
        parts.push(emission.sources.join(" ").into_bytes());
        parts.push(emission.libraries.join(" ").into_bytes());
        parts.push(emission.features.join(" ").into_bytes());
        parts.push(emission.requirements.into());
        parts.extend(emission.jars.iter().map(|jar| jar.sha256.into()));
        parts.push(emission.machine.into());
        parts.push(variant.toolchain.stamp()?.into_bytes());
        parts.extend(variant.release.iter().map(|release| release.describe_source().into_bytes()));
        parts.push(variant.flags().into_bytes());
        let origin = BuildOrigin::probe(variant);
        let mut program = place.message.join("bin").join(variant.program_name());
        if variant.is_footprint {
            program.as_mut_os_string().push(".footprint");
        }
        let variant = variant.clone();
        Ok(RunnerBuild { variant, emission, folder, program, stamp: hash(parts), origin })
    }

    /// The outcome, with what the program that is there was built with.
    pub(super) fn outcome(&self, program: Result<PathBuf>) -> BuiltRunner {
        let program = program.map_err(|error| {
            match packaged_library::explain_untested(self.variant.codec, &self.origin.packages) {
                Some(unknown) => error.context(unknown),
                None => error,
            }
        });
        let origin = origin_path(program.as_ref().unwrap_or(&self.program));
        let origin = build_origin::read(&origin).unwrap_or_else(|| self.origin.clone());
        let id = self.variant.id();
        BuiltRunner { codec: self.variant.codec, id, program, origin, library: self.library() }
    }

    fn library(&self) -> Option<String> {
        let release = self.variant.release.as_ref()?;
        let package = self.folder.ancestors().nth(3)?;
        release.library(&fs::read_to_string(package.join("Cargo.lock")).ok()?)
    }

    /// Whether the program that is there is the one that would be built now.
    pub(super) fn is_fresh(&self) -> bool {
        // Where there is no compiler now, what was built before still runs.
        let by_the_same = || {
            self.lacks_compiler()
                || build_origin::read(&origin_path(&self.program))
                    .is_some_and(|kept| kept == self.origin)
        };
        // A crate in a folder of the user's may have changed: cargo knows.
        let may_have_changed = self.variant.release.as_ref().is_some_and(|r| r.folder().is_some());
        !may_have_changed && self.is_made_into(&self.program) && by_the_same()
    }

    /// The program that an installed package has of it, where this machine lacks a compiler.
    pub(super) fn find_installed(&self) -> Option<PathBuf> {
        let name = self.program.strip_prefix(self.program.ancestors().nth(4)?).ok()?;
        let programs = installed_folders().into_iter().map(|folder| folder.join(name));
        programs.filter(|_| self.lacks_compiler()).find(|program| self.is_made_into(program))
    }

    /// Whether this program is made from the same.
    fn is_made_into(&self, program: &Path) -> bool {
        let stamp = fs::read_to_string(sibling_path(program, "stamp"));
        program.exists() && stamp.is_ok_and(|stamp| stamp == self.stamp)
    }

    fn lacks_compiler(&self) -> bool {
        let lacks = |need| self.variant.toolchain.explain_missing_compiler(need).is_some();
        self.origin.compiler.is_empty() || self.variant.codec.language.compilers.iter().any(lacks)
    }

    /// Writes the emitted files and runs the generators.
    pub(super) fn generate(&self) -> Result<()> {
        self.link_arguments()?;
        // A program in Python or Java is these files: if one fails, what is there is neither the
        // new program nor the old one.
        match fs::remove_file(sibling_path(&self.program, "stamp")) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        fs::create_dir_all(&self.folder)?;
        for file in &self.emission.files {
            let path = self.folder.join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            write_if_changed(&path, file.text.as_bytes())?;
        }
        for step in &self.emission.steps {
            match step {
                GeneratorStep::Call(generate) => generate(&self.folder)?,
                GeneratorStep::Command(words) => {
                    let (program, arguments) =
                        words.split_first().context("the command is empty")?;
                    let mut command = self.variant.toolchain.command(program, &self.folder);
                    run(command.args(arguments), program)?;
                }
            }
        }
        Ok(())
    }

    /// The words that link its libraries.
    pub(super) fn link_arguments(&self) -> Result<Vec<String>> {
        let toolchain = &self.variant.toolchain;
        let words: Result<Vec<_>> =
            self.emission.libraries.iter().map(|library| toolchain.link(library)).collect();
        Ok(words?.concat())
    }

    /// Puts a compiled program in its place and notes what it was made from; those of a
    /// footprint lie in a folder.
    pub(super) fn install(&self, made: &Path) -> Result<PathBuf> {
        if self.variant.is_footprint {
            fs::create_dir_all(&self.program)?;
            for program in FootprintProgram::for_codec(self.variant.codec) {
                let name = program.file_name();
                let from = made.join(&name).join(self.variant.codec.name);
                if from.exists() || !program.is_shared_base {
                    copy_program(&from, &self.program.join(name))?;
                }
            }
        } else {
            copy_program(made, &self.program)?;
        }
        fs::write(origin_path(&self.program), serde_json::to_vec_pretty(&self.origin)?)?;
        fs::write(sibling_path(&self.program, "stamp"), &self.stamp)?;
        Ok(self.program.clone())
    }
}

/// What says what a program was built with.
fn origin_path(program: &Path) -> PathBuf {
    sibling_path(program, "origin.json")
}

/// The file beside a program that ends in this.
fn sibling_path(program: &Path, end: &str) -> PathBuf {
    let mut name = program.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}
