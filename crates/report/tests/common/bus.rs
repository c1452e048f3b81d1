//! Made-up runs of the bus.

use wiregauge_result::run::{
    Case, Curve, Fact, Figure, Measurement, Parameter, Reference, Run, Settings, Status, Subject,
    FORMAT, VERSION,
};
use wiregauge_result::run_kind::RunKind;

use super::Random;

/// A made-up transport.
struct Transport<'a> {
    id: &'a str,
    title: &'static str,
    library: &'static str,
    /// Middle of the latencies in nanoseconds.
    latency: f64,
    /// How much longer each nine takes than the last.
    tail: f64,
    /// Nanoseconds for each receiver beyond the first.
    receiver: f64,
    /// Share of the samples that it loses.
    loss: f64,
    /// Highest rate that it keeps, in samples per second.
    headroom: f64,
}

#[rustfmt::skip]
const TRANSPORTS: [Transport<'static>; 5] = [
    Transport { id: "tcp", title: "TCP", library: "std 1.95.0", latency: 43e3, tail: 2.4, receiver: 7e3, loss: 0.0, headroom: 210e3 },
    Transport { id: "memory", title: "memory", library: "std 1.95.0", latency: 14e3, tail: 1.9, receiver: 2e3, loss: 0.0, headroom: 830e3 },
    Transport { id: "dds", title: "Cyclone DDS", library: "cyclonedds 0.10.2", latency: 84e3, tail: 1.7, receiver: 3e3, loss: 0.0, headroom: 64e3 },
    Transport { id: "zenoh", title: "zenoh", library: "zenoh 1.10.2", latency: 74e3, tail: 2.1, receiver: 9e3, loss: 0.0, headroom: 87e3 },
    Transport { id: "zenoh-drop", title: "zenoh, drop", library: "zenoh 1.10.2", latency: 71e3, tail: 2.2, receiver: 9e3, loss: 0.0931, headroom: 0.0 },
];

const SHARES: [f64; 9] = [0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999];
/// Windows that count.
const WINDOWS: usize = 26;

/// The reference's table in small: a continuous and a discrete case, the
/// published figures, a transport that loses, one that fails at a case, one
/// that is not there, and figures that are not valid.
pub fn bus() -> Run {
    let mut builder = Builder::new();
    builder.case("500 B, 1 ms, continuous", 500.0, None);
    builder.case("10 MB, 100 ms, discrete", 10e6, None);
    for transport in &TRANSPORTS {
        builder.carried(transport, "500 B, 1 ms, continuous", 1e3, 1, false);
        if transport.id != "zenoh" {
            builder.carried(transport, "10 MB, 100 ms, discrete", 10.0, 1, true);
        }
    }
    builder.invalidate("500 B, 1 ms, continuous", "dds");
    let mut run = builder.run("The simulation bus, repeated");
    run.subjects.push(Subject {
        status: Status::Skipped("there is no CMake; apt-get install cmake".into()),
        ..subject("iceoryx2", "iceoryx2", "")
    });
    let zenoh = run.subjects.iter_mut().find(|subject| subject.id == "zenoh").unwrap();
    zenoh.status =
        Status::Failed("at 10 MB, 100 ms, discrete: the receiver is lost: silent".into());
    run.reference = Some(reference(&run));
    run
}

/// A latency and a step over the number of receivers, in two modes.
pub fn fan_out() -> Run {
    let mut builder = Builder::new();
    for mode in ["continuous", "discrete"] {
        for receivers in [1, 3, 7, 15, 31] {
            let id = match receivers {
                1 => format!("500 B, 1 ms, {mode}"),
                _ => format!("500 B, 1 ms, {mode}, {} participants", receivers + 1),
            };
            builder.case(&id, 500.0, Some((&format!("500 B, 1 ms, {mode}"), receivers)));
            for transport in &TRANSPORTS[..4] {
                builder.carried(transport, &id, 1e3, receivers, mode == "discrete");
            }
        }
    }
    builder.run("Samples over a bus")
}

