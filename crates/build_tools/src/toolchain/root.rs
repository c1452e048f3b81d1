//! A bare root of another release, kept in the build folder: unpacked packages,
//! in which compilers and generators run. What is built in it runs outside of
//! it, by the root's own loader and libraries.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{ensure, Context, Result};

use super::target::Target;
use super::unpacked::{Selection, Unpacked};
use crate::cmake::linker_flags;
use crate::need::Need;
use crate::program_file::write_script;
use crate::progress::Progress;
use crate::tool::{first_error, first_line, is_root, shell_quoted};

/// The newest suite, and the one before it for what is newer still.
const SUITES: [&str; 2] = ["sid", "experimental"];
/// What is newest in the experimental suite. What these use, such as Abseil, is of
/// sid all the same, as they were built with it.
const PREFERENCES: &str = "Package: src:protobuf src:flatbuffers\n\
                           Pin: release a=experimental\n\
                           Pin-Priority: 990\n";
/// What compiles, and says what a library is linked with.
const COMPILERS: [&str; 2] = ["g++", "pkgconf"];
/// Runs a program in the root, with the build folder and perhaps others where they are outside.
const ENTER: &str = "root=$1 && shift && \
                     while [ \"$1\" != -- ]; do \
                     mkdir -p \"$root$1\" && mount --bind \"$1\" \"$root$1\" && shift || exit; \
                     done && shift && exec unshare --root=\"$root\" --wd=\"$PWD\" \"$@\"";

/// A bare root of another release.
#[derive(Debug)]
pub struct DebianRoot {
    label: &'static str,
    /// The suites, in words.
    source: String,
    /// What the names of its compilers begin with: `aarch64-linux-gnu-`.
    compiler_prefix: String,
    unpacked: Unpacked,
    compiler: OnceLock<String>,
}

/// How a root is to be made where there is none yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct RootOptions {
    /// Take suites whose signature has expired.
    pub expired: bool,
}

impl DebianRoot {
    /// The root of the newest suites with these packages and what they need; made
    /// where there is none.
    ///
    /// # Errors
    /// When it cannot be made: one line, with what to do.
    pub fn open_or_create(
        build: &Path,
        packages: &[&str],
        wish: RootOptions,
        progress: Progress,
    ) -> Result<DebianRoot> {
        machine()?;
        let selection = Selection {
            name: "current",
            what: "the newest libraries",
            suites: &SUITES,
            preferences: PREFERENCES,
            packages: [&COMPILERS[..], packages].concat(),
            is_expired_allowed: wish.expired,
            ..Selection::default()
        };
        let unpacked = Unpacked::open_or_create(build, &selection, progress)?;
        let source = format!("Debian's newest suites' ({})", SUITES.join(", "));
        DebianRoot::enter("current", source, String::new(), unpacked)
    }

    /// The root in which compilers for a target run, and these packages.
    pub(super) fn with_cross_compilers(
        build: &Path,
        target: &Target,
        packages: &[&str],
        progress: Progress,
    ) -> Result<DebianRoot> {
        let compiler = target.compiler_package();
        let selection = Selection {
            name: "cross",
            what: "the compilers for the target",
            suites: &[target.suite],
            packages: [&[compiler.as_str(), COMPILERS[1]], packages].concat(),
            is_partial: true,
            ..Selection::default()
        };
        let unpacked = Unpacked::open_or_create(build, &selection, progress)?;
        let source = format!("Debian {}'s", target.suite);
        DebianRoot::enter("", source, format!("{}-", target.name), unpacked)
    }

    /// Makes the way in, and sees that it is one.
    fn enter(
        label: &'static str,
        source: String,
        compiler_prefix: String,
        unpacked: Unpacked,
    ) -> Result<DebianRoot> {
        let compiler = OnceLock::new();
        let root = DebianRoot { label, source, compiler_prefix, unpacked, compiler };
        let mut command = root.command(&root.compiler_name("g++"));
        command.arg("--version").current_dir(&root.unpacked.build).stdin(Stdio::null());
        let output =
            command.output().context("cannot start unshare; apt-get install util-linux")?;
        ensure!(
            output.status.success(),
            "cannot enter {}: {}; allow user namespaces (sysctl \
             kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), \
             or run as root",
            root.folder().display(),
            first_error(&[&String::from_utf8_lossy(&output.stderr)])
        );
        Ok(root)
    }

    pub(super) fn label(&self) -> &str {
        self.label
    }

    /// The root itself.
    pub fn folder(&self) -> PathBuf {
        self.unpacked.root()
    }

    /// Its packages, with their versions.
    pub fn packages(&self) -> &BTreeMap<String, String> {
        &self.unpacked.packages
    }

