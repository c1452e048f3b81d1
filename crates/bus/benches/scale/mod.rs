//! What a step costs with more participants, more bytes and more machines: costs of a step, a
//! participant and a byte, fitted to small runs; what they predict of larger runs, beside what
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
/// Receivers and bytes of the runs that costs are fitted to.
const FITTED: [(usize, usize); 6] =
    [(1, 100), (3, 100), (7, 100), (1, 100_000), (3, 100_000), (7, 100_000)];
/// Of those that are only predicted, and then measured: up to 64 participants.
const CHECKED: [(usize, usize); 4] = [(2, 10_000), (15, 100), (31, 10_000), (63, 100)];
/// The same over the link between two emulated hosts.
const LINKED: [(usize, usize); 3] = [(1, 10_000), (3, 100_000), (7, 10_000)];
/// Of that link and of those between the hosts on paper, in bit/s.
const RATE: (&str, f64) = ("1gbit", 1e9);
/// Participants and hosts on paper.
const PARTICIPANTS: [usize; 3] = [10, 100, 1000];
const HOSTS: [usize; 3] = [1, 10, 100];
/// Bytes of a sample on paper.
const SIZE: usize = 1000;
/// How often each is measured; the median counts.
const TURNS: usize = 3;

/// Measures a load over a transport: the placement, its name, the load, the time and the window.
pub type Run = fn(&Placement, &str, &Load, Duration, Duration) -> Result<RunRecord>;

/// A line of the table.
pub type Line = [String; 2];

/// Steps with their time and the sender's share of it, in nanoseconds.
struct Point {
    receivers: f64,
    size: f64,
    step: f64,
    /// Processor time of the sender in a step.
    sender: f64,
}

/// What a step costs: `step + byte * size + receivers * (receiver + received_byte * size)`, in
/// nanoseconds.
#[derive(Clone, Copy)]
struct Costs([f64; 4]);

impl Costs {
    /// The costs that fit best: least squares of what they are off in proportion, since short steps
    /// count as much as long ones. None is less than nothing: one that would be is left out.
    fn fit(points: &[Point], of: fn(&Point) -> f64) -> Result<Costs> {
        let mut costs = [true; 4];
        loop {
            let mut matrix = [[0.0; 5]; 4];
            for point in points {
                let terms = [1.0, point.size, point.receivers, point.receivers * point.size];
                let terms = terms.map(|term| term / of(point).max(1.0));
                for (row, left) in matrix.iter_mut().zip(terms) {
                    for (cell, right) in row.iter_mut().zip(terms.into_iter().chain([1.0])) {
                        *cell += left * right;
                    }
                }
            }
            for at in (0..4).filter(|at| !costs[*at]) {
                matrix[at] = [0.0; 5];
                matrix[at][at] = 1.0;
            }
            let found = solve(matrix).context("the runs do not tell the costs apart")?;
            // What counts is what a cost is in the largest of the runs.
            let [receivers, size] = [7.0, 100_000.0];
            let weights = [1.0, size, receivers, receivers * size];
            let weighted = |at: usize| found[at] * weights[at];
            let least = (0..4).min_by(|a, b| f64::total_cmp(&weighted(*a), &weighted(*b)));
            match least.filter(|at| found[*at] < 0.0) {
                Some(at) => costs[at] = false,
                None => return Ok(Costs(found)),
            }
        }
    }

    fn step(self, receivers: f64, size: f64) -> f64 {
        let Costs([step, byte, receiver, received_byte]) = self;
        step + byte * size + receivers * (receiver + received_byte * size)
    }

    /// Without what there is once in a step.
    fn of_receivers(self, receivers: f64, size: f64) -> f64 {
        self.step(receivers, size) - self.step(0.0, size)
    }
}

/// Four unknowns by elimination, the largest first.
fn solve(mut matrix: [[f64; 5]; 4]) -> Option<[f64; 4]> {
    for column in 0..4 {
        let largest = (column..4)
            .max_by(|a, b| f64::total_cmp(&matrix[*a][column].abs(), &matrix[*b][column].abs()))?;
        matrix.swap(column, largest);
        let pivot = matrix[column];
        if pivot[column] == 0.0 {
            return None;
        }
        for row in (0..4).filter(|row| *row != column) {
            let factor = matrix[row][column] / pivot[column];
            for (cell, known) in matrix[row].iter_mut().zip(pivot) {
                *cell -= factor * known;
            }
        }
    }
    Some([0, 1, 2, 3].map(|row: usize| matrix[row][4] / matrix[row][row]))
}

/// The costs over a transport.
struct Model {
    whole: Costs,
    sender: Costs,
    multicast: bool,
}

