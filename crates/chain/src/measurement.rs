//! The measurement of a chain: as it is drawn, the parts of what could be changed, and the
//! best changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Error, Result};
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::catalogue::TransportEntry;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::progress::ProgressDisplay;

use crate::chain::Chain;
use crate::chain_machines::ChainMachines;
use crate::chain_run::ChainRunner;
use crate::change::Change;
use crate::messages::Messages;
use crate::passes::Passes;
use crate::prediction::{ChainModel, Prediction};

/// Length of a run, about. What is measured end to end has several, in turns with the others,
/// so that what the machine does meanwhile is in all of them.
const RUN: Duration = Duration::from_secs(5);
/// Fewest and most runs of each.
const RUNS: (u32, u32) = (2, 12);
/// For how much of the time of a whole chain a hop is measured alone.
const HOP_SHARE: u32 = 6;
const SHORTEST_HOP: Duration = Duration::from_secs(2);
const LONGEST_HOP: Duration = Duration::from_secs(10);

/// What was measured of a chain.
pub struct MeasuredChain {
    /// The chain as it is drawn.
    pub chain: Chain,
    /// Its runs.
    pub drawn: Vec<Passes>,
    /// What its parts say of it.
    pub predicted: Prediction,
    /// What could be changed, the best first.
    pub proposals: Vec<Proposal>,
    /// Its messages.
    pub messages: Messages,
    /// What other machines it ran on.
    pub machines: Vec<String>,
    /// Whether the user asked to stop, so that it is not all.
    pub interrupted: bool,
}

/// A change, and what it brings.
pub struct Proposal {
    /// The change.
    pub change: Change,
    /// The chain with it.
    pub chain: Chain,
    /// The parts of its hop, where these are others.
    hop: Option<Passes>,
    /// What the parts say; none where they could not be measured.
    pub predicted: Option<Prediction>,
    /// Its runs; none where it was not among the best.
    pub measured: Vec<Passes>,
    /// Why it could not be measured.
    pub failure: Option<String>,
}

impl MeasuredChain {
    /// All runs of it as drawn.
    pub fn all_drawn(&self) -> Passes {
        all(&self.drawn)
    }
}

/// Runs together.
pub fn all(runs: &[Passes]) -> Passes {
    let mut all = Passes::default();
    runs.iter().cloned().for_each(|run| all.extend(run));
    all
}

/// Measures a chain with its messages, on this machine and others. Engines are built below a
/// folder. `begin` is called before anything is measured.
///
/// # Errors
/// An engine that the chain is drawn with and cannot be built, or a stage that cannot do its
/// part, or that the user asks to stop before the chain was measured once.
pub fn measure(
    chain: Chain,
    messages: Messages,
    machines: ChainMachines,
    folder: &Path,
    progress: &ProgressDisplay,
    begin: &mut dyn FnMut(&Messages),
) -> Result<MeasuredChain> {
    let (programs, missing) = prepare_programs(&chain, &machines, folder, progress)?;
    begin(&messages);
    let runner = ChainRunner { messages: &messages, programs: &programs, machines: &machines };
    let mut proposals = Vec::new();
    for change in Change::all(&chain) {
        let changed = change.apply(&chain);
        let failure = check(&change, &changed, &messages, &missing);
        let failure = failure.err().map(|why| format!("{why:#}"));
        let (hop, predicted, measured) = (None, None, Vec::new());
        proposals.push(Proposal { change, chain: changed, hop, predicted, measured, failure });
    }
    let runs = ((chain.duration.as_nanos() / RUN.as_nanos()) as u32).clamp(RUNS.0, RUNS.1);
    let seed = chain.seed;
    let mut run = Runs { chain: &chain, runner, progress, runs, done: 0, total: 0, seed };
    run.total =
        (run.runs as usize) * (1 + chain.consider.check.min(proposals.len())) + proposals.len();
    let mut drawn = vec![run.measure(&chain, "as drawn")?];
    let outcome = run.measure_rest(&mut drawn, &mut proposals);
    let interrupted = match outcome {
        Ok(()) => false,
        Err(error) if error.is::<Interrupted>() => true,
        Err(error) => return Err(error),
    };
    // With all that was measured as drawn, and nothing of the changes but their own hops.
    let model = ChainModel::new(&chain, &all(&drawn));
    predict(&model, &mut proposals, chain.seed);
    let predicted = model.predict(chain.seed);
    let machines = machines.all().iter().map(ToString::to_string).collect();
    Ok(MeasuredChain { chain, drawn, predicted, proposals, messages, machines, interrupted })
}

/// Whether a changed chain can be measured.
fn check(
    change: &Change,
    changed: &Chain,
    messages: &Messages,
    missing: &BTreeMap<&'static str, String>,
) -> Result<()> {
    changed.processes()?;
    if let Some((hop, _)) = change.touched() {
        messages.codec(&changed.hops[hop])?;
        if let Some(why) = missing.get(changed.hops[hop].transport.id) {
            return Err(Error::msg(why.clone()));
        }
    }
    Ok(())
}

type Programs = BTreeMap<&'static str, Program>;

