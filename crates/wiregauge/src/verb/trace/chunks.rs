//! How MCAP is packed: the arguments for that.

use anyhow::{Context, Result};
use clap::ValueEnum;
use wiregauge_trace::write::{Compression, Packing};

/// How MCAP is packed.
#[derive(clap::Args)]
pub struct Chunks {
    /// How chunks of MCAP are compressed.
    #[arg(long, value_enum, default_value = "zstd")]
    compression: Compressing,
    /// After how many bytes a chunk of MCAP ends: 1MiB, 256KiB.
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size)]
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
    pub fn packing(&self) -> Packing {
        let compression = match self.compression {
            Compressing::None => Compression::None,
            Compressing::Lz4 => Compression::Lz4,
            Compressing::Zstd => Compression::Zstd,
        };
        Packing { compression, chunk: self.chunk }
    }
}

/// Bytes, as `1MiB` or `10 MB` says them.
pub fn size(text: &str) -> Result<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let units = [
        ("", 1),
        ("B", 1),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    let unit = units.iter().find(|(unit, _)| *unit == text[at..].trim());
    let (_, bytes) = unit.context("a size is a number with B, kB, MB, GB, KiB, MiB or GiB")?;
    let number: u64 = text[..at].parse().context("a size is a number with a unit, as 1MiB")?;
    number.checked_mul(*bytes).filter(|size| *size > 0).context("it is out of range")
}
