//! Results as one page: no other file, no request, complete without scripts.
//!
//! The pictures are SVG made here rather than by a plotting crate, since those
//! write colours into each shape: here text stays text and every colour is a
//! CSS variable, so that one picture serves light, dark and print.

mod bars;
mod box_plot;
mod bus;
mod chart;
mod course;
mod curves;
mod markup;
mod plot;
mod ranking;
mod scale;

use std::fmt::Write;

use wiregauge_gauge::run::{Case, Run, Status};
use wiregauge_gauge::stats::Bounds;

use crate::environment;
use crate::kind::{fixed_part, legend as daggers, marked, noun, shown};
use crate::phase::{phases, Phases};
use crate::reference::{beside, of_one, slopes, Beside, Place};
use crate::required;
use crate::sweep::{sweeps, Curves, Sweep};
use crate::table::{describe, Cell, Column, Row, Table};
use crate::terminal::{
    bounded, case_about, published_slopes, r_squared, singular, summary_line, FLOOR,
};
use crate::text::command;
use crate::unit::{self, percent, quantity, ratio, time};
use markup::e;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Fills that differ by more than colour: plain, hatched one way, the other
/// way, dotted, plain in another colour.
const PATTERNS: &str = r#"<svg class="patterns" aria-hidden="true"><defs>
<pattern id="hatch-1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" style="fill:var(--p1)"/><rect width="2" height="6" style="fill:var(--paper)"/></pattern>
<pattern id="hatch-2" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" style="fill:var(--p2)"/><rect width="1" height="6" style="fill:var(--paper)"/></pattern>
<pattern id="hatch-3" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--p3)"/><circle cx="2.5" cy="2.5" r="1" style="fill:var(--paper)"/></pattern>
</defs></svg>"#;

/// Outcomes of corrupted input that make a reader unsafe.
const UNSAFE: [&str; 3] = ["corrupt/crashed", "corrupt/hung", "corrupt/unbounded"];

/// The runs one after another on one page, with a table of contents.
pub fn render(runs: &[Run]) -> String {
    let title = match runs {
        [run] => run.title.clone(),
        runs => format!("{} runs", runs.len()),
    };
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{PATTERNS}\n",
        e(&title)
    );
    let runs: Vec<Run> = runs.iter().map(marked).collect();
    let pages: Vec<Page> = runs.iter().enumerate().map(|(i, run)| Page::new(i + 1, run)).collect();
    if runs.len() > 1 {
        page.push_str("<nav aria-label=\"Runs\"><ul>\n");
        for part in &pages {
            let title = e(&part.run.title);
            let _ = writeln!(
                page,
                "<li class=\"run-title\"><a href=\"#r{}\">{title}</a></li>{}",
                part.number,
                part.contents()
            );
        }
        page.push_str("</ul></nav>\n");
    }
    for part in &pages {
        page.push_str(&part.render(runs.len() == 1));
    }
    let _ = write!(page, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    page
}

