//! Persival's trace file player: "ASAM OSI Flatbuffers Performance Report", 2022,
//! section 2.5 and the last row of table 1.

use wiregauge_cosim::master::plan::Load;
use wiregauge_cosim_run::fmu_entrants::{case_id, load, SceneDetail};
use wiregauge_osi::fmus::Encoding;
use wiregauge_result::run::{Case, Figure, Reference};

use crate::publication::Publication;

/// What it repeats.
pub const PUBLICATION: Publication = Publication {
    name: "traces",
    about: "Persival's trace file player, the last row of its table 1",
    source: "Persival: ASAM OSI Flatbuffers Performance Report",
    year: "2022",
};

/// Reflections of each message, and moving objects.
pub const REFLECTIONS: u32 = 668_052;
/// As above.
pub const OBJECTS: u32 = 10;

/// Seconds of a step. The report does not say it. A message has 13,363,298 bytes in
/// Protobuf, so that 968 MiB hold 75.96 of them: 76 messages are 6 s of the 12.5 Hz at
/// which the scanner that was simulated, an ibeo LUX, runs, with the one at time 0. Were
/// its MB 10^6 bytes, it would be 72.4 messages, and of no rate that the scanner has.
pub const STEP: f64 = 0.08;

/// Messages of a trace.
pub const MESSAGES: u64 = 76;

/// The encoding in which an encoding's messages are recorded: several make the same bytes.
pub fn recorded_encoding(encoding: &Encoding) -> &'static str {
    match encoding.name {
        "protobuf-arena" => "protobuf",
        "flatbuffers-objects" => "flatbuffers-tables",
        name => name,
    }
}

/// In which ways an encoding is played: raw and parsed. What is read in place is not parsed,
/// and what is handed on raw makes no difference between encodings of the same bytes.
pub fn play_modes(encoding: &Encoding) -> &'static [bool] {
    match encoding.name {
        "protobuf" | "packed" => &[false, true],
        "protobuf-arena" | "flatbuffers-objects" => &[true],
        _ => &[false],
    }
}

/// How a way is called.
pub fn play_mode_name(parsed: bool) -> &'static str {
    if parsed {
        "parsed"
    } else {
        "raw"
    }
}

/// The one case: the source's parameters are those with which the trace was recorded.
pub fn case(messages: u64) -> Load {
    let recorded = load(SceneDetail::Reference, REFLECTIONS, OBJECTS, None);
    let source = format!("a trace of {messages} messages, played again and again");
    Load { case: Case { source, ..recorded.case }, source: Vec::new(), model: Vec::new() }
}

/// What the recorded source is told.
pub fn source() -> Vec<(String, String)> {
    load(SceneDetail::Reference, REFLECTIONS, OBJECTS, None).source
}

/// Name in the report, what it is here, milliseconds of player and model, bytes of the
/// file.
type PublishedRow = (&'static str, &'static str, f64, f64, f64);

const MIB: f64 = 1_048_576.0;

#[rustfmt::skip]
const ROWS: [PublishedRow; 2] = [
    ("Flatbuffers", "flatbuffers-tables-raw", 1.0, 7.0, 1.05 * 1024.0 * MIB),
    ("Protobuf", "protobuf-parsed", 7.0, 49.0, 968.0 * MIB),
];

/// The size of a trace file, as a fact.
pub const FILE: &str = "size/trace file";

/// The published row.
pub fn reference(messages: u64) -> Reference {
    let mut figures = Vec::new();
    for (name, subject, player, model, bytes) in ROWS {
        let mut add = |metric: &str, unit: &str, value| {
            let case = case_id(REFLECTIONS, OBJECTS);
            figures.push(Figure::new(case, (name, subject), metric, unit, value));
        };
        add("step", "ns", (player + model) * 1e6);
        add("source", "ns", player * 1e6);
        add("model", "ns", model * 1e6);
        // A shorter trace has another size.
        if messages == MESSAGES {
            add(FILE, "B", bytes);
        }
    }
    Reference {
        title: "Persival: ASAM OSI Flatbuffers Performance Report (2022), trace file player".into(),
        conditions: "OSI 3.4.0, OSMP trace file player and OSMPDummySensor, 668,052 reflections \
                     and 10 objects, 6 s; the machine is not named"
            .into(),
        notes: vec![
            "the report rounds times to whole milliseconds; a step is the sum of its player and \
             model. Its traces are not public"
                .into(),
            "the step size is not told: 968 MiB hold 75.96 messages of Protobuf's size here, and \
             76 messages are 6 s at the 12.5 Hz of the scanner. The report's 1.05 GB of \
             FlatBuffers are then 22 B a reflection (read as GiB), where a table with two doubles \
             has 28: FlatBuffers leaves out what is 0, so its reflections must often have been 0"
                .into(),
            "raw: the message goes from the file to the model as it lies there. Parsed: it is made \
             an object and written anew, as the OSMP trace file player does with Protobuf. What \
             FlatBuffers reads in place has nothing to parse"
                .into(),
        ],
        figures,
        slopes: Vec::new(),
    }
}
