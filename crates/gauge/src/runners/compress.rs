//! What general compression makes of encoded bytes, and what it costs.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;

/// A compressor, as it is commonly set for streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// LZ4 blocks.
    Lz4,
    /// Zstandard at level 3, its default.
    Zstd,
}

impl Compressor {
    /// All compressors.
    pub const ALL: [Compressor; 2] = [Compressor::Lz4, Compressor::Zstd];

    /// Name in metrics: `lz4`.
    pub fn name(self) -> &'static str {
        match self {
            Compressor::Lz4 => "lz4",
            Compressor::Zstd => "zstd",
        }
    }

    /// The compressed bytes.
    pub fn compress(self, bytes: &[u8]) -> Result<Vec<u8>> {
        Ok(match self {
            Compressor::Lz4 => lz4_flex::compress(bytes),
            Compressor::Zstd => zstd::bulk::compress(bytes, 3)?,
        })
    }

    /// The original bytes, of which there are `size`.
    pub fn decompress(self, bytes: &[u8], size: usize) -> Result<Vec<u8>> {
        Ok(match self {
            Compressor::Lz4 => lz4_flex::decompress(bytes, size)?,
            Compressor::Zstd => zstd::bulk::decompress(bytes, size)?,
        })
    }
}

/// What compressing a set of messages came to, per message.
pub struct CompressionResult {
    /// Mean compressed size in bytes.
    pub bytes: f64,
    /// Mean nanoseconds to compress.
    pub compress_ns: f64,
    /// Mean nanoseconds to decompress.
    pub decompress_ns: f64,
}

/// Compresses and decompresses each message once.
pub fn measure_compression(
    compressor: Compressor,
    messages: &[Vec<u8>],
) -> Result<CompressionResult> {
    let count = messages.len().max(1) as f64;
    let start = Instant::now();
    let packed =
        messages.iter().map(|bytes| compressor.compress(bytes)).collect::<Result<Vec<_>>>()?;
    let compress_ns = start.elapsed().as_nanos() as f64 / count;
    let start = Instant::now();
    for (packed, original) in packed.iter().zip(messages) {
        black_box(compressor.decompress(packed, original.len())?);
    }
    let decompress_ns = start.elapsed().as_nanos() as f64 / count;
    let bytes = packed.iter().map(Vec::len).sum::<usize>() as f64 / count;
    Ok(CompressionResult { bytes, compress_ns, decompress_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        let bytes: Vec<u8> = (0..10_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        for compressor in Compressor::ALL {
            let packed = compressor.compress(&bytes).unwrap();
            assert!(packed.len() < bytes.len(), "{compressor:?}");
            assert_eq!(compressor.decompress(&packed, bytes.len()).unwrap(), bytes);
        }
    }

    #[test]
    fn sizes_are_means_over_the_messages() {
        let messages = vec![vec![7; 1000], Vec::new()];
        let squeezed = measure_compression(Compressor::Lz4, &messages).unwrap();
        let whole = Compressor::Lz4.compress(&messages[0]).unwrap().len();
        let none = Compressor::Lz4.compress(&[]).unwrap().len();
        assert_eq!(squeezed.bytes, (whole + none) as f64 / 2.0);
    }
}
