//! How long FMUs may take: the argument for that.

use std::time::Duration;

use wiregauge_system::quantity::parse_timeout;

/// How long the steps of FMUs may take.
#[derive(clap::Args)]
pub struct StepTimeoutArgs {
    /// How long a step may take before its FMU counts as hung: 2min, or 60 (seconds).
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_timeout)]
    pub timeout: Duration,
}
