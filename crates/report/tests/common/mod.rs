//! A made-up run with everything that a run can hold.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod bus;

use serde_json::json;
use wiregauge_result::run::{
    Case, Fact, Figure, Measurement, Parameter, Reference, Run, Settings, Status, Subject, FORMAT,
    VERSION,
};
use wiregauge_result::run_kind::RunKind;

/// A made-up codec: its costs are `base + step · points`.
struct Codec {
    id: &'static str,
    title: &'static str,
    language: &'static str,
    library: &'static str,
    /// Nanoseconds to encode a message and each point.
    encode: (f64, f64),
    /// Nanoseconds to decode a message and each point.
    decode: (f64, f64),
    /// Whether single fields are read in place.
    in_place: bool,
    /// Share of the time that the library's intermediate form takes.
    intermediate: Option<f64>,
    /// Bytes of a message and of each point.
    size: (f64, f64),
    /// Its entry in the reference and the figures for encode and decode there,
    /// in microseconds at 10,000 points.
    published: Option<(&'static str, f64, f64)>,
}

#[rustfmt::skip]
const CODECS: [Codec; 24] = [
    Codec { id: "lcm-c", title: "LCM (C)", language: "C", library: "lcm 1.5.1", encode: (60.0, 8.9), decode: (80.0, 7.2), in_place: false, intermediate: None, size: (36.0, 13.0), published: Some(("Lcm", 113.5, 89.5)) },
    Codec { id: "flatbuffers-cpp-structs", title: "FlatBuffers C++ structs", language: "C++", library: "flatbuffers 2.0.8", encode: (190.0, 8.7), decode: (25.0, 6.1), in_place: true, intermediate: None, size: (64.0, 16.0), published: Some(("FlatBuffers", 155.6, 75.7)) },
    Codec { id: "fastcdr", title: "FastCDR", language: "C++", library: "fastcdr 1.0.26", encode: (45.0, 11.2), decode: (60.0, 12.5), in_place: false, intermediate: None, size: (32.0, 16.0), published: Some(("FastCdr", 135.7, 155.9)) },
    Codec { id: "bincode", title: "Bincode", language: "Rust", library: "bincode 2.0.1", encode: (35.0, 12.1), decode: (55.0, 14.8), in_place: false, intermediate: None, size: (32.0, 13.0), published: Some(("Bincode", 263.2, 344.7)) },
    Codec { id: "colfer-c", title: "Colfer (C)", language: "C", library: "colfer 1.11.2", encode: (70.0, 19.5), decode: (90.0, 21.0), in_place: false, intermediate: Some(0.35), size: (30.0, 17.5), published: Some(("Colfer", 288.5, 124.6)) },
    Codec { id: "prost", title: "Prost", language: "Rust", library: "prost 0.14.4", encode: (75.0, 31.0), decode: (120.0, 62.0), in_place: false, intermediate: Some(0.42), size: (28.0, 19.0), published: Some(("ProstProtobuf", 407.6, 975.4)) },
    Codec { id: "protobuf-cpp", title: "Protobuf C++", language: "C++", library: "protobuf 3.21.12", encode: (110.0, 44.0), decode: (160.0, 71.0), in_place: false, intermediate: Some(0.55), size: (28.0, 19.0), published: None },
    Codec { id: "serde-json", title: "JSON", language: "Rust", library: "serde_json 1.0.151", encode: (240.0, 268.0), decode: (420.0, 610.0), in_place: false, intermediate: None, size: (82.0, 61.3), published: Some(("Json", 3495.1, 11452.8)) },
    Codec { id: "protobuf-cpp-arena", title: "Protobuf C++ arena", language: "C++", library: "protobuf 3.21.12", encode: (105.0, 39.0), decode: (150.0, 40.0), in_place: false, intermediate: Some(0.5), size: (28.0, 19.0), published: None },
    Codec { id: "capnp-rust", title: "Cap'n Proto (Rust)", language: "Rust", library: "capnp 0.21", encode: (130.0, 22.0), decode: (140.0, 41.0), in_place: true, intermediate: None, size: (64.0, 16.0), published: Some(("CapnprotoStandard", 346.9, 1197.5)) },
    Codec { id: "capnp-rust-packed", title: "Cap'n Proto packed (Rust)", language: "Rust", library: "capnp 0.21", encode: (180.0, 61.0), decode: (210.0, 84.0), in_place: false, intermediate: None, size: (40.0, 15.2), published: Some(("CapnprotoPacked", 786.2, 1552.5)) },
    Codec { id: "rkyv", title: "rkyv", language: "Rust", library: "rkyv 0.8", encode: (40.0, 9.1), decode: (30.0, 6.4), in_place: true, intermediate: None, size: (40.0, 16.0), published: None },
    Codec { id: "flatbuffers-rust", title: "FlatBuffers Rust", language: "Rust", library: "flatbuffers 25.12.19", encode: (230.0, 9.6), decode: (35.0, 7.0), in_place: true, intermediate: None, size: (64.0, 16.0), published: None },
    Codec { id: "flatbuffers-cpp", title: "FlatBuffers C++ tables", language: "C++", library: "flatbuffers 2.0.8", encode: (260.0, 58.0), decode: (40.0, 18.0), in_place: true, intermediate: None, size: (80.0, 28.0), published: None },
    Codec { id: "flatbuffers-cpp-object", title: "FlatBuffers C++ Object API", language: "C++", library: "flatbuffers 2.0.8", encode: (340.0, 66.0), decode: (120.0, 47.0), in_place: false, intermediate: Some(0.3), size: (80.0, 28.0), published: None },
    Codec { id: "capnp-cpp", title: "Cap'n Proto C++", language: "C++", library: "capnproto 0.9.2", encode: (120.0, 16.0), decode: (90.0, 19.0), in_place: true, intermediate: None, size: (64.0, 16.0), published: None },
    Codec { id: "cyclone-cdr", title: "CDR by Cyclone DDS", language: "C", library: "cyclonedds 0.10.2", encode: (210.0, 13.9), decode: (230.0, 12.2), in_place: false, intermediate: None, size: (36.0, 16.0), published: Some(("Commercial DDS", 1107.8, 1129.5)) },
    Codec { id: "quick-protobuf", title: "Quick-Protobuf", language: "Rust", library: "quick-protobuf 0.8.1", encode: (80.0, 52.0), decode: (110.0, 39.0), in_place: false, intermediate: Some(0.45), size: (28.0, 19.0), published: Some(("QuickProtobuf", 914.4, 469.6)) },
    Codec { id: "rosmsg", title: "ROS MSG", language: "C++", library: "roscpp_serialization 0.7.2", encode: (42.0, 9.8), decode: (58.0, 9.9), in_place: false, intermediate: None, size: (28.0, 13.0), published: None },
    Codec { id: "sbe", title: "SBE", language: "C++", library: "sbe 1.38.1", encode: (38.0, 10.4), decode: (41.0, 10.9), in_place: true, intermediate: None, size: (44.0, 13.0), published: None },
    Codec { id: "thrift-cpp", title: "Thrift C++", language: "C++", library: "thrift 0.17.0", encode: (150.0, 92.0), decode: (170.0, 121.0), in_place: false, intermediate: Some(0.25), size: (40.0, 44.0), published: None },
    Codec { id: "zserio", title: "zserio", language: "Rust", library: "zserio 0.5.4", encode: (95.0, 140.0), decode: (105.0, 171.0), in_place: false, intermediate: None, size: (28.0, 13.0), published: None },
    Codec { id: "messagepack", title: "MessagePack", language: "Rust", library: "rmp-serde 1.3", encode: (66.0, 37.0), decode: (130.0, 77.0), in_place: false, intermediate: None, size: (34.0, 18.9), published: None },
    Codec { id: "cbor", title: "CBOR", language: "Rust", library: "ciborium 0.2", encode: (88.0, 83.0), decode: (260.0, 205.0), in_place: false, intermediate: None, size: (61.0, 46.1), published: None },
];

const PROCESSES: usize = 5;
const ROUNDS: usize = 12;

/// A sweep over 100, 1,000 and 10,000 points with the first `codecs` codecs,
/// two bounds, and one subject each that was skipped, rejected and failed.
pub fn run(codecs: usize) -> Run {
    let points = [100.0, 1_000.0, 10_000.0];
    let cases = points.map(|points| Case {
        id: format!("points={points}"),
        message: "polysync.LidarPoints".into(),
        source: "built in".into(),
        messages: 1,
        canonical_bytes: 24.0 + 8.0 + 13.0 * points,
        parameter: Some(Parameter { name: "points".into(), value: points }),
        fixed: Some("msg_info.guid".into()),
        element: Some(format!("points[{}].position[1]", points / 2.0)),
        elements: None,
        notes: Vec::new(),
    });
    let mut builder = Builder { random: Random(1), measurements: Vec::new(), facts: Vec::new() };
    let mut subjects =
        vec![bound("noop", "no operation"), bound("memcpy", "memcpy of the canonical form")];
    subjects.extend(CODECS[..codecs].iter().map(subject));
    subjects.extend(absent());
    for (case, points) in cases.iter().zip(points) {
        builder.bound(&case.id, "noop", |_| 1.9);
        builder.bound(&case.id, "memcpy", |metric| match metric {
            "encode" | "decode" => 12.0 + 0.41 * points,
            "project" => 8.0 + 1.9 * points,
            _ => 2.4,
        });
        for codec in &CODECS[..codecs] {
            builder.codec(&case.id, codec, points);
        }
    }
    let figures = CODECS[..codecs].iter().flat_map(figures).collect();
    Run {
        format: FORMAT.into(),
        version: VERSION,
        title: "LiDAR points in every format".into(),
        kind: RunKind::Codecs,
        command: ["wiregauge", "codecs", "polysync", "--points", "100,1000,10000"]
            .map(String::from)
            .to_vec(),
        started: "2026-03-01T09:30:00Z".into(),
        seconds: 252.4,
        environment: Default::default(),
        warnings: vec![serde_json::from_value(json!({
            "code": "virtual-machine",
            "text": "This is a virtual machine: its host may take the processor away unseen.",
            "remedy": "Measure on bare metal, or compare ratios within one run only.",
        }))
        .unwrap()],
        settings: Settings {
            processes: PROCESSES as u32,
            rounds: ROUNDS as u32,
            epoch_ns: 2_000_000,
            buffers: "reused".into(),
            objects: "fresh".into(),
            scratch: "reused".into(),
            background: String::new(),
            seed: 1,
        },
        cases: cases.to_vec(),
        subjects,
        measurements: builder.measurements,
        facts: builder.facts,
        curves: Vec::new(),
        slowest: Vec::new(),
        explanations: Vec::new(),
        require: None,
        compared: None,
        reference: Some(Reference {
            title: "PolySync, Safety Implications of Serialization Timing, Table 1".into(),
            conditions: "Intel Core i5-6200U at 2.30 GHz, Linux 4.10; means".into(),
            notes: vec!["Commercial DDS is not named there; Cyclone DDS stands for it.".into()],
            figures,
            slopes: Vec::new(),
        }),
    }
}

fn bound(id: &str, title: &str) -> Subject {
    Subject { library: "none".into(), bound: true, ..Subject::new(id, title, "Rust") }
}

fn subject(codec: &Codec) -> Subject {
    let lowerings = match codec.id {
        "lcm-c" => vec!["kind, timestamp, guid: u64 as int64_t by bit pattern".to_owned()],
        "colfer-c" => vec!["position: float[3] as a list, its length is not fixed".to_owned()],
        _ => Vec::new(),
    };
    Subject {
        title: codec.title.into(),
        language: codec.language.into(),
        library: codec.library.into(),
        options: if codec.id == "bincode" { vec!["fixed integers".into()] } else { Vec::new() },
        bound: false,
        lowerings,
        ..bound(codec.id, codec.title)
    }
}

fn absent() -> [Subject; 3] {
    let with = |id: &str, title: &str, status| Subject {
        bound: false,
        language: "C++".into(),
        library: "unknown".into(),
        status,
        ..bound(id, title)
    };
    [
        with(
            "avro-cpp",
            "Avro C++",
            Status::Skipped("avrogencpp is not installed; apt-get install libavro-dev".into()),
        ),
        with("rosmsg2", "ROS MSG (own)", Status::Rejected("recursive types have no form".into())),
        with(
            "private",
            "Private <b>format</b> & \"sons\"",
            Status::Failed("decode gave other points: points[3].intensity is 7 and not 9".into()),
        ),
    ]
}

fn figures(codec: &Codec) -> Vec<Figure> {
    let figure = |name: &str, metric: &str, microseconds: f64| Figure {
        case: "points=10000".into(),
        name: name.into(),
        subject: codec.id.into(),
        metric: metric.into(),
        unit: "ns".into(),
        value: microseconds * 1e3,
        deviation: Some(microseconds * 30.0),
    };
    match codec.published {
        Some((name, encode, decode)) => {
            vec![figure(name, "encode", encode), figure(name, "decode", decode)]
        }
        None => Vec::new(),
    }
}

/// Numbers by chance, the same each time.
pub struct Random(pub u64);

impl Random {
    /// Between 0 and 1, by SplitMix64.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal, standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

struct Builder {
    random: Random,
    measurements: Vec<Measurement>,
    facts: Vec<Fact>,
}

impl Builder {
    fn measure(&mut self, case: &str, subject: &str, metric: &str, cost: f64) {
        let samples = (0..PROCESSES)
            .map(|process| {
                let offset = 0.012 * self.random.normal();
                (0..ROUNDS)
                    .map(|round| {
                        if (process, round, subject) == (1, 4, "prost") {
                            return None;
                        }
                        let late = if self.random.uniform() < 0.03 {
                            1.25 + self.random.uniform()
                        } else {
                            1.0
                        };
                        let noise = (offset + 0.015 * self.random.normal()).exp();
                        // Picoseconds are below what any clock tells.
                        Some((cost * noise * late * 1e3).round() / 1e3)
                    })
                    .collect()
            })
            .collect();
        self.measurements.push(Measurement {
            case: case.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: "ns".into(),
            iterations: vec![(2e6 / cost).max(1.0) as u64; PROCESSES],
            samples,
        });
    }

