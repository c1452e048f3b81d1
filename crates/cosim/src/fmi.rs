//! FMUs as FMI has them: loading, calling, what they say, and where their messages lie.

pub mod fmi2;
pub mod fmi3;
pub mod instance;
pub mod library;
pub mod memory;
pub mod message;
pub mod osmp;
pub mod raw_instance;
pub mod status;
pub mod value;
