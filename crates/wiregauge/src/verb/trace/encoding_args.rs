//! In what encoding messages are written: the arguments for that.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_trace_edit::encoding::{Conversion, TargetEncoding};

/// In what encoding messages are written.
#[derive(clap::Args)]
pub struct EncodingArgs {
    /// Encoding of the output [default: as in the input]. FlatBuffers use the definition
    /// of OSI or of the channel, or --definition.
    #[arg(long, value_enum)]
    encoding: Option<TargetEncoding>,
    /// Your definition. For FlatBuffers: a .fbs or .bfbs whose root is the message. For
    /// Protobuf: a descriptor set, as protoc --include_imports writes it.
    #[arg(long, value_name = "FILE", requires = "encoding")]
    definition: Option<PathBuf>,
    /// Leave out what the other definition has no field for, and name it.
    #[arg(long, requires = "encoding")]
    lossy: bool,
}

impl EncodingArgs {
    /// Whether messages are to be written in an encoding.
    pub fn is_wanted(&self) -> bool {
        self.encoding.is_some()
    }

    /// What messages become in this file; none where they stay as they are.
    ///
    /// # Errors
    /// When the container cannot hold it, or the definition cannot be read.
    pub fn conversion_to(&self, output: &Path) -> Result<Option<Conversion>> {
        let Some(encoding) = self.encoding else { return Ok(None) };
        let definition = self.definition.as_deref();
        Ok(Some(Conversion::new(encoding, definition, self.lossy, output)?))
    }
}
