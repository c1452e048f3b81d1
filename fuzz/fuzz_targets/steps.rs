//! What a participant is announced, and what it acknowledges.
#![cfg_attr(fuzzing, no_main)]

use std::net::Ipv4Addr;
use std::time::Duration;

use wiregauge_participant::lockstep::StepAnnouncer;

pub fn read(data: &[u8]) {
    let Some((&step, rest)) = data.split_first() else { return };
    let step = u32::from(step % 4);
    let (connection, came) = wiregauge_fuzz_support::connection(rest);
    let mut announcer = StepAnnouncer::open(Ipv4Addr::LOCALHOST.into(), "").expect("a port");
    announcer.use_connections(vec![came]).expect("it is open");
    let acknowledged = announcer.await_acknowledgements(step, Duration::from_secs(1), &|| true);
    let told: Vec<u32> =
        rest.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    assert_eq!(acknowledged.ok(), told.iter().any(|known| *known >= step).then_some(true));
    drop(connection);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
