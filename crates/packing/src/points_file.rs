//! Files that hold an array of points, or the packed field that one was made into.

use std::io::Read;
use std::path::Path;

use anyhow::{ensure, Context, Result};
use wiregauge_packed::{Plan, Points, MAXIMUM_SIZE};
use wiregauge_system::file::Target;
use wiregauge_system::input::open_regular;

use crate::costs::{ChannelCosts, ColumnCosts};
use crate::error_advice::add_advice;
use crate::structure::Structure;

/// What a packed field begins with.
const MAGIC: &[u8] = b"WGPACKED";

/// Whether a file is a packed field by itself.
///
/// # Errors
/// When it is no regular file, or cannot be read.
pub fn is_field(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    let file = open_regular(path)?;
    let read = file.take(MAGIC.len() as u64).read_to_end(&mut head);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(head == MAGIC)
}

/// The bytes of a file that may be no larger than a packed field may be.
///
/// # Errors
/// When it is larger, no regular file, or cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path)?;
    let read = file.take(MAXIMUM_SIZE as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(
        bytes.len() <= MAXIMUM_SIZE,
        "{} is larger than 2 GiB, which cannot be packed at once; split it",
        path.display()
    );
    Ok(bytes)
}

/// Packs a file that is an array of such points. What that took.
///
/// # Errors
/// When it is no whole number of points, the plan names a column that they do not have, or the
/// output cannot be written.
pub fn pack(
    input: &Path,
    output: &Path,
    points: &Points,
    plan: &Plan,
) -> Result<Vec<ChannelCosts>> {
    let target = Target::open(output, &[input])?;
    let data = read(input)?;
    let origin = input.display();
    ensure!(
        data.len().is_multiple_of(points.step()),
        "{origin}: {} bytes are not a whole number of points of {} bytes; give other fields by \
         --point",
        data.len(),
        points.step()
    );
    let names = || points.fields().iter().map(|field| field.name.as_str());
    for rule in &plan.rules {
        ensure!(
            names().any(|name| name == rule.column),
            "{origin} has no column {}; it has {}",
            rule.column,
            names().collect::<Vec<_>>().join(", ")
        );
    }
    let (field, precision) =
        points.pack(&data, plan).map_err(add_advice).with_context(|| origin.to_string())?;
    target.write(&field)?;
    let mut costs = costs(data.len(), field.len());
    precision.iter().for_each(|column| costs.add(ColumnCosts::from(column)));
    Ok(vec![costs])
}

/// Unpacks a file that is a packed field of points. What that took.
///
/// # Errors
/// When it is no such field, or the output cannot be written.
pub fn unpack(input: &Path, output: &Path) -> Result<Vec<ChannelCosts>> {
    let target = Target::open(output, &[input])?;
    let field = read(input)?;
    let unpacked = Structure::from_field(&field)
        .and_then(|Structure(points)| Ok(points.unpack(&field, MAXIMUM_SIZE)?));
    let data = unpacked.with_context(|| input.display().to_string())?;
    target.write(&data)?;
    Ok(vec![costs(field.len(), data.len())])
}

fn costs(before: usize, after: usize) -> ChannelCosts {
    ChannelCosts {
        messages: 1,
        before: before as u64,
        after: after as u64,
        ..ChannelCosts::default()
    }
}
