//! The canonical bytes of a message.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzzed::told;
use wiregauge_schema::msg::{read_text, Dialect};
use wiregauge_schema::{canonical, digest};

/// One of each.
const TEXT: &str =
    "bool a\nint8 b\nuint64 c\nfloat64 d\nstring e\nuint8[] f\nint32[] g\nP[2] h\nP[] i\nstring[] j
================================================================================
MSG: p/P\nfloat32 x\nuint16[3] y\n";

pub fn read(data: &[u8]) {
    let schema = read_text(TEXT, "p/R", Dialect::Ros2, "fuzzed").expect("it is one");
    if let Some(value) = told(canonical::decode(&schema, data)) {
        assert_eq!(canonical::encode(&schema, &value).expect("it fits"), data);
        digest::all(&schema, &value);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
