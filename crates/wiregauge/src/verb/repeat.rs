//! `wiregauge repeat`: published experiments, whole, beside their figures.

mod codecs;
mod fep;
mod fmus;
mod traces;

use std::process::ExitCode;

use anyhow::{bail, Result};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use wiregauge_repeat::codec_experiment::CodecExperiment;
use wiregauge_repeat::experiment;
use wiregauge_repeat::fmu_experiment::FmuExperiment;
use wiregauge_repeat::publication::Publication;
use wiregauge_system::output::print;

/// The experiment that the user chose, with its own arguments.
pub struct Arguments {
    chosen: Option<(String, ArgMatches)>,
}

/// An experiment as a verb.
struct Experiment {
    publication: Publication,
    arguments: Box<dyn Fn(Command) -> Command>,
    run: Box<Run>,
}

/// Carries an experiment out, by its own arguments.
type Run = dyn Fn(&ArgMatches) -> Result<ExitCode>;

/// All experiments, by name. Those of codecs and of FMUs register themselves.
fn all() -> Vec<Experiment> {
    let mut all = vec![
        with_arguments(experiment::fep::PUBLICATION, fep::Arguments::run),
        with_arguments(experiment::traces::PUBLICATION, traces::Arguments::run),
    ];
    all.extend(CodecExperiment::all().into_iter().map(|published| Experiment {
        publication: published.publication,
        arguments: Box::new(|command| codecs::arguments(command, published)),
        run: Box::new(|matches| codecs::run(matches, published)),
    }));
    all.extend(FmuExperiment::all().into_iter().map(|published| Experiment {
        publication: published.publication,
        arguments: Box::new(|command| fmus::arguments(command, published)),
        run: Box::new(|matches| fmus::run(matches, published)),
    }));
    all.sort_by_key(|experiment| experiment.publication.name);
    all
}

/// An experiment with its arguments.
fn with_arguments<A: Args + 'static>(
    publication: Publication,
    run: fn(A) -> Result<ExitCode>,
) -> Experiment {
    Experiment {
        publication,
        arguments: Box::new(A::augment_args),
        run: Box::new(move |matches| run(A::from_arg_matches(matches)?)),
    }
}

impl Args for Arguments {
    fn augment_args(command: Command) -> Command {
        let command = command
            .about("Repeat a published experiment, and show its figures beside yours")
            .long_about(
                "Repeat a published experiment, and show its figures beside yours.\n\n\
                 Without further words: the experiments, with their sources.",
            )
            .after_help(
                "Examples:\n  \
                 wiregauge repeat\n      \
                 the experiments, with their sources\n  \
                 wiregauge repeat polysync --quick\n  \
                 wiregauge repeat rsb --weight\n      \
                 what its programs weigh\n  \
                 wiregauge repeat fep --transport dds,zenoh\n  \
                 wiregauge repeat persival -o persival.json",
            );
        all().iter().fold(command, |command, Experiment { publication, arguments, .. }| {
            command.subcommand(arguments(Command::new(publication.name)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Arguments, clap::Error> {
        let chosen = matches.subcommand();
        Ok(Arguments { chosen: chosen.map(|(name, own)| (name.to_owned(), own.clone())) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let Some((name, matches)) = &self.chosen else {
            print(&list(&all()))?;
            return Ok(ExitCode::SUCCESS);
        };
        match all().iter().find(|experiment| experiment.publication.name == name) {
            Some(experiment) => (experiment.run)(matches),
            None => bail!("unknown experiment '{name}'; 'wiregauge repeat' lists all experiments"),
        }
    }
}

/// The experiments with their sources.
fn list(experiments: &[Experiment]) -> String {
    let mut text = String::new();
    for Experiment { publication: Publication { name, about, source, year }, .. } in experiments {
        text += &format!("{name:12} {about}\n{:12} {source}, {year}\n", "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_listed_with_source_and_year() {
        let text = list(&all());
        for name in ["fep", "pedestrian", "persival", "polysync", "rsb", "traces"] {
            let (_, behind) = text.split_once(&format!("{name:12} ")).expect(name);
            let source = behind.lines().nth(1).unwrap().trim();
            assert!(source.contains(", ") && source.contains("20"), "{name}: {source}");
        }
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}
