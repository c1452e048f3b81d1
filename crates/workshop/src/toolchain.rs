//! Where compilers, headers, libraries and generators come from.

mod prefix;
mod root;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::Result;

use crate::need::Need;
use crate::package;
use crate::tool::first_line;

pub use prefix::Prefix;
pub use root::{Root, Wish};

/// Where compilers, headers, libraries and generators come from.
#[derive(Debug)]
pub enum Toolchain {
    /// The machine.
    System,
    /// A bare root of another release, which is kept in the build folder.
    Root(Root),
    /// The machine's compiler, and a library of the user's own build.
    Prefix(Prefix),
}

impl Toolchain {
    /// What marks the rows that it builds; nothing for the machine's.
    pub fn label(&self) -> &str {
        match self {
            Toolchain::System => "",
            Toolchain::Root(root) => root.label(),
            Toolchain::Prefix(prefix) => prefix.label(),
        }
    }

    /// What tells it from others: it is part of the name of folders.
    pub fn key(&self) -> String {
        match self {
            Toolchain::System => String::new(),
            Toolchain::Root(root) => format!("-{}", root.label()),
            Toolchain::Prefix(prefix) => format!("-{}", prefix.key()),
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
        }
    }

    /// What it lacks of this, and what to do about it.
    pub fn lack(&self, need: &Need) -> Option<String> {
        match self {
            Toolchain::System => (!need.is_here()).then(|| {
                let (name, package) = need.names();
                format!("{name} is missing: apt-get install {package}")
            }),
            Toolchain::Root(root) => root.lack(need),
            Toolchain::Prefix(prefix) => prefix.lack(need),
        }
    }

    /// A program of it, to be run in this folder.
    pub fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = match self {
            Toolchain::System => Command::new(program),
            Toolchain::Root(root) => root.command(program),
            Toolchain::Prefix(prefix) => prefix.command(program),
        };
        command.current_dir(folder);
        command
    }

    /// What CMake has to be told of it.
    ///
    /// # Errors
    /// When what it needs cannot be written.
    pub fn cmake(&self) -> Result<Vec<String>> {
        match self {
            Toolchain::System => Ok(Vec::new()),
            Toolchain::Root(root) => root.cmake(),
            Toolchain::Prefix(prefix) => Ok(prefix.cmake()),
        }
    }

    /// Folders of headers that go before the compiler's own.
    pub fn includes(&self) -> Vec<PathBuf> {
        match self {
            Toolchain::System | Toolchain::Root(_) => Vec::new(),
            Toolchain::Prefix(prefix) => vec![prefix.include()],
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
            Toolchain::Prefix(prefix) => prefix.link(library),
        }
    }

    /// The C++ compiler and its version; empty where there is none.
    pub fn compiler(&self) -> String {
        static MACHINE: OnceLock<String> = OnceLock::new();
        match self {
            Toolchain::Root(root) => root.compiler(),
            _ => MACHINE.get_or_init(|| first_line(&mut Command::new("c++"))).clone(),
        }
    }

    /// The version of a Debian package; none where it is not there, or a prefix
    /// brings what the package would.
    pub fn version(&self, package: &str) -> Option<String> {
        match self {
            Toolchain::System => package::version(package),
            Toolchain::Root(root) => root.packages().get(package).cloned(),
            Toolchain::Prefix(_) => None,
        }
    }

    /// The year of a package's version: of the first changelog entry that brought
    /// it; none where there is no changelog.
    pub fn year(&self, package: &str) -> Option<u32> {
        let root = match self {
            Toolchain::System => Path::new("/").to_owned(),
            Toolchain::Root(root) => root.folder(),
            Toolchain::Prefix(_) => return None,
        };
        package::year(&root, package, &self.version(package)?)
    }

    /// Whose libraries these are, in words.
    pub fn whose(&self) -> String {
        match self {
            Toolchain::System => "the distribution's".into(),
            Toolchain::Root(root) => root.whose(),
            Toolchain::Prefix(prefix) => prefix.folder().display().to_string(),
        }
    }
}
