//! JSON in Java by Jackson.

use wiregauge_workshop::maven::Jar;

use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Linkage};
use crate::jackson;

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
            "the normalized form itself by databind: public fields, which it finds once by \
             reflection; one ObjectWriter and one ObjectReader of the message's class for the \
             whole process, as its authors advise",
            "compact output; an absent value is null; octets are text by Base64",
            "a message with NaN or an infinity, which it would write as text, is looked for once \
             before anything is timed and refused",
            "the stream that it writes into is kept between messages, and its array handed over",
            "no way to read in part but by a second model of the message: the whole message is \
             read for one number",
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
