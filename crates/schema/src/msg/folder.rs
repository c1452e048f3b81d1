//! Where the file of a type is, by its package.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::interface::{file_of_interface, package_of_interface};
use crate::package::{find, package_of, root};

/// The folders to look for packages in: those given, then those that the
/// environment names, of ROS 2 (`AMENT_PREFIX_PATH`) and ROS 1
/// (`ROS_PACKAGE_PATH`).
///
/// In each a type is looked for as `pkg/msg/Type.msg`, `share/pkg/msg/Type.msg`,
/// `pkg/Type.msg`, `*/pkg/msg/Type.msg`, and where the folder is the package
/// itself as `msg/Type.msg`; in each `msg` also in folders of it.
pub fn folders(given: &[PathBuf]) -> Vec<PathBuf> {
    let named = ["AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"].into_iter().filter_map(std::env::var_os);
    let named = named.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
    given.iter().cloned().chain(named.filter(|path| !path.as_os_str().is_empty())).collect()
}

/// `pkg/Type` for `pkg/msg/Type`; anything else as it is.
pub(super) fn short_name(name: &str) -> String {
    name.replace("/msg/", "/")
}

pub(super) fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The file of a type, from the file that uses it. Fails where two files of a
/// package are the type by their names.
pub(super) fn locate(from: &Path, name: &str, folders: &[PathBuf]) -> Result<Option<PathBuf>> {
    let file = format!("{}.msg", last_part(name));
    let package = name.rsplit_once('/').map(|(package, _)| package);
    // Where links lead is looked at after where they are: a workspace links
    // packages that lie apart, and a package links files of its source.
    let absolute = std::path::absolute(from)?;
    let real = from.canonicalize().ok();
    for from in std::iter::once(absolute).chain(real) {
        let Some(package) = package else { continue };
        let folder = from.parent().unwrap_or(Path::new("")).to_owned();
        // From a folder of a package's messages packages are beside the package.
        let msg = root(&from, "msg").unwrap_or_else(|| folder.clone());
        let above = msg.parent().map(Path::to_owned);
        if let Some(top) = above.as_deref().and_then(Path::parent) {
            let found = find(&top.join(package).join("msg"), &file)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let flat = above.map(|above| above.join(package));
        let near = [flat, Some(folder.join(package))].into_iter().flatten();
        if let Some(found) = near.map(|near| near.join(&file)).find(|place| place.exists()) {
            return Ok(Some(found));
        }
    }
    if let Some(found) = find_in_folders(folders, name)? {
        return Ok(Some(found));
    }
    // A namesake in another package is another type.
    let other = package_of(from, "msg").is_some_and(|own| package.is_some_and(|p| p != own));
    let beside = from.parent().map(|folder| folder.join(&file));
    Ok(beside.filter(|beside| !other && beside.exists()))
}

/// Where a type's file usually is: `pkg/msg/Type.msg`, or `pkg/srv/Name.srv` of `pkg/srv/Name_Event`.
pub fn usual_file(name: &str) -> String {
    match file_in_package(&short_name(name)) {
        Some((package, folder, file)) => format!("{package}/{folder}/{file}"),
        None => format!("{name}.msg"),
    }
}

/// The package of a type, the folder in it and the name of the file there.
fn file_in_package(name: &str) -> Option<(&str, &str, String)> {
    let own = package_of_interface(name).zip(file_of_interface(name));
    own.map(|(package, (folder, file))| (package, folder, file)).or_else(|| {
        let (package, last) = name.rsplit_once('/')?;
        Some((package, "msg", format!("{last}.msg")))
    })
}

/// The file of `pkg/Type` in the first folder that has it. Fails where two files
/// there are the type by their names.
pub(super) fn find_in_folders(folders: &[PathBuf], name: &str) -> Result<Option<PathBuf>> {
    let Some((package, own, file)) = file_in_package(name) else { return Ok(None) };
    for folder in folders {
        for package in [folder.join(package), folder.join("share").join(package)] {
            let found = find(&package.join(own), &file)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let flat = folder.join(package).join(&file);
        if flat.exists() {
            return Ok(Some(flat));
        }
        if folder.file_name().is_some_and(|name| name == package) {
            let found = find(&folder.join(own), &file)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let Ok(inner) = folder.read_dir() else { continue };
        let mut inner: Vec<PathBuf> = inner.flatten().map(|entry| entry.path()).collect();
        inner.sort();
        for inner in inner {
            let found = find(&inner.join(package).join(own), &file)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}
