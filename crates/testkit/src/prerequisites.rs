//! What tests want of the machine that not every machine has. A test that lacks it
//! fails, and says how to give it; who runs the tests may leave out what wants it.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names what is left out, parted by commas.
pub const VARIABLE: &str = "WIREGAUGE_WITHOUT";

/// The file into which is written what was left out, where someone asks.
pub const REPORT: &str = "WIREGAUGE_LEFT_OUT";

/// The folder with recordings that are too large for the repository.
pub const RECORDINGS: &str = "WIREGAUGE_RECORDINGS";

/// Something that a test wants.
pub struct Prerequisite {
    /// What [`VARIABLE`] calls it.
    name: &'static str,
    /// How to give it.
    remedy: &'static str,
    /// Why it is not there, asked of the system's tools, so that no fault of ours
    /// hides behind it.
    lack: fn() -> Option<String>,
}

/// Namespaces and links of one's own, of which hosts are made.
pub const HOSTS: Prerequisite = Prerequisite {
    name: "hosts",
    remedy: "run as root, or all tests by unshare --map-root-user",
    lack: hosts,
};

/// Real-time priorities, and memory that may be locked.
pub const REALTIME: Prerequisite = Prerequisite {
    name: "realtime",
    remedy: "run as root with CAP_SYS_NICE and CAP_IPC_LOCK",
    lack: realtime,
};

/// Network namespaces, as root or in a user namespace.
pub const NETWORK: Prerequisite = Prerequisite {
    name: "namespaces",
    remedy: "run as root, or allow user namespaces",
    lack: || in_namespace(&["--net"]).err(),
};

/// A monotonic clock of one's own, as root or in a user namespace.
pub const CLOCK: Prerequisite = Prerequisite {
    name: "time-namespaces",
    remedy: "take a kernel with CONFIG_TIME_NS, and run as root or allow user namespaces",
    lack: || in_namespace(&["--time", "--monotonic", "1"]).err(),
};

/// Chromium, at the path that [`browser`] tells.
pub const BROWSER: Prerequisite = Prerequisite {
    name: "browser",
    remedy: "apt-get install chromium",
    lack: || browser().is_none().then(|| "no Chromium on the path".into()),
};

/// A server of ssh, at [`SSH_SERVER`].
pub const SSH: Prerequisite = Prerequisite {
    name: "ssh",
    remedy: "apt-get install openssh-server openssh-client",
    lack: || {
        let programs = [SSH_SERVER, "/usr/bin/ssh", "/usr/bin/ssh-keygen"];
        programs.iter().find(|path| !Path::new(path).exists()).map(|path| format!("no {path}"))
    },
};

/// Where Debian puts the server of ssh.
pub const SSH_SERVER: &str = "/usr/sbin/sshd";

/// All names that [`VARIABLE`] may have.
const NAMES: [&str; 7] =
    ["hosts", "realtime", "namespaces", "time-namespaces", "browser", "ssh", MEMORY];
const MEMORY: &str = "memory";

impl Prerequisite {
    /// Whether it is there; not where it is left out, which is said and reported.
    ///
    /// # Panics
    /// Where it is lacking and not left out.
    #[track_caller]
    pub fn is_met(&self) -> bool {
        is_met(&SkippedTests::from_environment(), self.name, self.lack, self.remedy)
    }
}

/// Whether so many GiB of memory are free, as [`Prerequisite::is_met`] says it.
///
/// # Panics
/// Where they are not, and that is not left out.
#[track_caller]
pub fn has_memory(wanted: u64) -> bool {
    let lack = || {
        let memory = fs::read_to_string("/proc/meminfo").expect("there is /proc");
        let free = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
        let free = free.and_then(|kib| kib.trim().trim_end_matches(" kB").parse::<u64>().ok());
        let free = free.expect("the kernel says what is free") >> 20;
        (free < wanted).then(|| format!("of {wanted} GiB {free} are free"))
    };
    is_met(&SkippedTests::from_environment(), MEMORY, lack, "end other programs")
}

/// Reports that a part of the calling test is left out, as others than the machine do
/// not give today what it wants.
#[track_caller]
pub fn report_left_out(why: &str) {
    SkippedTests::from_environment().report(why);
}

/// What is left out, and where that is reported.
#[derive(Default)]
struct SkippedTests {
    without: String,
    report: Option<OsString>,
}

impl SkippedTests {
    fn from_environment() -> SkippedTests {
        let without = std::env::var(VARIABLE).unwrap_or_default();
        SkippedTests { without, report: std::env::var_os(REPORT) }
    }

    /// Says of the calling test why it is left out.
    #[track_caller]
    fn report(&self, why: &str) {
        let place = Location::caller();
        let line = format!("left out: {}:{} {why}\n", place.file(), place.line());
        // Past what holds back the words of tests that pass.
        let _ = io::stderr().write_all(line.as_bytes());
        if let Some(path) = &self.report {
            let file = OpenOptions::new().create(true).append(true).open(path);
            // In one go, as other tests write too.
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.unwrap_or_else(|error| panic!("{REPORT}: {error}"));
        }
    }

