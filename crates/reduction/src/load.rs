//! Tables to be reduced: out of recordings, of files of points, or of the scene.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use arrow_buffer::BooleanBuffer;
use wiregauge_packed::{unit, Kind, Plan};
use wiregauge_points::file::Form;
use wiregauge_points::{each, Points, Reading, Source, Type};
use wiregauge_trace::open::{open, Wish as TraceWish};
use wiregauge_trace::read::Reader;

use crate::reflections::of_points;
use crate::scene::scene;
use crate::table::{element, type_name, Column, Table};

/// What of a file is wanted, and how far it may be reduced.
pub struct Wish<'a> {
    /// These channels of a recording; all where there are none.
    pub channels: &'a [String],
    /// These columns; all where there are none.
    pub columns: &'a [String],
    /// At most so many messages of a channel.
    pub messages: usize,
    /// Points are made into reflections.
    pub reflections: bool,
    /// The resolutions.
    pub plan: &'a Plan,
}

/// Tables of the same columns: a list of points, message by message.
#[derive(Debug)]
pub struct Load {
    /// A name for it within its file; empty where the file holds nothing else.
    pub list: String,
    /// What kind of points they are.
    pub kind: String,
    /// The tables, none of them empty.
    pub tables: Vec<Table>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// The scene, message by message.
///
/// # Errors
/// When the plan does not fit it.
pub fn of_scene(wish: &Wish, seed: u64) -> Result<Load> {
    let (mut tables, mut notes) = (Vec::new(), Vec::new());
    for message in 0..wish.messages as u64 {
        let table = scene(seed.wrapping_add(message));
        tables.push(finished(table, Some(Kind::LidarReflections), wish, &mut notes)?);
    }
    let kind = "lidar reflections of a scene with noise".into();
    Ok(Load { list: String::new(), kind, tables, notes })
}

/// The tables of a file.
///
/// # Errors
/// When it cannot be read, or holds no points.
pub fn of_file(path: &Path, wish: &Wish) -> Result<Vec<Load>> {
    let shown = || path.display().to_string();
    if let Some(form) = Form::of(path) {
        ensure!(wish.channels.is_empty(), "{} has no channels to choose from", shown());
        let points = form.read(path)?;
        let mut loads = Loads::default();
        loads.take("", form.name(), points, wish).with_context(shown)?;
        ensure!(!loads.0.is_empty(), "{} holds no points", shown());
        return Ok(loads.0);
    }
    let reader = open(path, &TraceWish::default())?;
    let loads = recorded(reader, wish).with_context(shown)?;
    ensure!(
        !loads.is_empty(),
        "{} has no points{}; those of {} are read, and files of points (.bin of KITTI, .pcd.bin \
         of nuScenes, .pcd)",
        shown(),
        if wish.channels.is_empty() { "" } else { " on the wanted channels" },
        Source::KINDS
    );
    Ok(loads)
}

fn recorded(mut reader: Box<dyn Reader>, wish: &Wish) -> Result<Vec<Load>> {
    let mut loads = Loads::default();
    while let Some(head) = reader.next()? {
        let Some(channel) = reader.channels().get(&head.channel) else { continue };
        let topic = channel.topic.clone();
        if !wish.channels.is_empty() && !wish.channels.contains(&topic) {
            continue;
        }
        let Some(source) = Source::of(channel) else { continue };
        let kind = channel.definition.name.clone();
        for points in source.points(reader.data()?, Reading::default()).context(topic.clone())? {
            let name = match points.list.as_str() {
                "" => topic.clone(),
                list => format!("{topic} {list}"),
            };
            loads.take(&name, &kind, points, wish).with_context(|| name.clone())?;
        }
    }
    Ok(loads.0)
}

#[derive(Default)]
struct Loads(Vec<Load>);

impl Loads {
    /// Adds the points of a message, unless there are enough.
    fn take(&mut self, name: &str, message: &str, points: Points, wish: &Wish) -> Result<()> {
        let known = self.0.iter().position(|load| load.list == name);
        let is_full = known.is_some_and(|at| self.0[at].tables.len() >= wish.messages);
        if points.count == 0 || is_full {
            return Ok(());
        }
        let mut notes = Vec::new();
        let (table, kind) = table(points, &mut notes);
        let table = match wish.reflections && kind.is_none() {
            true => finished(of_points(&table)?, Some(Kind::LidarReflections), wish, &mut notes)?,
            false => finished(table, kind, wish, &mut notes)?,
        };
        let load = match known {
            Some(at) => &mut self.0[at],
            None => {
                let (list, kind) = (name.to_owned(), message.to_owned());
                self.0.push(Load { list, kind, tables: Vec::new(), notes: Vec::new() });
                self.0.last_mut().expect("just pushed")
            }
        };
        if let Some(first) = load.tables.first() {
            let names = |table: &Table| -> Vec<(String, Type)> {
                let of = |column: &Column| (column.name.clone(), column.values.kind());
                table.columns.iter().map(of).collect()
            };
            ensure!(
                names(first) == names(&table),
                "its messages have different columns; choose those that all have by --columns"
            );
        }
        load.tables.push(table);
        notes.retain(|note| !load.notes.contains(note));
        load.notes.extend(notes);
        Ok(())
    }
}

/// The columns of points, and which rows of OSI they are.
fn table(points: Points, notes: &mut Vec<String>) -> (Table, Option<Kind>) {
    let list = points.list.as_str();
    let kind = [
        ("lidar_sensor_view", Kind::LidarReflections),
        ("radar_sensor_view", Kind::RadarReflections),
        ("feature_data.lidar_sensor", Kind::LidarDetections),
        ("feature_data.radar_sensor", Kind::RadarDetections),
    ];
    let kind = kind.into_iter().find(|(part, _)| list.contains(part)).map(|(_, kind)| kind);
    let mut table = Table::default();
    for column in points.columns {
        // What was computed is nothing that anyone would send.
        if kind.is_some() && matches!(column.name.as_str(), "x" | "y" | "z") {
            continue;
        }
        let name = match (kind, column.name.rsplit_once('_')) {
            (Some(_), Some((message, field))) if message.starts_with("position") => {
                format!("{message}.{field}")
            }
            _ => column.name,
        };
        let (unit, mut values) = (String::new(), column.values);
        let present = column.present.map(|present| {
            notes.push(format!("some rows have no {name}"));
            each!(&mut values, list => repeat(list, &present));
            bits(&present)
        });
        let present = present.unwrap_or_default();
        table.columns.push(Column { name, unit, resolution: None, values, present });
    }
    (table, kind)
}

/// Gives rows without a value the one before them, which costs each way of saying it least.
fn repeat<T: Copy>(values: &mut [T], present: &[bool]) {
    let Some(mut last) = present.iter().position(|there| *there).map(|at| values[at]) else {
        return;
    };
    for (value, there) in values.iter_mut().zip(present) {
        match there {
            true => last = *value,
            false => *value = last,
        }
    }
}

/// A bit for each, the lowest of a byte first.
fn bits(present: &[bool]) -> Vec<u8> {
    BooleanBuffer::from(present).values().to_vec()
}

/// The wanted columns with their resolutions.
fn finished(
    mut table: Table,
    kind: Option<Kind>,
    wish: &Wish,
    notes: &mut Vec<String>,
) -> Result<Table> {
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    if let Some(name) = wish.columns.iter().find(|name| !names.contains(name)) {
        bail!("there is no column {name}; there are {}", names.join(", "));
    }
    if !wish.columns.is_empty() {
        table.columns.retain(|column| wish.columns.contains(&column.name));
    }
    for column in &mut table.columns {
        let element = element(column.values.kind());
        let how = wish.plan.reduction(kind, &column.name, element)?;
        column.resolution = how.and_then(|how| how.resolution);
        unit(kind, &column.name).clone_into(&mut column.unit);
    }
    ensure!(!table.columns.is_empty(), "there is no column");
    let told = table.columns.iter().map(|column| {
        let kind = type_name(column.values.kind());
        match column.resolution {
            Some(step) => format!("{} ({kind}) to {step} {}", column.name, column.unit),
            None => format!("{} ({kind}) exactly", column.name),
        }
    });
    let told = told.collect::<Vec<_>>().join(", ").replace(" ,", ",");
    if !notes.contains(&told) {
        notes.push(told.trim_end().to_owned());
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_value_repeat_the_one_before() {
        let present = [false, true, false, true, false, false, true, true, false];
        let mut values = [0, 5, 0, 7, 0, 0, 8, 9, 0];
        repeat(&mut values, &present);
        assert_eq!(values, [5, 5, 5, 7, 7, 7, 8, 9, 9]);
        assert_eq!(bits(&present), [0b1100_1010, 0]);
        repeat(&mut values[..1], &[false]);
        assert_eq!(values[0], 5);
    }
}
