//! `wiregauge verify`: whether a result is what is required.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_report::text::{json, terminal};
use wiregauge_result::run::Run;
use wiregauge_system::output::{line_width, print};

use crate::exit_status::exit_code;
use crate::list_format::ListFormat;
use crate::requirement_args::RequirementArgs;

/// Check a result against requirements: pass, fail or cannot tell.
///
/// A requirement is a figure, a relation (< <= = >= >) and a limit with its unit. A
/// figure is a metric of the result. 'latency' is its median, 'p99.9 latency' or
/// 'latency p99.9' a percentile, 'max latency' the largest sample, 'lost' a count. Every
/// subject and case is checked; 'of tcp' and 'at "10 B, 5 ms, continuous"' choose one.
///
/// A sampled figure passes if its whole 95 % interval is within the limit. It fails if
/// the whole interval is beyond. Otherwise nobody can tell. A percentile needs enough
/// samples: p99 368, p99.9 3,688, p99.99 36,887.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 if all hold, 1 if one does not, 3 if one cannot be told, 2 when
the result cannot be read.

Examples:
  wiregauge verify run.json --require 'p99.9 latency < 500us, lost = 0'
  wiregauge verify run.json --require 'step p99.99 < 1ms, late of dds = 0'
  wiregauge verify run.json --require 'encode of prost < 1ms, size <= 160kB'
  wiregauge verify run.json --require 'throughput >= 99MB/s' --junit bus.xml")]
pub struct Arguments {
    /// A result that wiregauge wrote.
    run: PathBuf,
    #[command(flatten)]
    required: RequirementArgs,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
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
            "{} has no requirements; give one by --require",
            self.run.display()
        );
        print(&match self.format {
            ListFormat::Table => terminal::verdicts(&run, line_width()),
            ListFormat::Json => json::render_requirements(&run),
        })?;
        Ok(exit_code(judge.write(&run)?))
    }
}
