//! Two FMUs that are unpacked and go together.

use std::rc::Rc;

use anyhow::{bail, Result};
use wiregauge_result::run::Subject;
use wiregauge_system::text::escape_short;

use crate::package::coupling::Coupling;
use crate::package::Package;

/// Step size where neither the user nor the source says one, in seconds.
pub const STEP: f64 = 0.02;

/// Simulation time of the start where no FMU says one, in seconds.
const START: f64 = 0.0;

/// Two FMUs that are unpacked and go together.
pub struct CoupledPair {
    /// The FMU that makes messages.
    pub source: Rc<Package>,
    /// The FMU that takes them.
    pub model: Rc<Package>,
    /// Their variables.
    pub coupling: Coupling,
    /// Simulation time of the start, in seconds.
    pub start: f64,
    /// The step size in seconds.
    pub step: f64,
    /// Where the step size comes from, in words.
    pub step_by: &'static str,
}

impl CoupledPair {
    /// What a step may take if the simulation is to keep up with the time, in
    /// nanoseconds: the time that it simulates.
    pub fn cycle(&self) -> u64 {
        (self.step * 1e9).round() as u64
    }

    /// What the FMUs say of themselves.
    pub fn describe(&self, subject: &mut Subject) {
        let (source, model) = (&self.source.description, &self.model.description);
        if subject.library.is_empty() {
            let standard = source.fmi.name();
            subject.library = match &self.coupling.output.mime.version {
                Some(version) => escape_short(&format!("{standard}, OSI {version}")),
                None => standard.to_owned(),
            };
        }
        for (package, description) in [(&self.source, source), (&self.model, model)] {
            subject.options.push(escape_short(&format!("{}: {}", package.name, description.model)));
        }
        subject.options.push(format!("steps of {} s, {}", self.step, self.step_by));
        if self.start != START {
            subject.options.push(format!("starts at {} s (startTime)", self.start));
        }
        let Coupling { output, input, .. } = &self.coupling;
        if output.mime.message() != input.mime.message() {
            subject.options.push(escape_short(&format!(
                "{} declares that it takes {}, but gets {}, as asked for",
                input.name,
                input.mime.message(),
                output.mime.message()
            )));
        }
    }
}

/// The step size of some FMUs with what they are called, and where it comes from.
///
/// # Errors
/// When what an FMU proposes is no step size.
pub fn step_size(
    wanted: Option<f64>,
    proposing: &[(&Package, &'static str)],
) -> Result<(f64, &'static str)> {
    if let Some(step) = wanted {
        return Ok((step, "as asked for"));
    }
    for (package, by) in proposing {
        if let Some(text) = &package.description.no_step {
            bail!(
                "{}: the stepSize '{text}' in its modelDescription.xml is not a step size from \
                 1e-9 to 1e6 seconds; give one with --step-size",
                package.name
            );
        }
        if let Some(step) = package.description.step {
            return Ok((step, by));
        }
    }
    Ok((STEP, "as no FMU proposes one"))
}

/// The simulation time at which some FMUs start: what the first of them says that says one.
pub fn start_time(of: &[&Package]) -> f64 {
    of.iter().find_map(|package| package.description.start).unwrap_or(START)
}

/// Both FMUs of a pair, by whom the step size is asked for.
pub fn step_size_sources<'p>(
    source: &'p Package,
    model: &'p Package,
) -> [(&'p Package, &'static str); 2] {
    [(source, "as the source proposes"), (model, "as the model proposes")]
}
