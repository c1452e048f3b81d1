//! The file with the key of a scenario's machines.
#![cfg_attr(fuzzing, no_main)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use wiregauge_bus::secret::Key;
use wiregauge_fuzz_support::{check_error, file};

pub fn read(data: &[u8]) {
    let path = file("key", data);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("the own file");
    let digits = data.trim_ascii();
    let is_key = digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit);
    // Other white space may surround it.
    assert!(check_error(Key::find(Some(&path))).is_some() || !is_key);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
