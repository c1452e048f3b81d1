//! `wiregauge trace split`: one trace in several parts.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_system::notice::print_notice;
use wiregauge_system::progress::byte_progress;
use wiregauge_system::quantity::{parse_nonzero_bytes, parse_time};
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::split::SplitLimit;
use wiregauge_trace_edit::split_job::SplitJob;

use super::copy_args::CopyArgs;

/// Split a trace file by size, duration or channel.
///
/// The parts have the name of the file and a number or channel, and the same container;
/// parts of bags are .mcap. Each .mcap part has the metadata. The first one has the
/// attachments and the channels without messages. If anything fails, no part is left.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace split drive.mcap -o parts --by-duration 60s
      parts/drive_000.mcap, parts/drive_001.mcap, …
  wiregauge trace split drive.mcap -o parts --by-size 1GB
  wiregauge trace split drive.mcap -o parts --by-channel")]
#[group(skip)]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag, .db3, or the folder of a ROS 2 bag.
    input: PathBuf,
    /// The folder for the parts. It is made if it is missing.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// End a part after so many bytes of messages.
    #[arg(long, value_name = "SIZE", value_parser = parse_nonzero_bytes, group = "by")]
    by_size: Option<u64>,
    /// End a part after so much time on the clock of the trace.
    #[arg(long, value_name = "TIME", value_parser = parse_time, group = "by")]
    by_duration: Option<std::time::Duration>,
    /// Make a part of each channel.
    #[arg(long, group = "by")]
    by_channel: bool,
    #[command(flatten)]
    copying: CopyArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let limit = match (self.by_size, self.by_duration) {
            (Some(size), _) => SplitLimit::Size(size),
            (_, Some(duration)) => SplitLimit::Duration(duration.as_nanos() as i128),
            _ => SplitLimit::Channel,
        };
        ensure!(
            limit != SplitLimit::Channel || self.by_channel,
            "give one of --by-size 1GB, --by-duration 60s or --by-channel"
        );
        let (filter, options) = (self.copying.filter(), self.copying.options());
        let job = SplitJob {
            input: &self.input,
            folder: &self.output,
            limit,
            filter: &filter,
            options: &options,
        };
        let made = job.write(&mut byte_progress("splitting"))?;
        made.remarks.iter().for_each(|remark| print_notice(&escape_short(remark)));
        print_notice(&format!(
            "{} in {}",
            format_count(made.parts as u64, "part"),
            self.output.display()
        ));
        Ok(ExitCode::SUCCESS)
    }
}
