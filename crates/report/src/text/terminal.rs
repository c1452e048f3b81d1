//! Results as aligned plain text.

use std::iter;

use wiregauge_result::run::{Case, Run};
use wiregauge_result::run_kind::RunKind;

use crate::model::break_even::{self, BREAK_EVEN_NOTE};
use crate::model::chain;
use crate::model::changes::ComparedRows;
use crate::model::explanation;
use crate::model::footprint::{footprint_tables, FOOTPRINT_LEGEND};
use crate::model::group::{failed_transports, groups, split_head, transport_name, Group};
use crate::model::number_format::{self, format_percent, format_quantity};
use crate::model::phase::phases;
use crate::model::points::{self, ERROR_NOTE};
use crate::model::reference::{
    published_columns, single_publication_table, slopes, PublishedColumn, RankedFigure,
};
use crate::model::requirements;
use crate::model::run_labels::{intercept_label, legend, mark_subjects, select_cases};
use crate::model::shared_text::{
    self, describe_case, format_bounds, published_slopes, r_squared, singular, summary_line,
    table_legend, verdict, FLOOR,
};
use crate::model::slowest;
use crate::model::sweep::{sweeps, Curves};
use crate::model::table::{Cell, Column, Table};
use crate::text::plain_text::{
    align_changes, align_rows, align_tables as broken, clean, pad_cells, quote_command, text_width,
    wrap_lines, Align,
};

/// Wider tables are broken into several, so that a usual terminal holds them.
const WIDTH: usize = 118;

/// How many of the slowest are shown.
const SLOWEST: usize = 3;

/// Narrower terminals are not served.
const NARROWEST: usize = 40;

/// The runs one after another, in lines of at most `width` characters; if that
/// is not known, tables only are broken where they are wide.
pub fn render(runs: &[Run], width: Option<usize>) -> String {
    let columns = width.map_or(WIDTH, |width| width.max(NARROWEST));
    let texts = runs.iter().map(|run| render_run(&mark_subjects(run), columns));
    let text = texts.collect::<Vec<_>>().join("\n\n");
    match width {
        Some(_) => wrap_lines(&text, columns),
        None => text,
    }
}

fn render_run(run: &Run, width: usize) -> String {
    let mut text =
        format!("{}\n{}\n", clean(&run.title), "=".repeat(text_width(&clean(&run.title))));
    text.push_str(&format!("$ {}\n", clean(&quote_command(&run.command))));
    text.push_str(&format!("{}\n", summary_line(run)));
    for warning in &run.warnings {
        text.push_str(&format!("\nwarning: {}\n", clean(&warning.text)));
        text.push_str(&format!("         {}\n", clean(&warning.remedy)));
    }
    let required = render_requirements(run);
    if !required.is_empty() {
        text.push_str(&format!("\n{required}"));
    }
    let (cases, others) = select_cases(run);
    for case in cases {
        text.push_str(&format!("\n{}\n", case_line(run, case)));
        for note in &case.notes {
            text.push_str(&format!("  {}\n", clean(note)));
        }
        text.push_str(&tables(run, case, width));
        text.push_str(&slowest(run, case, width));
    }
    if let Some(others) = others {
        text.push_str(&format!("\n{}\n", clean(&others)));
    }
    for sweep in sweeps(run) {
        for curves in sweep.curves.iter().filter(|c| c.lines.iter().any(|l| l.fit.is_some())) {
            let title = format!("{} over {}", curves.metric, sweep.title(run));
            text.push_str(&format!("\n{}: linear fits, 95% bounds\n", clean(&title)));
            text.push_str(&fits(intercept_label(run), curves, &sweep.parameter, width));
        }
    }
    if let Some(reference) = &run.reference {
        text.push_str(&format!("\nCompared with {}\n", clean(&reference.title)));
        text.push_str(&format!("  {}\n", clean(&reference.conditions)));
        for note in &reference.notes {
            text.push_str(&format!("  {}\n", clean(note)));
        }
        if let Some(rows) = single_publication_table(run, reference, "-") {
            let clean = |row: Vec<String>| row.iter().map(|cell| clean(cell)).collect();
            let rows: Vec<Vec<String>> = rows.into_iter().map(clean).collect();
            text.push_str(&format!("\n{}", align_columns(&rows, width)));
        } else {
            for column in published_columns(run, reference) {
                text.push_str(&published(&column, width));
            }
        }
        let slopes = slopes(run, reference);
        if !slopes.is_empty() {
            let rows = published_slopes(&slopes, "-", clean);
            text.push_str(&format!("\n{}", align_columns(&rows, width)));
        }
    }
    text.push_str(&list_absent(run));
    text.push_str(&lowerings(run));
    text.push_str(&compared(run, width));
    text
}

