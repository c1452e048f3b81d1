//! What whoever has the token writes to a receiver over `tcp`.
#![cfg_attr(fuzzing, no_main)]

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use wiregauge_bus::transports::tcp::Tcp;
use wiregauge_fuzz_support::connection_to;
use wiregauge_participant::transport::{Topic, Transport};

const TOKEN: &str = "0123456789abcdef";

pub fn read(data: &[u8]) {
    const SIZE: usize = 20;
    let bytes = [TOKEN.as_bytes(), data].concat();
    let options = BTreeMap::new();
    let topic = Topic {
        name: "t".into(),
        size: SIZE,
        varies: false,
        bind: Ipv4Addr::LOCALHOST.into(),
        readers: 1,
        token: TOKEN.into(),
        scratch: None,
        options,
    };
    let (mut reader, endpoint) = Tcp.reader(&topic).expect("a port");
    let visitor = connection_to(endpoint.parse().expect("an address"), &bytes);
    let mut taken = 0;
    while let Ok(Some(sample)) = reader.next(Duration::from_secs(1)) {
        let start = taken + 4;
        taken = start + SIZE;
        assert_eq!(*sample, data[start..taken]);
    }
    drop(visitor);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
