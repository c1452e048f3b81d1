//! The index beside a trace of OSI: whatever it says, the same messages are read.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::file;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::select::Selection;

const TRACE: &[u8] = include_bytes!("../corpus/osi_trace/two");

pub fn read(data: &[u8]) {
    let path = file("indexed_sv.osi", TRACE);
    file("indexed_sv.osi.index", data);
    let numbers = (1..3).map(|first| Selection { first, ..Selection::default() });
    let times =
        [0, 1_000_000_000].map(|from| Selection { from: Some(from), ..Selection::default() });
    for wanted in numbers.chain(times) {
        let read = |path: &std::path::Path| {
            let mut reader = open(path, &OpenHints::default()).expect("a trace");
            let mut selected = wanted.select(reader.as_mut());
            std::iter::from_fn(|| selected.advance().expect("one that is whole"))
                .collect::<Vec<_>>()
        };
        assert_eq!(read(&path), read(&file("plain_sv.osi", TRACE)));
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
