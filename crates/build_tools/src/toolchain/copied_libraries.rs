//! The machine's libraries in a folder of their own, for a compiler of a root, which
//! sees nothing of the machine but the build folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::prefix::Prefix;
use crate::build_cache::{create_folder_atomically, hash, lock};
use crate::tool::run;

/// Where packages have what compilers and loaders look for.
const PARTS: [&str; 2] = ["/usr/include/", "/usr/lib/"];

/// Copies of what these packages of the machine bring, and all others that were built
/// from their sources: headers and shared libraries. Made anew when one changes.
///
/// # Errors
/// When dpkg knows none of them, or they cannot be copied.
pub fn copy_libraries(build: &Path, label: &str, packages: &[&str]) -> Result<Prefix> {
    let form = "${db:Status-Abbrev} ${source:Package} ${binary:Package} ${Version}\\n";
    let listed = run(Command::new("dpkg-query").args(["-W", "-f", form]), "dpkg-query")?;
    let chosen = same_source_packages(&listed, packages);
    ensure!(!chosen.is_empty(), "no codec's library is installed; apt-get install {}", packages[0]);
    let roots = build.join("roots");
    fs::create_dir_all(&roots).with_context(|| format!("cannot make {}", roots.display()))?;
    let roots = roots.canonicalize()?;
    let _lock = lock(&roots)?;
    let key = hash(chosen.iter().map(|(name, version)| format!("{name} {version}").into_bytes()));
    let folder = roots.join(format!("machine-{}", &key[..16]));
    if !folder.is_dir() {
        let names = chosen.iter().map(|(name, _)| name);
        let files = run(Command::new("dpkg-query").arg("-L").args(names), "dpkg-query")?;
        let is_wanted = |path: &&str| PARTS.iter().any(|part| path.starts_with(part));
        create_folder_atomically(&folder, |half| {
            files.lines().filter(is_wanted).try_for_each(|path| {
                let below = path.strip_prefix("/usr/").unwrap_or(path);
                copy(Path::new(path), &half.join(below))
            })
        })?;
    }
    Prefix::new(Some(label), &folder)
}

/// Names and versions of the installed packages that were built from the same sources
/// as these; `listed` has state, source, name and version a line.
fn same_source_packages<'a>(listed: &'a str, packages: &[&str]) -> Vec<(&'a str, &'a str)> {
    let package = |line: &'a str| {
        let mut words = line.strip_prefix("ii ")?.split_whitespace();
        Some((words.next()?, words.next()?, words.next()?))
    };
    let all: Vec<_> = listed.lines().filter_map(package).collect();
    let plain = |name: &'a str| name.split(':').next().unwrap_or(name);
    let wanted = all.iter().filter(|(_, name, _)| packages.contains(&plain(name)));
    let sources: Vec<&str> = wanted.map(|(source, ..)| *source).collect();
    let chosen = all.iter().filter(|(source, ..)| sources.contains(source));
    chosen.map(|(_, name, version)| (*name, *version)).collect()
}

/// Copies a file of a package, or the link that it is; no folder, and no archive,
/// which would only be large.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let Ok(about) = fs::symlink_metadata(from) else { return Ok(()) };
    if about.is_dir() || from.extension().is_some_and(|end| end == "a") {
        return Ok(());
    }
    let place = to.parent().context("a file is in a folder")?;
    fs::create_dir_all(place).with_context(|| format!("cannot make {}", place.display()))?;
    let cannot = || format!("cannot copy {} to {}", from.display(), to.display());
    if about.is_symlink() {
        let target = fs::read_link(from).with_context(cannot)?;
        if target.is_relative() {
            return symlink(target, to).with_context(cannot);
        }
    }
    if from.is_file() {
        fs::copy(from, to).with_context(cannot)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_same_source_belong_together() {
        let listed = "ii  protobuf libprotobuf-dev:amd64 3.21.12-3\n\
                      ii  protobuf libprotobuf32:amd64 3.21.12-3\n\
                      rc  protobuf libprotobuf23:amd64 3.12.4-1\n\
                      ii  bash bash 5.2\n";
        let chosen = same_source_packages(listed, &["libprotobuf-dev"]);
        assert_eq!(
            chosen,
            [("libprotobuf-dev:amd64", "3.21.12-3"), ("libprotobuf32:amd64", "3.21.12-3")]
        );
        assert!(same_source_packages(listed, &["libthrift-dev"]).is_empty());
    }

    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("libx.so.1"), "x").unwrap();
        fs::write(from.join("libx.a"), "x").unwrap();
        symlink("libx.so.1", from.join("libx.so")).unwrap();
        for name in ["libx.so.1", "libx.so", "libx.a", "nothing"] {
            copy(&from.join(name), &to.join(name)).unwrap();
        }
        assert_eq!(fs::read_link(to.join("libx.so")).unwrap(), Path::new("libx.so.1"));
        assert_eq!(fs::read(to.join("libx.so")).unwrap(), b"x");
        assert!(!to.join("libx.a").exists() && !to.join("nothing").exists());
    }
}
