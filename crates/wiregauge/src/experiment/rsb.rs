//! RSB's comparison of Protobuf with ROS MSG for one Notification: RSB enhancement 997,
//! the table of note 14, and the runs of notes 4, 6, 7 and 8.

pub mod weight;

use anyhow::{Context, Result};
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_result::run::{Fact, Figure, Measurement, Parameter, Reference, Run, Subject};
use wiregauge_result::stats::Ratio;
use wiregauge_schema::{Projection, Schema, TypeId, Value};

use crate::experiment::Published;
use crate::workload::{Builtin, Values, Workload};

inventory::submit! {
    Published {
        name: "rsb",
        about: "RSB's Notification in Protobuf and ROS MSG",
        author: "RSB",
        workload: |_| workload(),
        reference: Some(reference),
        // Those that the comparison is about in each of RSB's languages, and their nearest.
        codecs: &[
            "protobuf-cpp",
            "protobuf-cpp-arena",
            "ros-msg",
            "generated-ros-msg-cpp",
            "protobuf-java",
            "generated-ros-msg-java",
            "protobuf-python",
            "generated-ros-msg-python",
        ],
        experiments,
        derived,
        least_iterations: ROUND_TRIPS,
        weight: Some(weight::weigh),
        fixed: "rsb measures the messages of the publication, by round trips",
        useless: &["--messages", "--size", "--sweep", "--presence", "--fixed", "--element"],
    }
}

/// Round trips of each cell.
const ROUND_TRIPS: u64 = 1_000_000;

/// Bytes, and seconds for a million round trips.
type Figures = (f64, f64);

