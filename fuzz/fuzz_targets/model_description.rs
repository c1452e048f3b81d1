//! What an FMU says of itself.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_cosim::package::description::{step_size, Description};
use wiregauge_cosim::package::mime::Mime;
use wiregauge_fuzz_support::{check_error, text};

pub fn read(data: &[u8]) {
    let Some(found) = text(data).and_then(|text| check_error(Description::parse(text))) else {
        return;
    };
    for binary in &found.binaries {
        let mime = binary.mime.to_string();
        assert_eq!(Mime::parse(&mime).expect("what was written is read").to_string(), mime);
    }
    for causality in ["input", "output"] {
        assert!(found.binaries_of(causality).len() <= found.binaries.len());
    }
    drop(step_size(found.no_step.as_deref().unwrap_or("1")));
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
