//! Results as one page: no other file, no request, complete without scripts.
//!
//! The pictures are SVG made here rather than by a plotting crate, since those
//! write colours into each shape: here text stays text and every colour is a
//! CSS variable, so that one picture serves light, dark and print.

mod bus;
mod case;
mod chain;
mod chart;
mod charts;
mod drawing;
pub mod facts_page;
mod figures;
mod frame;
mod markup;
mod published;
mod ranking;
mod run_facts;
mod sweep;

use std::fmt::Write;

use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::model::changes::ComparedRows;
use crate::model::ranking::named_result::NamedResult;
use crate::model::ranking::Ranking;
use crate::model::reference::{published_columns, single_publication_table, slopes};
use crate::model::requirements;
use crate::model::run_labels::{mark_subjects, select_cases};
use crate::model::shared_text::{published_slopes, summary_line};
use crate::model::sweep::sweeps;
use crate::text::plain_text::quote_command;
use figures::plain_table;
use frame::frame;
use markup::escape;
use run_facts::{absent_section, settings_section, subjects_table};

/// The runs one after another on one page, with a table of contents.
pub fn render(runs: &[Run]) -> String {
    let title = match runs {
        [run] => run.title.clone(),
        runs => format!("{} runs", runs.len()),
    };
    let runs: Vec<Run> = runs.iter().map(mark_subjects).collect();
    render_parts(&title, None, &runs)
}

/// Several results held against each other, and each of them below.
pub fn render_ranking(ranking: &Ranking, results: &[NamedResult]) -> String {
    let named = |result: &NamedResult| {
        let title = format!("{}: {}", result.name, result.run.title);
        Run { title, ..mark_subjects(&result.run) }
    };
    let runs: Vec<Run> = results.iter().map(named).collect();
    render_parts(&ranking.title(), Some(ranking), &runs)
}

/// Runs with marked subjects, and their ranking before them.
fn render_parts(title: &str, ranking: Option<&Ranking>, runs: &[Run]) -> String {
    let mut page = String::new();
    let pages: Vec<Page> = runs.iter().enumerate().map(|(i, run)| Page::new(i + 1, run)).collect();
    if runs.len() > 1 {
        page.push_str("<nav aria-label=\"Runs\"><ul>\n");
        page.push_str(&ranking.map_or(String::new(), ranking::contents));
        for part in &pages {
            let title = escape(&part.run.title);
            let _ = writeln!(
                page,
                "<li class=\"run-title\"><a href=\"#r{}\">{title}</a></li>{}",
                part.number,
                part.contents()
            );
        }
        page.push_str("</ul></nav>\n");
    }
    page.push_str(&ranking.map_or(String::new(), ranking::section));
    for part in &pages {
        page.push_str(&part.render(runs.len() == 1));
    }
    frame(title, &page)
}

/// One run on the page.
struct Page<'a> {
    number: usize,
    run: &'a Run,
    sections: Vec<Section>,
}

/// The rows that are compared with each other.
fn compared_section(compared: &ComparedRows) -> String {
    let mut body = String::new();
    for note in &compared.notes {
        let _ = write!(body, "<p>{}</p>", escape(note));
    }
    if compared.rows.len() > 1 {
        body.push_str(&plain_table(&compared.rows));
    }
    for (title, lines) in compared.blocks.iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = write!(body, "<h3>{}</h3>\n<ul>", escape(title));
        for line in lines {
            let _ = write!(body, "<li>{}</li>", escape(line));
        }
        body.push_str("</ul>\n");
    }
    body
}

/// A part of a run with a heading.
struct Section {
    id: String,
    title: String,
    body: String,
}

