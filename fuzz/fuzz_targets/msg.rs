//! A message definition of ROS 1 or ROS 2.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, definition, text};
use wiregauge_schema::msg::{read_text, Dialect};

pub fn read(data: &[u8]) {
    let Some((&dialect, rest)) = data.split_first() else { return };
    let dialect = if dialect % 2 == 0 { Dialect::Ros1 } else { Dialect::Ros2 };
    let Some(text) = text(rest) else { return };
    if let Some(schema) = check_error(read_text(text, "p/Root", dialect, "fuzzed")) {
        definition(&schema);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
