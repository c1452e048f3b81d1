//! What is done with a pair of FMUs before the rounds: the same messages in two
//! processes, each as declared; then calibration.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use wiregauge_child_process::child::ChildFailure;
use wiregauge_gauge::schedule;
use wiregauge_result::warning::Warning;

use crate::host::host_process::{HostError, HostExit};
use crate::host::job::{MessageDigest, Proof, StepTimes};
use crate::master::case_run::CaseRun;
use crate::master::coupled_pair::CoupledPair;
use crate::master::live::{start, start_memcpy, LiveHost};
use crate::master::pair_logs::PairLogs;
use crate::master::plan::{Load, Pair, Plan};
use crate::package::content;

/// Steps with messages that a proof wants to see.
const PROOF: usize = 3;
/// Steps that it waits for them, or as many as the warm-up has.
const MAX_EMPTY_STEPS: u64 = 100;
/// Most steps of an epoch.
const MOST_STEPS: u64 = 1 << 16;

/// The run of a pair on a case, and what its logs say against being trusted.
///
/// # Errors
/// When the messages are not as declared, or not the same again.
pub fn prove(
    plan: &Plan,
    load: &Load,
    case: usize,
    pair: &Pair,
    ready: &CoupledPair,
) -> Result<(CaseRun, Vec<Warning>), HostError> {
    let dump = match &plan.dump {
        Some(folder) => Some(dump_folder(folder, load, pair).map_err(refused)?),
        None => None,
    };
    let sink = ready.coupling.result.is_none();
    let mut first = start(plan, load, pair, ready, true, dump)?;
    let Proof { products, end } = run_until_messages(plan, &mut first, sink)?;
    let LiveHost { remote, logs, .. } = first;
    let HostExit { left, trouble } = remote.end()?;
    let warnings = left.map_or_else(Vec::new, |(folder, account)| {
        PairLogs::read(folder.path(), &logs).warnings(ready, &products, account.steps)
    });
    let ending = end_warning(trouble)?;

    let began = Instant::now();
    let mut second = start(plan, load, pair, ready, false, None)?;
    let start_ns = began.elapsed().as_nanos() as f64;
    let again = second.remote.prove(products.len() as u64)?;
    let count = products.len();
    if again.products.len() != count && !pair.varying {
        return Err(HostError::Refused(format!(
            "{}: the second run ends earlier than the first, which had {count} steps (--varying \
             allows that)",
            again.end.unwrap_or_default()
        )));
    }
    let mut ends = vec![(&ready.source, &ready.coupling.output)];
    ends.extend(ready.coupling.result.as_ref().map(|result| (&ready.model, result)));
    for (at, (package, binary)) in ends.into_iter().enumerate() {
        let named =
            |what: String| HostError::Refused(format!("{}: {} {what}", package.name, binary.name));
        for (step, (one, other)) in products.iter().zip(&again.products).enumerate() {
            if one[at] != other[at] && !pair.varying {
                return Err(named(format!(
                    "differs between two runs at step {}: {} B and {} B (--varying allows that)",
                    step + 1,
                    one[at].size,
                    other[at].size
                )));
            }
            let MessageDigest { size, head, .. } = &one[at];
            content::check_head(&binary.mime, *size, head, pair.wanted.any_version)
                .map_err(named)?;
        }
        if products.iter().all(|products| products[at].size == 0) {
            let end = end.map_or(String::new(), |end| format!("; {end}"));
            return Err(named(format!(
                "has no message in the first {count} steps (--warm-up N waits N steps){end}"
            )));
        }
    }
    let sizes = |products: &[MessageDigest; 2]| products.each_ref().map(|product| product.size);
    let last = products.iter().rev().find(|products| is_whole(products, sink));
    let sizes = last.or(products.last()).map(sizes).unwrap_or_default();
    // What comes before the first message is warming up.
    let silent = products.iter().position(|products| is_whole(products, sink)).unwrap_or(0) as u64;
    let warm_up = plan.warm_up.max(silent);
    let seen = products.iter().skip(warm_up as usize).filter(|products| products[0].size > 0);
    let run = CaseRun { ending, ..CaseRun::new(case, sizes, warm_up, start_ns) };
    let left = warm_up.saturating_sub(count as u64);
    let run = calibrate(plan, run, second, left, seen.count() as u64)?;
    Ok((run, warnings))
}

