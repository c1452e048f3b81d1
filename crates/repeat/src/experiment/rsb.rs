//! RSB's comparison of Protobuf with ROS MSG for one Notification: RSB enhancement 997,
//! the table of note 14, and the runs of notes 4, 6, 7 and 8.

pub mod published;
pub mod weight;

use anyhow::{Context, Result};
use wiregauge_codec_run::workload::{Builtin, Values, Workload};
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_result::run::{Fact, Measurement, Parameter, Run, Subject};
use wiregauge_result::stats::Ratio;
use wiregauge_schema::{Projection, Schema, TypeId, Value};

use self::published::{case, ROUND_TRIPS, SHARES, TABLE};
use crate::codec_experiment::CodecExperiment;
use crate::publication::Publication;

inventory::submit! {
    CodecExperiment {
        publication: Publication {
            name: "rsb",
            about: "RSB's Notification in Protobuf and ROS MSG: C++, Java, Python",
            source: "Robotics Service Bus, enhancement 997",
            year: "2012",
        },
        author: "RSB",
        workload: |_| workload(),
        reference: Some(published::reference),
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
        derived: derived_facts,
        least_iterations: ROUND_TRIPS,
        weight: Some(weight::weigh),
    }
}

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
fn derived_facts(run: &Run) -> Vec<Fact> {
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
        let infos = vec![user_info(schema, field_type(schema, id, "user_infos")?)?];
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
            ("event_id", event_id(schema, field_type(schema, schema.root, "event_id")?)?),
            ("scope", octets(4)),
            ("wire_schema", octets(5)),
            ("data", octets(6)),
            ("method", octets(7)),
            ("meta_data", meta_data(schema, field_type(schema, schema.root, "meta_data")?)?),
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
fn field_type(schema: &Schema, id: TypeId, name: &str) -> Result<TypeId> {
    match schema.record(id).fields[field(schema, id, name)?].element {
        wiregauge_schema::Element::Record(inner) => Ok(inner),
        _ => anyhow::bail!("{name} is no record"),
    }
}
