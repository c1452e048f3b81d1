//! Several results held against each other, at the head of their page.

use std::fmt::Write;

use crate::model::ranking::experiment_ranking::{ExperimentRanking, RankedCell};
use crate::model::ranking::Ranking;
use crate::model::ranking_text::{
    describe_reference, describe_result, exchanged_lines, format_cell, format_spread, legend,
};
use crate::page::chart;
use crate::page::markup::escape;

/// Where the part is on the page.
pub const ID: &str = "ranking";

/// A link to the part and its sections, as entries of a list.
pub fn contents(ranking: &Ranking) -> String {
    let link = |(i, experiment): (usize, &ExperimentRanking)| {
        format!("<li><a href=\"#{ID}-{i}\">{}</a></li>", escape(&heading(ranking, experiment)))
    };
    let links: String = ranking.experiments.iter().enumerate().map(link).collect();
    let title = escape(&ranking.title()).to_string();
    format!("<li class=\"run-title\"><a href=\"#{ID}\">{title}</a></li>{links}\n")
}

/// The conclusion, what may not be concluded, and a section for each experiment.
pub fn section(ranking: &Ranking) -> String {
    let is_sure = ranking.experiments.iter().all(|one| one.exchanged_rows() == 0);
    let class = if is_sure { "verdict" } else { "verdict some" };
    let mut text = format!(
        "<article class=\"run\" id=\"{ID}\">\n<header>\n<h1>{}</h1>\n<p class=\"{class}\">{}</p>\n\
         <dl class=\"facts\">\n",
        escape(&ranking.title()),
        escape(&ranking.conclusion)
    );
    for result in &ranking.results {
        let _ = writeln!(
            text,
            "<dt>{}</dt><dd>{}</dd>",
            escape(&result.name),
            escape(&describe_result(result))
        );
    }
    text.push_str("</dl>\n");
    text.push_str(&list("warnings", "Limits of this comparison", &ranking.limits));
    text.push_str(&list("absent", "Missing", &ranking.absent));
    text.push_str("</header>\n");
    for (i, experiment) in ranking.experiments.iter().enumerate() {
        let _ = writeln!(
            text,
            "<section id=\"{ID}-{i}\">\n<h2>{}</h2>\n<p class=\"soft\">{}</p>\n{}</section>",
            escape(&heading(ranking, experiment)),
            escape(ranking.describe_case(&experiment.case)),
            experiment_section(experiment)
        );
    }
    for line in legend(ranking) {
        let _ = writeln!(text, "<p class=\"soft\">{}.</p>", escape(&line));
    }
    text + "</article>\n"
}

/// The experiment, and its case where there are several.
fn heading(ranking: &Ranking, experiment: &ExperimentRanking) -> String {
    match ranking.experiments.iter().any(|other| other.case != experiment.case) {
        true => format!("{} at {}", experiment.metric, experiment.case),
        false => experiment.metric.clone(),
    }
}

fn list(class: &str, title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    format!("<section class=\"{class}\"><b>{title}</b><ul>\n{items}</ul></section>\n")
}

fn experiment_section(experiment: &ExperimentRanking) -> String {
    let class = if experiment.exchanged_rows() == 0 { "verdict" } else { "verdict some" };
    let mut text = format!("<p class=\"{class}\">{}</p>\n", escape(&experiment.conclusion));
    let _ = writeln!(
        text,
        "{}{}<p class=\"soft\">{}.</p>",
        chart::ranking_charts(experiment),
        table(experiment),
        escape(&describe_reference(experiment)),
    );
    let lines = exchanged_lines(experiment).into_iter();
    let lines: String = lines.map(|line| format!("<li>{}</li>\n", escape(&line))).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "<ul>\n{lines}</ul>");
    }
    text
}

/// The ratios, as a table that sorts.
fn table(experiment: &ExperimentRanking) -> String {
    let mut text = "<div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
                    <th class=\"text\"><button type=\"button\">codec</button></th>"
        .to_owned();
    let heads = experiment.results.iter().map(String::as_str).chain(["mean", "least…most"]);
    for head in heads {
        let _ = write!(
            text,
            "<th data-metric=\"{0}\"><button type=\"button\">{0}</button></th>",
            escape(head)
        );
    }
    text.push_str("</tr></thead>\n<tbody>");
    for row in &experiment.rows {
        let mark = if row.exchanged { " ⇄" } else { "" };
        let class = if row.exchanged { " class=\"exchanged\"" } else { "" };
        let _ = write!(
            text,
            "<tr data-subject=\"{}\"{class}><td>{}{mark}</td>",
            escape(&row.subject),
            escape(&row.title)
        );
        let sorted = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for cell in &row.cells {
            let _ = write!(
                text,
                "<td data-v=\"{}\">{}</td>",
                sorted(RankedCell::ratio(cell)),
                escape(&format_cell(experiment, row, cell))
            );
        }
        let (mean, spread) = format_spread(row);
        let wide = row.spread.map(|spread| spread.most / spread.least);
        let _ = writeln!(
            text,
            "<td data-v=\"{}\">{mean}</td><td data-v=\"{}\">{spread}</td></tr>",
            sorted(row.spread.map(|spread| spread.mean)),
            sorted(wide)
        );
    }
    text + "</tbody></table></div>\n"
}
