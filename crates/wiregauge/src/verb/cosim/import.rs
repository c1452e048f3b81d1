//! `wiregauge cosim import`: performance logs of other people's FMUs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::SystemTime;

use anyhow::Result;
use wiregauge_cosim::logs::import::{import, LogInput};
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Run, Settings, FORMAT, VERSION};
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::text::escape_short;

use crate::output::{command, deliver, tell, Form, Outlet};
use crate::required::Required;

/// Make a result of the performance logs that FMUs have written.
///
/// The logs of a source and of a model that were written at the same time make
/// a run of a simulation; several runs of the same FMUs count as processes. How
/// many steps belong together, and why others do not, is said.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim import source.json model.json
  wiregauge cosim import runs/*.json -o runs.run.json
  wiregauge cosim import near=a/*.json far=b/source.json far=b/model.json")]
pub struct Arguments {
    /// Logs of sources and models, in any order, perhaps with the case that
    /// they belong to.
    #[arg(required = true, value_name = "[CASE=]LOG")]
    logs: Vec<Labelled>,
    /// Steps to leave out at the start of each log.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
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

/// `LOG` or `CASE=LOG`.
#[derive(Clone, Debug)]
struct Labelled(LogInput);

impl FromStr for Labelled {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Labelled, Self::Err> {
        // A file may have such a name.
        let labelled = text.split_once('=').filter(|(case, path)| {
            !case.is_empty() && !path.is_empty() && !PathBuf::from(text).exists()
        });
        let (case, path) = labelled.unwrap_or(("logs", text));
        Ok(Labelled(LogInput { path: path.into(), case: case.into() }))
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let given: Vec<LogInput> = self.logs.into_iter().map(|labelled| labelled.0).collect();
        let inputs: Vec<&Path> = given.iter().map(|given| given.path.as_path()).collect();
        let outlet = Outlet::open(&self.output, self.format, &inputs, &self.required)?;
        let imported = import(&given, self.skip)?;
        for note in &imported.notes {
            tell(&escape_short(note));
        }
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: "Co-simulation from performance logs".into(),
            kind: RunKind::Cosim,
            command: command(),
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            seconds: 0.0,
            // That of the logs is unknown, and this machine's would mislead.
            environment: Environment {
                wiregauge: env!("CARGO_PKG_VERSION").into(),
                build: "release".into(),
                ..Environment::default()
            },
            warnings: Vec::new(),
            settings: Settings {
                processes: imported.processes,
                rounds: imported.rounds,
                epoch_ns: 0,
                buffers: "reused".into(),
                objects: "reused".into(),
                scratch: "reused".into(),
                seed: 0,
            },
            cases: imported.cases,
            subjects: imported.subjects,
            measurements: imported.measurements,
            facts: imported.facts,
            curves: Vec::new(),
            slowest: Vec::new(),
            require: None,
            reference: None,
        };
        deliver(&mut run, imported.warnings, outlet)
    }
}
