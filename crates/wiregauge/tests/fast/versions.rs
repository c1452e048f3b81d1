//! The version of everything, which is set in one place, and those of what others bring to the
//! machines that make a release.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{files, project, to_said, Said};

/// Runs the script of a tree with this word.
fn set_version(tree: &Path, word: &str) -> Said {
    let script = Command::new(tree.join("scripts/set-version")).arg(word).output();
    to_said(script.expect("python3 starts it"))
}

#[test]
fn one_version_is_set_in_all_places() {
    assert_eq!(set_version(&project(), "--check").code, Some(0));
    let folder = tempfile::tempdir().expect("a folder");
    let script = fs::read_to_string(project().join("scripts/set-version")).expect("readable");
    // The files that it names, and it.
    let named =
        script.split('"').filter(|word| word.contains('.') && project().join(word).is_file());
    for name in named.chain(["scripts/set-version"]) {
        let place = folder.path().join(name);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::copy(project().join(name), place).expect("copied");
    }
    assert_eq!(set_version(folder.path(), "3.2.1").code, Some(0));
    assert_eq!(set_version(folder.path(), "--check").code, Some(0));
    let recipe = folder.path().join("packed/conanfile.py");
    let other = fs::read_to_string(&recipe).expect("readable").replace("3.2.1", "3.2.0");
    fs::write(&recipe, other).expect("written");
    for (word, words) in [
        ("--check", "has 3.2.0, but Cargo.toml has 3.2.1; run scripts/set-version 3.2.1"),
        ("3.2", "'3.2' is no version; write it as 0.2.0"),
    ] {
        let said = set_version(folder.path(), word);
        assert!(said.code == Some(1) && said.err.contains(words), "{word}: {}", said.err);
    }
}

/// Actions of others run with the project's rights: a tag may move, a hash does not.
#[test]
fn actions_are_pinned_by_hash() {
    let mut checked = 0;
    for path in files(&project().join(".github/workflows"), &|name| name.ends_with(".yml")) {
        let text = fs::read_to_string(&path).expect("readable");
        for line in text.lines().filter(|line| line.contains("uses: ")) {
            let (_, reference) = line.split_once('@').expect("a reference");
            let (hash, version) = reference.split_once(" # v").unwrap_or((reference, ""));
            let is_hash = hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit());
            assert!(is_hash && !version.is_empty(), "{}: {line}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 0);
}
