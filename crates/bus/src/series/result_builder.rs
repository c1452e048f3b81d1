//! What a series finds, until it is a result.

use anyhow::Result;
use wiregauge_result::run::{
    Case, Curve, Fact, Measurement, Reference, Run, Settings, SlowestSample, Subject,
};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::warning::{self, Caution};
use wiregauge_system::interrupt::{self, Interrupted};

use crate::background::Background;
use crate::catalogue::engine;
use crate::result::measured_trial::MeasuredTrial;
use crate::series::context::SeriesContext;
use crate::series::transport_row::TransportRow;

/// What a series finds.
pub struct ResultBuilder {
    builder: RunBuilder,
    /// What was sampled.
    pub measurements: Vec<Measurement>,
    /// What was counted.
    pub facts: Vec<Fact>,
    /// What goes over something.
    pub curves: Vec<Curve>,
    /// What was slowest.
    pub slowest: Vec<SlowestSample>,
    /// What keeps it from being trusted.
    pub cautions: Vec<Caution>,
}

/// What a result says of itself.
pub struct ResultInfo {
    /// Its title.
    pub title: String,
    /// What was sent.
    pub cases: Vec<Case>,
    /// How many samples a measurement has.
    pub rounds: u32,
    /// What a sample is taken over, in nanoseconds.
    pub epoch_ns: u64,
    /// What loaded the hosts meanwhile.
    pub background: Background,
    /// Seed of the samples' content.
    pub seed: u64,
    /// What was published of the same.
    pub reference: Option<Reference>,
}

/// A result of the bus.
pub struct BusResult {
    /// The result.
    pub run: Run,
    /// Whether the user asked to stop, so that it is not all.
    pub interrupted: bool,
    /// Whether a transport lost samples that promises to lose none.
    pub has_losses: bool,
}

impl ResultBuilder {
    /// Nothing so far. The machine is watched from now on.
    pub fn new(context: &SeriesContext) -> ResultBuilder {
        let mut builder = RunBuilder::begin(RunKind::Bus);
        let mut tools = (context.tool_versions)();
        tools.insert("Engine flags".into(), engine::flags());
        builder.watch_machine(tools);
        ResultBuilder {
            builder,
            measurements: Vec::new(),
            facts: Vec::new(),
            curves: Vec::new(),
            slowest: Vec::new(),
            cautions: Vec::new(),
        }
    }

    /// All that is known of a trial.
    pub fn add(&mut self, measured: &MeasuredTrial, title: &str) {
        self.measurements.extend(measured.measurements());
        self.facts.extend(measured.facts());
        self.curves.extend(measured.curves());
        self.curves.extend(measured.timelines());
        self.slowest.extend(measured.slowest_samples());
        self.cautions.extend(measured.cautions(title));
    }

    /// How many points a row's message has.
    pub fn add_points(&mut self, case: &str, subject: &str, points: f64) {
        let (case, subject) = (case.into(), subject.into());
        let (metric, unit) = ("points".into(), "1".into());
        self.facts.push(Fact { case, subject, metric, unit, value: points });
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.measurements.is_empty() && self.facts.is_empty() && self.curves.is_empty()
    }

    /// The result: what there is of it, where the user asked to stop.
    ///
    /// # Errors
    /// That the user asked to stop before anything was found.
    pub fn finish(mut self, about: ResultInfo, rows: Vec<TransportRow>) -> Result<BusResult> {
        let interrupted = interrupt::interrupted();
        if interrupted {
            if self.is_empty() {
                return Err(Interrupted.into());
            }
            self.cautions.push(Caution::Interrupted);
        }
        let has_losses =
            self.cautions.iter().any(|caution| matches!(caution, Caution::Lost { .. }));
        let settings = Settings {
            processes: 1,
            rounds: about.rounds,
            epoch_ns: about.epoch_ns,
            // As `CodecProcess::start` sets the codecs' runners.
            buffers: "reused".into(),
            objects: "fresh".into(),
            scratch: "reused".into(),
            seed: about.seed,
            background: about.background.to_string(),
        };
        let (subjects, failures): (Vec<Subject>, Vec<Vec<Caution>>) =
            rows.into_iter().map(TransportRow::into_subject).unzip();
        let mut run = Run {
            cases: about.cases,
            subjects,
            measurements: self.measurements,
            facts: self.facts,
            curves: self.curves,
            slowest: self.slowest,
            reference: about.reference,
            ..self.builder.finish(about.title, settings)
        };
        let mut cautions = run.environment.cautions();
        cautions.append(&mut self.cautions);
        cautions.extend(failures.into_iter().flatten());
        run.warnings = warning::merge(&cautions);
        Ok(BusResult { run, interrupted, has_losses })
    }
}
