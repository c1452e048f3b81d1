//! A scenario of the bus.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_bus::scenario::Scenario;
use wiregauge_fuzzed::{file, told};

pub fn read(data: &[u8]) {
    if let Some(scenario) = told(Scenario::read(&file("scenario.toml", data))) {
        let names: Vec<String> =
            scenario.participants.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(scenario.named(&names).expect("its own"), scenario.participants);
        assert!(scenario.content().values().all(|value| value.len() < 100 + 20 * data.len()));
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
