//! The workload of a measurement: the message, its values and its cases.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Context, Result};
use wiregauge_child_process::reply::{NumberDigest, Reading};
use wiregauge_gauge::runners::plan::{Load, Sample};
use wiregauge_result::run::{Case, Parameter};
use wiregauge_schema::msg::Dialect;
use wiregauge_schema::{
    canonical, digest, estimate, generate, msg, path, project, proto, prune, source, Digest,
    Projection, Schema, SchemaSource, Sizes, Value,
};
use wiregauge_system::memory;
use wiregauge_system::notice::print_notice;
use wiregauge_system::text::{self, escape_short};
use wiregauge_trace::Recording;

use crate::definitions::definition_lookup;

/// The message that is measured unless another is named.
const LIDAR: &str = include_str!("../../../schemas/lidar.msg");
const RSB: &str = include_str!("../../../schemas/rsb.proto");
const RSB_META: &str = include_str!("../../../schemas/rsb_meta.proto");

/// A message and its values, ready to be compiled and measured.
pub struct Workload {
    /// The message.
    pub schema: Schema,
    /// The numbers that the field experiments read.
    pub projection: Projection,
    /// The cases, smallest first.
    pub cases: Vec<Values>,
    /// Where the definition and the values come from.
    pub source: String,
    /// What a reader must know of how the values came about.
    pub notes: Vec<String>,
}

/// The values of one case.
pub struct Values {
    /// Key of the case.
    pub id: String,
    /// The swept number.
    pub parameter: Option<Parameter>,
    /// The messages.
    pub values: Vec<Value>,
}

/// A list whose length is swept.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The list's path.
    pub path: String,
    /// Its lengths.
    pub lengths: Vec<usize>,
}

/// How many elements or bytes, from a user's digits.
pub fn parse_length(text: &str) -> Result<usize> {
    text.parse().map_err(|_| anyhow!("'{text}' is not a length; write it in digits, such as 1000"))
}

impl std::str::FromStr for Sweep {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Sweep> {
        let (path, lengths) = text.split_once('=').context("write PATH=N,N,…")?;
        let lengths: Vec<usize> =
            lengths.split(',').map(|n| parse_length(n.trim())).collect::<Result<_>>()?;
        for (at, length) in lengths.iter().enumerate() {
            ensure!(!lengths[..at].contains(length), "{length} is given twice");
        }
        Ok(Sweep { path: path.into(), lengths })
    }
}

/// A built-in message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// PolySync's LiDAR message.
    Lidar,
    /// RSB's Notification.
    Rsb,
}

impl Builtin {
    /// The one that is meant by this name.
    pub fn find(source: &SchemaSource) -> Option<Builtin> {
        match source.path.to_str() {
            Some("lidar") if source.type_name.is_none() => Some(Builtin::Lidar),
            Some("rsb") if source.type_name.is_none() => Some(Builtin::Rsb),
            _ => None,
        }
    }

    /// Its definition: files of Protobuf, by name; none where it is one of ROS.
    pub fn definition_files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Builtin::Lidar => &[],
            Builtin::Rsb => &[("rsb.proto", RSB), ("rsb_meta.proto", RSB_META)],
        }
    }

    /// Its schema.
    pub fn schema(self) -> Result<Schema> {
        match self {
            Builtin::Lidar => msg::read_text(LIDAR, "lidar", Dialect::Ros2, "schemas/lidar.msg"),
            Builtin::Rsb => proto::read_texts(self.definition_files(), Some("rsb.Notification")),
        }
    }

    /// Its definition's place in the project.
    pub fn source(self) -> &'static str {
        match self {
            Builtin::Lidar => "schemas/lidar.msg",
            Builtin::Rsb => "schemas/rsb.proto",
        }
    }
}

