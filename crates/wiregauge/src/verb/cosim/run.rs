//! `wiregauge cosim run`: two FMUs, step by step.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{bail, ensure, Context, Result};
use clap::ValueEnum;
use indexmap::IndexMap;
use wiregauge_cosim::coupling::Wanted;
use wiregauge_cosim::master::measure;
use wiregauge_cosim::plan::{Entrant, Load, Pair, Parameters, Plan, Work};
use wiregauge_gauge::environment::Environment;
use wiregauge_gauge::run::{Case, Parameter, Run, Settings, Status, Subject, FORMAT, VERSION};

use crate::output::{command, deliver, Form};
use crate::progress::Progress;
use crate::tools;

/// The encodings that there are FMUs for, and their names in tables.
const ENCODINGS: [(&str, &str); 5] = [
    ("protobuf", "Protobuf"),
    ("flatbuffers-tables", "FlatBuffers tables"),
    ("flatbuffers-structs", "FlatBuffers structs"),
    ("flatbuffers-objects", "FlatBuffers Object API"),
    ("packed", "packed field"),
];
/// The encodings of them that FMI 3 FMUs exist for.
const FMI3: [&str; 2] = ["protobuf", "packed"];

/// Couple FMUs and measure each phase of each step.
///
/// The FMUs take turns, epoch by epoch, each pair in a process of its own.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these encodings.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "all")]
    encodings: Vec<String>,
    /// Numbers of reflections.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "100000")]
    reflections: Vec<u32>,
    /// Numbers of moving objects.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "10")]
    objects: Vec<u32>,
    /// How much of OSI the objects carry.
    #[arg(long, value_enum, default_value = "full")]
    scene: Scene,
    /// What takes the source's messages: 'sensor', 'pedestrian', or an FMU.
    #[arg(long, visible_alias = "sensor", value_name = "MODEL", default_value = "sensor")]
    model: String,
    /// An FMU of your own as the source.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["encodings", "build", "fmi"])]
    source: Option<PathBuf>,
    /// Build types of the FMUs.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "TYPE,…",
        default_value = "release"
    )]
    build: Vec<Build>,
    /// Versions of FMI.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "2",
        value_parser = clap::value_parser!(u8).range(2..=3))]
    fmi: Vec<u8>,
    /// Have FlatBuffers verify messages before they read them.
    #[arg(long, conflicts_with = "source")]
    verify: bool,
    /// Have the FMUs take new buffers and objects in each step.
    #[arg(long, conflicts_with = "source")]
    fresh: bool,
    /// A folder of built FMUs to use.
    #[arg(long, value_name = "FOLDER", conflicts_with = "source")]
    fmus: Option<PathBuf>,

    /// Set a variable of an FMU before it is initialized.
    #[arg(long, value_name = "source.NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Which output goes into which input, where there are several.
    #[arg(long, value_name = "OUTPUT=INPUT")]
    connect: Option<String>,
    /// Which output of the model is the result, where there are several.
    #[arg(long, value_name = "OUTPUT")]
    result: Option<String>,
    /// Couple messages of different versions of OSI.
    #[arg(long)]
    any_version: bool,
    /// Accept FMUs whose messages differ when they are run again.
    #[arg(long)]
    varying: bool,
    /// Step size in seconds; what the source proposes, unless given.
    #[arg(long, value_name = "SECONDS")]
    step_size: Option<f64>,
    /// Write the messages of the first steps to files in this folder.
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,

    /// Be done in a minute.
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    /// Seconds that the measurement may take in all.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Processes that each pair of FMUs is measured in.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// Rounds in each process; as many as the time allows, unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// Steps of an epoch; calibrated, unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    steps: Option<u64>,
    /// Steps of each process that are done first and not counted.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    warm_up: u64,
    /// Seed of the order of turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds that a step may take before its FMU counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,

    /// Write the result here.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

/// How much of OSI the objects carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scene {
    /// The full object data.
    Full,
    /// What the reference's source writes.
    Reference,
    /// What the pedestrian agent reads.
    Pedestrian,
}

/// How FMUs are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Build {
    /// Optimized.
    Release,
    /// Not optimized.
    Debug,
}

/// A variable to set: in the source or in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    model: bool,
    name: String,
    value: String,
}

/// `source.NAME=VALUE` or `model.NAME=VALUE`.
fn setting(text: &str) -> Result<Setting> {
    let wants = "wants source.NAME=VALUE or model.NAME=VALUE";
    let (path, value) = text.split_once('=').context(wants)?;
    let (whose, name) = path.split_once('.').context(wants)?;
    let model = match whose {
        "source" => false,
        "model" | "sensor" => true,
        _ => bail!(wants),
    };
    Ok(Setting { model, name: name.into(), value: value.into() })
}

