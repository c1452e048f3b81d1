//! A compressor behind a reduction, as that of a container or of a bus.

use anyhow::{anyhow, ensure, Context, Result};
use lz4_flex::block;

use crate::compressor::Compressor;
use crate::reduction::Reduction;
use crate::table::Table;

/// What the length of the plain bytes takes, behind the compressed ones.
const LENGTH: usize = 8;
/// Most plain bytes.
const LARGEST: u64 = 4 << 30;

/// A reduction whose bytes are compressed.
pub struct CompressedReduction {
    inner: Box<dyn Reduction>,
    coder: CompressorState,
    plain: Vec<u8>,
}

enum CompressorState {
    Zstd(Box<(zstd::bulk::Compressor<'static>, zstd::bulk::Decompressor<'static>)>),
    /// With room for the largest output.
    Lz4(Vec<u8>),
}

impl CompressedReduction {
    /// The reduction with a compressor behind it.
    pub fn new(inner: Box<dyn Reduction>, compressor: Compressor) -> CompressedReduction {
        let coder = match compressor {
            Compressor::Zstd => CompressorState::Zstd(Box::new((
                zstd::bulk::Compressor::new(1).expect("a level that there is"),
                zstd::bulk::Decompressor::new().expect("memory"),
            ))),
            Compressor::Lz4 => CompressorState::Lz4(Vec::new()),
        };
        CompressedReduction { inner, coder, plain: Vec::new() }
    }
}

impl Reduction for CompressedReduction {
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        self.inner.encode(table, &mut self.plain)?;
        out.clear();
        match &mut self.coder {
            CompressorState::Zstd(coders) => {
                out.reserve(zstd::zstd_safe::compress_bound(self.plain.len()));
                coders.0.compress_to_buffer(&self.plain, out)?;
            }
            CompressorState::Lz4(room) => {
                let most = block::get_maximum_output_size(self.plain.len());
                room.resize(room.len().max(most), 0);
                let size = block::compress_into(&self.plain, room)?;
                out.extend_from_slice(&room[..size]);
            }
        }
        out.extend_from_slice(&(self.plain.len() as u64).to_le_bytes());
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()> {
        let (compressed, length) = bytes.split_last_chunk::<LENGTH>().context("no length")?;
        let length = u64::from_le_bytes(*length);
        ensure!(length <= LARGEST, "more than {LARGEST} bytes");
        let length = length as usize;
        match &mut self.coder {
            CompressorState::Zstd(coders) => {
                self.plain.clear();
                self.plain.reserve(length);
                coders.1.decompress_to_buffer(compressed, &mut self.plain)?;
            }
            CompressorState::Lz4(_) => {
                self.plain.resize(length, 0);
                let size = block::decompress_into(compressed, &mut self.plain);
                self.plain.truncate(size.map_err(|error| anyhow!("{error}"))?);
            }
        }
        ensure!(self.plain.len() == length, "the length differs from the declared one");
        self.inner.decode(&self.plain, table)
    }
}
