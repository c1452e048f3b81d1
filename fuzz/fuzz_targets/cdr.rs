//! A message in CDR, and in the encoding of ROS 1.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, one_of_each};
use wiregauge_schema::canonical;
use wiregauge_schema::msg::Dialect;
use wiregauge_trace::{cdr, ros1};

pub fn read(data: &[u8]) {
    let Some((&which, rest)) = data.split_first() else { return };
    let dialect = if which % 2 == 0 { Dialect::Ros2 } else { Dialect::Ros1 };
    let schema = one_of_each(dialect);
    if let Some(value) = check_error(match dialect {
        Dialect::Ros2 => cdr::decode(&schema, rest),
        Dialect::Ros1 => ros1::decode(&schema, rest),
    }) {
        let bytes = canonical::encode(&schema, &value).expect("it fits");
        assert!(bytes.len() <= 64 + 4 * rest.len());
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
