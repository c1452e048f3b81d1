//! Results as Markdown tables.

use wiregauge_result::run::{Case, Run};
use wiregauge_result::run_kind::RunKind;

use crate::model::break_even::{self, BREAK_EVEN_NOTE};
use crate::model::chain;
use crate::model::changes::ComparedRows;
use crate::model::curve::{find_curves, shares, value_at};
use crate::model::explanation;
use crate::model::footprint::{footprint_tables, FOOTPRINT_LEGEND};
use crate::model::group::{failed_transports, groups, split_head, transport_name, Group};
use crate::model::number_format::{self, format_percent, format_quantity, format_tick};
use crate::model::phase::phases;
use crate::model::points::{self, ERROR_NOTE};
use crate::model::reference::{
    published_columns, single_publication_table, slopes, PublishedColumn, RankedFigure,
};
use crate::model::requirements;
use crate::model::run_labels::{
    intercept_label, legend, mark_subjects, select_cases, subject_noun,
};
use crate::model::shared_text::{
    self, describe_case, format_bounds, published_slopes, r_squared, singular, summary_line,
    table_legend, verdict, FLOOR,
};
use crate::model::sweep::sweeps;
use crate::model::table::{Cell, Column, Table};
use crate::text::plain_text::{clean, quote_command};

/// The runs one after another, with a table of contents if there are several.
pub fn render(runs: &[Run]) -> String {
    let mut text = String::new();
    if runs.len() > 1 {
        for (i, run) in runs.iter().enumerate() {
            text.push_str(&format!("{}. {}\n", i + 1, escape(&run.title)));
        }
        text.push('\n');
    }
    let runs: Vec<String> = runs.iter().map(|run| render_run(&mark_subjects(run))).collect();
    text + &runs.join("\n")
}

/// The verdicts on what was required; empty where nothing was.
fn render_requirements(run: &Run) -> String {
    let rows = requirements::requirement_rows(run);
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        "\n## Requirements\n\n| | verdict | holds for | others |\n|---|---|--:|---|\n".to_owned();
    for row in rows {
        let (required, others) = (escape(&row.text), escape(&row.others.join("; ")));
        let (word, held, of) = (row.verdict.name(), row.held, row.of);
        text.push_str(&format!("| {required} | **{word}** | {held} of {of} | {others} |\n"));
    }
    text
}

/// The rows that are compared with each other.
fn compared(run: &Run) -> String {
    let Some(compared) = ComparedRows::from_run(run, escape) else { return String::new() };
    let mut text = String::from("\n## Older and newer rows\n\n");
    for note in &compared.notes {
        text.push_str(&format!("- {}\n", escape(note)));
    }
    if compared.rows.len() > 1 {
        text.push_str(&table(&compared.rows));
    }
    for (title, lines) in compared.blocks.iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n{}:\n\n", escape(title)));
        for line in lines {
            text.push_str(&format!("- {}\n", escape(line)));
        }
    }
    text
}

