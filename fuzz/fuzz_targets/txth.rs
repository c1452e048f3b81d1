//! A trace of OSI as text.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzzed::{file, told, DESCRIPTORS};
use wiregauge_trace::open::{open_with, Wish};

pub fn read(data: &[u8]) {
    let path = file("a_sv.txth", data);
    let Some(mut reader) = told(open_with(&path, &Wish::default(), &|| Ok(DESCRIPTORS.to_vec())))
    else {
        return;
    };
    let mut end = None;
    while let Some(head) = told(reader.next()).flatten() {
        assert!(end.is_none_or(|end| head.place.at > end), "messages follow one another");
        end = Some(head.place.at);
        let data = told(reader.data().map(<[u8]>::len)).expect("it was parsed");
        assert_eq!(data as u64, head.size);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
