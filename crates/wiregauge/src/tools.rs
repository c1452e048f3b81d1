//! The tools that codecs need.

pub use wiregauge_codec_run::tools::versions;
