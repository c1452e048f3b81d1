//! A scenario of the bus.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_bus::scenario::Scenario;
use wiregauge_fuzz_support::{check_error, file};

pub fn read(data: &[u8]) {
    if let Some(scenario) = check_error(Scenario::read(&file("scenario.toml", data))) {
        let names: Vec<String> =
            scenario.participants.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(scenario.roles_of(&names).expect("its own"), scenario.participants);
        // A count makes many names of one.
        let named: usize = names.iter().map(|name| name.len() + 20).sum();
        let longest = 100 + 20 * data.len() + named;
        assert!(scenario.content().values().all(|value| value.len() < longest));
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
