//! `wiregauge verify`: whether a result is what is required.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_report::text::{json, terminal};
use wiregauge_result::run::Run;

use crate::output::{print, width};
use crate::required::Required;

/// Hold a result against requirements: pass, fail or cannot tell.
///
/// A requirement is a figure, a relation (< <= = >= >) and a limit with its
/// unit. A figure is a metric of the result: of what was sampled its median is
/// meant, 'p99.9 latency' or 'latency p99.9' is a percentile, 'max latency' the
/// largest that was seen, 'lost' a count. It is held against every subject and
/// case; 'of tcp' and 'at "10 B, 5 ms, continuous"' name one.
///
/// What was sampled passes if all of its 95 % interval is within the limit, and
/// fails if all of it is beyond; in between nothing can be told. A percentile
/// needs enough samples: p99 368, p99.9 3,688, p99.99 36,887.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge verify run.json --require 'p99.9 latency < 500us, lost = 0'
  wiregauge verify run.json --require 'step p99.99 < 1ms, late of dds = 0'
  wiregauge verify run.json --require 'encode of prost < 1ms, size <= 160kB'
  wiregauge verify run.json --require 'throughput >= 99MB/s' --junit bus.xml

Exit status: 0 if all hold, 1 if one does not, 3 if one cannot be told, 2 when
the result cannot be read.")]
pub struct Arguments {
    /// A result that wiregauge wrote.
    run: PathBuf,
    #[command(flatten)]
    required: Required,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

/// Form of the verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Aligned text for a terminal.
    Table,
    /// For scripts.
    Json,
}

impl Arguments {
    /// Carries it out. Without --require, the result is held against what it was
    /// measured for.
    pub fn run(self) -> Result<ExitCode> {
        let mut run = Run::read(&self.run)?;
        let judge = self.required.open(&[&self.run], run.require.is_some())?;
        judge.mark(&mut run);
        ensure!(
            run.require.is_some(),
            "nothing is required of {}: say what by --require",
            self.run.display()
        );
        print(&match self.format {
            Form::Table => terminal::verdicts(&run, width()),
            Form::Json => json::render_requirements(&run),
        })?;
        Ok(ExitCode::from(judge.write(&run)?))
    }
}
