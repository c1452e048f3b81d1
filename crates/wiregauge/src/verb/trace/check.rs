//! `wiregauge trace check`: whether a file is a trace file of OSI.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::check::rules::{Level, ALL};
use wiregauge_trace::check::{check, CheckResult};

use super::output_args::OutputArgs;
use super::progress::byte_progress;
use crate::list_format::ListFormat;
use crate::output::{print, print_escaped, print_notice};
use crate::workload::osi_definitions;

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
            let lines = ALL
                .iter()
                .map(|rule| format!("{:24} {:8} {}", rule.id, level_name(rule.level), rule.what));
            print(&lines.collect::<Vec<_>>().join("\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut files = self.files.clone();
        if let Some(fixed) = &self.fix {
            let [input] = &self.files[..] else {
                anyhow::bail!("--fix writes one file; give one file to check");
            };
            self.putting.fix(input, fixed)?;
            files.push(fixed.clone());
        }
        let (mut texts, mut entries, mut holds) = (Vec::new(), Vec::new(), true);
        for path in &files {
            let wish = self.putting.read_hints();
            let checked = check(path, &wish, &osi_definitions, &mut byte_progress("checking"))?;
            // What was fixed is what counts.
            holds = checked.findings.is_valid() && (holds || self.fix.is_some());
            let file = path.display().to_string();
            texts.push(format_check(&file, &checked));
            entries.push(json!({
                "file": file,
                "messages": checked.messages,
                "holds": checked.findings.is_valid(),
                "findings": checked.findings,
            }));
        }
        match self.format {
            ListFormat::Json => print(&serde_json::to_string_pretty(&entries)?)?,
            ListFormat::Table => print_escaped(&texts.concat())?,
        }
        if !holds && self.fix.is_none() && self.format == ListFormat::Table {
            print_notice(
                "'wiregauge trace check FILE --fix FIXED' corrects what can be derived from the \
                 file",
            );
        }
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
    }
}

/// What a file lacks, as people read it.
fn format_check(file: &str, checked: &CheckResult) -> String {
    let CheckResult { findings, messages } = checked;
    let verdict = match (findings.is_valid(), findings.list().is_empty()) {
        (true, true) => "keeps every rule",
        (true, false) => "is a trace file of OSI, but does not follow all recommendations",
        (false, _) => "does not keep the rules for trace files of OSI",
    };
    let mut text =
        format!("{}: {verdict}; {}\n", escape_short(file), format_count(*messages, "message"));
    for finding in findings.list() {
        let times = match finding.count {
            1 => String::new(),
            2 => ", and once more".to_owned(),
            count => format!(", and {} times more", count - 1),
        };
        text += &format!("  {} {}: {}\n", level_name(finding.level), finding.rule, finding.what);
        let (place, found) = (escape_short(&finding.place), escape_short(&finding.found));
        text += &format!("    at {place}: {found}{times}\n    {}\n", finding.remedy);
    }
    text
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
    }
}
