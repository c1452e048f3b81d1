//! A log of one FMU, and which logs belong together.

use std::path::Path;

use anyhow::{ensure, Result};
use wiregauge_result::warning::Warning;

use crate::logs::log::Log;
use crate::logs::pairing;
use crate::logs::phase::{self, LoggedStep};

/// A log of one FMU.
pub(super) struct FmuLog {
    pub(super) case: String,
    pub(super) name: String,
    pub(super) identity: String,
    pub(super) source: bool,
    pub(super) steps: Vec<LoggedStep>,
    /// Smallest difference of times that it can tell, in nanoseconds.
    pub(super) grain: i128,
}

/// A log as its steps, with a warning for all that is wrong with it.
pub(super) fn build_fmu_log(
    log: &Log,
    path: &Path,
    case: &str,
    skip: usize,
    warnings: &mut Vec<Warning>,
) -> Result<FmuLog> {
    let name = path.display().to_string();
    let (all, before) = phase::steps(log);
    let steps: Vec<LoggedStep> = all.iter().skip(skip).cloned().collect();
    ensure!(
        steps.iter().any(|step| step.phases.iter().any(Option::is_some)),
        "{name}: no step has all its events ({}); give a log of an FMU that writes each of them{}",
        phase::events(log.is_source()),
        if skip > 0 { ", or skip fewer steps" } else { "" }
    );
    let mut flaws = log.flaws.clone();
    if before > 0 {
        flaws.push(format!("{before} events come before the first step and belong to no step"));
    }
    flaws.extend(phase::describe_incomplete(log, &steps));
    for flaw in flaws {
        let text = format!("{name}: {flaw}");
        warnings.push(warning("log", text, "check the figures that depend on this"));
    }
    Ok(FmuLog {
        case: case.to_owned(),
        name,
        identity: log.identity.clone(),
        source: log.is_source(),
        steps,
        grain: log.resolution_ns,
    })
}

/// Puts each source's log with the model's that was written at the same time.
pub(super) fn pair(
    pieces: Vec<FmuLog>,
    warnings: &mut Vec<Warning>,
) -> Vec<(Option<FmuLog>, Option<FmuLog>)> {
    let (sources, models): (Vec<FmuLog>, Vec<FmuLog>) =
        pieces.into_iter().partition(|piece| piece.source);
    let mut candidates = Vec::new();
    for (s, source) in sources.iter().enumerate() {
        for (m, model) in models.iter().enumerate() {
            if source.case == model.case && pairing::may_belong(&source.steps, &model.steps) {
                // Where clocks cannot be compared, the order of the arguments decides.
                let gap = match pairing::one_clock(&source.steps, &model.steps) {
                    true => pairing::gap(&source.steps, &model.steps),
                    false => 0,
                };
                candidates.push((gap, s, m));
            }
        }
    }
    candidates.sort_unstable();
    let mut partner: Vec<Option<usize>> = vec![None; sources.len()];
    let mut taken = vec![false; models.len()];
    for (_, s, m) in candidates {
        if partner[s].is_none() && !taken[m] {
            partner[s] = Some(m);
            taken[m] = true;
        }
    }
    let lonely_sources = sources.iter().zip(&partner).filter(|(_, p)| p.is_none()).map(|(s, _)| s);
    let lonely_models = models.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(m, _)| m);
    for (piece, others) in lonely_sources
        .map(|source| (source, &models))
        .chain(lonely_models.map(|model| (model, &sources)))
    {
        warnings.push(warning(
            "half-a-chain",
            format!(
                "{}: {}, so its {} steps cannot be paired",
                piece.name,
                explain_no_partner(piece, others),
                piece.steps.len()
            ),
            "for the times of whole steps give the logs of both FMUs of a run",
        ));
    }
    let mut models: Vec<Option<FmuLog>> = models.into_iter().map(Some).collect();
    let mut pairs: Vec<(Option<FmuLog>, Option<FmuLog>)> = Vec::new();
    for (source, partner) in sources.into_iter().zip(partner) {
        let model = partner.and_then(|at| models[at].take());
        pairs.push((Some(source), model));
    }
    pairs.extend(models.into_iter().flatten().map(|model| (None, Some(model))));
    pairs
}

/// Why a log has no partner.
fn explain_no_partner(piece: &FmuLog, others: &[FmuLog]) -> String {
    let role = if piece.source { "model" } else { "source" };
    let others = others.iter().filter(|other| other.case == piece.case);
    let nearest = others.min_by_key(|other| pairing::gap(&piece.steps, &other.steps));
    let Some(other) = nearest else { return format!("there is no log of a {role} for it") };
    if pairing::may_belong(&piece.steps, &other.steps) {
        return format!("{}, which was written at that time, belongs to another log", other.name);
    }
    let gap = pairing::gap(&piece.steps, &other.steps);
    if pairing::one_clock(&piece.steps, &other.steps) && gap > 0 {
        let seconds = u64::try_from(gap / 1_000_000_000).unwrap_or(u64::MAX);
        return format!(
            "the nearest log, {}, was written {} earlier or later",
            other.name,
            format_seconds(seconds)
        );
    }
    format!("{} has other simulation times", other.name)
}

/// A length of time in words.
fn format_seconds(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", (seconds + 30) / 60),
        7200..172_800 => format!("{} h", (seconds + 1800) / 3600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

pub(super) fn warning(code: &str, text: String, remedy: &str) -> Warning {
    Warning { code: code.into(), text, remedy: remedy.into() }
}