/// The rows that are compared with each other; last, where it is seen first.
fn compared(run: &Run, width: usize) -> String {
    let Some(compared) = ComparedRows::from_run(run, clean) else { return String::new() };
    let mut text = String::from("\nOlder and newer rows\n");
    for note in &compared.notes {
        text.push_str(&format!("  {note}\n"));
    }
    if compared.rows.len() > 1 {
        text.push_str(&format!("\n{}", align_changes(&compared.rows, Some(width))));
    }
    for (title, lines) in compared.blocks.iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n{title}\n"));
        for line in lines {
            text.push_str(&format!("  {}\n", clean(line)));
        }
    }
    text
}

/// The verdicts on what was required, in lines of at most `width` characters.
pub fn verdicts(run: &Run, width: Option<usize>) -> String {
    let text = render_requirements(run);
    match width {
        Some(width) => wrap_lines(&text, width.max(NARROWEST)),
        None => text,
    }
}

/// The verdicts on what was required; empty where nothing was.
fn render_requirements(run: &Run) -> String {
    let mut text = String::new();
    for row in requirements::requirement_rows(run) {
        text.push_str(&format!(
            "{:11} {}   {} of {}\n",
            row.verdict.name().to_uppercase(),
            clean(&row.text),
            row.held,
            row.of
        ));
        for other in &row.others {
            text.push_str(&format!("            {}\n", clean(other)));
        }
    }
    text
}

/// What was measured on, in one line with its key.
pub(crate) fn case_line(run: &Run, case: &Case) -> String {
    format!("{}: {}", clean(&case.id), describe_case(run, case))
}

fn tables(run: &Run, case: &Case, width: usize) -> String {
    if run.kind == RunKind::Bus {
        return bus(run, case, width);
    }
    if let Some(tables) = chain::chain_tables(run, case) {
        return chain_text(run, case, &tables, width);
    }
    let mut text = String::new();
    let timings = Table::timings(run, case);
    if timings.is_empty() {
        return "  No subject has figures.\n".to_owned();
    }
    text.push_str(&figures(&timings, width));
    for line in table_legend(run, &timings) {
        text.push_str(&format!("  {}\n", clean(&line)));
    }
    if timings.has_floor() {
        text.push_str(&format!("  {FLOOR}\n"));
    }
    for line in legend(&[run]) {
        text.push_str(&format!("  {}\n", clean(&line)));
    }
    let sizes = Table::sizes(run, case);
    if sizes.columns.len() > 1 {
        text.push_str(&figures(&sizes, width));
    }
    if let Some(rows) = points::points_table(run, case) {
        let clean = |row: &Vec<String>| row.iter().map(|cell| clean(cell)).collect();
        let cleaned: Vec<Vec<String>> = rows.iter().map(clean).collect();
        text.push_str(&format!("\n{}", align_columns(&cleaned, width)));
        if points::is_marked(&rows) {
            text.push_str(&format!("  {ERROR_NOTE}\n"));
        }
        text.push_str(&format!("  {BREAK_EVEN_NOTE}\n"));
    }
    text.push_str(&footprint(run, case, width));
    text.push_str(&instructions(run, case, width));
    text.push_str(&explanations(run, case, width));
    text.push_str(&phase_tables(run, case, width));
    for table in
        [Table::compression, Table::main_counts, Table::robustness].map(|table| table(run, case))
    {
        if !table.is_empty() {
            text.push_str(&figures(&table, width));
        }
    }
    text
}

