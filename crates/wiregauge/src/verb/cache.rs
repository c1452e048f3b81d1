//! `wiregauge cache`: what was built and is kept.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_build_tools::cache_contents::{clear_kinds, list_kinds, CacheKind};
use wiregauge_build_tools::default_build_folder;
use wiregauge_system::memory::format_bytes;

use crate::list_format::ListFormat;

/// Show what was built and is kept, and remove it.
///
/// Runners, FMUs and transports are built once and kept in the folder of
/// WIREGAUGE_BUILD, or in ~/.cache/wiregauge, where each version has its own. What is
/// removed is built again when it is needed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cache
  wiregauge cache --clear
  wiregauge cache --clear messages fmus")]
pub struct Arguments {
    /// Remove these kinds, or all.
    #[arg(long, value_name = "KIND", num_args = 0..)]
    clear: Option<Vec<String>>,
    /// Format of what is printed: table or json.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let folder = default_build_folder()?;
        let (kinds, title) = match &self.clear {
            Some(kinds) => (clear_kinds(&folder, kinds)?, "removed from"),
            None => (list_kinds(&folder)?, "kept in"),
        };
        self.format
            .print(&kinds, |kinds| describe(&format!("{title} {}", folder.display()), kinds))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The kinds as a table.
fn describe(title: &str, kinds: &[CacheKind]) -> String {
    let mut text = format!("{title}:\n");
    for CacheKind { name, holds, entries, bytes } in kinds {
        let size = format_bytes((*bytes).into());
        text += &format!("  {name:<10} {size:>9} {entries:>6}  {holds}\n");
    }
    let bytes = kinds.iter().map(|kind| u128::from(kind.bytes)).sum();
    text + &format!("  {:<10} {:>9}\n", "in all", format_bytes(bytes))
}
