//! One load over one transport.

use std::path::Path;

use anyhow::{Context, Result};
use indexmap::IndexMap;
use wiregauge_participant::codec_process::CodecSetup;
use wiregauge_participant::control::{Assignment, Role};
use wiregauge_participant::transport::{Topic, TopicSet};
use wiregauge_result::environment::Environment;
use wiregauge_timing::scratch::Scratch;

use crate::catalogue::program::Program;
use crate::catalogue::TransportEntry;
use crate::conduct::conductor::conduct;
use crate::conduct::samples::SampleRows;
use crate::load::Load;
use crate::placement::{Location, Placement};
use crate::record::RunRecord;
use crate::run_settings::RunSettings;

/// How many samples are passed on, and to what.
pub type SampleSink<'a> = (u64, &'a mut dyn FnMut(&SampleRows));

/// A load over a transport.
pub struct Trial<'a> {
    /// Where.
    pub placement: &'a Placement,
    /// What is sent.
    pub load: &'a Load,
    /// Over what.
    pub entry: &'a TransportEntry,
    /// The program that brings it.
    pub program: &'a Program,
    /// The codec whose bytes are sent, if not generated content.
    pub coding: Option<&'a CodecSetup>,
    /// How.
    pub settings: &'a RunSettings,
}

impl Trial<'_> {
    /// Carries it out. Tells the state that the participants are in, and passes
    /// on so many samples, each by itself, where they are to be kept. Beside what
    /// the participants saw comes what the machine did meanwhile.
    ///
    /// # Errors
    /// When a participant cannot do its part or is lost, or the user asks to
    /// stop.
    pub fn run(
        &self,
        show: &dyn Fn(&str),
        keep: Option<SampleSink>,
    ) -> Result<(RunRecord, Environment)> {
        let Load { senders, receivers, .. } = *self.load;
        let plans = self.placement.plans_of_senders(senders, receivers, self.entry.reach);
        let mut machine = Environment::probe(IndexMap::new());
        // As long as the run, and gone with it.
        let scratch = Scratch::new().context("the run has no folder")?;
        let (most, keep) = keep.unzip();
        let assignment = Assignment { keep: most.unwrap_or(0), ..self.assignment(scratch.path()) };
        let (placement, background) = (self.placement, self.settings.background);
        let outcome = conduct(placement, self.program, plans, &assignment, background, show, keep);
        machine.finish();
        // The machine that lost most tells whether the run is of use.
        let steal = self.placement.locations.iter().filter_map(Location::steal);
        machine.activity.steal = steal.chain(machine.activity.steal).reduce(f64::max);
        Ok((outcome?, machine))
    }

    /// What a participant is to do; its role and its address are its own.
    fn assignment(&self, scratch: &Path) -> Assignment {
        let Trial { load, entry, settings: terms, .. } = self;
        let own = entry.options.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let chosen = terms.choices.iter().filter(|choice| choice.transport == entry.transport());
        let chosen = chosen.map(|choice| (choice.name.clone(), choice.value.clone()));
        Assignment {
            role: Role::Receiver,
            transport: entry.transport().into(),
            topic: Topic {
                // So that runs at the same time do not meet. DDS takes no hyphens.
                name: format!("wiregauge_{}_{}", std::process::id(), entry.transport()),
                several: load.has_several().then_some(TopicSet {
                    senders: load.senders,
                    each: load.topics,
                    sender: 0,
                }),
                size: load.size,
                varies: false,
                bind: self.placement.locations[0].address(),
                readers: load.receivers,
                // Each run's own.
                token: String::new(),
                scratch: Some(scratch.to_owned()),
                options: chosen.chain(own).collect(),
            },
            seed: terms.seed,
            mode: load.mode,
            cycle: load.cycle.as_nanos() as u64,
            fast: load.fast,
            duration: terms.duration.as_nanos() as u64,
            window: terms.window.as_nanos() as u64,
            announced: terms.announced,
            patience: terms.patience.as_nanos() as u64,
            round_trips: terms.round_trips,
            alive: terms.alive.as_nanos() as u64,
            realtime: terms.realtime.clone(),
            coding: self.coding.cloned(),
            keep: 0,
        }
    }
}