impl Workload {
    /// Generated values of a schema: one case, or one for each length of a
    /// sweep, of `count` different messages each.
    pub fn generated(
        schema: Schema,
        source: String,
        sizes: &Sizes,
        sweep: Option<&Sweep>,
        count: usize,
        seed: u64,
    ) -> Result<Workload> {
        if let Some(name) = schema.recursive_type() {
            bail!(
                "{source}: {name} contains itself; only plain structures can be measured, so give \
                 another message"
            );
        }
        check_memory(&schema, &source, sizes, sweep, count)?;
        let messages = |sizes: &Sizes| -> Result<Vec<Value>> {
            let seeds = (0..count as u64).map(|index| seed.wrapping_add(index));
            seeds.map(|seed| generate(&schema, sizes, seed)).collect()
        };
        let cases = match sweep {
            None => vec![Values {
                id: schema.root().name.original.clone(),
                parameter: None,
                values: messages(sizes)?,
            }],
            Some(sweep) => sweep
                .lengths
                .iter()
                .map(|length| {
                    let mut sizes = sizes.clone();
                    sizes.overrides.insert(sweep.path.clone(), *length);
                    Ok(Values {
                        id: format!("{}={length}", sweep.path),
                        parameter: Some(Parameter {
                            name: sweep.path.clone(),
                            value: *length as f64,
                        }),
                        values: messages(&sizes)?,
                    })
                })
                .collect::<Result<_>>()?,
        };
        let projection = Projection::choose(&schema);
        let notes = vec![format!("values generated from seed {seed}")];
        Ok(Workload { schema, projection, cases, source, notes })
    }

    /// The LiDAR message with these numbers of points, `count` different ones
    /// of each.
    pub fn lidar(points: &[usize], count: usize, seed: u64) -> Result<Workload> {
        let sweep = Sweep { path: "points".into(), lengths: points.to_vec() };
        let mut workload = Workload::generated(
            Builtin::Lidar.schema()?,
            Builtin::Lidar.source().into(),
            &Sizes::default(),
            Some(&sweep),
            count,
            seed,
        )?;
        workload.choose(Some("info.guid"), Some("points[].position[1]"))?;
        Ok(workload)
    }

    /// Generated values of a message: a built-in one by its name, or a definition in a
    /// file.
    pub fn message(
        message: &SchemaSource,
        sizes: &Sizes,
        sweep: Option<&Sweep>,
        count: usize,
        seed: u64,
    ) -> Result<Workload> {
        let (schema, source) = match Builtin::find(message) {
            Some(Builtin::Lidar) => {
                let lengths: Vec<_> = sizes.overrides.iter().collect();
                let points = match (sweep, &lengths[..]) {
                    (None, []) => vec![10_000],
                    (None, [(path, points)]) if *path == "points" => vec![**points],
                    (Some(sweep), []) if sweep.path == "points" => sweep.lengths.clone(),
                    _ => bail!("the LiDAR message has one list; write --length points=N"),
                };
                return Workload::lidar(&points, count, seed);
            }
            Some(builtin) => (builtin.schema()?, builtin.source().to_owned()),
            None => (source::load(message)?, message.to_string()),
        };
        Workload::generated(schema, source, sizes, sweep, count, seed)
    }

    /// Recorded messages of a topic, `count` at most, evenly over the
    /// recording. Fields that never occur are left out unless `whole`.
    /// Definitions that the recording lacks are looked for in `folders`.
    pub fn recording(
        input: &Path,
        topic: Option<&str>,
        count: usize,
        whole: bool,
        folders: &[PathBuf],
    ) -> Result<Workload> {
        let recording = Recording::open_with(input, definition_lookup(folders))?;
        recording.remarks().iter().for_each(|remark| print_notice(&escape_short(remark)));
        let topic = match topic {
            Some(topic) => topic,
            None => recording.only_topic("with --channel")?,
        };
        let schema = recording.schema(topic)?;
        if let Some(name) = schema.recursive_type() {
            bail!(
                "{}: {name} contains itself; only plain structures can be measured",
                input.display()
            );
        }
        let sample = recording.sample(topic, count)?;
        ensure!(!sample.values.is_empty(), "{}: {topic} has no messages", input.display());
        let mut notes = vec![format!("{} recorded messages take turns", sample.values.len())];
        if sample.unknown_fields > 0 {
            notes.push(format!(
                "{} fields that are not in the recording's schema were skipped",
                sample.unknown_fields
            ));
        }
        let (schema, values) = if whole {
            (schema, sample.values)
        } else {
            let all = schema.types.len();
            let (pruned, values, removed) = prune(&schema, &sample.values);
            if !removed.is_empty() {
                notes.push(format!(
                    "{} fields that never occur were left out ({} of {all} types remain); they \
                     would cost time in formats that write fields by position: --whole-schema \
                     keeps them",
                    removed.len(),
                    pruned.types.len()
                ));
            }
            (pruned, values)
        };
        let projection = Projection::choose(&schema);
        let cases = vec![Values { id: topic.to_owned(), parameter: None, values }];
        let source = format!("{} {topic}", input.display());
        Ok(Workload { schema, projection, cases, source, notes })
    }

