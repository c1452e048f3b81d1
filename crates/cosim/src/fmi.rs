//! FMUs as FMI has them: loading, calling, and what they say.

pub mod call;
pub mod fmi2;
pub mod fmi3;
pub mod instance;
pub mod library;
pub mod message;
pub mod status;
pub mod value;
