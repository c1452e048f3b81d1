//! JSON in Python: the standard library's module, and orjson.

use anyhow::Result;
use wiregauge_normalized::Unit;

use super::check_type;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Emission, Linkage};
use crate::language::python::msgspec;
use crate::language::python::tree::Tree;

inventory::submit! {
    Codec {
        name: "json-python",
        title: "JSON Python json",
        format: "json",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Standard,
        options: &[
            "compact output in UTF-8 (ensure_ascii=False); an absent value is null; bytes are text \
             in Base64",
            "a record is a dict, which is made from the normalized form and converted back",
            "allow_nan=False: a message with NaN or an infinity is refused",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: encoder = json.JSONEncoder(…); encoder.encode(tree).encode()",
            "decode, project, fixed, element: json.loads(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit: |unit| emit(unit, include_str!("python/json.py"), ""),
    }
}

inventory::submit! {
    Codec {
        name: "orjson",
        title: "JSON Python orjson",
        format: "json",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("orjson"),
        options: &[
            "an absent value is null; bytes are text in Base64",
            "a record is a dict, which is made from the normalized form and converted back; the \
             library's own writing of dataclasses does not support array.array",
            "the library would write NaN and infinities as null: messages are searched for them \
             once, before timing, and refused",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: orjson.dumps(tree)",
            "decode, project, fixed, element: orjson.loads(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit: |unit| {
            let requirements = include_str!("python/orjson.txt");
            emit(unit, include_str!("python/orjson.py"), requirements)
        },
    }
}

inventory::submit! {
    Codec {
        name: "msgspec-json",
        title: "JSON Python msgspec",
        format: "json",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("msgspec"),
        options: &[
            "a record is a struct of the library's (gc=False, as the library advises for data \
             without reference cycles), which is made from the normalized form and converted back",
            "an absent value is null; bytes are text in Base64",
            "the encoder and the decoder, which knows the type, are kept between messages",
            "the library would write NaN and infinities as null: messages are searched for them \
             once, before timing, and refused",
            "for one number the whole message is decoded",
        ],
        calls: &[
            "encode: encoder = msgspec.json.Encoder(); encoder.encode(struct)",
            "decode, project, fixed, element: decoder = msgspec.json.Decoder(Message); \
             decoder.decode(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit: |unit| msgspec::emit(unit, "json"),
    }
}

fn emit(unit: &Unit, calls: &'static str, requirements: &'static str) -> Result<Emission> {
    Tree { named: true, octets_as_text: true, calls, requirements }.emit(unit)
}
