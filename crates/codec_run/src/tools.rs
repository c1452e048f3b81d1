//! The tools that codecs need: which are missing, and which versions there are.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use indexmap::IndexMap;
use wiregauge_build_tools::versions::{installed_versions, CPP_FLAGS};
use wiregauge_build_tools::{is_root, Need};
use wiregauge_formats::Codec;
use wiregauge_result::run::{Run, Status, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::warning::MissingTool;

/// What a codec needs and this machine lacks; none where it has all.
pub fn missing(codec: &Codec) -> Option<MissingTool> {
    let mut needs = codec.language.compilers.iter().chain(codec.needs);
    let (tool, package) = needs.find(|need| !need.is_installed())?.names();
    Some(MissingTool { tool: tool.to_string(), package: package.to_string() })
}

/// Everything that some codec needs and this machine lacks, each once.
pub fn missing_for_any() -> Vec<MissingTool> {
    let mut all: Vec<MissingTool> = Codec::all().into_iter().filter_map(missing).collect();
    all.sort_by(|a, b| (&a.package, &a.tool).cmp(&(&b.package, &b.tool)));
    all.dedup_by(|a, b| a.package == b.package);
    all
}

/// What rows need besides what each of them names, and what counts instructions and unpacks
/// the libraries of other releases and of targets.
const SHARED_NEEDS: [Need; 6] = [
    Need::Program("c++", "build-essential"),
    Need::Program("cmake", "cmake"),
    Need::Program("ninja", "ninja-build"),
    Need::Program("cargo", "rustup"),
    Need::Program("valgrind", "valgrind"),
    Need::Program("mmdebstrap", "mmdebstrap"),
];

/// The command that installs everything that some codec needs, or what is measured of it, and
/// this machine lacks, with a comment on what its release does not have; none where it has all.
pub fn install_command() -> Option<String> {
    let codecs = Codec::all().into_iter().flat_map(|codec| codec.needs);
    let lines = InstallHint::for_needs(codecs.chain(&SHARED_NEEDS))?.lines();
    Some(lines.join("\n# "))
}

/// What to do where no codec of a run was measured, in a line; none where one was.
pub fn explain_nothing_measured(run: &Run) -> Option<String> {
    let is_codec = |row: &&Subject| !row.bound;
    let mut rows = run.subjects.iter().filter(is_codec).peekable();
    if run.kind != RunKind::Codecs || rows.peek().is_none() {
        return None;
    }
    let mut codecs = Vec::new();
    for row in rows {
        match row.status {
            Status::Measured => return None,
            Status::Skipped(_) => codecs.extend(Codec::find(row.id.split('@').next()?)),
            Status::Rejected(_) | Status::Failed(_) => {}
        }
    }
    let needs =
        codecs.into_iter().flat_map(|codec| codec.language.compilers.iter().chain(codec.needs));
    Some(match InstallHint::for_needs(needs) {
        Some(hint) => {
            format!(
                "no row was measured; this installs what they lack: {}",
                hint.lines().join("; ")
            )
        }
        None => "no row was measured; the table says why".into(),
    })
}

/// Packages that a machine lacks.
struct InstallHint {
    /// Whether apt knows what its release has.
    has_lists: bool,
    /// Those that the release has, as far as that is known.
    there: Vec<&'static str>,
    /// Those that it does not have.
    absent: Vec<&'static str>,
}

impl InstallHint {
    /// What this machine lacks of these; none where it has all.
    fn for_needs<'a>(needs: impl Iterator<Item = &'a Need>) -> Option<InstallHint> {
        let needs = needs.filter(|need| !need.is_installed());
        let packages: BTreeSet<&str> = needs.map(|need| need.names().1).collect();
        let mut query = Command::new("apt-cache");
        query.arg("policy").args(&packages).env("LC_ALL", "C").stdin(Stdio::null());
        let said = query.output().map(|output| output.stdout).unwrap_or_default();
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        InstallHint::among(packages, &String::from_utf8_lossy(&said), &release)
    }

    /// These packages by what `apt-cache policy` says of them, and by what os-release says of
    /// the system.
    fn among(packages: BTreeSet<&'static str>, policy: &str, release: &str) -> Option<InstallHint> {
        let (mut known, mut package) = (BTreeSet::new(), "");
        for line in policy.lines() {
            match line.trim().strip_prefix("Candidate: ") {
                Some("(none)") => {}
                Some(_) => drop(known.insert(package)),
                None if !line.starts_with(' ') => package = line.trim_end_matches(':'),
                None => {}
            }
        }
        let has_lists = !known.is_empty();
        let has_rustup = has_rustup(release);
        let is_there = |package: &&str| match has_lists {
            true => known.contains(package),
            false => *package != "rustup" || has_rustup,
        };
        let (there, absent): (Vec<_>, Vec<_>) = packages.into_iter().partition(is_there);
        let is_lacking = !there.is_empty() || !absent.is_empty();
        is_lacking.then_some(InstallHint { has_lists, there, absent })
    }

    /// The command, and what it does not bring.
    fn lines(&self) -> Vec<String> {
        let sudo = if is_root() { "" } else { "sudo " };
        let mut lines = Vec::new();
        if !self.there.is_empty() {
            let update = match self.has_lists {
                true => String::new(),
                false => format!("{sudo}apt-get update && "),
            };
            let packages = self.there.join(" ");
            let install = format!("{sudo}apt-get install --no-install-recommends {packages}");
            lines.push(update + &install);
        }
        if !self.absent.is_empty() {
            let rust = match self.absent.contains(&"rustup") {
                true => "; https://rustup.rs installs Rust",
                false => "",
            };
            lines.push(format!("this release does not have {}{rust}", self.absent.join(", ")));
        }
        lines
    }
}

