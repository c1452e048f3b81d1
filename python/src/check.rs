//! What the rules for trace files find, as rows.

use anyhow::{Context, Result};
use pyo3::prelude::*;
use wiregauge_trace::check::{self, rules::Level, Finding};
use wiregauge_trace::open::OpenHints;

use crate::error::to_python;
use crate::file_identity::FileIdentity;
use crate::files::Files;
use crate::rows::{number_column, text_column, Rows};
use crate::table_source::Definition;

/// What keeps files from being trace files of OSI, as `wiregauge trace check` says it: a row a
/// rule that does not hold, with where, what was found and what to do. No row is a good sign.
///
/// `files` are one or several, or a pattern. `definition` is an encoded FileDescriptorSet of
/// OSI, or the path of a file with one, for files that have none, as .osi.
///
/// Raises WiregaugeError, in one line, where a file cannot be read. What is damaged is a row.
///
/// >>> import wiregauge
/// >>> found = wiregauge.check("drive.mcap").to_pylist()
/// >>> [(row["rule"], row["count"]) for row in found if row["level"] == "error"]
/// [('channel.version', 2), ('trace.entry', 1)]
#[pyfunction]
#[pyo3(name = "check", signature = (files, *, definition=None, osi_type=None))]
pub fn check_files(
    python: Python<'_>,
    files: Files,
    definition: Option<Definition>,
    osi_type: Option<String>,
) -> PyResult<Rows> {
    let files = files.list(python)?;
    let hints = OpenHints { osi_type };
    let define = || -> Result<Vec<u8>> {
        let definition = definition.as_ref().context(
            "the file has no definition of its messages; give an encoded FileDescriptorSet of OSI \
             as definition",
        )?;
        definition.read()
    };
    let find = || -> Result<Rows> {
        let mut found: Vec<(String, Finding)> = Vec::new();
        for path in &files {
            // What the archive has now, and not what it had a moment ago.
            FileIdentity::of_opened(path)?;
            let checked = check::check(path, &hints, &define, &mut |_, _| {})?;
            let file = path.display().to_string();
            let findings = checked.findings.list().into_iter().cloned();
            found.extend(findings.map(|finding| (file.clone(), finding)));
        }
        let text = |field: for<'f> fn(&'f Finding) -> &'f str| {
            text_column(found.iter().map(move |(_, finding)| field(finding)))
        };
        Rows::new([
            ("file", text_column(found.iter().map(|(file, _)| file.as_str()))),
            ("level", text(|finding| level_name(finding.level))),
            ("rule", text(|finding| finding.rule)),
            ("what", text(|finding| finding.what)),
            ("place", text(|finding| &finding.place)),
            ("found", text(|finding| &finding.found)),
            ("count", number_column(found.iter().map(|(_, finding)| Some(finding.count)))),
            ("remedy", text(|finding| finding.remedy)),
        ])
    };
    python.detach(find).map_err(to_python)
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
    }
}
