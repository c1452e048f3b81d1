//! The containers that packed fields are written into.

use std::path::Path;

use anyhow::{bail, ensure, Result};
use wiregauge_trace::write::OutputFormat;

/// Refuses a file whose container cannot hold packed fields.
///
/// # Errors
/// When it is one of text, or none.
pub fn check_container(output: &Path) -> Result<()> {
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
