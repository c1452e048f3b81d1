//! Persival's co-simulation of source and sensor: "ASAM OSI Flatbuffers
//! Performance Report", 2022, table 1.

use wiregauge_cosim::master::plan::Load;
use wiregauge_cosim_run::fmu_entrants::{case_id, load, Member, SceneDetail};
use wiregauge_osi::fmus::{Build, Model, ENCODINGS};
use wiregauge_result::run::{Figure, Reference};

use crate::fmu_experiment::FmuExperiment;
use crate::publication::Publication;

inventory::submit! {
    FmuExperiment {
        publication: Publication {
            name: "persival",
            about: "Persival's co-simulation of source and sensor, table 1",
            source: "Persival: ASAM OSI Flatbuffers Performance Report",
            year: "2022",
        },
        explanation: "Repeat Persival's co-simulation of source and sensor\n\n\
                      It measures table 1 of the ASAM OSI Flatbuffers Performance Report: three \
                      numbers of reflections, three of objects, the Debug build, the Object API \
                      and structs. It adds the packed field. The report used new buffers and \
                      objects in each step: --fresh. The last row, a trace that is played, is \
                      `wiregauge repeat traces`.",
        title: "Persival's experiment: SensorView from source to sensor",
        model: Model::Sensor,
        cases,
        members,
        reference,
        derive: |_| {},
    }
}

/// Reflections and objects of a row.
type Scene = (u32, u32);

/// What the report measured as what it is here.
const TABLES: (&str, &str) = ("Flatbuffers", "flatbuffers-tables");
const PROTOBUF: (&str, &str) = ("Protobuf", "protobuf");
const TABLES_DEBUG: (&str, &str) = ("Flatbuffers, Debug build", "flatbuffers-tables-debug");
const PROTOBUF_DEBUG: (&str, &str) = ("Protobuf, Debug build", "protobuf-debug");
const OBJECTS: (&str, &str) = ("Flatbuffers Object API", "flatbuffers-objects");
const STRUCTS: (&str, &str) = ("Reflections, Vector3d etc. as Structs", "flatbuffers-structs");

/// A typical lidar, the only scene that is also measured in Debug builds.
const LARGE: Scene = (829_440, 10);

const SCENES: [Scene; 6] = [LARGE, (400_000, 10), (100_000, 10), (0, 10), (0, 200), (0, 500)];

/// Table 1: scene, what was measured, milliseconds of source and of model.
#[rustfmt::skip]
const TABLE: [(Scene, (&str, &str), f64, f64); 16] = [
    (LARGE, TABLES, 43.0, 9.0),
    (LARGE, PROTOBUF, 27.0, 66.0),
    ((400_000, 10), TABLES, 20.0, 4.0),
    ((400_000, 10), PROTOBUF, 13.0, 32.0),
    ((100_000, 10), TABLES, 5.0, 1.0),
    ((100_000, 10), PROTOBUF, 3.0, 8.0),
    ((0, 10), TABLES, 0.0, 0.0),
    ((0, 10), PROTOBUF, 0.0, 0.0),
    ((0, 200), TABLES, 1.0, 1.0),
    ((0, 200), PROTOBUF, 1.0, 1.0),
    ((0, 500), TABLES, 2.0, 2.0),
    ((0, 500), PROTOBUF, 2.0, 2.0),
    (LARGE, TABLES_DEBUG, 352.0, 117.0),
    (LARGE, PROTOBUF_DEBUG, 132.0, 258.0),
    (LARGE, OBJECTS, 68.0, 9.0),
    (LARGE, STRUCTS, 28.0, 5.0),
];

/// Sizes of the SensorView that the text states, in bytes.
#[rustfmt::skip]
const SIZES: [(Scene, (&str, &str), f64); 11] = [
    (LARGE, TABLES, 23_226_752.0),
    (LARGE, PROTOBUF, 16e6),
    (LARGE, STRUCTS, 20e6),
    ((400_000, 10), TABLES, 11e6),
    ((400_000, 10), PROTOBUF, 8e6),
    ((0, 10), TABLES, 2.4e3),
    ((0, 10), PROTOBUF, 2.2e3),
    ((0, 200), TABLES, 41e3),
    ((0, 200), PROTOBUF, 41e3),
    ((0, 500), TABLES, 103e3),
    ((0, 500), PROTOBUF, 103e3),
];

/// The scenes, with what the reference's source wrote.
fn cases() -> Vec<Load> {
    SCENES
        .into_iter()
        .map(|(reflections, objects)| load(SceneDetail::Reference, reflections, objects, None))
        .collect()
}

/// Every encoding, and two of them in Debug builds too.
fn members() -> Vec<Member> {
    let debug = ENCODINGS
        .into_iter()
        .filter(|encoding| [TABLES, PROTOBUF].iter().any(|(_, subject)| *subject == encoding.name));
    let debug = debug.map(|encoding| Member {
        build: Build::Debug,
        only: vec![case_id(LARGE.0, LARGE.1)],
        ..Member::new(encoding)
    });
    ENCODINGS.into_iter().map(Member::new).chain(debug).collect()
}

/// The published table.
fn reference() -> Reference {
    let figure =
        |(reflections, objects): Scene, what: (&str, &str), metric: &str, unit: &str, value| {
            Figure::new(case_id(reflections, objects), what, metric, unit, value)
        };
    let mut figures = Vec::new();
    for (scene, what, source, model) in TABLE {
        for (metric, milliseconds) in
            [("step", source + model), ("source", source), ("model", model)]
        {
            figures.push(figure(scene, what, metric, "ns", milliseconds * 1e6));
        }
    }
    for (scene, what, bytes) in SIZES {
        figures.push(figure(scene, what, "size", "B", bytes));
    }
    Reference {
        title: "Persival: ASAM OSI Flatbuffers Performance Report (2022), table 1".into(),
        conditions: "OSI 3.4.0, OSMPDummySource and OSMPDummySensor, Release builds unless said; \
                     the machine is not named"
            .into(),
        notes: vec![
            "the report rounds times to whole milliseconds and most sizes to two digits; \
             23,226,752 bytes are from its log; a step is the sum of its source and model"
                .into(),
            "the report's sources differ in what they do: Protobuf's copied the SensorView into \
             the SensorData, cleared what it had added and printed and opened its log inside \
             spans; FlatBuffers' copied the finished buffer. Here every encoding does the same \
             work, and nothing else is in a span"
                .into(),
            "sizes: 23,226,752 bytes come out to the byte. The published 2.4 kB are what is left \
             of them without reflections (2,432), with the lidar's configuration; without it the \
             message has 2,304. 41 kB and about 103 kB, given for both formats, are FlatBuffers' \
             41,064 and 102,264: its source left out the objects' type, classification and \
             lights, as all encodings do here. Protobuf's source wrote them, which makes 43,725 \
             and 109,425; without them it is 43,517 and 108,917"
                .into(),
        ],
        figures,
        slopes: Vec::new(),
    }
}
