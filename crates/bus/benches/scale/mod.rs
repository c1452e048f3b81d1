//! What a step costs with more participants, topics, bytes and machines: costs of a step, a
//! participant, a topic and a byte, fitted to small runs; what they predict of larger runs, beside what
//! these take; and what they predict where nobody here can measure.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use wiregauge_bus::load::Load;
use wiregauge_bus::placement::emulation::Emulation;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::record::RunRecord;
use wiregauge_participant::control::Mode;

use crate::support::median;

/// Over what, and whether a sample crosses a link once for all receivers there (multicast).
const TRANSPORTS: [(&str, bool); 6] = [
    ("tcp", false),
    ("dds", true),
    ("fastdds", false),
    ("zenoh", false),
    ("iceoryx2", true),
    ("silkit", false),
];
/// Those that work within a host only.
const ONE_HOST: [&str; 2] = ["iceoryx2", "silkit"];
/// Receivers, topics and bytes of the runs that costs are fitted to.
const FITTED: [Shape; 9] = [
    shape(1, 1, 100),
    shape(3, 1, 100),
    shape(7, 1, 100),
    shape(1, 1, 100_000),
    shape(3, 1, 100_000),
    shape(7, 1, 100_000),
    shape(1, 10, 100),
    shape(3, 10, 100),
    shape(7, 10, 100),
];
/// Of those that are only predicted, and then measured: up to 64 participants.
const CHECKED: [Shape; 6] = [
    shape(2, 1, 10_000),
    shape(15, 1, 100),
    shape(31, 1, 10_000),
    shape(63, 1, 100),
    shape(2, 20, 1000),
    shape(5, 5, 10_000),
];
/// The same over the link between two emulated hosts.
const LINKED: [Shape; 3] = [shape(1, 1, 10_000), shape(3, 1, 100_000), shape(7, 1, 10_000)];
/// Of that link and of those between the hosts on paper, in bit/s.
const RATE: (&str, f64) = ("1gbit", 1e9);
/// Participants, topics and hosts on paper.
const PARTICIPANTS: [usize; 3] = [10, 100, 1000];
const TOPICS: [usize; 2] = [1, 10];
const HOSTS: [usize; 3] = [1, 10, 100];
/// Bytes of a sample on paper.
const SIZE: usize = 1000;
/// How often each is measured; the median counts.
const TURNS: usize = 3;

/// Measures a load over a transport: the placement, its name, the load, the time and the window.
pub type Run = fn(&Placement, &str, &Load, Duration, Duration) -> Result<RunRecord>;

/// A line of the table.
pub type Line = [String; 2];

/// What is sent in a step, and to how many.
#[derive(Clone, Copy, PartialEq)]
struct Shape {
    receivers: usize,
    topics: usize,
    /// Of a sample.
    size: usize,
}

const fn shape(receivers: usize, topics: usize, size: usize) -> Shape {
    Shape { receivers, topics, size }
}

/// How many costs there are.
const COSTS: usize = 6;

impl Shape {
    /// How often a step of this shape has each cost: that of the step, of a receiver, of a topic, of
    /// a byte, of a topic to a receiver and of a byte to a receiver.
    fn terms(self) -> [f64; COSTS] {
        let [receivers, topics, size] = [self.receivers, self.topics, self.size].map(|n| n as f64);
        let bytes = topics * size;
        [1.0, receivers, topics, bytes, topics * receivers, bytes * receivers]
    }

    fn describe(self) -> String {
        let topics = if self.topics > 1 { format!(", {} topics", self.topics) } else { "".into() };
        format!("{} participants{topics}, {} B", self.receivers + 1, self.size)
    }
}

/// Steps with their time and the sender's share of it, in nanoseconds.
struct Point {
    shape: Shape,
    step: f64,
    /// Processor time of the sender in a step.
    sender: f64,
}

/// What a step costs, in nanoseconds: the sum of these times the terms of its shape.
#[derive(Clone, Copy)]
struct Costs([f64; COSTS]);

