//! How MCAP is packed: the arguments for that.

use wiregauge_system::quantity::parse_nonzero_bytes;
use wiregauge_trace::write::{ChunkOptions, Compression};

/// How MCAP is packed.
#[derive(clap::Args)]
pub struct CompressionArgs {
    /// Compression of MCAP chunks.
    #[arg(long, value_enum, default_value = "zstd")]
    compression: Compression,
    /// Size at which an MCAP chunk ends: 1MiB, 256KiB.
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_nonzero_bytes)]
    chunk: u64,
}

impl CompressionArgs {
    /// How chunks are made.
    pub fn packing(&self) -> ChunkOptions {
        ChunkOptions { compression: self.compression, chunk: self.chunk }
    }
}
