//! `wiregauge cosim import`: performance logs of other people's FMUs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Result;
use wiregauge_cosim::logs::import::{import, LogInput};
use wiregauge_result::cautions::add_warnings;
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Run, Settings};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::notice::print_notice;
use wiregauge_system::text::escape_short;

use crate::exit_status::write_measured;
use crate::result_args::ResultArgs;

/// Make a result from performance logs that FMUs have written.
///
/// The logs of a source and a model that were written at the same time are one run of a
/// simulation. Several runs of the same FMUs count as processes. It prints how many
/// steps belong together, and why others do not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim import source.json model.json
  wiregauge cosim import runs/*.json -o runs.run.json
  wiregauge cosim import near=a/*.json far=b/source.json far=b/model.json")]
pub struct Arguments {
    /// Logs of sources and models, in any order. CASE= names the case of a log.
    #[arg(required = true, value_name = "[CASE=]LOG")]
    logs: Vec<LabelledLog>,
    /// How many steps to leave out at the start of each log.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    #[command(flatten)]
    delivery: ResultArgs,
}

/// `LOG` or `CASE=LOG`.
#[derive(Clone, Debug)]
struct LabelledLog(LogInput);

impl FromStr for LabelledLog {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<LabelledLog, Self::Err> {
        // A file may have such a name.
        let labelled = text.split_once('=').filter(|(case, path)| {
            !case.is_empty() && !path.is_empty() && !PathBuf::from(text).exists()
        });
        let (case, path) = labelled.unwrap_or(("logs", text));
        Ok(LabelledLog(LogInput { path: path.into(), case: case.into() }))
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let given: Vec<LogInput> = self.logs.into_iter().map(|labelled| labelled.0).collect();
        let inputs: Vec<&Path> = given.iter().map(|given| given.path.as_path()).collect();
        let outlet = self.delivery.open(&inputs)?;
        let imported = import(&given, self.skip)?;
        for note in &imported.notes {
            print_notice(&escape_short(note));
        }
        let settings = Settings {
            processes: imported.processes,
            rounds: imported.rounds,
            epoch_ns: 0,
            buffers: "reused".into(),
            objects: "reused".into(),
            scratch: "reused".into(),
            seed: 0,
        };
        let builder = RunBuilder::begin(RunKind::Cosim);
        let mut run = Run {
            seconds: 0.0,
            // That of the logs is unknown, and this machine's would mislead.
            environment: Environment {
                wiregauge: env!("CARGO_PKG_VERSION").into(),
                build: "release".into(),
                ..Environment::default()
            },
            cases: imported.cases,
            subjects: imported.subjects,
            measurements: imported.measurements,
            facts: imported.facts,
            ..builder.finish("Co-simulation from performance logs".into(), settings)
        };
        add_warnings(&mut run, imported.warnings);
        write_measured(run, outlet)
    }
}
