//! What is done with a runner before the rounds: proof, sizes, compression and
//! calibration on every case.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_result::run::{Case, Fact, Measurement};

use crate::runners::check;
use crate::runners::compress::{measure_compression, Compressor};
use crate::runners::contender::{Cell, Epoch, RunnerContender};
use crate::runners::managed;
use crate::runners::plan::{Deviation, Plan};
use crate::schedule::{self, CellCost};

/// Repetitions of the compressors, which are not what is measured.
const COMPRESSION_RUNS: usize = 5;
/// So many epochs are the longest that a runner warms up for before it is asked how long
/// its epochs have to be.
const HEATING: f64 = 100.0;
/// Share of the time of what tells least: phases whose input has to be prepared,
/// and what costs no more than the harness.
const LOW_WEIGHT: f64 = 0.25;

/// What proofs leave behind beside the cells.
#[derive(Default)]
pub struct Proofs {
    /// Sizes.
    pub facts: Vec<Fact>,
    /// Times of the compressors.
    pub measurements: Vec<Measurement>,
    /// What a message costs in the bounds of a language, by case and experiment:
    /// the first of them is no operation.
    floors: HashMap<(String, usize, usize), f64>,
}

impl Proofs {
    /// A subject shows on every case that it is right, and how long its epochs
    /// have to be.
    ///
    /// # Errors
    /// When it is not right.
    pub fn prove(
        &mut self,
        contender: &mut RunnerContender,
        launch: &Launch,
    ) -> Result<(), RunnerError> {
        let plan = contender.plan;
        let began = Instant::now();
        let mut runner = Runner::start(launch, Limits::default(), None, plan.patience)?;
        contender.starting = began.elapsed();
        // A bound has nothing to show where only parts are asked for.
        if !contender.subject.bound {
            check_offered(&runner, plan)?;
        }
        contender.subject.library.clone_from(&runner.hello.library);
        contender.subject.unchecked = runner.hello.unchecked;
        contender.is_managed = runner.hello.managed;
        contender.compiles = runner.hello.compiles;
        if contender.is_managed {
            let least = managed::min_warm_up_ns(plan.settings.epoch_ns);
            contender.starting += Duration::from_nanos(least as u64);
        }
        for (case, load) in plan.cases.iter().enumerate() {
            let named = |trouble| name_case(trouble, &load.case, plan);
            let bound = contender.subject.bound;
            let judge = contender.entrant.judge.as_ref();
            let proven = check::prove(&mut runner, &load.samples, bound, judge).map_err(named)?;
            contender.starting += proven.loading;
            self.measure_sizes(plan, &load.case, launch, &proven.encoded)?;
            self.add_deviations(&load.case, launch, &proven.deviations);
            contender.deviations.push(proven.deviations);
            for experiment in 0..plan.experiments.len() {
                let cell = self.calibrate(contender, &mut runner, case, experiment);
                contender.cells.extend(cell.map_err(named)?);
            }
        }
        contender.loaded = runner.loaded_files();
        Ok(())
    }

    /// The largest deviations of a case.
    fn add_deviations(&mut self, case: &Case, launch: &Launch, deviations: &[Vec<Deviation>]) {
        let first = self.facts.len();
        for Deviation { metric, unit, value } in deviations.iter().flatten() {
            let known = self.facts[first..].iter_mut().find(|fact| fact.metric == *metric);
            match known {
                Some(fact) => fact.value = fact.value.max(*value),
                None => self.facts.push(Fact {
                    case: case.id.clone(),
                    subject: launch.id.clone(),
                    metric: metric.clone(),
                    unit: unit.clone(),
                    value: *value,
                }),
            }
        }
    }

