//! The columns of a table, found out before it is written: a file of rows says them first.

use std::borrow::Cow;

use anyhow::{bail, ensure, Result};
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::Writer;

use crate::column::Type;
use crate::notices::{Notices, SkipCounter};
use crate::osi::SensorConventions;
use crate::points::Points;
use crate::source::{DecoderLookup, PointSource};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// The type that holds all of its values.
    pub kind: Type,
    /// The unit, where all lists say the same.
    pub unit: &'static str,
    /// Which list had it first.
    from: String,
}

/// What a table must hold.
#[derive(Clone, Debug, Default)]
pub struct TableContents {
    /// Its columns.
    pub columns: Vec<TableColumn>,
    /// The channels with points.
    pub topics: Vec<String>,
    /// Their lists.
    pub lists: Vec<String>,
}

/// Reads what is to be in a table, and writes nothing.
pub struct Survey<'f> {
    origin: String,
    reading: SensorConventions,
    others: DecoderLookup,
    channels: Vec<(String, Option<PointSource>)>,
    found: &'f mut TableContents,
    remarks: Notices,
}

impl<'f> Survey<'f> {
    /// Finds out what is to be in a table. `origin` says in errors what is read.
    pub fn new(
        origin: &str,
        reading: SensorConventions,
        found: &'f mut TableContents,
    ) -> Survey<'f> {
        let (origin, channels, remarks) = (origin.to_owned(), Vec::new(), Notices::default());
        Survey { origin, reading, others: |_| Ok(None), channels, found, remarks }
    }

    /// The same with messages of OSI in other encodings.
    pub fn with_decoders(self, others: DecoderLookup) -> Survey<'f> {
        Survey { others, ..self }
    }

    /// The same, and leaves out messages whose points cannot be read where that is wanted, and
    /// counts them there.
    pub fn skip_failed(mut self, skipped: Option<SkipCounter>) -> Survey<'f> {
        self.remarks.count_skipped(skipped);
        self
    }
}

impl Writer for Survey<'_> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        self.channels
            .push((channel.topic.clone(), PointSource::from_channel_with(channel, self.others)?));
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn write_message(&mut self, channel: u16, _: &MessageInfo, data: &[u8]) -> Result<()> {
        let (topic, source) = &self.channels[usize::from(channel)];
        let Some(source) = source else { return Ok(()) };
        let found = self.remarks.skip_failed(topic, source.points(data, self.reading))?;
        for points in found.into_iter().flatten() {
            self.remarks.add_points(&format!("{topic}/{}", points.list), &points);
            self.found.add_points(topic, &points)?;
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        false
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.list_all(self.reading, "have no x, y and z")
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let is_there = !self.found.columns.is_empty();
        if let Some(reason) = self.remarks.reason().filter(|_| !is_there) {
            bail!("no point can be read from {}: {reason}", self.origin);
        }
        ensure!(
            is_there,
            "no message that was read from {} has points; messages with points are {}",
            self.origin,
            PointSource::SUPPORTED
        );
        Ok(())
    }
}

impl TableContents {
    fn add_points(&mut self, topic: &str, points: &Points) -> Result<()> {
        for column in &points.columns {
            let kind = column.values.kind();
            let name = table_column_name(&column.name);
            let known = self.columns.iter_mut().find(|known| known.name == name);
            let Some(known) = known else {
                let (name, unit) = (name.into_owned(), column.unit);
                let from = format!("{topic}/{}", points.list);
                self.columns.push(TableColumn { name, kind, unit, from });
                continue;
            };
            let Some(both) = common_type(known.kind, kind) else {
                bail!(
                    "{} is {:?} in {topic} and {:?} in {}, which do not fit into one column; \
                     choose one by --channel",
                    column.name,
                    kind,
                    known.kind,
                    known.from
                );
            };
            known.kind = both;
            if known.unit != column.unit {
                known.unit = "";
            }
        }
        if !points.columns.is_empty() {
            for (known, name) in [(&mut self.topics, topic), (&mut self.lists, &points.list)] {
                if known.iter().all(|known| known != name) {
                    known.push(name.to_owned());
                }
            }
        }
        Ok(())
    }
}

/// The columns that every table has.
pub const FIXED_COLUMNS: [&str; 5] = ["time", "channel", "list", "message", "point"];

/// What a column of points is called in a table, which has some of its own.
pub fn table_column_name(column: &str) -> Cow<'_, str> {
    match FIXED_COLUMNS.contains(&column) {
        true => format!("point_{column}").into(),
        false => column.into(),
    }
}

/// The type that holds the values of both; none where values would be lost.
fn common_type(a: Type, b: Type) -> Option<Type> {
    let is_unsigned = |of| matches!(of, Type::U8 | Type::U16 | Type::U32 | Type::U64);
    match (a, b) {
        _ if a == b => Some(a),
        (Type::U64, other) | (other, Type::U64) => is_unsigned(other).then_some(Type::U64),
        _ => Some(Type::F64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_holds_the_values_of_all_lists() {
        for (a, b, wanted) in [
            (Type::F32, Type::F32, Some(Type::F32)),
            (Type::F32, Type::U16, Some(Type::F64)),
            (Type::I32, Type::U32, Some(Type::F64)),
            (Type::U32, Type::U64, Some(Type::U64)),
            (Type::U64, Type::F64, None),
            (Type::I8, Type::U64, None),
        ] {
            assert_eq!(common_type(a, b), wanted);
            assert_eq!(common_type(b, a), wanted);
        }
    }
}
