//! Several results of the same messages: does the ranking of the codecs hold?

mod conclusion;
pub mod experiment_ranking;
mod limits;
pub mod named_result;
pub mod pair;
mod workload;

use anyhow::{bail, Result};
use indexmap::IndexMap;
use serde::Serialize;

use self::conclusion::{conclude, conclude_experiment, name_everywhere};
use self::experiment_ranking::{find_experiments, ExperimentRanking};
use self::limits::{find_limits, list_absent};
use self::named_result::{count_machines, Machine, NamedResult};
use crate::model::run_labels::legend;
use crate::model::shared_text::describe_case;

/// Several results held against each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// What may be concluded, in a few sentences.
    pub conclusion: String,
    /// What may not be concluded, and why: a sentence each.
    pub limits: Vec<String>,
    /// The results: the columns.
    pub results: Vec<RankedResult>,
    /// Each experiment that two results or more have.
    pub experiments: Vec<ExperimentRanking>,
    /// What is missing, and why.
    pub absent: Vec<String>,
    /// What the marks behind names mean.
    #[serde(skip)]
    pub marks: Vec<String>,
    /// The message of each case.
    #[serde(skip)]
    cases: Vec<(String, String)>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedResult {
    /// What it is called here.
    pub name: String,
    /// Its file.
    pub file: String,
    /// What was measured.
    pub title: String,
    /// When.
    pub started: String,
    /// On which machine.
    pub machine: Machine,
}

impl Ranking {
    /// Holds two results or more against each other.
    ///
    /// # Errors
    /// When they are of different messages or of other things than codecs, or when one has no
    /// figure in common with the others. The line names the files.
    pub fn from_results(results: &[NamedResult]) -> Result<Ranking> {
        workload::check_workloads(results)?;
        let (mut experiments, mut absent) = (Vec::new(), Vec::new());
        let mut single: IndexMap<(&str, String), Vec<String>> = IndexMap::new();
        let mut has_part = vec![false; results.len()];
        for (key, places) in find_experiments(results) {
            let having: Vec<&NamedResult> = places.iter().map(|&place| &results[place]).collect();
            let names: Vec<&str> = having.iter().map(|result| result.name.as_str()).collect();
            if having.len() < 2 {
                let of_case = (results[places[0]].name.as_str(), key.0);
                single.entry(of_case).or_default().push(key.1);
                continue;
            }
            let Some(mut experiment) = ExperimentRanking::rank(&key, &having) else {
                absent.push(format!(
                    "{} at {} has no ranking: {} have no codec in common that can be told from \
                     the harness, and another one",
                    key.1,
                    key.0,
                    names.join(", ")
                ));
                continue;
            };
            let machines = having.iter().map(|one| Machine::from_environment(&one.run.environment));
            let machines = count_machines(machines.collect::<Vec<_>>().iter());
            let everywhere = match experiment.has_absent() {
                true => name_everywhere(having.len(), machines) + " that measured them",
                false => name_everywhere(having.len(), machines),
            };
            experiment.conclusion = conclude_experiment(&experiment, &everywhere);
            places.iter().for_each(|&place| has_part[place] = true);
            experiments.push(experiment);
        }
        if let Some(place) = has_part.iter().position(|has| !has) {
            let others = results.iter().filter(|other| other.name != results[place].name);
            let others: Vec<String> =
                others.map(|other| other.path.display().to_string()).collect();
            bail!(
                "{} has no two codecs of an experiment in common with {}; measure the same codecs \
                 and experiments",
                results[place].path.display(),
                others.join(", ")
            );
        }
        let only = single.iter().map(|((name, case), metrics)| {
            format!("only {name} has {} at {case}", metrics.join(", "))
        });
        absent.extend(only);
        absent.extend(list_absent(results, &experiments));
        let ranked: Vec<RankedResult> = results.iter().map(RankedResult::from_named).collect();
        let machines = count_machines(ranked.iter().map(|result| &result.machine));
        let is_whole = |one: &ExperimentRanking| one.results.len() == results.len();
        let everywhere = name_everywhere(results.len(), machines);
        let everywhere = experiments.iter().all(is_whole).then_some(everywhere.as_str());
        let runs: Vec<&wiregauge_result::run::Run> =
            results.iter().map(|result| &result.run).collect();
        let cases = runs.iter().flat_map(|run| {
            run.cases.iter().map(|case| (case.id.clone(), describe_case(run, case)))
        });
        Ok(Ranking {
            conclusion: conclude(&experiments, everywhere),
            limits: find_limits(results, &experiments),
            cases: cases.collect(),
            marks: legend(&runs),
            results: ranked,
            experiments,
            absent,
        })
    }

    /// The message of a case, in one line.
    pub fn describe_case(&self, id: &str) -> &str {
        self.cases.iter().find(|case| case.0 == id).map_or("", |case| &case.1)
    }

    /// What it is called.
    pub fn title(&self) -> String {
        format!("{} results: does the ranking hold?", self.results.len())
    }
}

impl RankedResult {
    fn from_named(result: &NamedResult) -> RankedResult {
        RankedResult {
            name: result.name.clone(),
            file: result.path.display().to_string(),
            title: result.run.title.clone(),
            started: result.run.started.clone(),
            machine: Machine::from_environment(&result.run.environment),
        }
    }
}