/// Whether a step has all messages that it can have.
fn is_whole(products: &[MessageDigest; 2], sink: bool) -> bool {
    products[0].size > 0 && (sink || products[1].size > 0)
}

/// Steps until enough of them had messages, for as long as is worth waiting.
fn run_until_messages(plan: &Plan, live: &mut LiveHost, sink: bool) -> Result<Proof, HostError> {
    let began = Instant::now();
    let mut proof = Proof::default();
    let most = PROOF + plan.warm_up.max(MAX_EMPTY_STEPS) as usize;
    loop {
        let more = live.remote.prove(1)?;
        proof.products.extend(more.products);
        proof.end = more.end;
        let whole = proof.products.iter().filter(|products| is_whole(products, sink)).count();
        let enough = whole >= PROOF || proof.products.len() >= most;
        if enough || proof.end.is_some() || began.elapsed() >= plan.patience {
            return Ok(proof);
        }
    }
}

/// What went wrong as FMUs were ended, which does not keep them from being measured.
///
/// # Errors
/// When they hang: that would take as long again in every process.
fn end_warning(trouble: Option<HostError>) -> Result<Option<String>, HostError> {
    match trouble {
        Some(hung @ HostError::Broken(ChildFailure::Hung, _)) => Err(hung),
        other => Ok(other.map(|trouble| trouble.to_string())),
    }
}

fn refused(error: anyhow::Error) -> HostError {
    HostError::Refused(format!("{error:#}"))
}

/// A folder for the messages of one pair on one case.
fn dump_folder(folder: &Path, load: &Load, pair: &Pair) -> Result<PathBuf> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let pair = format!("{}+{}", stem(&pair.source), stem(&pair.model));
    let path = std::path::absolute(folder)?.join(&load.case.id).join(pair);
    fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

/// The run of a bound that copies messages of these sizes.
///
/// # Errors
/// When its host has trouble.
pub fn prove_bound(plan: &Plan, case: usize, sizes: [u64; 2]) -> Result<CaseRun, HostError> {
    let began = Instant::now();
    let live = start_memcpy(plan, sizes)?;
    let start_ns = began.elapsed().as_nanos() as f64;
    let warm_up = plan.warm_up;
    let run = CaseRun::new(case, sizes, warm_up, start_ns);
    calibrate(plan, run, live, warm_up, 0)
}

/// How many steps make an epoch that is long enough, and how long it is. A
/// simulation that ends has its steps shared out among the least rounds.
/// `warm_up` steps go before, and `seen` that count were done.
fn calibrate(
    plan: &Plan,
    mut run: CaseRun,
    mut live: LiveHost,
    warm_up: u64,
    mut seen: u64,
) -> Result<CaseRun, HostError> {
    let wanted = plan.settings.epoch_ns as f64;
    run.steps = plan.steps.unwrap_or(1);
    let warming = Instant::now();
    live.skip(warm_up)?;
    run.start_ns += warming.elapsed().as_nanos() as f64;
    while live.ended.is_none() {
        let began = Instant::now();
        let timed = live.run(0, run.steps)?.steps;
        run.epoch_ns = began.elapsed().as_nanos() as f64;
        seen += timed.len() as u64;
        let sum: u64 = timed.iter().map(StepTimes::exchange).sum();
        let ns = (sum as f64).max(1.0);
        if ns >= wanted || run.steps >= MOST_STEPS || plan.steps.is_some() || live.ended.is_some() {
            break;
        }
        run.steps = schedule::more_iterations(run.steps, ns, wanted).min(MOST_STEPS);
    }
    if let Some(end) = &live.ended {
        if seen == 0 {
            return Err(HostError::Refused(format!(
                "{end}: all steps before that are warm-up steps (--warm-up 0 counts them)"
            )));
        }
        let share = seen / u64::from(plan.settings.rounds.max(1));
        run.steps = run.steps.min(share.saturating_sub(1)).max(1);
        let most = seen / (run.steps + u64::from(run.steps > 1));
        run.most = Some((most, end.clone()));
    }
    let ended = end_warning(live.remote.end()?.trouble)?;
    run.ending = run.ending.or(ended);
    Ok(run)
}
