//! Smile, Jackson's own binary form of JSON.

use wiregauge_build_tools::maven::Jar;

use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Linkage};
use crate::language::java::jackson;

const JARS: &[Jar] = &[
    jackson::CORE,
    jackson::DATABIND,
    jackson::ANNOTATIONS,
    Jar {
        coordinates: "com.fasterxml.jackson.dataformat:jackson-dataformat-smile:2.23.0",
        sha256: "983cff584ad6dd446aadab803401c4bfddba565fef9c5d213d5819164c0e0270",
    },
];

inventory::submit! {
    Codec {
        name: "jackson-smile",
        title: "Smile Java Jackson",
        format: "smile",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("jackson-dataformat-smile"),
        options: &[
            "the normalized form itself by databind: public fields, found once by reflection; one \
             ObjectWriter and one ObjectReader of the message's class for the whole process, as \
             its authors advise",
            "a record is an object of field names and values, with each name written once for each \
             message; bytes are binary with seven bits in a byte: the library's defaults",
            "the output stream is kept between messages, and its array is handed over uncopied",
            "partial reads need a second model of the message: the whole message is read for one \
             number",
        ],
        calls: &[
            "encode: writer = mapper.writerFor(Message.class); writer.writeValue(stream, message)",
            "decode, project, fixed, element: reader = mapper.readerFor(Message.class); \
             reader.readValue(array, from, length)",
        ],
        needs: NEEDS_WITH_JARS,
        check_type: |schema, id| jackson::check_type(schema, id, "binary"),
        idl: None,
        emit: |unit| jackson::emit(unit, include_str!("smile/Mapper.java"), JARS),
    }
}
