//! The crate `flatbuffers` in the version that is chosen by the feature; nothing
//! where no runner needs it.

#[cfg(feature = "v2")]
pub use flatbuffers_2::*;
#[cfg(feature = "v23")]
pub use flatbuffers_23::*;
#[cfg(feature = "v25")]
pub use flatbuffers_25::*;
