//! Performance logs that were written elsewhere, as a run.

mod fmu_log;
mod name;

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Result;
use indexmap::IndexMap;
use wiregauge_result::run::{Case, Fact, Measurement, Subject};
use wiregauge_result::stats::median;
use wiregauge_result::warning::Warning;

use self::fmu_log::{build_fmu_log, pair, warning, FmuLog};
use self::name::{common_name, full_name, slug};
use crate::logs::log;
use crate::logs::pairing::{self, Pairing};
use crate::logs::phase::LoggedStep;
use crate::metric::METRICS;

/// A log to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogInput {
    /// The file.
    pub path: PathBuf,
    /// The case that it belongs to.
    pub case: String,
}

impl FromStr for LogInput {
    type Err = Infallible;

    /// `LOG` or `CASE=LOG`.
    fn from_str(text: &str) -> Result<LogInput, Infallible> {
        // A file may have such a name.
        let labelled = text.split_once('=').filter(|(case, path)| {
            !case.is_empty() && !path.is_empty() && !PathBuf::from(text).exists()
        });
        let (case, path) = labelled.unwrap_or(("logs", text));
        Ok(LogInput { path: path.into(), case: case.into() })
    }
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
    /// How many steps belong together, where all do.
    pub notes: Vec<String>,
    /// Most runs of a subject.
    pub processes: u32,
    /// Most steps of a run.
    pub rounds: u32,
}

/// Reads logs, finds which belong together, and leaves out the first `skip`
/// steps of each.
///
/// # Errors
/// Names the file, what is wrong with it, and what to do.
pub fn import(given: &[LogInput], skip: usize) -> Result<Imported> {
    let mut pieces = Vec::new();
    let mut imported = Imported::default();
    for LogInput { path, case } in given {
        for log in log::read(path)? {
            pieces.push(build_fmu_log(&log, path, case, skip, &mut imported.warnings)?);
        }
    }
    let pairs = pair(pieces, &mut imported.warnings);
    let mut groups: IndexMap<(String, [String; 2]), Vec<Simulation>> = IndexMap::new();
    for (source, model) in pairs {
        let either = source.as_ref().or(model.as_ref());
        let Some(case) = either.map(|piece| piece.case.clone()) else { continue };
        let identity =
            |piece: &Option<FmuLog>| piece.as_ref().map_or(String::new(), |p| p.identity.clone());
        let key = (case, [identity(&source), identity(&model)]);
        let simulation = match (source, model) {
            (Some(source), Some(model)) => join(&source, &model, &mut imported),
            (source, model) => without_partner(&source.or(model).map_or(Vec::new(), |p| vec![p])),
        };
        groups.entry(key).or_default().push(simulation);
    }
    imported.add_groups(groups);
    imported.warnings.push(warning(
        "imported",
        "the times come from logs: the machine is not known, and the runs did not take turns"
            .into(),
        "compare only runs of one machine; 'wiregauge cosim run --source … --model …' measures \
         FMUs in turns",
    ));
    Ok(imported)
}

/// One run of a simulation: what its two logs say of each step.
struct Simulation {
    began_ns: i128,
    phases: Vec<[Option<f64>; 5]>,
    sizes: [Vec<f64>; 2],
}

/// What a step's two halves say of its phases.
fn phase_row(source: Option<&LoggedStep>, model: Option<&LoggedStep>) -> [Option<f64>; 5] {
    std::array::from_fn(|at| {
        let (step, at) = if at < 2 { (source, at) } else { (model, at - 2) };
        step?.phases.get(at).copied().flatten().map(|ns| ns as f64)
    })
}

/// Logs that nothing is to be joined with.
fn without_partner(pieces: &[FmuLog]) -> Simulation {
    let steps = || pieces.iter().flat_map(|piece| piece.steps.iter().map(|s| (piece.source, s)));
    let of = |source: bool| steps().filter(move |(of, _)| *of == source).map(|(_, step)| step);
    Simulation {
        began_ns: steps().map(|(_, step)| step.began_ns).min().unwrap_or(0),
        phases: steps()
            .map(
                |(source, step)| {
                    if source {
                        phase_row(Some(step), None)
                    } else {
                        phase_row(None, Some(step))
                    }
                },
            )
            .collect(),
        sizes: [true, false].map(|source| of(source).map(|step| step.size as f64).collect()),
    }
}

