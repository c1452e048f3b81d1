//! The type of messages that a file does not tell: the argument for that.

use wiregauge_trace::open::OpenHints;

/// The type of the messages in an .osi file.
#[derive(clap::Args)]
pub struct OsiTypeArg {
    /// Type of the messages in an .osi file, if its name does not say it: sv, SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    pub osi_type: Option<String>,
}

impl OsiTypeArg {
    /// What a reader is told.
    pub fn open_hints(&self) -> OpenHints {
        OpenHints { osi_type: self.osi_type.clone() }
    }
}