/// One run on the page.
struct Page<'a> {
    number: usize,
    run: &'a Run,
    sections: Vec<Section>,
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
        let (cases, others) = shown(run);
        let defined = format!("r{number}-figures");
        for case in cases {
            let body = match run.kind.as_str() {
                "bus" => bus::section(run, case, &style(run), &defined),
                _ => case_section(run, case),
            };
            page.add(&case.id, body);
        }
        for sweep in sweeps(run) {
            let mut body = sweep_section(run, &sweep);
            if let Some(others) = others.as_ref().filter(|_| sweep.parameter != "kB") {
                let _ = writeln!(body, "<p>{}</p>", e(others));
            }
            page.add(&format!("Over {}", sweep.title(run)), body);
        }
        if let Some(reference) = &run.reference {
            let mut body = format!("<p><b>{}</b></p>", e(&reference.title));
            let _ = write!(body, "<p>{}</p>", e(&reference.conditions));
            for note in &reference.notes {
                let _ = write!(body, "<p>{}</p>", e(note));
            }
            if let Some(rows) = of_one(run, reference, "–") {
                body.push_str(&plain_table(&rows));
            } else {
                for column in beside(run, reference) {
                    body.push_str(&published(&column));
                }
            }
            let slopes = slopes(run, reference);
            if !slopes.is_empty() {
                body.push_str("<h3>Slopes</h3>\n");
                body.push_str(&plain_table(&published_slopes(&slopes, "–", |text| text.into())));
            }
            page.add("Beside the reference", body);
        }
        if run.kind == "bus" {
            page.add("What the figures are", definitions(run, &defined));
        }
        page.add("Subjects", subjects(run));
        page.add("Environment and settings", setting(run));
        page
    }

    fn add(&mut self, title: &str, body: String) {
        let id = format!("r{}-{}", self.number, self.sections.len() + 1);
        self.sections.push(Section { id, title: title.to_owned(), body });
    }

    fn contents(&self) -> String {
        let link = |s: &Section| format!("<li><a href=\"#{}\">{}</a></li>", s.id, e(&s.title));
        self.sections.iter().map(link).collect()
    }

    fn render(&self, alone: bool) -> String {
        let run = self.run;
        let mut text = format!(
            "<article class=\"run\" id=\"r{}\">\n<header>\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n\
             <pre class=\"command\">{}</pre>\n",
            self.number,
            e(&run.title),
            e(&summary_line(run)),
            e(&command(&run.command)),
        );
        if !run.warnings.is_empty() {
            text.push_str("<section class=\"warnings\" aria-label=\"Warnings\"><ul>\n");
            for warning in &run.warnings {
                let _ = writeln!(
                    text,
                    "<li><b>Warning:</b> {} <span class=\"soft\">{}</span></li>",
                    e(&warning.text),
                    e(&warning.remedy)
                );
            }
            text.push_str("</ul></section>\n");
        }
        text.push_str(&required(run));
        text.push_str(&absent(run));
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
                e(&section.title),
                section.body
            );
        }
        text + "</article>\n"
    }
}

/// The verdicts on what was required, a line each.
fn required(run: &Run) -> String {
    let rows = required::rows(run);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "<section class=\"required\" aria-label=\"Requirements\"><ul>\n".to_owned();
    for row in rows {
        let _ = write!(
            text,
            "<li><b class=\"{}\">{}</b> {} <span class=\"soft\">holds of {} of {}</span>",
            row.verdict.word().replace(' ', "-"),
            row.verdict.word(),
            e(&row.text),
            row.held,
            row.of
        );
        for other in &row.others {
            let _ = write!(text, "<br><span class=\"soft\">{}</span>", e(other));
        }
        text.push_str("</li>\n");
    }
    text + "</ul></section>\n"
}

/// Numbers of the subjects, from which pictures take colour and marker: each
/// keeps its own on all of a page.
fn style(run: &Run) -> impl Fn(&str) -> usize + '_ {
    |id: &str| {
        let mut others = run.subjects.iter().filter(|subject| !subject.bound);
        others.position(|subject| subject.id == id).unwrap_or(0)
    }
}

/// What the figures of a bus are.
fn definitions(run: &Run, id: &str) -> String {
    let mut text = format!("<dl class=\"facts\" id=\"{id}\">\n");
    for (name, is) in bus::definitions(run) {
        let _ = writeln!(text, "<dt>{}</dt><dd>{}</dd>", e(name), e(is));
    }
    text + "</dl>\n<p class=\"soft\">p50, p90 … are the times that this share of all samples stays \
            within. How each figure comes about is told in docs/bus.md.</p>\n"
}

/// What has no figures, and why.
fn absent(run: &Run) -> String {
    let mut items = String::new();
    for subject in &run.subjects {
        let (state, reason) = match &subject.status {
            Status::Measured => continue,
            Status::Skipped(reason) => ("skipped", reason),
            Status::Rejected(reason) => ("rejected", reason),
            Status::Failed(reason) => ("FAILED", reason),
        };
        let class = if state == "FAILED" { " class=\"failed\"" } else { "" };
        let _ = writeln!(
            items,
            "<li><b{class}>{state}</b> {}: <span class=\"soft\">{}</span></li>",
            e(&subject.title),
            e(reason)
        );
    }
    match items.is_empty() {
        true => items,
        false => format!(
            "<section class=\"absent\"><b>Without figures</b><ul>\n{items}</ul></section>\n"
        ),
    }
}