impl Build {
    fn name(self) -> &'static str {
        match self {
            Build::Release => "release",
            Build::Debug => "debug",
        }
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let began = Instant::now();
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let (cases, entrants) = match &self.source {
            Some(source) => (vec![own_case()], vec![self.own(source)?, bound()]),
            None => (self.cases(), self.built()?),
        };
        let progress = Progress::new();
        let plan = Plan {
            cases,
            entrants,
            host: (std::env::current_exe()?, vec!["cosim".into(), "host".into()]),
            settings: self.settings(),
            time: Duration::from_secs(self.time.unwrap_or(if self.quick { 40 } else { 240 })),
            most_rounds: self.rounds.unwrap_or(if self.quick { 60 } else { 200 }),
            patience: Duration::from_secs(self.patience),
            steps: self.steps,
            warm_up: self.warm_up,
            dump: self.dump.clone(),
        };
        // Probed after the build, whose load is not the measurement's.
        let mut environment = Environment::probe(versions());
        let show = |what: &str, done: usize, total: usize| progress.show(what, done, total);
        let measured = measure(&plan, &show)?;
        environment.finish();
        drop(progress);

        let mut settings = plan.settings.clone();
        settings.rounds = measured.rounds;
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: self.title(),
            kind: "cosim".into(),
            command: command(),
            started,
            seconds: began.elapsed().as_secs_f64(),
            environment,
            warnings: Vec::new(),
            settings,
            cases: plan.cases.into_iter().map(|load| load.case).collect(),
            subjects: measured.subjects,
            measurements: measured.measurements,
            facts: measured.facts,
            reference: None,
        };
        deliver(&mut run, measured.warnings, &self.output, self.format)
    }

    fn title(&self) -> String {
        let name = |path: &Path| wiregauge_cosim::package::file_name(path);
        match &self.source {
            Some(source) => {
                format!("Co-simulation of {} and {}", name(source), name(Path::new(&self.model)))
            }
            None => format!("Co-simulation: source and {}", self.model),
        }
    }

    fn settings(&self) -> Settings {
        let life = if self.fresh { "fresh" } else { "reused" };
        Settings {
            processes: self.processes.unwrap_or(if self.quick { 3 } else { 5 }),
            rounds: self.rounds.unwrap_or(5),
            epoch_ns: if self.quick { 2_000_000 } else { 10_000_000 },
            buffers: life.into(),
            objects: life.into(),
            seed: self.seed,
        }
    }

    /// Reflections times objects.
    fn cases(&self) -> Vec<Load> {
        let mut cases = Vec::new();
        for &reflections in &self.reflections {
            for &objects in &self.objects {
                let parameter = match (self.reflections.len(), self.objects.len()) {
                    (1, 2..) => Some(("objects", objects)),
                    (2.., 1) => Some(("reflections", reflections)),
                    _ => None,
                };
                let scene = self.scene.to_possible_value().expect("all have names");
                cases.push(Load {
                    case: Case {
                        id: format!("reflections={reflections},objects={objects}"),
                        message: "osi3.SensorView".into(),
                        source: format!("generated, scene '{}'", scene.get_name()),
                        messages: 1,
                        canonical_bytes: 0.0,
                        parameter: parameter.map(|(name, value)| Parameter {
                            name: name.into(),
                            value: f64::from(value),
                        }),
                        fixed: None,
                        element: None,
                        notes: Vec::new(),
                    },
                    source: vec![
                        ("reflections".into(), reflections.to_string()),
                        ("objects".into(), objects.to_string()),
                        ("scene".into(), scene.get_name().to_owned()),
                    ],
                    model: Vec::new(),
                });
            }
        }
        cases
    }

    /// The project's own FMUs in every encoding, build and version of FMI.
    fn built(&self) -> Result<Vec<Entrant>> {
        let all = self.encodings.iter().any(|name| name == "all");
        for name in self.encodings.iter().filter(|name| *name != "all") {
            let known: Vec<&str> = ENCODINGS.iter().map(|(known, _)| *known).collect();
            ensure!(
                known.contains(&name.as_str()),
                "there is no encoding '{name}'; there are {}",
                known.join(", ")
            );
        }
        let mut entrants = Vec::new();
        for (encoding, title) in ENCODINGS {
            if !all && !self.encodings.iter().any(|name| name == encoding) {
                continue;
            }
            for &build in &self.build {
                for &fmi in &self.fmi {
                    if fmi == 3 && !FMI3.contains(&encoding) {
                        continue;
                    }
                    entrants.push(self.entrant(encoding, title, build, fmi)?);
                }
            }
        }
        ensure!(
            !entrants.is_empty(),
            "no FMU of these encodings follows FMI 3: there are {}",
            FMI3.join(", ")
        );
        entrants.push(bound());
        Ok(entrants)
    }

    fn entrant(&self, encoding: &str, title: &str, build: Build, fmi: u8) -> Result<Entrant> {
        let folder = self.folder(build)?;
        let ending = if fmi == 3 { "-fmi3" } else { "" };
        let file = |part: &str| folder.join(format!("{part}-{encoding}{ending}.fmu"));
        let (mut id, mut title) = (encoding.to_owned(), title.to_owned());
        if fmi == 3 {
            id += "-fmi3";
            title += ", FMI 3";
        }
        if build == Build::Debug {
            id += "-debug";
            title += ", debug";
        }
        let mut options = vec![format!("built for {}", build.name())];
        let flags = [("verify", self.verify, true), ("fresh", self.fresh, false)];
        let mut pair = self.pair(file("source"), file(&self.model))?;
        for (name, on, model_only) in flags {
            if on {
                options.push(name.into());
                let setting = (name.to_owned(), "true".to_owned());
                if !model_only {
                    pair.source_parameters.insert(0, setting.clone());
                }
                pair.model_parameters.insert(0, setting);
            }
        }
        Ok(Entrant {
            subject: subject(id, title, "C++", options),
            work: Some(Work::Fmus(Box::new(pair))),
            only: Vec::new(),
        })
    }

    /// Where the FMUs of a build type are.
    fn folder(&self, build: Build) -> Result<PathBuf> {
        let folder = self.fmus.as_ref().context(
            "say where FMUs are: --fmus FOLDER, or --source FILE and --model FILE for your own",
        )?;
        let of_build = folder.join(build.name());
        Ok(if of_build.is_dir() { of_build } else { folder.clone() })
    }

    /// FMUs of the user's own.
    fn own(&self, source: &Path) -> Result<Entrant> {
        let model = PathBuf::from(&self.model);
        ensure!(
            !["sensor", "pedestrian"].contains(&self.model.as_str()),
            "--source wants the other FMU too: --model FILE"
        );
        Ok(Entrant {
            subject: subject("fmus".into(), "FMUs".into(), "unknown", Vec::new()),
            work: Some(Work::Fmus(Box::new(self.pair(source.to_owned(), model)?))),
            only: Vec::new(),
        })
    }

    fn pair(&self, source: PathBuf, model: PathBuf) -> Result<Pair> {
        let settings = |of_model: bool| -> Parameters {
            let of = self.set.iter().filter(|setting| setting.model == of_model);
            of.map(|setting| (setting.name.clone(), setting.value.clone())).collect()
        };
        let connect = match &self.connect {
            Some(text) => Some(text.split_once('=').context("--connect wants OUTPUT=INPUT")?),
            None => None,
        };
        if let Some(step) = self.step_size {
            ensure!(step > 0.0 && step.is_finite(), "--step-size must be more than 0");
        }
        Ok(Pair {
            source,
            source_parameters: settings(false),
            model,
            model_parameters: settings(true),
            step: self.step_size,
            wanted: Wanted {
                output: connect.map(|(output, _)| output.to_owned()),
                input: connect.map(|(_, input)| input.to_owned()),
                result: self.result.clone(),
                any_version: self.any_version,
            },
            varying: self.varying,
        })
    }
}

fn subject(id: String, title: String, language: &str, options: Vec<String>) -> Subject {
    Subject {
        id,
        title,
        language: language.into(),
        library: String::new(),
        options,
        bound: false,
        lowerings: Vec::new(),
        status: Status::Measured,
    }
}

/// The bytes of the packed encoding, where it takes part, by memcpy.
fn bound() -> Entrant {
    let mut subject = subject("memcpy".into(), "memcpy".into(), "Rust", Vec::new());
    subject.bound = true;
    Entrant { subject, work: Some(Work::Memcpy(None)), only: Vec::new() }
}

fn own_case() -> Load {
    Load {
        case: Case {
            id: "own".into(),
            message: "binary variable".into(),
            source: "made by the source FMU".into(),
            messages: 1,
            canonical_bytes: 0.0,
            parameter: None,
            fixed: None,
            element: None,
            notes: Vec::new(),
        },
        source: Vec::new(),
        model: Vec::new(),
    }
}

/// Versions of what FMUs are built with.
fn versions() -> IndexMap<String, String> {
    let mut versions = tools::versions();
    versions.retain(|name, _| {
        ["c++", "cmake", "protoc", "flatc", "C++ flags"].contains(&name.as_str())
    });
    versions
}
