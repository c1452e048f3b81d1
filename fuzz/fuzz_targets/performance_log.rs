//! A performance log of an FMU.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_cosim::logs::import::{import, LogInput};
use wiregauge_cosim::logs::log;
use wiregauge_fuzz_support::{check_error, file, text};

pub fn read(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Some(logs) = check_error(log::parse(text)) else { return };
    assert!(logs.iter().map(|log| log.events.len()).sum::<usize>() <= data.len());
    let given = [LogInput { path: file("log.json", data), case: "case".into() }];
    drop(check_error(import(&given, 0)));
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