    fn count(&mut self, case: &str, subject: &str, metric: &str, unit: &str, value: f64) {
        self.facts.push(Fact {
            case: case.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        });
    }

    fn bound(&mut self, case: &str, subject: &str, cost: impl Fn(&str) -> f64) {
        for metric in ["encode", "decode", "project", "fixed", "element"] {
            self.measure(case, subject, metric, cost(metric));
        }
    }

    fn codec(&mut self, case: &str, codec: &Codec, points: f64) {
        let at = |(base, step): (f64, f64)| base + step * points;
        let (encode, decode) = (at(codec.encode), at(codec.decode));
        let single = if codec.in_place { 3.1 + codec.decode.0 / 40.0 } else { 0.8 * decode };
        self.measure(case, codec.id, "encode", encode);
        if let Some(share) = codec.intermediate {
            self.measure(case, codec.id, "encode/populate", encode * share);
            self.measure(case, codec.id, "encode/write", encode * (1.0 - share));
        }
        self.measure(case, codec.id, "decode", decode);
        if let Some(share) = codec.intermediate {
            self.measure(case, codec.id, "decode/parse", decode * (1.0 - share / 2.0));
            self.measure(case, codec.id, "decode/extract", decode * share / 2.0);
        }
        self.measure(case, codec.id, "project", if codec.in_place { 0.7 * decode } else { decode });
        self.measure(case, codec.id, "fixed", single);
        self.measure(case, codec.id, "element", single * 1.04);
        let size = at(codec.size).round();
        self.count(case, codec.id, "size", "B", size);
        self.count(case, codec.id, "size/lz4", "B", (0.83 * size).round());
        self.count(case, codec.id, "size/zstd", "B", (0.64 * size).round());
        for (metric, cost) in [
            ("compress/lz4", 1.9 * size),
            ("decompress/lz4", 0.4 * size),
            ("compress/zstd", 6.1 * size),
            ("decompress/zstd", 1.7 * size),
        ] {
            self.measure(case, codec.id, metric, cost);
            // Taken beside the rounds, in one process.
            if let Some(measurement) = self.measurements.last_mut() {
                measurement.samples.truncate(1);
                measurement.iterations = vec![1];
            }
        }
        let allocations = if codec.in_place { 1.0 } else { 2.0 + points };
        for experiment in ["encode", "decode", "project"] {
            let metric = format!("allocations/{experiment}");
            self.count(case, codec.id, &metric, "1", allocations);
            let metric = format!("allocated/{experiment}");
            self.count(case, codec.id, &metric, "B", 16.0 * allocations);
        }
        if case == "points=10000" {
            let crashed = if codec.in_place { 37.0 } else { 0.0 };
            self.count(case, codec.id, "corrupt/rejected", "1", 700.0 - crashed);
            self.count(case, codec.id, "corrupt/same", "1", 40.0);
            self.count(case, codec.id, "corrupt/different", "1", 260.0);
            self.count(case, codec.id, "corrupt/crashed", "1", crashed);
        }
    }
}
