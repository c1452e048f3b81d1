//! Debian packages: their versions, and of which year these are.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The versions of all packages of the machine, by name; empty where there is no
/// dpkg.
pub fn versions() -> &'static BTreeMap<String, String> {
    static ALL: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let listed = Command::new("dpkg-query")
            .args(["-W", "-f", "${db:Status-Abbrev} ${Package} ${Version}\\n"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let text = listed.map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| line.strip_prefix("ii ")?.trim().split_once(' '))
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .collect()
    })
}

/// The version of a package of the machine; none where it is not installed.
pub fn version(package: &str) -> Option<String> {
    versions().get(package).cloned()
}

/// The package of a shared library, which has a number behind its name that
/// differs from release to release, and its version.
pub fn shared_library(name: &str) -> Option<(String, String)> {
    numbered(versions(), name).map(|(package, version)| (package.clone(), version.clone()))
}

fn numbered<'a>(
    packages: &'a BTreeMap<String, String>,
    name: &str,
) -> Option<(&'a String, &'a String)> {
    let is_number =
        |rest: &str| rest.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    packages.iter().rfind(|(package, _)| package.strip_prefix(name).is_some_and(is_number))
}

/// The packages of a folder of archives, `NAME_VERSION_ARCHITECTURE.deb` a line.
pub fn archives(list: &str) -> BTreeMap<String, String> {
    let package = |file: &str| {
        let mut parts = file.strip_suffix(".deb")?.split('_');
        Some((parts.next()?.to_owned(), parts.next()?.replace("%3a", ":")))
    };
    list.lines().filter_map(|line| package(line.trim())).collect()
}

/// The year in which a package got the library's version that it has, by its
/// changelog below `root`.
pub fn year(root: &Path, package: &str, version: &str) -> Option<u32> {
    let folder = root.join("usr/share/doc").join(package);
    let changelog = folder.join("changelog.Debian.gz");
    let output = Command::new("gzip")
        .arg("-dc")
        .arg(changelog)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    year_in(&String::from_utf8_lossy(&output.stdout), upstream(version))
}

/// The year of the earliest entry of this version.
fn year_in(changelog: &str, version: &str) -> Option<u32> {
    let mut of_it = false;
    let mut year = None;
    for line in changelog.lines() {
        if let Some(date) = line.strip_prefix(" -- ").filter(|_| of_it) {
            // `NAME <ADDRESS>  Thu, 15 Dec 2022 16:49:15 -0500`
            let date = date.rsplit_once("  ")?.1;
            year = date.split_whitespace().nth(3).and_then(|year| year.parse().ok()).or(year);
        } else if let Some((_, rest)) = line.split_once(" (").filter(|_| !line.starts_with(' ')) {
            let entry = rest.split_once(')').map_or("", |(entry, _)| entry);
            of_it = upstream(entry) == version;
        }
    }
    year
}

/// The makers' part of a package's version: `2.0.8` of `1:2.0.8+dfsg1-2`, `2.2.5`
/// of `2.2.6+really2.2.5-1`.
pub fn upstream(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    let version = version.rsplit_once('-').map_or(version, |(rest, _)| rest);
    let version = version.rsplit_once("+really").map_or(version, |(_, behind)| behind);
    version.split(['+', '~']).next().unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_its_makers_version() {
        for (version, of_makers) in [
            ("1:2.0.8+dfsg1-2", "2.0.8"),
            ("36.2.0-1", "36.2.0"),
            ("2.2.6+really2.2.5-1", "2.2.5"),
            ("25.12.19+dfsg-1~exp1", "25.12.19"),
            ("1.3.1+repack1-9", "1.3.1"),
            ("1:0.19.0-4+b1", "0.19.0"),
            ("3.21.12", "3.21.12"),
        ] {
            assert_eq!(upstream(version), of_makers, "{version}");
        }
    }

    #[test]
    fn a_shared_library_is_found_by_its_number() {
        let names =
            ["libprotobuf-dev", "libprotobuf-lite32t64", "libprotobuf32t64", "libcapnp-1.1.0"];
        let all = names.map(|name| (name.to_owned(), "1".to_owned())).into();
        let found = |name| numbered(&all, name).map(|(package, _)| package.as_str());
        assert_eq!(found("libprotobuf"), Some("libprotobuf32t64"));
        assert_eq!(found("libcapnp"), Some("libcapnp-1.1.0"));
        assert_eq!(found("libthrift"), None);
    }

    #[test]
    fn the_year_is_that_of_the_version_s_first_entry() {
        let entry = |version: &str, year: u32| {
            let date = format!("Thu, 15 Dec {year} 16:49:15 -0500");
            format!(
                "lib ({version}) unstable; urgency=low\n\n  * It (x).\n\n -- A <a@b>  {date}\n\n"
            )
        };
        let log = entry("2.1-1", 2025) + &entry("2.0-2", 2024) + &entry("2.0-1", 2022);
        let log = log + &entry("1.9-1", 2019);
        assert_eq!(year_in(&log, "2.0"), Some(2022));
        assert_eq!(year_in(&log, "2.1"), Some(2025));
        assert_eq!(year_in(&log, "3.0"), None);
    }

    #[test]
    fn archives_are_named_after_packages() {
        let list = "g++_4%3a16.2.0-1_amd64.deb\nlock\npartial\nlibc6_2.43-7_amd64.deb\n";
        let archives = archives(list);
        assert_eq!(archives["g++"], "4:16.2.0-1");
        assert_eq!(archives["libc6"], "2.43-7");
        assert_eq!(archives.len(), 2);
    }
}
