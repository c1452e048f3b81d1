//! Performance logs that FMUs have written, as a result.

use anyhow::Result;
use wiregauge_cosim::logs::import::{import, LogInput};
use wiregauge_result::cautions::add_warnings;
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Run, Settings};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;

/// What came of logs.
pub struct ImportedRun {
    /// The result.
    pub run: Run,
    /// How many steps belong together, where all do.
    pub notes: Vec<String>,
}

/// Makes a result from logs, and leaves out the first `skip` steps of each.
///
/// # Errors
/// Those of [`import`].
pub fn import_run(logs: &[LogInput], skip: usize) -> Result<ImportedRun> {
    let imported = import(logs, skip)?;
    let settings = Settings {
        processes: imported.processes,
        rounds: imported.rounds,
        epoch_ns: 0,
        buffers: "reused".into(),
        objects: "reused".into(),
        scratch: "reused".into(),
        background: String::new(),
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
    Ok(ImportedRun { run, notes: imported.notes })
}
