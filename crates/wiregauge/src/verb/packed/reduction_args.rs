//! To what columns of packed fields are reduced: the arguments for that.

use wiregauge_packed::{Plan, Preset, Rule, PRESETS};

/// To what columns are reduced; without any of it they are not.
#[derive(clap::Args)]
pub struct ReductionArgs {
    /// Named resolutions, separated by commas.
    #[arg(long, value_name = "PRESET", value_delimiter = ',', value_parser = parse_preset)]
    preset: Vec<&'static Preset>,
    /// Resolution of a column: x=1mm, time_of_flight=6.67ps; COLUMN=exact keeps every bit,
    /// COLUMN=plain does not reduce. Give it several times for several.
    #[arg(long, value_name = "COLUMN=VALUE")]
    resolution: Vec<Rule>,
    /// Reduce to whole bytes: larger alone, smaller if zstd or lz4 follows.
    #[arg(long)]
    whole_bytes: bool,
}

fn parse_preset(name: &str) -> Result<&'static Preset, String> {
    Preset::find(name).ok_or_else(|| {
        let names = PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>();
        format!("unknown preset; choose from {}", names.join(", "))
    })
}

impl ReductionArgs {
    /// What becomes of columns.
    pub fn plan(&self) -> Plan {
        Plan {
            presets: self.preset.clone(),
            rules: self.resolution.clone(),
            whole_bytes: self.whole_bytes,
        }
    }
}