impl Costs {
    /// The costs that fit best: least squares of what they are off in proportion, since short steps
    /// count as much as long ones. None is less than nothing: one that would be is left out.
    fn fit(points: &[Point], of: fn(&Point) -> f64) -> Result<Costs> {
        let mut costs = [true; COSTS];
        loop {
            let mut matrix = [[0.0; COSTS + 1]; COSTS];
            for point in points {
                let terms = point.shape.terms().map(|term| term / of(point).max(1.0));
                for (row, left) in matrix.iter_mut().zip(terms) {
                    for (cell, right) in row.iter_mut().zip(terms.into_iter().chain([1.0])) {
                        *cell += left * right;
                    }
                }
            }
            for at in (0..COSTS).filter(|at| !costs[*at]) {
                matrix[at] = [0.0; COSTS + 1];
                matrix[at][at] = 1.0;
            }
            let found = solve(matrix).context("the runs do not tell the costs apart")?;
            // What counts is what a cost is in the largest of the runs.
            let weights = shape(7, 10, 100_000).terms();
            let weighted = |at: usize| found[at] * weights[at];
            let least = (0..COSTS).min_by(|a, b| f64::total_cmp(&weighted(*a), &weighted(*b)));
            match least.filter(|at| found[*at] < 0.0) {
                Some(at) => costs[at] = false,
                None => return Ok(Costs(found)),
            }
        }
    }

    fn step(self, shape: Shape) -> f64 {
        self.0.iter().zip(shape.terms()).map(|(cost, term)| cost * term).sum()
    }

    /// Without what there is once in a step.
    fn of_receivers(self, shape: Shape) -> f64 {
        self.step(shape) - self.step(Shape { receivers: 0, ..shape })
    }
}

/// As many unknowns by elimination, the largest first.
fn solve(mut matrix: [[f64; COSTS + 1]; COSTS]) -> Option<[f64; COSTS]> {
    for column in 0..COSTS {
        let largest = (column..COSTS)
            .max_by(|a, b| f64::total_cmp(&matrix[*a][column].abs(), &matrix[*b][column].abs()))?;
        matrix.swap(column, largest);
        let pivot = matrix[column];
        if pivot[column] == 0.0 {
            return None;
        }
        for row in (0..COSTS).filter(|row| *row != column) {
            let factor = matrix[row][column] / pivot[column];
            for (cell, known) in matrix[row].iter_mut().zip(pivot) {
                *cell -= factor * known;
            }
        }
    }
    Some(std::array::from_fn(|row| matrix[row][COSTS] / matrix[row][row]))
}

/// The costs over a transport.
struct Model {
    whole: Costs,
    sender: Costs,
    multicast: bool,
}

impl Model {
    /// On one machine, or with all receivers behind a link.
    fn predict_step(&self, shape: Shape, link: Option<f64>) -> f64 {
        let alone = self.whole.step(shape);
        // What crosses the link meanwhile takes longer, or is hidden.
        alone.max(link.map_or(0.0, |rate| self.crossing(shape, rate)))
    }

    /// What all copies for other machines take on the sender's link, in nanoseconds.
    fn crossing(&self, Shape { receivers, topics, size }: Shape, rate: f64) -> f64 {
        // 66 bytes of Ethernet, IP and TCP, or UDP and DDS, go before each 1448.
        let frames = (size as f64 / 1448.0).ceil().max(1.0);
        let copies = topics as f64 * if self.multicast { 1.0 } else { receivers as f64 };
        copies * (size as f64 + 66.0 * frames) * 8.0 / rate * 1e9
    }

    /// On so many hosts like this one: receivers are spread evenly and work at the same time, the
    /// sender's work for each of them stays with the sender.
    fn on_hosts(&self, shape: Shape, hosts: usize) -> f64 {
        let sender = self.sender.of_receivers(shape);
        let others = (self.whole.of_receivers(shape) - sender).max(0.0);
        let alone = self.whole.step(Shape { receivers: 0, ..shape });
        let step = alone + sender + others / hosts as f64;
        let away = Shape { receivers: shape.receivers - shape.receivers / hosts, ..shape };
        step.max(if away.receivers > 0 { self.crossing(away, RATE.1) } else { 0.0 })
    }
}

