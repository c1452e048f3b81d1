//! What a codec takes of a cycle, and how far a vehicle gets meanwhile.

use serde::Serialize;
use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::stats::{Interval, Summary};

use crate::model::floor::Floors;
use crate::model::number_format::{format_percent, format_significant, format_time};
use crate::model::run_labels::{legend, mark_subjects};
use crate::text::markdown;
use crate::text::plain_text::{self, align_rows, clean, wrap_lines, Align};
use crate::text::ResultFormat;

/// The cycle and the speed to hold times against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Messages per second, in hertz; positive.
    pub rate_hz: f64,
    /// Speed of the vehicle in metres per second.
    pub speed_mps: f64,
}

/// What one phase of one subject takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetEntry<'a> {
    /// Case id.
    pub case: &'a str,
    /// Subject id.
    pub subject: &'a str,
    /// Its name in tables.
    pub title: &'a str,
    /// `encode`, `decode` or `round trip`, their sum; in co-simulation
    /// `source`, `model` or `step`, their sum.
    pub phase: &'static str,
    /// Median time in nanoseconds.
    pub nanoseconds: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval. The round trip's is the sum of both
    /// ends: wider than it need be.
    pub high: Option<f64>,
    /// Whether it cannot be told from what the harness itself costs.
    pub at_floor: bool,
    /// Share of the cycle: 1 is all of it.
    pub share: f64,
    /// Centimetres travelled meanwhile.
    pub centimetres: f64,
}

impl Budget {
    /// The entries of a run: for each case the subjects in the order of their
    /// round trip, bounds left out.
    pub fn entries<'a>(&self, run: &'a Run) -> Vec<BudgetEntry<'a>> {
        run.cases.iter().flat_map(|case| self.case_entries(run, case)).collect()
    }

    fn case_entries<'a>(&self, run: &'a Run, case: &'a Case) -> Vec<BudgetEntry<'a>> {
        let codecs = run.subjects.iter().filter(|subject| !subject.bound);
        let mut groups: Vec<Vec<BudgetEntry>> =
            codecs.map(|subject| self.subject_entries(run, case, subject)).collect();
        let key = |group: &Vec<BudgetEntry>| group.last().map_or(f64::INFINITY, |e| e.nanoseconds);
        groups.sort_by(|a, b| key(a).total_cmp(&key(b)));
        groups.into_iter().flatten().collect()
    }

    fn subject_entries<'a>(
        &self,
        run: &'a Run,
        case: &'a Case,
        subject: &'a Subject,
    ) -> Vec<BudgetEntry<'a>> {
        let entry = |phase, nanoseconds, low, high, at_floor| BudgetEntry {
            case: &case.id,
            subject: &subject.id,
            title: &subject.title,
            phase,
            nanoseconds,
            low,
            high,
            at_floor,
            share: nanoseconds * 1e-9 * self.rate_hz,
            centimetres: nanoseconds * 1e-9 * self.speed_mps * 100.0,
        };
        let measured = |phase: &'static str| {
            let measurement = run.measurement(&case.id, &subject.id, phase)?;
            let summary =
                Summary::from_measurement(measurement).filter(|_| measurement.unit == "ns")?;
            let end = |of: fn(&Interval) -> f64| summary.interval.as_ref().map(of);
            let at_floor =
                Floors::from_run(run, &case.id, phase).is_at_floor(subject, summary.median);
            Some(entry(phase, summary.median, end(|i| i.low), end(|i| i.high), at_floor))
        };
        if run.kind == RunKind::Cosim {
            return ["source", "model", "step"].into_iter().filter_map(measured).collect();
        }
        let mut entries: Vec<BudgetEntry> =
            ["encode", "decode"].into_iter().filter_map(measured).collect();
        if let [encode, decode] = &entries[..] {
            let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
            entries.push(entry(
                "round trip",
                encode.nanoseconds + decode.nanoseconds,
                add(encode.low, decode.low),
                add(encode.high, decode.high),
                encode.at_floor && decode.at_floor,
            ));
        }
        entries
    }

    fn title(&self) -> String {
        format!(
            "Budget at {} Hz (a cycle of {}) and {} km/h",
            format_significant(self.rate_hz),
            format_time(1e9 / self.rate_hz),
            format_significant(self.speed_mps * 3.6),
        )
    }
}

const HEAD: [&str; 5] = ["codec", "phase", "time", "of the cycle", "travelled"];

/// A budget in a form; none where there is no such form of it. Lines of a table have at most
/// so many characters.
pub fn render(
    run: &Run,
    budget: Budget,
    form: ResultFormat,
    width: Option<usize>,
) -> Option<String> {
    match form {
        ResultFormat::Table => Some(render_terminal(run, budget, width)),
        ResultFormat::Md => Some(render_markdown(run, budget)),
        ResultFormat::Json => Some(render_json(run, budget)),
        ResultFormat::Csv => None,
    }
}

/// One table for each case, as aligned plain text.
pub fn render_terminal(run: &Run, budget: Budget, width: Option<usize>) -> String {
    let run = &mark_subjects(run);
    let mut text = format!("{}\n{}\n", clean(&run.title), budget.title());
    let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right];
    for (case, rows) in rows(run, budget, clean) {
        text.push_str(&format!("\n{}\n{}", clean(&case.id), align_rows(&rows, &aligns)));
    }
    for (i, line) in legend(&[run]).into_iter().enumerate() {
        text.push_str(&format!("{}{}\n", if i == 0 { "\n" } else { "" }, clean(&line)));
    }
    width.map_or(text.clone(), |width| wrap_lines(&text, width))
}

/// One table for each case, as Markdown.
pub fn render_markdown(run: &Run, budget: Budget) -> String {
    let run = &mark_subjects(run);
    let mut text = format!("# {}\n\n{}\n", markdown::escape(&run.title), budget.title());
    for (case, rows) in rows(run, budget, markdown::escape) {
        text.push_str(&format!("\n## {}\n{}", markdown::escape(&case.id), markdown::table(&rows)));
    }
    text
}

/// The budget and its entries, unrounded, for scripts.
pub fn render_json(run: &Run, budget: Budget) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        format: &'static str,
        version: u32,
        budget: Budget,
        entries: Vec<BudgetEntry<'a>>,
    }
    let entries = budget.entries(run);
    let document = Document { format: "wiregauge.budget", version: 1, budget, entries };
    plain_text::to_json(&document)
}

/// The tables' rows, head first. A phase that does not fit into the cycle is
/// marked with `!`.
fn rows(run: &Run, budget: Budget, name: fn(&str) -> String) -> Vec<(&Case, Vec<Vec<String>>)> {
    let of_case = |case| {
        let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
        let mut last = "";
        for entry in budget.case_entries(run, case) {
            let repeated = std::mem::replace(&mut last, entry.subject) == entry.subject;
            rows.push(vec![
                if repeated { String::new() } else { name(entry.title) },
                entry.phase.to_owned(),
                format!(
                    "{}{}",
                    format_time(entry.nanoseconds),
                    if entry.at_floor { " floor" } else { "" }
                ),
                format!(
                    "{}{}",
                    if entry.share > 1.0 { "! " } else { "" },
                    format_percent(entry.share)
                ),
                format!("{} cm", format_significant(entry.centimetres)),
            ]);
        }
        (case, rows)
    };
    run.cases.iter().map(of_case).filter(|(_, rows)| rows.len() > 1).collect()
}
