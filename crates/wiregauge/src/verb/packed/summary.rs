//! Columns and what they took, on standard output.

use anyhow::Result;
use wiregauge_packing::costs::ChannelCosts;
use wiregauge_packing::info::PackingInfo;
use wiregauge_packing::text::{format_costs, format_infos};
use wiregauge_system::output::print;

use crate::list_format::ListFormat;

/// What became of the channels.
pub fn print_costs(costs: &[ChannelCosts], form: ListFormat) -> Result<()> {
    print(&match form {
        ListFormat::Json => serde_json::to_string_pretty(costs)?,
        ListFormat::Table => format_costs(costs),
    })
}

/// What is packed in files.
pub fn print_infos(infos: &[PackingInfo], form: ListFormat) -> Result<()> {
    print(&match form {
        ListFormat::Json => serde_json::to_string_pretty(infos)?,
        ListFormat::Table => format_infos(infos),
    })
}
