//! `wiregauge trace check`: whether a file is a trace file of OSI.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::check::rules::{Level, ALL};
use wiregauge_trace::check::{check, CheckResult};

use super::form::Form;
use super::progress::news;
use super::putting::Putting;
use crate::output::{print, show, tell};
use crate::workload::osi_definitions;

/// The file does not keep the rules.
const BROKEN: u8 = 1;

/// Hold trace files against each rule of OSI 3.8 for them.
///
/// Every field of every message is held against its definition. The exit status is 0
/// when all errors are absent; warnings are of what is recommended.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace check drive.mcap
  wiregauge trace check *.osi --format json
  wiregauge trace check drive.mcap --fix fixed.mcap --protobuf-version 3.21.12
      writes it anew with chunks, index, metadata, versions and times; what
      nobody knows is asked for or left out
  wiregauge trace check --rules
      the rules that files are held against")]
pub struct Arguments {
    /// What is checked: .mcap, .osi, .bag, .db3, each also packed by gzip, xz or zstd, or the
    /// folder of a ROS 2 bag.
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write a file that keeps the rules here, as far as they can be kept.
    #[arg(long, value_name = "FILE")]
    fix: Option<PathBuf>,
    /// Show the rules.
    #[arg(long)]
    rules: bool,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        if self.rules {
            let lines = ALL
                .iter()
                .map(|rule| format!("{:24} {:8} {}", rule.id, word(rule.level), rule.what));
            print(&lines.collect::<Vec<_>>().join("\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut files = self.files.clone();
        if let Some(fixed) = &self.fix {
            let [input] = &self.files[..] else {
                anyhow::bail!("--fix writes one file: give one to be checked");
            };
            self.putting.fix(input, fixed)?;
            files.push(fixed.clone());
        }
        let (mut texts, mut entries, mut holds) = (Vec::new(), Vec::new(), true);
        for path in &files {
            let wish = self.putting.wish();
            let checked = check(path, &wish, &osi_definitions, &mut news("checking"))?;
            // What was fixed is what counts.
            holds = checked.findings.is_valid() && (holds || self.fix.is_some());
            let file = path.display().to_string();
            texts.push(text(&file, &checked));
            entries.push(json!({
                "file": file,
                "messages": checked.messages,
                "holds": checked.findings.is_valid(),
                "findings": checked.findings,
            }));
        }
        match self.format {
            Form::Json => print(&serde_json::to_string_pretty(&entries)?)?,
            Form::Table => show(&texts.concat())?,
        }
        if !holds && self.fix.is_none() && self.format == Form::Table {
            tell("wiregauge trace check FILE --fix FIXED writes what can be known");
        }
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
    }
}

/// What a file lacks, as people read it.
fn text(file: &str, checked: &CheckResult) -> String {
    let CheckResult { findings, messages } = checked;
    let verdict = match (findings.is_valid(), findings.list().is_empty()) {
        (true, true) => "keeps every rule",
        (true, false) => "is a trace file of OSI, and lacks what is recommended",
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
        text += &format!("  {} {}: {}\n", word(finding.level), finding.rule, finding.what);
        let (place, found) = (escape_short(&finding.place), escape_short(&finding.found));
        text += &format!("    at {place}: {found}{times}\n    {}\n", finding.remedy);
    }
    text
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
    }
}
