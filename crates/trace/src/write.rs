//! Writing a trace file: channels and messages, each as its reader gave it.

mod json;
mod mcap;
mod osi;
mod osi_time;
mod text;
pub mod writer;
mod writer_adapter;

use std::path::Path;

use anyhow::{bail, Result};

pub use self::mcap::{ChunkOptions, Compression, Mcap};
pub use json::Json;
pub use osi::Osi;
pub use osi_time::OsiTimeWriter;
pub use text::Text;
pub use writer::{Output, Writer};
pub use writer_adapter::WriterAdapter;

/// The containers that are written, by the ends of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Messages of one type, each after its length.
    Osi,
    /// The same of messages of any kind: what players hand on.
    LengthPrefixed,
    /// MCAP.
    Mcap,
    /// Protobuf's text format.
    Text,
    /// A line of JSON a message.
    Json,
}

impl OutputFormat {
    /// The container that a file's name asks for.
    ///
    /// # Errors
    /// When it asks for none that is written.
    pub fn from_path(path: &Path) -> Result<OutputFormat> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        Ok(match extension.to_ascii_lowercase().as_str() {
            "osi" => OutputFormat::Osi,
            "bin" => OutputFormat::LengthPrefixed,
            "mcap" => OutputFormat::Mcap,
            "txth" => OutputFormat::Text,
            "jsonl" => OutputFormat::Json,
            "arrow" | "parquet" => bail!(
                "{}: only 'wiregauge trace convert' writes tables of points; end the name in \
                 .mcap, .osi, .bin, .txth or .jsonl",
                path.display()
            ),
            _ => bail!(
                "{}: unknown file type; end the name in .mcap, .osi, .bin, .txth or .jsonl; \
                 'wiregauge trace convert' also writes .arrow and .parquet",
                path.display()
            ),
        })
    }

    /// Begins such a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        self,
        out: impl Output + 'static,
        packing: ChunkOptions,
    ) -> Result<Box<dyn Writer>> {
        Ok(match self {
            OutputFormat::Osi => Box::new(Osi::new(out)),
            OutputFormat::LengthPrefixed => Box::new(Osi::new_untyped(out)),
            OutputFormat::Mcap => Box::new(Mcap::new(out, packing)),
            OutputFormat::Text => Box::new(Text::new(out)),
            OutputFormat::Json => Box::new(Json::new(out)),
        })
    }
}
