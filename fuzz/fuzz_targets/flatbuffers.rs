//! A message in FlatBuffers, and the definition that its channel carries.
//!
//! The input is the length of the definition in 32 bits, the definition, then a message in
//! either encoding.
#![cfg_attr(fuzzing, no_main)]

use prost_reflect::{prost::Message, DynamicMessage};
use wiregauge_flatbuffers::convert::{decode as unflatten, encode as flatten};
use wiregauge_flatbuffers::json::FlatBufferFormatter;
use wiregauge_flatbuffers::{Definition, Losses, Pairing};
use wiregauge_fuzz_support::{check_error, DESCRIPTORS};
use wiregauge_schema::proto::Definitions;
use wiregauge_trace::parser::JsonFormatter;

pub fn read(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<4>() else { return };
    let length = u32::from_le_bytes(*length) as usize;
    let Some((definition, message)) = rest.split_at_checked(length) else { return };
    let Some(definition) = check_error(Definition::read(definition)) else { return };
    if let Some(messages) = check_error(FlatBufferFormatter::from_root(definition.clone())) {
        let mut shown = Vec::new();
        if check_error(messages.write_json(message, &mut shown)).is_some() {
            // Tables and lists in turn may be nested more deeply than its reader goes.
            if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&shown) {
                assert!(error.to_string().contains("recursion limit"), "{error}");
            }
        }
    }
    let view = Definitions::decode(DESCRIPTORS).and_then(|all| all.message("osi3.SensorView"));
    let view = view.expect("it is there");
    let Some(pairing) = check_error(Pairing::new(&definition, "", &view)) else { return };
    check_error(unflatten(&pairing, message, &mut Losses::new(false)));
    check_error(unflatten(&pairing, message, &mut Losses::new(true)));
    let Ok(message) = DynamicMessage::decode(view, message) else { return };
    let Some(flat) = check_error(flatten(&pairing, &message, &mut Losses::new(false))) else {
        return;
    };
    // Definitions with structs have no absent numbers, and sharing is bounded.
    if let Some(back) = check_error(unflatten(&pairing, &flat, &mut Losses::new(false))) {
        assert!(back.encoded_len() >= message.encoded_len(), "something is lost");
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
