//! Debian packages in a folder of the build folder, with all that they need: unpacked and not
//! installed, which wants no root, and leaves the machine's packages as they are.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};

use crate::build_cache::{create_folder_atomically, hash, lock};
use crate::network::allow_download;
use crate::package;
use crate::progress::Progress;
use crate::tool::{first_error, is_root, CompilerProcess};

/// Where Debian's packages come from, unless the user names another mirror.
const MIRROR: &str = "http://deb.debian.org/debian";
/// The variable that names another mirror.
const MIRROR_VARIABLE: &str = "WIREGAUGE_MIRROR";
/// What mmdebstrap says of its work, step by step.
const STEPS: [(&str, &str); 4] = [
    ("apt-get update", "reading the package lists"),
    ("downloading packages", "downloading packages"),
    ("extracting archives", "unpacking packages"),
    ("cleaning", "cleaning up"),
];

/// What is to be unpacked. All but the words on it decides which folder it is.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    /// What the folder's name begins with.
    pub(super) name: &'a str,
    /// In words: `the newest libraries`.
    pub(super) what: &'a str,
    /// Debian's suites.
    pub(super) suites: &'a [&'a str],
    /// Which suite goes before another, as apt's preferences.
    pub(super) preferences: &'a str,
    /// Debian's name of the architecture; none for the machine's.
    pub(super) architecture: Option<&'a str>,
    /// The packages.
    pub(super) packages: Vec<&'a str>,
    /// Whether packages that the suites do not have are left out.
    pub(super) is_partial: bool,
    /// Whether suites are taken whose signature has expired.
    pub(super) is_expired_allowed: bool,
}

/// What was unpacked.
#[derive(Debug)]
pub(super) struct Unpacked {
    /// The build folder.
    pub(super) build: PathBuf,
    /// Where the root is, and beside it what is known of it.
    pub(super) folder: PathBuf,
    /// Its packages, with their versions.
    pub(super) packages: BTreeMap<String, String>,
}

impl Unpacked {
    /// What was unpacked earlier, or is now.
    ///
    /// # Errors
    /// When it cannot be had: one line, with what to do.
    pub(super) fn open_or_create(
        build: &Path,
        selection: &Selection,
        progress: Progress,
    ) -> Result<Unpacked> {
        let roots = build.join("roots");
        fs::create_dir_all(&roots).with_context(|| format!("cannot make {}", roots.display()))?;
        let build = build.canonicalize()?;
        let roots = build.join("roots");
        let _lock = lock(&roots)?;
        let folder = roots.join(format!("{}-{}", selection.name, &selection.key()[..16]));
        if !folder.is_dir() {
            allow_download(selection.what)?;
            selection.unpack(&folder, progress)?;
        }
        let list = fs::read_to_string(folder.join("packages")).with_context(|| {
            format!(
                "{} is incomplete; remove this folder and run the command again",
                folder.display()
            )
        })?;
        Ok(Unpacked { packages: package::archives(&list), folder, build })
    }

    /// The root itself.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }
}

