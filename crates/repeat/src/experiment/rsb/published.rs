//! What RSB enhancement 997 published: the table of note 14, and the runs of notes 4, 6, 7
//! and 8.

use wiregauge_result::run::{Figure, Reference};

/// Round trips of each cell.
pub const ROUND_TRIPS: u64 = 1_000_000;

/// Bytes, and seconds for a million round trips.
pub type PublishedFigures = (f64, f64);

/// Size factor; figures of Protobuf; figures of ROS MSG: note 14.
pub const TABLE: [(usize, PublishedFigures, PublishedFigures); 6] = [
    (4, (55.0, 1.953), (104.0, 1.154)),
    (8, (83.0, 2.005), (132.0, 1.129)),
    (16, (139.0, 2.047), (188.0, 1.216)),
    (32, (251.0, 2.476), (300.0, 1.211)),
    (64, (477.0, 2.401), (524.0, 1.281)),
    (128, (933.0, 2.519), (972.0, 1.497)),
];

/// The size factor that the runs of a message of unknown size are shown beside: that
/// message is called minimal.
const MINIMAL: usize = 4;

/// Of those runs: note, metric, and seconds for a million round trips of Protobuf and of
/// ROS MSG.
const RUNS: [(usize, &str, f64, f64); 3] = [
    (4, "client-fresh", 1.813, 1.394),
    (7, "client-reused", 0.539, 0.434),
    (8, "client-reused", 0.608, 0.334),
];

/// Note 6: what ROS MSG's program spends its time with, in percent.
pub const SHARES: [(&str, f64); 3] =
    [("share/serialization", 20.0), ("share/deserialization", 30.0), ("share/construction", 50.0)];

/// What stands for the publication's two programs.
const PROTOBUF: (&str, &str) = ("Protocol buffers", "protobuf-cpp");
const ROS_MSG: (&str, &str) = ("ROS MSG (via rosetta)", "generated-ros-msg-cpp");

/// What was published.
pub fn reference() -> Reference {
    let mut figures = Vec::new();
    let mut figure = |factor: usize, what: (&str, &str), metric: &str, unit: &str, value| {
        figures.push(Figure::new(case(factor), what, metric, unit, value));
    };
    let each = |seconds: f64| seconds * 1e9 / ROUND_TRIPS as f64;
    for (factor, protobuf, ros) in TABLE {
        for (program, (bytes, seconds)) in [(PROTOBUF, protobuf), (ROS_MSG, ros)] {
            figure(factor, program, "size", "B", bytes);
            figure(factor, program, "client-fresh", "ns", each(seconds));
        }
    }
    for (note, metric, protobuf, ros) in RUNS {
        for ((name, subject), seconds) in [(PROTOBUF, protobuf), (ROS_MSG, ros)] {
            let name = format!("{name}, note {note}");
            figure(MINIMAL, (&name, subject), metric, "ns", each(seconds));
        }
    }
    for (metric, percent) in SHARES {
        let name = format!("{}, note 6", ROS_MSG.0);
        figure(MINIMAL, (&name, ROS_MSG.1), metric, "%", percent);
    }
    Reference {
        title: "RSB enhancement 997, notes 4, 6, 7, 8 and 14: size and time of 1,000,000 round \
                trips in C++"
            .into(),
        conditions: "a developer's workstation of 2012, -O2; its processor, the compiler and \
                     Protobuf's release are not told"
            .into(),
        notes: [
            "seconds for a million round trips are shown as time per round trip",
            "published for C++ alone; what stands here for Java and Python has nothing beside it",
            "client: builds the library's object, writes it, and reads what it parses: what note 14 \
             calls Protobuf's client API. roundtrip: the client has a data holder of its own, which \
             Protobuf's object is filled from and read into; nobody published that",
            "whether the published programs read what they parsed is not told; here every number is \
             read, and the length of all octets",
            "the optional fields are required, as in the publication; Protobuf's definition here is \
             proto3's, which has no such word, so that parsing looks for none that lacks",
            "ROS MSG pays 16 bytes for the two absent timestamps, which Protobuf leaves out",
            "notes 4 to 8 are of a minimal message of unknown size, here beside the smallest; its \
             program, benchmark.cc, was attached and is not part of what was published",
            "note 4: ROS MSG copied the buffer twice in each round trip, to be called as Protobuf \
             is; here and in note 14 it does not",
            "note 7: with loops, note 8: with memcpy in their place. Protobuf's program, of which no \
             change is told, took 13% more time in note 8: so far the published figures scatter",
            "note 6 does not tell how its shares were found, nor whether what reading allocates \
             counts as construction. Here writing and reading are of objects that are kept, and \
             construction is all the rest, allocation and the reading of numbers too; where a \
             library cannot keep objects (Protobuf Java, Python's holders) reading makes them",
            "against-ros-msg: of the time of the generated ROS MSG in the same language and round",
            "what the change was for, fewer dependencies and a leaner base library: --weight",
        ]
        .map(str::to_owned)
        .into(),
        figures,
        slopes: Vec::new(),
    }
}

/// Key of a size factor's case.
pub fn case(factor: usize) -> String {
    format!("size factor={factor}")
}
