//! `wiregauge codecs`: what a message costs in every format.

mod points;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{bail, ensure, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::ValueEnum;
use indexmap::IndexMap;
use wiregauge_formats::{build, Codec, RunnerLanguage};
use wiregauge_gauge::runners::measure;
use wiregauge_gauge::runners::plan::{Experiment, Plan};
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Run, Settings, FORMAT, VERSION};
use wiregauge_result::run_kind::RunKind;
use wiregauge_schema::{Cardinality, Field, Schema, SchemaSource, Sizes};
use wiregauge_system::interrupt;
use wiregauge_system::quantity::parse_timeout;

use crate::codec_entrants::{self, CodecEntrants, Own};
use crate::experiment::{Published, Weighing, Weights};
use crate::libraries::{self, Libraries};
use crate::memory::MaxMemory;
use crate::output::{self, deliver, print, Form, Outlet};
use crate::progress::Progress;
use crate::required::Required;
use crate::small_arrays::SmallArrays;
use crate::workload::{build_folder, Sweep, Workload};

/// Measure what a message costs in every format.
///
/// Without further words: the LiDAR message at 10,000 points. The result is
/// written as JSON, the table goes to standard output.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  wiregauge codecs --quick
      the LiDAR message, in a minute
  wiregauge codecs polysync
      PolySync's whole experiment
  wiregauge codecs rsb
      RSB's whole experiment, in C++, Java and Python
  wiregauge codecs rsb --weight
      what its programs weigh
  wiregauge codecs --message robot.proto:pkg.Type
      your message, generated values
  wiregauge codecs --message scan.msg --size ranges=1081
  wiregauge codecs --input drive.mcap --topic /lidar
      your recording, its own messages
  wiregauge codecs --input drive.db3 --topic /lidar -I ~/ros2/src
  wiregauge codecs --sweep points=1,100,10000 --codecs prost,flatbuffers
  wiregauge codecs --libraries system,current --codecs protobuf-cpp
      with the machine's library and with the newest
  wiregauge codecs --library protobuf-cpp=/opt/protobuf-36 --library prost=0.13.5
      with libraries of your choice, a row more each
  wiregauge codecs --list
      the codecs and their options
  wiregauge codecs --corrupt 1000 --codecs lcm,json
      what decoders make of damage
  wiregauge codecs --message scan.msg --runner mine='python3 mine.py'
      your own format
  wiregauge codecs points drive.mcap
      how small clouds become, to a stated resolution"
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// A published experiment to repeat whole.
    #[arg(value_parser = published())]
    experiment: Option<&'static Published>,
    /// Weigh programs instead: their size and that of their libraries, what compiling
    /// them takes, and lines of code.
    #[arg(long, requires = "experiment", conflicts_with_all = [
        "runner", "experiments", "time", "corrupt", "libraries", "library", "profile",
    ])]
    weight: bool,

    /// Measure this message with generated values.
    #[arg(long, value_name = "FILE[:TYPE]", conflicts_with_all = ["experiment", "input"])]
    message: Option<String>,
    /// Measure the messages of this recording: .mcap, .bag (ROS 1), .db3 or its
    /// folder (ROS 2), or .osi.
    #[arg(long, value_name = "FILE", conflicts_with = "experiment")]
    input: Option<PathBuf>,
    /// The recording's topic; of an .osi file the type, where its name does not
    /// tell it.
    #[arg(long, requires = "input")]
    topic: Option<String>,
    /// Look for definitions that the message or recording uses in this folder
    /// too; several times for several folders.
    #[arg(short = 'I', value_name = "FOLDER")]
    folder: Vec<PathBuf>,
    /// Keep fields that never occur in the recording.
    #[arg(long, requires = "input")]
    whole_schema: bool,
    /// How many different messages take turns [default: 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    messages: Option<u32>,

    /// Length of a list, string or bytes field in generated values.
    #[arg(long, value_name = "PATH=N", value_parser = codec_entrants::size)]
    size: Vec<(String, usize)>,
    /// Measure several lengths of a list.
    #[arg(long, value_name = "PATH=N,N,…")]
    sweep: Option<Sweep>,
    /// Share of optional fields that are there in generated values [default: 1].
    #[arg(long, value_name = "SHARE", value_parser = presence)]
    presence: Option<f64>,
    /// Seed of generated values, corruptions and turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number that the experiment 'fixed' reads.
    #[arg(long, value_name = "PATH")]
    fixed: Option<String>,
    /// The number that the experiment 'element' reads.
    #[arg(long, value_name = "PATH")]
    element: Option<String>,

    /// List the codecs with their options, and what is missing for them.
    #[arg(long, exclusive = true)]
    list: bool,
    /// Only these codecs, and the bounds.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    codecs: Vec<String>,
    /// Only codecs whose runners are in these languages: rust, cpp, python, java, or
    /// all; rust and cpp unless set, but for what wiregauge generates, and those of the
    /// codecs that are named.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", value_parser = codec_entrants::language)]
    language: Vec<Languages>,
    #[command(flatten)]
    libraries: Libraries,
    /// A runner of your own beside them (docs/runner-protocol.md).
    #[arg(long, value_name = "NAME=COMMAND")]
    runner: Vec<Own>,
    /// Only these experiments.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    experiments: Vec<String>,
    /// What a user of the library keeps that is no message (builders, arenas,
    /// transports) lives on from message to message, or not.
    #[arg(long, value_enum, default_value = "reused")]
    scratch: Life,
    /// How formats without fixed arrays write those of up to four numbers.
    #[arg(long, value_enum, default_value = "fields")]
    small_arrays: SmallArrays,
    /// Output buffers live on from message to message, or not.
    #[arg(long, value_enum, default_value = "reused")]
    buffers: Life,
    /// Message objects live on from message to message, or not.
    #[arg(long, value_enum, default_value = "fresh")]
    objects: Life,
    /// Feed each decoder so many corruptions and count what becomes of them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    corrupt: u64,

    /// Be done in a minute.
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    /// How long measuring may take in all, once the runners are built: 300, which is
    /// seconds, or 10min; five minutes unless set.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    time: Option<Duration>,
    /// Processes that each codec is measured in.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// How long a runner may take over one answer before it counts as hung: 60, which
    /// is seconds, or 2min.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_timeout)]
    patience: Duration,
    #[command(flatten)]
    memory: MaxMemory,

    /// Write the result here; - is standard output, and the table then goes to
    /// standard error.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    #[command(flatten)]
    required: Required,
}

