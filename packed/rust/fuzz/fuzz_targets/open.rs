//! Any bytes as a packed field.
#![no_main]

#[allow(dead_code)] // the other targets'
#[path = "../check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check::open(data));
