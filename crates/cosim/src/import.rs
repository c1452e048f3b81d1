//! Performance logs that were written elsewhere, as a run.

use std::path::PathBuf;

use anyhow::{ensure, Result};
use indexmap::IndexMap;
use wiregauge_gauge::run::{Case, Fact, Measurement, Status, Subject};
use wiregauge_gauge::stats::median;
use wiregauge_gauge::warning::Warning;

use crate::log;
use crate::master::METRICS;
use crate::phase::{self, Step};

/// A log to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The file.
    pub path: PathBuf,
    /// The case that it belongs to.
    pub case: String,
}

/// The parts of a run that come from logs.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// What was measured on.
    pub cases: Vec<Case>,
    /// What was measured.
    pub subjects: Vec<Subject>,
    /// The samples: a process for each run of the simulation.
    pub measurements: Vec<Measurement>,
    /// Sizes.
    pub facts: Vec<Fact>,
    /// What the logs say against being trusted.
    pub warnings: Vec<Warning>,
    /// Most runs of a subject.
    pub processes: u32,
    /// Most steps of a run.
    pub rounds: u32,
}

/// A log of one FMU.
struct Piece {
    case: String,
    name: String,
    identity: String,
    source: bool,
    steps: Vec<Step>,
}

impl Piece {
    fn span(&self) -> (i128, i128) {
        let began = self.steps.iter().map(|step| step.began_ns).min();
        let ended = self.steps.iter().map(|step| step.ended_ns).max();
        (began.unwrap_or(0), ended.unwrap_or(0))
    }

    /// How long two logs were written at the same time.
    fn overlap(&self, other: &Piece) -> i128 {
        let ((a, b), (c, d)) = (self.span(), other.span());
        b.min(d) - a.max(c)
    }
}

/// One run of a simulation: what its two logs say of each step.
struct Sitting {
    began_ns: i128,
    phases: Vec<[Option<f64>; 5]>,
    sizes: [Vec<f64>; 2],
}

/// Reads logs, finds which belong together, and leaves out the first `skip`
/// steps of each.
///
/// # Errors
/// Names the file, what is wrong with it, and what to do.
pub fn import(given: &[Given], skip: usize) -> Result<Imported> {
    let mut pieces = Vec::new();
    let mut imported = Imported::default();
    for Given { path, case } in given {
        for log in log::read(path)? {
            let name = path.display().to_string();
            for flaw in &log.flaws {
                imported.warnings.push(Warning {
                    code: "log".into(),
                    text: format!("{name}: {flaw}"),
                    remedy: "take care with what depends on it".into(),
                });
            }
            let steps: Vec<Step> = phase::steps(&log).into_iter().skip(skip).collect();
            ensure!(
                steps.iter().any(|step| step.phases.is_some()),
                "{name}: no step of it has all its events ({}); give a log of an FMU that writes \
                 each of them{}",
                if log.is_source() {
                    "StartSourceCalc, StartOSISerialize, StopOSISerialize"
                } else {
                    "StartOSIDeserialize, StopOSIDeserialize, StartOSISerialize, StopOSISerialize"
                },
                if skip > 0 { ", or skip fewer steps" } else { "" }
            );
            let (identity, source) = (log.identity.clone(), log.is_source());
            pieces.push(Piece { case: case.clone(), name, identity, source, steps });
        }
    }
    let pairs = pair(pieces, &mut imported.warnings);
    let mut groups: IndexMap<(String, [String; 2]), Vec<Sitting>> = IndexMap::new();
    for (source, model) in pairs {
        let either = source.as_ref().or(model.as_ref());
        let Some(case) = either.map(|piece| piece.case.clone()) else { continue };
        let identity =
            |piece: &Option<Piece>| piece.as_ref().map_or(String::new(), |p| p.identity.clone());
        let key = (case, [identity(&source), identity(&model)]);
        groups.entry(key).or_default().push(join(source, model));
    }
    imported.fill(groups);
    imported.warnings.push(Warning {
        code: "imported".into(),
        text: "the times come from logs: the machine is unknown, and the runs did not take turns"
            .into(),
        remedy: "compare only runs of one machine; wiregauge cosim run --source … --model … \
                 measures FMUs in turns"
            .into(),
    });
    Ok(imported)
}

/// Puts each source's log with the model's that was written at the same time.
fn pair(pieces: Vec<Piece>, warnings: &mut Vec<Warning>) -> Vec<(Option<Piece>, Option<Piece>)> {
    let (sources, mut models): (Vec<Piece>, Vec<Piece>) =
        pieces.into_iter().partition(|piece| piece.source);
    let mut pairs = Vec::new();
    for source in sources {
        // Where clocks cannot be compared, the order of the arguments decides.
        let best = models
            .iter()
            .enumerate()
            .filter(|(_, model)| model.case == source.case && shares_a_step(&source, model))
            .max_by_key(|(at, model)| (source.overlap(model).max(0), std::cmp::Reverse(*at)))
            .map(|(at, _)| at);
        let model = best.map(|at| models.remove(at));
        pairs.push((Some(source), model));
    }
    pairs.extend(models.into_iter().map(|model| (None, Some(model))));
    for lonely in &pairs {
        let (piece, other) = match lonely {
            (Some(source), None) => (source, "model"),
            (None, Some(model)) => (model, "source"),
            _ => continue,
        };
        warnings.push(Warning {
            code: "half-a-chain".into(),
            text: format!("{}: there is no log of a {other} with its simulation times", piece.name),
            remedy: "give the logs of both FMUs of a run for the time of whole steps".into(),
        });
    }
    pairs
}

