//! One load over one transport.

use std::path::Path;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_participant::coder::Coding;
use wiregauge_participant::control::{Assignment, Role};
use wiregauge_participant::realtime::Realtime;
use wiregauge_participant::scratch::Scratch;
use wiregauge_participant::transport::Topic;
use wiregauge_result::environment::Environment;

use crate::catalogue::Entry;
use crate::conductor::{conduct_keeping, Account};
use crate::load::Load;
use crate::program::Program;
use crate::result::{DROPPED_FIRST, DROPPED_LAST};
use crate::samples::Rows;
use crate::site::{Place, Site};

/// How long a run lasts unless the user says so: ten windows of a second count,
/// and to tell seven transports apart by a sign test takes eight.
pub const LENGTH: Duration = Duration::from_secs(15);
/// Least and most silence that may be borne: beats come ten times a second.
const LEAST_ALIVE: Duration = Duration::from_millis(300);
const MOST_ALIVE: Duration = Duration::from_secs(600);

/// What holds for all trials of a series.
#[derive(Clone, Debug)]
pub struct Terms {
    /// How long samples are sent.
    pub duration: Duration,
    /// Shortest window of a receiver.
    pub window: Duration,
    /// How long a step may go unacknowledged.
    pub patience: Duration,
    /// Whether a message of its own announces a step.
    pub announced: bool,
    /// How many round trips are taken before, at most.
    pub round_trips: u64,
    /// How long a participant or a machine may be silent before it is lost.
    pub alive: Duration,
    /// What participants ask of the system.
    pub realtime: Realtime,
    /// Seed of the samples' content.
    pub seed: u64,
    /// What else to say to transports.
    pub choices: Vec<Choice>,
}

impl Terms {
    /// What a reader of the figures must know of them.
    pub fn notes(&self) -> Option<String> {
        (!self.realtime.is_none()).then(|| format!("participants run with {}", self.realtime))
    }

    /// Whether they make sense for these transports.
    ///
    /// # Errors
    /// Too short a run for its windows, or an option for no transport of it.
    pub fn check(&self, entries: &[Entry]) -> Result<()> {
        let windows = (DROPPED_FIRST + DROPPED_LAST + 1) as u32;
        ensure!(
            self.window.checked_mul(windows).is_some_and(|least| self.duration > least)
                && !self.window.is_zero(),
            "the duration must be more than {windows} windows of {:?}: the first {DROPPED_FIRST} \
             and the last are dropped",
            self.window
        );
        ensure!(
            (LEAST_ALIVE..=MOST_ALIVE).contains(&self.alive),
            "who is silent is lost within {LEAST_ALIVE:?} to {MOST_ALIVE:?}, not {:?}",
            self.alive
        );
        self.realtime.check()?;
        for Choice { transport, .. } in &self.choices {
            let known = entries.iter().any(|entry| entry.transport == *transport);
            ensure!(known, "an option is for '{transport}', which takes no part in this run");
        }
        Ok(())
    }
}

/// Something to say to a transport.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What the program calls it: `dds`.
    pub transport: String,
    /// What is chosen: `domain`.
    pub name: String,
    /// And how.
    pub value: String,
}

/// A load over a transport.
pub struct Trial<'a> {
    /// Where.
    pub site: &'a Site,
    /// What is sent.
    pub load: &'a Load,
    /// Over what.
    pub entry: &'a Entry,
    /// The program that brings it.
    pub program: &'a Program,
    /// The codec whose bytes are sent, if not generated content.
    pub coding: Option<&'a Coding>,
    /// How.
    pub terms: &'a Terms,
}

impl Trial<'_> {
    /// Carries it out. Tells the state that the participants are in. Beside
    /// what they saw comes what the machine did meanwhile.
    ///
    /// # Errors
    /// When a participant cannot do its part or is lost, or the user asks to
    /// stop.
    pub fn run(&self, show: &dyn Fn(&str)) -> Result<(Account, Environment)> {
        self.run_keeping(show, 0, None)
    }

    /// Carries it out in the same way, and passes on each sample by itself, so
    /// many of them.
    ///
    /// # Errors
    /// As [`Trial::run`].
    pub fn run_keeping(
        &self,
        show: &dyn Fn(&str),
        samples: u64,
        keep: Option<&mut dyn FnMut(&Rows)>,
    ) -> Result<(Account, Environment)> {
        let stations = self.site.stations(self.load.receivers, self.entry.reach);
        let mut machine = Environment::probe(IndexMap::new());
        // As long as the run, and gone with it.
        let scratch = Scratch::new().context("no folder for the run")?;
        let assignment = Assignment { keep: samples, ..self.assignment(scratch.path()) };
        let outcome = conduct_keeping(self.site, self.program, stations, &assignment, show, keep);
        machine.finish();
        // The machine that lost most tells whether the run is of use.
        let steal = self.site.places.iter().filter_map(Place::steal);
        machine.activity.steal = steal.chain(machine.activity.steal).reduce(f64::max);
        Ok((outcome?, machine))
    }

    /// What a participant is to do; its role and its address are its own.
    fn assignment(&self, scratch: &Path) -> Assignment {
        let Trial { load, entry, terms, .. } = self;
        let own = entry.options.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let chosen = terms.choices.iter().filter(|choice| choice.transport == entry.transport);
        let chosen = chosen.map(|choice| (choice.name.clone(), choice.value.clone()));
        Assignment {
            role: Role::Receiver,
            transport: entry.transport.into(),
            topic: Topic {
                // So that runs at the same time do not meet. DDS takes no hyphens.
                name: format!("wiregauge_{}_{}", std::process::id(), entry.transport),
                size: load.size,
                bind: self.site.places[0].address(),
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