/// Headroom: rates at a size, of which one transport keeps none, and sizes at a
/// rate.
pub fn headroom() -> Run {
    let mut builder = Builder::new();
    builder.case("500 B, continuous", 500.0, None);
    builder.case("1 ms, discrete", 0.0, None);
    for transport in &TRANSPORTS {
        builder.searched(transport, "500 B, continuous", "rate", 1e3, transport.headroom);
        let size = transport.headroom * 10.0;
        builder.searched(transport, "1 ms, discrete", "size", 100.0, size);
    }
    builder.run("Headroom of the bus")
}

/// Codecs on the bus: cycles in phases.
pub fn codecs() -> Run {
    let mut builder = Builder::new();
    let case = "LiDAR, points=10000, 10 ms, continuous";
    builder.case(case, 130_032.0, None);
    for transport in [&TRANSPORTS[0], &TRANSPORTS[2]] {
        for (codec, title, encode, decode, bytes) in [
            ("protobuf-cpp", "Protobuf C++", 440e3, 710e3, 190_028.0),
            ("flatbuffers-cpp-structs", "FlatBuffers C++ structs", 87e3, 61e3, 160_064.0),
            ("lcm-c", "LCM (C)", 89e3, 72e3, 130_036.0),
        ] {
            let id = format!("{}+{codec}", transport.id);
            let title = format!("{}, {title}", transport.title);
            builder.subjects.push(subject(&id, &title, transport.library));
            let wire = transport.latency + bytes * 0.4;
            let phases = [encode, bytes * 0.05, wire, 21e3, decode].into_iter().zip(PHASES);
            builder.measure(case, &id, "cycle", encode + bytes * 0.05 + wire + 21e3 + decode, 1);
            for (time, phase) in phases {
                builder.measure(case, &id, &format!("cycle/{phase}"), time, 1);
            }
            builder.count(case, &id, "cycle/time", "ns", 10e6);
            builder.times(case, &Transport { id: &id, ..*transport }, "wake-up", 21e3);
            builder.count(case, &id, "size", "B", bytes);
            builder.count(case, &id, "offered", "MB/s", bytes / 1e4);
            builder.count(case, &id, "throughput", "MB/s", bytes / 1e4);
            builder.count(case, &id, "sent", "1", 3_000.0);
            builder.count(case, &id, "lost", "1", 0.0);
            builder.count(case, &id, "valid", "1", 1.0);
        }
    }
    builder.run("Codecs on the bus")
}

const PHASES: [&str; 5] = ["encode", "write", "wire", "wake-up", "decode"];

fn subject(id: &str, title: &str, library: &str) -> Subject {
    Subject { library: library.into(), ..Subject::new(id, title, "") }
}

fn reference(run: &Run) -> Reference {
    let mut figures = Vec::new();
    for (case, throughput, variance, samples) in [
        ("500 B, 1 ms, continuous", 0.5, 0.000_000_061_941, 1_000.631),
        ("10 MB, 100 ms, discrete", 100.038, 0.004_886_273_418, 10.602),
    ] {
        for (metric, unit, value) in [
            ("throughput", "MB/s", throughput),
            ("variance", "(MB/s)²", variance),
            ("samples", "1", samples),
        ] {
            figures.extend(
                run.subjects.iter().map(|subject| {
                    Figure::new(case, ("FEP SDK 3", &subject.id), metric, unit, value)
                }),
            );
        }
    }
    Reference {
        title: "FEP SDK 3: performance of the simulation bus".into(),
        conditions: "two hosts on 1 Gbit Ethernet; five minutes each".into(),
        notes: vec!["the published throughput is the offered load".into()],
        figures,
        slopes: Vec::new(),
    }
}

struct Builder {
    random: Random,
    cases: Vec<Case>,
    subjects: Vec<Subject>,
    measurements: Vec<Measurement>,
    facts: Vec<Fact>,
    curves: Vec<Curve>,
}

impl Builder {
    fn new() -> Builder {
        Builder {
            random: Random(7),
            cases: Vec::new(),
            subjects: Vec::new(),
            measurements: Vec::new(),
            facts: Vec::new(),
            curves: Vec::new(),
        }
    }

    fn case(&mut self, id: &str, size: f64, sweep: Option<(&str, u32)>) {
        self.cases.push(Case {
            canonical_bytes: size,
            parameter: sweep.map(|(_, receivers)| Parameter {
                name: "receivers".into(),
                value: f64::from(receivers),
            }),
            ..Case::new(
                id,
                sweep.map_or("sample", |(message, _)| message),
                "sequence, time and content by sequence",
            )
        });
    }

