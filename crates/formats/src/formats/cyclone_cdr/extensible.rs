//! XCDR2 of types that may be extended: what DDS writes where a definition does not say
//! `@final`.

use wiregauge_build_tools::Need;

use super::{check_type, definition, emit, Extensibility};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Linkage};

const OPTIONS: [&str; 5] = [
    "the machine's byte order, no encapsulation header",
    "decode copies the bytes, normalizes them (this checks them) and reads them, as Cyclone DDS \
     does when it receives; verify is copying and normalizing only",
    "encode does not copy texts, and lists whose elements have Cyclone's layout: it points to them",
    "a text with a NUL character is refused when it is encoded",
    "no partial reads: fixed and element decode the whole message",
];
const CALLS: &[&str] = &[
    "encode: dds_stream_write_sample(&stream, &sample, type)",
    "decode: memcpy of the bytes; dds_stream_normalize(…); dds_stream_read_sample(&stream, &sample, type)",
    "project, fixed, element: as decode, then the struct's members",
];
const NEEDS: &[Need] = &[
    Need::Program("idlc", "cyclonedds-tools"),
    Need::Header("dds/ddsi/ddsi_cdrstream.h", "cyclonedds-dev"),
];

inventory::submit! {
    Codec {
        name: "cyclone-xcdr2-appendable",
        title: "XCDR2 appendable C Cyclone DDS",
        format: "xcdr2-appendable",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Shared("libddsc"),
        options: &[
            "appendable types, the default of XTypes: before each record stands its size, so that a \
             reader may skip members that were added at its end. No record moves as a block",
            OPTIONS[0], OPTIONS[1], OPTIONS[2], OPTIONS[3], OPTIONS[4],
        ],
        calls: CALLS,
        needs: NEEDS,
        check_type,
        idl: Some(|schema| definition(schema, Extensibility::Appendable)),
        emit: |unit| emit(unit, Extensibility::Appendable),
    }
}

inventory::submit! {
    Codec {
        name: "cyclone-xcdr2-mutable",
        title: "XCDR2 mutable C Cyclone DDS",
        format: "xcdr2-mutable",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Shared("libddsc"),
        options: &[
            "mutable types: before each record stands its size, and before each member its id with \
             its length, as Protobuf has keys; members are numbered in order (autoid sequential)",
            "the library leaves members as they were that are not in the bytes: the sample is freed \
             and zeroed before it is read into",
            OPTIONS[0], OPTIONS[1], OPTIONS[2], OPTIONS[3], OPTIONS[4],
        ],
        calls: CALLS,
        needs: NEEDS,
        check_type,
        idl: Some(|schema| definition(schema, Extensibility::Mutable)),
        emit: |unit| emit(unit, Extensibility::Mutable),
    }
}