/// Puts the steps of two logs together and says how many are left over. Those
/// stay, each with its own phases alone.
fn join(source: &FmuLog, model: &FmuLog, imported: &mut Imported) -> Simulation {
    let pairing = pairing::pair(&source.steps, &model.steps, source.grain.max(model.grain));
    let mut partner: Vec<Option<usize>> = vec![None; source.steps.len()];
    let mut taken = vec![false; model.steps.len()];
    for &(s, m) in &pairing.pairs {
        partner[s] = Some(m);
        taken[m] = true;
    }
    let mut rows: Vec<(i128, [Option<f64>; 5])> = Vec::new();
    for (step, partner) in source.steps.iter().zip(&partner) {
        rows.push((step.began_ns, phase_row(Some(step), partner.map(|at| &model.steps[at]))));
    }
    for (step, _) in model.steps.iter().zip(&taken).filter(|(_, taken)| !**taken) {
        rows.push((step.began_ns, phase_row(None, Some(step))));
    }
    if pairing.one_clock {
        rows.sort_by_key(|(began, _)| *began);
    }
    imported.report_pairing(source, model, &pairing);
    let sizes = [source, model].map(|piece| piece.steps.iter().map(|s| s.size as f64).collect());
    Simulation {
        began_ns: pairing::span(&source.steps).0.min(pairing::span(&model.steps).0),
        phases: rows.into_iter().map(|(_, row)| row).collect(),
        sizes,
    }
}

impl Imported {
    /// Says how many steps of two logs belong together, and why others do not.
    fn report_pairing(&mut self, source: &FmuLog, model: &FmuLog, pairing: &Pairing) {
        let count = pairing.pairs.len();
        let [of_source, of_model] = [source, model].map(|piece| piece.steps.len() - count);
        let (from, to) = (&source.name, &model.name);
        let how = if count == 0 { "" } else { pairing.how };
        let paired = format!("{from} and {to}: {count} steps were paired {how}");
        let paired = paired.trim_end().to_owned();
        if of_source == 0 && of_model == 0 {
            self.notes.push(paired);
            return;
        }
        let mut why = "the other log has no step at their time".to_owned();
        if pairing.contradicted > 0 {
            why = format!(
                "for {} of them the clock and the simulation time disagree; for the others {why}",
                pairing.contradicted
            );
        }
        self.warnings.push(warning(
            "unpaired",
            format!(
                "{paired}; {of_source} of {} steps of {from} and {of_model} of {} steps of {to} \
                 have no partner: {why}",
                source.steps.len(),
                model.steps.len()
            ),
            "these count for 'source' and 'model' but not for 'step'; give logs of whole runs",
        ));
    }

