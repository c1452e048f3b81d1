//! A run of codecs: their runners are built, and measured on a workload.

use std::path::Path;

use anyhow::{bail, Result};
use wiregauge_build_tools::toolchain::Target;
use wiregauge_build_tools::{default_build_folder, Need, Progress as BuildProgress, Toolchain};
use wiregauge_formats::build::{build_allocation_counter, Variant};
use wiregauge_formats::Codec;
use wiregauge_gauge::rounds::Progress;
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_instructions::Emulator;
use wiregauge_result::run::{Fact, Reference, Run, Settings};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_system::interrupt;

use crate::codec_selection::{self, CodecEntrants, UserRunner};
use crate::compared_rows::CompareOptions;
use crate::explained_rows;
use crate::footprint;
use crate::libraries;
use crate::older_rows::OlderRun;
use crate::row_options::RowOptions;
use crate::row_plan::{RowPlan, Sampling};
use crate::runner_copies::RunnerCopies;
use crate::workload::Workload;

/// The experiments in the order of the table; phases stand with their whole.
const EXPERIMENTS: [&str; 12] = [
    "encode",
    "encode/populate",
    "encode/write",
    "decode",
    "decode/parse",
    "decode/extract",
    "decode/checked",
    "project",
    "project/checked",
    "fixed",
    "element",
    "verify",
];

/// All experiments.
pub fn experiments() -> Vec<Experiment> {
    EXPERIMENTS.iter().map(|name| Experiment::plain(name)).collect()
}

/// Of these experiments those of these names; all where none is named.
///
/// # Errors
/// When there is no such experiment.
pub fn select_experiments(mut all: Vec<Experiment>, names: &[String]) -> Result<Vec<Experiment>> {
    if names.is_empty() {
        return Ok(all);
    }
    for name in names {
        if !all.iter().any(|experiment| experiment.metric == *name) {
            let known: Vec<&str> = all.iter().map(|e| e.metric.as_str()).collect();
            bail!("unknown experiment '{name}'; choose from {}", known.join(", "));
        }
    }
    all.retain(|experiment| names.contains(&experiment.metric));
    Ok(all)
}

/// What is measured.
pub struct Task {
    /// One line that says what.
    pub title: String,
    /// The message and its values.
    pub workload: Workload,
    /// Who takes part.
    pub codecs: Vec<&'static Codec>,
    /// What is measured of each.
    pub experiments: Vec<Experiment>,
    /// Messages that each cell must have processed at least, unless it is to be quick.
    pub least_iterations: u64,
    /// Published figures to show beside the measured ones.
    pub reference: Option<Reference>,
    /// What follows from the samples.
    pub derive: fn(&Run) -> Vec<Fact>,
    /// Whether what codecs add to a program is measured, and nothing else.
    pub is_footprint: bool,
    /// Which rows are compared with each other.
    pub compare: CompareOptions,
}

/// How it is measured.
pub struct MeasureOptions {
    /// How rows are built. Those that are built for a target are executed by an emulator, which
    /// counts their instructions.
    pub rows: RowOptions,
    /// Runners of the user's own.
    pub runners: Vec<UserRunner>,
    /// How samples are taken.
    pub sampling: Sampling,
    /// The rows of which it is explained where they execute instructions; then these are
    /// counted.
    pub explained: Vec<String>,
}

/// What compiles the counter of allocations.
const CC: Need = Need::Program("cc", "build-essential");

/// Builds the runners and measures. What speaks against the figures is in the result.
///
/// # Errors
/// What concerns all rows, or an interruption before anything was measured; what concerns one
/// row is its status.
pub fn measure(
    mut task: Task,
    options: MeasureOptions,
    builder: RunBuilder,
    show: Progress,
) -> Result<Run> {
    let MeasureOptions { rows, runners, sampling, explained } = options;
    let message = &task.workload.schema.root().name.original;
    let older = task.compare.against.as_deref().map(|path| OlderRun::read(path, message));
    let older = older.transpose()?;
    task.workload.set_small_array(rows.small_array);
    let folder = default_build_folder()?;
    let stoppable = |what: &str, done: usize, total: usize| {
        show(what, done, total);
        interrupt::check().map_err(Into::into)
    };
    let mut variants = rows.libraries.variants(&task.codecs, &folder, &stoppable)?;
    explained_rows::check(&explained, &variants, &runners)?;
    explained_rows::tell_lines(&explained, &mut variants);
    let target = rows.target;
    let emulator = target.map(|target| emulate(&mut variants, target, &folder, &stoppable));
    let emulator = emulator.transpose()?;
    if task.is_footprint {
        let emulated = target.zip(emulator.as_ref());
        return measure_footprint(task, &variants, emulated, sampling, builder, &stoppable);
    }
    let built =
        codec_selection::build(&task.workload, &variants, &runners, target, &folder, &stoppable)?;
    // What counts allocations is of this machine's architecture.
    let lack = if target.is_none() { CC.explain_missing() } else { None };
    task.workload.notes.extend(lack.iter().map(|of| format!("allocations are not counted: {of}")));
    let mut plan = RowPlan::new(task.title, task.workload.loads()?, built, task.experiments);
    let copies = RunnerCopies::open(&folder.canonicalize()?);
    plan.compare(&task.compare, older.as_ref(), &variants, copies)?;
    match target.zip(emulator) {
        Some((target, emulator)) => plan.emulate(target, emulator),
        None if lack.is_none() => {
            plan.count_allocations(build_allocation_counter(&folder, &Toolchain::System)?);
        }
        None => {}
    }
    plan.explain(explained, &folder)?;
    let sampling = Sampling { least_iterations: task.least_iterations, ..sampling };
    plan.measure(sampling, builder, show, |run| {
        run.reference = task.reference;
        let more = (task.derive)(run);
        run.facts.extend(more);
    })
}

/// Measures what codecs add to a program, and nothing else.
fn measure_footprint(
    task: Task,
    variants: &[Variant],
    emulated: Option<(&Target, &Emulator)>,
    sampling: Sampling,
    mut builder: RunBuilder,
    stoppable: BuildProgress,
) -> Result<Run> {
    let (mut title, folder) = (task.title, default_build_folder()?);
    let target = emulated.map(|(target, _)| target);
    let with_bases = footprint::with_bases(variants)?;
    let CodecEntrants { entrants, mut tools, .. } =
        codec_selection::build(&task.workload, &with_bases, &[], target, &folder, stoppable)?;
    let cases = task.workload.loads()?;
    if let Some((target, emulator)) = emulated {
        title += &format!(", on {}", target.name);
        tools.insert("target".into(), target.name.into());
        tools.insert("emulator".into(), emulator.version().into());
    }
    builder.watch_machine(tools);
    let emulator = emulated.map(|(_, emulator)| emulator);
    let (subjects, facts) =
        footprint::measure(variants, entrants, &cases, emulator, sampling.patience, stoppable)?;
    let cases = cases.into_iter().map(|load| load.case).collect();
    let settings = Settings { rounds: 0, ..sampling.settings };
    Ok(Run { cases, subjects, facts, ..builder.finish(title, settings) })
}

/// Has rows built for a target; the emulator that they run on.
fn emulate(
    variants: &mut [Variant],
    target: &'static Target,
    folder: &Path,
    progress: BuildProgress,
) -> Result<Emulator> {
    let sysroot = match target.is_machine() {
        true => None,
        false => Some(libraries::cross_build(variants, target, folder, progress)?.sysroot()),
    };
    Emulator::open_or_create(folder, target, sysroot, progress)
}
