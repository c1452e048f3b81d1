//! `wiregauge bundle`: one file that measures on a machine without compilers.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_codec_run::bundled_rows::{build_runners, write_bundle};
use wiregauge_codec_run::message_selection::MessageSelection;
use wiregauge_codec_run::row_selection::RowSelection;
use wiregauge_system::file::Target;
use wiregauge_system::notice::print_notice;
use wiregauge_system::progress::ProgressDisplay;

/// Pack what measures codecs on a machine without compilers, network or root.
///
/// The file has this program, the runners of the rows with their shared libraries, and
/// the messages. Rows in Java and Python are left out: they say why.
#[derive(clap::Args)]
#[command(after_help = "\
docs/targets.md has the whole way to a board.

Examples:
  wiregauge bundle -o lidar.tar.zst
  wiregauge bundle --message scan.msg --codecs prost,sbe -o scan.tar.zst
  wiregauge bundle --target arm64 --program wiregauge-arm64 -o arm64.tar.zst
      for another architecture, with a wiregauge for it
  tar -xf scan.tar.zst; ./wiregauge codecs --bundle . -o run.json
      on the board, in a new folder
  wiregauge codecs --on root@board --codecs prost,sbe
      the same in one command, over ssh")]
pub struct Arguments {
    #[command(flatten)]
    message: MessageSelection,
    #[command(flatten)]
    rows: RowSelection,
    /// The wiregauge for the target, where it is not this one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Write the bundle here.
    #[arg(short, long, value_name = "PATH", required_unless_present = "only_build")]
    output: Option<PathBuf>,
    /// Leave the runners in the build folder, and pack nothing.
    #[arg(long, hide = true, conflicts_with_all = ["output", "program", "target"])]
    only_build: bool,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let message = self.message;
        message.check(&[])?;
        let inputs: Vec<PathBuf> =
            message.files().into_iter().chain(self.program.clone()).collect();
        let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
        let target = self.output.map(|output| Target::open(&output, &inputs)).transpose()?;
        let task = self.rows.bundle(message.workload(self.rows.seed)?, self.program)?;
        let show = ProgressDisplay::new().into_callback();
        let Some(target) = target else {
            return build_runners(task, &show).map(|()| ExitCode::SUCCESS);
        };
        let notice = write_bundle(task, target, &show)?;
        drop(show);
        print_notice(&notice);
        Ok(ExitCode::SUCCESS)
    }
}
