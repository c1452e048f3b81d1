//! A trace of OSI as text.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, file, DESCRIPTORS};
use wiregauge_trace::open::{open_with, OpenHints};

pub fn read(data: &[u8]) {
    let path = file("a_sv.txth", data);
    let Some(mut reader) =
        check_error(open_with(&path, &OpenHints::default(), &|| Ok(DESCRIPTORS.to_vec())))
    else {
        return;
    };
    let mut end = None;
    while let Some(head) = check_error(reader.next()).flatten() {
        assert!(end.is_none_or(|end| head.place.at > end), "messages follow one another");
        end = Some(head.place.at);
        let data = check_error(reader.data().map(<[u8]>::len)).expect("it was parsed");
        assert_eq!(data as u64, head.size);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
