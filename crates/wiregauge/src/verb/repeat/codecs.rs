//! `wiregauge repeat polysync` and others: published experiments of codecs.

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use wiregauge_repeat::codec_experiment::{CodecChoice, CodecExperiment};
use wiregauge_system::progress::ProgressDisplay;

use crate::exit_status::write_measured;
use crate::verb::codecs::measuring::{Destination, Measuring};

/// Of an experiment that was about programs, too.
#[derive(clap::Args)]
struct Programs {
    /// Measure programs instead: their size, their libraries, the time to compile them,
    /// and lines of code.
    #[arg(long, conflicts_with_all = [
        "runners", "experiments", "duration", "corrupt", "libraries", "library", "profile",
    ])]
    weight: bool,
}

/// What an experiment takes.
pub fn arguments(verb: Command, experiment: &CodecExperiment) -> Command {
    let name = experiment.publication.name;
    let mut examples = format!("Examples:\n  wiregauge repeat {name} --quick\n");
    let mut verb = Measuring::augment_args(verb);
    if experiment.weight.is_some() {
        verb = Programs::augment_args(verb);
        examples += &format!("  wiregauge repeat {name} --weight\n");
    }
    examples += &format!("  wiregauge repeat {name} --codecs protobuf-cpp -o {name}.json");
    let about = experiment.publication.about;
    verb.about(about).after_help(examples)
}

/// Carries it out.
pub fn run(matches: &ArgMatches, experiment: &CodecExperiment) -> Result<ExitCode> {
    let measuring = Measuring::from_arg_matches(matches)?;
    let weigh = match experiment.weight {
        Some(weigh) if Programs::from_arg_matches(matches)?.weight => Some(weigh),
        _ => None,
    };
    let destination = measuring.open(&[], true)?;
    let choice = CodecChoice { names: &measuring.codecs(), languages: &measuring.rows.languages() };
    let Some(weigh) = weigh else {
        let task = experiment.task(&choice, &measuring.experiments, measuring.rows.seed)?;
        return measuring.carry_out(task, destination);
    };
    let Destination { outlet, builder } = destination;
    let (settings, progress) = (measuring.settings(), ProgressDisplay::new());
    let run =
        experiment.weigh_programs(weigh, &choice, settings, builder, &progress.stoppable())?;
    drop(progress);
    write_measured(run, outlet)
}
