//! `wiregauge codecs points`: how small columns of points become, what that takes, and what
//! is left of them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_conversation::runner::Launch;
use wiregauge_gauge::runners::measure;
use wiregauge_gauge::runners::plan::{Deviation, Entrant, Experiment, Judge, Load, Plan, Sample};
use wiregauge_packed::{Plan as Resolutions, Preset, Rule};
use wiregauge_reduction::deviation::deviations;
use wiregauge_reduction::load::{of_file, of_scene, Load as Loaded, Wish};
use wiregauge_reduction::reduction::{Keeps, Part};
use wiregauge_reduction::row::Row;
use wiregauge_reduction::runner;
use wiregauge_reduction::table::Table;
use wiregauge_result::environment::Environment;
use wiregauge_result::kind::Kind;
use wiregauge_result::run::{Case, Fact, Run, Settings, Status, Subject, FORMAT, VERSION};

use crate::output::{self, deliver, print, Form, Outlet};
use crate::progress::Progress;
use crate::required::Required;

/// Measure how small points become, and what that takes and leaves of them, in the
/// packed field and in what else is used for it.
///
/// All rows get the same columns at the same resolutions: range to 1 mm, strength to
/// 0.1 dB unless said otherwise. Each is decoded and held against what was sent before
/// it is timed. Without a file: a scene of 131,072 lidar reflections.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge codecs points --quick
      a scene, in a minute
  wiregauge codecs points drive.mcap --channel /ouster/points
      a recording: PointCloud2, or OSI's reflections and detections
  wiregauge codecs points drive.mcap --reflections
      clouds as time of flight and signal strength
  wiregauge codecs points 000000.bin scan.pcd.bin cloud.pcd --exact
      files of KITTI, nuScenes and PCL; rows without loss, too
  wiregauge codecs points scan.bin --columns x,y,z --resolution x=5mm
  wiregauge codecs points --rows packed-reduced,pcodec,scaled+zstd
  wiregauge codecs points --list
      the rows, their libraries and options")]
pub struct Arguments {
    /// Recordings (.mcap, .osi) and files of points: .bin of KITTI, .pcd.bin of nuScenes,
    /// .pcd.
    files: Vec<PathBuf>,
    /// Only this channel of recordings; several times for several.
    #[arg(long, value_name = "NAME", requires = "files")]
    channel: Vec<String>,
    /// At most so many messages of each list take turns.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    messages: u32,
    /// Only these columns.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Take points as the reflections that a sensor got: time of flight, and signal
    /// strength of the intensity.
    #[arg(long, requires = "files")]
    reflections: bool,
    /// The resolution of a column, as x=5mm or intensity=0.01; COLUMN=exact keeps every
    /// bit. Several times for several.
    #[arg(long, value_name = "COLUMN=VALUE")]
    resolution: Vec<Rule>,
    /// Show rows that keep every bit in fewer of them, too.
    #[arg(long)]
    exact: bool,
    /// Only these rows, and the bound.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    rows: Vec<String>,
    /// List the rows with their options.
    #[arg(long, exclusive = true)]
    list: bool,

    /// Be done in a minute.
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    /// Seconds that measuring may take in all; five minutes unless set.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    time: Option<u64>,
    /// Processes that each row is measured in.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// Seed of the scene and of turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Write the result here; - is standard output, and the table then goes to
    /// standard error.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    #[command(flatten)]
    required: Required,
    /// Carry out a row on behalf of another process.
    #[arg(long, hide = true, exclusive = true)]
    serve: Option<String>,
}

/// The resolutions that hold unless the user says others: 1 mm, 0.1 dB.
const PRESET: &str = "lidar-1mm";