    /// What a transport made of a load.
    fn carried(&mut self, of: &Transport, case: &str, rate: f64, receivers: u32, discrete: bool) {
        if self.subjects.iter().all(|subject| subject.id != of.id) {
            self.subjects.push(subject(of.id, of.title, of.library));
        }
        let size = self.cases.iter().find(|c| c.id == case).unwrap().canonical_bytes;
        let offered = size * rate / 1e6;
        let arrived = offered * (1.0 - of.loss);
        // The larger takes its time on the wire.
        let latency = of.latency + f64::from(receivers - 1) * of.receiver + size * 0.8;
        self.measure(case, of.id, "latency", latency, receivers);
        if self.cases.iter().any(|case| case.parameter.is_some()) {
            self.measure(case, of.id, "slowest latency", 1.1 * latency, 1);
        }
        if discrete {
            self.measure(case, of.id, "step", 2.1 * latency, 1);
        }
        let windows = (0..receivers)
            .map(|_| {
                let quantum = |random: &mut Random| (random.uniform() * 2.0).floor() / rate;
                let mut window = || Some(arrived * (1.0 + 0.3 * quantum(&mut self.random)));
                (0..WINDOWS).map(|_| window()).collect()
            })
            .collect();
        self.sampled(case, of.id, "throughput/window", "MB/s", windows);
        let sent = 30.0 * rate;
        let lost = (sent * of.loss).round() * f64::from(receivers);
        self.count(case, of.id, "offered", "MB/s", offered);
        self.count(case, of.id, "throughput", "MB/s", arrived);
        self.count(case, of.id, "samples", "1", rate * (1.0 - of.loss) + 0.5);
        self.count(case, of.id, "rate", "1/s", rate * (1.0 - of.loss));
        self.count(case, of.id, "variance", "(MB/s)²", (1e-4 * arrived).powi(2));
        self.count(case, of.id, "sent", "1", sent);
        self.count(case, of.id, "lost", "1", lost);
        self.count(case, of.id, "late", "1", if of.id == "dds" { 3.0 } else { 0.0 });
        self.count(case, of.id, "reordered", "1", 0.0);
        self.times(case, of, "latency", latency);
        self.times(case, of, "round-trip", 1.9 * latency);
        self.times(case, of, "jitter", 0.1 * latency);
        self.times(case, of, "write", 0.6 * latency);
        self.times(case, of, "lateness", 31e3);
        if discrete {
            self.count(case, of.id, "steps", "1/s", rate);
            self.times(case, of, "step", 2.1 * latency);
            self.times(case, of, "barrier", 1.2 * latency);
            if of.loss > 0.0 {
                self.count(case, of.id, "timeouts", "1", lost);
            }
        }
        for (metric, unit, value) in [
            ("cpu/sender", "%", 5.93),
            ("cpu/receiver", "%", 2.98),
            ("memory/sender", "B", 10_141_696.0),
            ("memory/receiver", "B", 10_502_144.0),
            ("clock/offset", "ns", -111.0),
            ("clock/uncertainty", "ns", 8_760.0),
            ("clock/drift", "ns", -104.0),
            ("valid", "1", 1.0),
        ] {
            self.count(case, of.id, metric, unit, value);
        }
    }

    fn invalidate(&mut self, case: &str, subject: &str) {
        let valid = |f: &&mut Fact| f.case == case && f.subject == subject && f.metric == "valid";
        self.facts.iter_mut().find(valid).unwrap().value = 0.0;
    }