/// All lines over all transports that are here.
pub fn scale(run: Run) -> Vec<Line> {
    let link = RATE.0.parse().and_then(Emulation::build);
    let link = link.as_ref().map(Placement::emulated);
    let mut lines = Vec::new();
    for (name, multicast) in TRANSPORTS {
        let hosts = link.as_ref().ok().filter(|_| !ONE_HOST.contains(&name));
        if let Err(error) = transport(run, (name, multicast), hosts, &mut lines) {
            lines.push([name.into(), format!("not measured: {error:#}")]);
        }
    }
    lines
}

fn transport(
    run: Run,
    (name, multicast): (&str, bool),
    link: Option<&Placement>,
    lines: &mut Vec<Line>,
) -> Result<()> {
    let here = Placement::local();
    let measured = |place: &Placement, shape| point(run, place, name, shape);
    let points = FITTED.into_iter().map(|shape| measured(&here, shape));
    let points = points.collect::<Result<Vec<Point>>>()?;
    let model = Model {
        whole: Costs::fit(&points, |point| point.step)?,
        sender: Costs::fit(&points, |point| point.sender)?,
        multicast,
    };
    for (of, Costs([step, receiver, topic, byte, topic_to, byte_to])) in
        [("a step", model.whole), ("of that the sender's processor time", model.sender)]
    {
        let [step, receiver, topic, topic_to] = [step, receiver, topic, topic_to].map(|n| n / 1e3);
        lines.push([
            format!("{name}: {of}"),
            format!(
                "{step:.1} µs; a receiver {receiver:.2} µs; a topic {topic:.2} µs, and to each \
                 receiver {topic_to:.2} µs; a byte {byte:.3} ns, and to each receiver \
                 {byte_to:.3} ns"
            ),
        ]);
    }
    let places = CHECKED.map(|shape| (shape, Some(&here), None));
    let places = places.into_iter().chain(LINKED.map(|shape| (shape, link, Some(RATE.1))));
    for (shape, place, rate) in places {
        let Some(place) = place else { continue };
        let over = if rate.is_some() { ", two hosts and 1 Gbit/s" } else { "" };
        let what = format!("{name}, {}{over}", shape.describe());
        let found = match measured(place, shape) {
            Ok(found) => {
                let predicted = model.predict_step(shape, rate);
                format!(
                    "{} predicted, {} measured: {:+.0} %",
                    time(predicted),
                    time(found.step),
                    100.0 * (predicted / found.step - 1.0)
                )
            }
            Err(error) => format!("not measured: {error:#}"),
        };
        lines.push([what, found]);
    }
    let alone = ONE_HOST.contains(&name);
    for (participants, topics) in PARTICIPANTS.into_iter().flat_map(|n| TOPICS.map(|k| (n, k))) {
        let shape = shape(participants - 1, topics, SIZE);
        let on = |hosts| time(model.on_hosts(shape, hosts));
        let hosts = HOSTS.into_iter().filter(|hosts| !alone || *hosts == 1);
        let hosts = hosts.filter(|hosts| *hosts <= participants);
        let cells = hosts.map(|hosts| format!("{} on {hosts}", on(hosts))).collect::<Vec<_>>();
        lines.push([format!("{name}, {}, on paper", shape.describe()), cells.join(", ")]);
    }
    Ok(())
}

/// The median of the turns.
fn point(run: Run, place: &Placement, name: &str, shape: Shape) -> Result<Point> {
    let Shape { receivers, topics, size } = shape;
    let cycle = Duration::from_millis(1);
    let load = Load::new(size, cycle, Mode::Discrete);
    let load = Load { fast: true, receivers, topics, ..load };
    let (mut steps, mut senders) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let record = run(place, name, &load, Duration::from_secs(1), Duration::from_millis(100))?;
        ensure!(record.sent.samples > 0 && record.sent.timeouts == 0, "a step timed out");
        let count = record.sent.samples as f64 / topics as f64;
        steps.push(record.sent.span as f64 / count);
        senders.push(record.sent.usage.cpu as f64 / count);
    }
    Ok(Point { shape, step: median(&steps), sender: median(&senders) })
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        short if short < 1e6 => format!("{:.0} µs", short / 1e3),
        long => format!("{:.1} ms", long / 1e6),
    }
}
