//! A message on each wire, by the readers that `wiregauge generate` writes in Rust.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::holders::kinds::Kinds;
use wiregauge_fuzz_support::holders::tree::Tree;
use wiregauge_fuzz_support::holders::{views, wiregauge as wires, wiregauge_protobuf as protobuf};
use wires::{Cdr, CdrWithHeader, RosMsg, SomeIp, Wire, Xcdr2, Xcdr2WithHeader};

/// What was read is written and read as the same, also into what held another message; a
/// view of it says the same.
fn same<W: Wire>(bytes: &[u8]) {
    let read = wires::deserialize::<W, Kinds>(bytes);
    views::hold::<W, Kinds>(bytes, &read);
    same_without_view::<W>(bytes);
}

/// The same on a wire of which there are no views.
fn same_without_view<W: Wire>(bytes: &[u8]) {
    let Ok(message) = wires::deserialize::<W, Kinds>(bytes) else { return };
    let (mut out, mut again) = (Vec::new(), Vec::new());
    wires::serialize::<W, _>(&message, &mut out).expect("what was read is written");
    assert!(out.len() <= 64 + 4 * bytes.len());
    let mut used = message.clone();
    used.texts.push(String::from("another"));
    wires::deserialize_into::<W, Kinds>(&out, &mut used).expect("what was written is read");
    wires::serialize::<W, _>(&used, &mut again).expect("it is written again");
    assert_eq!(out, again);
}

/// The same on Protobuf's wire, where what is read may be said in another way.
fn same_tree(bytes: &[u8]) {
    let Ok(message) = protobuf::deserialize::<Tree>(bytes) else { return };
    let (mut out, mut again) = (Vec::new(), Vec::new());
    protobuf::serialize(&message, &mut out).expect("what was read is written");
    assert!(out.len() <= 64 + 8 * bytes.len());
    let mut used = message;
    protobuf::deserialize_into(&out, &mut used).expect("what was written is read");
    protobuf::serialize(&used, &mut again).expect("it is written again");
    assert_eq!(out, again);
}

/// From which first byte on it is SOME/IP; before it the rest of six is a wire.
const SOME_IP: u8 = 0xf0;

pub fn read(data: &[u8]) {
    let Some((&which, rest)) = data.split_first() else { return };
    if which >= SOME_IP {
        return same_without_view::<SomeIp>(rest);
    }
    match which % 6 {
        0 => same::<RosMsg>(rest),
        1 => same::<Cdr>(rest),
        2 => same::<CdrWithHeader>(rest),
        3 => same::<Xcdr2>(rest),
        4 => same::<Xcdr2WithHeader>(rest),
        _ => same_tree(rest),
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
