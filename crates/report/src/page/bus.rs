//! A case of the bus: what arrived, how long it took, and what it cost.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};

use crate::model::curve::{at, over, shares, windows};
use crate::model::figure::{defined_as, definition, is_loss, part, place, Part};
use crate::model::group::{failed, groups, head, lossless, name, offered, without_headroom, Group};
use crate::model::kind::noun;
use crate::model::sweep::{self, Curves};
use crate::model::table::Table;
use crate::model::unit::{quantity, tick};
use crate::model::words::{case_about, verdict};
use crate::page::charts::course::{course, slowest};
use crate::page::charts::curves::lines;
use crate::page::charts::phases::phase_figures;
use crate::page::charts::samples::box_plots;
use crate::page::drawing::plot::{Axis, Line, Plot, Style};
use crate::page::drawing::scale::{fitting, ScaleKind};
use crate::page::figures::{figures, winners};
use crate::page::markup::e;

/// The section of a case. `style` gives a transport's number, which is the
/// same in all pictures of a page; `defined` is where the figures are defined.
pub fn section(run: &Run, case: &Case, style: &dyn Fn(&str) -> usize, defined: &str) -> String {
    let mut text = format!("<p>{}</p>\n", e(&case_about(run, case)));
    for note in &case.notes {
        let _ = writeln!(text, "<p>{}</p>", e(note));
    }
    if let Some(verdict) = verdict(run, case) {
        let fine = lossless(run, case).1.is_empty() && without_headroom(run, case).is_empty();
        let class = if fine { "verdict" } else { "verdict some" };
        let _ = writeln!(text, "<p class=\"{class}\">{}</p>", e(&verdict));
    }
    for (subject, reason) in failed(run, case) {
        let _ = writeln!(
            text,
            "<p><span class=\"failed\">FAILED</span> {}: <span class=\"soft\">{}</span></p>",
            e(&subject.title),
            e(reason)
        );
    }
    let groups = groups(run, case);
    if groups.is_empty() {
        return text + "<p>No transport has figures.</p>\n";
    }
    let timings = Table::timings(run, case);
    if !timings.is_empty() {
        text.push_str(&winners(run, &timings));
        text.push_str(&figures(run, &timings, false));
        text.push_str(
            "<p class=\"soft\">Median of the windows, ± its 95% interval, and the ratio to the best \
             transport of the column (green; ~ marks those that the data cannot tell from it). \
             Bars show the ratio on a logarithmic scale.</p>\n",
        );
    }
    let _ = writeln!(
        text,
        "<p class=\"soft\"><a href=\"#{defined}\">What each figure is</a>. With several receivers \
         counts are added up, and the slowest tells the times.</p>"
    );
    for group in &groups {
        text.push_str(&group_table(run, case, group));
    }
    text.push_str(&distributions(run, case, style));
    text.push_str(&slowest(run, case));
    text.push_str(&throughput(run, case, style));
    for what in ["rate", "size"] {
        text.push_str(&searches(run, case, what, style));
    }
    text.push_str(&phase_figures(run, case));
    text.push_str(&box_plots(run, &timings));
    text
}

