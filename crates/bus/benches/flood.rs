//! What strangers who come to every port of a run cost it, as ratios within one
//! run: the same trial with and without them, in turns. And what those cost who
//! come to the door of a machine that leads, while it waits and during runs.
//!
//!     cargo bench --locked -p wiregauge-bus --bench flood

#[path = "../tests/support/flood.rs"]
mod flood;
mod support;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use flood::{Flood, STRANGERS};
use support::{ended, median, take_part};
use wiregauge_bus::catalogue::all;
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::conduct::trial::Trial;
use wiregauge_bus::load::Load;
use wiregauge_bus::machines::join_listener::JoinListener;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::run_settings::RunSettings;
use wiregauge_participant::control::{Mode, DEFAULT_SILENCE_LIMIT};
use wiregauge_timing::usage::Usage;

/// How often what is compared takes turns.
const TURNS: usize = 5;
/// The argument that makes this program one that leads, and when.
const LEADS: &str = "leads";
const WAITS: &str = "waits";
const RUNS: &str = "runs";
/// How long a trial lasts.
const LENGTH: Duration = Duration::from_secs(6);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // This program is the participants' too.
        ["bus", "participant", words @ ..] => take_part(words),
        [LEADS, when] => lead(*when == RUNS),
        _ => measure().and_then(|()| measure_door()),
    };
    ended(outcome)
}

/// What a trial came to: sender's and receiver's share of a processor in
/// percent, lost and late samples in percent, latency at the median and at 99 %
/// in microseconds.
type Figures = [f64; 6];

const NAMES: [&str; 6] = [
    "cpu of the sender, %",
    "cpu of the receiver, %",
    "lost, %",
    "late, %",
    "latency p50, µs",
    "latency p99, µs",
];

fn measure() -> Result<()> {
    let (mut calm, mut flooded) = (Vec::new(), Vec::new());
    let (mut connections, mut seconds) = (0, 0.0);
    for _ in 0..TURNS {
        calm.push(figures(&trial()?)?);
        let began = Instant::now();
        let flood = Flood::start();
        flooded.push(figures(&trial()?)?);
        connections += flood.connections();
        seconds += began.elapsed().as_secs_f64();
    }
    println!("{STRANGERS} strangers, {:.0} connections a second", connections as f64 / seconds);
    println!("{:<24}{:>10}{:>10}{:>10}", "", "without", "with", "ratio");
    for (at, name) in NAMES.iter().enumerate() {
        let of =
            |all: &[Figures]| median(&all.iter().map(|figures| figures[at]).collect::<Vec<f64>>());
        let (without, with) = (of(&calm), of(&flooded));
        println!("{name:<24}{without:>10.2}{with:>10.2}{:>10.2}", with / without);
    }
    Ok(())
}

/// Samples of 1 kB each millisecond over the floor.
fn trial() -> Result<RunRecord> {
    let entry = all().into_iter().find(|entry| entry.floor).context("there is a floor")?;
    let cycle = Duration::from_millis(1);
    let load = Load::new(1000, cycle, Mode::Continuous);
    let terms = RunSettings {
        duration: LENGTH,
        window: Duration::from_secs(1),
        patience: Duration::from_secs(5),
        announced: false,
        round_trips: 0,
        alive: DEFAULT_SILENCE_LIMIT,
        realtime: Default::default(),
        background: Default::default(),
        seed: 1,
        choices: Vec::new(),
    };
    let (placement, program) = (Placement::local(), Program::BuiltIn);
    let trial = Trial {
        placement: &placement,
        load: &load,
        entry: &entry,
        program: &program,
        coding: None,
        settings: &terms,
    };
    trial.run(&|_| {}, None)?.0.require_complete()
}

fn figures(record: &RunRecord) -> Result<Figures> {
    let (sent, received) = (&record.sent, &record.received[0]);
    let share = |cpu: u64| 100.0 * cpu as f64 / sent.span as f64;
    let percent = |count: u64| 100.0 * count as f64 / sent.samples as f64;
    let latency = |at: f64| received.latency.quantile(at).context("no sample arrived");
    Ok([
        share(sent.usage.cpu),
        share(received.usage.cpu),
        percent(sent.samples.saturating_sub(received.samples)),
        percent(received.late),
        latency(0.5)? as f64 / 1e3,
        latency(0.99)? as f64 / 1e3,
    ])
}

/// The door of a machine that leads, and what was taken of a processor by the end.
fn lead(runs: bool) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let door = JoinListener::open(listener, None, BTreeMap::new())?;
    if runs {
        door.close_for_runs(&[]);
    }
    let (began, before) = (Instant::now(), Usage::now());
    thread::sleep(LENGTH);
    let cpu = Usage::now().since(before).cpu as f64 / 1e9;
    println!("{}", 100.0 * cpu / began.elapsed().as_secs_f64());
    Ok(())
}

/// The same in a process of its own, as strangers of ours would count, too.
fn share_of_leader(when: &str) -> Result<f64> {
    let output = Command::new(std::env::current_exe()?).args([LEADS, when]).output()?;
    let said = String::from_utf8(output.stdout)?;
    said.trim().parse().with_context(|| format!("it says '{said}'"))
}

fn measure_door() -> Result<()> {
    println!("{:<24}{:>10}{:>10}", "who leads, cpu, %", "without", "with");
    for when in [WAITS, RUNS] {
        let (mut calm, mut flooded) = (Vec::new(), Vec::new());
        let (mut connections, mut seconds) = (0, 0.0);
        for _ in 0..TURNS {
            calm.push(share_of_leader(when)?);
            let began = Instant::now();
            let flood = Flood::start();
            flooded.push(share_of_leader(when)?);
            connections += flood.connections();
            seconds += began.elapsed().as_secs_f64();
        }
        let rate = connections as f64 / seconds;
        let (without, with) = (median(&calm), median(&flooded));
        println!("{when:<24}{without:>10.3}{with:>10.3}  {rate:.0} connections a second");
    }
    Ok(())
}
