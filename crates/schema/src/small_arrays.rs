//! The one rule for short fixed arrays in formats that have no fixed arrays.

use crate::model::Schema;

/// How formats without fixed arrays write short ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SmallArrays {
    /// As so many fields, as authors of such formats do.
    Fields,
    /// As lists, like longer ones.
    List,
}

impl SmallArrays {
    /// The longest array that becomes fields.
    pub fn longest(self) -> u32 {
        match self {
            SmallArrays::Fields => Schema::small_array(),
            SmallArrays::List => 0,
        }
    }
}
