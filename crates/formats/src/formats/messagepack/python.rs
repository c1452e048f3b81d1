//! MessagePack in Python, by msgpack and by msgspec.

use super::check_type;
use crate::build::languages::python::{NEEDS, PYTHON};
use crate::codec::{Codec, Linkage};
use crate::language::python::msgspec;
use crate::language::python::tree::Tree;

inventory::submit! {
    Codec {
        name: "msgpack",
        title: "MessagePack Python msgpack",
        format: "messagepack",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("msgpack"),
        options: &[
            "the implementation in C; the runner ends if it gets another one",
            "a record is a list of its fields without names, which is made from the normalized \
             form and converted back; bytes are bin",
            "a float takes eight bytes, also where the definition says float32: the library's default",
            "the packer is kept between messages (autoreset, the default)",
            "no partial reads: the whole message is decoded for one number",
        ],
        calls: &[
            "encode: packer = msgpack.Packer(); packer.pack(tree)",
            "decode, project, fixed, element: msgpack.unpackb(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit: |unit| {
            let calls = include_str!("python/library.py");
            let requirements = include_str!("python/requirements.txt");
            Tree { named: false, octets_as_text: false, calls, requirements }.emit(unit)
        },
    }
}

inventory::submit! {
    Codec {
        name: "msgspec",
        title: "MessagePack Python msgspec",
        format: "messagepack",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("msgspec"),
        options: &[
            "a record is a struct of the library's (array_like=True; gc=False, as the library \
             advises for data without reference cycles), which is made from the normalized form \
             and converted back",
            "a float takes eight bytes, also where the definition says float32: the library has no \
             other way",
            "the encoder and the decoder, which knows the type, are kept between messages",
            "for one number the whole message is decoded",
        ],
        calls: &[
            "encode: encoder = msgspec.msgpack.Encoder(); encoder.encode(struct)",
            "decode, project, fixed, element: decoder = msgspec.msgpack.Decoder(Message); \
             decoder.decode(bytes)",
        ],
        needs: NEEDS,
        check_type,
        idl: None,
        emit: |unit| msgspec::emit(unit, "msgpack"),
    }
}
