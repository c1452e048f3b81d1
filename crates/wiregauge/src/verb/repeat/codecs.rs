//! `wiregauge repeat polysync` and others: published experiments of codecs.

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use indexmap::IndexMap;
use wiregauge_codec_run::codec_selection;
use wiregauge_codec_run::measurement::{experiments, select_experiments, Task};
use wiregauge_formats::{Codec, RunnerLanguage};
use wiregauge_result::cautions::add_warnings;
use wiregauge_result::run::{Run, Settings};
use wiregauge_system::interrupt;

use crate::experiment::{Published, Weigh, Weighing, Weights};
use crate::output::write_measured;
use crate::progress::Progress;
use crate::verb::codecs::measuring::{Destination, Measuring};
use crate::workload::build_folder;

/// Of an experiment that was about programs, too.
#[derive(clap::Args)]
struct Programs {
    /// Measure programs instead: their size, their libraries, the time to compile them,
    /// and lines of code.
    #[arg(long, conflicts_with_all = [
        "runner", "experiments", "duration", "corrupt", "libraries", "library", "profile",
    ])]
    weight: bool,
}

/// What an experiment takes.
pub fn arguments(verb: Command, published: &Published) -> Command {
    let name = published.publication.name;
    let mut examples = format!("Examples:\n  wiregauge repeat {name} --quick\n");
    let mut verb = Measuring::augment_args(verb);
    if published.weight.is_some() {
        verb = Programs::augment_args(verb);
        examples += &format!("  wiregauge repeat {name} --weight\n");
    }
    examples += &format!("  wiregauge repeat {name} --codecs protobuf-cpp -o {name}.json");
    let about = published.publication.about;
    verb.about(about).after_help(examples)
}

/// Carries it out.
pub fn run(matches: &ArgMatches, published: &'static Published) -> Result<ExitCode> {
    let measuring = Measuring::from_arg_matches(matches)?;
    let weigh = match published.weight {
        Some(weigh) if Programs::from_arg_matches(matches)?.weight => Some(weigh),
        _ => None,
    };
    let destination = measuring.open(&[])?;
    if let Some(weigh) = weigh {
        return weigh_programs(&measuring, published, weigh, destination);
    }
    let workload = (published.workload)(measuring.seed)?;
    let message = &workload.schema.root().name.original;
    let task = Task {
        title: format!("{}'s experiments: {message}", published.author),
        codecs: codecs(&measuring, published)?,
        experiments: select_experiments(
            (published.experiments)(experiments()),
            &measuring.experiments,
        )?,
        least_iterations: published.least_iterations,
        reference: published.reference.map(|reference| reference()),
        derive: published.derived,
        workload,
    };
    measuring.carry_out(task, destination)
}

/// The codecs that are named, or else those that the experiment is about.
fn codecs(measuring: &Measuring, published: &Published) -> Result<Vec<&'static Codec>> {
    let mut languages = measuring.languages();
    if !measuring.codecs.is_empty() {
        return codec_selection::select_codecs(&measuring.codecs, &languages);
    }
    let about = published.codecs.iter().filter_map(|name| Codec::find(name));
    let about: Vec<&'static Codec> = about.collect();
    if languages.is_empty() {
        let mut all: Vec<&'static RunnerLanguage> = Vec::new();
        for codec in &about {
            if !all.contains(&codec.language) {
                all.push(codec.language);
            }
        }
        languages = all;
    }
    let wanted = about.iter().filter(|codec| languages.contains(&codec.language));
    let names: Vec<String> = wanted.map(|codec| codec.name.to_owned()).collect();
    codec_selection::select_codecs(&names, &languages)
}

/// What the programs of an experiment weigh.
fn weigh_programs(
    measuring: &Measuring,
    published: &Published,
    weigh: Weigh,
    destination: Destination,
) -> Result<ExitCode> {
    let Destination { outlet, mut builder } = destination;
    let build = build_folder()?;
    let progress = Progress::new();
    let show = |what: &str, done: usize, total: usize| {
        progress.show(what, done, total);
        interrupt::check().map_err(Into::into)
    };
    let languages: Vec<&str> = measuring.languages().iter().map(|language| language.key).collect();
    let settings = Settings { rounds: 1, epoch_ns: 0, ..measuring.settings() };
    builder.watch_machine(IndexMap::new());
    let turns = settings.processes;
    let (build, only) = (&build, &measuring.codecs);
    let weighing = Weighing { build, languages: &languages, only, turns, show: &show };
    let Weights { case, subjects, measurements, facts } = weigh(&weighing)?;
    builder.stop_watching();
    drop(progress);
    let title = format!("{}'s programs: {}", published.author, case.message);
    let mut run =
        Run { cases: vec![case], subjects, measurements, facts, ..builder.finish(title, settings) };
    add_warnings(&mut run, Vec::new());
    write_measured(run, outlet)
}
