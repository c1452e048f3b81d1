//! Where is measured what was built elsewhere: the arguments for that.

use std::path::PathBuf;

use wiregauge_bundle::Board;

/// What says what is measured, which a bundle says already.
const SAID_BY_BUNDLE: &str =
    "message input channel include whole_schema messages length sweep presence fixed \
     element language libraries libraries_expired library cflags profile target \
     small_arrays seed footprint explain against";

/// Where is measured what was built elsewhere.
#[derive(clap::Args)]
pub struct RemoteArgs {
    /// Measure the rows and messages of this bundle, a folder or a file: see wiregauge
    /// bundle.
    #[arg(long, value_name = "BUNDLE", conflicts_with_all = SAID_BY_BUNDLE.split(' '))]
    pub bundle: Option<PathBuf>,
    /// Measure on this machine, reached by ssh: it gets a bundle, which is removed when
    /// it is done.
    #[arg(
        long,
        value_name = "[USER@]HOST[:FOLDER]",
        conflicts_with_all = ["bundle", "footprint", "explain", "against"]
    )]
    pub on: Option<Board>,
    /// The wiregauge for the target, where it is not this one.
    #[arg(long, value_name = "FILE", requires = "on")]
    pub program: Option<PathBuf>,
    /// Serve another machine, on standard input and output.
    #[arg(long, hide = true, requires = "bundle")]
    pub serve: bool,
}
