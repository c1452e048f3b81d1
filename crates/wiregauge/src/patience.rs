//! How long FMUs may take: the argument for that.

use std::time::Duration;

use wiregauge_system::quantity::parse_timeout;

/// How long the steps of FMUs may take.
#[derive(clap::Args)]
pub struct StepPatience {
    /// How long a step may take before its FMU counts as hung: 60, which is seconds,
    /// or 2min.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_timeout)]
    pub patience: Duration,
}
