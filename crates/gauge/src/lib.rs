//! Samples runners in interleaved rounds over restarted processes, after each
//! has proven that it is right. It knows no codec.

pub mod check;
pub mod compress;
pub mod corrupt;
pub mod measure;
pub mod plan;
pub mod robustness;
pub mod schedule;
