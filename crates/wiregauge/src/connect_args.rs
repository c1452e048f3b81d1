//! How FMUs are coupled and what they are told: the arguments for that.

use anyhow::{Context, Result};
use wiregauge_cosim::master::plan::Pair;
use wiregauge_cosim::package::coupling::VariableChoice;
use wiregauge_cosim::package::description;
use wiregauge_cosim_run::fmu_setting::{parameters, FmuSetting};

/// What is wanted of FMUs.
#[derive(clap::Args)]
pub struct ConnectArgs {
    /// Set a variable of an FMU before it is initialized, as source.lanes=2 or
    /// model.range=80. Paths are relative to where you stand.
    #[arg(long, value_name = "FMU.NAME=VALUE")]
    set: Vec<FmuSetting>,
    /// Which output goes into which input. Needed where there are several, or where
    /// they do not say what they carry.
    #[arg(long, value_name = "OUTPUT=INPUT")]
    connect: Option<String>,
    /// Which output of the model is the result. Needed where there are several.
    #[arg(long, value_name = "OUTPUT")]
    result: Option<String>,
    /// Couple FMUs also when their versions of OSI differ.
    #[arg(long)]
    any_version: bool,
    /// Step size: 10ms, or 0.01 (seconds) [default: what the source proposes].
    #[arg(long, value_name = "TIME", value_parser = description::step_size)]
    step_size: Option<f64>,
}

impl ConnectArgs {
    /// Puts in what the user asked for.
    pub fn apply_to(&self, pair: &mut Pair) -> Result<()> {
        pair.source_parameters.extend(parameters(&self.set, false));
        pair.model_parameters.extend(parameters(&self.set, true));
        let connect = match &self.connect {
            Some(text) => Some(text.split_once('=').context("--connect needs OUTPUT=INPUT")?),
            None => None,
        };
        pair.step = self.step_size;
        pair.wanted = VariableChoice {
            output: connect.map(|(output, _)| output.to_owned()),
            input: connect.map(|(_, input)| input.to_owned()),
            result: self.result.clone(),
            any_version: self.any_version,
        };
        Ok(())
    }
}
