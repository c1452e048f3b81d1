//! Compressors that come behind.

/// A compressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Zstandard at level 1.
    Zstd,
    /// LZ4 blocks.
    Lz4,
}

impl Compressor {
    /// Its key.
    pub fn name(self) -> &'static str {
        match self {
            Compressor::Zstd => "zstd",
            Compressor::Lz4 => "lz4",
        }
    }

    /// Name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Compressor::Zstd => "zstd 1",
            Compressor::Lz4 => "LZ4",
        }
    }

    /// Library and version.
    pub fn library(self) -> &'static str {
        match self {
            Compressor::Zstd => "zstd 1.5.7",
            Compressor::Lz4 => "lz4_flex 0.14.0",
        }
    }

    /// What moves its figures.
    pub fn options(self) -> &'static str {
        match self {
            Compressor::Zstd => {
                "zstd at level 1 over all bytes in one go, its contexts kept from table to table"
            }
            Compressor::Lz4 => "LZ4 block over all bytes in one go, by a library in Rust",
        }
    }
}
