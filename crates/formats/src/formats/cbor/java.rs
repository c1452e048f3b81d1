//! CBOR in Java by Jackson.

use wiregauge_build_tools::maven::Jar;

use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Linkage};
use crate::language::java::jackson;

const JARS: &[Jar] = &[
    jackson::CORE,
    jackson::DATABIND,
    jackson::ANNOTATIONS,
    Jar {
        coordinates: "com.fasterxml.jackson.dataformat:jackson-dataformat-cbor:2.23.0",
        sha256: "7259c1efb600193cd6d10cc598e50f35477b5889c266d238965d466d762e4edf",
    },
];

inventory::submit! {
    Codec {
        name: "jackson-cbor",
        title: "CBOR Java Jackson",
        format: "cbor",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("jackson-dataformat-cbor"),
        options: &[
            "the normalized form itself by databind: public fields, found once by reflection; one \
             ObjectWriter and one ObjectReader of the message's class for the whole process, as \
             its authors advise",
            "a record is a map from field names to values; bytes are a byte string",
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
        check_type: |schema, id| jackson::check_type(schema, id, "byte string"),
        idl: None,
        emit: |unit| jackson::emit(unit, include_str!("java/Mapper.java"), JARS),
    }
}
