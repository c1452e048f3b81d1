//! `wiregauge cosim run`: two FMUs, step by step.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use clap::ValueEnum;
use wiregauge_cosim::master::plan::{Entrant, HostWork, Load, Pair};
use wiregauge_cosim::package::distinct_names;
use wiregauge_cosim::recording::Recording;
use wiregauge_osi::fmus::{Build, Model};
use wiregauge_result::run::Case;

use super::measuring::{Measuring, Workload};
use crate::coupling::Coupling;
use crate::distinct::distinct;
use crate::fmu_entrants::{encodings, load, memcpy, subject, FmuEntrants, Member};
use crate::progress::Progress;
use crate::recorder::Recorder;

/// Couple FMUs and measure each phase of each step.
///
/// The FMUs take turns, epoch by epoch, each pair in a process of its own. The
/// project's own are built on first use.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim run --quick
      100,000 reflections in every encoding
  wiregauge cosim run --reflections 829440 --encodings protobuf,packed
  wiregauge cosim run --reflections 0 --objects 10,100,500 --model pedestrian
  wiregauge cosim run --build release,debug --fmi 2,3
  wiregauge cosim run --quick --samples steps.arrow
      every step with its times, in a file
  wiregauge cosim run --source a.fmu --model b.fmu --set source.lanes=2
      FMUs of your own
  wiregauge cosim run --source a.fmu --model b.fmu --record drive.mcap
      and what they exchange, as a trace file")]
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
    #[arg(long, value_name = "FILE", conflicts_with_all = ["encodings", "build", "fmi", "reflections", "objects", "scene"])]
    source: Option<PathBuf>,
    /// Build types of the FMUs.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "TYPE,…",
        default_value = "release"
    )]
    build: Vec<BuildType>,
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

    #[command(flatten)]
    coupling: Coupling,
    /// Record all outputs of the one pair of FMUs, before it is measured and in a run of its
    /// own, so that it costs the figures nothing: .mcap. `trace record` has more ways.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Steps that are recorded.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "record", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    record_steps: u64,
    /// Accept FMUs whose messages differ when they are run again.
    #[arg(long)]
    varying: bool,
    #[command(flatten)]
    measuring: Measuring,
}

/// How much of OSI the objects carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scene {
    /// The full object data.
    Full,
    /// What the source of Persival's report wrote.
    Reference,
    /// What BMW's pedestrian reads.
    Pedestrian,
}

impl Scene {
    fn name(self) -> &'static str {
        match self {
            Scene::Full => "full",
            Scene::Reference => "reference",
            Scene::Pedestrian => "pedestrian",
        }
    }
}

/// How FMUs are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BuildType {
    /// Optimized.
    Release,
    /// Not optimized.
    Debug,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        distinct("--reflections", &self.reflections)?;
        distinct("--objects", &self.objects)?;
        let model = Path::new(&self.model);
        let inputs: Vec<&Path> = self.source.iter().map(PathBuf::as_path).chain([model]).collect();
        let destination = self.measuring.open(&inputs)?;
        let progress = Progress::new();
        let (title, cases, mut entrants) = match &self.source {
            Some(source) => {
                let model = self.own_model()?;
                let names = distinct_names(source, &model);
                let title = format!("Co-simulation of {} and {}", names[0], names[1]);
                (title, vec![own_case()], own(source.clone(), model))
            }
            None => {
                let title = format!("Co-simulation: SensorView from source to {}", self.model);
                (title, self.cases(), self.fmu_entrants()?.entrants(&self.members()?, &progress)?)
            }
        };
        for entrant in &mut entrants {
            if let Some(HostWork::Fmus(pair)) = &mut entrant.work {
                self.coupling.adjust(pair)?;
                pair.varying = self.varying;
            }
        }
        let sound = match &self.record {
            Some(file) => {
                record(file, self.record_steps, self.measuring.patience(), &cases, &entrants)?
            }
            None => true,
        };
        let workload = Workload {
            title,
            cases,
            entrants,
            fresh: self.fresh,
            reference: None,
            derive: Box::new(|_| {}),
        };
        let code = self.measuring.carry_out(workload, destination, progress)?;
        Ok(if sound { code } else { ExitCode::FAILURE })
    }

    /// Reflections times objects.
    fn cases(&self) -> Vec<Load> {
        let mut cases = Vec::new();
        for &reflections in &self.reflections {
            for &objects in &self.objects {
                let swept = match (self.reflections.len(), self.objects.len()) {
                    (1, 2..) => Some(("objects", objects)),
                    (2.., 1) => Some(("reflections", reflections)),
                    _ => None,
                };
                cases.push(load(self.scene.name(), reflections, objects, swept));
            }
        }
        cases
    }

    fn fmu_entrants(&self) -> Result<FmuEntrants> {
        let model = match self.model.as_str() {
            "sensor" => Model::Sensor,
            "pedestrian" => Model::Pedestrian,
            other => bail!(
                "there is no model '{other}': give sensor or pedestrian, or with it --source FILE \
                 for two FMUs of your own"
            ),
        };
        Ok(FmuEntrants { model, verify: self.verify, fresh: self.fresh })
    }

    /// Every encoding in every build and version of FMI that it has.
    fn members(&self) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        for encoding in encodings(&self.encodings)? {
            for build in &self.build {
                let build = match build {
                    BuildType::Release => Build::Release,
                    BuildType::Debug => Build::Debug,
                };
                for &fmi in self.fmi.iter().filter(|fmi| **fmi == 2 || encoding.fmi3) {
                    members.push(Member { build, fmi, ..Member::new(encoding) });
                }
            }
        }
        ensure!(
            !members.is_empty(),
            "there are no FMI 3 FMUs of these encodings; there are of protobuf, protobuf-arena and packed"
        );
        Ok(members)
    }

    /// The user's own model, which must be a file.
    fn own_model(&self) -> Result<PathBuf> {
        ensure!(
            !["sensor", "pedestrian"].contains(&self.model.as_str()),
            "--source wants the other FMU too: --model FILE"
        );
        Ok(PathBuf::from(&self.model))
    }
}

/// Records the one pair on the one case. Whether its messages are what they are said to be.
fn record(
    file: &Path,
    steps: u64,
    patience: Duration,
    cases: &[Load],
    entrants: &[Entrant],
) -> Result<bool> {
    let mut pairs = entrants.iter().filter_map(|entrant| match &entrant.work {
        Some(HostWork::Fmus(pair)) => Some(pair.as_ref()),
        _ => None,
    });
    let (Some(pair), None, [load]) = (pairs.next(), pairs.next(), cases) else {
        bail!(
            "--record wants one pair of FMUs and one case: name one of --encodings, of \
             --reflections and of --objects"
        );
    };
    let mut pair = pair.clone();
    pair.source_parameters.splice(0..0, load.source.iter().cloned());
    pair.model_parameters.splice(0..0, load.model.iter().cloned());
    let inputs = [pair.source.as_path(), &pair.model];
    Recorder::to(file, &inputs, patience).record(&Recording::from_pair(&pair, &[])?, steps)
}

/// FMUs of the user's own, and their bytes by memcpy.
fn own(source: PathBuf, model: PathBuf) -> Vec<Entrant> {
    let pair = Pair { source, model, ..Pair::default() };
    let fmus = Entrant {
        subject: subject("fmus".into(), "FMUs".into(), "unknown"),
        work: Some(HostWork::Fmus(Box::new(pair))),
        only: Vec::new(),
    };
    vec![fmus, memcpy(None)]
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
