//! A result that is held against others: its file, its name and its machine.

use std::path::{Path, PathBuf};

use serde::Serialize;
use wiregauge_result::environment::Environment;
use wiregauge_result::run::Run;

/// A result, and what it is called beside others.
#[derive(Clone, Debug)]
pub struct NamedResult {
    /// A short name that no other has: that of its file, or of its machine.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// What is in it.
    pub run: Run,
}

/// The machine of a result, as far as one tells it from another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: Option<String>,
    /// Hardware threads that it has.
    pub threads: Option<u32>,
    /// Instruction set: that of the target, where its instructions were counted elsewhere.
    pub architecture: String,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// The operating system.
    pub os: Option<String>,
}

impl NamedResult {
    /// Names results by their files: without what their names or folders share. What came
    /// through a pipe is named by its machine.
    pub fn from_files(files: Vec<(PathBuf, Run)>) -> Vec<NamedResult> {
        let short: Vec<String> = files.iter().map(|(path, run)| short_name(path, run)).collect();
        let is_shared = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
        let mut names: Vec<String> = Vec::new();
        for (name, (path, _)) in short.iter().zip(&files) {
            let name = match folder_name(path) {
                Some(folder) if is_shared(name) => format!("{folder}/{name}"),
                _ => name.clone(),
            };
            let numbered = (2..).map(|number| format!("{name} {number}"));
            let free = std::iter::once(name.clone()).chain(numbered);
            let mut free = free.filter(|name| !names.contains(name));
            names.push(free.next().unwrap_or(name.clone()));
        }
        let named = names.into_iter().zip(files);
        named.map(|(name, (path, run))| NamedResult { name, path, run }).collect()
    }
}

impl Machine {
    /// The machine of a result.
    pub fn from_environment(environment: &Environment) -> Machine {
        let target = environment.tools.get("target");
        Machine {
            cpu: environment.cpu.model.clone(),
            threads: environment.cpu.threads,
            architecture: target.unwrap_or(&environment.system.architecture).clone(),
            kernel: environment.system.kernel.clone(),
            os: environment.system.os.clone(),
        }
    }

    /// Whether two may be one machine: a kernel is replaced now and then, a processor is not.
    pub fn is_alike(&self, other: &Machine) -> bool {
        let key = |machine: &Machine| {
            (machine.cpu.clone(), machine.threads, machine.architecture.clone())
        };
        key(self) == key(other)
    }

    /// What is known of it, in one line.
    pub fn describe(&self) -> String {
        let kernel = self.kernel.as_ref().map(|kernel| format!("Linux {kernel}"));
        let architecture = Some(self.architecture.clone()).filter(|text| !text.is_empty());
        let parts = [self.cpu.clone(), architecture, kernel, self.os.clone()];
        match parts.into_iter().flatten().collect::<Vec<_>>().join(" · ") {
            text if text.is_empty() => "a machine of which nothing is known".to_owned(),
            text => text,
        }
    }
}

/// How many machines results are of, where those that are alike count as one.
pub fn count_machines<'a>(machines: impl Iterator<Item = &'a Machine>) -> usize {
    let mut unlike: Vec<&Machine> = Vec::new();
    for machine in machines {
        if !unlike.iter().any(|other| other.is_alike(machine)) {
            unlike.push(machine);
        }
    }
    unlike.len()
}

/// The file's name without its end, or the model of the processor where the name says nothing.
fn short_name(path: &Path, run: &Run) -> String {
    let is_pipe = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match stem.filter(|stem| !is_pipe && !stem.is_empty()) {
        Some(stem) => stem,
        None => {
            let model = run.environment.cpu.model.as_deref().unwrap_or("result");
            model.replace("(R)", "").replace("(TM)", "").replace(" Processor", "")
        }
    }
}

/// The name of the folder that a file lies in.
fn folder_name(path: &Path) -> Option<String> {
    let name = path.parent()?.file_name()?;
    Some(name.to_string_lossy().into_owned())
}
