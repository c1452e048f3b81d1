//! What a binary variable says that it carries.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_cosim::package::mime::Mime;
use wiregauge_fuzz_support::text;

pub fn read(data: &[u8]) {
    let Some(mime) = text(data).and_then(|text| Mime::parse(text).ok()) else { return };
    let again = Mime::parse(&mime.to_string()).expect("what was written is read");
    assert_eq!(again.to_string(), mime.to_string());
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
