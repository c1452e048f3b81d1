//! Which rows are compared with each other: the arguments for that.

use std::path::PathBuf;

use wiregauge_codec_run::compared_rows::CompareOptions;
use wiregauge_system::quantity::parse_share;

/// Which rows are compared with each other.
#[derive(clap::Args)]
pub struct CompareArgs {
    /// Measure the runners of this result again, beside those of today, and compare
    /// them (docs/methodology.md). Two --library of one codec are compared, too.
    #[arg(long, value_name = "RUN")]
    pub against: Option<PathBuf>,
    /// Smallest slowdown that counts: 2%, 0.02 [default: 1%]. It makes the exit
    /// status 1.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub fail_above: Option<f64>,
}

impl CompareArgs {
    /// What they say.
    pub fn options(&self) -> CompareOptions {
        CompareOptions { against: self.against.clone(), fail_above: self.fail_above }
    }
}
