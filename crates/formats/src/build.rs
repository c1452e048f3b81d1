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

mod cargo;
mod common;
mod cpp;
mod job;
mod origin;
mod release;
mod variant;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{anyhow, Context, Result};
use wiregauge_holders::Unit;
use wiregauge_schema::{Projection, Schema};
use wiregauge_workshop::{hash, lock, run, write_if_new, Progress};

pub use common::Common;
pub use job::Built;
pub use origin::Origin;
pub use release::Release;
pub use variant::Variant;

use crate::codec::{Codec, Language};
use job::{Job, Place};

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
) -> Result<Vec<Built>> {
    let variants: Vec<Variant> = codecs.iter().copied().map(Variant::plain).collect();
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
) -> Result<Vec<Built>> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the build folder {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let _lock = lock(&folder)?;
    let common = Common::write(&folder)?;
    let unit = Unit { schema, projection };
    let message = hash([serde_json::to_vec(schema)?, serde_json::to_vec(projection)?]);
    let place = Place {
        common: &common,
        target: folder.join("target"),
        message: folder.join("messages").join(format!("m{}", &message[..16])),
    };
    fs::create_dir_all(place.message.join("bin"))?;
    write_if_new(&place.message.join("schema.json"), &serde_json::to_vec_pretty(schema)?)?;

    let mut built: Vec<Built> = Vec::new();
    let mut stale: Vec<Job> = Vec::new();
    for variant in variants {
        match Job::prepare(&place, variant, &unit) {
            Ok(job) if job.is_fresh() => built.push(job.built(Ok(job.program.clone()))),
            Ok(job) => stale.push(job),
            Err(error) => built.push(Built::failed(variant, error)),
        }
    }
    let mut groups: BTreeMap<String, Vec<&Job>> = BTreeMap::new();
    for (done, job) in stale.iter().enumerate() {
        progress(&format!("generating {}", job.variant.title()), done, stale.len())?;
        match job.generate() {
            Ok(()) => groups.entry(job.variant.group()).or_default().push(job),
            Err(error) => built.push(job.built(Err(error))),
        }
    }
    for jobs in groups.values() {
        let stopped = Cell::new(false);
        let watched = |what: &str, done: usize, total: usize| {
            progress(what, done, total).inspect_err(|_| stopped.set(true))
        };
        let outcomes = match jobs[0].codec.language {
            Language::Rust => cargo::compile(&place, &unit, jobs, &watched),
            Language::Cpp => cpp::compile(&place, &unit, jobs, &watched),
        };
        let outcomes = match outcomes {
            Err(error) if !stopped.get() => {
                jobs.iter().map(|_| Err(anyhow!("{error:#}"))).collect()
            }
            outcomes => outcomes?,
        };
        for (job, outcome) in jobs.iter().zip(outcomes) {
            built.push(job.built(outcome.and_then(|made| job.install(&made))));
        }
    }
    let order = |built: &Built| variants.iter().position(|variant| variant.id() == built.id);
    built.sort_by_key(order);
    Ok(built)
}

/// The allocation counter, to be preloaded into runners.
pub fn counter(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the build folder {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let _lock = lock(&folder)?;
    let common = Common::write(&folder)?;
    let object = common.folder.join("liballoc.so");
    if !object.exists() {
        let flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-fno-builtin", "-fvisibility=hidden"];
        let made = common.folder.join("liballoc.so.new");
        let mut command = Command::new("cc");
        command.args(flags).arg("-o").arg(&made).arg(common.folder.join("alloc/alloc.c"));
        run(&mut command, "cc")?;
        fs::rename(&made, &object)?;
    }
    Ok(object)
}
