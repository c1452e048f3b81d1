//! What the timing master answers.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, number};
use wiregauge_participant::clock_alignment::{Alignment, OffsetSample};

pub fn read(data: &[u8]) {
    let (mut sights, mut own, mut rest) = (Vec::new(), 1_000, data);
    while let Some((answer, left)) = number(rest) {
        let back = own + 1 + answer % 1_000_000;
        sights.extend(check_error(OffsetSample::from_times(own, answer, back)));
        (own, rest) = (back, left);
    }
    let found = Alignment::from_samples(false, &sights);
    assert!(found.jump >= 0 && found.span <= own);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
