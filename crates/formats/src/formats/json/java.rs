//! JSON in Java by Jackson.

use wiregauge_build_tools::maven::Jar;

use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Linkage};
use crate::language::java::jackson;

const JARS: &[Jar] = &[jackson::CORE, jackson::DATABIND, jackson::ANNOTATIONS];

inventory::submit! {
    Codec {
        name: "jackson-json",
        title: "JSON Java Jackson",
        format: "json",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("jackson-databind"),
        options: &[
            "the normalized form itself by databind: public fields, found once by reflection; one \
             ObjectWriter and one ObjectReader of the message's class for the whole process, as \
             its authors advise",
            "compact output; an absent value is null; bytes are text in Base64",
            "the library would write NaN and infinities as text: messages are searched for them \
             once, before timing, and refused",
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
        check_type: |schema, id| jackson::check_type(schema, id, "text by Base64"),
        idl: None,
        emit: |unit| jackson::emit(unit, include_str!("java/Mapper.java"), JARS),
    }
}
