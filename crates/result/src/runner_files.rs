//! What a runner consists of, by which it is known again.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How a runner was started, and what it consists of, so that the same one can be measured
/// again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerFiles {
    /// The program and its arguments; those that are files with their whole paths.
    pub command: Vec<String>,
    /// SHA-256 of these files, and of the programs and libraries that the process had in its
    /// memory, by path.
    pub files: IndexMap<String, String>,
}
