//! In which encodings the FMUs are tested that play and record traces.

use wiregauge_osi::fmus::{Encoding, ENCODINGS};

/// One of each library. The others have the same classes, which source, sensor and pedestrian
/// prove; with WIREGAUGE_ENCODINGS=all, as `make test-builds` has it, all are taken.
pub fn played() -> Vec<Encoding> {
    const ALWAYS: [&str; 4] =
        ["protobuf", "flatbuffers-tables", "flatbuffers-objects", "packed-reduced"];
    let all = std::env::var("WIREGAUGE_ENCODINGS").is_ok_and(|which| which == "all");
    let is_taken = |encoding: &Encoding| all || ALWAYS.contains(&encoding.name);
    ENCODINGS.into_iter().filter(is_taken).collect()
}
