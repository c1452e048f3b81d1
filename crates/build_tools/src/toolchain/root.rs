//! A bare root of another release, kept in the build folder: unpacked packages,
//! in which compilers and generators run. What is built in it runs outside of
//! it, by the root's own loader and libraries.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};

use crate::build_cache::{create_folder_atomically, hash, lock};
use crate::cmake::linker_flags;
use crate::need::Need;
use crate::package;
use crate::program_file::write_script;
use crate::progress::Progress;
use crate::tool::{first_error, first_line, CompilerProcess};

/// Where Debian's packages come from, unless the user names another mirror.
const MIRROR: &str = "http://deb.debian.org/debian";
/// The variable that names another mirror.
const MIRROR_VARIABLE: &str = "WIREGAUGE_MIRROR";
/// The newest suite, and the one before it for what is newer still.
const SUITES: [&str; 2] = ["sid", "experimental"];
/// What is newest in the experimental suite. What these use, such as Abseil, is of
/// sid all the same, as they were built with it.
const PREFERENCES: &str = "Package: src:protobuf src:flatbuffers\n\
                           Pin: release a=experimental\n\
                           Pin-Priority: 990\n";
/// What compiles, and says what a library is linked with.
const COMPILERS: [&str; 2] = ["g++", "pkgconf"];
/// What mmdebstrap says of its work, step by step.
const STEPS: [(&str, &str); 4] = [
    ("apt-get update", "reading the package lists"),
    ("downloading packages", "downloading packages"),
    ("extracting archives", "unpacking packages"),
    ("cleaning", "cleaning up"),
];
/// Runs a program in the root, with the build folder where it is outside.
const ENTER: &str = "mount --bind \"$1\" \"$2$1\" && root=$2 && shift 2 && \
                     exec unshare --root=\"$root\" --wd=\"$PWD\" \"$@\"";

/// A bare root of another release.
#[derive(Debug)]
pub struct DebianRoot {
    label: &'static str,
    /// The root, and beside it what is known of it.
    folder: PathBuf,
    /// The build folder, which is seen from inside.
    build: PathBuf,
    packages: BTreeMap<String, String>,
    machine: &'static Architecture,
    compiler: OnceLock<String>,
}

/// How a root is to be made where there is none yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct RootOptions {
    /// Take suites whose signature has expired.
    pub expired: bool,
}

/// What differs by architecture.
#[derive(Debug)]
struct Architecture {
    name: &'static str,
    libraries: &'static str,
    loader: &'static str,
}