fn render_run(run: &Run) -> String {
    let mut text = format!("# {}\n\n", escape(&run.title));
    text.push_str(&format!(
        "```sh\n{}\n```\n\n",
        clean(&quote_command(&run.command)).replace("```", "")
    ));
    text.push_str(&format!("{}\n", escape(&summary_line(run))));
    for warning in &run.warnings {
        let (what, remedy) = (escape(&warning.text), escape(&warning.remedy));
        text.push_str(&format!("\n> **Warning:** {what}\n> {remedy}\n"));
    }
    text.push_str(&render_requirements(run));
    text.push_str(&compared(run));
    let (cases, others) = select_cases(run);
    for case in cases {
        text.push_str(&format!(
            "\n## {}\n\n{}\n",
            escape(&case.id),
            escape(&describe_case(run, case))
        ));
        for note in &case.notes {
            text.push_str(&format!("\n{}\n", escape(note)));
        }
        text.push_str(&tables(run, case));
    }
    if let Some(others) = others {
        text.push_str(&format!("\n{}\n", escape(&others)));
    }
    for sweep in sweeps(run) {
        for curves in sweep.curves.iter().filter(|c| c.lines.iter().any(|l| l.fit.is_some())) {
            let (metric, over) = (escape(&curves.metric), escape(&sweep.title(run)));
            text.push_str(&format!("\n## {metric} over {over}\n"));
            let per = format!("per {}", escape(&singular(&sweep.parameter)));
            let mut rows =
                vec![[subject_noun(run), intercept_label(run), "95%", &per, "95%", "R²"]
                    .map(String::from)
                    .to_vec()];
            for line in &curves.lines {
                let Some(fit) = &line.fit else {
                    continue;
                };
                let [a, b] = [fit.intercept, fit.slope].map(|b| format_bounds(&b, &curves.unit));
                let title = escape(&line.subject.title);
                rows.push(vec![title, a.0, a.1, b.0, b.1, r_squared(fit.r_squared)]);
            }
            text.push_str(&table(&rows));
        }
    }
    if let Some(reference) = &run.reference {
        text.push_str(&format!("\n## Compared with {}\n\n", escape(&reference.title)));
        text.push_str(&format!("{}\n", escape(&reference.conditions)));
        for note in &reference.notes {
            text.push_str(&format!("\n{}\n", escape(note)));
        }
        if let Some(rows) = single_publication_table(run, reference, "–") {
            let escape = |row: Vec<String>| row.iter().map(|cell| escape(cell.trim())).collect();
            text.push_str(&table(&rows.into_iter().map(escape).collect::<Vec<_>>()));
        } else {
            for column in published_columns(run, reference) {
                text.push_str(&published(&column));
            }
        }
        let slopes = slopes(run, reference);
        if !slopes.is_empty() {
            text.push_str(&table(&published_slopes(&slopes, "–", escape)));
        }
    }
    text.push_str(&list_absent(run));
    text.push_str(&lowerings(run));
    text
}

fn tables(run: &Run, case: &Case) -> String {
    if run.kind == RunKind::Bus {
        return bus(run, case);
    }
    if let Some(tables) = chain::chain_tables(run, case) {
        let escape = |row: &Vec<String>| row.iter().map(|cell| escape(cell.trim())).collect();
        let tables = tables.iter().map(|rows| table(&rows.iter().map(escape).collect::<Vec<_>>()));
        let notes = chain::CHAIN_NOTES.into_iter().chain([chain::CHANGES_NOTE]);
        let notes = notes.filter(|_| run.cases.first() == Some(case));
        return tables.collect::<String>() + &legend_list(notes.map(str::to_owned));
    }
    let timings = Table::timings(run, case);
    if timings.is_empty() {
        return "\nNo subject has figures.\n".to_owned();
    }
    let mut text = figures(run, &timings);
    let floor = timings.has_floor().then(|| FLOOR.to_owned());
    let marks = table_legend(run, &timings).into_iter().chain(floor).chain(legend(&[run]));
    text.push_str(&legend_list(marks));
    let sizes = Table::sizes(run, case);
    if sizes.columns.len() > 1 {
        text.push_str(&figures(run, &sizes));
    }
    if let Some(rows) = points::points_table(run, case) {
        let escape = |row: &Vec<String>| row.iter().map(|cell| escape(cell)).collect();
        text.push_str(&table(&rows.iter().map(escape).collect::<Vec<_>>()));
        if points::is_marked(&rows) {
            text.push_str(&format!("\n{}.\n", ERROR_NOTE));
        }
        text.push_str(&format!("\n{BREAK_EVEN_NOTE}.\n"));
    }
    let footprint = footprint_tables(run, case);
    for table in &footprint {
        text.push_str(&figures(run, table));
    }
    if !footprint.is_empty() {
        text.push_str(&legend_list(FOOTPRINT_LEGEND.map(str::to_owned).into_iter()));
    }
    let counted = [Table::instructions(run, case), Table::instructions_per_element(run, case)];
    for table in counted.iter().filter(|table| !table.is_empty()) {
        text.push_str(&figures(run, table));
    }
    let lines = shared_text::instructions_legend(run, &counted[0]);
    if !lines.is_empty() {
        text.push_str(&legend_list(lines.into_iter()));
    }
    text.push_str(&explanations(run, case));
    text.push_str(&phase_tables(run, case));
    for counted in
        [Table::compression, Table::main_counts, Table::robustness].map(|table| table(run, case))
    {
        if !counted.is_empty() {
            text.push_str(&figures(run, &counted));
        }
    }
    text
}

