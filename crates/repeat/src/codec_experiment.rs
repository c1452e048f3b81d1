//! A published experiment of codecs.

use anyhow::Result;
use indexmap::IndexMap;
use wiregauge_build_tools::{default_build_folder, Progress};
use wiregauge_codec_run::codec_selection;
use wiregauge_codec_run::compared_rows::CompareOptions;
use wiregauge_codec_run::measurement::{experiments, select_experiments, Task};
use wiregauge_codec_run::workload::Workload;
use wiregauge_formats::{Codec, RunnerLanguage};
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_result::cautions::add_warnings;
use wiregauge_result::run::{Fact, Reference, Run, Settings};
use wiregauge_result::run_builder::RunBuilder;

use crate::publication::Publication;
use crate::weighing::{Weigh, Weighing, Weights};

/// A published experiment of codecs, to be repeated whole by its name.
pub struct CodecExperiment {
    /// What it repeats.
    pub publication: Publication,
    /// Whose experiments these are: `PolySync`.
    pub author: &'static str,
    /// The message and its cases, by a seed.
    pub workload: fn(u64) -> Result<Workload>,
    /// The published figures, if there are any.
    pub reference: Option<fn() -> Reference>,
    /// The codecs that it is about; all where none is named.
    pub codecs: &'static [&'static str],
    /// What it measures, out of what is measured without it.
    pub experiments: fn(Vec<Experiment>) -> Vec<Experiment>,
    /// What follows from the measurements, beside what is counted anyway.
    pub derived: fn(&Run) -> Vec<Fact>,
    /// What programs weigh, where it was about that: `--weight`.
    pub weight: Option<Weigh>,
    /// Messages that each cell must have processed at least.
    pub least_iterations: u64,
}

inventory::collect!(CodecExperiment);

/// What of an experiment the user wants.
pub struct CodecChoice<'a> {
    /// Only these codecs, or programs; those that it is about where there are none.
    pub names: &'a [String],
    /// Only those of these languages; all where there are none.
    pub languages: &'a [&'static RunnerLanguage],
}

impl CodecExperiment {
    /// All of them.
    pub fn all() -> Vec<&'static CodecExperiment> {
        inventory::iter::<CodecExperiment>().collect()
    }

    /// What is measured: of what it measures the experiments of these names, or all.
    ///
    /// # Errors
    /// When there is no such codec or experiment.
    pub fn task(&self, choice: &CodecChoice, names: &[String], seed: u64) -> Result<Task> {
        let workload = (self.workload)(seed)?;
        let message = &workload.schema.root().name.original;
        Ok(Task {
            is_footprint: false,
            title: format!("{}'s experiments: {message}", self.author),
            codecs: self.codecs(choice)?,
            experiments: select_experiments((self.experiments)(experiments()), names)?,
            least_iterations: self.least_iterations,
            reference: self.reference.map(|reference| reference()),
            derive: self.derived,
            compare: CompareOptions::default(),
            workload,
        })
    }

    /// The codecs that are named, or else those that the experiment is about.
    fn codecs(&self, choice: &CodecChoice) -> Result<Vec<&'static Codec>> {
        if !choice.names.is_empty() {
            return codec_selection::select_codecs(choice.names, choice.languages);
        }
        let about = self.codecs.iter().filter_map(|name| Codec::find(name));
        let about: Vec<&'static Codec> = about.collect();
        let mut languages = choice.languages.to_vec();
        if languages.is_empty() {
            for codec in &about {
                if !languages.contains(&codec.language) {
                    languages.push(codec.language);
                }
            }
        }
        let wanted = about.iter().filter(|codec| languages.contains(&codec.language));
        let names: Vec<String> = wanted.map(|codec| codec.name.to_owned()).collect();
        codec_selection::select_codecs(&names, &languages)
    }

    /// What its programs weigh, as a result. Each is compiled once for each process of the
    /// settings.
    ///
    /// # Errors
    /// When the build folder cannot be written, or `show` ends it. What concerns a program
    /// alone is its status.
    pub fn weigh_programs(
        &self,
        weigh: Weigh,
        choice: &CodecChoice,
        settings: Settings,
        mut builder: RunBuilder,
        show: Progress,
    ) -> Result<Run> {
        let settings = Settings { rounds: 1, epoch_ns: 0, ..settings };
        let languages: Vec<&str> = choice.languages.iter().map(|language| language.key).collect();
        let build = default_build_folder()?;
        builder.watch_machine(IndexMap::new());
        let weighing = Weighing {
            build: &build,
            languages: &languages,
            only: choice.names,
            turns: settings.processes,
            show,
        };
        let Weights { case, subjects, measurements, facts } = weigh(&weighing)?;
        let title = format!("{}'s programs: {}", self.author, case.message);
        let mut run = Run {
            cases: vec![case],
            subjects,
            measurements,
            facts,
            ..builder.finish(title, settings)
        };
        add_warnings(&mut run, Vec::new());
        Ok(run)
    }
}
