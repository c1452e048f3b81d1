//! `wiregauge cosim run`: two FMUs, step by step.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_cosim::master::plan::{Entrant, HostWork, Load};
use wiregauge_cosim::package::distinct_names;
use wiregauge_cosim::recording::Recording;
use wiregauge_cosim_run::fmu_entrants::{
    members, scene_loads, single_pair, user_case, user_entrants, FmuEntrants, SceneDetail,
};
use wiregauge_cosim_run::measurement::CosimWorkload;
use wiregauge_cosim_run::recorder::Recorder;
use wiregauge_osi::fmus::{Build, Model};
use wiregauge_system::progress::ProgressDisplay;

use super::measurement::MeasurementArgs;
use crate::connect_args::ConnectArgs;
use crate::unique_names::check_unique;

/// Couple FMUs and measure each phase of each step.
///
/// Pairs of FMUs take turns, epoch by epoch, each in its own process. wiregauge builds
/// its own FMUs on first use.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim run --quick
      100,000 reflections in every encoding
  wiregauge cosim run --reflections 829440 --codecs protobuf,packed
  wiregauge cosim run --reflections 0 --moving-objects 10,100,500 \\
      --model pedestrian
  wiregauge cosim run --build-type release,debug --fmi 2,3
  wiregauge cosim run --quick --samples steps.arrow
      every step with its times, in a file
  wiregauge cosim run --source a.fmu --model b.fmu --set source.lanes=2
      FMUs of your own
  wiregauge cosim run --source a.fmu --model b.fmu --record drive.mcap
      and what they exchange, as a trace file")]
pub struct Arguments {
    /// Measure only these encodings of messages.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "all")]
    codecs: Vec<String>,
    /// Numbers of reflections.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "100000")]
    reflections: Vec<u32>,
    /// Numbers of moving objects.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "10")]
    moving_objects: Vec<u32>,
    /// How much of OSI the objects carry.
    #[arg(long, value_enum, default_value = "full")]
    scene: SceneDetail,
    /// The FMU that takes the messages: 'sensor', 'pedestrian', or a file of yours.
    #[arg(long, value_name = "FMU", default_value = "sensor")]
    model: String,
    /// An FMU of yours that makes the messages.
    #[arg(long, value_name = "FMU", conflicts_with_all = ["codecs", "build_type", "fmi", "reflections", "moving_objects", "scene"])]
    source: Option<PathBuf>,
    /// Build types of the FMUs.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "TYPE,…",
        default_value = "release"
    )]
    build_type: Vec<Build>,
    /// Versions of FMI.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "2",
        value_parser = clap::value_parser!(u8).range(2..=3))]
    fmi: Vec<u8>,
    /// Verify FlatBuffers before they are read.
    #[arg(long, conflicts_with = "source")]
    verify: bool,
    /// Use new buffers and objects in each step.
    #[arg(long, conflicts_with = "source")]
    fresh: bool,

    #[command(flatten)]
    coupling: ConnectArgs,
    /// Also record all outputs of the one pair of FMUs: .mcap. This is a run of its own,
    /// before the measurement. `trace record` can do more.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How many steps are recorded.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "record", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    record_steps: u64,
    /// Accept FMUs whose messages differ from run to run.
    #[arg(long)]
    varying: bool,
    #[command(flatten)]
    measuring: MeasurementArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        check_unique("--reflections", &self.reflections)?;
        check_unique("--moving-objects", &self.moving_objects)?;
        let model = Path::new(&self.model);
        let inputs: Vec<&Path> = self.source.iter().map(PathBuf::as_path).chain([model]).collect();
        let destination = self.measuring.open(&inputs)?;
        let progress = ProgressDisplay::new();
        let (title, cases, mut entrants) = match &self.source {
            Some(source) => {
                let model = self.user_model()?;
                let names = distinct_names(source, &model);
                let title = format!("Co-simulation of {} and {}", names[0], names[1]);
                (title, vec![user_case()], user_entrants(source.clone(), model))
            }
            None => {
                let title = format!("Co-simulation: SensorView from source to {}", self.model);
                let cases = scene_loads(self.scene, &self.reflections, &self.moving_objects);
                let fmus = self.fmu_entrants()?;
                let members = members(&self.codecs, &self.build_type, &self.fmi)?;
                (title, cases, fmus.entrants(&members, &progress.stoppable())?)
            }
        };
        for entrant in &mut entrants {
            if let Some(HostWork::Fmus(pair)) = &mut entrant.work {
                self.coupling.apply_to(pair)?;
                pair.varying = self.varying;
            }
        }
        let sound = match &self.record {
            Some(file) => self.record(file, &cases, &entrants)?,
            None => true,
        };
        let workload = CosimWorkload {
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

    fn fmu_entrants(&self) -> Result<FmuEntrants> {
        let model = match self.model.as_str() {
            "sensor" => Model::Sensor,
            "pedestrian" => Model::Pedestrian,
            other => bail!(
                "unknown model '{other}'; give sensor or pedestrian, or --source FILE and --model \
                 FILE for your own FMUs"
            ),
        };
        Ok(FmuEntrants { model, verify: self.verify, fresh: self.fresh })
    }

    /// The user's own model, which must be a file.
    fn user_model(&self) -> Result<PathBuf> {
        ensure!(
            !["sensor", "pedestrian"].contains(&self.model.as_str()),
            "--source needs the other FMU too: --model FILE"
        );
        Ok(PathBuf::from(&self.model))
    }

    /// Records the one pair on the one case. Whether its messages are what they are said to be.
    fn record(&self, file: &Path, cases: &[Load], entrants: &[Entrant]) -> Result<bool> {
        let pair = single_pair(cases, entrants).context(
            "--record needs one pair of FMUs and one case; give one value for --codecs, --reflections and --moving-objects",
        )?;
        let inputs = [pair.source.as_path(), &pair.model];
        let recorder = Recorder::new(file, &inputs, self.measuring.patience());
        recorder.record_with_progress(&Recording::from_pair(&pair, &[])?, self.record_steps)
    }
}
