//! Variables of FMUs that the user sets.

use std::str::FromStr;

use anyhow::{bail, Context, Error, Result};
use wiregauge_cosim::master::plan::Parameters;

/// A variable to set before an FMU is initialized: in the source or in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FmuSetting {
    /// Whether it is the model's, and not the source's.
    pub of_model: bool,
    /// The variable.
    pub name: String,
    /// What it becomes.
    pub value: String,
}

impl FromStr for FmuSetting {
    type Err = Error;

    /// `source.NAME=VALUE` or `model.NAME=VALUE`.
    fn from_str(text: &str) -> Result<FmuSetting> {
        let wants = "write source.NAME=VALUE or model.NAME=VALUE";
        let (path, value) = text.split_once('=').context(wants)?;
        let (whose, name) = path.split_once('.').context(wants)?;
        let of_model = match whose {
            "source" => false,
            "model" => true,
            _ => bail!(wants),
        };
        Ok(FmuSetting { of_model, name: name.into(), value: value.into() })
    }
}

/// The settings of the model, or those of the source, in their order.
pub fn parameters(settings: &[FmuSetting], of_model: bool) -> Parameters {
    let settings = settings.iter().filter(|setting| setting.of_model == of_model);
    settings.map(|setting| (setting.name.clone(), setting.value.clone())).collect()
}