    pub(super) fn describe_source(&self) -> String {
        self.source.clone()
    }

    fn compiler_name(&self, name: &str) -> String {
        format!("{}{name}", self.compiler_prefix)
    }

    pub(super) fn compiler(&self) -> String {
        let name = self.compiler_name("g++");
        let ask = || first_line(self.command(&name).current_dir(&self.unpacked.build));
        self.compiler.get_or_init(ask).clone()
    }

    pub(super) fn explain_missing(&self, need: &Need) -> Option<String> {
        let (name, package) = need.names();
        let there = |part: &str| self.folder().join(part).join(name).exists();
        match need {
            Need::Header(..) => (!there("usr/include"))
                .then(|| format!("{name} is missing in {package} of {}", self.describe_source())),
            // What only generators run by, such as Java, the machine has.
            Need::Program(..) => (!there("usr/bin") && !need.is_installed())
                .then(|| format!("{name} is missing: apt-get install {package}")),
            Need::Jar(..) | Need::Module(..) => need.explain_missing(),
        }
    }

    /// A program inside; one that only the machine has runs there.
    pub(super) fn command(&self, program: &str) -> Command {
        if !self.folder().join("usr/bin").join(program).exists() {
            return Command::new(program);
        }
        let mut words = self.enter_command(&[]);
        let mut command = Command::new(words.remove(0));
        command.args(words).arg(program);
        command
    }

    /// The words before a program that is to run inside, where it sees these folders, too.
    fn enter_command(&self, folders: &[&Path]) -> Vec<String> {
        let mut words = vec!["unshare".to_owned()];
        if !is_root() {
            words.push("--map-root-user".into());
        }
        words.extend(["--mount", "sh", "-c", ENTER, "enter"].map(str::to_owned));
        words.push(self.folder().display().to_string());
        let folders = folders.iter().copied().chain([self.unpacked.build.as_path()]);
        words.extend(folders.map(|folder| folder.display().to_string()));
        words.push("--".into());
        words
    }

    /// What CMake has to be told; `first` are flags that go before the linker's own.
    pub(super) fn cmake(&self, first: &str) -> Result<Vec<String>> {
        let path = |below: &str| self.folder().join(below).display().to_string();
        let machine = machine()?;
        let libraries = path(&machine.libraries());
        let flags = format!(
            "{first} -Xlinker \"--dynamic-linker={}\" -Xlinker -rpath -Xlinker \"{libraries}\"",
            path(&machine.loader())
        );
        let mut settings = self.cmake_compilers(&[])?;
        settings.push(linker_flags(&flags));
        Ok(settings)
    }

    /// Which compilers CMake takes, with these flags.
    pub(super) fn cmake_compilers(&self, flags: &[String]) -> Result<Vec<String>> {
        Ok(vec![
            format!("-DCMAKE_C_COMPILER={}", self.script("gcc", "gcc", flags, &[])?),
            format!("-DCMAKE_CXX_COMPILER={}", self.script("g++", "g++", flags, &[])?),
        ])
    }

    /// A compiler inside, with these flags behind all others, as a program outside of this
    /// name; it sees these folders, too.
    pub(super) fn script(
        &self,
        name: &str,
        compiler: &str,
        flags: &[String],
        folders: &[&Path],
    ) -> Result<String> {
        let mut words = self.enter_command(folders);
        words.push(self.compiler_name(compiler));
        let quoted = |words: &[String]| {
            let words: Vec<String> = words.iter().map(shell_quoted).collect();
            words.join(" ")
        };
        let text = format!("#!/bin/sh\nexec {} \"$@\" {}\n", quoted(&words), quoted(flags));
        let path = self.unpacked.folder.join(name);
        write_script(&path, &text)?;
        Ok(path.display().to_string())
    }

    pub(super) fn link(&self, library: &str) -> Vec<String> {
        self.link_by(library, self.command("pkgconf"))
    }

    /// The words that link a library, by what pkgconf says.
    pub(super) fn link_by(&self, library: &str, mut pkgconf: Command) -> Vec<String> {
        let name = library.strip_prefix("-l").unwrap_or(library);
        let asked = pkgconf.args(["--libs", name]).current_dir(&self.unpacked.build).output();
        match asked {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                text.split_whitespace().map(str::to_owned).collect()
            }
            _ => vec![format!("-l{name}")],
        }
    }
}

/// The machine's architecture, of which roots of the newest suites are.
fn machine() -> Result<&'static Target> {
    Target::machine().with_context(|| {
        format!("the newest libraries do not exist for {}, as Debian calls it", env::consts::ARCH)
    })
}
