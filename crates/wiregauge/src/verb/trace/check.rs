//! `wiregauge trace check`: whether a file is a trace file of OSI.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_system::notice::{print_notice, print_notices};
use wiregauge_system::output::print;
use wiregauge_system::progress::byte_progress;
use wiregauge_system::text::escape_lines;
use wiregauge_trace::check::check;
use wiregauge_trace::check::text::{format_check, format_rules};

use super::output_args::OutputArgs;
use crate::list_format::ListFormat;

/// The file does not keep the rules.
const BROKEN: u8 = 1;

/// Check trace files against the rules of OSI 3.8.
///
/// It checks every field of every message against its definition. The exit status is 0 if
/// there is no error. Warnings are about recommendations.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace check drive.mcap
  wiregauge trace check *.osi --format json
  wiregauge trace check drive.mcap --fix fixed.mcap --protobuf-version 3.21.12
      writes it again with chunks, index, metadata, versions and times;
      what is not known is left out and named
  wiregauge trace check --rules
      the rules")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; or the folder of
    /// a ROS 2 bag.
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write a file here that keeps the rules as far as possible.
    #[arg(long, value_name = "FILE")]
    fix: Option<PathBuf>,
    /// Show the rules.
    #[arg(long)]
    rules: bool,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
    #[command(flatten)]
    putting: OutputArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        if self.rules {
            print(&format_rules())?;
            return Ok(ExitCode::SUCCESS);
        }
        let (mut files, options) = (self.files.clone(), self.putting.options());
        if let Some(fixed) = &self.fix {
            let [input] = &self.files[..] else {
                anyhow::bail!("--fix writes one file; give one file to check");
            };
            let written = options.fix(input, fixed, &mut byte_progress("copying"))?;
            print_notices(&written.notices(fixed));
            files.push(fixed.clone());
        }
        let (mut texts, mut entries) = (Vec::new(), Vec::new());
        let (mut holds, mut is_fixable) = (true, false);
        for path in &files {
            let hints = options.hints.open_hints();
            let checked = check(path, &hints, &osi_definitions, &mut byte_progress("checking"))?;
            // What was fixed is what counts.
            holds = checked.findings.is_valid() && (holds || self.fix.is_some());
            is_fixable |= checked.findings.is_fixable();
            let file = path.display().to_string();
            texts.push(format_check(&file, &checked));
            entries.push(json!({
                "file": file,
                "messages": checked.messages,
                "holds": checked.findings.is_valid(),
                "findings": checked.findings,
            }));
        }
        self.format.print(&entries[..], |_| escape_lines(&texts.concat()))?;
        if !holds && is_fixable && self.fix.is_none() && self.format == ListFormat::Table {
            print_notice(
                "'wiregauge trace check FILE --fix FIXED' corrects what can be derived from the \
                 file",
            );
        }
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
    }
}
