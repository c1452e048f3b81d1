//! The definitions in a folder: of a package of ROS, of several, or of Protobuf.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};

/// The folders of a package of ROS with its definitions, and how their files end.
const ROS: [&str; 3] = ["msg", "srv", "action"];

/// Most files and folders that are looked at below a folder.
const MOST: usize = 100_000;

/// The files of definitions below a folder, `.msg`, `.srv`, `.action`, `.idl` and `.proto`, in
/// order; none where there are none. Of a package of ROS they are those below its `msg`, `srv` and
/// `action`, without the `.idl` that are made of them.
///
/// # Errors
/// When a folder cannot be read, there are too many files, or two files are one
/// type of ROS by their names.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for end in ROS {
        let own = folder.join(end);
        found.extend(if own.is_dir() { find_files(&own, &[end])? } else { Vec::new() });
    }
    match found.is_empty() {
        true => found = find_files(folder, &[&ROS[..], &["idl", "proto"]].concat())?,
        false => found.extend(find_files(folder, &["proto"])?),
    }
    let is_made = |path: &Path| ROS.iter().any(|end| path.with_extension(end).exists());
    found.retain(|path| !has_extension(path, "idl") || !is_made(path));
    let mut types: BTreeMap<(PathBuf, String), &Path> = BTreeMap::new();
    for path in found.iter().filter(|path| has_extension(path, "msg")) {
        let Some(root) = root(path, "msg") else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(other) = types.insert((root, name), path) {
            bail!("{}", duplicate_error(other, path));
        }
    }
    Ok(found)
}

/// Whether a folder is one of definitions: not the description of a bag, nor one
/// that has recordings.
pub fn is_of_definitions(folder: &Path) -> bool {
    let is_recorded = |path: PathBuf| {
        path.ends_with("metadata.yaml")
            || ["mcap", "db3"].iter().any(|end| has_extension(&path, end))
    };
    let entries = folder.read_dir().ok().into_iter().flatten().flatten();
    folder.is_dir() && !entries.map(|entry| entry.path()).any(is_recorded)
}

/// The file of this name in a folder of messages, services or actions, which may have folders of
/// its own: where a file lies in it makes no difference to its type.
///
/// # Errors
/// When two have it, or a folder cannot be read.
pub(crate) fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let is_it = |path: &PathBuf| path.file_name().is_some_and(|found| found == name);
    let mut found = find_files(folder, &ROS)?.into_iter().filter(is_it);
    let first = found.next();
    if let (Some(first), Some(second)) = (&first, found.next()) {
        bail!("{}", duplicate_error(first, &second));
    }
    Ok(first)
}

/// The folder of a package, such as `msg`, that a file lies in, directly or in folders of it.
pub(crate) fn root(path: &Path, own: &str) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let root = path.ancestors().skip(1).find(|folder| folder.ends_with(own))?;
    root.parent()?.file_name()?;
    Some(root.to_owned())
}

/// The package of a file that lies in its folder of this name: `pkg/msg/Type.msg`, or in a folder
/// of it: `pkg/msg/a/Type.msg` is of `pkg` as well.
pub(crate) fn package_of(path: &Path, own: &str) -> Option<String> {
    Some(root(path, own)?.parent()?.file_name()?.to_string_lossy().into_owned())
}

fn duplicate_error(first: &Path, second: &Path) -> String {
    format!(
        "{} and {} have the same type name; rename or remove one",
        first.display(),
        second.display()
    )
}

fn has_extension(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(end))
}

/// The files with one of these ends below a folder, in order. Links are followed,
/// but each folder is entered once. Hidden folders are left out.
fn find_files(folder: &Path, ends: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entered = HashSet::new();
    let mut open = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        let real = folder.canonicalize();
        if !entered.insert(real.with_context(|| format!("cannot read {}", folder.display()))?) {
            continue;
        }
        let entries = folder.read_dir();
        for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
            seen += 1;
            ensure!(
                seen <= MOST,
                "there are more than {MOST} files below {}; give the folder of a package",
                folder.display()
            );
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if path.is_dir() {
                open.extend((!is_hidden).then_some(path));
            } else if ends.iter().any(|end| has_extension(&path, end)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
