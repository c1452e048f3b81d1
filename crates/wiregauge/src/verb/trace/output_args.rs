//! How trace files are read and written: the arguments for that.

use wiregauge_trace::version::{parse_version, Version};
use wiregauge_trace_edit::channel_hints::ChannelHints;
use wiregauge_trace_edit::copy_job::CopyOptions;

use super::compression_args::CompressionArgs;
use super::osi_type_arg::OsiTypeArg;

/// The arguments that say what is written.
#[derive(clap::Args)]
pub struct OutputArgs {
    /// How MCAP is packed.
    #[command(flatten)]
    chunks: CompressionArgs,
    #[command(flatten)]
    typed: OsiTypeArg,
    /// Name in MCAP for the channel of an .osi file [default: its type].
    #[arg(long, value_name = "TOPIC")]
    channel_name: Option<String>,
    /// Version of the Protobuf library that wrote an .osi file: 3.21.12. MCAP should
    /// say it, and the file does not.
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    protobuf_version: Option<Version>,
    /// Version of OSI of an .osi file, if its messages do not say it.
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    osi_version: Option<Version>,
    /// Repeat static data (lanes, signs, stationary objects, the version, …) in each
    /// GroundTruth and SensorView that lacks it. esmini writes it only in the first
    /// message.
    #[arg(long)]
    repeat_static: bool,
}

impl OutputArgs {
    /// How files are read and written.
    pub fn options(&self) -> CopyOptions {
        let hints = ChannelHints {
            osi_type: self.typed.osi_type.clone(),
            channel_name: self.channel_name.clone(),
            protobuf_version: self.protobuf_version,
            osi_version: self.osi_version,
        };
        CopyOptions { hints, chunks: self.chunks.packing(), repeat_static: self.repeat_static }
    }
}
