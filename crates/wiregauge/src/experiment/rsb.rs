//! RSB's comparison of Protobuf with ROS MSG for one Notification: RSB
//! enhancement 997, the table of note 14, and the runs of notes 4 and 7.

use anyhow::{Context, Result};
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_result::run::{Figure, Parameter, Reference};
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
        // Those that the comparison is about, and today's nearest.
        codecs: &["protobuf-cpp", "protobuf-cpp-arena", "prost", "ros-msg"],
        experiments,
        least_iterations: ROUND_TRIPS,
        fixed: "rsb measures the messages of the publication, by round trips",
        useless: &["--messages", "--size", "--sweep", "--presence", "--fixed", "--element"],
    }
}

/// Round trips of each cell.
const ROUND_TRIPS: u64 = 1_000_000;

/// Bytes, and seconds for a million round trips.
type Figures = (f64, f64);

/// Size factor; figures of Protobuf; figures of ROS MSG.
const TABLE: [(usize, Figures, Figures); 6] = [
    (4, (55.0, 1.953), (104.0, 1.154)),
    (8, (83.0, 2.005), (132.0, 1.129)),
    (16, (139.0, 2.047), (188.0, 1.216)),
    (32, (251.0, 2.476), (300.0, 1.211)),
    (64, (477.0, 2.401), (524.0, 1.281)),
    (128, (933.0, 2.519), (972.0, 1.497)),
];

/// Round trips with fresh and with reused objects; the publication reads nothing.
fn experiments(mut all: Vec<Experiment>) -> Vec<Experiment> {
    for objects in ["fresh", "reused"] {
        all.push(Experiment {
            metric: format!("roundtrip-{objects}"),
            name: "roundtrip".into(),
            objects: Some(objects.into()),
        });
    }
    all.retain(|e| !["project", "fixed", "element"].contains(&e.metric.as_str()));
    all
}

/// The Notification at every size factor.
fn workload() -> Result<Workload> {
    let schema = Builtin::Rsb.schema()?;
    let cases = TABLE
        .iter()
        .map(|(factor, _, _)| {
            Ok(Values {
                id: format!("size factor={factor}"),
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

/// The published table.
fn reference() -> Reference {
    let mut figures = Vec::new();
    for (factor, protobuf, ros) in TABLE {
        for (name, subject, (bytes, seconds)) in [
            ("Protocol buffers", "protobuf-cpp", protobuf),
            ("ROS MSG (via rosetta)", "ros-msg", ros),
        ] {
            let figure = |metric: &str, unit: &str, value: f64| Figure {
                case: format!("size factor={factor}"),
                name: name.into(),
                subject: subject.into(),
                metric: metric.into(),
                unit: unit.into(),
                value,
                deviation: None,
            };
            figures.push(figure("size", "B", bytes));
            figures.push(figure("roundtrip-fresh", "ns", seconds * 1e9 / ROUND_TRIPS as f64));
        }
    }
    Reference {
        title: "RSB enhancement 997, note 14: size and time of 1,000,000 round trips".into(),
        conditions: "a developer's workstation of 2012, -O2; message objects made anew each time"
            .into(),
        notes: vec![
            "seconds for a million round trips are shown as time per round trip".into(),
            "ROS MSG pays 16 bytes for the two absent timestamps, which Protobuf leaves out".into(),
            "reused objects were published only for one run of unknown size: 0.539 µs Protobuf, \
             0.434 µs ROS MSG (note 7), 0.608 and 0.334 µs with memcpy instead of loops (note 8)"
                .into(),
            "here a round trip starts from and ends in the normalized form".into(),
        ],
        figures,
        slopes: Vec::new(),
    }
}
