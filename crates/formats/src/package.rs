//! The Debian packages that are installed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A package's version; none where it is not installed, or there is no dpkg.
pub fn version(package: &str) -> Option<String> {
    installed().get(package).cloned()
}

/// The package of a shared library, which has a number behind its name that
/// differs from release to release, and its version.
pub fn shared_library(name: &str) -> Option<(String, String)> {
    numbered(installed(), name).map(|(package, version)| (package.clone(), version.clone()))
}

fn numbered<'a>(
    packages: &'a BTreeMap<String, String>,
    name: &str,
) -> Option<(&'a String, &'a String)> {
    let is_number =
        |rest: &str| rest.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    packages.iter().rfind(|(package, _)| package.strip_prefix(name).is_some_and(is_number))
}

/// All that are installed, with their versions.
fn installed() -> &'static BTreeMap<String, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
