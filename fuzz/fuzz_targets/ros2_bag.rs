//! A bag of ROS 2 in SQLite.
#![cfg_attr(fuzzing, no_main)]

pub fn read(data: &[u8]) {
    wiregauge_fuzz_support::recording("a.db3", data);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
