//! The points of `point_cloud_interfaces/CompressedPointCloud2`, which are packed in a format
//! that the message names. Wiregauge's own one, the packed field, is read.

use std::collections::BTreeSet;

use anyhow::{anyhow, ensure, Context, Result};
use wiregauge_packed::View;

use crate::column::{unit, Column};
use crate::interleaved::PointField;
use crate::packed_numbers::unpack_numbers;

/// What the packed field is called as a format.
const FORMAT: &str = "wgpacked";

/// A column for each field, or as many as it counts, of those that are wanted; and the names of
/// all.
pub fn columns(
    format: &str,
    fields: &[PointField],
    count: usize,
    data: &[u8],
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<(Vec<Column>, BTreeSet<String>)> {
    ensure!(
        format == FORMAT,
        "its points are packed by '{format}', which wiregauge does not unpack; leave the channel \
         out, or record what point_cloud_transport makes of it"
    );
    let view = View::open(data).map_err(|error| anyhow!("the packed points: {error}"))?;
    let rows = view.rows();
    ensure!(rows == count, "{rows} points are packed, but the message declares {count}");
    let (mut columns, mut names) = (Vec::new(), BTreeSet::new());
    // Old drivers fill gaps by fields of these names.
    for field in fields.iter().filter(|field| !field.name.is_empty() && field.name != "_") {
        for at in 0..field.count {
            let (packed, name) = match field.count {
                1 => (field.name.clone(), field.name.clone()),
                _ => (format!("{}[{at}]", field.name), format!("{}_{at}", field.name)),
            };
            let column = view.values(&packed);
            let column = column.with_context(|| format!("the packed points have no {packed}"))?;
            ensure!(names.insert(name.clone()), "two fields have the name {name}");
            if !is_wanted(&name) {
                continue;
            }
            let values = unpack_numbers(&column, rows).filter(|_| column.bitmap.is_none());
            let values = values.with_context(|| format!("{packed} is packed as no cloud's are"))?;
            columns.push(Column { unit: unit(&name), name, values, present: None });
        }
    }
    Ok((columns, names))
}
