//! The libraries that are measured, by the versions that the Rust runners lock.

const LOCK: &str = include_str!("../../../../../runners/rust/Cargo.lock");

/// A crate as a runner names it: `prost 0.14.4`. Panics where the runners do
/// not depend on it.
pub fn crate_and_version(name: &str) -> String {
    let package = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = LOCK.split_once(&package).expect("the runners lock the crate");
    let (version, _) = rest.split_once('"').expect("a version ends with a quote");
    format!("{name} {version}")
}
