//! An FMU as a file: a zip archive.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_cosim::package::Package;
use wiregauge_fuzz_support::{check_error, file};

pub fn read(data: &[u8]) {
    drop(check_error(Package::open(&file("a.fmu", data))));
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
