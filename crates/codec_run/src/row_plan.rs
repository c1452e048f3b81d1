//! What is measured of rows whose runners are there. A plan is made step by step: what is
//! compared, what executes the runners, what is counted beside.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use indexmap::IndexMap;
use wiregauge_build_tools::toolchain::Target;
use wiregauge_formats::build::Variant;
use wiregauge_gauge::rounds::Progress;
use wiregauge_gauge::runners::plan::{Entrant, Experiment, Explained, Load, Plan};
use wiregauge_gauge::runners::{self, Measured};
use wiregauge_instructions::memory::MemoryCounter;
use wiregauge_instructions::{Callgrind, Counter, Emulator};
use wiregauge_result::cautions;
use wiregauge_result::run::{Run, Settings};
use wiregauge_result::run_builder::RunBuilder;

use crate::codec_selection::CodecEntrants;
use crate::compared_rows::{compared_settings, CompareOptions, ComparedRows};
use crate::effort::Effort;
use crate::libraries;
use crate::older_rows::OlderRun;
use crate::runner_copies::RunnerCopies;

/// How samples are taken.
pub struct Sampling {
    /// How much.
    pub effort: Effort,
    /// Those of the effort, with the user's choice of what is kept.
    pub settings: Settings,
    /// How long a runner may take for one answer before it counts as hung.
    pub patience: Duration,
    /// Damaged messages for each decoder.
    pub corruptions: u64,
    /// Whether messages are timed.
    pub timed: bool,
    /// Messages that each cell must have processed at least, unless it is to be quick.
    pub least_iterations: u64,
    /// What counts instructions, if these are to be counted on this machine's architecture.
    pub instructions: Option<Callgrind>,
}

/// What is measured of rows whose runners are there.
pub(crate) struct RowPlan {
    title: String,
    cases: Vec<Load>,
    entrants: Vec<Entrant>,
    experiments: Vec<Experiment>,
    tools: IndexMap<String, String>,
    libraries: IndexMap<String, String>,
    compared: Option<ComparedRows>,
    allocations: Option<PathBuf>,
    emulator: Option<Emulator>,
    explained: Option<Explained>,
}

impl RowPlan {
    /// The rows on these cases, with nothing beside.
    pub(crate) fn new(
        title: String,
        cases: Vec<Load>,
        built: CodecEntrants,
        experiments: Vec<Experiment>,
    ) -> RowPlan {
        let CodecEntrants { entrants, tools, libraries } = built;
        RowPlan {
            title,
            cases,
            entrants,
            experiments,
            tools,
            libraries,
            compared: None,
            allocations: None,
            emulator: None,
            explained: None,
        }
    }

    /// Adds the rows of an earlier result, and what is compared.
    ///
    /// # Errors
    /// When nothing can be compared and something is to be.
    pub(crate) fn compare(
        &mut self,
        options: &CompareOptions,
        older: Option<&OlderRun>,
        variants: &[Variant],
        copies: RunnerCopies,
    ) -> Result<()> {
        let entrants = &mut self.entrants;
        let compared = ComparedRows::prepare(options, older, variants, entrants, copies)?;
        self.compared = Some(compared);
        Ok(())
    }

    /// What is compared of rows of a bundle.
    pub(crate) fn compare_bundled(&mut self, compared: ComparedRows) {
        self.compared = Some(compared);
    }

    /// Has the runners executed by an emulator, which counts their instructions.
    pub(crate) fn emulate(&mut self, target: &Target, emulator: Emulator) {
        self.title += &format!(", on {}", target.name);
        self.tools.insert("target".into(), target.name.into());
        for runner in self.entrants.iter_mut().filter_map(|entrant| entrant.runner.as_mut()) {
            *runner = emulator.emulate(runner);
        }
        self.emulator = Some(emulator);
    }

    /// Has allocations counted by this shared object.
    pub(crate) fn count_allocations(&mut self, counter: PathBuf) {
        self.allocations = Some(counter);
    }

    /// Has it explained what these rows execute, where allocations are counted.
    ///
    /// # Errors
    /// When what counts copies cannot be compiled.
    pub(crate) fn explain(&mut self, subjects: Vec<String>, folder: &Path) -> Result<()> {
        if let Some(allocations) = self.allocations.as_ref().filter(|_| !subjects.is_empty()) {
            let memory = MemoryCounter::build(folder, allocations)?;
            self.explained = Some(Explained { subjects, memory });
        }
        Ok(())
    }

    /// Measures it; `complete` adds to the result what follows from it, before it is judged what
    /// speaks against its figures.
    ///
    /// # Errors
    /// What concerns all rows, or an interruption before anything was measured.
    pub(crate) fn measure(
        mut self,
        sampling: Sampling,
        mut builder: RunBuilder,
        show: Progress,
        complete: impl FnOnce(&mut Run),
    ) -> Result<Run> {
        let Sampling { effort, settings, .. } = sampling;
        let settings = match self.compared.as_ref().is_some_and(|rows| rows.pairs.is_some()) {
            true => compared_settings(settings, &effort),
            false => settings,
        };
        let counter = sampling.instructions.map(Counter::Callgrind);
        let counter = self.emulator.map(Counter::Emulator).or(counter);
        if let Some((name, version)) = counter.as_ref().map(Counter::tool) {
            self.tools.insert(name.into(), version.into());
        }
        let plan = Plan {
            cases: self.cases,
            entrants: self.entrants,
            experiments: self.experiments,
            settings,
            time: effort.time(),
            patience: sampling.patience,
            most_rounds: effort.most_rounds(),
            least_iterations: if effort.is_quick { 0 } else { sampling.least_iterations },
            counter: self.allocations,
            squeeze: sampling.timed,
            corruptions: sampling.corruptions,
            timed: sampling.timed,
            instructions: counter,
            explained: self.explained,
        };
        // Probed after the build, whose load is not the measurement's.
        builder.watch_machine(self.tools);
        let mut measured = runners::measure(&plan, show)?;
        let compared = self.compared.and_then(|mut rows| {
            rows.describe_runners(&mut measured);
            rows.pairs
        });
        libraries::add_library_notes(&mut measured.subjects, &self.libraries);
        builder.stop_watching();
        let warnings = std::mem::take(&mut measured.warnings);
        let mut run = Run { compared, ..finish_run(builder, self.title, plan, measured) };
        complete(&mut run);
        cautions::add_warnings(&mut run, warnings);
        Ok(run)
    }
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