    fn leaves_out(&self, wanted: &str) -> bool {
        let names = self.without.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<&str> = names.collect();
        for name in &names {
            assert!(
                NAMES.contains(name),
                "{VARIABLE}={name}: unknown name; choose from {}",
                NAMES.join(", ")
            );
        }
        names.contains(&wanted)
    }
}

#[track_caller]
fn is_met(
    choice: &SkippedTests,
    name: &str,
    lack: impl FnOnce() -> Option<String>,
    remedy: &str,
) -> bool {
    if choice.leaves_out(name) {
        choice.report(&format!("wants {name}"));
        return false;
    }
    if let Some(lack) = lack() {
        panic!("needs {name}: {lack}; {remedy}, or leave the test out: {VARIABLE}={name}");
    }
    true
}

/// A recording that is too large for the repository.
///
/// # Panics
/// Where it is not there.
pub fn recording(name: &str) -> PathBuf {
    let folder = std::env::var_os(RECORDINGS);
    let folder = folder.unwrap_or_else(|| panic!("set {RECORDINGS} to the folder of {name}"));
    let path = PathBuf::from(folder).join(name);
    assert!(path.exists(), "{} does not exist", path.display());
    path
}

/// Where Chromium is.
pub fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut files =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    files.find(|file| file.is_file())
}

/// A command in namespaces of its own, such as `--net`; in a user namespace where
/// we are not root.
pub fn unshare(namespaces: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(namespaces);
    command
}

/// A command without these capabilities, such as `sys_nice`, and with a limit as
/// prlimit(1) takes it.
///
/// # Panics
/// Where root may not drop them.
pub fn without_rights(capabilities: &[&str], limit: &str) -> Command {
    let mut command = Command::new("prlimit");
    if is_root() {
        let all: Vec<String> = capabilities.iter().map(|name| format!("-{name}")).collect();
        let all = all.join(",");
        let dropped = [format!("--bounding-set={all}"), format!("--inh-caps={all}")];
        command = Command::new("setpriv");
        let lack = run_command(command.args(&dropped).arg("true")).err();
        if let Some(lack) = lack {
            panic!("root may not drop rights: {lack}; run with CAP_SETPCAP, or not as root");
        }
        command = Command::new("setpriv");
        command.args(dropped).arg("prlimit");
    }
    command.arg(limit);
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Runs a command; what it said is the error where it failed.
fn run_command(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ")),
        Err(error) => Err(format!("{}: {error}", command.get_program().to_string_lossy())),
    }
}

fn in_namespace(namespaces: &[&str]) -> Result<(), String> {
    run_command(unshare(namespaces).args(["--fork", "true"]))
}

fn hosts() -> Option<String> {
    let try_it = "mount -t tmpfs shm /dev/shm && ip link add name a type veth peer name b \
                  && tc qdisc add dev a root tbf rate 1gbit burst 64k limit 2mb \
                  && ethtool -K a tso off gso off gro off";
    let mut command = Command::new("unshare");
    run_command(command.args(["--net", "--ipc", "--mount", "sh", "-c", try_it])).err()
}

fn realtime() -> Option<String> {
    let lack = run_command(Command::new("chrt").args(["--fifo", "10", "true"])).err();
    lack.or_else(|| {
        let may_lock = "test $(ulimit -l) = unlimited \
                        || { test $(id -u) = 0 && setpriv --dump | grep -q ipc_lock; }";
        let lack = run_command(Command::new("sh").args(["-c", may_lock])).err();
        lack.map(|why| format!("memory may not be locked {why}"))
    })
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// What is said of a prerequisite that is there or lacking.
    fn outcome_of(without: &'static str, lack: Option<&'static str>) -> Result<bool, String> {
        let outcome = catch_unwind(move || {
            let choice = SkippedTests { without: without.into(), report: None };
            is_met(&choice, "hosts", || lack.map(str::to_owned), "run as root")
        });
        outcome.map_err(|panic| *panic.downcast::<String>().expect("words"))
    }

    #[test]
    fn what_is_lacking_fails_with_the_remedy() {
        let words =
            "needs hosts: no rights; run as root, or leave the test out: WIREGAUGE_WITHOUT=hosts";
        assert_eq!(outcome_of("", Some("no rights")), Err(words.into()));
        assert_eq!(outcome_of("browser,memory", Some("no rights")), Err(words.into()));
        assert_eq!(outcome_of("", None), Ok(true));
    }

    #[test]
    fn what_is_left_out_is_not_asked_for() {
        assert_eq!(outcome_of("hosts", Some("no rights")), Ok(false));
        assert_eq!(outcome_of("browser, hosts", None), Ok(false));
        let unknown = outcome_of("hosts,ghosts", None).expect_err("an unknown name");
        assert!(
            unknown.starts_with("WIREGAUGE_WITHOUT=ghosts: unknown name; choose from hosts, "),
            "{unknown}"
        );
    }

    #[test]
    fn what_is_left_out_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let report = folder.path().join("left out");
        let choice = SkippedTests { without: "hosts".into(), report: Some(report.clone().into()) };
        for _ in 0..2 {
            assert!(!is_met(&choice, "hosts", || None, ""));
        }
        let text = fs::read_to_string(report).expect("a report");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("left out: crates/testkit/src/prerequisites.rs:"), "{text}");
        assert!(lines[0].ends_with(" wants hosts"), "{text}");
    }
}
