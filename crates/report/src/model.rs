//! What is shown of a result, once for all forms.

pub mod break_even;
pub mod chain;
pub mod changes;
pub mod curve;
pub mod environment;
mod explained_lines;
pub mod explanation;
pub mod figure;
pub mod floor;
pub mod footprint;
mod function_name;
pub mod group;
pub mod number_format;
pub mod phase;
pub mod points;
pub mod ranking;
pub mod ranking_text;
pub mod reference;
pub mod requirements;
pub mod run_labels;
pub mod shared_text;
mod side_by_side;
pub mod slowest;
pub mod statistic;
pub mod sweep;
pub mod table;
