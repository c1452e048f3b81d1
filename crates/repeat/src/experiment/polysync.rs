//! PolySync's LiDAR experiments: Pierce and Aschbacher, "Safety Implications
//! of Serialization Timing in Autonomous Vehicles", table 1 and figure 2.

use anyhow::Result;
use wiregauge_codec_run::workload::Workload;
use wiregauge_result::run::{Figure, Reference};

use crate::codec_experiment::CodecExperiment;
use crate::publication::Publication;

inventory::submit! {
    CodecExperiment {
        publication: Publication {
            name: "polysync",
            about: "PolySync's table and sweep of the LiDAR message, in all codecs",
            source: "PolySync: Safety Implications of Serialization Timing",
            year: "about 2017",
        },
        author: "PolySync",
        workload,
        reference: Some(reference),
        codecs: &[],
        experiments: |all| all,
        derived: |_| Vec::new(),
        weight: None,
        least_iterations: 0,
    }
}

/// The numbers of points that figure 2 sweeps.
const POINTS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

/// The message over the sweep.
fn workload(seed: u64) -> Result<Workload> {
    let mut workload = Workload::lidar(&POINTS, 1, seed)?;
    workload.notes.push("one message, as in the publication".into());
    Ok(workload)
}

/// Table 1: name, the codec here, and mean and standard deviation of encode,
/// decode, full projection, fixed field and element's field, in microseconds.
type PublishedRow = (&'static str, &'static str, [(f64, f64); 5]);

const TABLE: [PublishedRow; 11] = [
    (
        "Bincode",
        "bincode",
        [(263.2, 7.0), (344.7, 13.8), (350.8, 12.0), (336.2, 12.9), (336.3, 12.9)],
    ),
    (
        "CapnprotoPacked",
        "capnproto-packed",
        [(786.2, 31.6), (1552.5, 56.1), (1440.8, 58.2), (427.1, 16.9), (427.6, 16.8)],
    ),
    (
        "CapnprotoStandard",
        "capnproto",
        [(346.9, 15.1), (1197.5, 36.8), (1063.9, 40.1), (55.0, 2.6), (45.3, 1.1)],
    ),
    ("Colfer", "colfer", [(288.5, 3.2), (124.6, 4.5), (140.1, 3.1), (82.4, 3.1), (82.1, 3.1)]),
    ("FastCdr", "fastcdr", [(135.7, 3.3), (155.9, 4.0), (160.3, 3.4), (101.6, 3.3), (101.4, 3.1)]),
    (
        "FlatBuffers",
        "flatbuffers",
        [(155.6, 3.0), (75.7, 1.6), (59.3, 0.6), (0.1, 0.0), (0.0, 0.0)],
    ),
    (
        "Json",
        "json",
        [(3495.1, 43.5), (11452.8, 79.3), (11469.5, 194.5), (11446.2, 153.6), (11472.9, 209.8)],
    ),
    ("Lcm", "lcm", [(113.5, 1.1), (89.5, 1.4), (106.7, 1.2), (48.8, 0.8), (48.7, 0.7)]),
    (
        "ProstProtobuf",
        "prost",
        [(407.6, 16.6), (975.4, 46.1), (929.0, 47.9), (914.3, 45.2), (914.4, 46.6)],
    ),
    (
        "QuickProtobuf",
        "quick-protobuf",
        [(914.4, 48.6), (469.6, 15.2), (392.1, 14.6), (376.5, 15.0), (378.0, 15.0)],
    ),
    (
        "Commercial DDS",
        "cyclone-cdr",
        [(1107.8, 30.2), (1129.5, 51.9), (863.3, 13.6), (808.6, 22.8), (778.9, 12.6)],
    ),
];

/// The published table.
fn reference() -> Reference {
    const METRICS: [&str; 5] = ["encode", "decode", "project", "fixed", "element"];
    let mut figures = Vec::new();
    for (at, metric) in METRICS.iter().enumerate() {
        for (name, subject, cells) in TABLE {
            let (mean, deviation) = cells[at];
            figures.push(Figure {
                deviation: Some(deviation * 1000.0),
                ..Figure::new("points=10000", (name, subject), metric, "ns", mean * 1000.0)
            });
        }
    }
    Reference {
        title: "PolySync: Safety Implications of Serialization Timing in Autonomous Vehicles, \
                table 1"
            .into(),
        conditions: "Intel Core i5-6200U at 2.30 GHz, 12 GiB DDR3, Linux 4.10.0, harness in Rust"
            .into(),
        notes: vec![
            "the commercial DDS is not named there; Cyclone DDS's own CDR stream stands for it, \
             an open implementation of the same kind"
                .into(),
            "the libraries are those of today, not of the publication".into(),
            "the publication repeated very short reads and rounds them to 0.0 µs".into(),
        ],
        figures,
        slopes: Vec::new(),
    }
}
