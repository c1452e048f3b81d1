//! What packed fields there are in recordings.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use wiregauge_packed::{find, unit, Kind, View};
use wiregauge_system::interrupt;
use wiregauge_trace::open::{self, OpenHints};

use crate::cloud::{Cloud, FORMAT};
use crate::costs::{element_name, row_kind, ChannelCosts, ColumnCosts};
use crate::packable::Packable;

/// A file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackingInfo {
    /// Its path.
    pub file: String,
    /// The channels that have something to pack or to unpack; of a packed field by itself
    /// one without a name.
    pub channels: Vec<PackedChannelInfo>,
}

/// A channel. `before` and `after` are both the bytes of its messages as they lie there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PackedChannelInfo {
    /// Its columns.
    #[serde(flatten)]
    pub packed: ChannelCosts,
    /// Rows that are no columns, by what they are.
    pub unpacked: BTreeMap<String, u64>,
}

/// Reads through a recording.
///
/// # Errors
/// When it cannot be read, or a packed field in it is none.
pub fn read_info(
    path: &Path,
    wish: &OpenHints,
    news: &mut dyn FnMut(u64, u64),
) -> Result<PackingInfo> {
    let mut reader = open::open(path, wish)?;
    let through = || format!("{} cannot be read to its end", path.display());
    let mut channels: BTreeMap<u16, (Packable, PackedChannelInfo)> = BTreeMap::new();
    while let Some(head) = reader.next().with_context(through)? {
        interrupt::check()?;
        let channel = &reader.channels()[&head.channel];
        let Some(subject) = Packable::from_channel(channel) else { continue };
        let topic = channel.topic.clone();
        let place = || format!("{}: channel {topic}, {}", path.display(), head.place);
        let known = channels.entry(head.channel).or_insert_with(|| {
            let packed = ChannelCosts { channel: topic.clone(), ..ChannelCosts::default() };
            (subject, PackedChannelInfo { packed, ..PackedChannelInfo::default() })
        });
        let data = reader.data().with_context(through)?;
        known.1.add(subject, data).with_context(place)?;
        let (done, total) = reader.progress();
        news(done, total);
    }
    let channels = channels.into_values().map(|(_, channel)| channel).collect();
    Ok(PackingInfo { file: path.display().to_string(), channels })
}

/// Looks at a packed field by itself.
///
/// # Errors
/// When it is none.
pub fn read_field_info(path: &Path, field: &[u8]) -> Result<PackingInfo> {
    let file = path.display().to_string();
    let mut channel = PackedChannelInfo::default();
    channel.count(field.len());
    channel.add_field(None, field).with_context(|| file.clone())?;
    Ok(PackingInfo { file, channels: vec![channel] })
}

impl PackedChannelInfo {
    fn count(&mut self, bytes: usize) {
        self.packed.messages += 1;
        self.packed.before += bytes as u64;
        self.packed.after += bytes as u64;
    }

    fn add(&mut self, subject: Packable, data: &[u8]) -> Result<()> {
        self.count(data.len());
        match subject {
            Packable::Osi(root) => {
                for found in find(root, data)? {
                    if let Some(field) = found.field {
                        self.add_field(Some(found.kind), field)?;
                    }
                    self.add_unpacked(row_kind(Some(found.kind)), found.rows as u64);
                }
            }
            Packable::Cloud(wire, is_packed) => {
                let cloud = Cloud::parse(wire, is_packed, data)?;
                match cloud.format {
                    Some(FORMAT) => self.add_field(None, cloud.content)?,
                    Some(other) => self.add_unpacked(&format!("points in {other}"), cloud.count),
                    None => self.add_unpacked("points", cloud.count),
                }
            }
        }
        Ok(())
    }

    fn add_unpacked(&mut self, rows_are: &str, rows: u64) {
        if rows > 0 {
            *self.unpacked.entry(rows_are.to_owned()).or_default() += rows;
        }
    }

    fn add_field(&mut self, kind: Option<Kind>, field: &[u8]) -> Result<()> {
        let view = View::open(field)?;
        for column in view.columns() {
            let size = column.element.map_or(0, |element| element.size());
            let bits = column.bitmap.map_or(0, <[u8]>::len);
            self.packed.add(ColumnCosts {
                rows_are: row_kind(kind).into(),
                column: column.name.into(),
                element: column.element.map_or_else(|| "unknown".into(), element_name),
                unit: unit(kind, column.name).into(),
                reduced: column.is_reduced(),
                resolution: column.resolution(),
                rows: view.rows() as u64,
                bytes: (column.data.len() + bits) as u64,
                plain: (view.rows() * size) as u64,
                error: None,
            });
        }
        Ok(())
    }
}