impl Model {
    /// On one machine, or with all receivers behind a link.
    fn predict_step(&self, receivers: usize, size: usize, link: Option<f64>) -> f64 {
        let alone = self.whole.step(receivers as f64, size as f64);
        // What crosses the link meanwhile takes longer, or is hidden.
        alone.max(link.map_or(0.0, |rate| self.crossing(receivers, size, rate)))
    }

    /// What all copies for other machines take on the sender's link, in nanoseconds.
    fn crossing(&self, receivers: usize, size: usize, rate: f64) -> f64 {
        // 66 bytes of Ethernet, IP and TCP, or UDP and DDS, go before each 1448.
        let frames = (size as f64 / 1448.0).ceil().max(1.0);
        let copies = if self.multicast { 1.0 } else { receivers as f64 };
        copies * (size as f64 + 66.0 * frames) * 8.0 / rate * 1e9
    }

    /// On so many hosts like this one: receivers are spread evenly and work at the same time, the
    /// sender's work for each of them stays with the sender.
    fn on_hosts(&self, receivers: usize, size: usize, hosts: usize) -> f64 {
        let (all, bytes) = (receivers as f64, size as f64);
        let sender = self.sender.of_receivers(all, bytes);
        let others = (self.whole.of_receivers(all, bytes) - sender).max(0.0);
        let step = self.whole.step(0.0, bytes) + sender + others / hosts as f64;
        let away = receivers - receivers / hosts;
        step.max(if away > 0 { self.crossing(away, size, RATE.1) } else { 0.0 })
    }
}

/// All lines over all transports that are here.
pub fn scale(run: Run) -> Vec<Line> {
    let link = RATE.0.parse().and_then(Emulation::build);
    let link = link.as_ref().map(Placement::emulated);
    let mut lines = Vec::new();
    for (name, multicast) in TRANSPORTS {
        let hosts = link.as_ref().ok().filter(|_| !["iceoryx2", "silkit"].contains(&name));
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
    let measured = |place: &Placement, (receivers, size)| point(run, place, name, receivers, size);
    let points = FITTED.into_iter().map(|what| measured(&here, what));
    let points = points.collect::<Result<Vec<Point>>>()?;
    let model = Model {
        whole: Costs::fit(&points, |point| point.step)?,
        sender: Costs::fit(&points, |point| point.sender)?,
        multicast,
    };
    let Costs([step, byte, receiver, received_byte]) = model.whole;
    lines.push([
        format!("{name}: a step"),
        format!(
            "{:.1} µs and {byte:.3} ns a byte; for each receiver {:.2} µs and {received_byte:.3} \
             ns a byte; of that the sender {:.2} µs and {:.3} ns a byte",
            step / 1e3,
            receiver / 1e3,
            model.sender.0[2] / 1e3,
            model.sender.0[3],
        ),
    ]);
    let places = CHECKED.map(|what| (what, Some(&here), None));
    let places = places.into_iter().chain(LINKED.map(|what| (what, link, Some(RATE.1))));
    for ((receivers, size), place, rate) in places {
        let Some(place) = place else { continue };
        let over = if rate.is_some() { ", two hosts and 1 Gbit/s" } else { "" };
        let what = format!("{name}, {} participants, {size} B{over}", receivers + 1);
        let found = match measured(place, (receivers, size)) {
            Ok(found) => {
                let predicted = model.predict_step(receivers, size, rate);
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
    let alone = ["iceoryx2", "silkit"].contains(&name);
    for participants in PARTICIPANTS {
        let on = |hosts| time(model.on_hosts(participants - 1, SIZE, hosts));
        let hosts = HOSTS.into_iter().filter(|hosts| !alone || *hosts == 1);
        let hosts = hosts.filter(|hosts| *hosts <= participants);
        let cells = hosts.map(|hosts| format!("{} on {hosts}", on(hosts))).collect::<Vec<_>>();
        let what = format!("{name}, {participants} participants on hosts, {SIZE} B, on paper");
        lines.push([what, cells.join(", ")]);
    }
    Ok(())
}

/// The median of the turns.
fn point(run: Run, place: &Placement, name: &str, receivers: usize, size: usize) -> Result<Point> {
    let cycle = Duration::from_millis(1);
    let load = Load { fast: true, receivers, ..Load::new(size, cycle, Mode::Discrete) };
    let (mut steps, mut senders) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let record = run(place, name, &load, Duration::from_secs(1), Duration::from_millis(100))?;
        ensure!(record.sent.samples > 0 && record.sent.timeouts == 0, "a step timed out");
        let count = record.sent.samples as f64;
        steps.push(record.sent.span as f64 / count);
        senders.push(record.sent.usage.cpu as f64 / count);
    }
    let (receivers, size) = (receivers as f64, size as f64);
    Ok(Point { receivers, size, step: median(&steps), sender: median(&senders) })
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        short if short < 1e6 => format!("{:.0} µs", short / 1e3),
        long => format!("{:.1} ms", long / 1e6),
    }
}
