//! FMUs as FMI has them: loading, calling, and what they say.

pub mod fmi2;
pub mod fmi3;
pub mod instance;
pub mod library;
pub mod message;
pub mod raw_instance;
pub mod status;
pub mod value;