    /// What is measured, in a line.
    pub fn title(&self) -> String {
        format!("{} ({})", self.schema.root().name.original, self.source)
    }

    /// Sets the numbers that the field experiments read, where they are named.
    pub fn choose(&mut self, fixed: Option<&str>, element: Option<&str>) -> Result<()> {
        if let Some(text) = fixed {
            self.projection.fixed = Some(path::parse(&self.schema, text)?);
        }
        if let Some(text) = element {
            self.projection.element = Some(path::parse(&self.schema, text)?);
        }
        Ok(())
    }

    /// Sets up to which length a fixed array is so many fields where a format has no arrays; 0
    /// for lists throughout.
    pub fn set_small_array(&mut self, longest: u32) {
        self.schema.small_array = longest;
        if longest == 0 {
            let note = "short fixed arrays are written as lists in formats without arrays";
            self.notes.push(note.into());
        }
    }

    /// The cases as the gauge takes them.
    pub fn loads(&self) -> Result<Vec<Load>> {
        self.cases.iter().map(|values| self.load(values)).collect()
    }

    fn load(&self, values: &Values) -> Result<Load> {
        let schema = &self.schema;
        let all = |value: &Value| Reading {
            sum: project::sum_numbers(value),
            numbers: digest_numbers(digest::digest_message(schema, value)),
        };
        let one = |value: &Value, path: &Option<path::FieldPath>| {
            path.as_ref().map_or(Reading::default(), |path| Reading {
                sum: project::number_at(schema, value, path),
                numbers: digest_numbers(digest::digest_path(schema, value, path)),
            })
        };
        let samples: Vec<Sample> = values
            .values
            .iter()
            .map(|value| {
                Ok(Sample {
                    canonical: canonical::encode(schema, value)?,
                    readings: [
                        all(value),
                        one(value, &self.projection.fixed),
                        one(value, &self.projection.element),
                    ],
                })
            })
            .collect::<Result<_>>()?;
        let total: usize = samples.iter().map(|sample| sample.canonical.len()).sum();
        let shown =
            |path: &Option<path::FieldPath>| path.as_ref().map(|p| path::display(schema, p));
        let case = Case {
            id: values.id.clone(),
            message: schema.root().name.original.clone(),
            source: self.source.clone(),
            messages: samples.len() as u64,
            canonical_bytes: total as f64 / samples.len().max(1) as f64,
            parameter: values.parameter.clone(),
            fixed: shown(&self.projection.fixed),
            element: shown(&self.projection.element),
            elements: self.mean_elements(&values.values),
            notes: self.notes.clone(),
        };
        Ok(Load { case, samples })
    }

    /// Mean length of the list that the experiment `element` reads from.
    fn mean_elements(&self, values: &[Value]) -> Option<f64> {
        let path = self.projection.element.as_ref()?;
        let lengths = values.iter().map(|value| project::list_length(value, path).unwrap_or(0));
        let mean = lengths.sum::<usize>() as f64 / values.len() as f64;
        (mean > 0.0).then_some(mean)
    }
}

/// A digest as the gauge takes it.
fn digest_numbers(digest: Digest) -> NumberDigest {
    NumberDigest { count: digest.count, hash: digest.hash }
}

/// Fails where the values would not fit into the memory that is free. Nothing is
/// made yet: the system would end the program, or another one.
fn check_memory(
    schema: &Schema,
    source: &str,
    sizes: &Sizes,
    sweep: Option<&Sweep>,
    count: usize,
) -> Result<()> {
    let Some(budget) = memory::budget() else { return Ok(()) };
    let mut cases = vec![sizes.clone()];
    if let Some(sweep) = sweep {
        let case = |length: &usize| {
            let mut sizes = sizes.clone();
            sizes.overrides.insert(sweep.path.clone(), *length);
            sizes
        };
        cases = sweep.lengths.iter().map(case).collect();
    }
    let mut wanted = 0u128;
    for case in &cases {
        let estimate = estimate(schema, case)?.times(count);
        wanted = wanted.saturating_add(estimate.memory).saturating_add(estimate.canonical);
    }
    ensure!(
        wanted <= u128::from(budget),
        "{source}: {} in {} would take {}, but half of the free memory is {}; give shorter \
         lists (--length), or fewer messages or lengths",
        text::format_count(count as u64, "message"),
        text::format_count(cases.len() as u64, "case"),
        memory::format_bytes(wanted),
        memory::format_bytes(budget.into()),
    );
    Ok(())
}
