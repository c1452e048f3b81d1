//! Where compilers, headers, libraries and generators come from.

mod copied_libraries;
mod cross;
mod emulator;
mod prefix;
mod root;
mod target;
mod unpacked;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use anyhow::{bail, Result};

use crate::cmake::linker_flags;
use crate::need::Need;
use crate::package;
use crate::tool::{first_line, run};

pub use copied_libraries::copy_libraries;
pub use cross::CrossToolchain;
pub use emulator::EmulatorProgram;
pub use prefix::Prefix;
pub use root::{DebianRoot, RootOptions};
pub use target::Target;

/// Where compilers, headers, libraries and generators come from.
#[derive(Debug)]
pub enum Toolchain {
    /// The machine.
    System,
    /// A bare root of another release, which is kept in the build folder.
    Root(Arc<DebianRoot>),
    /// The machine's compiler, and a library of the user's own build.
    Prefix(Prefix),
    /// A root's compiler, and the machine's libraries and generators.
    Recompiled(Arc<DebianRoot>, Prefix),
    /// Compilers for another architecture, and that one's libraries.
    Cross(Arc<CrossToolchain>),
    /// One that cannot be had: what marks its rows, and why.
    Absent(&'static str, String),
}

impl Toolchain {
    /// What marks the rows that it builds; nothing for the machine's.
    pub fn label(&self) -> &str {
        match self {
            // All rows of a run are of one target.
            Toolchain::System | Toolchain::Cross(_) => "",
            Toolchain::Root(root) => root.label(),
            Toolchain::Prefix(prefix) | Toolchain::Recompiled(_, prefix) => prefix.label(),
            Toolchain::Absent(label, _) => label,
        }
    }

    /// What tells it from others: it is part of the name of folders.
    pub fn key(&self) -> String {
        match self {
            Toolchain::System => String::new(),
            Toolchain::Root(root) => format!("-{}", root.label()),
            Toolchain::Prefix(prefix) => format!("-{}", prefix.key()),
            Toolchain::Cross(cross) => cross.key(),
            Toolchain::Recompiled(..) | Toolchain::Absent(..) => format!("-{}", self.label()),
        }
    }

    /// What changes where anything of it changed that is not among the packages.
    ///
    /// # Errors
    /// When a prefix cannot be read.
    pub fn stamp(&self) -> Result<String> {
        match self {
            Toolchain::System => Ok(String::new()),
            Toolchain::Root(root) => Ok(root.folder().display().to_string()),
            Toolchain::Prefix(prefix) => prefix.stamp(),
            Toolchain::Recompiled(root, prefix) => {
                Ok(format!("{} {}", root.folder().display(), prefix.stamp()?))
            }
            Toolchain::Cross(cross) => Ok(cross.stamp()),
            Toolchain::Absent(..) => Ok(String::new()),
        }
    }

    /// Why nothing can be built with it; none where there is it.
    pub fn unavailable_reason(&self) -> Option<&str> {
        match self {
            Toolchain::Absent(_, why) => Some(why),
            _ => None,
        }
    }

    /// What it lacks of this, and what to do about it.
    pub fn explain_missing(&self, need: &Need) -> Option<String> {
        match self {
            Toolchain::System | Toolchain::Recompiled(..) => need.explain_missing(),
            Toolchain::Absent(_, why) => Some(why.clone()),
            Toolchain::Root(root) => root.explain_missing(need),
            Toolchain::Prefix(prefix) => prefix.explain_missing(need),
            Toolchain::Cross(cross) => cross.explain_missing(need),
        }
    }

    /// A compiler that it lacks, and what to do about it. Where it has none of its own, it is
    /// the machine's.
    pub fn explain_missing_compiler(&self, need: &Need) -> Option<String> {
        match self {
            Toolchain::Root(root) | Toolchain::Recompiled(root, _) => root.explain_missing(need),
            Toolchain::Cross(cross) => cross.explain_missing(need),
            _ => need.explain_missing(),
        }
    }

    /// A program of it, to be run in this folder.
    pub fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = match self {
            Toolchain::Root(root) => root.command(program),
            Toolchain::Prefix(prefix) => prefix.command(program),
            Toolchain::Cross(cross) => cross.command(program),
            _ => Command::new(program),
        };
        command.current_dir(folder);
        command
    }

    /// The C compiler of its programs, as it is called on this machine.
    ///
    /// # Errors
    /// When it cannot be written where it is a script.
    pub fn c_compiler(&self) -> Result<String> {
        match self {
            Toolchain::Cross(cross) => cross.c_compiler(),
            _ => Ok("cc".into()),
        }
    }

