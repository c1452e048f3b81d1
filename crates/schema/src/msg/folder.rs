//! Where the file of a type is, by its package.

use std::path::{Path, PathBuf};

/// The folders to look for packages in: those given, then those that the
/// environment names, of ROS 2 (`AMENT_PREFIX_PATH`) and ROS 1
/// (`ROS_PACKAGE_PATH`).
///
/// In each a type is looked for as `pkg/msg/Type.msg`, `share/pkg/msg/Type.msg`,
/// `pkg/Type.msg`, `*/pkg/msg/Type.msg`, and where the folder is the package
/// itself as `msg/Type.msg`.
pub fn folders(given: &[PathBuf]) -> Vec<PathBuf> {
    let named = ["AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"].into_iter().filter_map(std::env::var_os);
    let named = named.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
    given.iter().cloned().chain(named.filter(|path| !path.as_os_str().is_empty())).collect()
}

/// `pkg/Type` for `pkg/msg/Type`; anything else as it is.
pub(super) fn short(name: &str) -> String {
    name.replace("/msg/", "/")
}

pub(super) fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The package of a file that lies in the usual place, `pkg/msg/Type.msg`.
pub(super) fn package_of(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    if folder.file_name()? != "msg" {
        return None;
    }
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// The file of a type, from the file that uses it.
pub(super) fn locate(from: &Path, name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let last = last(name);
    // Where links lead is looked at after where they are: a workspace links
    // packages that lie apart, and a package links files of its source.
    let absolute = std::path::absolute(from).ok()?;
    let real = from.canonicalize().ok();
    let places = std::iter::once(absolute).chain(real).flat_map(|from| {
        let folder = from.parent().unwrap_or(Path::new("")).to_owned();
        let above = folder.parent().map(Path::to_owned);
        let top = above.as_deref().and_then(Path::parent).map(Path::to_owned);
        let package = name.rsplit_once('/').map(|(package, _)| package);
        let near = package.map(|package| {
            let msg = top.map(|top| top.join(package).join("msg"));
            let flat = above.map(|above| above.join(package));
            [msg, flat, Some(folder.join(package))].into_iter().flatten().collect()
        });
        let near: Vec<PathBuf> = near.unwrap_or_default();
        near.into_iter().map(|folder| folder.join(format!("{last}.msg"))).collect::<Vec<_>>()
    });
    let found = places.filter(|place| place.exists()).chain(within(folders, name)).next();
    found.or_else(|| {
        let package = name.rsplit_once('/').map(|(package, _)| package);
        // A namesake in another package is another type.
        let other = package_of(from).is_some_and(|own| package.is_some_and(|p| p != own));
        let beside = from.parent()?.join(format!("{last}.msg"));
        (!other && beside.exists()).then_some(beside)
    })
}

/// The file of `pkg/Type` in the first folder that has it.
pub(super) fn within(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let (package, last) = name.rsplit_once('/')?;
    let file = format!("{last}.msg");
    folders.iter().find_map(|folder| {
        let mut places = vec![
            folder.join(package).join("msg").join(&file),
            folder.join("share").join(package).join("msg").join(&file),
            folder.join(package).join(&file),
        ];
        let is_package = folder.file_name().is_some_and(|name| name == package);
        if is_package {
            places.push(folder.join("msg").join(&file));
        }
        let found = places.into_iter().find(|place| place.exists());
        found.or_else(|| {
            let mut inner: Vec<PathBuf> =
                folder.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
            inner.sort();
            let mut inner =
                inner.into_iter().map(|inner| inner.join(package).join("msg").join(&file));
            inner.find(|place| place.exists())
        })
    })
}
