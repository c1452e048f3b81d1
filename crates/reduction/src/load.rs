//! Tables to be reduced: out of recordings, of files of points, or of the scene.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use arrow_buffer::BooleanBuffer;
use wiregauge_packed::{unit, Kind, Plan};
use wiregauge_points::file::PointFileFormat;
use wiregauge_points::{each, PointSource, Points, SensorConventions, Type, Values};
use wiregauge_trace::open::{open, OpenHints as TraceWish};
use wiregauge_trace::read::Reader;

use crate::reflections::reflections_of_points;
use crate::scene::scene;
use crate::table::{element, type_name, Column, Table};

/// What of a file is wanted, and how far it may be reduced.
pub struct LoadOptions<'a> {
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
pub struct TableSeries {
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
pub fn load_scene(wish: &LoadOptions, seed: u64) -> Result<TableSeries> {
    let (mut tables, mut notes) = (Vec::new(), Vec::new());
    for message in 0..wish.messages as u64 {
        let mut table = scene(seed.wrapping_add(message));
        select_columns(&mut table, Some(Kind::LidarReflections), wish, &mut notes)?;
        tables.push(table);
    }
    let kind = "lidar reflections of a scene with noise".into();
    Ok(TableSeries { list: String::new(), kind, tables, notes })
}

/// How files of points end that are not read.
const OTHER_POINT_FILES: [&str; 8] = ["ply", "las", "laz", "e57", "xyz", "pts", "npy", "csv"];

/// The tables of a file.
///
/// # Errors
/// When it cannot be read, or holds no points.
pub fn load_file(path: &Path, wish: &LoadOptions) -> Result<Vec<TableSeries>> {
    let shown = || path.display().to_string();
    if let Some(form) = PointFileFormat::from_path(path) {
        ensure!(
            wish.channels.is_empty(),
            "{} is a file of points without channels; leave out --channel",
            shown()
        );
        let points = form.read(path)?;
        let mut gathered = TableCollector::default();
        gathered.add_points("", form.name(), points, wish).with_context(shown)?;
        ensure!(!gathered.0.is_empty(), "{} has no points", shown());
        return gathered.finish(wish).with_context(shown);
    }
    refuse_other_point_files(path)?;
    let reader = open(path, &TraceWish::default())?;
    let loads = load_recording(reader, wish).with_context(shown)?;
    ensure!(
        !loads.is_empty(),
        "{} has no points{}; wiregauge reads points of {}, and files of points (.bin of KITTI, \
         .pcd.bin of nuScenes, .pcd)",
        shown(),
        if wish.channels.is_empty() { "" } else { " on the wanted channels" },
        PointSource::SUPPORTED
    );
    Ok(loads)
}

fn refuse_other_point_files(path: &Path) -> Result<()> {
    let end = path.extension().unwrap_or_default().to_ascii_lowercase();
    ensure!(
        !OTHER_POINT_FILES.iter().any(|other| end == *other),
        "{}: of files of points wiregauge reads .pcd, .bin of KITTI and .pcd.bin of nuScenes; \
         convert it to .pcd, as 'pdal translate' and CloudCompare do",
        path.display()
    );
    Ok(())
}

fn load_recording(mut reader: Box<dyn Reader>, wish: &LoadOptions) -> Result<Vec<TableSeries>> {
    let mut gathered = TableCollector::default();
    while let Some(head) = reader.next()? {
        let Some(channel) = reader.channels().get(&head.channel) else { continue };
        let topic = channel.topic.clone();
        if !wish.channels.is_empty() && !wish.channels.contains(&topic) {
            continue;
        }
        let Some(source) = PointSource::from_channel(channel) else { continue };
        let kind = channel.definition.name.clone();
        for points in
            source.points(reader.data()?, SensorConventions::default()).context(topic.clone())?
        {
            let name = match points.list.as_str() {
                "" => topic.clone(),
                list => format!("{topic} {list}"),
            };
            gathered.add_points(&name, &kind, points, wish).with_context(|| name.clone())?;
        }
    }
    gathered.finish(wish)
}

/// Lists of points as they are gathered, before it is known which columns they have.
#[derive(Default)]
struct TableCollector(Vec<(TableSeries, Option<Kind>)>);

impl TableCollector {
    /// Adds the points of a message, unless there are enough.
    fn add_points(
        &mut self,
        name: &str,
        message: &str,
        points: Points,
        wish: &LoadOptions,
    ) -> Result<()> {
        let known = self.0.iter().position(|(load, _)| load.list == name);
        let is_full = known.is_some_and(|at| self.0[at].0.tables.len() >= wish.messages);
        if points.count == 0 || is_full {
            return Ok(());
        }
        let (mut table, mut kind) = table_of_points(points);
        if wish.reflections && kind.is_none() {
            (table, kind) = (reflections_of_points(&table)?, Some(Kind::LidarReflections));
        }
        // Points that have no values.
        if table.columns.is_empty() {
            return Ok(());
        }
        let at = known.unwrap_or_else(|| {
            let (list, message) = (name.to_owned(), message.to_owned());
            self.0.push((TableSeries { list, kind: message, tables: vec![], notes: vec![] }, kind));
            self.0.len() - 1
        });
        self.0[at].0.tables.push(table);
        Ok(())
    }