    /// What CMake has to be told of it.
    ///
    /// # Errors
    /// When what it needs cannot be written.
    pub fn cmake(&self) -> Result<Vec<String>> {
        match self {
            Toolchain::System => Ok(Vec::new()),
            Toolchain::Root(root) => root.cmake(""),
            Toolchain::Prefix(prefix) => Ok(vec![linker_flags(&prefix.linking())]),
            Toolchain::Recompiled(root, prefix) => root.cmake(&prefix.linking()),
            Toolchain::Cross(cross) => cross.cmake(),
            Toolchain::Absent(_, why) => bail!("{why}"),
        }
    }

    /// Folders of headers that go before the compiler's own.
    pub fn includes(&self) -> Vec<PathBuf> {
        match self {
            Toolchain::Prefix(prefix) | Toolchain::Recompiled(_, prefix) => prefix.includes(),
            _ => Vec::new(),
        }
    }

    /// The words that link a library, as `protobuf` or `-lprotobuf`, and what its
    /// headers call beside it.
    ///
    /// # Errors
    /// When it is not there.
    pub fn link(&self, library: &str) -> Result<Vec<String>> {
        match self {
            Toolchain::System => Ok(vec![library.into()]),
            Toolchain::Root(root) => Ok(root.link(library)),
            Toolchain::Cross(cross) => Ok(cross.link(library)),
            Toolchain::Prefix(prefix) | Toolchain::Recompiled(_, prefix) => prefix.link(library),
            Toolchain::Absent(_, why) => bail!("{why}"),
        }
    }

    /// Where a library's file is, by its name: `libz.a`, `libz.so.1`; none where it is not
    /// there. What a prefix has as a shared library alone is no archive of the machine's.
    pub fn find_library(&self, name: &str) -> Option<PathBuf> {
        if let Toolchain::Prefix(prefix) | Toolchain::Recompiled(_, prefix) = self {
            let own = prefix.find_library(name);
            let is_shared = |stem: &str| prefix.find_library(&format!("{stem}.so")).is_some();
            if own.is_some() || name.strip_suffix(".a").is_some_and(is_shared) {
                return own;
            }
        }
        if let Toolchain::Cross(cross) = self {
            return cross.find_library(name);
        }
        let mut command = self.command("c++", Path::new("/"));
        let path = run(command.arg(format!("-print-file-name={name}")), "c++").ok()?;
        // What it does not find it gives back as it is.
        let path = Path::new(path.trim()).strip_prefix("/").ok()?;
        Some(match self {
            Toolchain::Root(root) => root.folder().join(path),
            _ => Path::new("/").join(path),
        })
    }

    /// The C++ compiler and its version; empty where there is none.
    pub fn compiler(&self) -> String {
        static MACHINE: OnceLock<String> = OnceLock::new();
        match self {
            Toolchain::Root(root) | Toolchain::Recompiled(root, _) => root.compiler(),
            Toolchain::Cross(cross) => cross.compiler(),
            _ => MACHINE.get_or_init(|| first_line(&mut Command::new("c++"))).clone(),
        }
    }

    /// The version of a Debian package; none where it is not there, or a prefix
    /// brings what the package would.
    pub fn version(&self, package: &str) -> Option<String> {
        match self {
            Toolchain::System | Toolchain::Recompiled(..) => package::version(package),
            Toolchain::Root(root) => root.packages().get(package).cloned(),
            Toolchain::Cross(cross) => cross.version(package),
            Toolchain::Prefix(_) | Toolchain::Absent(..) => None,
        }
    }

    /// The year of a package's version: of the first changelog entry that brought
    /// it; none where there is no changelog.
    pub fn year(&self, package: &str) -> Option<u32> {
        let root = match self {
            Toolchain::System | Toolchain::Recompiled(..) => Path::new("/").to_owned(),
            Toolchain::Root(root) => root.folder(),
            Toolchain::Cross(cross) => cross.sysroot(),
            Toolchain::Prefix(_) | Toolchain::Absent(..) => return None,
        };
        package::year(&root, package, &self.version(package)?)
    }

    /// Whose libraries these are, in words.
    pub fn describe_source(&self) -> String {
        match self {
            Toolchain::System | Toolchain::Recompiled(..) => "the distribution's".into(),
            Toolchain::Root(root) => root.describe_source(),
            Toolchain::Cross(cross) => cross.describe_source(),
            Toolchain::Prefix(prefix) => prefix.folder().display().to_string(),
            Toolchain::Absent(_, why) => why.clone(),
        }
    }
}
