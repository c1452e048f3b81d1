//! From the record of a run to the figures of a result.

pub mod cautions;
pub mod cycle;
#[cfg(test)]
pub(crate) mod example;
pub mod facts;
pub mod fan_out;
pub mod measured_trial;
pub mod timeline;
