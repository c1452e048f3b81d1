//! The result of a chain: what was measured, as `run.json` has it.

use std::time::Duration;

use wiregauge_participant::sample::HEADER_SIZE;
use wiregauge_result::run::{Case, Curve, Fact, Measurement, Run, Settings, Status, Subject};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::stats::{median, sorted};
use wiregauge_result::warning::{self, Caution, Warning};

use crate::chain::{read_name, Chain};
use crate::change::rate;
use crate::distribution::TimeDistribution;
use crate::measurement::{all, MeasuredChain, Proposal};
use crate::passes::{HopTimes, Pass, Passes};
use crate::prediction::Prediction;

/// The case of the whole chain.
const WHOLE: &str = "end to end";
/// The subject of the chain as it is drawn.
const DRAWN: &str = "drawn";
/// Shares that become figures.
const REPORTED_SHARES: [(f64, &str); 4] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];
/// The parts of a hop, in the order in which they come.
type Part = (&'static str, fn(&HopTimes) -> u64);
const PARTS: [Part; 6] = [
    ("encode", |hop| hop.encode),
    ("carry", |hop| hop.carry),
    ("wait", |hop| hop.wait),
    ("decode", |hop| hop.decode),
    ("work", |hop| hop.work),
    ("overhead", HopTimes::overhead),
];
/// Share of a chain that the instrument may take before it is warned of.
const MOST_OVERHEAD: f64 = 0.05;
/// Share of a chain by which the clocks of its machines may be uncertain before it is warned of.
const MOST_CLOCK_SHARE: f64 = 0.05;
/// Share of the cycles of a stage that may be missed before it is warned of.
const MOST_MISSED: f64 = 0.001;
/// By how much a prediction may be off at the median before it is warned of.
const MOST_OFF: f64 = 0.15;

/// The result of a measurement, which `builder` has begun.
pub fn to_run(measured: &MeasuredChain, builder: RunBuilder) -> Run {
    let chain = &measured.chain;
    let drawn = measured.all_drawn();
    let mut found = Figures::default();
    found.add_chain(DRAWN, chain, &measured.drawn, measured);
    found.add_prediction(DRAWN, &measured.predicted);
    found.fact(WHOLE, DRAWN, "speed", "m/s", chain.speed);
    let mut subjects = vec![Subject { library: libraries(measured), ..subject(DRAWN, "as drawn") }];
    for proposal in &measured.proposals {
        let id = proposal.change.id(chain);
        if let Some(predicted) = &proposal.predicted {
            found.add_prediction(&id, predicted);
        }
        if !proposal.measured.is_empty() {
            found.add_chain(&id, &proposal.chain, &proposal.measured, measured);
        }
        let status = status(proposal);
        subjects.push(Subject { status, ..subject(&id, &proposal.change.title(chain)) });
    }
    let stretches = measured.drawn.iter().map(|run| groups(&run.passes).len());
    let settings = Settings {
        processes: measured.drawn.len() as u32,
        rounds: stretches.max().unwrap_or(0) as u32,
        epoch_ns: 0,
        // As `CodecProcess::start` sets the codecs' runners.
        buffers: "reused".into(),
        objects: "fresh".into(),
        scratch: "reused".into(),
        background: String::new(),
        seed: chain.seed,
    };
    let mut run = Run {
        cases: cases(measured),
        subjects,
        measurements: found.measurements,
        facts: found.facts,
        curves: found.curves,
        ..builder.finish(chain.title.clone(), settings)
    };
    let mut cautions = run.environment.cautions();
    if measured.interrupted {
        cautions.push(Caution::Interrupted);
    }
    if drawn.unfinished > 0 {
        let of = drawn.unfinished + drawn.passes.len() as u64;
        cautions.push(Caution::Lost { cell: "the chain".into(), lost: drawn.unfinished, of });
    }
    let damaged: u64 = drawn.damaged.iter().sum();
    if damaged > 0 || drawn.passes.is_empty() {
        let reason = match damaged {
            0 => "no sample came through".to_owned(),
            count => format!("{count} samples came and were not what was sent"),
        };
        cautions.push(Caution::Failed { cell: "the chain".into(), reason });
    }
    run.warnings = warning::merge(&cautions);
    run.warnings.extend(warnings(measured, &drawn));
    run
}

fn subject(id: &str, title: &str) -> Subject {
    Subject::new(id, title, "any")
}

fn status(proposal: &Proposal) -> Status {
    match &proposal.failure {
        Some(why) => Status::Skipped(why.clone()),
        None if proposal.measured.is_empty() => Status::Skipped("predicted, not measured".into()),
        None => Status::Measured,
    }
}

/// The libraries of the codecs, hop by hop.
fn libraries(measured: &MeasuredChain) -> String {
    let mut libraries: Vec<&str> =
        measured.chain.hops.iter().map(|hop| measured.messages.library(hop)).collect();
    libraries.dedup();
    libraries.join(", ")
}

/// The whole, and each hop.
fn cases(measured: &MeasuredChain) -> Vec<Case> {
    let chain = &measured.chain;
    let names: Vec<&str> = chain.stages.iter().map(|stage| stage.name.as_str()).collect();
    let place = match measured.machines.len() {
        0 => "one machine".to_owned(),
        others => format!("{} machines", others + 1),
    };
    let mut whole = Case::new(WHOLE, names.join(" to "), place);
    for stage in &chain.stages {
        let when = match (stage.period, stage.offset) {
            (0, _) => "when a sample comes".to_owned(),
            (period, None) => format!("at {}, its clock its own", rate(period)),
            (period, Some(offset)) => {
                let offset = Duration::from_nanos(offset);
                format!("at {}, {offset:?} after the common beginning", rate(period))
            }
        };
        let work = Duration::from_nanos(stage.work);
        let work = if stage.work > 0 { format!(", works {work:?}") } else { String::new() };
        let machine = stage.machine.as_deref().filter(|_| !measured.machines.is_empty());
        let machine = machine.map(|name| format!(", on {name}")).unwrap_or_default();
        whole.notes.push(format!("{}: {when}{work}{machine}", stage.name));
    }
    whole.notes.extend(measured.machines.iter().cloned());
    if let Some(uncertainty) = measured.all_drawn().clock_uncertainty {
        let known = Duration::from_nanos(uncertainty);
        whole.notes.push(format!("the clocks of the machines are known to {known:.1?}"));
    }
    let hops = chain.hops.iter().enumerate().map(|(place, hop)| {
        let (message, source) = measured.messages.name(hop);
        let mut case = Case::new(chain.hop_title(place), message, source);
        let size = measured.messages.size(hop).unwrap_or(0);
        case.notes.push(format!(
            "{size} B in {}, over {}; the receiver does: {}",
            hop.codec,
            hop.transport.title,
            read_name(hop.read)
        ));
        case
    });
    let hops: Vec<Case> = hops.collect();
    whole.notes.extend(measured.messages.left_out());
    std::iter::once(whole).chain(hops).collect()
}

/// Passes of each stretch.
fn groups(passes: &[Pass]) -> Vec<&[Pass]> {
    passes.chunk_by(|a, b| a.stretch == b.stretch).collect()
}

/// What becomes of figures.
#[derive(Default)]
struct Figures {
    measurements: Vec<Measurement>,
    facts: Vec<Fact>,
    curves: Vec<Curve>,
}

impl Figures {
    fn fact(&mut self, case: &str, subject: &str, metric: &str, unit: &str, value: f64) {
        let (case, subject) = (case.into(), subject.into());
        let (metric, unit) = (metric.into(), unit.into());
        self.facts.push(Fact { case, subject, metric, unit, value });
    }

    /// A sample for each stretch of each run: the median of what `of` says of its passes.
    fn sampled(
        &mut self,
        case: &str,
        subject: &str,
        metric: String,
        runs: &[Passes],
        of: &dyn Fn(&Pass) -> u64,
    ) {
        let of_group = |group: &&[Pass]| median(group.iter().map(|pass| of(pass) as f64));
        let samples: Vec<Vec<Option<f64>>> =
            runs.iter().map(|run| groups(&run.passes).iter().map(of_group).collect()).collect();
        self.measurements.push(Measurement {
            case: case.into(),
            subject: subject.into(),
            metric,
            unit: "ns".into(),
            iterations: vec![1; samples.len()],
            samples,
        });
    }

    /// All that is known of runs of a chain.
    fn add_chain(
        &mut self,
        subject: &str,
        chain: &Chain,
        runs: &[Passes],
        measured: &MeasuredChain,
    ) {
        let passes = all(runs);
        self.sampled(WHOLE, subject, "chain".into(), runs, &|pass| pass.latency);
        for (name, part) in PARTS {
            let of = |pass: &Pass| pass.hops.iter().map(part).sum::<u64>();
            self.sampled(WHOLE, subject, format!("chain/{name}"), runs, &of);
        }
        let latencies = TimeDistribution::of_latencies(&passes.passes);
        self.distribution(subject, "chain", &latencies);
        self.distribution(subject, "reaction", &TimeDistribution::of_reactions(&passes.passes));
        let total: u64 = passes.passes.iter().map(|pass| pass.latency).sum();
        let shares: [Part; 2] =
            [("serialization", |hop| hop.encode + hop.decode), ("overhead", HopTimes::overhead)];
        for (name, of) in shares {
            let part: u64 = passes.passes.iter().flat_map(|pass| &pass.hops).map(of).sum();
            if total > 0 {
                self.fact(WHOLE, subject, name, "%", 100.0 * part as f64 / total as f64);
            }
        }
        let sums = [
            ("unfinished", passes.unfinished),
            ("overwritten", passes.overwritten.iter().sum()),
            ("missed", passes.missed.iter().sum()),
        ];
        for (name, count) in sums {
            self.fact(WHOLE, subject, name, "1", count as f64);
        }
        if let Some(uncertainty) = passes.clock_uncertainty {
            self.fact(WHOLE, subject, "clock/uncertainty", "ns", uncertainty as f64);
        }
        for (place, hop) in chain.hops.iter().enumerate() {
            let case = measured.chain.hop_title(place);
            self.sampled(&case, subject, "hop".into(), runs, &|pass| pass.hops[place].sum());
            for (name, part) in PARTS {
                let of = |pass: &Pass| part(&pass.hops[place]);
                self.sampled(&case, subject, format!("hop/{name}"), runs, &of);
                let times = passes.passes.iter().map(|pass| part(&pass.hops[place]) as f64);
                let times = sorted(times);
                let told = [(0.5, "p50", 1), (0.99, "p99", 100)].into_iter();
                for (share, told, _) in told.filter(|(.., least)| times.len() >= *least) {
                    let time = Prediction::quantile(&times, share);
                    self.fact(&case, subject, &format!("hop/{name}/{told}"), "ns", time);
                }
            }
            let size = measured.messages.size(hop).unwrap_or(0) + HEADER_SIZE;
            self.fact(&case, subject, "size", "B", size as f64);
            let to = place + 1;
            self.fact(&case, subject, "arrived", "1", passes.arrived[to] as f64);
            self.fact(&case, subject, "overwritten", "1", passes.overwritten[to] as f64);
            self.fact(&case, subject, "missed", "1", passes.missed[to] as f64);
        }
    }

    fn distribution(&mut self, subject: &str, metric: &str, times: &TimeDistribution) {
        self.curves.push(Curve {
            case: WHOLE.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: "ns".into(),
            over: "share".into(),
            points: times.shares.clone(),
        });
        for (share, name) in REPORTED_SHARES {
            if let Some(time) = times.quantile(share) {
                self.fact(WHOLE, subject, &format!("{metric}/{name}"), "ns", time);
            }
        }
        self.fact(WHOLE, subject, &format!("{metric}/max"), "ns", times.most);
        // What can be said of a share depends on how many independent ones there are.
        self.fact(WHOLE, subject, &format!("{metric}/count"), "1", times.independent.floor());
        self.fact(WHOLE, subject, &format!("{metric}/samples"), "1", times.count as f64);
    }

    fn add_prediction(&mut self, subject: &str, predicted: &Prediction) {
        for (metric, times) in [("chain", &predicted.chain), ("reaction", &predicted.reaction)] {
            for (share, name) in REPORTED_SHARES {
                let time = Prediction::quantile(times, share);
                self.fact(WHOLE, subject, &format!("predicted/{metric}/{name}"), "ns", time);
            }
        }
    }
}

/// What else keeps the figures from being trusted.
fn warnings(measured: &MeasuredChain, drawn: &Passes) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let latency: u64 = drawn.passes.iter().map(|pass| pass.latency).sum();
    let overhead: u64 =
        drawn.passes.iter().flat_map(|pass| &pass.hops).map(HopTimes::overhead).sum();
    let share = overhead as f64 / latency.max(1) as f64;
    if share > MOST_OVERHEAD {
        warnings.push(Warning {
            code: "overhead".into(),
            text: format!(
                "{:.0} % of the chain is the time to ask the codecs' own processes, which no \
                 chain of yours has.",
                100.0 * share
            ),
            remedy: "Subtract the part 'overhead', or measure the hop with 'wiregauge bus run \
                     --codecs', where it is in no figure."
                .into(),
        });
    }
    warnings.extend(clock_warning(drawn));
    for (place, stage) in measured.chain.stages.iter().enumerate() {
        let cycles = drawn.lateness[place].len() as u64 + drawn.missed[place];
        if drawn.missed[place] as f64 > MOST_MISSED * cycles as f64 {
            warnings.push(Warning {
                code: "missed".into(),
                text: format!(
                    "{} missed {} of {cycles} cycles: it was still at the one before.",
                    stage.name, drawn.missed[place]
                ),
                remedy: "Give it a longer cycle or less to do, or measure on more processors."
                    .into(),
            });
        }
    }
    let pairs = std::iter::once((&measured.predicted, &measured.drawn, "the chain".to_owned()));
    let changes = measured.proposals.iter().filter_map(|proposal| {
        let title = proposal.change.title(&measured.chain);
        Some((proposal.predicted.as_ref()?, &proposal.measured, title))
    });
    for (predicted, runs, title) in pairs.chain(changes) {
        let passes = all(runs).passes;
        let found = median(passes.iter().map(|pass| pass.latency as f64));
        let Some(found) = found.filter(|found| *found > 0.0) else { continue };
        let off = Prediction::quantile(&predicted.chain, 0.5) / found - 1.0;
        if off.abs() > MOST_OFF {
            warnings.push(Warning {
                code: "prediction".into(),
                text: format!(
                    "The parts predict {:+.0} % of the measured median of {title}: stages \
                     disturb each other, or the machine changed meanwhile.",
                    100.0 * off
                ),
                remedy: "Trust the measured figures only; measure longer, or on a machine with a \
                         processor for each stage."
                    .into(),
            });
        }
    }
    warnings
}

/// That clocks are not known well enough for what was carried from machine to machine.
fn clock_warning(drawn: &Passes) -> Option<Warning> {
    let uncertainty = drawn.clock_uncertainty? as f64;
    let carries = drawn.hops.iter().flatten().map(|hop| hop.carry);
    // Whatever arrives before it was sent is told as 0.
    let early = carries.filter(|carry| *carry == 0).count();
    let latency = median(drawn.passes.iter().map(|pass| pass.latency as f64))?;
    (early > 0 || uncertainty > MOST_CLOCK_SHARE * latency).then(|| Warning {
        code: "clock".into(),
        text: format!(
            "The clocks of the machines are known to {:.0} \u{b5}s, {:.0} % of the chain{}.",
            uncertainty / 1e3,
            100.0 * uncertainty / latency.max(1.0),
            match early {
                0 => String::new(),
                count => format!("; {count} samples seem to arrive before they were sent"),
            }
        ),
        remedy: "Trust a hop between machines, and the whole, no further than that; connect them \
                 by a link that nothing else loads."
            .into(),
    })
}