const ARCHITECTURES: [Architecture; 2] = [
    Architecture {
        name: "x86_64",
        libraries: "usr/lib/x86_64-linux-gnu",
        loader: "usr/lib64/ld-linux-x86-64.so.2",
    },
    Architecture {
        name: "aarch64",
        libraries: "usr/lib/aarch64-linux-gnu",
        loader: "usr/lib/ld-linux-aarch64.so.1",
    },
];

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
        let machine = ARCHITECTURES.iter().find(|machine| machine.name == env::consts::ARCH);
        let machine = machine.with_context(|| {
            format!(
                "the newest libraries exist for x86_64 and aarch64, not for {}",
                env::consts::ARCH
            )
        })?;
        let roots = build.join("roots");
        fs::create_dir_all(&roots).with_context(|| format!("cannot make {}", roots.display()))?;
        let build = build.canonicalize()?;
        let roots = build.join("roots");
        let _lock = lock(&roots)?;
        let folder = roots.join(format!("current-{}", &recipe(packages)[..16]));
        if !folder.is_dir() {
            make(&folder, packages, wish, progress)?;
        }
        let list = fs::read_to_string(folder.join("packages")).with_context(|| {
            format!(
                "{} is incomplete; remove this folder and run the command again",
                folder.display()
            )
        })?;
        let root = DebianRoot {
            label: "current",
            packages: package::archives(&list),
            folder,
            build,
            machine,
            compiler: OnceLock::new(),
        };
        root.check_entry()?;
        Ok(root)
    }

    /// Makes the way in, and sees that it is one.
    fn check_entry(&self) -> Result<()> {
        let inside = self.folder().join(self.build.strip_prefix("/").unwrap_or(&self.build));
        fs::create_dir_all(&inside).with_context(|| format!("cannot make {}", inside.display()))?;
        let mut command = self.command("g++");
        command.arg("--version").current_dir(&self.build).stdin(Stdio::null());
        let output =
            command.output().context("cannot start unshare; apt-get install util-linux")?;
        ensure!(
            output.status.success(),
            "cannot enter {}: {}; allow user namespaces (sysctl \
             kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), \
             or run as root",
            self.folder().display(),
            first_error(&[&String::from_utf8_lossy(&output.stderr)])
        );
        Ok(())
    }

    pub(super) fn label(&self) -> &str {
        self.label
    }

    /// The root itself.
    pub fn folder(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Its packages, with their versions.
    pub fn packages(&self) -> &BTreeMap<String, String> {
        &self.packages
    }

    pub(super) fn describe_source(&self) -> String {
        format!("Debian's newest suites' ({})", SUITES.join(", "))
    }

    pub(super) fn compiler(&self) -> String {
        let ask = || first_line(self.command("g++").current_dir(&self.build));
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
        let mut words = self.enter_command();
        let mut command = Command::new(words.remove(0));
        command.args(words).arg(program);
        command
    }

    /// The words before a program that is to run inside.
    fn enter_command(&self) -> Vec<String> {
        let mut words = vec!["unshare".to_owned()];
        if !rustix::process::geteuid().is_root() {
            words.push("--map-root-user".into());
        }
        words.extend(["--mount", "sh", "-c", ENTER, "enter"].map(str::to_owned));
        words.push(self.build.display().to_string());
        words.push(self.folder().display().to_string());
        words
    }

    /// What CMake has to be told; `first` are flags that go before the linker's own.
    pub(super) fn cmake(&self, first: &str) -> Result<Vec<String>> {
        let path = |below: &str| self.folder().join(below).display().to_string();
        let libraries = path(self.machine.libraries);
        let flags = format!(
            "{first} -Xlinker \"--dynamic-linker={}\" -Xlinker -rpath -Xlinker \"{libraries}\"",
            path(self.machine.loader)
        );
        Ok(vec![
            format!("-DCMAKE_C_COMPILER={}", self.script("gcc")?),
            format!("-DCMAKE_CXX_COMPILER={}", self.script("g++")?),
            linker_flags(&flags),
        ])
    }

    /// A compiler inside as a program outside.
    fn script(&self, compiler: &str) -> Result<String> {
        let words: Vec<String> =
            self.enter_command().iter().map(|word| shell_quoted(word)).collect();
        let text = format!("#!/bin/sh\nexec {} {compiler} \"$@\"\n", words.join(" "));
        let path = self.folder.join(compiler);
        write_script(&path, &text)?;
        Ok(path.display().to_string())
    }

    pub(super) fn link(&self, library: &str) -> Vec<String> {
        let name = library.strip_prefix("-l").unwrap_or(library);
        let mut command = self.command("pkgconf");
        let asked = command.args(["--libs", name]).current_dir(&self.build).output();
        match asked {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                text.split_whitespace().map(str::to_owned).collect()
            }
            _ => vec![format!("-l{name}")],
        }
    }
}

/// What decides whether a root is the wanted one.
fn recipe(packages: &[&str]) -> String {
    let parts = [&SUITES[..], &[PREFERENCES], &COMPILERS, packages].concat();
    hash(parts.into_iter().map(|part| part.as_bytes().to_vec()))
}

/// Makes a root, whole or not at all.
fn make(folder: &Path, packages: &[&str], wish: RootOptions, progress: Progress) -> Result<()> {
    create_folder_atomically(folder, |half| {
        fs::write(half.join("preferences"), PREFERENCES)?;
        let mirror = env::var(MIRROR_VARIABLE).unwrap_or_else(|_| MIRROR.into());
        debootstrap(half, &mirror, packages, wish, progress)?;
        let is_whole = half.join("packages").exists() && half.join("root/usr/bin/g++").exists();
        ensure!(
            is_whole,
            "mmdebstrap did not install all of {}; run the command again",
            SUITES.join(" and ")
        );
        Ok(())
    })
}

/// Has mmdebstrap unpack the packages into `FOLDER/root`, and list them.
fn debootstrap(
    folder: &Path,
    mirror: &str,
    packages: &[&str],
    wish: RootOptions,
    progress: Progress,
) -> Result<()> {
    let mut command = mmdebstrap();
    // Hooks find the folder without quoting.
    command.env("FOLDER", folder).env("TMPDIR", folder).env("LC_ALL", "C.UTF-8");
    command.args(["--variant=extract", "--aptopt=APT::Sandbox::User \"root\""]);
    if wish.expired {
        command.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
    }
    for hook in [
        "cp \"$FOLDER/preferences\" \"$1/etc/apt/preferences.d/wiregauge\"",
        // As a system of today has them; no package that is unpacked brings these.
        "for part in bin sbin lib lib64; do mkdir -p \"$1/usr/$part\"; \
         ln -sfn \"usr/$part\" \"$1/$part\"; done",
    ] {
        command.arg(format!("--setup-hook={hook}"));
    }
    command.arg("--extract-hook=ls \"$1/var/cache/apt/archives\" > \"$FOLDER/packages\"");
    command.arg(format!("--include={}", [&COMPILERS[..], packages].concat().join(",")));
    command.arg(SUITES[0]).arg(folder.join("root"));
    command.args(SUITES.map(|suite| format!("deb {mirror} {suite} main")));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().context("mmdebstrap is missing: apt-get install mmdebstrap")?;
    watch(CompilerProcess(child), mirror, progress)
}