/// What is measured on no message but on columns.
#[derive(clap::Subcommand)]
enum Verb {
    Points(Box<points::Arguments>),
}

/// Messages that take turns unless the user says so.
const MESSAGES: u32 = 8;
/// What a word of --language stands for.
type Languages = Vec<&'static RunnerLanguage>;

/// The published experiments by name.
fn published() -> impl TypedValueParser<Value = &'static Published> {
    let all = Published::all().into_iter();
    let all = all.map(|published| PossibleValue::new(published.name).help(published.about));
    PossibleValuesParser::new(all.collect::<Vec<_>>())
        .map(|name| Published::find(&name).expect("it is one of them"))
}

/// How long something lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Life {
    /// From message to message.
    Reused,
    /// For one message.
    Fresh,
}

impl Life {
    fn word(self) -> String {
        match self {
            Life::Reused => "reused".into(),
            Life::Fresh => "fresh".into(),
        }
    }
}

/// The experiments in the order of the table; phases stand with their whole.
const EXPERIMENTS: [&str; 12] = [
    "encode",
    "encode/populate",
    "encode/write",
    "decode",
    "decode/parse",
    "decode/extract",
    "decode/checked",
    "project",
    "project/checked",
    "fixed",
    "element",
    "verify",
];

impl Arguments {
    /// Whether this process is to serve another one.
    pub fn serves(&self) -> bool {
        matches!(&self.verb, Some(Verb::Points(arguments)) if arguments.serves())
    }

