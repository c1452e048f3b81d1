//! Any bytes as elements to reduce and restore.
#![no_main]

#[allow(dead_code)] // the other targets'
#[path = "../check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check::reduce(data));