    /// Sizes of encoded messages, as they are and, where that is wanted, compressed.
    fn measure_sizes(
        &mut self,
        plan: &Plan,
        case: &Case,
        launch: &Launch,
        encoded: &[Vec<u8>],
    ) -> Result<(), RunnerError> {
        let total: usize = encoded.iter().map(Vec::len).sum();
        if total == 0 {
            return Ok(());
        }
        let mut fact = |metric: String, value: f64| {
            self.facts.push(Fact {
                case: case.id.clone(),
                subject: launch.id.clone(),
                metric,
                unit: "B".into(),
                value,
            });
        };
        fact("size".into(), total as f64 / encoded.len() as f64);
        for compressor in Compressor::ALL.into_iter().filter(|_| plan.squeeze) {
            let name = compressor.name();
            let (mut compress, mut decompress) = (Vec::new(), Vec::new());
            for _ in 0..COMPRESSION_RUNS {
                let squeezed = measure_compression(compressor, encoded)
                    .map_err(|error| RunnerError::Refused(format!("{name}: {error}")))?;
                compress.push(Some(squeezed.compress_ns));
                decompress.push(Some(squeezed.decompress_ns));
                if compress.len() == 1 {
                    fact(format!("size/{name}"), squeezed.bytes);
                }
            }
            for (verb, samples) in [("compress", compress), ("decompress", decompress)] {
                self.measurements.push(Measurement {
                    case: case.id.clone(),
                    subject: launch.id.clone(),
                    metric: format!("{verb}/{name}"),
                    unit: "ns".into(),
                    iterations: vec![1],
                    samples: vec![samples],
                });
            }
        }
        Ok(())
    }

    /// How many messages make an epoch of an experiment, and what it is worth;
    /// none where the runner cannot do it.
    fn calibrate(
        &mut self,
        contender: &RunnerContender,
        runner: &mut Runner,
        case: usize,
        experiment: usize,
    ) -> Result<Option<Cell>, RunnerError> {
        let plan = contender.plan;
        let wanted = &plan.experiments[experiment];
        let bound = contender.subject.bound;
        // A part that a codec has by another name is no part of a bound's.
        let is_part = wanted.otherwise.is_some() && bound;
        if wanted.offered_name(&runner.hello.experiments).is_none() || is_part {
            return Ok(None);
        }
        let epoch = Epoch { plan, case, experiment: wanted, wanted: contender.expected(case) };
        if runner.hello.managed {
            let time = HEATING * plan.settings.epoch_ns as f64;
            managed::warm_up(time, epoch.pace(), |n| epoch.run(runner, n, None))?;
        }
        let Calibrated { iterations, ns, wall_ns } = calibrate(runner, &epoch)?;
        let each = ns / iterations as f64;
        let floor = self.floors.entry((contender.subject.language.clone(), case, experiment));
        let floor = *floor.or_insert(if bound { each } else { 0.0 });
        let prepared = matches!(wanted.name.as_str(), "encode/write" | "decode/extract");
        let weight = if floor * 2.0 >= each || prepared { LOW_WEIGHT } else { 1.0 };
        let warm_up = if runner.hello.managed { managed::WARM_UP_SHARE } else { 0.0 };
        let share = CellCost { wall_ns: wall_ns * (1.0 + warm_up), weight };
        let samples = Vec::new();
        Ok(Some(Cell { case, experiment, iterations, share, rounds: 0, samples, warm_up: None }))
    }
}

/// Whether a runner can do any of what is wanted.
fn check_offered(runner: &Runner, plan: &Plan) -> Result<(), RunnerError> {
    let offered = &runner.hello.experiments;
    if plan.experiments.iter().any(|wanted| wanted.offered_name(offered).is_some()) {
        return Ok(());
    }
    Err(RunnerError::Refused(format!(
        "offers none of the experiments ({}); a runner must offer at least encode and decode",
        offered.join(" ")
    )))
}

/// An epoch that is long enough.
struct Calibrated {
    /// Messages in it.
    iterations: u64,
    /// How long it was.
    ns: f64,
    /// How long it took to ask for it.
    wall_ns: f64,
}

fn calibrate(runner: &mut Runner, epoch: &Epoch) -> Result<Calibrated, RunnerError> {
    let pace = epoch.pace();
    let mut iterations = pace.messages;
    loop {
        let began = Instant::now();
        let ns = epoch.run(runner, iterations, None)?;
        if ns >= pace.epoch_ns || iterations >= schedule::MOST {
            return Ok(Calibrated { iterations, ns, wall_ns: began.elapsed().as_nanos() as f64 });
        }
        iterations = pace.more_iterations(iterations, ns);
    }
}

/// Names the case in what a codec said, where there are several.
fn name_case(trouble: RunnerError, case: &Case, plan: &Plan) -> RunnerError {
    match trouble {
        RunnerError::Refused(why) if plan.cases.len() > 1 => {
            RunnerError::Refused(format!("at {}: {why}", case.id))
        }
        RunnerError::Rejected(why) if plan.cases.len() > 1 => {
            RunnerError::Rejected(format!("at {}: {why}", case.id))
        }
        other => other,
    }
}
