//! What whoever has the token plays to a recorder over `tcp`: samples of any size, each a
//! frame. What was read of one is read of it when it is written again.
#![cfg_attr(fuzzing, no_main)]

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use wiregauge_bus::transports::tcp::Tcp;
use wiregauge_fuzz_support::{check_error, connection_to};
use wiregauge_participant::stream::frame::{self, Frame};
use wiregauge_participant::transport::{Topic, Transport};

const TOKEN: &str = "0123456789abcdef";

pub fn read(data: &[u8]) {
    let bytes = [TOKEN.as_bytes(), data].concat();
    let topic = Topic {
        name: "t".into(),
        several: None,
        size: 1 << 20,
        varies: true,
        bind: Ipv4Addr::LOCALHOST.into(),
        readers: 1,
        token: TOKEN.into(),
        scratch: None,
        options: BTreeMap::new(),
    };
    let (mut reader, endpoint) = Tcp.reader(&topic).expect("a port");
    let visitor = connection_to(endpoint.parse().expect("an address"), &bytes);
    let mut taken = 0;
    while let Ok(Some(sample)) = reader.next(Duration::from_secs(1)) {
        let start = taken + 4;
        taken = start + sample.len();
        assert_eq!(*sample, data[start..taken]);
        let Some((head, found)) = check_error(frame::read(sample)) else { continue };
        let mut again = match &found {
            Frame::Channel(number, described) => frame::channel(*number, described),
            Frame::Message(message, data) => [&frame::message_header(message)[..], *data].concat(),
            Frame::Metadata(name, entries) => frame::metadata(name, entries),
            Frame::Beat => frame::heartbeat(),
            Frame::End(whole) => frame::end(*whole),
        };
        frame::write_frame_header(&mut again, head);
        assert_eq!(frame::read(&again).expect("it was written here"), (head, found));
    }
    drop(visitor);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