impl<'a> Page<'a> {
    fn new(number: usize, run: &'a Run) -> Page<'a> {
        let mut page = Page { number, run, sections: Vec::new() };
        if let Some(compared) = ComparedRows::from_run(run, str::to_owned) {
            page.add("Older and newer rows", compared_section(&compared));
        }
        let (cases, others) = select_cases(run);
        let defined = format!("r{number}-figures");
        for case in cases {
            let body = match run.kind {
                RunKind::Bus => bus::section(run, case, &defined),
                RunKind::Chain => chain::section(run, case),
                _ => case::section(run, case),
            };
            page.add(&case.id, body);
        }
        for sweep in sweeps(run) {
            let mut body = sweep::section(run, &sweep);
            if let Some(others) = others.as_ref().filter(|_| sweep.parameter != "kB") {
                let _ = writeln!(body, "<p>{}</p>", escape(others));
            }
            page.add(&format!("Over {}", sweep.title(run)), body);
        }
        if let Some(reference) = &run.reference {
            let mut body = format!("<p><b>{}</b></p>", escape(&reference.title));
            let _ = write!(body, "<p>{}</p>", escape(&reference.conditions));
            for note in &reference.notes {
                let _ = write!(body, "<p>{}</p>", escape(note));
            }
            if let Some(rows) = single_publication_table(run, reference, "–") {
                body.push_str(&plain_table(&rows));
            } else {
                for column in published_columns(run, reference) {
                    body.push_str(&published::published(run, &column));
                }
            }
            let slopes = slopes(run, reference);
            if !slopes.is_empty() {
                body.push_str("<h3>Slopes</h3>\n");
                body.push_str(&plain_table(&published_slopes(&slopes, "–", |text| text.into())));
            }
            page.add("Compared with the publication", body);
        }
        if run.kind == RunKind::Bus {
            page.add("What the figures are", definitions(run, &defined));
        }
        page.add("Subjects", subjects_table(run));
        page.add("Environment and settings", settings_section(run));
        page
    }

    fn add(&mut self, title: &str, body: String) {
        let id = format!("r{}-{}", self.number, self.sections.len() + 1);
        self.sections.push(Section { id, title: title.to_owned(), body });
    }

    fn contents(&self) -> String {
        let link = |s: &Section| format!("<li><a href=\"#{}\">{}</a></li>", s.id, escape(&s.title));
        self.sections.iter().map(link).collect()
    }

    fn render(&self, alone: bool) -> String {
        let run = self.run;
        let mut text = format!(
            "<article class=\"run\" id=\"r{}\">\n<header>\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n\
             <pre class=\"command\">{}</pre>\n",
            self.number,
            escape(&run.title),
            escape(&summary_line(run)),
            escape(&quote_command(&run.command)),
        );
        if !run.warnings.is_empty() {
            text.push_str("<section class=\"warnings\" aria-label=\"Warnings\"><ul>\n");
            for warning in &run.warnings {
                let _ = writeln!(
                    text,
                    "<li><b>Warning:</b> {} <span class=\"soft\">{}</span></li>",
                    escape(&warning.text),
                    escape(&warning.remedy)
                );
            }
            text.push_str("</ul></section>\n");
        }
        text.push_str(&render_requirements(run));
        text.push_str(&absent_section(run));
        if alone {
            let _ =
                writeln!(text, "<nav aria-label=\"Contents\"><ul>{}</ul></nav>", self.contents());
        }
        text.push_str("</header>\n");
        for section in &self.sections {
            let _ = writeln!(
                text,
                "<section id=\"{}\">\n<h2>{}</h2>\n{}</section>",
                section.id,
                escape(&section.title),
                section.body
            );
        }
        text + "</article>\n"
    }
}

/// The verdicts on what was required, a line each.
fn render_requirements(run: &Run) -> String {
    let rows = requirements::requirement_rows(run);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "<section class=\"required\" aria-label=\"Requirements\"><ul>\n".to_owned();
    for row in rows {
        let _ = write!(
            text,
            "<li><b class=\"{}\">{}</b> {} <span class=\"soft\">holds for {} of {}</span>",
            row.verdict.name().replace(' ', "-"),
            row.verdict.name(),
            escape(&row.text),
            row.held,
            row.of
        );
        for other in &row.others {
            let _ = write!(text, "<br><span class=\"soft\">{}</span>", escape(other));
        }
        text.push_str("</li>\n");
    }
    text + "</ul></section>\n"
}

/// What the figures of a bus are.
fn definitions(run: &Run, id: &str) -> String {
    let mut text = format!("<dl class=\"facts\" id=\"{id}\">\n");
    for (name, is) in bus::definitions(run) {
        let _ = writeln!(text, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(is));
    }
    text +
        "</dl>\n<p class=\"soft\">p50, p90 and so on: this share of all samples takes at most this \
         time. docs/bus.md explains how each figure is made.</p>\n"
}