fn case_section(run: &Run, case: &Case) -> String {
    let mut text = format!("<p>{}</p>\n", e(&case_about(run, case)));
    for (name, path) in [("fixed", &case.fixed), ("element", &case.element)] {
        if let Some(path) = path {
            let _ = writeln!(
                text,
                "<p class=\"soft\"><b>{name}</b> reads <code>{}</code></p>",
                e(path)
            );
        }
    }
    for note in &case.notes {
        let _ = writeln!(text, "<p>{}</p>", e(note));
    }
    let timings = Table::timings(run, case);
    if timings.is_empty() {
        return text + "<p>No subject has figures.</p>\n";
    }
    let noun = noun(run);
    text.push_str(&winners(run, &timings));
    text.push_str(&figures(run, &timings, false));
    let _ = writeln!(
        text,
        "<p class=\"soft\">Median of the process medians, ± its 95% interval, and the ratio to the \
         best {noun} of the column (green; ~ marks those that the data cannot tell from it). Bars \
         show the ratio on a logarithmic scale. Bounds are no {noun}s: they show what the harness \
         and a plain copy cost.</p>",
    );
    let floor = timings.has_floor().then_some(FLOOR);
    for line in floor.into_iter().chain(daggers(run)) {
        let _ = writeln!(text, "<p class=\"soft\">{line}.</p>");
    }
    text.push_str(&box_plots(run, &timings));
    text.push_str(&phase_figures(run, case));
    text.push_str(&bus::distributions(run, case, &style(run)));
    text.push_str(&course::slowest(run, case));
    let sizes = Table::sizes(run, case);
    if !sizes.is_empty() {
        let names: Vec<String> = sizes.columns.iter().map(|c| size_name(&c.metric)).collect();
        let _ = writeln!(
            text,
            "<h3>Sizes</h3>\n<div class=\"charts\"><figure>{}{}</figure><div>{}</div></div>",
            legend(&names),
            bars::sizes(&sizes),
            figures(run, &sizes, true),
        );
    }
    let others = [
        (
            "Compression",
            Table::compression(run, case),
            "Taken beside the rounds, in one process: the times of the compressors and not of the codecs.",
        ),
        ("Counted", Table::main_counts(run, case), ""),
        (
            "Corrupted input",
            Table::robustness(run, case),
            "Messages with flipped bits, cut ends and lengths set to extremes: how many the decoder \
             rejected, took for the same or for different values, crashed or hung at, or asked for \
             memory without bound. A reader that does one of the last three is unsafe.",
        ),
    ];
    text.push_str("<div class=\"charts\">\n");
    for (title, table, about) in others.iter().filter(|(_, table, _)| !table.is_empty()) {
        let table = figures(run, table, true);
        let _ = writeln!(text, "<div><h3>{title}</h3>\n{table}<p class=\"soft\">{about}</p></div>");
    }
    text + "</div>\n"
}

/// The samples of each experiment.
fn box_plots(run: &Run, timings: &Table) -> String {
    if timings.columns.iter().all(|column| !column.sampled) {
        return String::new();
    }
    let mut text = String::from("<h3>Samples</h3>\n<div class=\"charts\">\n");
    for (i, column) in timings.columns.iter().enumerate().filter(|(_, c)| c.sampled) {
        let (svg, log) = box_plot::box_plot(timings, i);
        let axis = if log { ", logarithmic axis" } else { "" };
        let _ = writeln!(
            text,
            "<figure><h3>{}</h3>{svg}<figcaption>{}{axis}</figcaption></figure>",
            e(&column.metric),
            describe(run, &column.metric).unwrap_or("one box a subject"),
        );
    }
    text + "</div>\n"
}

