//! What participants say of a run, as a result.
#![cfg_attr(fuzzing, no_main)]

use std::time::Duration;

use wiregauge_bus::load::Load;
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::result::measured_trial::MeasuredTrial;
use wiregauge_participant::control::{Mode, ReceiverResult, SenderResult, TransportInfo};
use wiregauge_result::environment::Environment;
use wiregauge_result::run::Fact;

pub fn read(data: &[u8]) {
    let Ok((sent, received, rounds)) = serde_json::from_slice(data) else { return };
    let load = Load::new(100, Duration::from_millis(1), Mode::Continuous);
    let (sent, received): (SenderResult, Vec<ReceiverResult>) = (sent, received);
    let text = String::new;
    let about =
        TransportInfo { name: text(), library: text(), options: Vec::new(), knows: Vec::new() };
    let record =
        RunRecord { about, round_trips: rounds, sent, received, background: None, broken: None };
    let machine = Environment::default();
    let (case, subject) = ("case", "subject");
    let measured = MeasuredTrial { case, load: &load, subject, record: &record, machine: &machine };
    // What is not finite could not be read again.
    let finite = |fact: &Fact| fact.value.is_finite();
    assert!(measured.facts().iter().all(finite));
    drop((
        measured.measurements(),
        measured.slowest(),
        measured.curves(),
        measured.cautions("title"),
    ));
    drop((
        measured.losses("title", true),
        measured.invalid(),
        measured.is_sender_blocked(),
        measured.mean_of_windows(),
    ));
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
