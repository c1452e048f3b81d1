//! Lists of points as messages, and what makes them small as entrants.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_child_process::runner::Launch;
use wiregauge_gauge::runners::plan::{Deviation, Entrant, Judge, Load, Sample};
use wiregauge_packed::{Plan as Resolutions, Preset, Rule};
use wiregauge_reduction::deviation::deviations;
use wiregauge_reduction::load::{load_file, load_scene, LoadOptions, TableSeries as Loaded};
use wiregauge_reduction::row::ReductionRow;
use wiregauge_reduction::table::Table;
use wiregauge_result::run::{Case, Status, Subject};

/// The resolutions that hold unless the user says others: 1 mm, 0.1 dB.
const PRESET: &str = "lidar-1mm";

/// What of points is wanted, and how far it may be reduced.
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PointChoice {
    /// Take only this channel of recordings. Give it several times for several.
    #[cfg_attr(feature = "clap", arg(long = "channel", value_name = "TOPIC"))]
    pub channels: Vec<String>,
    /// Take only these columns of points.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME,…", value_delimiter = ','))]
    pub columns: Vec<String>,
    /// Turn points into a sensor's reflections: time of flight, and signal strength
    /// from the intensity.
    #[cfg_attr(feature = "clap", arg(long))]
    pub as_reflections: bool,
    /// Resolution of a column: x=5mm, intensity=0.01; COLUMN=exact keeps every bit. Give
    /// it several times for several.
    #[cfg_attr(feature = "clap", arg(long = "resolution", value_name = "COLUMN=VALUE"))]
    pub resolutions: Vec<Rule>,
}

impl PointChoice {
    /// Whether anything was chosen that is of points alone.
    pub fn is_of_points(&self) -> bool {
        self.as_reflections || !self.resolutions.is_empty() || !self.columns.is_empty()
    }

    /// The lists of points in these files, at most so many messages of each, and how many
    /// points a message has in the mean. Without a file: the scene.
    ///
    /// # Errors
    /// When a file cannot be read, holds no points, or does not fit what was chosen.
    pub fn cases(
        &self,
        files: &[PathBuf],
        messages: usize,
        seed: u64,
    ) -> Result<(Vec<Load>, Vec<f64>)> {
        ensure!(
            !files.is_empty() || (self.channels.is_empty() && !self.as_reflections),
            "--channel and --as-reflections need a recording; the scene has one list, of \
             reflections"
        );
        let preset = Preset::find(PRESET).expect("one of them");
        let rules = self.resolutions.clone();
        let resolutions = Resolutions { presets: vec![preset], rules, whole_bytes: false };
        let wish = LoadOptions {
            channels: &self.channels,
            columns: &self.columns,
            messages,
            reflections: self.as_reflections,
            plan: &resolutions,
        };
        let mut loads: Vec<(String, String, Loaded)> = Vec::new();
        if files.is_empty() {
            let load = load_scene(&wish, seed)?;
            loads.push(("scene".into(), "wiregauge".into(), load));
        }
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for load in load_file(file, &wish)? {
                let id = match load.list.as_str() {
                    "" => name.clone(),
                    list => format!("{name} {list}"),
                };
                ensure!(
                    loads.iter().all(|(known, ..)| *known != id),
                    "{} is given twice, or two files have this name; rename one",
                    file.display()
                );
                loads.push((id, file.display().to_string(), load));
            }
        }
        let columns = || loads.iter().flat_map(|(.., load)| &load.tables[0].columns);
        let names = || {
            let mut names: Vec<&str> = columns().map(|column| column.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        };
        if let Some(rule) = resolutions.rules.iter().find(|r| columns().all(|c| c.name != r.column))
        {
            bail!("--resolution: there is no column {}; choose from {}", rule.column, names());
        }
        ensure!(
            columns().any(|column| column.resolution.is_some()),
            "no column has a resolution, so nothing would be reduced; give --resolution \
             COLUMN=VALUE for one of {}",
            names()
        );
        let points = |load: &Loaded| {
            let rows: usize = load.tables.iter().map(Table::rows).sum();
            rows as f64 / load.tables.len() as f64
        };
        let points = loads.iter().map(|(.., load)| points(load)).collect();
        Ok((loads.into_iter().map(|(id, source, load)| case(id, source, load)).collect(), points))
    }

