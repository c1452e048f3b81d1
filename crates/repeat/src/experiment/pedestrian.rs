//! BMW's pedestrian: Pfeuffer, "FlatBuffer Performance in OSI based Agent
//! Models", 2022.

use wiregauge_cosim::master::plan::Load;
use wiregauge_cosim_run::fmu_entrants::{scene_loads, Member, SceneDetail};
use wiregauge_osi::fmus::{Model, ENCODINGS};
use wiregauge_result::run::{Measurement, Reference, Run, Slope};

use crate::fmu_experiment::FmuExperiment;
use crate::publication::Publication;

inventory::submit! {
    FmuExperiment {
        publication: Publication {
            name: "pedestrian",
            about: "BMW's pedestrian agent over the number of objects, in all encodings",
            source: "BMW: FlatBuffer Performance in OSI based Agent Models",
            year: "2022",
        },
        explanation: "Repeat BMW's measurement of a pedestrian agent\n\n\
                      It measures the time of a step over the number of objects, in steps of ten, \
                      in every encoding. Lines are fitted per object and per kB.",
        title: "BMW's experiment: a pedestrian among objects",
        model: Model::Pedestrian,
        cases,
        members: || ENCODINGS.map(Member::new).into(),
        reference,
        derive: add_agent,
    }
}

/// What BMW counts of a step.
const AGENT: &str = "agent";

/// Encodings whose messages are built by serializing.
const BUILT_SERIALIZED: [&str; 2] = ["flatbuffers-tables", "flatbuffers-structs"];

/// Ten to two hundred objects, in steps of ten.
fn cases() -> Vec<Load> {
    let objects: Vec<u32> = (1..=20).map(|tens| 10 * tens).collect();
    scene_loads(SceneDetail::Pedestrian, &[0], &objects)
}

/// Adds what BMW counts, [`AGENT`], from the phases.
fn add_agent(run: &mut Run) {
    let mut added = Vec::new();
    for case in &run.cases {
        for subject in run.subjects.iter().filter(|subject| !subject.bound) {
            let mut parts = vec!["step/source serialization", "model"];
            if BUILT_SERIALIZED.contains(&subject.id.as_str()) {
                parts.push("step/source generation");
            }
            let parts: Option<Vec<&Measurement>> = parts
                .into_iter()
                .map(|metric| run.measurement(&case.id, &subject.id, metric))
                .collect();
            let Some(parts) = parts else { continue };
            let mut sum = parts[0].clone();
            sum.metric = AGENT.into();
            for part in &parts[1..] {
                let cells = sum.samples.iter_mut().flatten().zip(part.samples.iter().flatten());
                for (total, more) in cells {
                    *total = total.zip(*more).map(|(total, more)| total + more);
                }
            }
            added.push(sum);
        }
    }
    run.measurements.splice(0..0, added);
}

/// Name, what it is here, and the slopes with their uncertainties: nanoseconds
/// per object at many objects and at few, nanoseconds per kB; bytes per object.
type PublishedRow = (&'static str, &'static str, [(f64, f64); 3], f64);

#[rustfmt::skip]
const SLOPES: [PublishedRow; 3] = [
    ("Protobuf", "protobuf", [(5958.0, 8.0), (4857.0, 13.0), (76_500.0, 100.0)], 77.0),
    ("Flatbuffer (tables only)", "flatbuffers-tables", [(3336.0, 5.0), (2879.0, 6.0), (26_990.0, 40.0)], 124.0),
    ("Flatbuffer (tables + struct)", "flatbuffers-structs", [(2521.0, 2.0), (2520.0, 4.0), (25_260.0, 20.0)], 100.0),
];

/// The published slopes.
fn reference() -> Reference {
    let mut slopes = Vec::new();
    for (name, subject, [many, few, kilobyte], bytes) in SLOPES {
        let mut slope =
            |parameter: &str, name: String, metric: &str, unit: &str, value, deviation| {
                slopes.push(Slope {
                    parameter: parameter.into(),
                    name,
                    subject: subject.into(),
                    metric: metric.into(),
                    unit: unit.into(),
                    value,
                    deviation,
                });
            };
        slope("objects", format!("{name}, many objects"), AGENT, "ns", many.0, Some(many.1));
        slope("objects", format!("{name}, few objects"), AGENT, "ns", few.0, Some(few.1));
        slope("kB", name.into(), AGENT, "ns", kilobyte.0, Some(kilobyte.1));
        slope("objects", name.into(), "size", "B", bytes, None);
    }
    // One metric and parameter after the other, not one encoding after the other.
    slopes.sort_by_key(|s| (s.metric != AGENT, s.parameter == "kB", s.name.contains("few")));
    Reference {
        title: "BMW: Flatbuffer Performance in OSI based Agent Models (2022)".into(),
        conditions: "OsiPedestrian in an open loop on a Dell Precision 7520, 64 GB, Ubuntu 18.04; \
                     means of 100 steps (many objects) or 1,000 (few)"
            .into(),
        notes: vec![
            "'agent' is what BMW counts: the source's serialization and the whole model step, \
             without generation where that is apart. Building a FlatBuffer with tables or structs \
             is its serialization, so there it is counted whole"
                .into(),
            "the whole agent model is BMW's own; here the model is a small one that reads every \
             object, so that slopes are of the encoding more than of the model"
                .into(),
        ],
        figures: Vec::new(),
        slopes,
    }
}
