//! The rows of which it is explained what they execute: `--explain prost,protobuf-cpp@current`.

use anyhow::{bail, ensure, Result};
use wiregauge_formats::build::Variant;

use crate::codec_selection::UserRunner;

/// The most that are explained together, as two have one difference.
const MOST: usize = 2;

/// The codecs of rows, to be measured where no others are named; runners of the user's own are
/// none.
pub fn codecs(rows: &[String], runners: &[UserRunner]) -> Vec<String> {
    let codec = |row: &String| row.split('@').next().unwrap_or_default().to_owned();
    let mut names: Vec<String> = rows.iter().map(codec).collect();
    names.retain(|name| runners.iter().all(|runner| runner.name() != name));
    names.dedup();
    names
}

/// Has the programs of these rows tell the lines of their sources.
pub fn tell_lines(rows: &[String], variants: &mut [Variant]) {
    for variant in variants {
        variant.has_lines = rows.contains(&variant.id());
    }
}

/// Refuses rows that are not measured, or whose functions cannot be told apart.
///
/// # Errors
/// With the reason.
pub fn check(rows: &[String], variants: &[Variant], runners: &[UserRunner]) -> Result<()> {
    ensure!(rows.len() <= MOST, "--explain takes one or two rows; it compares two");
    for (at, row) in rows.iter().enumerate() {
        ensure!(!rows[..at].contains(row), "--explain has {row} twice");
        if runners.iter().any(|runner| runner.name() == row) {
            continue;
        }
        let Some(variant) = variants.iter().find(|variant| variant.id() == *row) else {
            let mut known: Vec<String> = variants.iter().map(Variant::id).collect();
            known.extend(runners.iter().map(|runner| runner.name().to_owned()));
            bail!("--explain: '{row}' is not measured; choose from {}", known.join(", "));
        };
        if let Some(why) = variant.codec.language.unexplained {
            bail!("{row} cannot be explained: {why}");
        }
    }
    Ok(())
}