/// Figures that are read together, as a table that sorts.
fn group_table(run: &Run, case: &Case, group: &Group) -> String {
    // What is sampled is in the first table.
    let places: Vec<usize> =
        (0..group.table.columns.len()).filter(|&i| !group.table.columns[i].sampled).collect();
    if places.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"compact group sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        group.part.title(),
        noun(run)
    );
    let two_lines = places.iter().any(|&i| !head(&group.table.columns[i]).0.is_empty());
    let mut before = "";
    for &i in &places {
        let column = &group.table.columns[i];
        let (whole, part) = head(column);
        let over = if whole == before { "" } else { whole };
        before = whole;
        let small = match two_lines {
            true => format!("<small>{}</small>", e(over)),
            false => String::new(),
        };
        let _ = write!(
            text,
            "<th data-metric=\"{}\" title=\"{}\">{small}<button type=\"button\">{}</button></th>",
            e(&column.metric),
            e(definition(&column.metric).unwrap_or_default()),
            e(part),
        );
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &group.table.rows {
        let _ = write!(
            text,
            "<tr data-subject=\"{}\"><td>{}</td>",
            e(&row.subject.id),
            e(&name(run, case, row.subject))
        );
        for &i in &places {
            let value = row.cells[i].as_ref().map(|cell| cell.value);
            let lost = is_loss(&group.table.columns[i].metric) && value.is_some_and(|v| v > 0.0);
            let class = if lost { "n failed" } else { "n" };
            let _ = write!(
                text,
                "<td class=\"{class}\" data-v=\"{}\">{}</td>",
                value.map_or(String::new(), |value| value.to_string()),
                e(&group.text(row, i).unwrap_or_else(|| "–".to_owned())),
            );
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>");
    if !group.beside.is_empty() {
        text.push_str("<tbody class=\"bounds\">\n");
        for beside in &group.beside {
            let cell = |&i: &usize| match beside.cells[i] {
                Some(value) => {
                    format!("<td class=\"n\" data-v=\"{value}\">{}</td>", e(&group.value(value, i)))
                }
                None => "<td class=\"n\" data-v=\"\"></td>".to_owned(),
            };
            let cells: String = places.iter().map(cell).collect();
            let _ = writeln!(text, "<tr><td>{}</td>{cells}</tr>", e(&beside.name));
        }
        text.push_str("</tbody>");
    }
    text + "</table></div>\n"
}

/// Cumulative distributions with a logarithmic tail, and the same in figures.
pub fn distributions(run: &Run, case: &Case, style: &dyn Fn(&str) -> usize) -> String {
    let mut text = String::new();
    for mut curves in over(run, case, "share") {
        let median = |line: &sweep::Line| at(line, 0.5).unwrap_or(f64::INFINITY);
        curves.lines.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let mut drawn: Vec<Line> = lines(&curves, "share", style);
        for (_, time) in drawn.iter_mut().flat_map(|line| &mut line.points) {
            // What is too short for the clock has a place all the same.
            *time = time.max(1.0);
        }
        let plot = Plot {
            label: format!("Distribution of {}", curves.metric),
            x: Axis { kind: ScaleKind::Nines, unit: "share" },
            below: "share of all that is within".to_owned(),
            y: Axis { kind: ScaleKind::Log, unit: &curves.unit },
            lines: drawn,
        };
        let _ = writeln!(
            text,
            "<div class=\"charts sweep\"><figure><h3>{} in full</h3>{}<figcaption>Cumulative; each \
             nine is as wide as the last, so that the tail is as plain as the middle. A share is \
             told only where at least one lies beyond it.</figcaption></figure>{}</div>",
            e(&capitalized(&curves.metric)),
            plot.draw(),
            share_table(run, case, &curves),
        );
        text.push_str(&course(run, case, &curves.metric, style));
    }
    text
}

fn share_table(run: &Run, case: &Case, curves: &Curves) -> String {
    let shares = shares(curves);
    let mut text = format!(
        "<figure><h3>{} within</h3><div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>",
        e(&capitalized(&curves.metric)),
        noun(run)
    );
    let heads = shares.iter().map(|share| tick(*share, "share"));
    for head in heads.chain(["max".to_owned()]) {
        let _ =
            write!(text, "<th data-metric=\"{head}\"><button type=\"button\">{head}</button></th>");
    }
    text.push_str("</tr></thead>\n<tbody>");
    for line in &curves.lines {
        let most = run.fact(&case.id, &line.subject.id, &format!("{}/max", curves.metric));
        let cell = |time: Option<f64>| match time {
            Some(time) => {
                format!("<td data-v=\"{time}\">{}</td>", e(&quantity(time, &curves.unit)))
            }
            None => "<td data-v=\"\">–</td>".to_owned(),
        };
        let times = shares.iter().map(|share| at(line, *share));
        let cells: String = times.chain([most]).map(cell).collect();
        let _ = writeln!(text, "<tr><td>{}</td>{cells}</tr>", e(&line.subject.title));
    }
    text + "</tbody></table></div></figure>"
}

/// The throughput of each window over time, with the load that was offered.
fn throughput(run: &Run, case: &Case, style: &dyn Fn(&str) -> usize) -> String {
    let Some(curves) = windows(run, case) else { return String::new() };
    let ends = curves.lines.iter().filter_map(|line| line.points.last());
    let end = ends.map(|point| point.0).fold(0.0, f64::max);
    let mut drawn: Vec<Line> = lines(&curves, "s", style);
    if let Some(offered) = offered(run, case) {
        drawn.push(Line {
            name: "offered",
            remark: String::new(),
            style: Style::Rule,
            hint: quantity(offered, &curves.unit),
            points: vec![(0.0, offered), (end, offered)],
            good: None,
        });
    }
    let values: Vec<f64> =
        drawn.iter().flat_map(|line| line.points.iter().map(|point| point.1)).collect();
    let (kind, axis) = fitting(&values);
    let plot = Plot {
        label: "Throughput of each window".to_owned(),
        x: Axis { kind: ScaleKind::Linear, unit: "s" },
        below: "time since the first window that counts".to_owned(),
        y: Axis { kind, unit: &curves.unit },
        lines: drawn,
    };
    format!(
        "<div class=\"charts\"><figure><h3>Throughput of each window</h3>{}<figcaption>Of several \
         receivers, the one that got least in a window.{axis}</figcaption></figure></div>\n",
        plot.draw()
    )
}

/// What a search for the headroom found.
fn searches(run: &Run, case: &Case, what: &str, style: &dyn Fn(&str) -> usize) -> String {
    let all = over(run, case, what);
    if all.is_empty() {
        return String::new();
    }
    let (unit, below) = match what {
        "rate" => ("1/s", "samples per second"),
        _ => ("B", "size of a sample"),
    };
    let mut text =
        format!("<h3>What the search for the {what} tried</h3>\n<div class=\"charts\">\n");
    for curves in &all {
        let mut drawn: Vec<Line> = lines(curves, unit, style);
        for (line, of) in drawn.iter_mut().zip(&curves.lines) {
            let found = run.fact(&case.id, &of.subject.id, &format!("headroom/{what}"));
            // Rounding must not part the found point from itself.
            let good = |limit: f64| of.points.iter().filter(|p| p.0 <= limit * 1.000_001).count();
            line.good = Some(found.map_or(0, good));
            line.remark = found.map_or("none".to_owned(), |found| tick(round(found), unit));
        }
        // What must stay within the cycle is the last hundredth.
        let judged = what == "rate" && curves.metric.ends_with("/p99");
        let cycle = judged.then(|| cycle(curves)).flatten();
        drawn.extend(cycle);
        let kind = match curves.unit.as_str() {
            "1" => ScaleKind::Counts,
            _ => ScaleKind::Log,
        };
        if kind == ScaleKind::Log {
            for (_, value) in drawn.iter_mut().flat_map(|line| &mut line.points) {
                *value = value.max(1.0);
            }
        }
        let plot = Plot {
            label: format!("{} over {what}", curves.metric),
            x: Axis { kind: ScaleKind::Log, unit: if what == "rate" { "1" } else { unit } },
            below: below.to_owned(),
            y: Axis { kind, unit: &curves.unit },
            lines: drawn,
        };
        let _ = writeln!(
            text,
            "<figure><h3>{} over {what}</h3>{}</figure>",
            e(&curves.metric),
            plot.draw()
        );
    }
    let _ = writeln!(
        text,
        "</div>\n<p class=\"soft\">Every point is a trial. The ring and the figure behind the name \
         are the headroom: the last {what} at which nothing was lost and all stayed within the \
         cycle. What is dashed lies beyond.</p>\n{}",
        tried(&all, unit, noun(run))
    );
    text
}

/// The trials of a search in figures.
fn tried(all: &[Curves], unit: &str, noun: &str) -> String {
    let mut text = format!(
        "<details><summary>All trials in figures</summary>\n<div class=\"scroll\">\
         <table class=\"fits\"><thead><tr><th class=\"text\">{noun}</th><th>tried</th>"
    );
    for curves in all {
        let _ = write!(text, "<th>{}</th>", e(&curves.metric));
    }
    text.push_str("</tr></thead>\n<tbody>");
    let mut subjects: Vec<_> = all.iter().flat_map(|c| &c.lines).map(|line| line.subject).collect();
    let mut seen = std::collections::HashSet::new();
    subjects.retain(|subject| seen.insert(&subject.id));
    for subject in subjects {
        let of = |curves: &Curves| {
            let line = curves.lines.iter().find(|line| line.subject.id == subject.id);
            line.map(|line| line.points.clone()).unwrap_or_default()
        };
        let points: Vec<Vec<(f64, f64)>> = all.iter().map(of).collect();
        let mut trials: Vec<f64> = points.iter().flatten().map(|point| point.0).collect();
        trials.sort_by(f64::total_cmp);
        trials.dedup();
        for x in trials {
            let cells: String = points
                .iter()
                .zip(all)
                .map(|(points, curves)| {
                    let value = points.iter().find(|point| point.0 == x);
                    let text = value.map_or("–".into(), |point| quantity(point.1, &curves.unit));
                    format!("<td>{}</td>", e(&text))
                })
                .collect();
            let title = e(&subject.title);
            let _ =
                writeln!(text, "<tr><td>{title}</td><td>{}</td>{cells}</tr>", quantity(x, unit));
        }
    }
    text + "</tbody></table></div></details>\n"
}

/// The time from sample to sample at each rate: what a time is held against.
fn cycle<'a>(curves: &Curves) -> Option<Line<'a>> {
    let rates = || curves.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let points = [low, high].map(|rate| (rate, 1e9 / rate)).to_vec();
    (low > 0.0 && high > low).then_some(Line {
        name: "the cycle",
        remark: String::new(),
        style: Style::Rule,
        hint: "1 ÷ rate".to_owned(),
        points,
        good: None,
    })
}

/// Three significant digits, as the search is no nearer.
fn round(value: f64) -> f64 {
    let scale = 10f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 2.0);
    (value / scale).round() * scale
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// What the figures of the run are, in the order of the tables.
pub fn definitions(run: &Run) -> Vec<(&'static str, &'static str)> {
    let counted = run.facts.iter().map(|fact| fact.metric.as_str());
    let mut metrics: Vec<&str> = counted.chain(run.metrics()).collect();
    metrics.retain(|metric| part(metric) != Part::Other);
    metrics.sort_by_key(|metric| place(metric));
    let defined = |metric: &&str| Some((defined_as(metric)?, definition(metric)?));
    let mut definitions: Vec<_> = metrics.iter().filter_map(defined).collect();
    definitions.dedup();
    definitions
}
