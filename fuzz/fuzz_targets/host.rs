//! What the process that FMUs run in answers.
#![cfg_attr(fuzzing, no_main)]

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::Serialize;
use wiregauge_cosim::host::job::{HostSummary, Job, Proof, TimedSteps};
use wiregauge_fuzz_support::text;

pub fn read(data: &[u8]) {
    if let Some(ran) = text(data).and_then(TimedSteps::parse) {
        assert_eq!(TimedSteps::parse(&ran.to_text()).as_ref(), Some(&ran));
    }
    again::<Proof>(data);
    again::<HostSummary>(data);
    again::<Job>(data);
}

/// What is JSON is written as the same.
fn again<T: DeserializeOwned + Serialize + PartialEq + Debug>(data: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<T>(data) {
        let text = serde_json::to_string(&value).expect("it was JSON");
        assert_eq!(serde_json::from_str::<T>(&text).expect("and is"), value);
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