    /// The one list of points in these files, as [`PointChoice::cases`] has it. `source` is
    /// what the user named.
    ///
    /// # Errors
    /// Those of [`PointChoice::cases`], and when there are several lists.
    pub fn single_case(
        &self,
        source: &Path,
        files: &[PathBuf],
        messages: usize,
        seed: u64,
    ) -> Result<Load> {
        let (mut loads, _) = self.cases(files, messages, seed)?;
        if loads.len() > 1 {
            let names: Vec<&str> = loads.iter().map(|load| load.case.id.as_str()).collect();
            bail!(
                "{} has several lists of points: choose one by --channel ({})",
                source.display(),
                names.join(", ")
            );
        }
        loads.pop().context("no message")
    }
}

/// The rows that are named, or else the usual ones, and the bound before them.
///
/// # Errors
/// When there is no such row.
pub fn rows(names: &[String], usual: impl Fn(&ReductionRow) -> bool) -> Result<Vec<ReductionRow>> {
    let all = ReductionRow::all();
    let known = || all.iter().map(ReductionRow::id).collect::<Vec<_>>().join(", ");
    for name in names {
        let is_known = all.iter().any(|row| row.id() == *name);
        ensure!(is_known, "unknown row '{name}'; choose from {}", known());
    }
    let wanted = |row: &ReductionRow| {
        row.is_bound()
            || match names.is_empty() {
                true => usual(row),
                false => names.contains(&row.id()),
            }
    };
    Ok(all.iter().copied().filter(wanted).collect())
}

/// A case with its tables as messages.
fn case(id: String, source: String, load: Loaded) -> Load {
    let messages = load.tables.len();
    let size: usize = load.tables.iter().map(Table::size).sum();
    let case = Case {
        messages: messages as u64,
        canonical_bytes: size as f64 / messages as f64,
        notes: load.notes,
        ..Case::new(id, load.kind, source)
    };
    let sample =
        |table: &Table| Sample { canonical: table.to_bytes(), readings: Default::default() };
    Load { case, samples: load.tables.iter().map(sample).collect() }
}

/// A row that this program carries out in a process of its own, by its verb `codecs points
/// --serve`; without a runner where a library is missing, or its glue does not compile.
pub fn entrant(row: ReductionRow) -> Result<Entrant> {
    let build = default_build_folder()?;
    let (language, built, status) = match row.shim() {
        None => ("Rust", "with wiregauge".into(), Status::Measured),
        Some(shim) => match shim.missing_requirement() {
            Some(lack) => ("C++", String::new(), Status::Skipped(lack)),
            None => match shim.build(&build) {
                Ok(_) => ("C++", shim.describe_build(), Status::Measured),
                Err(error) => ("C++", shim.describe_build(), Status::Failed(format!("{error:#}"))),
            },
        },
    };
    let is_there = status == Status::Measured;
    let subject = Subject {
        library: row.library(),
        built,
        options: row.options(),
        bound: row.is_bound(),
        status,
        ..Subject::new(row.id(), row.title(), language)
    };
    if !is_there {
        return Ok(Entrant { subject, runner: None, judge: None });
    }
    let words = ["codecs", "points", "--serve"].map(str::to_owned);
    let runner = Launch {
        id: row.id(),
        program: std::env::current_exe()?,
        arguments: words.into_iter().chain([row.id()]).collect(),
        ..Launch::default()
    };
    Ok(Entrant { subject, runner: Some(runner), judge: Some(table_judge(row, build)) })
}

/// Holds a table that came back against the one that was sent.
fn table_judge(row: ReductionRow, build: PathBuf) -> Judge {
    Box::new(move |sent, back| {
        let told = || {
            let sent = Table::from_bytes(sent)?;
            let back = row.restore_order(&sent, Table::from_bytes(back)?, &build)?;
            deviations(&sent, &back, row.entry.keeps)
        };
        let told = told().map_err(|error| format!("{error:#}"))?;
        let both = told.into_iter().flat_map(|told| {
            let figure = |what: &str, value| Deviation {
                metric: format!("{what}/{}", told.column),
                unit: if told.unit.is_empty() { "1".into() } else { told.unit.clone() },
                value,
            };
            [figure("error", told.largest), figure("allowed", told.allowed)]
        });
        Ok(both.collect())
    })
}
