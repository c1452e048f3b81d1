//! What is shown of a result, once for all forms.

pub mod break_even;
pub mod curve;
pub mod environment;
pub mod figure;
pub mod floor;
pub mod group;
pub mod kind;
pub mod phase;
pub mod points;
pub mod reference;
pub mod required;
pub mod slowest;
pub mod statistic;
pub mod sweep;
pub mod table;
pub mod unit;
pub mod words;
