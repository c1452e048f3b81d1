//! What the samples say: summaries, ratios, comparisons of runs, linear fits.
//!
//! Two facts shape all of it. Times are positive and their errors are
//! relative, so differences are taken between logarithms. And samples of one
//! process resemble each other (they share its memory layout and its
//! moment), so wherever there are several processes *the process is the unit*:
//! its rounds are first reduced to their median, and intervals are made of
//! these medians alone. More rounds make a process's median steadier; only
//! more processes make an interval narrower.

pub(crate) mod comparison;
mod fit;
mod interval;
mod ratio;
mod row_comparison;
mod sample;
mod summary;
pub mod tail;

pub use comparison::{
    compare, Cell, Change, ChangeVerdict, Comparison, ComparisonView, Drift, FactChange, Limits,
    BUSY, WIDEST,
};
pub use fit::{Bounds, Fit};
pub use interval::{Basis, Interval, CONFIDENCE};
pub use ratio::Ratio;
pub use row_comparison::{compare_rows, missing_rows};
pub use sample::{mean, median, quantile, sorted, variance};
pub use summary::{Outlier, Summary};
