//! A run of what makes points small: how small they become, what that takes, and what is left
//! of them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use wiregauge_gauge::rounds::Progress;
use wiregauge_gauge::runners;
use wiregauge_gauge::runners::plan::{Experiment, Plan};
use wiregauge_reduction::reduction::DecodeUnit;
use wiregauge_reduction::row::ReductionRow;
use wiregauge_result::cautions;
use wiregauge_result::run::{Fact, Run};
use wiregauge_result::run_builder::RunBuilder;

use crate::effort::Effort;

use crate::point_entrants::{entrant, PointChoice};
use crate::row_plan::finish_run;
use crate::tools;

/// How long a row may take for one answer before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is measured, and how.
pub struct PointTask {
    /// Recordings and files of points; the scene where there are none.
    pub files: Vec<PathBuf>,
    /// How many messages of each list take turns, at most.
    pub messages: usize,
    /// What of the points.
    pub choice: PointChoice,
    /// Who takes part.
    pub rows: Vec<ReductionRow>,
    /// How much.
    pub effort: Effort,
}

/// Loads the points, builds what the rows want, and measures. What speaks against the figures
/// is in the result.
///
/// # Errors
/// Those of [`PointChoice::cases`], and an interruption before anything was measured; what
/// concerns one row is its status.
pub fn measure_points(task: &PointTask, mut builder: RunBuilder, show: Progress) -> Result<Run> {
    let PointTask { files, messages, choice, rows, effort } = task;
    let (cases, points) = choice.cases(files, *messages, effort.seed)?;
    let entrants = rows.iter().map(|row| entrant(*row)).collect::<Result<Vec<_>>>()?;
    let plan = Plan {
        cases,
        entrants,
        experiments: ["encode", "decode"].map(Experiment::plain).to_vec(),
        settings: effort.settings(),
        time: effort.time(),
        patience: PATIENCE,
        most_rounds: effort.most_rounds(),
        least_iterations: 0,
        counter: None,
        squeeze: false,
        corruptions: 0,
        timed: true,
        instructions: None,
        explained: None,
    };
    let is_there =
        |row: &ReductionRow| row.shim().is_some_and(|shim| shim.missing_requirement().is_none());
    builder.watch_machine(tools::glue_versions(rows.iter().any(is_there)));
    let mut measured = runners::measure(&plan, show)?;
    builder.stop_watching();
    let weighed: Vec<(String, String)> = measured
        .facts
        .iter()
        .filter(|fact| fact.metric == "size")
        .map(|fact| (fact.case.clone(), fact.subject.clone()))
        .collect();
    for (case, id) in weighed {
        let points = plan.cases.iter().zip(&points).find(|(load, _)| load.case.id == case);
        if let (Some((_, points)), Some(row)) = (points, ReductionRow::find(&id)) {
            measured.facts.extend(facts(&case, row, *points));
        }
    }
    let warnings = std::mem::take(&mut measured.warnings);
    let mut run = finish_run(builder, "Points made small".into(), plan, measured);
    cautions::add_warnings(&mut run, warnings);
    Ok(run)
}

/// What is known of a row without measuring it.
fn facts(case: &str, row: ReductionRow, points: f64) -> [Fact; 3] {
    let fact = |metric: &str, value| Fact {
        case: case.into(),
        subject: row.id(),
        metric: metric.into(),
        unit: "1".into(),
        value,
    };
    let part = match row.decode_unit() {
        DecodeUnit::Row => 1.0,
        DecodeUnit::Block(rows) => points.min(rows as f64),
        DecodeUnit::Whole => points,
    };
    let order = f64::from(u8::from(row.keeps_order()));
    [fact("points", points), fact("order", order), fact("part", part)]
}
