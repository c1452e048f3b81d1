//! From emissions to programs: writes the runners of one message into the
//! build folder, runs the formats' generators and both compilers, and keeps
//! what it built by content, so that the same message builds once.
//!
//! ```text
//! BUILD/common/HASH/       the fixed parts: runner library, C++ headers, alloc.c
//! BUILD/target/            cargo's target folder, shared by all messages
//! BUILD/messages/HASH/     one message: rust/, cpp/, those of other libraries
//!                          (cpp-current/), and bin/ with its runners, each with
//!                          its stamp and what it was built with
//! BUILD/roots/             bare roots of other releases
//! ```

mod build_origin;
mod build_system;
mod cargo_package;
mod crate_release;
mod cross_target;
mod fixed_parts;
pub mod footprint;
mod footprint_builds;
pub mod languages;
mod runner_build;
mod variant;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, Context, Result};
use wiregauge_build_tools::{
    check_starts_programs, compile_shared_object, create_build_folder, embedded, hash, lock, maven,
    write_if_changed, Progress, Toolchain,
};
use wiregauge_normalized::Unit;
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{Projection, Schema};

pub use build_origin::BuildOrigin;
pub use crate_release::CrateRelease;
pub use fixed_parts::FixedParts;
pub use runner_build::BuiltRunner;
pub use variant::{CompilerFlags, Variant};

use crate::codec::Codec;
use build_system::BuildSystem;
use runner_build::{BuildFolders, RunnerBuild};

/// Builds the runners of `codecs` for one message below `folder`, as the machine
/// has their libraries.
///
/// # Errors
/// Those of [`build_variants`].
pub fn build(
    folder: &Path,
    schema: &Schema,
    projection: &Projection,
    codecs: &[&'static Codec],
    progress: Progress,
) -> Result<Vec<BuiltRunner>> {
    let variants: Vec<Variant> = codecs.iter().copied().map(Variant::from_codec).collect();
    build_variants(folder, schema, projection, &variants, progress)
}

/// Builds the runners of `variants` for one message below `folder`. One that
/// cannot be emitted, generated or compiled does not hinder the others, nor does
/// a missing compiler of one language.
///
/// # Errors
/// Those that concern all, such as no space.
pub fn build_variants(
    folder: &Path,
    schema: &Schema,
    projection: &Projection,
    variants: &[Variant],
    progress: Progress,
) -> Result<Vec<BuiltRunner>> {
    let folder = create_build_folder(folder)?;
    let common = FixedParts::write(&folder)?;
    let is_bound = |variant: &Variant| variant.codec.is_bound && !variant.is_footprint;
    let (bounds, codecs): (Vec<_>, Vec<_>) = variants.iter().cloned().partition(is_bound);
    let any = any_message()?;
    let of_any = Unit { schema: &any, projection: &Projection::choose(&any) };
    let mut built = Vec::new();
    for (unit, variants) in [(of_any, bounds), (Unit { schema, projection }, codecs)] {
        if !variants.is_empty() {
            built.extend(build_for_message(&folder, &common, &unit, &variants, progress)?);
        }
    }
    let order = |built: &BuiltRunner| variants.iter().position(|variant| variant.id() == built.id);
    built.sort_by_key(order);
    Ok(built)
}

/// What the bounds are built for. They know nothing of the message whose bytes they carry, so one
/// program of each serves all messages.
fn any_message() -> Result<Schema> {
    msg::read_text("uint8 value\n", "wiregauge/Any", Dialect::Ros2, "any")
}

/// Builds the runners of variants, in any order, in the folder of one message.
fn build_for_message(
    folder: &Path,
    common: &FixedParts,
    unit: &Unit,
    variants: &[Variant],
    progress: Progress,
) -> Result<Vec<BuiltRunner>> {
    let message = hash([serde_json::to_vec(unit.schema)?, serde_json::to_vec(unit.projection)?]);
    let place = BuildFolders {
        common,
        target: folder.join("target"),
        message: folder.join("messages").join(format!("m{}", &message[..16])),
    };
    fs::create_dir_all(place.message.join("bin"))?;
    // One builds a message at a time; different messages are built side by side.
    let _lock = lock(&place.message)?;
    write_if_changed(&place.message.join("schema.json"), &serde_json::to_vec_pretty(unit.schema)?)?;

    let mut built: Vec<BuiltRunner> = Vec::new();
    let mut stale: Vec<RunnerBuild> = Vec::new();
    // That of a language is long for large messages, and the same for all its rows.
    let mut messages: BTreeMap<&str, Result<Vec<String>>> = BTreeMap::new();
    for variant in variants {
        let language = variant.codec.language;
        let message = messages.entry(language.key).or_insert_with(|| (language.message)(unit));
        match RunnerBuild::prepare(&place, variant, unit, message) {
            Ok(build) if build.is_fresh() => built.push(build.outcome(Ok(build.program.clone()))),
            Ok(build) => match build.find_installed() {
                Some(program) => built.push(build.outcome(Ok(program))),
                None => stale.push(build),
            },
            Err(error) => built.push(BuiltRunner::failed(variant, error)),
        }
    }
    if !stale.is_empty() {
        check_starts_programs(folder, "WIREGAUGE_BUILD")?;
    }
    let jars: Vec<_> = stale.iter().flat_map(|build| build.emission.jars).collect();
    if !jars.is_empty() {
        progress("fetching jars", 0, stale.len())?;
        // What cannot be fetched is said by each build that needs it.
        let _ = maven::jars(folder, jars);
    }
    let mut groups: BTreeMap<String, Vec<&RunnerBuild>> = BTreeMap::new();
    for (done, build) in stale.iter().enumerate() {
        progress(&format!("generating {}", build.variant.title()), done, stale.len())?;
        match build.generate() {
            Ok(()) => groups.entry(build.variant.group()).or_default().push(build),
            Err(error) => built.push(build.outcome(Err(error))),
        }
    }
    for builds in groups.values() {
        let stopped = Cell::new(false);
        let watched = |what: &str, done: usize, total: usize| {
            progress(what, done, total).inspect_err(|_| stopped.set(true))
        };
        let system = BuildSystem::for_language(builds[0].variant.codec.language);
        let compile = match builds[0].variant.is_footprint {
            true => system.compile_footprints.context("programs of it are not compiled")?,
            false => system.compile,
        };
        let outcomes = match compile(&place, unit, builds, &watched) {
            Err(error) if !stopped.get() => {
                builds.iter().map(|_| Err(anyhow!("{error:#}"))).collect()
            }
            outcomes => outcomes?,
        };
        for (build, outcome) in builds.iter().zip(outcomes) {
            built.push(build.outcome(outcome.and_then(|made| build.install(&made))));
        }
    }
    Ok(built)
}

/// The allocation counter, to be preloaded into runners of a toolchain.
pub fn build_allocation_counter(folder: &Path, toolchain: &Toolchain) -> Result<PathBuf> {
    create_build_folder(folder)?;
    let source = embedded::runners().content("alloc/alloc.c").context("the program carries it")?;
    compile_shared_object(folder, "alloc", source, &["-fno-builtin"], toolchain)
}