fn shares_a_step(source: &Piece, model: &Piece) -> bool {
    let first = |piece: &Piece| piece.steps.iter().map(|s| s.simulation_ns).min();
    let last = |piece: &Piece| piece.steps.iter().map(|s| s.simulation_ns).max();
    first(source) <= last(model) && first(model) <= last(source)
}

/// Puts the steps of two logs together by simulation time.
fn join(source: Option<Piece>, model: Option<Piece>) -> Sitting {
    let pieces = [&source, &model];
    let began_ns = pieces.iter().filter_map(|p| Some(p.as_ref()?.span().0)).min().unwrap_or(0);
    let of = |piece: &Option<Piece>| -> Vec<Step> {
        piece.as_ref().map(|piece| piece.steps.clone()).unwrap_or_default()
    };
    let (source, model) = (of(&source), of(&model));
    let sizes = [&source, &model].map(|steps| steps.iter().map(|s| s.size as f64).collect());
    let mut phases = Vec::new();
    let part = |step: Option<&Step>, at: usize| {
        step.and_then(|step| Some(*step.phases.as_ref()?.get(at)? as f64))
    };
    let mut row = |source: Option<&Step>, model: Option<&Step>| {
        phases.push(std::array::from_fn(|at| match at {
            0 | 1 => part(source, at),
            _ => part(model, at - 2),
        }));
    };
    if source.is_empty() || model.is_empty() {
        source.iter().for_each(|step| row(Some(step), None));
        model.iter().for_each(|step| row(None, Some(step)));
    } else {
        let mut models = model.iter().peekable();
        for step in &source {
            while models.next_if(|model| model.simulation_ns < step.simulation_ns).is_some() {}
            let same = models.next_if(|model| model.simulation_ns == step.simulation_ns);
            row(Some(step), same);
        }
    }
    Sitting { began_ns, phases, sizes }
}

impl Imported {
    fn fill(&mut self, groups: IndexMap<(String, [String; 2]), Vec<Sitting>>) {
        let mut titles: IndexMap<[String; 2], String> = IndexMap::new();
        for (_, identities) in groups.keys() {
            titles.entry(identities.clone()).or_insert_with(|| short(identities));
        }
        // Names that were shortened too much stand in full.
        let all: Vec<String> = titles.values().cloned().collect();
        for (identities, title) in &mut titles {
            if all.iter().filter(|other| *other == title).count() > 1 {
                *title = long(identities);
            }
        }
        for (identities, title) in &titles {
            let named = |(who, name): (&str, &String)| format!("{who}: {name}");
            let options = ["source", "model"].into_iter().zip(identities);
            self.subjects.push(Subject {
                id: slug(title),
                title: title.clone(),
                language: "unknown".into(),
                library: String::new(),
                options: options.filter(|(_, name)| !name.is_empty()).map(named).collect(),
                bound: false,
                lowerings: Vec::new(),
                status: Status::Measured,
            });
        }
        let mut columns: Vec<(usize, Measurement)> = Vec::new();
        for ((case, identities), mut runs) in groups {
            runs.sort_by_key(|run| run.began_ns);
            if self.cases.iter().all(|known| known.id != case) {
                self.cases.push(Case {
                    id: case.clone(),
                    message: "binary variable".into(),
                    source: "performance logs".into(),
                    messages: 1,
                    canonical_bytes: 0.0,
                    parameter: None,
                    fixed: None,
                    element: None,
                    notes: Vec::new(),
                });
            }
            let subject = slug(&titles[&identities]);
            self.processes = self.processes.max(runs.len() as u32);
            let steps = runs.iter().map(|run| run.phases.len()).max().unwrap_or(0);
            self.rounds = self.rounds.max(steps as u32);
            for (at, metric) in METRICS.into_iter().enumerate().take(8) {
                let value = |phases: &[Option<f64>; 5]| match at {
                    0 => phases.iter().copied().sum::<Option<f64>>(),
                    6 => phases[..2].iter().copied().sum(),
                    7 => phases[2..].iter().copied().sum(),
                    _ => phases[at - 1],
                };
                let samples: Vec<Vec<Option<f64>>> =
                    runs.iter().map(|run| run.phases.iter().map(value).collect()).collect();
                if samples.iter().flatten().any(Option::is_some) {
                    columns.push((
                        at,
                        Measurement {
                            case: case.clone(),
                            subject: subject.clone(),
                            metric: metric.into(),
                            unit: "ns".into(),
                            iterations: vec![1; samples.len()],
                            samples,
                        },
                    ));
                }
            }
            for (at, metric) in ["size", "size/model output"].into_iter().enumerate() {
                let sizes = runs.iter().flat_map(|run| run.sizes[at].iter().copied());
                if let Some(value) = median(sizes).filter(|size| *size > 0.0) {
                    self.facts.push(Fact {
                        case: case.clone(),
                        subject: subject.clone(),
                        metric: metric.into(),
                        unit: "B".into(),
                        value,
                    });
                }
            }
        }
        columns.sort_by_key(|(at, _)| *at);
        self.measurements = columns.into_iter().map(|(_, measurement)| measurement).collect();
    }
}

