//! A host that runs for the master.

use std::path::{Path, PathBuf};

use wiregauge_timing::scratch::Scratch;

use crate::host::host_process::{HostError, HostProcess};
use crate::host::job::{Chain, FmuSetup, Job, ReceiverSetup, TimedSteps};
use crate::master::coupled_pair::CoupledPair;
use crate::master::plan::{Load, Pair, Parameters, Plan};
use crate::package::Package;

/// The parameter by which an FMU is told where to write its log.
const LOG: &str = "log";

/// A host that runs, and the epochs that it was measured in.
pub struct LiveHost {
    /// The host.
    pub remote: HostProcess,
    /// Where source and model were told to write their logs.
    pub logs: [Option<PathBuf>; 2],
    /// Rounds, and the places of their steps among all.
    pub epochs: Vec<(usize, Vec<u64>)>,
    /// Why there are no more steps.
    pub ended: Option<String>,
}

impl LiveHost {
    /// Runs steps that are not looked at.
    ///
    /// # Errors
    /// When the host has trouble.
    pub fn skip(&mut self, count: u64) -> Result<(), HostError> {
        if count > 0 {
            self.ended = self.remote.skip(count)?.end;
        }
        Ok(())
    }

    /// Runs steps, some before those that count.
    ///
    /// # Errors
    /// When the host has trouble.
    pub fn run(&mut self, lead: u64, count: u64) -> Result<TimedSteps, HostError> {
        let ran = self.remote.run(lead, count)?;
        self.ended = ran.end.clone();
        Ok(ran)
    }
}

/// Starts a host with two FMUs.
///
/// # Errors
/// When it does not start, or an FMU refuses.
pub fn start(
    plan: &Plan,
    load: &Load,
    pair: &Pair,
    ready: &CoupledPair,
    logging: bool,
    dump: Option<PathBuf>,
) -> Result<LiveHost, HostError> {
    let folder = Scratch::new()?;
    let mut logs = [None, None];
    let mut setup = |at: usize, package: &Package, case: &Parameters, own: &Parameters| {
        let mut setup = fmu_setup(package, case, own);
        let log = folder.path().join(["source-log.json", "model-log.json"][at]);
        logs[at] = set_log_path(package, &mut setup, log);
        setup
    };
    let chain = Chain {
        source: setup(0, &ready.source, &load.source, &pair.source_parameters),
        output: ready.coupling.output.name.clone(),
        other_outputs: Vec::new(),
        model: Some(ReceiverSetup {
            setup: setup(1, &ready.model, &load.model, &pair.model_parameters),
            input: ready.coupling.input.name.clone(),
            result: ready.coupling.result.as_ref().map(|result| result.name.clone()),
            other_outputs: Vec::new(),
        }),
        start: ready.start,
        step: ready.step,
        any_version: pair.wanted.any_version,
        logging,
        dump,
    };
    let job = Job::Fmus(Box::new(chain));
    let remote = HostProcess::start_in(folder, &plan.host, &job, plan.patience)?;
    Ok(LiveHost { remote, logs, epochs: Vec::new(), ended: None })
}

/// An FMU with the parameters of a case and its own ones, which go before.
pub fn fmu_setup(package: &Package, case: &Parameters, own: &Parameters) -> FmuSetup {
    let mut parameters: Parameters = Vec::new();
    let is_text = |name: &str| {
        package.description.variable(name).is_some_and(|variable| variable.kind == "String")
    };
    let own = own.iter().map(|(name, value)| {
        let path = if is_text(name) { resolve_relative_path(value) } else { None };
        (name.clone(), path.unwrap_or(value.clone()))
    });
    for (name, value) in case.iter().cloned().chain(own) {
        parameters.retain(|(known, _)| *known != name);
        parameters.push((name, value));
    }
    FmuSetup { name: package.name.clone(), folder: package.path().to_owned(), parameters }
}

/// Has an FMU write its log there, if it takes a path for it and has none yet.
fn set_log_path(package: &Package, setup: &mut FmuSetup, path: PathBuf) -> Option<PathBuf> {
    let logs_by_name = package
        .description
        .variable(LOG)
        .is_some_and(|variable| variable.kind == "String" && variable.causality == "parameter");
    if !logs_by_name || setup.parameters.iter().any(|(name, _)| name == LOG) {
        return None;
    }
    setup.parameters.push((LOG.into(), path.display().to_string()));
    Some(path)
}

/// Starts a host that copies so many bytes for source and model.
///
/// # Errors
/// When it does not start.
pub fn start_memcpy(plan: &Plan, [source, model]: [u64; 2]) -> Result<LiveHost, HostError> {
    let job = Job::Memcpy { source, model };
    let remote = HostProcess::start(&plan.host, &job, plan.patience)?;
    Ok(LiveHost { remote, logs: [None, None], epochs: Vec::new(), ended: None })
}

/// A text that is a path relative to where the user stands, which is not where
/// the FMU runs: one that begins with `./` or `../`, that names something
/// which is there, or something in a folder that is there. Plain words are no
/// paths, even where there is something of that name.
fn resolve_relative_path(value: &str) -> Option<String> {
    let path = Path::new(value);
    if value.is_empty() || path.is_absolute() || !value.contains(['/', '.']) {
        return None;
    }
    let begins = value.starts_with("./") || value.starts_with("../");
    let in_folder = path.parent().is_some_and(|folder| folder != Path::new("") && folder.is_dir());
    if !begins && !in_folder && !path.exists() {
        return None;
    }
    Some(std::path::absolute(path).ok()?.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_words() {
        // Where the tests run there is src/lib.rs.
        for path in ["src/lib.rs", "./new", "../new", "src/new", "Cargo.toml", "."] {
            let absolute =
                resolve_relative_path(path).unwrap_or_else(|| panic!("{path} is a path"));
            assert!(absolute.starts_with('/'), "{absolute}");
        }
        for word in ["", "src", "full", "1.5", "a/b", "text/plain", "/tmp", "file:///tmp"] {
            assert_eq!(resolve_relative_path(word), None, "{word}");
        }
    }
}
