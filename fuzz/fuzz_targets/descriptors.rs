//! A descriptor set of Protobuf.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, definition};
use wiregauge_schema::proto;

pub fn read(data: &[u8]) {
    if let Some(schema) = check_error(proto::read_descriptors(data, None, "fuzzed")) {
        definition(&schema);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
