//! The canonical bytes of a message.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, one_of_each};
use wiregauge_schema::msg::Dialect;
use wiregauge_schema::{canonical, digest};

pub fn read(data: &[u8]) {
    let schema = one_of_each(Dialect::Ros2);
    if let Some(value) = check_error(canonical::decode(&schema, data)) {
        assert_eq!(canonical::encode(&schema, &value).expect("it fits"), data);
        digest::digest_message(&schema, &value);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