/// Size factor; figures of Protobuf; figures of ROS MSG: note 14.
const TABLE: [(usize, Figures, Figures); 6] = [
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
const SHARES: [(&str, f64); 3] =
    [("share/serialization", 20.0), ("share/deserialization", 30.0), ("share/construction", 50.0)];

/// What stands for the publication's two programs.
const PROTOBUF: (&str, &str) = ("Protocol buffers", "protobuf-cpp");
const ROS_MSG: (&str, &str) = ("ROS MSG (via rosetta)", "generated-ros-msg-cpp");

/// Round trips by clients of both kinds, with fresh and with reused objects, and how much
/// of one is writing and reading alone; the publication reads no number alone.
fn experiments(mut all: Vec<Experiment>) -> Vec<Experiment> {
    all.retain(|e| ["encode", "decode"].contains(&e.metric.split('/').next().unwrap_or_default()));
    all.retain(|e| e.metric != "decode/checked");
    for name in ["client", "roundtrip"] {
        for objects in ["fresh", "reused"] {
            all.push(Experiment {
                metric: format!("{name}-{objects}"),
                name: name.into(),
                otherwise: None,
                objects: Some(objects.into()),
            });
        }
    }
    // Where the holder is the normalized form, all of encoding is writing.
    for (part, name) in [("serialization", "encode/write"), ("deserialization", "decode/parse")] {
        all.push(Experiment {
            metric: format!("client-fresh/{part}"),
            name: name.into(),
            otherwise: name.split('/').next().map(str::to_owned),
            objects: Some("reused".into()),
        });
    }
    all
}

/// The shares of note 6, and how far the others are from the generated ROS MSG of their
/// language; ratios of samples of the same rounds.
fn derived(run: &Run) -> Vec<Fact> {
    let mut facts = Vec::new();
    for case in &run.cases {
        let of = |subject: &Subject, metric: &str| run.measurement(&case.id, &subject.id, metric);
        for subject in run.subjects.iter().filter(|subject| !subject.bound) {
            let mut fact = |metric: String, value: f64| {
                facts.push(Fact {
                    case: case.id.clone(),
                    subject: subject.id.clone(),
                    metric,
                    unit: "%".into(),
                    value,
                });
            };
            let percent = |of: Option<&Measurement>, to: Option<&Measurement>| {
                Some(100.0 * Ratio::between(of?, to?, 1)?.median)
            };
            let part = |name: &str| {
                let part = of(subject, &format!("client-fresh/{name}"));
                percent(part, of(subject, "client-fresh"))
            };
            if let (Some(writing), Some(reading)) = (part("serialization"), part("deserialization"))
            {
                let parts = [writing, reading, 100.0 - writing - reading];
                for ((name, _), share) in SHARES.iter().zip(parts) {
                    fact((*name).to_owned(), share);
                }
            }
            let generated = |other: &&Subject| {
                other.id.starts_with("generated-ros-msg") && other.language == subject.language
            };
            let Some(generated) = run.subjects.iter().find(generated) else { continue };
            for metric in ["client-fresh", "client-reused", "roundtrip-fresh", "roundtrip-reused"] {
                let ratio = percent(of(subject, metric), of(generated, metric));
                if let Some(ratio) = ratio.filter(|_| generated.id != subject.id) {
                    fact(format!("against-ros-msg/{metric}"), ratio);
                }
            }
        }
    }
    facts
}

/// The Notification at every size factor.
fn workload() -> Result<Workload> {
    let schema = Builtin::Rsb.schema()?;
    let cases = TABLE
        .iter()
        .map(|(factor, _, _)| {
            Ok(Values {
                id: case(*factor),
                parameter: Some(Parameter { name: "size factor".into(), value: *factor as f64 }),
                values: vec![notification(&schema, *factor)?],
            })
        })
        .collect::<Result<_>>()?;
    Ok(Workload {
        projection: Projection::choose(&schema),
        schema,
        cases,
        source: Builtin::Rsb.source().into(),
        notes: vec!["the one shape that gives the published sizes to the byte: every bytes field \
                     of size-factor octets, one user info, no causes, create_time 1, send_time 2, \
                     sequence_number 1"
            .into()],
    })
}

/// The message of the comparison: octets of `factor` everywhere.
fn notification(schema: &Schema, factor: usize) -> Result<Value> {
    let octets = |salt: usize| {
        Value::Bytes((0..factor).map(|at| b'a' + ((at * 7 + salt) % 26) as u8).collect())
    };
    let event_id = |schema: &Schema, id: TypeId| {
        record(schema, id, &[("sender_id", octets(1)), ("sequence_number", Value::Unsigned(1))])
    };
    let user_info = |schema: &Schema, id: TypeId| {
        record(schema, id, &[("key", octets(2)), ("value", octets(3))])
    };
    let meta_data = |schema: &Schema, id: TypeId| -> Result<Value> {
        let infos = vec![user_info(schema, of(schema, id, "user_infos")?)?];
        record(
            schema,
            id,
            &[
                ("create_time", Value::Signed(1)),
                ("send_time", Value::Signed(2)),
                ("user_infos", Value::List(infos)),
            ],
        )
    };
    record(
        schema,
        schema.root,
        &[
            ("event_id", event_id(schema, of(schema, schema.root, "event_id")?)?),
            ("scope", octets(4)),
            ("wire_schema", octets(5)),
            ("data", octets(6)),
            ("method", octets(7)),
            ("meta_data", meta_data(schema, of(schema, schema.root, "meta_data")?)?),
        ],
    )
}

/// A record with these fields set and the others empty.
fn record(schema: &Schema, id: TypeId, set: &[(&str, Value)]) -> Result<Value> {
    let Value::Record(mut values) = Value::empty_record(schema, id) else {
        unreachable!("an empty record is a record")
    };
    for (name, value) in set {
        values[field(schema, id, name)?] = value.clone();
    }
    Ok(Value::Record(values))
}

fn field(schema: &Schema, id: TypeId, name: &str) -> Result<usize> {
    let fields = &schema.record(id).fields;
    fields.iter().position(|f| f.name.original == name).with_context(|| format!("no field {name}"))
}

/// The record type of a field.
fn of(schema: &Schema, id: TypeId, name: &str) -> Result<TypeId> {
    match schema.record(id).fields[field(schema, id, name)?].element {
        wiregauge_schema::Element::Record(inner) => Ok(inner),
        _ => anyhow::bail!("{name} is no record"),
    }
}

/// What was published.
fn reference() -> Reference {
    let mut figures = Vec::new();
    let mut figure = |factor: usize, (name, subject): (&str, &str), metric: &str, unit: &str, value| {
        figures.push(Figure {
            case: case(factor),
            name: name.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
            deviation: None,
        });
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
fn case(factor: usize) -> String {
    format!("size factor={factor}")
}