/// A chain or a hop of it.
fn chain_text(run: &Run, case: &Case, tables: &[chain::Rows], width: usize) -> String {
    let mut text = String::new();
    for rows in tables {
        let clean = |row: &Vec<String>| row.iter().map(|cell| clean(cell)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(clean).collect();
        text.push_str(&format!("\n{}", align_columns(&rows, width)));
    }
    if run.cases.first() == Some(case) {
        text.extend(chain::CHAIN_NOTES.map(|note| format!("  {note}\n")));
        text.push_str(&format!("  {}\n", chain::CHANGES_NOTE));
    }
    text
}

/// What codecs add to a program.
fn footprint(run: &Run, case: &Case, width: usize) -> String {
    let tables = footprint_tables(run, case);
    let mut text: String = tables.iter().map(|table| figures(table, width)).collect();
    if !tables.is_empty() {
        text.extend(FOOTPRINT_LEGEND.map(|line| format!("  {line}\n")));
    }
    text
}

/// Instructions of each experiment, and why some were not counted.
fn instructions(run: &Run, case: &Case, width: usize) -> String {
    let tables = [Table::instructions(run, case), Table::instructions_per_element(run, case)];
    let mut text = String::new();
    for table in tables.iter().filter(|table| !table.is_empty()) {
        text.push_str(&figures(table, width));
    }
    for line in shared_text::instructions_legend(run, &tables[0]) {
        text.push_str(&format!("  {}\n", clean(&line)));
    }
    text
}

/// What rows execute, and where two of them differ.
fn explanations(run: &Run, case: &Case, width: usize) -> String {
    let mut text = String::new();
    let explained = explanation::explained_metrics(run, case);
    for metric in &explained {
        if let Some(line) = &metric.difference {
            text.push_str(&format!("\n{}: {}\n", clean(&metric.metric), clean(line)));
        }
        for table in &metric.tables {
            let clean = |row: &Vec<String>| row.iter().map(|cell| clean(cell)).collect();
            let rows: Vec<Vec<String>> = table.iter().map(clean).collect();
            text.push_str(&format!("\n{}", align_columns(&rows, width)));
        }
    }
    for note in explanation::NOTES.iter().filter(|_| !explained.is_empty()) {
        text.push_str(&format!("  {note}\n"));
    }
    text
}

/// The phases of each experiment that has some.
fn phase_tables(run: &Run, case: &Case, width: usize) -> String {
    let mut text = String::new();
    for phases in phases(run, case) {
        let mut rows = vec![vec![format!("{} in phases", clean(&phases.metric))]];
        rows[0].extend(phases.names.iter().map(|name| clean(name)));
        rows[0].push("sum".to_owned());
        rows[0].extend(phases.budget.map(|_| format!("of the {}", clean(&phases.metric))));
        for row in &phases.rows {
            let part =
                |part: &Option<f64>| part.map_or("-".into(), |v| format_quantity(v, &phases.unit));
            let mut cells = vec![clean(&row.subject.title)];
            cells.extend(row.parts.iter().map(part));
            cells.push(format_quantity(row.sum(), &phases.unit));
            cells.extend(phases.share(row).map(format_percent));
            rows.push(cells);
        }
        text.push_str(&format!("\n{}", align_columns(&rows, width)));
    }
    text
}

/// The very slowest samples and steps of a case.
fn slowest(run: &Run, case: &Case, width: usize) -> String {
    let mut text = String::new();
    for table in slowest::slowest_tables(run, case) {
        let shown = table.rows.len().min(SLOWEST);
        let head = match table.rows.len() {
            all if all > shown => format!("the {shown} slowest of {all}"),
            _ => "the slowest".to_owned(),
        };
        let heads = slowest::HEADS.map(|(head, _)| head.to_owned());
        let mut rows = vec![[head, table.metric.to_owned()].into_iter().chain(heads).collect()];
        for row in &table.rows[..shown] {
            let figures = row.figures().into_iter().map(|(_, figure)| figure);
            rows.push(iter::once(clean(&row.name)).chain(figures).collect());
        }
        text.push_str(&format!("\n{}", align_columns(&rows, width)));
    }
    text
}

/// What the bus carried in a case, group by group.
fn bus(run: &Run, case: &Case, width: usize) -> String {
    let groups: Vec<Group> = groups(run, case).into_iter().map(Group::main_columns).collect();
    let mut text = String::new();
    if let Some(verdict) = verdict(run, case) {
        text.push_str(&format!("  {}\n", clean(&verdict)));
    }
    for (subject, reason) in failed_transports(run, case) {
        text.push_str(&format!("  FAILED {}: {}\n", clean(&subject.title), clean(reason)));
    }
    for group in groups.iter().filter(|group| !group.table.columns.is_empty()) {
        let mut names = vec![String::new(); 2];
        let rows = &group.table.rows;
        names.extend(rows.iter().map(|row| clean(&transport_name(run, case, row.subject))));
        names.extend(group.references.iter().map(|row| clean(&row.name)));
        let columns: Vec<Vec<String>> =
            (0..group.table.columns.len()).map(|i| group_column(group, i)).collect();
        text.push_str(&blocks(&names, &columns, width));
    }
    text.push_str(&phase_tables(run, case, width));
    if groups.iter().any(|group| group.table.columns.iter().any(|column| column.ranked)) {
        for line in table_legend(run, &Table::timings(run, case)) {
            text.push_str(&format!("  {}\n", clean(&line)));
        }
        let mut cells = groups.iter().flat_map(|group| &group.table.rows).flat_map(|r| &r.cells);
        if cells.any(|cell| cell.as_ref().is_some_and(Cell::has_too_few_samples)) {
            text.push_str("  ? too few windows to compare it with the best\n");
        }
    }
    for line in break_even::describe_rows(run, case) {
        text.push_str(&format!("  {}\n", clean(&line)));
    }
    if groups.is_empty() {
        text.push_str("  No transport has figures.\n");
    }
    text
}

/// A column of a group: its head in two lines and its cells.
fn group_column(group: &Group, place: usize) -> Vec<String> {
    let column = &group.table.columns[place];
    let (whole, part) = split_head(column);
    let mut cells: Vec<String> = match column.sampled {
        true => cells(column, group.table.rows.iter().map(|row| row.cells[place].as_ref())),
        false => {
            let cell = |row| group.text(row, place).unwrap_or_else(|| "-".to_owned());
            group.table.rows.iter().map(cell).collect()
        }
    };
    let value = |value: Option<f64>| value.map_or(String::new(), |v| group.value(v, place));
    cells.extend(group.references.iter().map(|row| value(row.cells[place])));
    [clean(whole), clean(part)].into_iter().chain(cells).collect()
}

/// A table, broken into several where it is too wide.
fn figures(table: &Table, most: usize) -> String {
    let mut names = vec![table.heading.to_owned()];
    names.extend(table.rows.iter().map(|row| {
        let title = clean(&row.subject.title);
        if row.subject.bound {
            format!("{title} (bound)")
        } else {
            title
        }
    }));
    let columns: Vec<Vec<String>> = (0..table.columns.len())
        .map(|i| column(&table.columns[i], table.rows.iter().map(|row| row.cells[i].as_ref())))
        .collect();
    blocks(&names, &columns, most)
}

/// Columns beside the names, broken into several tables where they are too
/// wide for one.
fn blocks(names: &[String], columns: &[Vec<String>], most: usize) -> String {
    let width = |column: &[String]| column.iter().map(|cell| text_width(cell)).max().unwrap_or(0);
    let mut text = String::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut used = width(names);
        let fitting = rest
            .iter()
            .take_while(|column| {
                used += 2 + width(column);
                used <= most
            })
            .count()
            .max(1);
        // What is under one head stays together, unless that alone is too wide.
        let begins = |i: usize| i > 0 && rest.get(i).is_none_or(|c| c[0] != rest[i - 1][0]);
        let fitting = (1..=fitting).rev().find(|&i| begins(i)).unwrap_or(fitting);
        let (block, after) = rest.split_at(fitting);
        let mut rows: Vec<Vec<String>> = (0..names.len())
            .map(|i| iter::once(&names[i]).chain(block.iter().map(|c| &c[i])).cloned().collect())
            .collect();
        blank_repeats(&mut rows[0]);
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        text.push_str(&format!("\n{}", align_columns(&rows, most)));
        rest = after;
    }
    text
}

