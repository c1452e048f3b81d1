//! Reads and writes what Protobuf's library says of bytes: cases CASES.

use std::fs;

#[cfg(not(bare))]
use crate::wiregauge::{self, Cdr};
use crate::wiregauge_protobuf as protobuf;
use crate::Message;

fn part<'a>(data: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (size, rest) = data.split_at(4);
    let size = u32::from_le_bytes(size.try_into().expect("four bytes"));
    *data = rest;
    if size == u32::MAX {
        return None;
    }
    let (part, rest) = data.split_at(size as usize);
    *data = rest;
    Some(part)
}

pub fn run() {
    let data = fs::read(std::env::args().nth(1).expect("cases")).expect("cases");
    let (mut data, mut count) = (data.as_slice(), 0);
    // One object that is used again, and bytes that are.
    let (mut used, mut out) = (Message::default(), vec![7]);
    while !data.is_empty() {
        let (given, wanted, cdr) = (part(&mut data), part(&mut data), part(&mut data));
        let given = given.expect("bytes");
        let fresh = protobuf::deserialize::<Message>(given);
        let result = protobuf::deserialize_into(given, &mut used);
        assert_eq!(result.err(), fresh.as_ref().err().copied(), "{count}");
        assert_eq!(result.is_ok(), wanted.is_some(), "{count}: {given:02x?} {result:?}");
        if let (Ok(fresh), Some(wanted)) = (fresh, wanted) {
            for message in [&fresh, &used] {
                protobuf::serialize(message, &mut out).expect("it can be written");
                assert_eq!(out, wanted, "{count}: {given:02x?}");
                assert_eq!(protobuf::size(message), Ok(wanted.len()));
            }
        }
        #[cfg(not(bare))]
        if let Some(cdr) = cdr {
            wiregauge::serialize::<Cdr, _>(&used, &mut out).expect("it can be written");
            assert_eq!(out, cdr, "{count}");
            let again = wiregauge::deserialize::<Cdr, Message>(cdr).expect("a message");
            assert_eq!(again, used, "{count}");
        }
        let _ = cdr;
        count += 1;
    }
    println!("{count}");
}
