//! What must be on the machine, and which package brings it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Something that must be on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A program on the path, and the Debian package that brings it.
    Program(&'static str, &'static str),
    /// A header below /usr/include, and the Debian package that brings it.
    Header(&'static str, &'static str),
    /// A jar below /usr/share/java, and the Debian package that brings it. Programs in Java that
    /// need it get it on their class path.
    Jar(&'static str, &'static str),
    /// A Python module in the distribution's folder, and the Debian package that brings it.
    Module(&'static str, &'static str),
}

/// Where Debian's packages put Python's modules, whichever interpreter is asked.
const MODULES: &str = "/usr/lib/python3/dist-packages";

/// The first program of this name on the path.
pub fn find_program(name: impl AsRef<Path>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|program| program.is_file())
}

/// All programs of this name in the folders of a path, in its order. Links to one program are
/// one.
pub fn find_programs(path: &OsStr, name: impl AsRef<Path>) -> Vec<PathBuf> {
    let mut found: Vec<(PathBuf, PathBuf)> = Vec::new();
    for program in std::env::split_paths(path).map(|folder| folder.join(&name)) {
        let Ok(real) = program.canonicalize() else { continue };
        if real.is_file() && found.iter().all(|(_, known)| *known != real) {
            found.push((program, real));
        }
    }
    found.into_iter().map(|(program, _)| program).collect()
}

impl Need {
    /// What is needed, and the Debian package that brings it.
    pub fn names(&self) -> (&'static str, &'static str) {
        let (Need::Program(name, package)
        | Need::Header(name, package)
        | Need::Jar(name, package)
        | Need::Module(name, package)) = self;
        (name, package)
    }

    /// Where the machine has it.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Need::Header(name, _) => {
                Some(Path::new("/usr/include").join(name)).filter(|path| path.exists())
            }
            Need::Jar(name, _) => {
                Some(Path::new("/usr/share/java").join(name)).filter(|path| path.exists())
            }
            Need::Module(name, _) => {
                Some(Path::new(MODULES).join(name)).filter(|path| path.exists())
            }
            Need::Program(name, _) => find_program(name),
        }
    }

    /// That the machine lacks it, and what to do about it.
    pub fn explain_missing(&self) -> Option<String> {
        let (name, package) = self.names();
        // Debian has it from 13 on, Ubuntu from 24.04 on.
        let other = if package == "rustup" { ", or by https://rustup.rs" } else { "" };
        let text = || format!("{name} is missing: apt-get install {package}{other}");
        (!self.is_installed()).then(text)
    }

    /// Whether the machine has it.
    pub fn is_installed(&self) -> bool {
        self.path().is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn programs_are_found_in_the_order_of_the_path_and_links_once() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, link] = ["one", "two", "link"].map(|name| folder.path().join(name));
        for place in [&one, &two, &link] {
            fs::create_dir(place).unwrap();
        }
        fs::write(one.join("tool"), "").unwrap();
        fs::write(two.join("tool"), "").unwrap();
        symlink(one.join("tool"), link.join("tool")).unwrap();
        let path = std::env::join_paths([&link, &two, &one]).unwrap();
        assert_eq!(find_programs(&path, "tool"), [link.join("tool"), two.join("tool")]);
        assert_eq!(find_programs(&path, "nonsuch"), Vec::<PathBuf>::new());
    }
}
