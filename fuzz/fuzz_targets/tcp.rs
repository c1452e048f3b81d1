//! What whoever has the token writes to a receiver over `tcp`.
#![cfg_attr(fuzzing, no_main)]

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use wiregauge_bus::transports::tcp::Tcp;
use wiregauge_fuzz_support::connection_to;
use wiregauge_participant::transport::TopicSet;
use wiregauge_participant::transport::{Topic, Transport};

const TOKEN: &str = "0123456789abcdef";

const SIZE: usize = 20;

pub fn read(data: &[u8]) {
    read_topics(data, None);
    // There each sample says its topic.
    for senders in [1, 2] {
        read_topics(data, Some(TopicSet { senders, each: 2, sender: 0 }));
    }
}

fn read_topics(data: &[u8], several: Option<TopicSet>) {
    let bytes = [TOKEN.as_bytes(), data].concat();
    let topic = Topic {
        name: "t".into(),
        several,
        size: SIZE,
        varies: false,
        bind: Ipv4Addr::LOCALHOST.into(),
        readers: 1,
        token: TOKEN.into(),
        scratch: None,
        options: BTreeMap::new(),
    };
    let (mut reader, endpoint) = Tcp.reader(&topic).expect("a port");
    let senders = several.map_or(1, |set| set.senders);
    let endpoint = endpoint.parse().expect("an address");
    let visitors: Vec<_> = (0..senders).map(|_| connection_to(endpoint, &bytes)).collect();
    let tag = if several.is_some() { 4 } else { 0 };
    let mut taken = 0;
    while let Ok(Some((number, sample))) = reader.next_of_any(Duration::from_secs(1)) {
        // Of several senders the samples take turns.
        if senders == 1 {
            let start = taken + 4 + tag;
            taken = start + SIZE;
            assert_eq!(*sample, data[start..taken]);
            let said = data[start - tag..start].try_into().map_or(0, u32::from_le_bytes);
            assert_eq!(number, said as usize);
        }
    }
    drop(visitors);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