    /// All of them, the messages of each with the same columns.
    fn finish(self, wish: &LoadOptions) -> Result<Vec<TableSeries>> {
        let gathered = self.0.into_iter();
        let loads = gathered.map(|(mut load, kind)| {
            let name = load.list.clone();
            complete(&mut load, kind, wish).context(name)?;
            Ok(load)
        });
        loads.collect()
    }
}

/// Gives the messages of a list the same columns, as wanted.
fn complete(load: &mut TableSeries, kind: Option<Kind>, wish: &LoadOptions) -> Result<()> {
    unify_columns(&mut load.tables)?;
    for table in &mut load.tables {
        select_columns(table, kind, wish, &mut load.notes)?;
    }
    for (at, column) in load.tables[0].columns.iter().enumerate() {
        if load.tables.iter().any(|table| table.columns[at].presence().is_some()) {
            load.notes.push(format!("some rows have no {}", column.name));
        }
    }
    Ok(())
}

/// The value of a column in which no row has one.
fn zeros(kind: Type, rows: usize) -> Values {
    let mut values = kind.empty_values();
    each!(&mut values, list => list.resize(rows, Default::default()));
    values
}

/// Gives each table the columns that any of them has, without a value where it had none.
fn unify_columns(tables: &mut [Table]) -> Result<()> {
    let mut all: Vec<(String, Type)> = Vec::new();
    for column in tables.iter().flat_map(|table| &table.columns) {
        let kind = column.values.kind();
        match all.iter().find(|(name, _)| *name == column.name) {
            None => all.push((column.name.clone(), kind)),
            Some((_, first)) => ensure!(
                *first == kind,
                "{} is {} in one message and {} in another; choose other columns by --columns",
                column.name,
                type_name(*first),
                type_name(kind)
            ),
        }
    }
    for table in tables {
        let rows = table.rows();
        let mut own = std::mem::take(&mut table.columns);
        table.columns.extend(all.iter().map(|(name, kind)| {
            match own.iter().position(|column| column.name == *name) {
                Some(at) => own.swap_remove(at),
                None => Column {
                    name: name.clone(),
                    unit: String::new(),
                    resolution: None,
                    values: zeros(*kind, rows),
                    present: vec![0; rows.div_ceil(8)],
                },
            }
        }));
    }
    Ok(())
}

/// The columns of points, and which rows of OSI they are.
fn table_of_points(points: Points) -> (Table, Option<Kind>) {
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
            each!(&mut values, list => fill_absent(list, &present));
            bits(&present)
        });
        let present = present.unwrap_or_default();
        table.columns.push(Column { name, unit, resolution: None, values, present });
    }
    (table, kind)
}

/// Gives rows without a value the one before them, which costs each way of saying it least.
fn fill_absent<T: Copy>(values: &mut [T], present: &[bool]) {
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

/// Leaves the wanted columns, with their resolutions.
fn select_columns(
    table: &mut Table,
    kind: Option<Kind>,
    wish: &LoadOptions,
    notes: &mut Vec<String>,
) -> Result<()> {
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    if let Some(name) = wish.columns.iter().find(|name| !names.contains(name)) {
        bail!("there is no column {name}; choose from {}", names.join(", "));
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_of_points_are_refused_with_the_remedy() {
        for name in ["scan.las", "scan.PLY"] {
            let error = refuse_other_point_files(Path::new(name)).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains("convert it to .pcd"), "{error}");
        }
    }

    #[test]
    fn rows_without_a_value_repeat_the_one_before() {
        let present = [false, true, false, true, false, false, true, true, false];
        let mut values = [0, 5, 0, 7, 0, 0, 8, 9, 0];
        fill_absent(&mut values, &present);
        assert_eq!(values, [5, 5, 5, 7, 7, 7, 8, 9, 9]);
        assert_eq!(bits(&present), [0b1100_1010, 0]);
        fill_absent(&mut values[..1], &[false]);
        assert_eq!(values[0], 5);
    }
}
