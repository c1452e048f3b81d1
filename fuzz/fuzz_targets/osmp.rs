//! Where an FMU says that its message lies.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_cosim::fmi::osmp::{join_address, split_address, MessageSpan};
use wiregauge_fuzz_support::number;

pub fn read(data: &[u8]) {
    let Some((lo, rest)) = number(data) else { return };
    let Some((size, _)) = number(rest) else { return };
    let address = join_address(lo as i32, (lo >> 32) as i32);
    assert_eq!(split_address(address), (lo as i32, (lo >> 32) as i32));
    let span = MessageSpan { address, size: i64::from(size as i32) };
    assert!(span.check().is_err() || span.is_none() || size as i32 > 0);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