    /// The figures of a distribution, and for what has one its curve.
    fn times(&mut self, case: &str, of: &Transport, metric: &str, middle: f64) {
        let time = |share: f64| {
            let nines = -(1.0 - share).log10() - 2f64.log10();
            (middle * of.tail.powf(nines)).round()
        };
        for (share, name) in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")] {
            self.count(case, of.id, &format!("{metric}/{name}"), "ns", time(share));
        }
        self.count(case, of.id, &format!("{metric}/max"), "ns", time(0.999_997));
        if ["latency", "round-trip", "step"].contains(&metric) {
            let points = SHARES.iter().map(|share| (*share, time(*share))).collect();
            self.curve(case, of.id, metric, "ns", "share", points);
        }
    }

    /// Twofold steps up to what fails, and then halves of the rest.
    fn searched(&mut self, of: &Transport, case: &str, over: &str, first: f64, limit: f64) {
        if self.subjects.iter().all(|subject| subject.id != of.id) {
            self.subjects.push(subject(of.id, of.title, of.library));
        }
        let mut tried = vec![first];
        while tried[tried.len() - 1] <= limit && tried.len() < 14 {
            tried.push(2.0 * tried[tried.len() - 1]);
        }
        let whole = |x: f64| if over == "size" { x.floor() } else { x };
        let (mut good, mut bad) = (tried[tried.len() - 1] / 2.0, tried[tried.len() - 1]);
        while bad / good > 1.05 && limit > 0.0 {
            let middle = whole((good * bad).sqrt());
            tried.push(middle);
            if middle <= limit {
                good = middle;
            } else {
                bad = middle;
            }
        }
        tried.sort_by(f64::total_cmp);
        let load = |x: f64| 1.0 + (x / limit.max(first)).powi(4);
        let curve = |of_x: &dyn Fn(f64) -> f64| tried.iter().map(|x| (*x, of_x(*x))).collect();
        let middle = of.latency;
        let [half, most, lost]: [Vec<(f64, f64)>; 3] = [
            curve(&|x| middle * load(x)),
            curve(&|x| of.tail * of.tail * middle * load(x).powi(2)),
            curve(&|x| if x > limit { (x / 40.0).round() } else { 0.0 }),
        ];
        self.curve(case, of.id, "latency/p50", "ns", over, half);
        self.curve(case, of.id, "latency/p99", "ns", over, most);
        self.curve(case, of.id, "lost", "1", over, lost);
        self.count(case, of.id, "headroom/trials", "1", tried.len() as f64);
        if limit > 0.0 {
            let (unit, bytes) = if over == "rate" { ("1/s", 500.0) } else { ("B", 1e3) };
            self.count(case, of.id, &format!("headroom/{over}"), unit, good);
            self.count(case, of.id, "headroom/throughput", "MB/s", good * bytes / 1e6);
            self.count(case, of.id, "latency/p50", "ns", middle * load(good));
            self.count(case, of.id, "cpu/sender", "%", 61.7);
        }
    }

    fn measure(&mut self, case: &str, subject: &str, metric: &str, cost: f64, receivers: u32) {
        let offset = 0.01 * self.random.normal();
        let sample = |random: &mut Random| (cost * (offset + 0.01 * random.normal()).exp()).round();
        let samples = (0..receivers)
            .map(|_| (0..WINDOWS).map(|_| Some(sample(&mut self.random))).collect())
            .collect();
        self.sampled(case, subject, metric, "ns", samples);
    }

    fn sampled(
        &mut self,
        case: &str,
        subject: &str,
        metric: &str,
        unit: &str,
        samples: Vec<Vec<Option<f64>>>,
    ) {
        self.measurements.push(Measurement {
            case: case.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            iterations: vec![1_000; samples.len()],
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

    fn curve(
        &mut self,
        case: &str,
        subject: &str,
        metric: &str,
        unit: &str,
        over: &str,
        points: Vec<(f64, f64)>,
    ) {
        self.curves.push(Curve {
            case: case.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            over: over.into(),
            points,
        });
    }

    fn run(self, title: &str) -> Run {
        Run {
            format: FORMAT.into(),
            version: VERSION,
            title: title.into(),
            kind: RunKind::Bus,
            command: ["wiregauge", "bus", "run", "--duration", "30s"].map(String::from).to_vec(),
            started: "2026-03-01T09:30:00Z".into(),
            seconds: 312.0,
            environment: Default::default(),
            warnings: Vec::new(),
            settings: Settings {
                processes: 1,
                rounds: WINDOWS as u32,
                epoch_ns: 1_000_000_000,
                buffers: "reused".into(),
                objects: "reused".into(),
                scratch: "reused".into(),
                background: String::new(),
                seed: 1,
            },
            cases: self.cases,
            subjects: self.subjects,
            measurements: self.measurements,
            facts: self.facts,
            curves: self.curves,
            slowest: Vec::new(),
            explanations: Vec::new(),
            require: None,
            compared: None,
            reference: None,
        }
    }
}