/// Blanks what stands at its left already: a head over several columns.
fn blank_repeats(heads: &mut [String]) {
    for i in (1..heads.len()).rev() {
        if heads[i] == heads[i - 1] {
            heads[i].clear();
        }
    }
}

/// A column: its head and its cells.
fn column<'a>(column: &Column, of: impl Iterator<Item = Option<&'a Cell>>) -> Vec<String> {
    iter::once(clean(column.head())).chain(cells(column, of)).collect()
}

/// The cells of a column, whose parts line up.
fn cells<'a>(column: &Column, cells: impl Iterator<Item = Option<&'a Cell>>) -> Vec<String> {
    let cells: Vec<Option<&Cell>> = cells.collect();
    let part = |of: &dyn Fn(&Cell) -> String| -> Vec<String> {
        let mut part: Vec<String> =
            cells.iter().map(|cell| cell.map_or(String::new(), of)).collect();
        pad_cells(&mut part);
        part
    };
    let values = part(&|cell| format_quantity(cell.value, &column.unit));
    let margins = part(&margin);
    let ratios = part(&|cell| cell.relation().unwrap_or_default());
    let marks = part(&|cell| match cell.open && cell.rank != Some(1) {
        true if cell.has_too_few_samples() => "?".into(),
        true => "~".into(),
        false => String::new(),
    });
    let text = |i: usize| match cells[i] {
        None => "-".to_owned(),
        Some(_) => [&values[i], &margins[i], &ratios[i], &marks[i]]
            .into_iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(" "),
    };
    (0..cells.len()).map(text).collect()
}

