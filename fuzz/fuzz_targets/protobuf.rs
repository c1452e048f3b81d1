//! A message in Protobuf.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, DESCRIPTORS};
use wiregauge_schema::canonical;
use wiregauge_trace::protobuf::Decoder;

pub fn read(data: &[u8]) {
    thread_local! {
        static DECODER: Decoder =
            Decoder::new(DESCRIPTORS, "osi3.SensorView").expect("it is one");
    }
    DECODER.with(|decoder| {
        if let Some((value, _)) = check_error(decoder.decode(data)) {
            canonical::encode(decoder.schema(), &value).expect("it fits");
        }
    });
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
