//! What a file lacks.

use serde::Serialize;

use super::rules::{Level, Rule};

/// A rule that does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// What it means.
    pub level: Level,
    /// What must hold.
    pub what: &'static str,
    /// Where it does not for the first time, and what is there.
    pub place: String,
    /// As above.
    pub found: String,
    /// How often it does not.
    pub count: u64,
    /// What to do.
    pub remedy: &'static str,
}

/// The rules that do not hold, in the order in which that was found.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Adds that a rule does not hold somewhere.
    pub fn add(&mut self, rule: &Rule, place: String, found: &str) {
        match self.0.iter_mut().find(|finding| finding.rule == rule.id) {
            Some(finding) => finding.count += 1,
            None => self.0.push(Finding {
                rule: rule.id,
                level: rule.level,
                what: rule.what,
                place,
                found: found.to_owned(),
                count: 1,
                remedy: rule.remedy,
            }),
        }
    }

    /// All of them; errors first.
    pub fn list(&self) -> Vec<&Finding> {
        let mut list: Vec<&Finding> = self.0.iter().collect();
        list.sort_by_key(|finding| finding.level);
        list
    }

    /// Whether the file is a trace file of OSI.
    pub fn is_valid(&self) -> bool {
        self.0.iter().all(|finding| finding.level != Level::Error)
    }

    /// Whether `trace check --fix` corrects some of them.
    pub fn is_fixable(&self) -> bool {
        self.0.iter().any(|finding| finding.remedy.contains("--fix"))
    }
}
