//! How MCAP is packed: the arguments for that.

use clap::ValueEnum;
use wiregauge_system::quantity::parse_nonzero_bytes;
use wiregauge_trace::write::{ChunkOptions, Compression};

/// How MCAP is packed.
#[derive(clap::Args)]
pub struct Chunks {
    /// How chunks of MCAP are compressed.
    #[arg(long, value_enum, default_value = "zstd")]
    compression: Compressing,
    /// After how many bytes a chunk of MCAP ends: 1MiB, 256KiB.
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_nonzero_bytes)]
    chunk: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Compressing {
    None,
    Lz4,
    Zstd,
}

impl Default for Chunks {
    fn default() -> Chunks {
        Chunks { compression: Compressing::Zstd, chunk: 1 << 20 }
    }
}

impl Chunks {
    /// How chunks are made.
    pub fn packing(&self) -> ChunkOptions {
        let compression = match self.compression {
            Compressing::None => Compression::None,
            Compressing::Lz4 => Compression::Lz4,
            Compressing::Zstd => Compression::Zstd,
        };
        ChunkOptions { compression, chunk: self.chunk }
    }
}
