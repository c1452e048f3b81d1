//! What a counted runner is told of where it runs: the same on every machine, as its copies of
//! it are counted, too.

use std::env;
use std::path::{Path, PathBuf};

use wiregauge_build_tools::find_program;
use wiregauge_child_process::runner::MALLOC;

/// Where programs are looked for by the runner.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The words for env(1) that leave nothing of the shell's environment.
pub(crate) fn fixed_environment() -> Vec<String> {
    let mut words = vec!["-i".to_owned(), format!("PATH={PATH}")];
    // What the user set to have his libraries found.
    if let Ok(path) = env::var("LD_LIBRARY_PATH") {
        words.push(format!("LD_LIBRARY_PATH={path}"));
    }
    words.extend(MALLOC.map(|(name, value)| format!("{name}={value}")));
    // Python's own order of its sets and dictionaries of texts.
    words.push("PYTHONHASHSEED=0".into());
    words
}

/// Where the shell would find a program; the program as it is named where it would not.
pub(crate) fn locate(program: &Path) -> PathBuf {
    let found = match program.components().count() {
        1 => find_program(program),
        _ => program.canonicalize().ok(),
    };
    found.unwrap_or_else(|| program.to_owned())
}
