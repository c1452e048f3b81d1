//! Who took part, what has no figures, and how it was measured.

use std::fmt::Write;

use wiregauge_result::run::{Run, Status};
use wiregauge_result::run_kind::RunKind;

use crate::model::environment;
use crate::model::number_format::format_time;
use crate::model::run_labels::subject_noun;
use crate::model::shared_text::{self, describe_case};
use crate::page::markup::escape;

/// What has no figures, and why.
pub fn absent_section(run: &Run) -> String {
    let mut items = String::new();
    for (subject, state, reason) in shared_text::subjects_without_figures(run) {
        let class = if state == "FAILED" { " class=\"failed\"" } else { "" };
        let _ = writeln!(
            items,
            "<li><b{class}>{state}</b> {}: <span class=\"soft\">{}</span></li>",
            escape(&subject.title),
            escape(reason)
        );
    }
    match items.is_empty() {
        true => items,
        false => format!(
            "<section class=\"absent\"><b>Without figures</b><ul>\n{items}</ul></section>\n"
        ),
    }
}

/// Who took part.
pub fn subjects_table(run: &Run) -> String {
    let lowered = run.subjects.iter().any(|subject| !subject.lowerings.is_empty());
    let lowerings = match lowered {
        true => "<th class=\"text\">expressed in another way than in the definition</th>",
        false => "",
    };
    let mut text = format!(
        "<div class=\"scroll\"><table><thead><tr><th class=\"text\">subject</th>\
         <th class=\"text\">library</th><th class=\"text\">options</th>{lowerings}\
         <th class=\"text\">state</th></tr></thead>\n<tbody>",
    );
    let list = |items: &[String]| {
        items.iter().map(|item| escape(item).to_string()).collect::<Vec<_>>().join("<br>")
    };
    for subject in &run.subjects {
        let lowerings = match lowered {
            true => format!("<td class=\"text\">{}</td>", list(&subject.lowerings)),
            false => String::new(),
        };
        let state = match &subject.status {
            Status::Measured if subject.bound => "measured, a bound".to_owned(),
            Status::Measured => "measured".to_owned(),
            Status::Skipped(reason) => format!("<b>skipped</b>: {}", escape(reason)),
            Status::Rejected(reason) => format!("<b>rejected</b>: {}", escape(reason)),
            Status::Failed(reason) => {
                format!("<span class=\"failed\">FAILED</span>: {}", escape(reason))
            }
        };
        let built = match subject.built.as_str() {
            "" => String::new(),
            built => format!("<span class=\"sub\">{}</span>", escape(built)),
        };
        let _ = writeln!(
            text,
            "<tr><td>{}<span class=\"sub\">{}</span></td><td class=\"text\">{}{built}<span \
             class=\"sub\">{}</span></td><td class=\"text\">{}</td>{lowerings}\
             <td class=\"text\">{state}</td></tr>",
            escape(&subject.title),
            escape(&subject.id),
            escape(&subject.library),
            escape(&subject.language),
            list(&subject.options),
        );
    }
    text + "</tbody></table></div>\n"
}

/// How it was measured, and on what.
pub fn settings_section(run: &Run) -> String {
    let settings = &run.settings;
    let epoch = format_time(settings.epoch_ns as f64);
    let how = match run.kind {
        RunKind::Bus => vec![
            ("windows that count", settings.rounds.to_string()),
            ("shortest window", epoch),
            ("seed", settings.seed.to_string()),
        ],
        _ => vec![
            ("processes", settings.processes.to_string()),
            ("rounds in each", settings.rounds.to_string()),
            ("shortest epoch", epoch),
            ("output buffers", settings.buffers.clone()),
            ("message objects", settings.objects.clone()),
            ("scratch space", settings.scratch.clone()),
            ("seed", settings.seed.to_string()),
        ],
    };
    let loaded = Some(("background", settings.background.clone()));
    let how = how.into_iter().chain(loaded.filter(|(_, load)| !load.is_empty()));
    let mut lines: Vec<(String, String)> =
        how.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    lines.extend(
        run.cases.iter().map(|case| (format!("case {}", case.id), describe_case(run, case))),
    );
    lines.extend(environment::lines(&run.environment));
    let mut text = String::from("<dl class=\"facts\">\n");
    for (name, value) in lines {
        let _ = writeln!(text, "<dt>{}</dt><dd>{}</dd>", escape(&name), escape(&value));
    }
    let pages = match run.kind {
        RunKind::Cosim => "docs/cosim.md and docs/methodology.md",
        RunKind::Chain => "docs/chain.md and docs/methodology.md",
        RunKind::Bus => "docs/bus.md and docs/methodology.md",
        _ => "docs/methodology.md",
    };
    text + &format!(
        "</dl>\n<p class=\"soft\">How each {} is called and how the statistics are made: see \
         {pages}. What the tables do not show: see docs/bias.md.</p>\n",
        subject_noun(run)
    )
}
