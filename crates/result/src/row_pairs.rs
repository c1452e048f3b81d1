//! Rows of one run that were measured to be compared with each other.

use serde::{Deserialize, Serialize};

/// What counts as a difference unless the user says so.
const THRESHOLD: f64 = 0.01;

/// Rows of one run that were measured to be compared with each other. Their samples were
/// taken in the same rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowPairs {
    /// The slowdown that makes the command fail, if one is to: 0.02 is 2 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// The pairs.
    pub pairs: Vec<RowPair>,
}

/// Two rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowPair {
    /// [`crate::run::Subject::id`] of the older row.
    pub old: String,
    /// That of the newer one.
    pub new: String,
}

impl RowPairs {
    /// The smallest relative difference that counts.
    pub fn threshold(&self) -> f64 {
        self.fail_above.unwrap_or(THRESHOLD)
    }
}
