//! A `.proto` file.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, definition, text};
use wiregauge_schema::proto;

pub fn read(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if let Some(schema) = check_error(proto::read_texts(&[("a.proto", text)], None)) {
        definition(&schema);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
