//! Runners for messages whose speed is not what is proven. All tests build them in the same way,
//! so that a runner is built once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wiregauge_formats::build::{self, BuiltRunner, CompilerFlags, Variant};
use wiregauge_formats::Codec;
use wiregauge_schema::{Projection, Schema};

/// Where the runners of a test are built, where nothing else is said.
pub fn build_folder(test: &str) -> PathBuf {
    match std::env::var_os("WIREGAUGE_BUILD") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join(test),
    }
}

/// Builds codecs for a message: C++ and Rust are compiled in half the time so.
pub fn build_lightly(
    folder: &Path,
    schema: &Schema,
    projection: &Projection,
    codecs: &[&'static Codec],
) -> Vec<BuiltRunner> {
    let variants: Vec<Variant> = codecs.iter().copied().map(lightly_built).collect();
    build::build_variants(folder, schema, projection, &variants, &|_, _, _| Ok(()))
        .expect("the build folder works")
}

fn lightly_built(codec: &'static Codec) -> Variant {
    let words = match codec.language.key {
        "cpp" => "-O0",
        // What the runners depend on is shared with those that are measured.
        "rust" => "package.message.opt-level=0",
        _ => return Variant::from_codec(codec),
    };
    let flags = CompilerFlags { label: "lightly".into(), words: words.into() };
    Variant { flags: Some(Arc::new(flags)), ..Variant::from_codec(codec) }
}
