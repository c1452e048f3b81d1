//! What a language is to the runners that are written in it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_build_tools::{Need, Toolchain};
use wiregauge_normalized::Unit;

/// A language of runners. Its file in `build/languages/` defines it, and says how
/// its runners are compiled.
pub struct RunnerLanguage {
    /// Name in tables: `C++`.
    pub name: &'static str,
    /// Name of folders, and what the user calls it: `cpp`.
    pub key: &'static str,
    /// Whether its codecs are measured where the user names no language.
    pub is_default: bool,
    /// What bounds in it need of the machine.
    pub needs: &'static [Need],
    /// What compiles its runners, where rows do not name it themselves.
    pub compilers: &'static [Need],
    /// Flags of the generated code and of headers, in words.
    pub flags: &'static str,
    /// How a program of it is compiled and linked to see what a codec adds to it, in words;
    /// empty where that is not measured.
    pub footprint_flags: &'static str,
    /// Whether libraries come from the toolchain, and not from a registry of the
    /// language's own.
    pub takes_libraries_of_toolchain: bool,
    /// The flags that have it optimize across units when it links, as the build system takes
    /// them; empty where nothing is linked.
    pub link_time: &'static str,
    /// The flags that have a program tell the lines of its sources, and change no instruction, as
    /// the build system takes them; empty where there are none.
    pub line_tables: &'static [&'static str],
    /// Why its functions cannot be told apart by who counts instructions; none where they can.
    pub unexplained: Option<&'static str>,
    /// The compiler and its version; empty where there is none.
    pub compiler: fn(&Toolchain) -> String,
    /// The folder of a codec's runner, in that of all that are compiled together.
    pub folder: fn(&Path, &str) -> PathBuf,
    /// The normalized form, as the texts of its files.
    pub message: fn(&Unit) -> Result<Vec<String>>,
}

impl PartialEq for RunnerLanguage {
    fn eq(&self, other: &RunnerLanguage) -> bool {
        self.key == other.key
    }
}

impl fmt::Debug for RunnerLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
