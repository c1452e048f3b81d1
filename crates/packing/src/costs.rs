//! What packing took: of each column its bytes, and the largest error that it made.

use serde::Serialize;
use wiregauge_packed::{unit, Element, Kind, Precision};

/// A channel whose messages were packed or unpacked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChannelCosts {
    /// Its name.
    pub channel: String,
    /// Messages.
    pub messages: u64,
    /// Their bytes before.
    pub before: u64,
    /// Their bytes after.
    pub after: u64,
    /// Messages that were left out, as they cannot be packed.
    #[serde(skip_serializing_if = "is_none")]
    pub skipped: u64,
    /// What became columns.
    pub columns: Vec<ColumnCosts>,
}

/// Whether there are none, as usual.
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A column, over all messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnCosts {
    /// What the rows are.
    pub rows_are: String,
    /// Its name.
    pub column: String,
    /// The type of its elements.
    pub element: String,
    /// Its unit; empty where it has none or none is known.
    pub unit: String,
    /// Whether it is reduced.
    pub reduced: bool,
    /// To what, in its unit; none where every bit is kept.
    pub resolution: Option<f64>,
    /// Rows, absent ones included.
    pub rows: u64,
    /// Bytes of its elements and its presence.
    pub bytes: u64,
    /// Bytes that its elements take where they are not reduced.
    pub plain: u64,
    /// The largest difference between a packed value and the given one, in its unit; none
    /// where that is not known any more.
    pub error: Option<f64>,
}

impl ColumnCosts {
    /// Adds what another message took.
    pub fn add(&mut self, other: &ColumnCosts) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.plain += other.plain;
        self.error = self.error.zip(other.error).map(|(a, b)| a.max(b));
    }

    /// Whether both are one column, packed in one way.
    fn is_same_column(&self, other: &ColumnCosts) -> bool {
        let key = |of: &ColumnCosts| (of.reduced, of.resolution.map(f64::to_bits));
        (&self.rows_are, &self.column, &self.element, key(self))
            == (&other.rows_are, &other.column, &other.element, key(other))
    }
}

impl From<&Precision> for ColumnCosts {
    fn from(of: &Precision) -> ColumnCosts {
        ColumnCosts {
            rows_are: row_kind(of.kind).into(),
            column: of.name.clone(),
            element: element_name(of.element),
            unit: unit(of.kind, &of.name).into(),
            reduced: of.reduction.is_some(),
            resolution: of.reduction.and_then(|how| how.resolution),
            rows: of.rows as u64,
            bytes: of.bytes as u64,
            plain: (of.rows * of.element.size()) as u64,
            error: Some(of.error),
        }
    }
}

impl ChannelCosts {
    /// Adds a column of a message.
    pub fn add(&mut self, column: ColumnCosts) {
        match self.columns.iter_mut().find(|known| known.is_same_column(&column)) {
            Some(known) => known.add(&column),
            None => self.columns.push(column),
        }
    }
}

/// What rows are called.
pub(crate) fn row_kind(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::LidarReflections) => "lidar reflections",
        Some(Kind::RadarReflections) => "radar reflections",
        Some(Kind::LidarDetections) => "lidar detections",
        Some(Kind::RadarDetections) => "radar detections",
        None => "points",
    }
}

/// What an element type is called: `f64`.
pub fn element_name(element: Element) -> String {
    format!("{element:?}").to_lowercase()
}