/// The phases of each experiment that has some.
fn phase_figures(run: &Run, case: &Case) -> String {
    let phases = phases(run, case);
    if phases.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h3>Phases</h3>\n<div class=\"charts\">\n");
    let mut tables = String::new();
    for phases in &phases {
        let mut legend = legend(&phases.names);
        let mut caption = String::new();
        if let Some(budget) = phases.budget {
            let time = quantity(budget, &phases.unit);
            match bars::far(phases) {
                None => {
                    legend.truncate(legend.len() - "</div>".len());
                    let _ = write!(
                        legend,
                        "<span><i class=\"rule\"></i>the {} of {}</span></div>",
                        e(&phases.metric),
                        e(&time)
                    );
                }
                Some(times) => {
                    let _ = write!(
                        caption,
                        "<figcaption>The {} of {} is {} the longest.</figcaption>",
                        e(&phases.metric),
                        e(&time),
                        ratio(times)
                    );
                }
            }
        }
        let _ = writeln!(
            text,
            "<figure><h3>{}</h3>{legend}{}{caption}</figure>",
            e(&phases.metric),
            bars::stacked(phases),
        );
        if run.kind == "bus" {
            tables.push_str(&phase_table(noun(run), phases));
        }
    }
    text + "</div>\n" + &tables + &phase_boxes(run, case)
}

