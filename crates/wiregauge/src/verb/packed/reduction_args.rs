//! To what columns of packed fields are reduced: the arguments for that.

use std::path::Path;

use anyhow::{bail, ensure, Result};
use wiregauge_packed::{Plan, Preset, Rule, PRESETS};
use wiregauge_trace::write::OutputFormat;

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

/// Only containers hold packed fields.
pub fn refuse_text(output: &Path) -> Result<()> {
    let end = output.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let takes = "only .mcap, .osi and .bin can hold packed fields";
    ensure!(
        ["mcap", "osi", "bin", "txth", "jsonl"].contains(&end.as_str()),
        "{}: {takes}; change the end of its name",
        output.display()
    );
    match OutputFormat::from_path(output)? {
        OutputFormat::Osi | OutputFormat::LengthPrefixed | OutputFormat::Mcap => Ok(()),
        OutputFormat::Text | OutputFormat::Json => {
            bail!(
                "{}: text cannot hold packed fields; end the name in .mcap or .osi",
                output.display()
            )
        }
    }
}
