//! What a file lacks, as people read it.

use wiregauge_system::text::{escape_short, format_count};

use super::rules::{Level, ALL};
use super::CheckResult;

/// All rules, a line each.
pub fn format_rules() -> String {
    let lines =
        ALL.iter().map(|rule| format!("{:24} {:8} {}", rule.id, level_name(rule.level), rule.what));
    lines.collect::<Vec<_>>().join("\n")
}

/// What a file of this name lacks: a line of the verdict, then each finding.
pub fn format_check(file: &str, checked: &CheckResult) -> String {
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
