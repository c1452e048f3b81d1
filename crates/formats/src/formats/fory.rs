//! Apache Fory: plain Java objects as they are, by code that it makes while it runs. Here in
//! its form for Java alone.

use anyhow::Result;
use wiregauge_build_tools::maven::Jar;
use wiregauge_normalized::Unit;

use crate::build::languages::java::{JAVA, NEEDS_WITH_JARS};
use crate::codec::{Codec, Emission, Linkage};
use crate::language::java::glue::{jar_name, library_file};
use crate::language::java::plain_objects;

const JARS: &[Jar] = &[
    Jar {
        coordinates: "org.apache.fory:fory-core:1.6.0",
        sha256: "51425606bd061f8367ed7cf7c42968ff6e0e860e7567726c711883b2046b1506",
    },
    Jar {
        coordinates: "org.codehaus.janino:janino:3.1.12",
        sha256: "5699878c31e71c9a94cf472f95a2dad52ca7b0449c099276b8bd7e992a43595b",
    },
    Jar {
        coordinates: "org.codehaus.janino:commons-compiler:3.1.12",
        sha256: "17ea25d860225f4b59d0a512b4995f2e4711bdae5e15736cbcd5f6ce4dda8f7c",
    },
];

inventory::submit! {
    Codec {
        name: "fory",
        title: "Fory Java",
        format: "fory",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Jar("fory-core"),
        options: &[
            "the normalized form itself, by code that the library generates and compiles on the \
             first message (part of the cold figures); withXlang(false): only Java reads it",
            "requireClassRegistration(true), withRefTracking(false), withCompatible(false): writer \
             and reader have the same classes, and no definition is included",
            "single integers of four and eight bytes take as few bytes as their value needs, lists \
             of numbers move as blocks: the defaults",
            "one Fory for the whole process, as its authors advise; its MemoryBuffers are kept \
             between messages, and the output's array is handed over uncopied",
            "withMaxGraphMemoryBytes: 1 GiB, half of the heap; the default is 128 MiB",
            "no partial reads: the whole message is read for one number",
        ],
        calls: &[
            "encode: buffer.writerIndex(0); fory.serialize(buffer, message); buffer.getHeapMemory()",
            "decode, project, fixed, element: buffer.pointTo(array, from, length); \
             fory.deserialize(buffer)",
        ],
        needs: NEEDS_WITH_JARS,
        check_type: plain_objects::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let own = [("Main.java", include_str!("fory/Main.java"))];
    let mut emission = plain_objects::emit(unit, &[], &own, JARS)?;
    emission.files.push(library_file(&jar_name(&JARS[0])));
    Ok(emission)
}
