//! What builds runners for another architecture: compilers and generators that run here, and
//! the target's own libraries. Both are unpacked packages of one Debian release.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::root::DebianRoot;
use super::target::Target;
use super::unpacked::{Selection, Unpacked};
use crate::need::Need;
use crate::progress::Progress;

/// What every program needs on the target.
const RUN_TIME: [&str; 2] = ["libc6-dev", "libstdc++6"];

/// What builds runners for another architecture.
#[derive(Debug)]
pub struct CrossToolchain {
    target: &'static Target,
    /// Where compilers and generators run.
    tools: DebianRoot,
    /// The target's headers and libraries.
    sysroot: Unpacked,
}

impl CrossToolchain {
    /// That of a target, with what these needs are met by there; made where there is none. A
    /// package that the target does not have is left out.
    ///
    /// # Errors
    /// When it cannot be made: one line, with what to do.
    pub fn open_or_create(
        build: &Path,
        target: &'static Target,
        needs: &[&Need],
        progress: Progress,
    ) -> Result<CrossToolchain> {
        let packages = |is_wanted: fn(&Need) -> bool| {
            let wanted = needs.iter().filter(|need| is_wanted(need));
            let mut packages: Vec<&str> = wanted.map(|need| need.names().1).collect();
            packages.sort_unstable();
            packages.dedup();
            packages
        };
        let programs = packages(|need| matches!(need, Need::Program(..)));
        let libraries = packages(|need| matches!(need, Need::Header(..)));
        let tools = DebianRoot::with_cross_compilers(build, target, &programs, progress)?;
        let selection = Selection {
            name: target.debian,
            what: "the target's libraries",
            suites: &[target.suite],
            architecture: Some(target.debian),
            packages: [&RUN_TIME[..], &libraries].concat(),
            is_partial: true,
            ..Selection::default()
        };
        let sysroot = Unpacked::open_or_create(build, &selection, progress)?;
        let cross = CrossToolchain { target, tools, sysroot };
        cross.link_definitions()?;
        Ok(cross)
    }

    /// What it builds for.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// The root of the target's libraries, by which its programs run.
    pub fn sysroot(&self) -> PathBuf {
        self.sysroot.root()
    }

    /// The program that links for the target what is in the build folder and in `folder`, as
    /// another language's compiler calls it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn linker(&self, folder: &Path) -> Result<String> {
        // Rust brings a linker of its own, which does not run in a bare root.
        let flags = [self.flag(), "-fuse-ld=bfd".into()];
        self.tools.script("linker", "gcc", &flags, &[folder])
    }

    fn flag(&self) -> String {
        format!("--sysroot={}", self.sysroot().display())
    }

    /// Has generators find the definitions that the target's libraries bring.
    fn link_definitions(&self) -> Result<()> {
        let folders = [self.sysroot(), self.tools.folder()].map(|root| root.join("usr/include"));
        let [from, to] = &folders;
        let cannot = || format!("cannot make links in {}", to.display());
        fs::create_dir_all(to).with_context(cannot)?;
        for entry in
            fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?
        {
            let entry = entry?;
            let link = to.join(entry.file_name());
            if fs::read_link(&link).is_ok_and(|old| old != entry.path()) {
                fs::remove_file(&link).with_context(cannot)?;
            }
            if fs::symlink_metadata(&link).is_err() {
                symlink(entry.path(), &link).with_context(cannot)?;
            }
        }
        Ok(())
    }

    pub(super) fn key(&self) -> String {
        format!("-{}", self.target.name)
    }

    /// Which folders it is.
    pub(super) fn stamp(&self) -> String {
        format!("{} {}", self.tools.folder().display(), self.sysroot().display())
    }

    pub(super) fn explain_missing(&self, need: &Need) -> Option<String> {
        let Need::Header(name, package) = need else { return self.tools.explain_missing(need) };
        let Target { suite, debian, .. } = self.target;
        let folder = self.sysroot().join("usr/include");
        let is_there = [folder.join(name), folder.join(self.target.name).join(name)];
        let is_there = is_there.iter().any(|path| path.exists());
        (!is_there).then(|| match self.sysroot.packages.contains_key(*package) {
            true => format!("{name} is missing in {package} of Debian {suite} for {debian}"),
            false => format!("Debian {suite} has no {package} for {debian}"),
        })
    }

    pub(super) fn command(&self, program: &str) -> Command {
        self.tools.command(program)
    }

    pub(super) fn find_library(&self, name: &str) -> Option<PathBuf> {
        let target = self.target.name;
        let sysroot = self.sysroot();
        let folders = [self.target.libraries(), format!("lib/{target}")];
        let folders = folders.iter().map(|folder| sysroot.join(folder));
        // Those of the language are beside its compiler: `usr/lib/gcc-cross/aarch64-linux-gnu/12`.
        let beside = self.tools.folder().join("usr/lib/gcc-cross").join(target);
        let versions = fs::read_dir(beside).into_iter().flatten().flatten();
        let of_language = versions.map(|version| version.path());
        folders.chain(of_language).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    pub(super) fn c_compiler(&self) -> Result<String> {
        self.tools.script("gcc", "gcc", &[self.flag()], &[])
    }

    pub(super) fn cmake(&self) -> Result<Vec<String>> {
        let processor = self.target.name.split('-').next().unwrap_or_default();
        let mut settings = self.tools.cmake_compilers(&[self.flag()])?;
        settings.push("-DCMAKE_SYSTEM_NAME=Linux".into());
        settings.push(format!("-DCMAKE_SYSTEM_PROCESSOR={processor}"));
        Ok(settings)
    }

    pub(super) fn link(&self, library: &str) -> Vec<String> {
        let sysroot = self.sysroot();
        let folder = |below: &str| sysroot.join(below).join("pkgconfig").display().to_string();
        let described = [folder(&self.target.libraries()), folder("usr/share")].join(":");
        let mut pkgconf = self.tools.command("pkgconf");
        pkgconf.env("PKG_CONFIG_LIBDIR", described).env("PKG_CONFIG_SYSROOT_DIR", &sysroot);
        self.tools.link_by(library, pkgconf)
    }

    pub(super) fn compiler(&self) -> String {
        self.tools.compiler()
    }

    pub(super) fn version(&self, package: &str) -> Option<String> {
        self.sysroot.packages.get(package).or(self.tools.packages().get(package)).cloned()
    }

    pub(super) fn describe_source(&self) -> String {
        format!("Debian {}'s for {}", self.target.suite, self.target.debian)
    }
}
