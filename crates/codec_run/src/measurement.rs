//! A run of codecs: their runners are built, and measured on a workload.

use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Result};
use wiregauge_build_tools::toolchain::Target;
use wiregauge_build_tools::{default_build_folder, Need, Progress as BuildProgress};
use wiregauge_formats::build::{self, Variant};
use wiregauge_formats::Codec;
use wiregauge_gauge::rounds::Progress;
use wiregauge_gauge::runners::plan::{Experiment, Explained, Plan};
use wiregauge_gauge::runners::{self, Measured};
use wiregauge_instructions::memory::MemoryCounter;
use wiregauge_instructions::{Callgrind, Counter, Emulator};
use wiregauge_result::cautions;
use wiregauge_result::run::{Fact, Reference, Run, Settings};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_system::interrupt;

use crate::codec_selection::{self, CodecEntrants, UserRunner};
use crate::compared_rows::{compared_settings, CompareOptions, ComparedRows};
use crate::effort::Effort;
use crate::explained_rows;
use crate::footprint;
use crate::libraries::{self, LibraryOptions};
use crate::older_rows::OlderRun;
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
    /// With which libraries.
    pub libraries: LibraryOptions,
    /// Runners of the user's own.
    pub runners: Vec<UserRunner>,
    /// Up to which length a fixed array is so many fields where a format has no arrays; 0 for
    /// lists throughout.
    pub small_array: u32,
    /// How much.
    pub effort: Effort,
    /// How samples are taken: those of the effort, with the user's choice of what is kept.
    pub settings: Settings,
    /// How long a runner may take for one answer before it counts as hung.
    pub patience: Duration,
    /// Damaged messages for each decoder.
    pub corruptions: u64,
    /// Whether messages are timed.
    pub timed: bool,
    /// What counts their instructions, if these are to be counted on this machine's
    /// architecture.
    pub instructions: Option<Callgrind>,
    /// What they are built for, and where their instructions are counted by an emulator.
    pub target: Option<&'static Target>,
    /// The rows of which it is explained where they execute these; then they are counted.
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
    task: Task,
    options: MeasureOptions,
    mut builder: RunBuilder,
    show: Progress,
) -> Result<Run> {
    let is_footprint = task.is_footprint;
    let Task {
        mut title,
        mut workload,
        codecs,
        experiments,
        least_iterations,
        reference,
        derive,
        compare,
        ..
    } = task;
    let MeasureOptions { libraries, runners, small_array, effort, settings, .. } = options;
    workload.schema.small_array = small_array;
    if small_array == 0 {
        workload
            .notes
            .push("short fixed arrays are written as lists in formats without arrays".into());
    }
    let message = &workload.schema.root().name.original;
    let older = compare.against.as_deref().map(|path| OlderRun::read(path, message));
    let older = older.transpose()?;
    let folder = default_build_folder()?;
    let stoppable = |what: &str, done: usize, total: usize| {
        show(what, done, total);
        interrupt::check().map_err(Into::into)
    };
    let target = options.target;
    let mut variants = libraries.variants(&codecs, &folder, &stoppable)?;
    if is_footprint {
        let with_bases = footprint::with_bases(&variants)?;
        let CodecEntrants { entrants, tools, .. } =
            codec_selection::build(&workload, &with_bases, &runners, None, &folder, &stoppable)?;
        let cases = workload.loads()?;
        builder.watch_machine(tools);
        let (subjects, facts) =
            footprint::measure(&variants, entrants, &cases, options.patience, &stoppable)?;
        let cases = cases.into_iter().map(|load| load.case).collect();
        let settings = Settings { rounds: 0, ..settings };
        return Ok(Run { cases, subjects, facts, ..builder.finish(title, settings) });
    }
    explained_rows::check(&options.explained, &variants, &runners)?;
    let emulator = target.map(|target| emulate(&mut variants, target, &folder, &stoppable));
    let emulator = emulator.transpose()?;
    let CodecEntrants { mut entrants, mut tools, libraries } =
        codec_selection::build(&workload, &variants, &runners, target, &folder, &stoppable)?;
    let copies = RunnerCopies::open(&folder.canonicalize()?);
    let mut compared =
        ComparedRows::prepare(&compare, older.as_ref(), &variants, &mut entrants, copies)?;
    let settings = match &compared.pairs {
        Some(_) => compared_settings(settings, &effort),
        None => settings,
    };
    if let Some((target, emulator)) = target.zip(emulator.as_ref()) {
        title += &format!(", on {}", target.name);
        tools.insert("target".into(), target.name.into());
        for runner in entrants.iter_mut().filter_map(|entrant| entrant.runner.as_mut()) {
            *runner = emulator.emulate(runner);
        }
    }
    let counter = options.instructions.map(Counter::Callgrind);
    let counter = emulator.map(Counter::Emulator).or(counter);
    if let Some((name, version)) = counter.as_ref().map(Counter::tool) {
        tools.insert(name.into(), version.into());
    }
    // It is of this machine's architecture.
    let allocations = match (target, CC.explain_missing()) {
        (Some(_), _) => None,
        (None, Some(lack)) => {
            workload.notes.push(format!("allocations are not counted: {lack}"));
            None
        }
        (None, None) => Some(build::build_allocation_counter(&folder)?),
    };
    let explained = match &allocations {
        Some(allocations) if !options.explained.is_empty() => Some(Explained {
            subjects: options.explained,
            memory: MemoryCounter::build(&folder, allocations)?,
        }),
        _ => None,
    };
    let plan = Plan {
        cases: workload.loads()?,
        entrants,
        experiments,
        settings,
        time: effort.time(),
        patience: options.patience,
        most_rounds: effort.most_rounds(),
        least_iterations: if effort.is_quick { 0 } else { least_iterations },
        counter: allocations,
        squeeze: options.timed,
        corruptions: options.corruptions,
        timed: options.timed,
        instructions: counter,
        explained,
    };
    // Probed after the build, whose load is not the measurement's.
    builder.watch_machine(tools);
    let mut measured = runners::measure(&plan, show)?;
    compared.describe_runners(&mut measured);
    libraries::add_library_notes(&mut measured.subjects, &libraries);
    builder.stop_watching();
    let warnings = std::mem::take(&mut measured.warnings);
    let compared = compared.pairs;
    let mut run = Run { reference, compared, ..finish_run(builder, title, plan, measured) };
    let more = derive(&run);
    run.facts.extend(more);
    cautions::add_warnings(&mut run, warnings);
    Ok(run)
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

/// The result of a plan.
pub(crate) fn finish_run(
    builder: RunBuilder,
    title: String,
    plan: Plan,
    measured: Measured,
) -> Run {
    Run {
        cases: plan.cases.into_iter().map(|load| load.case).collect(),
        subjects: measured.subjects,
        measurements: measured.measurements,
        facts: measured.facts,
        explanations: measured.explanations,
        ..builder.finish(title, Settings { rounds: measured.rounds, ..plan.settings })
    }
}
