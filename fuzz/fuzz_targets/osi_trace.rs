//! A trace of OSI.
#![cfg_attr(fuzzing, no_main)]

pub fn read(data: &[u8]) {
    wiregauge_fuzzed::recording("a.osi", data);
    wiregauge_fuzzed::trace("a_sv.osi", data);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