/// What two names have in common: `Flatbuf` of `OSMPDummySource Flatbuf` and
/// `OSMPDummySensor Flatbuf`.
fn short(identities: &[String; 2]) -> String {
    let [source, model] = identities;
    let common: Vec<&str> = source
        .split_whitespace()
        .filter(|word| model.split_whitespace().any(|other| other == *word))
        .collect();
    if common.is_empty() {
        long(identities)
    } else {
        common.join(" ")
    }
}

fn long(identities: &[String; 2]) -> String {
    let known: Vec<&str> =
        identities.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    if known.is_empty() {
        "FMUs".into()
    } else {
        known.join(" + ")
    }
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for character in title.to_lowercase().chars() {
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// A log with steps that begin at these times, and phases of these lengths.
    fn write(folder: &Path, name: &str, identity: &str, starts: &[u64], phases: &[u64]) -> Given {
        let types = match phases.len() {
            2 => r#"["StartSourceCalc","StartOSISerialize","StopOSISerialize"]"#,
            _ => {
                r#"["StartOSIDeserialize","StopOSIDeserialize","StartOSISerialize","StopOSISerialize"]"#
            }
        };
        let mut rows = Vec::new();
        for (step, start) in starts.iter().enumerate() {
            let mut at = 1_648_482_698_000_000 + start;
            for id in 0..=phases.len() {
                rows.push(format!("[{id},{at}.0,0.{},0,5,{}]", step + 1, 1000 + phases.len()));
                at += phases.get(id).unwrap_or(&0);
            }
        }
        let text = format!(
            r#"{{"Header":{{"EventTypes":{types}}},"Data":[{{"Instance":{{"ModelIdentity":
            "{identity}"}},"OsiEvents":[{}]}}]}}"#,
            rows.join(",")
        );
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        Given { path, case: "logs".into() }
    }

    #[test]
    fn logs_of_several_runs_find_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let first = [0u64, 1000, 2000].map(|at| at + 50_000);
        let second = [0u64, 1000, 2000].map(|at| at + 90_000);
        let later = |starts: [u64; 3]| starts.map(|at| at + 100);
        let given = [
            write(path, "b", "Source X", &second, &[40, 2]),
            write(path, "c", "Model X", &later(first), &[1, 5, 1]),
            write(path, "a", "Source X", &first, &[30, 1]),
            write(path, "d", "Model X", &later(second), &[1, 9, 1]),
        ];
        let run = import(&given, 0).unwrap();
        assert_eq!(run.subjects.len(), 1);
        assert_eq!((run.subjects[0].title.as_str(), run.processes, run.rounds), ("X", 2, 3));
        let of = |metric: &str| {
            let found = run.measurements.iter().find(|m| m.metric == metric).unwrap();
            found.samples.clone()
        };
        assert_eq!(of("step/model calculation")[0], [Some(5000.0); 3]);
        assert_eq!(of("step/model calculation")[1], [Some(9000.0); 3]);
        assert_eq!(of("step"), [[Some(38_000.0); 3], [Some(53_000.0); 3]]);
        assert_eq!(run.facts[0].value, 1002.0);
        assert_eq!(run.facts[1].value, 1003.0);
        assert!(run.measurements.windows(2).all(|pair| {
            let place = |m: &Measurement| METRICS.iter().position(|name| *name == m.metric);
            place(&pair[0]) <= place(&pair[1])
        }));
        assert_eq!(import(&given, 2).unwrap().rounds, 1);
    }

    #[test]
    fn half_a_chain_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let given = [write(folder.path(), "a", "Source X", &[0, 50], &[30, 1])];
        let run = import(&given, 0).unwrap();
        assert!(run.warnings.iter().any(|warning| warning.code == "half-a-chain"));
        assert!(run.measurements.iter().all(|m| m.metric != "step"));
        assert!(run.measurements.iter().any(|m| m.metric == "source"));
        let error = import(&given, 2).unwrap_err().to_string();
        assert!(error.contains("skip fewer"), "{error}");
    }

    #[test]
    fn names_are_shortened() {
        let of = |a: &str, b: &str| short(&[a.into(), b.into()]);
        assert_eq!(of("OSMPDummySource Flatbuf", "OSMPDummySensor Flatbuf"), "Flatbuf");
        assert_eq!(of("a", "b"), "a + b");
        assert_eq!(of("", ""), "FMUs");
        assert_eq!(slug("A + b_c"), "a-b-c");
    }
}