    /// Carries it out.
    pub fn run(mut self) -> Result<ExitCode> {
        if let Some(Verb::Points(arguments)) = self.verb.take() {
            return arguments.run();
        }
        self.memory.apply();
        if self.list {
            print(&codec_entrants::list())?;
            return Ok(ExitCode::SUCCESS);
        }
        self.check()?;
        let inputs = [self.definition(), self.input.clone()];
        let inputs: Vec<&Path> = inputs.iter().flatten().map(PathBuf::as_path).collect();
        let outlet = Outlet::open(&self.output, self.format, &inputs, &self.required)?;
        let began = Instant::now();
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        if self.weight {
            return self.weigh(outlet, started, began);
        }
        let mut workload = self.workload()?;
        self.small_arrays.apply(&mut workload.schema);
        if self.small_arrays == SmallArrays::List {
            workload.notes.push("short fixed arrays are lists where a format has no arrays".into());
        }
        let codecs = codec_entrants::select(&self.codec_names(), &self.languages())?;
        let experiments = self.experiments()?;
        let folder = build_folder()?;
        let progress = Progress::new();
        let show = |what: &str, done: usize, total: usize| {
            progress.show(what, done, total);
            interrupt::check().map_err(Into::into)
        };
        let variants = self.libraries.variants(&codecs, &folder, &show)?;
        let CodecEntrants { entrants, tools, libraries } =
            codec_entrants::build(&workload, &variants, &self.runner, &folder, &progress)?;
        let plan = Plan {
            cases: workload.loads()?,
            entrants,
            experiments,
            settings: self.settings(),
            time: self.time.unwrap_or(Duration::from_secs(if self.quick { 55 } else { 285 })),
            patience: self.patience,
            most_rounds: if self.quick { 60 } else { 200 },
            least_iterations: match self.experiment {
                Some(published) if !self.quick => published.least_iterations,
                _ => 0,
            },
            counter: Some(build::build_allocation_counter(&folder)?),
            squeeze: true,
            corruptions: self.corrupt,
        };
        // Probed after the build, whose load is not the measurement's.
        let mut environment = Environment::probe(tools);
        let show = |what: &str, done: usize, total: usize| progress.show(what, done, total);
        let mut measured = measure(&plan, &show)?;
        libraries::tell(&mut measured.subjects, &libraries);
        environment.finish();
        drop(progress);

        let mut settings = plan.settings.clone();
        settings.rounds = measured.rounds;
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: self.title(&workload),
            kind: RunKind::Codecs,
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
            reference: self.experiment.and_then(|published| published.reference).map(|of| of()),
        };
        if let Some(published) = self.experiment {
            let more = (published.derived)(&run);
            run.facts.extend(more);
        }
        deliver(&mut run, measured.warnings, outlet)
    }

    /// What the programs of a published experiment weigh.
    fn weigh(&self, outlet: Outlet, started: String, began: Instant) -> Result<ExitCode> {
        let published = self.experiment.expect("clap wants one with it");
        let Some(weigh) = published.weight else {
            bail!("--weight would do nothing: {} has no programs to weigh", published.name);
        };
        let build = build_folder()?;
        let progress = Progress::new();
        let show = |what: &str, done: usize, total: usize| {
            progress.show(what, done, total);
            interrupt::check().map_err(Into::into)
        };
        let languages: Vec<&str> =
            self.language.iter().flatten().map(|language| language.key).collect();
        let settings = Settings { rounds: 1, epoch_ns: 0, ..self.settings() };
        let mut environment = Environment::probe(IndexMap::new());
        let turns = settings.processes;
        let (build, only) = (&build, &self.codecs);
        let weighing = Weighing { build, languages: &languages, only, turns, show: &show };
        let Weights { case, subjects, measurements, facts } = weigh(&weighing)?;
        environment.finish();
        drop(progress);
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: format!("{}'s programs: {}", published.author, case.message),
            kind: RunKind::Codecs,
            command: output::command(),
            started,
            seconds: began.elapsed().as_secs_f64(),
            environment,
            warnings: Vec::new(),
            settings,
            cases: vec![case],
            subjects,
            measurements,
            facts,
            curves: Vec::new(),
            slowest: Vec::new(),
            require: None,
            reference: None,
        };
        deliver(&mut run, Vec::new(), outlet)
    }

    /// Refuses what would have no effect.
    fn check(&self) -> Result<()> {
        let given = [
            ("--messages", self.messages.is_some()),
            ("--size", !self.size.is_empty()),
            ("--sweep", self.sweep.is_some()),
            ("--presence", self.presence.is_some()),
            ("--fixed", self.fixed.is_some()),
            ("--element", self.element.is_some()),
            ("--topic", self.topic.is_some()),
            ("--whole-schema", self.whole_schema),
        ];
        let (why, useless): (&str, &[&str]) = match (self.experiment, &self.message, &self.input) {
            (Some(published), ..) => (published.fixed, published.useless),
            (_, _, Some(_)) => {
                ("recorded messages are measured as they are", &["--size", "--sweep", "--presence"])
            }
            (_, None, None) => ("the LiDAR message has no optional field", &["--presence"]),
            (_, Some(_), None) => {
                ("it is about a recording (--input)", &["--topic", "--whole-schema"])
            }
        };
        if let Some((option, _)) =
            given.iter().find(|(option, given)| *given && useless.contains(option))
        {
            bail!("{option} would do nothing: {why}");
        }
        for (option, given) in [("fixed", &self.fixed), ("element", &self.element)] {
            let measured =
                self.experiments.is_empty() || self.experiments.iter().any(|e| e == option);
            ensure!(
                given.is_none() || measured,
                "--{option} would do nothing: --experiments leaves '{option}' out"
            );
        }
        let swept = self.sweep.iter().map(|sweep| &sweep.path);
        let mut paths: Vec<&String> = self.size.iter().map(|(path, _)| path).chain(swept).collect();
        paths.sort();
        if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("{} has two lengths; give it one, by --size or by --sweep", twice[0]);
        }
        Ok(())
    }

    /// The file of the message's definition.
    fn definition(&self) -> Option<PathBuf> {
        self.message.as_deref().map(|message| SchemaSource::parse(message).path)
    }

    fn workload(&self) -> Result<Workload> {
        let overrides: IndexMap<String, usize> = self.size.iter().cloned().collect();
        let sizes = Sizes { overrides, presence: self.presence.unwrap_or(1.0), ..Sizes::default() };
        let count = self.messages.unwrap_or(MESSAGES) as usize;
        let mut workload = match (self.experiment, &self.message, &self.input) {
            (Some(published), _, _) => (published.workload)(self.seed)?,
            (_, Some(message), _) => Workload::file(
                &SchemaSource::parse(message).with_folders(&self.folder),
                &sizes,
                self.sweep.as_ref(),
                count,
                self.seed,
            )?,
            (_, _, Some(input)) => {
                let topic = self.topic.as_deref();
                Workload::recording(input, topic, count, self.whole_schema, &self.folder)?
            }
            _ => {
                let lengths = match (&self.sweep, self.size.as_slice()) {
                    (Some(sweep), _) if sweep.path == "points" => sweep.lengths.clone(),
                    (None, []) => vec![10_000],
                    (None, [(path, points)]) if path == "points" => vec![*points],
                    _ => bail!("the LiDAR message has one list, points: --size points=N"),
                };
                Workload::lidar(&lengths, count, self.seed)?
            }
        };
        ensure!(
            self.presence.is_none() || has_optional(&workload.schema),
            "--presence would do nothing: {} has no optional field",
            workload.schema.root().name.original
        );
        workload.choose(self.fixed.as_deref(), self.element.as_deref())?;
        Ok(workload)
    }

    fn codec_names(&self) -> Vec<String> {
        match self.experiment {
            Some(published) if self.codecs.is_empty() => {
                let languages = self.languages();
                let codecs = published.codecs.iter().filter_map(|name| Codec::find(name));
                let wanted = codecs.filter(|codec| languages.contains(&codec.language));
                wanted.map(|codec| codec.name.to_owned()).collect()
            }
            _ => self.codecs.clone(),
        }
    }

    /// The languages that are named, or else those that a published experiment is in.
    fn languages(&self) -> Vec<&'static RunnerLanguage> {
        let named = self.language.concat();
        match self.experiment {
            Some(published) if named.is_empty() && self.codecs.is_empty() => {
                let codecs = published.codecs.iter().filter_map(|name| Codec::find(name));
                let mut all: Vec<&RunnerLanguage> = Vec::new();
                for codec in codecs {
                    if !all.contains(&codec.language) {
                        all.push(codec.language);
                    }
                }
                all
            }
            _ => named,
        }
    }

    fn experiments(&self) -> Result<Vec<Experiment>> {
        let mut all: Vec<Experiment> = EXPERIMENTS.iter().map(|e| Experiment::plain(e)).collect();
        if let Some(published) = self.experiment {
            all = (published.experiments)(all);
        }
        if self.experiments.is_empty() {
            return Ok(all);
        }
        for name in &self.experiments {
            if !all.iter().any(|experiment| experiment.metric == *name) {
                let known: Vec<&str> = all.iter().map(|e| e.metric.as_str()).collect();
                bail!("there is no experiment '{name}'; there are {}", known.join(", "));
            }
        }
        all.retain(|experiment| self.experiments.contains(&experiment.metric));
        Ok(all)
    }

    fn settings(&self) -> Settings {
        Settings {
            processes: self.processes.unwrap_or(if self.quick { 3 } else { 5 }),
            rounds: 5,
            epoch_ns: if self.quick { 500_000 } else { 2_000_000 },
            scratch: self.scratch.word(),
            buffers: self.buffers.word(),
            objects: self.objects.word(),
            seed: self.seed,
        }
    }

    fn title(&self, workload: &Workload) -> String {
        let message = &workload.schema.root().name.original;
        match self.experiment {
            Some(published) => format!("{}'s experiments: {message}", published.author),
            None => format!("{message} ({})", workload.source),
        }
    }
}

/// A share from 0 to 1.
/// Whether a message may lack a field.
fn has_optional(schema: &Schema) -> bool {
    let optional = |field: &Field| field.cardinality == Cardinality::Optional;
    schema.records().any(|(_, record)| record.fields.iter().any(optional))
}

fn presence(text: &str) -> Result<f64> {
    let share: f64 = text.parse()?;
    ensure!((0.0..=1.0).contains(&share), "wants a share from 0 to 1");
    Ok(share)
}
