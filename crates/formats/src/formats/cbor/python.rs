//! CBOR in Python by cbor2.

use super::check_type;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Linkage};
use crate::language::python::tree::Tree;

inventory::submit! {
    Codec {
        name: "cbor2",
        title: "CBOR Python cbor2",
        format: "cbor",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("cbor2"),
        options: &[
            "a record is a dict from field names to values, which is made from the normalized form \
             and converted back; bytes are a byte string",
            "a float takes eight bytes, also where the definition says float32: the library's default",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: cbor2.dumps(tree)",
            "decode, project, fixed, element: cbor2.loads(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit: |unit| {
            let calls = include_str!("python/library.py");
            let requirements = include_str!("python/requirements.txt");
            Tree { named: true, octets_as_text: false, calls, requirements }.emit(unit)
        },
    }
}