    fn add_groups(&mut self, groups: IndexMap<(String, [String; 2]), Vec<Simulation>>) {
        let mut titles: IndexMap<[String; 2], String> = IndexMap::new();
        for (_, identities) in groups.keys() {
            titles.entry(identities.clone()).or_insert_with(|| common_name(identities));
        }
        // Names that were shortened too much stand in full.
        let all: Vec<String> = titles.values().cloned().collect();
        for (identities, title) in &mut titles {
            if all.iter().filter(|other| *other == title).count() > 1 {
                *title = full_name(identities);
            }
        }
        for (identities, title) in &titles {
            let named = |(who, name): (&str, &String)| format!("{who}: {name}");
            let options = ["source", "model"].into_iter().zip(identities);
            self.subjects.push(Subject {
                options: options.filter(|(_, name)| !name.is_empty()).map(named).collect(),
                ..Subject::new(slug(title), title, "unknown")
            });
        }
        let mut columns: Vec<(usize, Measurement)> = Vec::new();
        for ((case, identities), mut runs) in groups {
            runs.sort_by_key(|run| run.began_ns);
            if self.cases.iter().all(|known| known.id != case) {
                self.cases.push(Case {
                    notes: self.notes.clone(),
                    ..Case::new(case.clone(), "binary variable", "performance logs")
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// A log with steps that begin at these times, and phases of these lengths.
    fn write(
        folder: &Path,
        name: &str,
        identity: &str,
        starts: &[u64],
        phases: &[u64],
    ) -> LogInput {
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
        LogInput { path, case: "logs".into() }
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

    /// Logs of a simulation of so many steps of 20 ms, whose model writes
    /// these simulation times, and begins so many microseconds later.
    fn steps(folder: &Path, count: u64, later: u64, time: impl Fn(u64) -> String) -> [LogInput; 2] {
        let log = |name: &str, types: &str, of: &dyn Fn(u64) -> String| {
            let rows: Vec<String> = (0..count).map(of).collect();
            let text = format!(
                r#"{{"Header":{{"EventTypes":[{types}]}},"Data":[{{"Instance":{{"ModelIdentity":
                "{name}"}},"OsiEvents":[{}]}}]}}"#,
                rows.join(",")
            );
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            LogInput { path, case: "logs".into() }
        };
        let row = |id: u64, at: u64, time: &str| format!("[{id},{at}.0,{time},0,5,1000]");
        let at = |step: u64| 1_648_482_698_000_000 + step * 1000;
        let source = |step: u64| {
            let time = format!("{}", f64::from(step as f32 * 0.02_f32));
            (0..3).map(|id| row(id, at(step) + 10 * id, &time)).collect::<Vec<_>>().join(",")
        };
        let model = |step: u64| {
            let began = at(step) + 100 + later;
            let time = time(step);
            (0..4).map(|id| row(id, began + 10 * id, &time)).collect::<Vec<_>>().join(",")
        };
        [
            log("s", r#""StartSourceCalc","StartOSISerialize","StopOSISerialize""#, &source),
            log(
                "m",
                r#""StartOSIDeserialize","StopOSIDeserialize","StartOSISerialize","StopOSISerialize""#,
                &model,
            ),
        ]
    }

    fn complete(run: &Imported) -> usize {
        let step = run.measurements.iter().find(|m| m.metric == "step");
        step.map_or(0, |m| m.samples.iter().flatten().flatten().count())
    }

    #[test]
    fn times_that_one_fmu_prints_as_float_lose_no_step() {
        let folder = tempfile::tempdir().unwrap();
        let given = steps(folder.path(), 300, 0, |step| format!("{:.2}", step as f64 * 0.02));
        let run = import(&given, 0).unwrap();
        assert_eq!(complete(&run), 300);
        assert!(run.notes[0].contains("300 steps were paired"), "{:?}", run.notes);
        // The model's are those of the next step.
        let given = steps(folder.path(), 300, 0, |step| format!("{:.2}", (step + 1) as f64 * 0.02));
        let run = import(&given, 0).unwrap();
        assert_eq!(complete(&run), 300);
        assert!(run.notes[0].contains("a step later in the model's log"), "{:?}", run.notes);
    }

    #[test]
    fn every_step_that_is_left_over_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        // Half of the model's steps are of another time.
        let given = steps(folder.path(), 100, 0, |step| {
            format!("{:.3}", step as f64 * 0.02 + if step < 50 { 0.0 } else { 50.01 })
        });
        let run = import(&given, 0).unwrap();
        assert_eq!(complete(&run), 50);
        let text = &run.warnings.iter().find(|w| w.code == "unpaired").expect("it is told").text;
        for words in ["50 steps were paired", "50 of 100 steps of", "have no partner"] {
            assert!(text.contains(words), "no '{words}' in {text}");
        }
        for metric in ["source", "model"] {
            let found = run.measurements.iter().find(|m| m.metric == metric).unwrap();
            let count = found.samples.iter().flatten().flatten().count();
            assert_eq!(count, 100, "{metric} loses none");
        }
    }

    #[test]
    fn logs_that_are_hours_apart_are_not_joined() {
        let folder = tempfile::tempdir().unwrap();
        let later = 3 * 3600 * 1_000_000;
        let given = steps(folder.path(), 20, later, |step| format!("{:.2}", step as f64 * 0.02));
        let run = import(&given, 0).unwrap();
        assert_eq!(complete(&run), 0);
        let text: String = run.warnings.iter().map(|w| format!("{}\n", w.text)).collect();
        assert!(text.contains("was written 3 h earlier or later"), "{text}");
        assert_eq!(text.matches("its 20 steps cannot be paired").count(), 2, "{text}");
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
}
