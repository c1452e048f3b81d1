//! Kryo: plain Java objects as they are, by classes that are registered. A format of Java's
//! alone.

use anyhow::Result;
use wiregauge_build_tools::maven::Jar;
use wiregauge_normalized::Unit;

use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, Linkage};
use crate::language::java::glue::{jar_name, library_file};
use crate::language::java::plain_objects::{self, CANONICAL_NANS};

const JARS: &[Jar] = &[
    Jar {
        coordinates: "com.esotericsoftware:kryo:5.6.2",
        sha256: "4e8b1d2f4977187af8a51a957329722dc1cdc56a7c94fbb5a791e82897629cff",
    },
    Jar {
        coordinates: "com.esotericsoftware:reflectasm:1.11.9",
        sha256: "712b44da79a5b7f47a28cbfcb3d8ecfc872fae349c48aa4d3e38a5d69956afce",
    },
    Jar {
        coordinates: "org.objenesis:objenesis:3.4",
        sha256: "95488102feaf2e2858adf6b299353677dac6c15294006f8ed1c5556f8e3cd251",
    },
    Jar {
        coordinates: "com.esotericsoftware:minlog:1.3.1",
        sha256: "5d4d632cfbebfe0a7644501cc303570b691406181bee65e9916b921c767d7c72",
    },
];

inventory::submit! {
    Codec {
        name: "kryo",
        title: "Kryo Java",
        format: "kryo",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("kryo"),
        options: &[
            "the normalized form itself by FieldSerializer, the default; only Java reads it",
            "setRegistrationRequired(true): every class has a number, which writer and reader give \
             in the same order; no references (setReferences(false)); both are the defaults",
            "one Kryo for the whole process, which has one thread, because making one costs time; \
             the usual Output and Input, not the unsafe ones, are kept between messages; the \
             Output's array is handed over uncopied",
            CANONICAL_NANS,
            "no partial reads: the whole message is read for one number",
        ],
        calls: &[
            "encode: output.reset(); kryo.writeObject(output, message); output.getBuffer()",
            "decode, project, fixed, element: input.setBuffer(array, from, length); \
             kryo.readObject(input, Message.class)",
        ],
        needs: NEEDS_WITH_JARS,
        check_type: plain_objects::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let own = [("Main.java", include_str!("kryo/Main.java")), ("Nans.java", plain_objects::NANS)];
    let mut emission = plain_objects::emit(unit, &[], &own, JARS)?;
    emission.files.push(library_file(&jar_name(&JARS[0])));
    Ok(emission)
}
