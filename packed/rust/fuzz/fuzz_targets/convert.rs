//! Any bytes as a message to search, pack and unpack.
#![no_main]

#[allow(dead_code)] // the other targets'
#[path = "../check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check::convert(data));
