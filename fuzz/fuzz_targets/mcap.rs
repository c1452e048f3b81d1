//! An MCAP file.
#![cfg_attr(fuzzing, no_main)]

pub fn read(data: &[u8]) {
    wiregauge_fuzzed::recording("a.mcap", data);
    wiregauge_fuzzed::trace("a.mcap", data);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