/// Phases in figures, and what share of the budget they take together.
fn phase_table(noun: &str, phases: &Phases) -> String {
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{noun}</button></th>"
    );
    let share = phases.budget.map(|_| format!("of the {}", phases.metric));
    for name in phases.names.iter().chain([&"sum".to_owned()]).chain(&share) {
        let name = e(name);
        let _ =
            write!(text, "<th data-metric=\"{name}\"><button type=\"button\">{name}</button></th>");
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &phases.rows {
        let _ = write!(text, "<tr><td>{}</td>", e(&row.subject.title));
        for time in row.parts.iter().copied().chain([Some(row.sum())]) {
            let figure = time.map_or("–".to_owned(), |time| quantity(time, &phases.unit));
            let value = time.map_or(String::new(), |time| time.to_string());
            let _ = write!(text, "<td data-v=\"{value}\">{}</td>", e(&figure));
        }
        if let Some(share) = phases.share(row) {
            let _ = write!(text, "<td data-v=\"{share}\">{}</td>", percent(share));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div>"
}

/// The samples of each phase, folded away where phases are a side matter.
fn phase_boxes(run: &Run, case: &Case) -> String {
    let table = Table::phases(run, case);
    let open = if run.kind == "cosim" { " open" } else { "" };
    let mut text = format!(
        "<details{open}><summary>Samples of each phase</summary>\n<div class=\"charts\">\n"
    );
    for (i, column) in table.columns.iter().enumerate() {
        let (svg, log) = box_plot::box_plot(&table, i);
        let axis = if log { "logarithmic axis" } else { "" };
        let _ = writeln!(
            text,
            "<figure><h3>{}</h3>{svg}<figcaption>{axis}</figcaption></figure>",
            e(&column.metric)
        );
    }
    text + "</div></details>\n"
}

fn size_name(metric: &str) -> String {
    metric.strip_prefix("size/").unwrap_or("as encoded").to_owned()
}

/// The best of each column.
fn winners(run: &Run, table: &Table) -> String {
    let mut text = format!("<dl class=\"best-of {}\">\n", e(&run.kind));
    for (i, column) in table.columns.iter().enumerate() {
        let winners = table.winners(i);
        let Some((subject, cell)) = winners.first() else {
            continue;
        };
        let what = if column.sampled { "fastest" } else { "smallest" };
        let _ = write!(
            text,
            "<div><dt>{} · {what}</dt><dd>{}</dd><dd>{}</dd>",
            e(&column.metric),
            e(&quantity(cell.value, &column.unit)),
            e(&subject.title),
        );
        let (few, level): (Vec<_>, Vec<_>) = winners[1..].iter().partition(|(_, c)| c.too_few());
        for (words, others) in [("level with", level), ("too few windows to tell from", few)] {
            let others: Vec<&str> = others.iter().map(|(s, _)| s.title.as_str()).collect();
            if !others.is_empty() {
                let others = e(&others.join(", ")).to_string();
                let _ = write!(text, "<dd class=\"more\">{words} {others}</dd>");
            }
        }
        text.push_str("</div>\n");
    }
    text + "</dl>\n"
}

/// A table that sorts when its heads are clicked. A compact one goes without
/// libraries and bars.
fn figures(run: &Run, table: &Table, compact: bool) -> String {
    let class = if compact { "compact" } else { "figures" };
    let kind = e(&run.kind);
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"{class} {kind} sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        noun(run)
    );
    for column in &table.columns {
        let about = describe(run, &column.metric).filter(|_| column.sampled);
        let about = about.map_or(String::new(), |about| format!("<small>{about}</small>"));
        let _ = write!(
            text,
            "<th data-metric=\"{}\"><button type=\"button\">{}</button>{about}</th>",
            e(&column.metric),
            e(column.metric.strip_prefix("corrupt/").unwrap_or(&column.metric))
                .to_string()
                .replace('/', "/<wbr>"),
        );
    }
    text.push_str("</tr></thead>\n");
    let largest: Vec<f64> = (0..table.columns.len())
        .map(|i| table.cells(i).filter_map(|(_, cell)| cell.ratio).fold(1.0, f64::max))
        .collect();
    for (class, bound) in [("codecs", false), ("bounds", true)] {
        let _ = writeln!(text, "<tbody class=\"{class}\">");
        for row in table.rows.iter().filter(|row| row.subject.bound == bound) {
            text.push_str(&table_row(row, &table.columns, &largest, compact));
        }
        text.push_str("</tbody>");
    }
    text + "</table></div>\n"
}

fn table_row(row: &Row, columns: &[Column], largest: &[f64], compact: bool) -> String {
    let subject = row.subject;
    let mut text = format!(
        "<tr data-subject=\"{}\"><td data-v=\"{1}\">{1}",
        e(&subject.id),
        e(&subject.title)
    );
    if !compact {
        let parts = [subject.language.as_str(), &subject.library];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = write!(text, "<span class=\"sub\">{}</span>", e(&parts.join(" · ")));
    }
    text.push_str("</td>");
    for ((cell, column), largest) in row.cells.iter().zip(columns).zip(largest) {
        match cell {
            None => text.push_str("<td class=\"n\" data-v=\"\">–</td>"),
            Some(cell) => {
                let largest = (!compact).then_some(*largest);
                text.push_str(&table_cell(&subject.title, cell, column, largest));
            }
        }
    }
    text + "</tr>\n"
}

/// A cell; without the largest ratio of its column it is a compact one.
fn table_cell(title: &str, cell: &Cell, column: &Column, largest: Option<f64>) -> String {
    let best = column.ranked && cell.rank == Some(1);
    let unsafe_reader = cell.value > 0.0 && UNSAFE.contains(&column.metric.as_str());
    let class = if unsafe_reader {
        " failed"
    } else if best {
        " best"
    } else if cell.open && largest.is_some() {
        " open"
    } else {
        ""
    };
    let mut hint = match &cell.summary {
        Some(summary) => box_plot::hint(title, &column.unit, summary),
        None => String::new(),
    };
    if let (Some(times), Some(interval)) = (cell.ratio, cell.ratio_interval) {
        let _ = write!(
            hint,
            "; {} the best, {} to {}",
            ratio(times),
            ratio(interval.low),
            ratio(interval.high)
        );
    }
    let mut text = format!(
        "<td class=\"n{class}\" data-v=\"{}\" title=\"{}\"><span class=\"value\">{}</span>",
        cell.value,
        e(&hint),
        e(&quantity(cell.value, &column.unit)),
    );
    let related = column.ranked && (largest.is_some() || !column.sampled);
    if let Some(relation) = cell.relation().filter(|_| related) {
        let mark = if cell.open && !best { "~ " } else { "" };
        let _ = write!(text, "<span class=\"ratio\">{mark}{relation}</span>");
    }
    let Some(largest) = largest else {
        return text + "</td>";
    };
    if let Some(interval) = cell.summary.as_ref().and_then(|summary| summary.interval) {
        let margin = interval.relative(cell.value);
        let of_ratio = cell.ratio_interval.map_or(String::new(), |interval| {
            format!(" · {}–{}", ratio(interval.low), ratio(interval.high))
        });
        if margin.is_finite() {
            let _ = write!(text, "<span class=\"sub\">{}{of_ratio}</span>", unit::margin(margin));
        }
    }
    if let Some(times) = cell.ratio.filter(|_| largest > 1.0) {
        let width = (100.0 * times.max(1.0).ln() / largest.ln()).clamp(1.5, 100.0);
        let _ = write!(text, "<span class=\"bar\"><i style=\"--w:{width:.1}%\"></i></span>");
    }
    text + "</td>"
}

/// Names beside the fills of the bars.
fn legend(names: &[String]) -> String {
    let mut text = String::from("<div class=\"legend\">");
    for (i, name) in names.iter().enumerate() {
        let _ = write!(
            text,
            "<span><svg viewBox=\"0 0 22 11\" aria-hidden=\"true\"><rect class=\"p{}\" width=\"22\" \
             height=\"11\"/></svg>{}</span>",
            i % bars::FILLS,
            e(name)
        );
    }
    text + "</div>"
}

fn sweep_section(run: &Run, sweep: &Sweep) -> String {
    let mut text = format!(
        "<p>{}. The lines are fitted by least squares of the relative residuals (weights 1/y²), \
         the bounds hold with 95% by Student's t.</p>\n",
        e(&sweep.message)
    );
    for curves in &sweep.curves {
        let _ = writeln!(
            text,
            "<div class=\"charts sweep\"><figure><h3>{} over {}</h3>{}</figure>{}</div>",
            e(&curves.metric),
            e(&sweep.parameter),
            curves::curves(curves, &sweep.parameter, style(run)),
            fits(run, curves, &sweep.parameter),
        );
    }
    text
}

fn fits(run: &Run, curves: &Curves, parameter: &str) -> String {
    if curves.lines.iter().all(|line| line.fit.is_none()) {
        return String::new();
    }
    let mut text = format!(
        "<figure><h3>Linear fits</h3><div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>\
         <th data-metric=\"intercept\"><button type=\"button\">{}</button></th>\
         <th>95% bounds</th>\
         <th data-metric=\"slope\"><button type=\"button\">per {}</button></th>\
         <th>95% bounds</th>\
         <th data-metric=\"r2\"><button type=\"button\">R²</button></th></tr></thead>\n<tbody>",
        noun(run),
        fixed_part(run),
        e(&singular(parameter))
    );
    for line in &curves.lines {
        let Some(fit) = &line.fit else {
            continue;
        };
        let cell = |bounds: &Bounds| {
            let (value, range) = bounded(bounds, &curves.unit);
            format!(
                "<td data-v=\"{}\">{}</td><td class=\"soft\">{}</td>",
                bounds.value,
                e(&value),
                e(&range)
            )
        };
        let _ = writeln!(
            text,
            "<tr><td>{}</td>{}{}<td data-v=\"{}\">{}</td></tr>",
            e(&line.subject.title),
            cell(&fit.intercept),
            cell(&fit.slope),
            fit.r_squared,
            r_squared(fit.r_squared),
        );
    }
    text + "</tbody></table></div></figure>"
}

/// A table whose first row is its head.
fn plain_table(rows: &[Vec<String>]) -> String {
    let mut text = String::from("<div class=\"scroll\"><table class=\"fits\">");
    for (i, row) in rows.iter().enumerate() {
        let cell = if i == 0 { "th" } else { "td" };
        let cells: String =
            row.iter().map(|text| format!("<{cell}>{}</{cell}>", e(text))).collect();
        let _ = writeln!(text, "<tr>{cells}</tr>");
    }
    text + "</table></div>\n"
}

fn published(column: &Beside) -> String {
    let mut text = format!(
        "<h3>{} at {}</h3>\n<div class=\"charts beside\"><div class=\"scroll\"><table class=\"fits sortable\">\
         <thead><tr><th class=\"text\"><button type=\"button\">published · measured as</button></th>",
        e(column.metric),
        e(&column.case.id)
    );
    for side in ["published", "measured"] {
        for (key, name) in [("", side), ("-ratio", "ratio"), ("-rank", "rank")] {
            let _ = write!(
                text,
                "<th data-metric=\"{side}{key}\"><button type=\"button\">{name}</button></th>"
            );
        }
    }
    text.push_str("</tr></thead>\n<tbody>");
    let place = |place: Option<Place>, deviation: Option<f64>| {
        let Some(place) = place else {
            return "<td data-v=\"\">–</td>".repeat(3);
        };
        let deviation = deviation.map_or(String::new(), |deviation| {
            format!("<span class=\"sub\">s.d. {}</span>", e(&quantity(deviation, column.unit)))
        });
        let rank = place.rank.map_or(String::new(), |rank| rank.to_string());
        format!(
            "<td data-v=\"{}\">{}{deviation}</td><td data-v=\"{}\">{}</td><td data-v=\"{rank}\">{}</td>",
            place.value,
            e(&quantity(place.value, column.unit)),
            place.ratio.map_or(String::new(), |times| times.to_string()),
            place.relation("–"),
            if rank.is_empty() { "–" } else { &rank },
        )
    };
    for row in &column.rows {
        let title = row.subject.map_or(&row.figure.subject, |subject| &subject.title);
        let _ = writeln!(
            text,
            "<tr><td>{}<span class=\"sub\">{}</span></td>{}{}</tr>",
            e(&row.figure.name),
            e(title),
            place(Some(row.published), row.figure.deviation),
            place(row.measured, None),
        );
    }
    let agreement = column.agreement().map_or(String::new(), |agreement| {
        format!("The two orders agree by {agreement:.2} (Spearman; 1 is the same).")
    });
    let _ = writeln!(
        text,
        "</tbody></table></div><figure>{}<figcaption>{agreement}</figcaption></figure></div>",
        ranking::ranking(column)
    );
    text
}

fn subjects(run: &Run) -> String {
    let lowered = run.subjects.iter().any(|subject| !subject.lowerings.is_empty());
    let lowerings = match lowered {
        true => "<th class=\"text\">said in another way than the definition does</th>",
        false => "",
    };
    let mut text = format!(
        "<div class=\"scroll\"><table><thead><tr><th class=\"text\">subject</th>\
         <th class=\"text\">library</th><th class=\"text\">options</th>{lowerings}\
         <th class=\"text\">state</th></tr></thead>\n<tbody>",
    );
    let list = |items: &[String]| {
        items.iter().map(|item| e(item).to_string()).collect::<Vec<_>>().join("<br>")
    };
    for subject in &run.subjects {
        let lowerings = match lowered {
            true => format!("<td class=\"text\">{}</td>", list(&subject.lowerings)),
            false => String::new(),
        };
        let state = match &subject.status {
            Status::Measured if subject.bound => "measured, a bound".to_owned(),
            Status::Measured => "measured".to_owned(),
            Status::Skipped(reason) => format!("<b>skipped</b>: {}", e(reason)),
            Status::Rejected(reason) => format!("<b>rejected</b>: {}", e(reason)),
            Status::Failed(reason) => {
                format!("<span class=\"failed\">FAILED</span>: {}", e(reason))
            }
        };
        let built = match subject.built.as_str() {
            "" => String::new(),
            built => format!("<span class=\"sub\">{}</span>", e(built)),
        };
        let _ = writeln!(
            text,
            "<tr><td>{}<span class=\"sub\">{}</span></td><td class=\"text\">{}{built}<span \
             class=\"sub\">{}</span></td><td class=\"text\">{}</td>{lowerings}\
             <td class=\"text\">{state}</td></tr>",
            e(&subject.title),
            e(&subject.id),
            e(&subject.library),
            e(&subject.language),
            list(&subject.options),
        );
    }
    text + "</tbody></table></div>\n"
}

fn setting(run: &Run) -> String {
    let settings = &run.settings;
    let epoch = time(settings.epoch_ns as f64);
    let how = match run.kind.as_str() {
        "bus" => vec![
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
    let mut lines: Vec<(String, String)> =
        how.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    lines.extend(run.cases.iter().map(|case| (format!("case {}", case.id), case_about(run, case))));
    lines.extend(environment::lines(&run.environment));
    let mut text = String::from("<dl class=\"facts\">\n");
    for (name, value) in lines {
        let _ = writeln!(text, "<dt>{}</dt><dd>{}</dd>", e(&name), e(&value));
    }
    let pages = match run.kind.as_str() {
        "cosim" => "docs/cosim.md and docs/methodology.md",
        "bus" => "docs/bus.md and docs/methodology.md",
        _ => "docs/methodology.md",
    };
    text + &format!(
        "</dl>\n<p class=\"soft\">How each {} is driven and how the statistics are made is told \
         in {pages}, what the tables cannot tell in docs/bias.md.</p>\n",
        noun(run)
    )
}
