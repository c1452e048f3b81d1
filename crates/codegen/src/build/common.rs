//! The fixed parts of all runners, carried in this program and written into
//! the build folder, so that an installed wiregauge needs no source tree.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::keep::{hash, write_if_new};

/// The fixed parts, by their path below the common folder.
const FILES: &[(&str, &str)] = &[
    ("runner/Cargo.toml", include_str!("../../../runner/Cargo.toml")),
    ("runner/src/lib.rs", include_str!("../../../runner/src/lib.rs")),
    ("runner/src/allocations.rs", include_str!("../../../runner/src/allocations.rs")),
    ("runner/src/codec.rs", include_str!("../../../runner/src/codec.rs")),
    ("runner/src/opaque.rs", include_str!("../../../runner/src/opaque.rs")),
    ("runner/src/protocol.rs", include_str!("../../../runner/src/protocol.rs")),
    ("runner/src/tally.rs", include_str!("../../../runner/src/tally.rs")),
    ("runner/src/timing.rs", include_str!("../../../runner/src/timing.rs")),
    ("rust/Cargo.toml", include_str!("../../../../runners/rust/Cargo.toml")),
    ("rust/Cargo.lock", include_str!("../../../../runners/rust/Cargo.lock")),
    (
        "cpp/wiregauge/c_struct.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/c_struct.hpp"),
    ),
    (
        "cpp/wiregauge/c_struct_codec.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/c_struct_codec.hpp"),
    ),
    (
        "cpp/wiregauge/canonical.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/canonical.hpp"),
    ),
    (
        "cpp/wiregauge/codec.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/codec.hpp"),
    ),
    (
        "cpp/wiregauge/opaque.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/opaque.hpp"),
    ),
    (
        "cpp/wiregauge/protobuf_path.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/protobuf_path.hpp"),
    ),
    (
        "cpp/wiregauge/tally.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/tally.hpp"),
    ),
    (
        "cpp/wiregauge/serve.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/serve.hpp"),
    ),
    (
        "cpp/wiregauge/timing.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/timing.hpp"),
    ),
    (
        "cpp/wiregauge/whole.hpp",
        include_str!("../../../../runners/cpp/include/wiregauge/whole.hpp"),
    ),
    ("alloc/alloc.c", include_str!("../../../../runners/alloc/alloc.c")),
];

/// The fixed parts, written out.
pub struct Common {
    /// Their folder.
    pub folder: PathBuf,
    /// Hash of their content.
    pub hash: String,
}

impl Common {
    /// Writes the fixed parts below the build folder, if they are not there.
    pub fn write(build: &Path) -> Result<Common> {
        let content = FILES.iter().flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()]);
        let hash = hash(content.map(<[u8]>::to_vec));
        let folder = build.join("common").join(&hash[..16]);
        for (path, text) in FILES {
            let path = folder.join(path);
            let parent = path.parent().context("a file is in a folder")?;
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
            write_if_new(&path, text.as_bytes())?;
        }
        Ok(Common { folder, hash })
    }
}
