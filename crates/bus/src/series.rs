//! Loads over transports, one run after another, and the result of all.

pub mod context;
pub mod payload;
pub mod result_builder;
pub mod samples_file;
pub mod transport_row;

use anyhow::{anyhow, ensure, Result};
use wiregauge_result::run::{Case, Reference};
use wiregauge_sample_log::row_file::WrittenRows;
use wiregauge_system::file::Target;
use wiregauge_system::interrupt::{self, Interrupted};

use crate::catalogue::TransportEntry;
use crate::conduct::samples::SampleRows;
use crate::conduct::trial::Trial;
use crate::load::{self, Load};
use crate::machines::cyclictest;
use crate::placement::Placement;
use crate::record::windows::{DROPPED_FIRST, DROPPED_LAST};
use crate::result::measured_trial::MeasuredTrial;
use crate::run_settings::RunSettings;
use crate::scenario::Scenario;
use crate::series::context::SeriesContext;
use crate::series::payload::PayloadMessage;
use crate::series::result_builder::{BusResult, ResultBuilder, ResultInfo};
use crate::series::samples_file::{receiver_names, samples_per_load, SeriesSamples};
use crate::series::transport_row::TransportRow;

/// Loads over transports.
pub struct Series {
    /// Title of the result.
    pub title: String,
    /// What is sent.
    pub loads: Vec<Load>,
    /// Over what.
    pub entries: Vec<TransportEntry>,
    /// Where.
    pub placement: Placement,
    /// How; whoever makes a series has checked it.
    pub terms: RunSettings,
    /// The message that is carried, if not generated content.
    pub cargo: Option<PayloadMessage>,
    /// Where every sample is kept, if anywhere.
    pub samples: Option<Target>,
    /// What was published of the same.
    pub reference: Option<Reference>,
}

/// What came of a series.
pub struct MeasuredSeries {
    /// The result, or that the user asked to stop before anything was found.
    pub result: Result<BusResult>,
    /// What became of the file of samples, where there is one.
    pub samples: Option<WrittenRows>,
}

impl Series {
    /// What a scenario says, at this placement.
    pub fn from_scenario(scenario: Scenario, placement: Placement) -> Series {
        let Scenario { title, entries, loads, terms, .. } = scenario;
        Series {
            title,
            loads,
            entries,
            placement,
            terms,
            cargo: None,
            samples: None,
            reference: None,
        }
    }

    /// Runs all, with something that is done before each load over a transport.
    ///
    /// # Errors
    /// More samples than a file has, no way to write them, a link to load and none there, or that the user asks to stop
    /// before anything runs.
    pub fn measure(self, context: &SeriesContext, before: &dyn Fn()) -> Result<MeasuredSeries> {
        let terms = &self.terms;
        terms.background.check_link(self.placement.has_link())?;
        ensure!(
            self.samples.is_none() || !self.loads.iter().any(Load::has_several),
            "--samples keeps the samples of one sender on one topic; leave it out, or measure one"
        );
        let codecs = self.cargo.as_ref().map_or(1, |cargo| cargo.codecs.len());
        let each = self.entries.len() * codecs;
        let allotted = samples_per_load(self.samples.as_ref(), &self.loads, each, terms.duration)?;
        let mut rows = TransportRow::for_transports(&self.entries, &self.placement, context)?;
        if let Some(cargo) = &self.cargo {
            let with = |row: &TransportRow| -> Vec<TransportRow> {
                cargo.codecs.iter().map(|codec| row.with_codec(codec, &terms.choices)).collect()
            };
            rows = rows.iter().flat_map(with).collect();
        }
        let mut builder = ResultBuilder::new(context);
        let mut cases = load::cases(&self.loads, self.cargo.as_ref().map(|cargo| &cargo.case));
        (context.show)("measuring how late this machine wakes up", 0, 0);
        let wake_ups = cyclictest::measure(&terms.realtime).map(|found| found.to_string());
        for case in &mut cases {
            case.notes.extend(self.placement.notes());
            case.notes.extend(terms.notes());
            case.notes.extend(wake_ups.clone());
        }
        let swept = cases.iter().any(|case| case.parameter.is_some());
        let total = self.loads.len() * rows.iter().filter(|row| row.program.is_some()).count();
        let mut done = 0;
        let receivers = receiver_names(&self.placement, &self.loads, &self.entries);
        let begin = |target| SeriesSamples::create(target, allotted, &cases, &rows, receivers);
        let mut keeping = self.samples.map(begin).transpose()?;
        let mut notes: Vec<(usize, String)> = Vec::new();
        'all: for (number, (load, Case { id, .. })) in self.loads.iter().zip(&cases).enumerate() {
            for row in &mut rows {
                let Some(program) = &row.program else { continue };
                let what = format!("{}, {id}", row.title());
                before();
                (context.show)(&what, done, total);
                let show = |state: &str| (context.show)(&format!("{what}: {state}"), done, total);
                let load = &row.carried_load(load);
                let coding = row.codec.as_ref().and_then(|codec| codec.coding.as_ref());
                let (placement, entry) = (&self.placement, &row.entry);
                let trial = Trial { placement, load, entry, program, coding, settings: terms };
                let kept = keeping.as_ref().map_or(0, |keeping| keeping.allotted[number]);
                let outcome = match &mut keeping {
                    Some(SeriesSamples { samples, .. }) => {
                        let subject = row.id();
                        let mut keep = |rows: &SampleRows| samples.add(id, subject, load, rows);
                        trial.run(&show, Some((kept, &mut keep)))
                    }
                    None => trial.run(&show, None),
                };
                done += 1;
                match outcome {
                    Ok((record, machine)) => {
                        row.mark_measured(&record.about, &terms.choices);
                        let (subject, record, machine) = (row.id(), &record, &machine);
                        let measured = MeasuredTrial { case: id, load, subject, record, machine };
                        builder.add(&measured, row.title());
                        if let Some(points) = self.cargo.as_ref().and_then(|cargo| cargo.points) {
                            builder.add_points(id, subject, points);
                        }
                        notes.extend(
                            measured.describe_misses(row.title()).map(|told| (number, told)),
                        );
                        let sent = record.sent.samples;
                        if keeping.is_some() && sent > kept {
                            let left = format!(
                                "{}: the file of samples has the first {kept} of {sent} samples",
                                row.title()
                            );
                            notes.push((number, left));
                        }
                        if swept {
                            builder.measurements.extend(measured.slowest());
                        }
                        let losses = measured.losses(row.title(), terms.lets_drop(&row.entry));
                        builder.cautions.extend(losses);
                        if let Some(reason) = &record.broken {
                            notes.push((number, format!("{} ended early: {reason}", row.title())));
                            if interrupt::interrupted() {
                                break 'all;
                            }
                            row.mark_failed(
                                id,
                                &anyhow!("{reason}; the figures are from the time before that"),
                            );
                        }
                    }
                    Err(error) if error.is::<Interrupted>() => break 'all,
                    Err(error) => row.mark_failed(id, &error),
                }
            }
        }
        for (number, note) in notes {
            cases[number].notes.push(note);
        }
        let rounds = (terms.duration.as_nanos() / terms.window.as_nanos()) as u32;
        let about = ResultInfo {
            title: self.title,
            cases,
            rounds: rounds - (DROPPED_FIRST + DROPPED_LAST) as u32,
            epoch_ns: terms.window.as_nanos() as u64,
            background: terms.background,
            seed: terms.seed,
            reference: self.reference,
        };
        let samples = keeping.map(|keeping| keeping.samples.finish());
        Ok(MeasuredSeries { result: builder.finish(about, rows), samples })
    }
}
