//! A trace of OSI.
#![cfg_attr(fuzzing, no_main)]

pub fn read(data: &[u8]) {
    wiregauge_fuzz_support::recording("a.osi", data);
    wiregauge_fuzz_support::trace("a_sv.osi", data);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
