//! What a runner answers.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_child_process::reply;
use wiregauge_fuzz_support::text;

pub fn read(data: &[u8]) {
    let Some((&what, rest)) = data.split_first() else { return };
    match what % 4 {
        0 => {
            if let Some((word, size)) = text(rest).and_then(reply::parse_head) {
                let again = format!("{word:?} {size}").to_lowercase();
                assert_eq!(reply::parse_head(&again), Some((word, size)));
            }
        }
        1 => drop(reply::hello(rest)),
        2 => drop((reply::values(rest), reply::allocations(rest), reply::error_text(rest))),
        _ => {
            if let Ok(epoch) = reply::epoch(rest) {
                let sizes =
                    [&epoch.encoded, &epoch.decoded].map(|p| p.as_ref().map_or(0, Vec::len));
                assert!(sizes.iter().sum::<usize>() < rest.len());
            }
        }
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