impl Selection<'_> {
    /// What tells it from others.
    fn key(&self) -> String {
        let parts = [self.suites, &[self.preferences], &self.packages].concat();
        let parts = parts.into_iter().chain(self.architecture);
        hash(parts.map(|part| part.as_bytes().to_vec()))
    }

    /// Unpacks it, whole or not at all.
    fn unpack(&self, folder: &Path, progress: Progress) -> Result<()> {
        let mirror = env::var(MIRROR_VARIABLE).unwrap_or_else(|_| MIRROR.into());
        create_folder_atomically(folder, |half| {
            fs::write(half.join("preferences"), self.preferences)?;
            let mut packages = self.packages.clone();
            while let Err(log) = self.debootstrap(half, &mirror, &packages, progress)? {
                let absent = absent_packages(&log);
                let before = packages.len();
                packages.retain(|package| !absent.contains(package));
                if !self.is_partial || packages.len() == before || packages.is_empty() {
                    bail!(self.failure_reason(&log, &mirror));
                }
                let root = half.join("root");
                fs::remove_dir_all(&root)
                    .with_context(|| format!("cannot remove {}", root.display()))?;
            }
            let list = fs::read_to_string(half.join("packages")).unwrap_or_default();
            let unpacked = package::archives(&list);
            let lost = packages.iter().find(|package| !unpacked.contains_key(**package));
            ensure!(
                lost.is_none(),
                "mmdebstrap did not unpack all of {}; run the command again",
                self.suites.join(" and ")
            );
            Ok(())
        })
    }

    /// Has mmdebstrap unpack packages into `FOLDER/root`, and list them; what it said where
    /// it did not.
    fn debootstrap(
        &self,
        folder: &Path,
        mirror: &str,
        packages: &[&str],
        progress: Progress,
    ) -> Result<Result<(), Vec<String>>> {
        let mut command = mmdebstrap();
        // Hooks find the folder without quoting.
        command.env("FOLDER", folder).env("TMPDIR", folder).env("LC_ALL", "C.UTF-8");
        command.args(["--variant=extract", "--aptopt=APT::Sandbox::User \"root\""]);
        command.args(self.architecture.map(|name| format!("--architectures={name}")));
        if self.is_expired_allowed {
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
        command.arg(format!("--include={}", packages.join(",")));
        command.arg(self.suites[0]).arg(folder.join("root"));
        command.args(self.suites.iter().map(|suite| format!("deb {mirror} {suite} main")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().context("cannot start a shell for mmdebstrap")?;
        self.watch(CompilerProcess(child), progress)
    }

    /// Tells how far mmdebstrap is, to its end; what it said where it failed.
    fn watch(
        &self,
        mut child: CompilerProcess,
        progress: Progress,
    ) -> Result<Result<(), Vec<String>>> {
        let began = Instant::now();
        let errors = child.0.stderr.take().context("mmdebstrap's stderr is piped")?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let (mut log, mut step) = (Vec::new(), 0);
        let name = self.what.trim_start_matches("the ");
        loop {
            let what = STEPS[step].1;
            let seconds = began.elapsed().as_secs();
            progress(&format!("{name}, once: {what} ({seconds} s)"), step, STEPS.len())?;
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
        Ok(if child.0.wait()?.success() { Ok(()) } else { Err(log) })
    }

    /// Why there is none, in a line, with what to do.
    fn failure_reason(&self, log: &[String], mirror: &str) -> String {
        let with = |words: &[&str]| {
            let line = log.iter().find(|line| words.iter().any(|word| line.contains(word)))?;
            Some(line.trim_start_matches("E: ").trim().to_owned())
        };
        let head = format!("cannot install {}", self.what);
        if let Some(line) = with(&["is expired"]) {
            return format!("{head}: {line} To use them anyway, give --libraries-expired");
        }
        if let Some(line) = with(&ABSENT) {
            return format!(
                "{head}: {line}; {mirror} does not have this package today; try another day"
            );
        }
        if let Some(line) = with(&["unmet dependencies", "Depends:", "held broken packages"]) {
            return format!(
                "{head}: packages of {} do not fit together today: {line}; try another day, or \
                 set {MIRROR_VARIABLE} to another mirror",
                self.suites.join(" and ")
            );
        }
        if let Some(line) = with(&["NO_PUBKEY", "not signed", "signatures couldn't be verified"]) {
            return format!("{head}: {line}; apt-get install debian-archive-keyring");
        }
        if let Some(line) = with(&["unshare failed", "Operation not permitted", "uid_map"]) {
            return format!("{head}: {line}; allow user namespaces, or run as root");
        }
        if with(&["execute mmdebstrap", "mmdebstrap: not found"]).is_some() {
            return format!("{head}: mmdebstrap is missing: apt-get install mmdebstrap");
        }
        if let Some(line) = with(&["Failed to fetch", "does not have a Release file", "Could not"])
        {
            return format!(
                "{head}: {line}; check the network, or set {MIRROR_VARIABLE} to another mirror"
            );
        }
        let line = with(&["E: "]).unwrap_or_else(|| first_error(&[&log.join("\n")]));
        format!("{head}: mmdebstrap: {line}")
    }
}

/// Closes what the caller left open, and becomes the program that the words name. mmdebstrap
/// writes to the next free descriptor by a shell that knows none above 9.
const WITHOUT_DESCRIPTORS: &str = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec \"$@\"";

/// mmdebstrap as root, or as who is root in a namespace of his own.
fn mmdebstrap() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", WITHOUT_DESCRIPTORS, "sh"]);
    if !is_root() {
        command.args(["unshare", "--map-root-user"]);
    }
    command.args(["mmdebstrap", "--mode=root"]);
    command
}

/// What apt says of a package that it does not know.
const ABSENT: [&str; 2] = ["Unable to locate package", "has no installation candidate"];

/// The packages that the suites do not have: `E: Unable to locate package liblcm-dev`,
/// `E: Package 'liblcm-dev' has no installation candidate`.
fn absent_packages(log: &[String]) -> Vec<&str> {
    let lines = log.iter().filter(|line| ABSENT.iter().any(|words| line.contains(words)));
    lines
        .filter_map(|line| line.split('\'').nth(1).or_else(|| line.split_whitespace().last()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWEST: Selection = Selection {
        name: "current",
        what: "the newest libraries",
        suites: &["sid"],
        preferences: "",
        architecture: None,
        packages: Vec::new(),
        is_partial: false,
        is_expired_allowed: false,
    };

    #[test]
    fn why_there_is_no_root_is_told_with_what_to_do() {
        for (line, remedy) in [
            ("E: Release file for x is expired (invalid since 16d).", "--libraries-expired"),
            ("E: Unable to locate package nonsuch", "http://m does not have this package"),
            ("The following packages have unmet dependencies:", "do not fit together"),
            ("unshare: unshare failed: Operation not permitted", "run as root"),
            ("E: The repository 'x' does not have a Release file.", "WIREGAUGE_MIRROR"),
            ("unshare: failed to execute mmdebstrap: No such file", "apt-get install mmdebstrap"),
            ("sh: 1: exec: mmdebstrap: not found", "apt-get install mmdebstrap"),
            ("E: a disk is full", "a disk is full"),
        ] {
            let log = ["I: running", line, "E: mmdebstrap failed to run"].map(str::to_owned);
            let told = NEWEST.failure_reason(&log, "http://m");
            assert!(told.contains(remedy), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }

    #[test]
    fn what_the_caller_left_open_is_closed() {
        let open = |exec: &str| -> Vec<String> {
            let script = format!("exec 5</dev/null 8</dev/null; {exec}");
            let mut shell = Command::new("sh");
            let output = shell.args(["-c", &script, "sh", "ls", "/proc/self/fd"]).output();
            let text = String::from_utf8(output.unwrap().stdout).unwrap();
            let left = |number: &&str| ["4", "5", "6", "7", "8", "9"].contains(number);
            text.split_whitespace().filter(left).map(str::to_owned).collect()
        };
        let inherited = open("exec \"$@\"");
        assert!(["5", "8"].iter().all(|one| inherited.iter().any(|other| other == one)));
        assert!(open(WITHOUT_DESCRIPTORS).is_empty());
    }

    #[test]
    fn another_list_of_packages_or_another_architecture_is_another_folder() {
        let one = Selection { packages: vec!["one"], ..NEWEST };
        let two = Selection { packages: vec!["two"], ..NEWEST };
        let of_another = Selection { packages: vec!["one"], architecture: Some("arm64"), ..NEWEST };
        assert_ne!(one.key(), two.key());
        assert_ne!(one.key(), of_another.key());
    }

    #[test]
    fn packages_that_a_suite_lacks_are_known_by_name() {
        let log = [
            "I: downloading packages with apt...",
            "E: Unable to locate package liblcm-dev",
            "E: Package 'libthrift-dev' has no installation candidate",
        ];
        let log = log.map(str::to_owned);
        assert_eq!(absent_packages(&log), ["liblcm-dev", "libthrift-dev"]);
    }
}
