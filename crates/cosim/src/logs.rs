//! FMUs' performance logs: read, paired, and made into results.

pub mod import;
pub mod lenient_json;
pub mod log;
pub mod pairing;
pub mod phase;