/// What rows execute, and where two of them differ.
fn explanations(run: &Run, case: &Case) -> String {
    let mut text = String::new();
    let explained = explanation::explained_metrics(run, case);
    for metric in &explained {
        text.push_str(&format!("\n### Why {} takes what it takes\n", escape(&metric.metric)));
        text.extend(metric.difference.iter().map(|line| format!("\n{}.\n", escape(line))));
        for rows in &metric.tables {
            let escape = |row: &Vec<String>| row.iter().map(|cell| escape(cell)).collect();
            text.push_str(&table(&rows.iter().map(escape).collect::<Vec<_>>()));
        }
    }
    if !explained.is_empty() {
        text.push_str(&legend_list(explanation::NOTES.iter().map(|note| (*note).to_owned())));
    }
    text
}

/// What the marks of a table mean, as a list.
fn legend_list(lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("- {}\n", escape(&line))).collect();
    format!("\n{lines}")
}

/// The phases of each experiment that has some.
fn phase_tables(run: &Run, case: &Case) -> String {
    let mut text = String::new();
    for phases in phases(run, case) {
        let mut head = vec![format!("{} in phases", escape(&phases.metric))];
        head.extend(phases.names.iter().map(|name| escape(name)));
        head.push("sum".to_owned());
        head.extend(phases.budget.map(|_| format!("of the {}", escape(&phases.metric))));
        let mut rows = vec![head];
        for row in &phases.rows {
            let part = |part: &Option<f64>| {
                part.map_or("–".into(), |v| format_quantity(v, &phases.unit))
            };
            let mut cells = vec![escape(&row.subject.title)];
            cells.extend(row.parts.iter().map(part));
            cells.push(format_quantity(row.sum(), &phases.unit));
            cells.extend(phases.share(row).map(format_percent));
            rows.push(cells);
        }
        text.push_str(&table(&rows));
    }
    text
}

/// What the bus carried in a case, group by group.
fn bus(run: &Run, case: &Case) -> String {
    let groups: Vec<Group> = groups(run, case).into_iter().map(Group::main_columns).collect();
    let mut text = String::new();
    if let Some(verdict) = verdict(run, case) {
        text.push_str(&format!("\n{}\n", escape(&verdict)));
    }
    for (subject, reason) in failed_transports(run, case) {
        text.push_str(&format!("\n**Failed** {}: {}\n", escape(&subject.title), escape(reason)));
    }
    if groups.is_empty() {
        text.push_str("\nNo transport has figures.\n");
    }
    for group in groups.iter().filter(|group| !group.table.columns.is_empty()) {
        text.push_str(&group_table(run, case, group));
    }
    text.push_str(&phase_tables(run, case));
    if groups.iter().any(|group| group.table.columns.iter().any(|column| column.ranked)) {
        text.push_str(&legend_list(table_legend(run, &Table::timings(run, case)).into_iter()));
    }
    for line in break_even::describe_rows(run, case) {
        text.push_str(&format!("\n{}.\n", escape(&line)));
    }
    text.push_str(&distributions(run, case));
    text
}

fn group_table(run: &Run, case: &Case, group: &Group) -> String {
    let columns = &group.table.columns;
    let mut heads = vec![escape(group.part.title())];
    heads.extend(columns.iter().map(|column| match split_head(column) {
        ("", name) => escape(name),
        (whole, part) => escape(&format!("{whole} {part}")),
    }));
    let mut rows = vec![heads];
    for row in &group.table.rows {
        let cell = |i: usize| match columns[i].sampled {
            true => figure(&row.cells[i], &columns[i]),
            false => group.text(row, i).unwrap_or_else(|| "–".to_owned()),
        };
        let title = escape(&transport_name(run, case, row.subject));
        rows.push([title].into_iter().chain((0..columns.len()).map(cell)).collect());
    }
    for beside in &group.references {
        let cell = |i: usize| beside.cells[i].map_or(String::new(), |v| group.value(v, i));
        let title = format!("*{}*", escape(&beside.name));
        rows.push([title].into_iter().chain((0..columns.len()).map(cell)).collect());
    }
    table(&rows)
}

