//! Which libraries codecs are measured with: the arguments for that.

use clap::ValueEnum;
use wiregauge_codec_run::libraries::{LibraryOptions, LibrarySource};

/// Which libraries codecs are measured with.
#[derive(clap::Args)]
pub struct LibraryArgs {
    /// Which libraries the C and C++ codecs use. Several are measured in one run
    /// (docs/libraries.md).
    #[arg(long, value_delimiter = ',', value_name = "WHOSE,…", default_value = "system")]
    libraries: Vec<LibrarySource>,
    /// Take the newest libraries even if the signature of the download has expired.
    #[arg(long)]
    libraries_expired: bool,
    /// Add a row: this codec with a library that you built, as a folder with include,
    /// lib and bin. For a Rust codec: another version of its crate, or a folder with
    /// its source.
    #[arg(long, value_name = "NAME[@LABEL]=PREFIX|VERSION")]
    library: Vec<String>,
    /// Add a row: this C or C++ codec, compiled with these flags after the usual ones.
    /// With the label of a --library, that row gets the flags.
    #[arg(long, value_name = "NAME@LABEL=FLAGS", allow_hyphen_values = true)]
    cflags: Vec<String>,
    /// Add a row NAME@lto for each C, C++ and Rust codec, optimized at link time.
    #[arg(long)]
    profile: Option<Profile>,
}

/// How rows are compiled beside the usual way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Optimized at link time.
    Lto,
}

impl LibraryArgs {
    /// What they say.
    pub fn options(&self) -> LibraryOptions {
        LibraryOptions {
            libraries: self.libraries.clone(),
            is_expired_allowed: self.libraries_expired,
            user_libraries: self.library.clone(),
            flags: self.cflags.clone(),
            is_link_time_optimized: matches!(self.profile, Some(Profile::Lto)),
        }
    }
}