/// mmdebstrap as root, or as who is root in a namespace of his own.
fn mmdebstrap() -> Command {
    let mut command = if rustix::process::geteuid().is_root() {
        Command::new("mmdebstrap")
    } else {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "mmdebstrap"]);
        command
    };
    command.arg("--mode=root");
    command
}

/// Tells how far mmdebstrap is, to its end.
fn watch(mut child: CompilerProcess, mirror: &str, progress: Progress) -> Result<()> {
    let began = Instant::now();
    let errors = child.0.stderr.take().context("mmdebstrap's stderr is piped")?;
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    let (mut log, mut step) = (Vec::new(), 0);
    loop {
        let what = STEPS[step].1;
        let seconds = began.elapsed().as_secs();
        progress(&format!("newest libraries, once: {what} ({seconds} s)"), step, STEPS.len())?;
        match lines.recv_timeout(Duration::from_millis(500)) {
            Ok(line) => {
                let found = STEPS.iter().position(|(said, _)| line.contains(said));
                step = found.unwrap_or(step);
                log.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    ensure!(child.0.wait()?.success(), failure_reason(&log, mirror));
    Ok(())
}

/// Why there is no root, in a line, with what to do.
fn failure_reason(log: &[String], mirror: &str) -> String {
    let with = |words: &[&str]| {
        let line = log.iter().find(|line| words.iter().any(|word| line.contains(word)))?;
        Some(line.trim_start_matches("E: ").trim().to_owned())
    };
    let head = "cannot install the newest libraries";
    if let Some(line) = with(&["is expired"]) {
        return format!("{head}: {line} To use them anyway, give --libraries-expired");
    }
    if let Some(line) = with(&["Unable to locate package", "has no installation candidate"]) {
        return format!(
            "{head}: {line}; {mirror} does not have this package today; try another day"
        );
    }
    if let Some(line) = with(&["unmet dependencies", "Depends:", "held broken packages"]) {
        return format!(
            "{head}: packages of {} do not fit together today: {line}; try another day, or set \
             {MIRROR_VARIABLE} to another mirror",
            SUITES.join(" and ")
        );
    }
    if let Some(line) = with(&["NO_PUBKEY", "not signed", "signatures couldn't be verified"]) {
        return format!("{head}: {line}; apt-get install debian-archive-keyring");
    }
    if let Some(line) = with(&["unshare failed", "Operation not permitted", "uid_map"]) {
        return format!("{head}: {line}; allow user namespaces, or run as root");
    }
    if let Some(line) = with(&["execute mmdebstrap"]) {
        return format!("{head}: {line}; apt-get install mmdebstrap");
    }
    if let Some(line) = with(&["Failed to fetch", "does not have a Release file", "Could not"]) {
        return format!(
            "{head}: {line}; check the network, or set {MIRROR_VARIABLE} to another mirror"
        );
    }
    let line = with(&["E: "]).unwrap_or_else(|| first_error(&[&log.join("\n")]));
    format!("{head}: mmdebstrap: {line}")
}

/// A word of a shell's command.
fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason_of(line: &str) -> String {
        failure_reason(
            &["I: running".into(), line.into(), "E: mmdebstrap failed to run".into()],
            "http://m",
        )
    }

    #[test]
    fn why_there_is_no_root_is_told_with_what_to_do() {
        for (line, remedy) in [
            ("E: Release file for x is expired (invalid since 16d).", "--libraries-expired"),
            ("E: Unable to locate package nonsuch", "http://m does not have this package"),
            ("The following packages have unmet dependencies:", "do not fit together"),
            ("unshare: unshare failed: Operation not permitted", "run as root"),
            ("E: The repository 'x' does not have a Release file.", "WIREGAUGE_MIRROR"),
            ("unshare: failed to execute mmdebstrap: No such file", "apt-get install mmdebstrap"),
            ("E: a disk is full", "a disk is full"),
        ] {
            let told = reason_of(line);
            assert!(told.contains(remedy), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(shell_quoted("it's a path"), "'it'\\''s a path'");
    }

    #[test]
    fn another_list_of_packages_is_another_root() {
        assert_ne!(recipe(&["one"]), recipe(&["two"]));
    }
}