/// Each distribution as a table of the times that shares stay within.
fn distributions(run: &Run, case: &Case) -> String {
    let mut text = String::new();
    for curves in find_curves(run, case, "share") {
        let shares = shares(&curves);
        let mut heads = vec![format!("{} within", escape(&curves.metric))];
        heads.extend(shares.iter().map(|share| format_tick(*share, "share")));
        let mut rows = vec![heads];
        for line in &curves.lines {
            let time = |share: &f64| {
                value_at(line, *share)
                    .map_or("–".to_owned(), |time| format_quantity(time, &curves.unit))
            };
            let title = escape(&line.subject.title);
            rows.push([title].into_iter().chain(shares.iter().map(time)).collect());
        }
        text.push_str(&table(&rows));
    }
    text
}

fn figures(run: &Run, figures: &Table) -> String {
    let mut head = vec![match figures.heading {
        "" => subject_noun(run).to_owned(),
        heading => heading.to_owned(),
    }];
    head.extend(figures.columns.iter().map(|column| escape(column.head())));
    let mut rows = vec![head];
    for row in &figures.rows {
        let title = escape(&row.subject.title);
        let mut cells = vec![if row.subject.bound { format!("*{title}* (bound)") } else { title }];
        cells.extend(row.cells.iter().zip(&figures.columns).map(|(cell, c)| figure(cell, c)));
        rows.push(cells);
    }
    table(&rows)
}

fn figure(cell: &Option<Cell>, column: &Column) -> String {
    let Some(cell) = cell else {
        return "–".to_owned();
    };
    let value = format_quantity(cell.value, &column.unit);
    let best = cell.rank == Some(1) && column.ranked;
    let mut text = if best { format!("**{value}**") } else { value };
    if let Some(interval) = cell.summary.as_ref().and_then(|summary| summary.interval) {
        let margin = interval.relative(cell.value);
        if margin.is_finite() {
            text.push_str(&format!(" {}", number_format::format_margin(margin)));
        }
    }
    if let Some(relation) = cell.relation().filter(|_| column.ranked) {
        let mark = match cell.open && !best {
            true if cell.has_too_few_samples() => " ?",
            true => " ~",
            false => "",
        };
        text.push_str(&format!(" ({relation}{mark})"));
    }
    text
}

fn published(column: &PublishedColumn) -> String {
    let head = format!("{} at {}", escape(column.metric), escape(&column.case.id));
    let names = [&head, "published", "ratio", "rank", "measured", "ratio", "rank", "measured as"];
    let mut rows = vec![names.map(String::from).to_vec()];
    let place = |place: Option<RankedFigure>| -> [String; 3] {
        let Some(place) = place else {
            return ["–", "–", "–"].map(String::from);
        };
        [
            format_quantity(place.value, column.unit),
            place.relation("–"),
            place.rank.map_or("–".into(), |rank| rank.to_string()),
        ]
    };
    for row in &column.rows {
        let mut cells = vec![escape(&row.figure.name)];
        cells.extend(place(Some(row.published)));
        cells.extend(place(row.measured));
        let title = row.subject.map_or(&row.figure.subject, |subject| &subject.title);
        cells.push(escape(title));
        rows.push(cells);
    }
    let mut text = table(&rows);
    if let Some(agreement) = column.agreement() {
        text.push_str(&format!(
            "\nRank correlation of the two orders: {agreement:.2} (Spearman; 1 means the same \
             order).\n"
        ));
    }
    text
}

fn list_absent(run: &Run) -> String {
    let mut rows = vec![["without figures", "", "why"].map(String::from).to_vec()];
    for subject in &run.subjects {
        let Some((state, reason)) = subject.status.absence() else { continue };
        let state = if state == "failed" { "**failed**" } else { state };
        rows.push(vec![escape(&subject.title), state.to_owned(), escape(reason)]);
    }
    if rows.len() > 1 {
        table(&rows)
    } else {
        String::new()
    }
}

fn lowerings(run: &Run) -> String {
    let mut text = String::new();
    for subject in &run.subjects {
        for lowering in &subject.lowerings {
            text.push_str(&format!("- {}: {}\n", escape(&subject.title), escape(lowering)));
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\nExpressed in another way than in the message's definition:\n\n{text}"),
    }
}

/// A table whose first row is its head; all columns but the first are numbers.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
    let mut text = String::from("\n");
    for (i, row) in rows.iter().enumerate() {
        text.push_str(&line(row));
        if i == 0 {
            let rule = row.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "--:" });
            text.push_str(&line(&rule.map(String::from).collect()));
        }
    }
    text
}

/// Text that Markdown takes literally.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in clean(text).chars() {
        if "\\`*_[]<>|#~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