impl Arguments {
    /// Whether this process is to serve another one.
    pub fn serves(&self) -> bool {
        self.serve.is_some()
    }

    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        if let Some(id) = &self.serve {
            runner::run(Row::find(id).with_context(|| format!("there is no row {id}"))?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.list {
            print(&list())?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = self.chosen()?;
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        let outlet = Outlet::open(&self.output, self.format, &inputs, &self.required)?;
        let began = Instant::now();
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let (cases, points) = self.cases()?;
        let mut entrants = rows.iter().map(|row| entrant(*row)).collect::<Result<Vec<_>>>()?;
        if self.rows.is_empty() {
            entrants.extend(MISSING.into_iter().map(missing));
        }
        let plan = Plan {
            cases,
            entrants,
            experiments: ["encode", "decode"].map(Experiment::plain).to_vec(),
            settings: self.settings(),
            time: Duration::from_secs(self.time.unwrap_or(if self.quick { 55 } else { 285 })),
            patience: Duration::from_secs(60),
            most_rounds: if self.quick { 60 } else { 200 },
            least_iterations: 0,
            counter: None,
            squeeze: false,
            corruptions: 0,
        };
        let progress = Progress::new();
        let mut environment = Environment::probe(IndexMap::new());
        let show = |what: &str, done: usize, total: usize| progress.show(what, done, total);
        let mut measured = measure(&plan, &show)?;
        environment.finish();
        drop(progress);
        let weighed: Vec<(String, String)> = measured
            .facts
            .iter()
            .filter(|fact| fact.metric == "size")
            .map(|fact| (fact.case.clone(), fact.subject.clone()))
            .collect();
        for (case, id) in weighed {
            let points = plan.cases.iter().zip(&points).find(|(load, _)| load.case.id == case);
            if let (Some((_, points)), Some(row)) = (points, Row::find(&id)) {
                measured.facts.extend(facts(&case, row, *points));
            }
        }
        let mut settings = plan.settings.clone();
        settings.rounds = measured.rounds;
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: "Points made small".into(),
            kind: Kind::Points,
            command: output::command(),
            started,
            seconds: began.elapsed().as_secs_f64(),
            environment,
            warnings: Vec::new(),
            settings,
            cases: plan.cases.into_iter().map(|load| load.case).collect(),
            subjects: measured.subjects,
            measurements: measured.measurements,
            facts: measured.facts,
            curves: Vec::new(),
            slowest: Vec::new(),
            require: None,
            reference: None,
        };
        deliver(&mut run, Vec::new(), outlet)
    }

    /// The rows that are measured.
    fn chosen(&self) -> Result<Vec<Row>> {
        let all = Row::all();
        let known = || all.iter().map(Row::id).collect::<Vec<_>>().join(", ");
        for name in &self.rows {
            let is_known = all.iter().any(|row| row.id() == *name);
            ensure!(is_known, "there is no row '{name}'; there are {}", known());
        }
        let wanted = |row: &Row| {
            row.is_bound()
                || match self.rows.is_empty() {
                    true => self.exact || !row.entry.exact,
                    false => self.rows.contains(&row.id()),
                }
        };
        Ok(all.iter().copied().filter(wanted).collect())
    }

    /// What is measured on, and how many points each case has in the mean.
    fn cases(&self) -> Result<(Vec<Load>, Vec<f64>)> {
        let preset = Preset::of(PRESET).expect("one of them");
        let rules = self.resolution.clone();
        let resolutions = Resolutions { presets: vec![preset], rules, whole_bytes: false };
        let wish = Wish {
            channels: &self.channel,
            columns: &self.columns,
            messages: self.messages as usize,
            reflections: self.reflections,
            plan: &resolutions,
        };
        let mut loads: Vec<(String, String, Loaded)> = Vec::new();
        if self.files.is_empty() {
            let load = of_scene(&wish, self.seed)?;
            loads.push(("scene".into(), "wiregauge".into(), load));
        }
        for file in &self.files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for load in of_file(file, &wish)? {
                let id = match load.list.as_str() {
                    "" => name.clone(),
                    list => format!("{name} {list}"),
                };
                ensure!(
                    loads.iter().all(|(known, ..)| *known != id),
                    "{} is named twice, or another file has its name: rename one",
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
            bail!("there is no column {} to give a resolution; there are {}", rule.column, names());
        }
        ensure!(
            columns().any(|column| column.resolution.is_some()),
            "no column has a resolution, so nothing would be reduced: say one by --resolution \
             COLUMN=VALUE; there are {}",
            names()
        );
        let points = |load: &Loaded| {
            let rows: usize = load.tables.iter().map(Table::rows).sum();
            rows as f64 / load.tables.len() as f64
        };
        let points = loads.iter().map(|(.., load)| points(load)).collect();
        Ok((loads.into_iter().map(|(id, source, load)| case(id, source, load)).collect(), points))
    }

    fn settings(&self) -> Settings {
        Settings {
            processes: self.processes.unwrap_or(if self.quick { 3 } else { 5 }),
            rounds: 5,
            epoch_ns: if self.quick { 500_000 } else { 2_000_000 },
            scratch: "reused".into(),
            buffers: "reused".into(),
            objects: "reused".into(),
            seed: self.seed,
        }
    }
}

/// A case with its tables as messages.
fn case(id: String, source: String, load: Loaded) -> Load {
    let messages = load.tables.len();
    let size: usize = load.tables.iter().map(Table::size).sum();
    let case = Case {
        id,
        message: load.kind,
        source,
        messages: messages as u64,
        canonical_bytes: size as f64 / messages as f64,
        parameter: None,
        fixed: None,
        element: None,
        notes: load.notes,
    };
    let sample =
        |table: &Table| Sample { canonical: table.to_bytes(), readings: Default::default() };
    Load { case, samples: load.tables.iter().map(sample).collect() }
}

/// A row that this program carries out in a process of its own.
fn entrant(row: Row) -> Result<Entrant> {
    let subject = Subject {
        id: row.id(),
        title: row.title(),
        language: "Rust".into(),
        library: row.library(),
        built: "with wiregauge".into(),
        origin: None,
        options: row.options(),
        bound: row.is_bound(),
        unchecked: false,
        lowerings: Vec::new(),
        status: Status::Measured,
    };
    let words = ["codecs", "points", "--serve"].map(str::to_owned);
    let runner = Launch {
        id: row.id(),
        program: std::env::current_exe()?,
        arguments: words.into_iter().chain([row.id()]).collect(),
        schema: Vec::new(),
    };
    let judge = judge(row.entry.keeps);
    Ok(Entrant { subject, runner: Some(runner), judge: Some(judge) })
}

/// What is used for clouds, too, and why there are no figures of it.
const MISSING: [(&str, &str, &str); 2] = [
    (
        "cloudini",
        "cloudini",
        "its releases are under FSL-1.1-MIT, and no package of Debian or of crates.io brings it: it \
         is not built here",
    ),
    (
        "draco",
        "Draco",
        "it is C++ and loses the order of points, by which rows are compared: it is not built here",
    ),
];

fn missing((id, title, why): (&str, &str, &str)) -> Entrant {
    let subject = Subject {
        id: id.into(),
        title: title.into(),
        language: "C++".into(),
        library: String::new(),
        built: String::new(),
        origin: None,
        options: Vec::new(),
        bound: false,
        unchecked: false,
        lowerings: Vec::new(),
        status: Status::Skipped(why.into()),
    };
    Entrant { subject, runner: None, judge: None }
}

/// Holds a table that came back against the one that was sent.
fn judge(keeps: Keeps) -> Judge {
    Box::new(move |sent, back| {
        let table = |bytes| Table::from_bytes(bytes).map_err(|error| format!("{error:#}"));
        let told = deviations(&table(sent)?, &table(back)?, keeps);
        let told = told.map_err(|error| format!("{error:#}"))?;
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

/// What is known of a row without measuring it.
fn facts(case: &str, row: Row, points: f64) -> [Fact; 3] {
    let fact = |metric: &str, value| Fact {
        case: case.into(),
        subject: row.id(),
        metric: metric.into(),
        unit: "1".into(),
        value,
    };
    let part = match row.part() {
        Part::Row => 1.0,
        Part::Block(rows) => points.min(rows as f64),
        Part::Whole => points,
    };
    // No row loses it: each was compared row by row.
    [fact("points", points), fact("order", 1.0), fact("part", part)]
}

/// The rows with what moves their figures.
fn list() -> String {
    let mut text = String::new();
    for row in Row::all() {
        let mark = if row.entry.exact { ", with --exact" } else { "" };
        let library = Some(row.library()).filter(|library| !library.is_empty());
        let library = library.map_or(String::new(), |library| format!(" ({library})"));
        text += &format!("{}: {}{library}{mark}\n", row.id(), row.title());
        row.options().iter().for_each(|option| text += &format!("    {option}\n"));
    }
    for (id, title, why) in MISSING {
        text += &format!("{id}: {title}, without figures\n    {why}\n");
    }
    text
}
