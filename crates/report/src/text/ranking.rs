//! Several results held against each other, as text, Markdown and JSON.

use serde::Serialize;

use crate::model::ranking::experiment_ranking::ExperimentRanking;
use crate::model::ranking::Ranking;
use crate::model::ranking_text::{
    describe_reference, describe_result, exchanged_lines, format_cell, format_spread, legend,
};
use crate::text::markdown;
use crate::text::plain_text::{
    self, align_rows, align_tables, clean, text_width, wrap_lines, Align,
};
use crate::text::ResultFormat;

/// Wider tables are broken into several.
const WIDTH: usize = 118;

/// A ranking in a form; none where there is no such form of it. Lines of a table have at most
/// so many characters.
pub fn render(ranking: &Ranking, form: ResultFormat, width: Option<usize>) -> Option<String> {
    match form {
        ResultFormat::Table => Some(render_terminal(ranking, width)),
        ResultFormat::Md => Some(render_markdown(ranking)),
        ResultFormat::Json => Some(render_json(ranking)),
        ResultFormat::Csv => None,
    }
}

/// The conclusion, what may not be concluded, and a table for each experiment, as aligned plain
/// text.
pub fn render_terminal(ranking: &Ranking, width: Option<usize>) -> String {
    let title = ranking.title();
    let mut text = format!("{title}\n{}\n", "=".repeat(text_width(&title)));
    text.push_str(&format!("{}\n\n", clean(&ranking.conclusion)));
    let results: Vec<Vec<String>> = ranking
        .results
        .iter()
        .map(|result| vec![clean(&result.name), clean(&describe_result(result))])
        .collect();
    text.push_str(&align_rows(&results, &[Align::Left; 2]));
    let mut block = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            lines.iter().for_each(|line| text.push_str(&format!("  {}\n", clean(line))));
        }
    };
    block("Limits of this comparison", &ranking.limits);
    block("Missing", &ranking.absent);
    let mut case = "";
    for experiment in &ranking.experiments {
        if experiment.case != case {
            case = &experiment.case;
            text.push_str(&format!("\n{}: {}\n", clean(case), ranking.describe_case(case)));
        }
        text.push_str(&format!(
            "\n{}: {}\n",
            clean(&experiment.metric),
            clean(&experiment.conclusion)
        ));
        text.push_str(&format!("  {}\n", clean(&describe_reference(experiment))));
        let rows = table_rows(experiment, clean);
        let mut aligns = vec![Align::Right; rows[0].len()];
        aligns[0] = Align::Left;
        text.push_str(&align_tables(&rows, &aligns, 1, width.unwrap_or(WIDTH)));
        for line in exchanged_lines(experiment) {
            text.push_str(&format!("  {}\n", clean(&line)));
        }
    }
    text.push('\n');
    legend(ranking).iter().for_each(|line| text.push_str(&format!("{}\n", clean(line))));
    width.map_or(text.clone(), |width| wrap_lines(&text, width))
}

/// The same as Markdown.
pub fn render_markdown(ranking: &Ranking) -> String {
    let escape = markdown::escape;
    let mut text = format!("# {}\n\n**{}**\n\n", ranking.title(), escape(&ranking.conclusion));
    for result in &ranking.results {
        text.push_str(&format!(
            "- {}: {}\n",
            escape(&result.name),
            escape(&describe_result(result))
        ));
    }
    let mut block = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n"));
            lines.iter().for_each(|line| text.push_str(&format!("- {}\n", escape(line))));
        }
    };
    block("Limits of this comparison", &ranking.limits);
    block("Missing", &ranking.absent);
    for experiment in &ranking.experiments {
        let (case, metric) = (escape(&experiment.case), escape(&experiment.metric));
        let about = escape(ranking.describe_case(&experiment.case));
        text.push_str(&format!("\n## {metric} at {case}\n\n{about}\n\n"));
        text.push_str(&format!("**{}**\n\n", escape(&experiment.conclusion)));
        text.push_str(&format!("{}\n", escape(&describe_reference(experiment))));
        text.push_str(&markdown::table(&table_rows(experiment, escape)));
        let lines = exchanged_lines(experiment).into_iter();
        let lines: Vec<String> = lines.map(|line| format!("- {}\n", escape(&line))).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n{}", lines.concat()));
        }
    }
    text.push('\n');
    legend(ranking).iter().for_each(|line| text.push_str(&format!("- {}\n", escape(line))));
    text
}

/// The ranking for scripts.
pub fn render_json(ranking: &Ranking) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        format: &'static str,
        version: u32,
        #[serde(flatten)]
        ranking: &'a Ranking,
    }
    plain_text::to_json(&Document { format: "wiregauge.ranking", version: 1, ranking })
}

/// The table of an experiment, head first.
fn table_rows(experiment: &ExperimentRanking, name: fn(&str) -> String) -> Vec<Vec<String>> {
    let mut rows = vec![vec![name(&experiment.metric)]];
    rows[0].extend(experiment.results.iter().map(|result| name(result)));
    rows[0].extend(["mean", "least…most"].map(String::from));
    for row in &experiment.rows {
        let mark = if row.exchanged { " ⇄" } else { "" };
        let mut cells = vec![format!("{}{mark}", name(&row.title))];
        cells.extend(row.cells.iter().map(|cell| name(&format_cell(experiment, row, cell))));
        let (mean, spread) = format_spread(row);
        cells.extend([mean, spread]);
        rows.push(cells);
    }
    rows
}