/// The interval as ±, the larger side.
fn margin(cell: &Cell) -> String {
    let relative = |summary: &wiregauge_result::stats::Summary| {
        let margin = summary.interval?.relative(summary.median);
        margin.is_finite().then(|| number_format::format_margin(margin))
    };
    cell.summary.as_ref().and_then(relative).unwrap_or_default()
}

fn fits(fixed: &str, curves: &Curves, parameter: &str, width: usize) -> String {
    let head = ["", fixed, "", &format!("per {}", singular(parameter)), "", "R²"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for line in &curves.lines {
        let Some(fit) = &line.fit else {
            continue;
        };
        let [intercept, slope] =
            [fit.intercept, fit.slope].map(|b| format_bounds(&b, &curves.unit));
        rows.push(vec![
            clean(&line.subject.title),
            intercept.0,
            intercept.1,
            slope.0,
            slope.1,
            r_squared(fit.r_squared),
        ]);
    }
    align_columns(&rows, width)
}

fn published(column: &PublishedColumn, width: usize) -> String {
    let head = format!("{} at {}", clean(column.metric), clean(&column.case.id));
    let names =
        [head.as_str(), "published", "ratio", "rank", "measured", "ratio", "rank", "measured as"];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    let place = |place: Option<RankedFigure>| -> [String; 3] {
        let Some(place) = place else {
            return ["-", "-", "-"].map(str::to_owned);
        };
        [
            format_quantity(place.value, column.unit),
            place.relation("-"),
            place.rank.map_or("-".into(), |rank| rank.to_string()),
        ]
    };
    for row in &column.rows {
        let mut cells = vec![clean(&row.figure.name)];
        cells.extend(place(Some(row.published)));
        cells.extend(place(row.measured));
        cells.push(row.subject.map_or_else(|| row.figure.subject.clone(), |s| clean(&s.title)));
        rows.push(cells);
    }
    let mut aligns = vec![Align::Left];
    aligns.extend([Align::Right; 6]);
    aligns.push(Align::Left);
    let mut text = format!("\n{}", broken(&rows, &aligns, 1, width));
    let ranking = |names: Vec<(Option<usize>, String)>| {
        names
            .iter()
            .map(|(rank, name)| format!("{} {name}", rank.unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let ranked = |row: &&crate::model::reference::ComparedFigure| row.measured.is_some();
    let name = |row: &crate::model::reference::ComparedFigure| clean(&row.figure.name);
    let before = column.rows.iter().filter(ranked).map(|row| (row.published.rank, name(row)));
    let before = before.collect();
    let now = column
        .rows_by_measured()
        .into_iter()
        .filter(ranked)
        .map(|row| (row.measured.and_then(|place| place.rank), name(row)))
        .collect();
    text.push_str(&format!("  ranking published: {}\n", ranking(before)));
    text.push_str(&format!("  ranking measured:  {}\n", ranking(now)));
    if let Some(agreement) = column.agreement() {
        text.push_str(&format!(
            "  rank correlation of the two orders: {agreement:.2} (Spearman; 1 means the same \
             order)\n"
        ));
    }
    text
}

/// What has no figures, and why.
fn list_absent(run: &Run) -> String {
    let mut rows = Vec::new();
    for (subject, state, reason) in shared_text::subjects_without_figures(run) {
        rows.push(vec![format!("  {}", clean(&subject.title)), state.to_owned(), clean(reason)]);
    }
    match rows.is_empty() {
        true => String::new(),
        false => format!("\nWithout figures\n{}", align_rows(&rows, &[Align::Left; 3])),
    }
}

/// What formats cannot say, and how it is said instead.
fn lowerings(run: &Run) -> String {
    let mut text = String::new();
    for subject in run.subjects.iter().filter(|subject| !subject.lowerings.is_empty()) {
        text.push_str(&format!("  {}\n", clean(&subject.title)));
        for lowering in &subject.lowerings {
            text.push_str(&format!("    {}\n", clean(lowering)));
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\nExpressed in another way than in the message's definition\n{text}"),
    }
}

fn align_columns(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut aligns = vec![Align::Right; columns.max(1)];
    aligns[0] = Align::Left;
    broken(rows, &aligns, 1, width)
}
