//! Two runs held against each other, as text, Markdown and JSON. Whether a
//! check should fail is
//! [`Comparison::regressed`](wiregauge_result::stats::Comparison::regressed).

use serde::Serialize;
use wiregauge_result::run::Run;
use wiregauge_result::stats::{Cell, ChangeVerdict, Comparison, BUSY};

use crate::model::changes::{change_rows, count_verdicts, fact_lines};
use crate::model::environment::differences;
use crate::model::number_format::{format_change, format_percent};
use crate::model::run_labels::{legend, mark_subjects};
use crate::text::markdown;
use crate::text::plain_text::{self, align_changes, clean, wrap_lines};
use crate::text::ResultFormat;

/// A comparison in a form; none where there is no such form of it. Cells without a difference
/// are shown if `all`, and lines of a table have at most so many characters.
pub fn render(
    base: &Run,
    new: &Run,
    comparison: &Comparison,
    form: ResultFormat,
    all: bool,
    width: Option<usize>,
) -> Option<String> {
    match form {
        ResultFormat::Table => Some(render_terminal(base, new, comparison, all, width)),
        ResultFormat::Md => Some(render_markdown(base, new, comparison, all)),
        ResultFormat::Json => Some(render_json(comparison)),
        ResultFormat::Csv => None,
    }
}

/// Verdicts as aligned plain text: what changed first, then what cannot be
/// told, then the rest if `all`.
pub fn render_terminal(
    base: &Run,
    new: &Run,
    comparison: &Comparison,
    all: bool,
    width: Option<usize>,
) -> String {
    let (base, new) = (&mark_subjects(base), &mark_subjects(new));
    let mut text = String::new();
    for line in comparison_notes(base, new, comparison) {
        text.push_str(&clean(&line));
        text.push('\n');
    }
    let rows = rows(base, comparison, all, clean);
    if rows.len() > 1 {
        text.push_str(&format!("\n{}", align_changes(&rows, width)));
    }
    for line in legend(&[base, new]) {
        text.push_str(&format!("{}\n", clean(&line)));
    }
    for line in details(base, new, comparison) {
        text.push_str(&clean(&line));
        text.push('\n');
    }
    width.map_or(text.clone(), |width| wrap_lines(&text, width))
}

/// The same as Markdown.
pub fn render_markdown(base: &Run, new: &Run, comparison: &Comparison, all: bool) -> String {
    let (base, new) = (&mark_subjects(base), &mark_subjects(new));
    let mut text = String::from("# Comparison\n\n");
    for line in comparison_notes(base, new, comparison) {
        text.push_str(&format!("- {}\n", markdown::escape(&line)));
    }
    let rows = rows(base, comparison, all, markdown::escape);
    if rows.len() > 1 {
        text.push_str(&markdown::table(&rows));
    }
    text.push('\n');
    for line in details(base, new, comparison).iter().filter(|line| !line.is_empty()) {
        text.push_str(&format!("- {}\n", markdown::escape(line.trim_start())));
    }
    text
}

/// The comparison for scripts, with `regressed` beside it.
pub fn render_json(comparison: &Comparison) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        format: &'static str,
        version: u32,
        regressed: bool,
        comparison: &'a Comparison,
    }
    let regressed = comparison.regressed();
    let document = Document { format: "wiregauge.comparison", version: 1, regressed, comparison };
    plain_text::to_json(&document)
}

/// What a reader must know first.
fn comparison_notes(base: &Run, new: &Run, comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![
        format!("base: {}, {}", base.title, base.started),
        format!("new:  {}, {}", new.title, new.started),
    ];
    lines.extend(count_verdicts(comparison));
    if comparison.busy {
        lines.push(format!(
            "Other programs used the machine during one of the runs, so only changes of more than \
             {} count.",
            format_percent(BUSY)
        ));
    }
    if let Some(resolution) = comparison.resolution() {
        lines.push(format!(
            "The smallest slowdown that this comparison detects in a typical cell: {}.",
            format_percent(resolution)
        ));
    }
    match comparison.machine_drift() {
        Some(drift) => lines.push(format!(
            "The bound rows, which show the machine itself, changed by {}.",
            format_change(drift)
        )),
        None => lines.push(
            "The runs have no bound row in common, so only the other rows show how the machine \
             changed."
                .into(),
        ),
    }
    lines
}

fn rows(
    run: &Run,
    comparison: &Comparison,
    all: bool,
    name: fn(&str) -> String,
) -> Vec<Vec<String>> {
    let is_shown = |cell: &&Cell| all || cell.verdict != ChangeVerdict::NoDifference;
    let cells = comparison.cells.iter().filter(is_shown).collect();
    change_rows(run, cells, ["base", "new"], name)
}

fn details(base: &Run, new: &Run, comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    let mut block = |title: &str, block: Vec<String>| {
        if !block.is_empty() {
            lines.push(String::new());
            lines.push(title.to_owned());
            lines.extend(block.into_iter().map(|line| format!("  {line}")));
        }
    };
    block("Counted figures that changed", fact_lines(comparison));
    block("LOST: measured in the base run only", comparison.lost.clone());
    block("Measured in the new run only", comparison.added.clone());
    let environment = differences(&base.environment, &new.environment);
    let environment = environment.iter().map(|(path, a, b)| format!("{path}: {a} → {b}"));
    block("The environments differ", environment.collect());
    let settings = if base.settings == new.settings {
        Vec::new()
    } else {
        vec![format!("{:?}", base.settings), format!("{:?}", new.settings)]
    };
    block("The settings differ", settings);
    lines
}
