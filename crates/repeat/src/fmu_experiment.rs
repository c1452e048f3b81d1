//! A published experiment of FMUs.

use anyhow::Result;
use wiregauge_build_tools::Progress;
use wiregauge_cosim::master::plan::Load;
use wiregauge_cosim_run::fmu_entrants::{FmuEntrants, Member};
use wiregauge_cosim_run::measurement::CosimWorkload;
use wiregauge_osi::fmus::Model;
use wiregauge_result::run::{Reference, Run};

use crate::publication::Publication;

/// A published experiment of FMUs, to be repeated whole by its name.
pub struct FmuExperiment {
    /// What it repeats.
    pub publication: Publication,
    /// What it does, in a line, and after an empty line what else there is to know.
    pub explanation: &'static str,
    /// Title of the result.
    pub title: &'static str,
    /// The FMU that takes the source's messages.
    pub model: Model,
    /// What it is measured on.
    pub cases: fn() -> Vec<Load>,
    /// Who takes part.
    pub members: fn() -> Vec<Member>,
    /// The published figures.
    pub reference: fn() -> Reference,
    /// Adds what follows from the measurements.
    pub derive: fn(&mut Run),
}

inventory::collect!(FmuExperiment);

impl FmuExperiment {
    /// All of them.
    pub fn all() -> Vec<&'static FmuExperiment> {
        inventory::iter::<FmuExperiment>().collect()
    }

    /// Builds the FMUs: what is measured, with FlatBuffers verified before they are read or
    /// not, and with fresh buffers and objects in each step or kept ones.
    ///
    /// # Errors
    /// When the build folder cannot be used, or `progress` ends the build.
    pub fn workload(&self, verify: bool, fresh: bool, progress: Progress) -> Result<CosimWorkload> {
        let fmus = FmuEntrants { model: self.model, verify, fresh };
        Ok(CosimWorkload {
            title: self.title.into(),
            cases: (self.cases)(),
            entrants: fmus.entrants(&(self.members)(), progress)?,
            fresh,
            reference: Some((self.reference)()),
            derive: Box::new(self.derive),
        })
    }
}
