//! What all forms say in the same words.

use wiregauge_result::run::{Case, Run, Status, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::stats::Bounds;
use wiregauge_system::text::escape as clean;

use crate::model::group::{failed_transports, split_by_loss, without_headroom};
use crate::model::number_format::{
    self, count_noun, format_bytes, format_duration, format_quantity, format_ratio,
    format_significant,
};
use crate::model::reference::SlopeRow;
use crate::model::run_labels::subject_noun;
use crate::model::table::Table;

/// What 'floor' in a table says.
pub const FLOOR: &str =
    "floor: less than twice the time of an empty operation in the same language, too close to the \
     harness for a ratio";

/// What the marks of a table mean and how its rows are sorted, a line each.
pub fn table_legend(run: &Run, table: &Table) -> Vec<String> {
    let noun = subject_noun(run);
    let figure = match run.kind {
        RunKind::Bus => "the median of the windows",
        _ => "the median of the processes' medians",
    };
    let order = match table.sort_columns().join(" + ") {
        sorted if table.rows.iter().any(|row| row.subject.bound) => {
            format!("rows: sorted by {sorted}; bounds come last and have no rank")
        }
        sorted => format!("rows: sorted by {sorted}"),
    };
    vec![
        format!("figures: {figure}; ±: half of its 95% confidence interval"),
        format!(
            "×: ratio to the best {noun} of the column; ~: no measurable difference from that \
             {noun}"
        ),
        order,
    ]
}

/// How the figures came about, in one line.
pub fn summary_line(run: &Run) -> String {
    let settings = &run.settings;
    let measured = run.subjects.iter().filter(|s| s.status == Status::Measured).count();
    if run.kind == RunKind::Bus {
        return format!(
            "{} · {measured} of {} measured · windows of {} or more, {} of them count · {}",
            clean(&run.started),
            run.subjects.len(),
            number_format::format_time(settings.epoch_ns as f64),
            settings.rounds,
            format_duration(run.seconds),
        );
    }
    let measured =
        format!("{} · {measured} of {} measured", clean(&run.started), run.subjects.len());
    if run.kind == RunKind::Chain {
        let runs = count_noun(settings.processes.into(), "run", "runs");
        let stretches = count_noun(settings.rounds.into(), "stretch", "stretches");
        return format!(
            "{measured} · {runs} of {stretches}, each with phases of its own · {}",
            format_duration(run.seconds)
        );
    }
    if !run.is_timed() {
        return format!(
            "{measured} · nothing is timed · {} buffers, {} objects · {}",
            clean(&settings.buffers),
            clean(&settings.objects),
            format_duration(run.seconds)
        );
    }
    let epochs = match settings.epoch_ns {
        0 => String::new(),
        ns => format!(", epochs of {} or more", number_format::format_time(ns as f64)),
    };
    // What is kept unless one says otherwise is not worth a word.
    let scratch = match settings.scratch.as_str() {
        "reused" | "" => String::new(),
        other => format!(", {} scratch", clean(other)),
    };
    format!(
        "{measured} · {} × {}{epochs} · {} buffers, {} objects{scratch} · {}",
        count_noun(settings.processes.into(), "process", "processes"),
        count_noun(settings.rounds.into(), "round", "rounds"),
        clean(&settings.buffers),
        clean(&settings.objects),
        format_duration(run.seconds),
    )
}

/// The subjects without figures: each with its state in a word that is not
/// overlooked, and why.
pub fn subjects_without_figures(run: &Run) -> impl Iterator<Item = (&Subject, &'static str, &str)> {
    // A change of a chain that was not measured has what its parts predict.
    let has_prediction = |subject: &&Subject| {
        run.kind == RunKind::Chain
            && run.facts.iter().any(|fact| fact.subject == subject.id)
            && !matches!(subject.status, Status::Failed(_))
    };
    run.subjects.iter().filter(move |subject| !has_prediction(subject)).filter_map(|subject| {
        let (state, reason) = subject.status.absence()?;
        Some((subject, if state == "failed" { "FAILED" } else { state }, reason))
    })
}

/// What instructions are, and of which subjects they were not counted, a reason once.
pub fn instructions_legend(run: &Run, table: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    if !table.is_empty() {
        let element = match table.case.element.as_deref() {
            Some(path) if table.case.elements.is_some() => format!(", and of an element ({path})"),
            _ => String::new(),
        };
        lines.push(format!(
            "instructions: executed for a message{element}; counted, not timed: they leave out \
             what waits for caches, branches and memory"
        ));
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for subject in run.subjects.iter().filter(|subject| !subject.not_counted.is_empty()) {
        match reasons.iter_mut().find(|(why, _)| *why == subject.not_counted) {
            Some((_, titles)) => titles.push(&subject.title),
            None => reasons.push((&subject.not_counted, vec![&subject.title])),
        }
    }
    let of =
        |(why, titles): &(&str, Vec<&str>)| format!("not counted: {}: {why}", titles.join(", "));
    lines.extend(reasons.iter().map(of));
    lines
}

/// What was measured on, in one line.
pub fn describe_case(run: &Run, case: &Case) -> String {
    let messages = match case.messages {
        1 => String::new(),
        n => format!(", {n} messages in turn"),
    };
    let size = match case.canonical_bytes {
        0.0 => String::new(),
        size if run.kind == RunKind::Bus => format!(", {}", format_bytes(size)),
        size if run.kind == RunKind::Points => format!(", {} as they are", format_bytes(size)),
        size => format!(", {} in the canonical form", format_bytes(size)),
    };
    // A case is named after its message where only the receivers differ.
    let (message, size) = match case.id.strip_prefix(&case.message) {
        Some(_) if !size.is_empty() => (String::new(), size.trim_start_matches(", ").to_owned()),
        _ => (clean(&case.message), size),
    };
    format!("{message}{size}{messages} ({})", clean(&case.source))
}

/// What a case comes to, in a sentence or two: over which transports nothing
/// was lost, and which have no headroom.
pub fn verdict(run: &Run, case: &Case) -> Option<String> {
    // Names may have commas in them.
    let names = |subjects: &[&Subject]| {
        subjects.iter().map(|s| s.title.as_str()).collect::<Vec<_>>().join(" · ")
    };
    let (whole, not) = split_by_loss(run, case);
    let mut sentences = Vec::new();
    match (whole.len(), not.len()) {
        (0, 0) => {}
        (0, _) => sentences.push(format!("Samples were lost over {}.", names(&not))),
        (2.., 0) if failed_transports(run, case).is_empty() => {
            sentences.push("No sample was lost over any transport.".to_owned());
        }
        (_, 0) => sentences.push(format!("No sample was lost over {}.", names(&whole))),
        _ => sentences.push(format!(
            "No sample was lost over {}. Samples were lost over {}.",
            names(&whole),
            names(&not)
        )),
    }
    let in_vain = without_headroom(run, case);
    if !in_vain.is_empty() {
        sentences.push(format!(
            "No headroom was found for {}: even the smallest load that was tried failed.",
            names(&in_vain)
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// A fitted number and its bounds in the unit of the number.
pub fn format_bounds(bounds: &Bounds, unit: &str) -> (String, String) {
    let [low, high] = [bounds.low, bounds.high].map(|value| quantity_near(value, unit));
    // The unit once, where both ends have the same.
    let low = match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, of_low)), Some((_, of_high))) if of_low == of_high => number.to_owned(),
        _ => low,
    };
    let range = format!("{low} … {high}");
    (quantity_near(bounds.value, unit), range)
}

/// Like [`format_quantity`], but bytes per point may be fractions.
fn quantity_near(value: f64, unit: &str) -> String {
    match unit {
        "B" => format!("{} B", format_significant(value)),
        _ => format_quantity(value, unit),
    }
}

/// R² with as many nines as there are, `0.9998`, and never rounded up to 1.
pub fn r_squared(value: f64) -> String {
    if value > 1.0 - 1e-9 {
        "1".to_owned()
    } else {
        format!("{:.4}", value.min(0.9999))
    }
}

/// What one step of a swept number is called: `point` of `points`.
pub fn singular(parameter: &str) -> String {
    clean(parameter.strip_suffix('s').unwrap_or(parameter))
}

/// Published slopes beside those of the fitted lines.
pub fn published_slopes(
    rows: &[SlopeRow],
    nothing: &str,
    name: fn(&str) -> String,
) -> Vec<Vec<String>> {
    let head = ["slope", "published", "ratio", "measured", "95%", "ratio", "measured as"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        let slope = row.slope;
        let relation = |value: Option<f64>| value.map_or(nothing.to_owned(), format_ratio);
        let deviation = slope
            .deviation
            .map_or(String::new(), |d| format!(" ± {}", quantity_near(d, &slope.unit)));
        let (value, range) = row
            .measured
            .map_or((nothing.to_owned(), nothing.to_owned()), |m| format_bounds(&m, &slope.unit));
        table.push(vec![
            name(&format!("{} per {}, {}", slope.metric, singular(&slope.parameter), slope.name)),
            format!("{}{deviation}", quantity_near(slope.value, &slope.unit)),
            relation(row.published_ratio),
            value,
            range,
            relation(row.measured_ratio),
            name(row.subject.map_or(&slope.subject, |subject| &subject.title)),
        ]);
    }
    table
}
