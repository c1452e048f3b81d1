//! The fixed parts of all runners, written into the build folder.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_build_tools::{embedded, lock};

/// The fixed parts, written out.
pub struct FixedParts {
    /// Their folder.
    pub folder: PathBuf,
    /// Hash of their content.
    pub hash: String,
}

impl FixedParts {
    /// Writes the fixed parts below the build folder, if they are not there.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(build: &Path) -> Result<FixedParts> {
        let sources = embedded::runners();
        let hash = sources.hash();
        let folder = build.join("common").join(&hash[..16]);
        // Who finds them half written would build with half of them.
        let _lock = lock(build)?;
        sources.write(&folder)?;
        Ok(FixedParts { folder, hash })
    }
}
