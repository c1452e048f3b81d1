//! What a machine and the samples themselves say against being trusted.

use crate::run::{Measurement, Run, Subject};
use crate::stats::Summary;
use crate::warning::{self, Caution, Warning};

/// Puts down in a result why its figures may not be trustworthy: what its machine and its
/// samples say, and `more`.
pub fn add_warnings(run: &mut Run, more: Vec<Warning>) {
    let mut cautions = match run.is_timed() {
        true => run.environment.cautions(),
        // Counts do not depend on who else is at work.
        false => Vec::new(),
    };
    cautions.extend(find_cautions(run));
    run.warnings = warning::merge(&cautions);
    run.warnings.extend(more);
}

/// The cautions of a run's measurements.
pub fn find_cautions(run: &Run) -> Vec<Caution> {
    let mut cautions = Vec::new();
    for measurement in &run.measurements {
        let Some(summary) = Summary::from_measurement(measurement) else { continue };
        let cell = cell(run, measurement);
        let iterations = measurement.iterations.first().copied().unwrap_or(1) as f64;
        let epoch = summary.median * iterations;
        cautions.extend(warning::short_epoch(&cell, epoch, run.environment.clock.step_ns));
        // Of one process nothing is known but its own rounds.
        if summary.processes < 2 {
            continue;
        }
        cautions.extend(warning::spread(&cell, summary.median, summary.within * summary.median));
        cautions.extend(warning::outliers(&cell, summary.outliers.len(), summary.epochs));
        if let Some(between) = summary.between {
            let (between, within) = (between * summary.median, summary.within * summary.median);
            cautions.extend(warning::processes(&cell, between, within, summary.median));
        }
        if let Some(nothing) = nothing(run, measurement) {
            cautions.extend(warning::negative_net(&cell, summary.median, nothing.median));
        }
    }
    cautions
}

/// What the harness of the same language takes for nothing; none beside a bound.
fn nothing(run: &Run, measurement: &Measurement) -> Option<Summary> {
    let subject = run.subject(&measurement.subject).filter(|subject| !subject.bound)?;
    let empty = |other: &&Subject| {
        other.bound && other.id.starts_with("noop") && other.language == subject.language
    };
    let empty = run.subjects.iter().find(empty)?;
    Summary::from_measurement(run.measurement(&measurement.case, &empty.id, &measurement.metric)?)
}

/// How a cell is called in a warning.
fn cell(run: &Run, measurement: &Measurement) -> String {
    let title = run.subject(&measurement.subject).map_or(&measurement.subject, |s| &s.title);
    if run.cases.len() > 1 {
        format!("{title} {} at {}", measurement.metric, measurement.case)
    } else {
        format!("{title} {}", measurement.metric)
    }
}