/// The programs of the chain's transports, by their engine; and why transports that are only
/// considered have none.
fn prepare_programs(
    chain: &Chain,
    machines: &ChainMachines,
    folder: &Path,
    progress: &ProgressDisplay,
) -> Result<(Programs, BTreeMap<&'static str, String>)> {
    let mut programs = BTreeMap::from([("", Program::BuiltIn)]);
    let mut missing = BTreeMap::new();
    let drawn: Vec<TransportEntry> = chain.hops.iter().map(|hop| hop.transport).collect();
    for entry in drawn.iter().chain(&chain.consider.transports) {
        let Some(engine) = entry.engine() else { continue };
        if programs.contains_key(engine.name) {
            continue;
        }
        let show = |what: &str, done: usize, total: usize| progress.show(what, done, total);
        let prepared = Program::prepare(Some(engine), folder, &show).and_then(|program| {
            progress.show(&format!("{}: on the other machines", engine.name), 0, 0);
            machines.all().iter().try_for_each(|machine| machine.prepare(Some(engine)))?;
            Ok(program)
        });
        match prepared {
            Ok(program) => {
                programs.insert(engine.name, program);
            }
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) if drawn.iter().any(|own| own.id == entry.id) => return Err(error),
            Err(error) => {
                missing.insert(entry.id, format!("{error:#}"));
            }
        }
    }
    Ok((programs, missing))
}

/// Predicts what changes bring, and puts the best first.
fn predict(model: &ChainModel, proposals: &mut [Proposal], seed: u64) {
    for proposal in proposals.iter_mut() {
        let changed = match (proposal.change.touched(), &proposal.hop) {
            (None, _) => Some(model.clone().with_cycles(&proposal.chain)),
            (Some((place, parts)), Some(hop)) => model.clone().with_hop(place, &hop.hops[0], parts),
            (Some(_), None) => continue,
        };
        proposal.predicted = changed.map(|changed| changed.predict(seed));
    }
    proposals.sort_by(|a, b| a.median().total_cmp(&b.median()));
}

impl Proposal {
    /// The predicted median of the reaction.
    pub fn median(&self) -> f64 {
        let predicted = self.predicted.as_ref().filter(|_| self.failure.is_none());
        predicted.map_or(f64::INFINITY, |p| Prediction::quantile(&p.reaction, 0.5))
    }
}

/// Runs of a chain, one after another.
struct Runs<'a> {
    chain: &'a Chain,
    runner: ChainRunner<'a>,
    progress: &'a ProgressDisplay,
    /// How many each has that is measured end to end.
    runs: u32,
    done: usize,
    total: usize,
    seed: u64,
}

impl Runs<'_> {
    fn run(&mut self, chain: &Chain, duration: Duration, what: &str) -> Result<Passes> {
        self.progress.show(what, self.done, self.total);
        self.done += 1;
        // Other phases each time.
        self.seed = self.seed.wrapping_add(1);
        let record = self.runner.run(chain, duration, self.seed)?;
        Ok(Passes::from_record(chain, &record))
    }

    /// A part of the time of a whole chain.
    fn measure(&mut self, chain: &Chain, what: &str) -> Result<Passes> {
        self.run(chain, self.chain.duration / self.runs, what)
    }

    /// The hop of a change alone, where its parts are others.
    fn measure_hop(&mut self, proposal: &mut Proposal) -> Result<()> {
        let Some((place, _)) = proposal.change.touched() else { return Ok(()) };
        let time = match proposal.hop {
            None => (self.chain.duration / HOP_SHARE).clamp(SHORTEST_HOP, LONGEST_HOP),
            Some(_) => (self.chain.duration / self.runs / 2).min(LONGEST_HOP),
        };
        let alone = proposal.chain.single_hop(place)?;
        let what = format!("{}, the hop alone", proposal.change.title(self.chain));
        let outcome = self.run(&alone, time, &what);
        let hop = &mut proposal.hop;
        keep(outcome, &mut proposal.failure, |passes| {
            hop.get_or_insert_default().extend(passes);
        })
    }

    /// The hops of changes, the best changes and again the chain as drawn.
    fn measure_rest(&mut self, drawn: &mut Vec<Passes>, proposals: &mut [Proposal]) -> Result<()> {
        for proposal in proposals.iter_mut().filter(|proposal| proposal.failure.is_none()) {
            self.measure_hop(proposal)?;
        }
        let model = ChainModel::new(self.chain, &all(drawn));
        predict(&model, proposals, self.chain.seed);
        let best: Vec<usize> = (0..proposals.len())
            .filter(|place| proposals[*place].median().is_finite())
            .take(self.chain.consider.check)
            .collect();
        let runs = self.runs as usize;
        self.total = self.done + best.len() * (2 * runs - 1) + runs - 1;
        for run in 0..self.runs {
            for place in &best {
                let proposal = &mut proposals[*place];
                if proposal.failure.is_some() {
                    continue;
                }
                // Again, so that it is as old as what it is held against.
                if run > 0 {
                    self.measure_hop(proposal)?;
                }
                let what = proposal.change.title(self.chain);
                let outcome = self.measure(&proposal.chain.clone(), &what);
                keep(outcome, &mut proposal.failure, |passes| proposal.measured.push(passes))?;
            }
            if run + 1 < self.runs {
                drawn.push(self.measure(&self.chain.clone(), "as drawn, again")?);
            }
        }
        Ok(())
    }
}

/// Keeps what was measured, or why not. That the user asks to stop ends all.
fn keep(
    outcome: Result<Passes>,
    failure: &mut Option<String>,
    keep: impl FnOnce(Passes),
) -> Result<()> {
    match outcome {
        Ok(passes) => keep(passes),
        Err(error) if error.is::<Interrupted>() => return Err(error),
        Err(error) => *failure = Some(format!("{error:#}")),
    }
    Ok(())
}
