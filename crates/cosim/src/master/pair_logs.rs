//! The performance logs of a pair of FMUs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use wiregauge_result::warning::Warning;

use crate::host::host_process::list_files;
use crate::host::job::MessageDigest;
use crate::logs::log::{self, Log};
use crate::logs::phase;
use crate::master::coupled_pair::CoupledPair;
use crate::master::samples::Phases;

/// The logs of a pair; none where an FMU wrote none.
pub struct PairLogs {
    source: Option<Log>,
    model: Option<Log>,
    /// What could not be read.
    faults: Vec<String>,
}

impl PairLogs {
    /// Reads the logs where the FMUs were told to write them, and any others
    /// in their working folder.
    pub fn read(folder: &Path, told: &[Option<PathBuf>; 2]) -> PairLogs {
        let mut logs = PairLogs { source: None, model: None, faults: Vec::new() };
        let told_to: Vec<&PathBuf> = told.iter().flatten().collect();
        let others = list_files(folder);
        let others = others.iter().filter(|path| !told_to.contains(path) && is_log_name(path));
        for path in told_to.iter().copied().chain(others) {
            match log::read(path) {
                Ok(found) => {
                    for log in found {
                        let place =
                            if log.is_source() { &mut logs.source } else { &mut logs.model };
                        place.get_or_insert(log);
                    }
                }
                Err(error) => logs.faults.push(format!("{error:#}")),
            }
        }
        logs
    }

    /// The five phases of each step in nanoseconds, as far as the logs say. `simulated` is
    /// when the simulation began and its step size, in seconds.
    pub fn phases(&self, done: u64, simulated: (f64, f64)) -> Vec<Phases> {
        let (start, size) = simulated;
        let [source, model] = [&self.source, &self.model].map(|log| match log {
            Some(log) => phase::align_steps(phase::steps(log).0, done, start, size),
            None => vec![None; done as usize],
        });
        let join = |(source, model): (Option<phase::LoggedStep>, Option<phase::LoggedStep>)| {
            std::array::from_fn(|at| {
                let (step, at) = if at < 2 { (&source, at) } else { (&model, at - 2) };
                step.as_ref()?.phases.get(at).copied().flatten().map(|ns| ns as f64)
            })
        };
        source.into_iter().zip(model).map(join).collect()
    }

    /// What is wrong with the logs of a proof.
    pub fn warnings(
        &self,
        ready: &CoupledPair,
        products: &[[MessageDigest; 2]],
        done: u64,
    ) -> Vec<Warning> {
        let warning = |code: &str, text: String, remedy: &str| Warning {
            code: code.into(),
            text,
            remedy: remedy.into(),
        };
        let mut warnings = Vec::new();
        let both = [(&ready.source, &self.source), (&ready.model, &self.model)];
        for (at, (package, log)) in both.into_iter().enumerate() {
            let Some(log) = log else { continue };
            let name = &package.name;
            for flaw in &log.flaws {
                warnings.push(warning(
                    "log",
                    format!("the log of {name}: {flaw}"),
                    "use the times under 'exchange', which come from the master's clock",
                ));
            }
            let logged: Vec<u64> = phase::steps(log).0.iter().map(|step| step.size).collect();
            let real: Vec<u64> = products
                .iter()
                .map(|products| products[at].size)
                .filter(|&size| size > 0)
                .collect();
            if logged.len() == real.len() && logged != real && logged.iter().any(|&size| size > 0) {
                warnings.push(warning(
                    "log-size",
                    format!(
                        "the log of {name} says that its message has {} B, but it has {} B",
                        logged.last().unwrap_or(&0),
                        real.last().unwrap_or(&0)
                    ),
                    "use the sizes in this result, which the master measured",
                ));
            }
        }
        let phases = self.phases(done, (ready.start, ready.step));
        let there = |range: std::ops::Range<usize>| {
            phases.iter().any(|phases| phases[range.clone()].iter().any(Option::is_some))
        };
        let have = [there(0..2), there(2..5)];
        let mut why: Vec<String> = Vec::new();
        for (package, log) in both {
            let name = &package.name;
            match log {
                None => why.push(format!("{name} wrote no performance log")),
                Some(log) => why.extend(
                    phase::describe_incomplete(log, &phase::steps(log).0)
                        .map(|lacking| format!("in the log of {name} {lacking}")),
                ),
            }
        }
        if self.source.is_none() || self.model.is_none() {
            why.extend(self.faults.first().cloned());
        }
        if !why.is_empty() {
            let (source, model) = (&ready.source.name, &ready.model.name);
            let what = match have {
                [false, false] => format!("{source} and {model} have no phases"),
                [true, false] => format!("{model} has no phases"),
                [false, true] => format!("{source} has no phases"),
                [true, true] => format!("some steps of {source} and {model} have no phases"),
            };
            warnings.push(warning(
                "no-phases",
                format!("{what}: {}", why.join("; ")),
                "instrument both FMUs (docs/cosim.md); the times by the master's clock are \
                 complete without that",
            ));
        }
        warnings
    }
}

/// Whether a file may be a performance log.
fn is_log_name(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head));
    read.is_ok()
        && head.windows(11).any(|window| window == b"\"OsiEvents\"" || window == b"EventFields")
}