/// Whether a system has a package of rustup, by its os-release: Debian has it from 13 on, Ubuntu
/// from 24.04 on.
fn has_rustup(release: &str) -> bool {
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"')
    };
    let first = match value("ID") {
        "debian" => 13.0,
        "ubuntu" => 24.04,
        _ => return true,
    };
    value("VERSION_ID").parse::<f64>().map_or(true, |version| version >= first)
}

/// Versions of the compilers and generators that runners are built with.
pub fn versions() -> IndexMap<String, String> {
    let mut programs = vec!["rustc", "c++", "cmake"];
    for codec in Codec::all() {
        for need in codec.needs {
            if let Need::Program(name, _) = need {
                if !programs.contains(name) {
                    programs.push(name);
                }
            }
        }
    }
    let mut versions = IndexMap::from_iter(installed_versions(&programs));
    versions.insert("Rust flags".into(), "release: opt-level 3, one codegen unit".into());
    versions.insert("C++ flags".into(), CPP_FLAGS.into());
    versions
}

/// Versions of what glue to libraries in C++ is compiled by, where some row has it.
pub fn glue_versions(is_glued: bool) -> IndexMap<String, String> {
    match is_glued {
        true => installed_versions(&["g++"]).into_iter().collect(),
        false => IndexMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(policy: &str, release: &str) -> Vec<String> {
        let packages = BTreeSet::from(["cmake", "old", "rustup"]);
        InstallHint::among(packages, policy, release).expect("some are missing").lines()
    }

    #[test]
    fn what_a_release_does_not_have_is_not_in_the_command() {
        let policy = "cmake:\n  Installed: (none)\n  Candidate: 3.25.1-1\n  Version table:\n\
                      old:\n  Installed: (none)\n  Candidate: (none)\n";
        let found = lines(policy, "");
        assert!(found[0].ends_with("apt-get install --no-install-recommends cmake"), "{found:?}");
        assert!(!found[0].contains("update"), "{found:?}");
        let absent = "this release does not have old, rustup; https://rustup.rs installs Rust";
        assert_eq!(found[1..], [absent]);
        assert!(InstallHint::among(BTreeSet::new(), policy, "").is_none());
    }

    #[test]
    fn where_apt_knows_nothing_the_release_says_whether_it_has_rustup() {
        for release in ["ID=debian\nVERSION_ID=\"12\"\n", "ID=ubuntu\nVERSION_ID=\"22.04\"\n"] {
            let found = lines("", release);
            assert!(found[0].contains("apt-get update && "), "{found:?}");
            assert!(found[0].ends_with("--no-install-recommends cmake old"), "{found:?}");
            assert!(found[1].starts_with("this release does not have rustup;"), "{found:?}");
        }
        let there =
            ["ID=debian\nVERSION_ID=\"13\"\n", "ID=ubuntu\nVERSION_ID=\"24.04\"\n", "ID=debian\n"];
        for release in there {
            let found = lines("", release);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].ends_with(" cmake old rustup"), "{found:?}");
        }
    }
}
