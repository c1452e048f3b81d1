//! The targets of the bus, each as a ratio within one run: wiregauge beside a
//! tool that is trusted, or beside the plainest loop there can be.
//!
//!     make targets                   all of them; the emulated link wants root
//!     make targets ONLY=lockstep     those whose name begins so
//!
//! Machines are noisy: what is compared takes turns, the median of the turns
//! counts, and from the least to the most of them stands behind it.

mod peers;
mod scale;
mod support;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use peers::tcp::{bare_loop, bare_round_trips, peer, PEER};
use peers::{build_folder, BareLoop, RouDi, SilKit};
use support::{ended, median, take_part};
use wiregauge_bus::catalogue::all;
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::conduct::trial::Trial;
use wiregauge_bus::load::Load;
use wiregauge_bus::placement::emulation::{Emulation, Host};
use wiregauge_bus::placement::Placement;
use wiregauge_bus::record::windows::{counted_windows, throughput, undisturbed, Arrival};
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::run_settings::transport_option::TransportOption;
use wiregauge_bus::run_settings::RunSettings;
use wiregauge_participant::control::{Mode, DEFAULT_SILENCE_LIMIT};
use wiregauge_participant::window::Window;
use wiregauge_result::stats::variance;

/// How often what is compared takes turns.
const TURNS: usize = 10;
/// Cyclone's configuration for throughput.
const BATCHED: &str =
    "<CycloneDDS><Domain><Internal><WriteBatch>true</WriteBatch></Internal></Domain></CycloneDDS>";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // This program is the participants' too.
        ["bus", "participant", words @ ..] => take_part(words),
        [PEER, address, answer] => peer(address, answer),
        words => targets(words.iter().find(|word| !word.starts_with('-')).unwrap_or(&"")),
    };
    ended(outcome)
}

/// What was found, beside what is wanted.
struct Finding {
    what: String,
    found: String,
    /// Empty where the figure is only there to compare.
    wanted: &'static str,
    met: bool,
}

/// Measures one thing.
type Measure = fn() -> Result<Vec<Finding>>;

fn targets(only: &str) -> Result<()> {
    let all: [(&str, Measure); 13] = [
        ("pace", pace),
        ("lockstep", lockstep),
        ("ping-pong", ping_pong),
        ("zero-copy", zero_copy),
        ("ddsperf", ddsperf),
        ("dds-memory", dds_memory),
        ("fastdds", fastdds),
        ("iceoryx2", iceoryx2),
        ("zenoh", zenoh),
        ("silkit", silkit),
        ("large", large),
        ("unthrottled", unthrottled),
        ("scale", growth),
    ];
    println!("| target | found | wanted | |\n|---|---|---|---|");
    for (name, measure) in all.into_iter().filter(|(name, _)| name.starts_with(only)) {
        match measure() {
            Ok(findings) => {
                for Finding { what, found, wanted, met } in findings {
                    let met = match met {
                        _ if wanted.is_empty() => "",
                        true => "met",
                        false => "**missed**",
                    };
                    println!("| {what} | {found} | {wanted} | {met} |");
                }
            }
            Err(error) => println!("| {name} | {error:#} | | not measured |"),
        }
    }
    Ok(())
}

/// What a step takes with more participants, bytes and machines.
fn growth() -> Result<Vec<Finding>> {
    let lines = scale::scale(|placement, name, load, duration, window| {
        let library = std::env::var("SILKIT_LIBRARY").unwrap_or_default();
        let choices = [("library", &*library)];
        let choices = if name == "silkit" { &choices[..] } else { &[] };
        run_for(placement, name, load, (duration, window, 0), choices)
    });
    let finding = |[what, found]: scale::Line| Finding { what, found, wanted: "", met: true };
    Ok(lines.into_iter().map(finding).collect())
}

/// 10 B and 500 B at 1 kHz: nothing lost, and the offered rate.
fn pace() -> Result<Vec<Finding>> {
    let placement = Placement::local();
    let mut findings = Vec::new();
    for name in ["tcp", "dds", "zenoh"] {
        for mode in [Mode::Continuous, Mode::Discrete] {
            for size in [10, 500] {
                let load = Load::new(size, Duration::from_millis(1), mode);
                let record = run(&placement, name, &load, 10)?;
                let lost = lost(&record);
                let windows = counted_windows(&record.received[0].windows);
                let span: u64 = windows.iter().map(|window| window.span).sum();
                let samples: u64 = windows.iter().map(|window| window.samples).sum();
                let rate = samples as f64 / (span as f64 / 1e9);
                findings.push(Finding {
                    what: format!("{name}, {}", load.id()),
                    found: format!("{lost} lost, {:.3} % of the offered rate", rate / 10.0),
                    wanted: "0 lost, 99.9–100.1 %",
                    met: lost == 0 && (rate / 1000.0 - 1.0).abs() <= 0.001,
                });
            }
        }
    }
    Ok(findings)
}

/// Steps per second over TCP, beside the bare loop of a write and its
/// acknowledgement.
fn lockstep() -> Result<Vec<Finding>> {
    let load = Load { fast: true, ..Load::new(500, Duration::from_millis(1), Mode::Discrete) };
    let placement = Placement::local();
    let (mut bare, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let before = bare_loop(Duration::from_secs(2))?;
        let record = run(&placement, "tcp", &load, 5)?;
        let after = bare_loop(Duration::from_secs(2))?;
        let steps = record.sent.samples as f64 / (record.sent.span as f64 / 1e9);
        bare.push((before + after) / 2.0);
        ratios.push(steps / ((before + after) / 2.0));
    }
    let (ratio, bare, range) = (median(&ratios), median(&bare), percents(&ratios, 0));
    Ok(vec![Finding {
        what: "steps over TCP, 500 B".into(),
        found: format!("{range} of a bare loop's {bare:.0} /s"),
        wanted: "at least 90 %",
        met: ratio >= 0.9,
    }])
}

/// Half a round trip over TCP in the cycle, beside the bare loop's.
fn ping_pong() -> Result<Vec<Finding>> {
    let cycle = Duration::from_millis(1);
    Ok(vec![beside_bare_loop("tcp", &[], || bare_round_trips(cycle, 2000))?])
}

/// One-way latency through shared memory, small and large.
fn zero_copy() -> Result<Vec<Finding>> {
    let placement = Placement::local();
    let mut findings = Vec::new();
    for (name, wanted) in [("iceoryx2", "0.5–2 times"), ("iceoryx2-copy", "")] {
        let mut ratios = Vec::new();
        for _ in 0..TURNS {
            let small = latency(&placement, name, 500)?;
            ratios.push(latency(&placement, name, 10_000_000)? / small);
        }
        let ratio = median(&ratios);
        findings.push(Finding {
            what: format!("{name}: latency of 10 MB beside 500 B"),
            found: format!("{ratio:.2} times ({})", range(&ratios, 2)),
            wanted,
            met: (0.5..=2.0).contains(&ratio),
        });
    }
    Ok(findings)
}

fn latency(placement: &Placement, name: &str, size: usize) -> Result<f64> {
    let load = Load::new(size, Duration::from_millis(50), Mode::Continuous);
    let record = run(placement, name, &load, 6)?;
    let median = record.received[0].latency.quantile(0.5);
    Ok(median.context("no sample arrived")? as f64)
}

/// Latency and throughput of DDS beside Cyclone's own tool: the same type,
/// size, rate and QoS, and the same way to wait on both sides.
fn ddsperf() -> Result<Vec<Finding>> {
    let placement = Placement::local();
    let load = Load::new(500, Duration::from_millis(1), Mode::Continuous);
    let full = Load { cycle: Duration::ZERO, ..load };
    let ways = ["waitset", "listener"];
    let (mut latencies, mut throughputs) = (ways.map(|_| Vec::new()), ways.map(|_| Vec::new()));
    for _ in 0..TURNS {
        for (way, (latencies, throughputs)) in
            ways.into_iter().zip(latencies.iter_mut().zip(&mut throughputs))
        {
            // ddsperf listens where it is told nothing.
            let word = if way == "listener" { "" } else { way };
            let choices = [("wait", way)];
            let trips = run_as(&placement, "dds", &load, 5, &choices)?.round_trips;
            let trips = trips.context("no round trips")?;
            let ours = trips.times.quantile(0.5).context("no round trip")? as f64 / 2.0;
            // Half a round trip, of each second.
            let ping = format!("-D4 ping 1000Hz size 500 {word}");
            let said = run_pair("ddsperf", &format!("-D5 pong {word}"), &ping)?.1;
            let theirs = median(&numbers(&said, " 50% ", "us")) * 1e3;
            latencies.push((ours, theirs));

            // ddsperf has Cyclone put small samples together, which this makes it
            // do for both.
            std::env::set_var("CYCLONEDDS_URI", BATCHED);
            let record = run_as(&placement, "dds", &full, 6, &choices)?;
            let ours = mean_throughput(&record);
            let said = run_pair("ddsperf", &format!("-D6 sub {word}"), "-D5 pub size 500")?.0;
            let theirs = median(&numbers(&said, "kS/s ", " Mb/s (")) / 8.0;
            throughputs.push((ours, theirs));
            std::env::remove_var("CYCLONEDDS_URI");
        }
    }
    let ratios = |pairs: &[(f64, f64)]| -> Vec<f64> {
        pairs.iter().map(|(ours, theirs)| ours / theirs).collect()
    };
    let theirs = |pairs: &[(f64, f64)]| {
        median(&pairs.iter().map(|(_, theirs)| *theirs).collect::<Vec<f64>>())
    };
    let mut findings = Vec::new();
    for (way, (latencies, throughputs)) in ways.into_iter().zip(latencies.iter().zip(&throughputs))
    {
        let found = ratios(latencies);
        let (range, theirs_us) = (percents(&found, 0), theirs(latencies) / 1e3);
        findings.push(Finding {
            what: format!("DDS, {way}, 500 B at 1 kHz: half a round trip beside ddsperf's"),
            found: format!("{range} of {theirs_us:.0} µs"),
            wanted: "at most 110 %",
            met: median(&found) <= 1.1,
        });
        let found = ratios(throughputs);
        let (range, theirs) = (percents(&found, 0), theirs(throughputs));
        findings.push(Finding {
            what: format!("DDS, {way}, 500 B unthrottled, batched: throughput beside ddsperf's"),
            found: format!("{range} of {theirs:.0} MB/s"),
            wanted: "at least 90 %",
            met: median(&found) >= 0.9,
        });
    }
    Ok(findings)
}

/// Half a round trip over Cyclone DDS in shared memory, beside a bare loop's.
fn dds_memory() -> Result<Vec<Finding>> {
    let bare = BareLoop::compile("dds_memory.cpp", &["-lddsc"])?;
    let trip = || {
        // A machine has one, and a run its own.
        let _roudi = RouDi::start()?;
        bare.median(&["500"])
    };
    Ok(vec![beside_bare_loop("dds-memory", &[], trip)?])
}

/// Half a round trip over each of Fast DDS's ways, beside a bare loop's with the same type.
fn fastdds() -> Result<Vec<Finding>> {
    let second = std::path::Path::new("/usr/include/fastrtps").exists();
    let library = if second { "-lfastrtps" } else { "-lfastdds" };
    let bare = BareLoop::compile("fastdds.cpp", &[library, "-lfastcdr"])?;
    let ways = [("fastdds", "udp"), ("fastdds-memory", "memory"), ("fastdds-sharing", "sharing")];
    let finding = |(name, way): (&str, &str)| -> Result<Finding> {
        let trip = || bare.median(&[way, "500", "77"]);
        beside_bare_loop(name, &[], trip)
    };
    ways.into_iter().map(finding).collect()
}

/// Half a round trip over iceoryx2, in place and copied, beside a bare loop's.
fn iceoryx2() -> Result<Vec<Finding>> {
    let bare = BareLoop::build("bare_iceoryx2", "iceoryx2")?;
    let name = format!("wiregauge-bare-{}", std::process::id());
    let ways = [("iceoryx2", "in-place"), ("iceoryx2-copy", "copy")];
    let finding =
        |(row, way): (&str, &str)| beside_bare_loop(row, &[], || bare.median(&[way, "500", &name]));
    ways.into_iter().map(finding).collect()
}

/// Half a round trip over zenoh and TCP, beside a bare loop's.
fn zenoh() -> Result<Vec<Finding>> {
    let bare = BareLoop::build("bare_zenoh", "zenoh")?;
    let trip = || {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        bare.median(&["500", &address])
    };
    Ok(vec![beside_bare_loop("zenoh", &[], trip)?])
}

/// Half a round trip over SIL Kit beside a bare loop's, our steps over its wire beside its virtual
/// time, and whether samples come in the same order each time.
fn silkit() -> Result<Vec<Finding>> {
    let kit = SilKit::start()?;
    let bare = BareLoop::compile("silkit.cpp", &["-ldl"])?;
    let choices = [("library", &*kit.library)];
    let mut findings = Vec::new();
    for (name, way) in [("silkit", "tcp"), ("silkit-local", "local")] {
        let trip = || bare.median(&[&kit.library, &kit.uri, way, "500"]);
        findings.push(beside_bare_loop(name, &choices, trip)?);
        let step = Load::new(500, Duration::from_millis(1), Mode::Discrete);
        let fast = Load { fast: true, ..step };
        let words = [&*kit.library, &kit.uri, way, "500", "20000"];
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            theirs.push(bare.steps(&words, 1)?.0);
            let record = run_as(&Placement::local(), name, &fast, 2, &choices)?;
            ours.push(record.sent.samples as f64 / (record.sent.span as f64 / 1e9));
        }
        findings.push(Finding {
            what: format!("{name}, 500 B: steps a second in SIL Kit's virtual time"),
            found: format!(
                "{:.0} ({}); in our lockstep over its wire {:.0} ({})",
                median(&theirs),
                range(&theirs, 0),
                median(&ours),
                range(&ours, 0)
            ),
            wanted: "",
            met: true,
        });
        for senders in [1, 3] {
            let words = [&*kit.library, &kit.uri, way, "500", "2000"];
            let runs = (0..TURNS).map(|_| Ok(bare.steps(&words, senders)?.1));
            let runs = runs.collect::<Result<Vec<[String; 2]>>>()?;
            let [all, orders] = [0, 1].map(|which| {
                let hashes: BTreeSet<&String> = runs.iter().map(|run| &run[which]).collect();
                hashes.len()
            });
            findings.push(Finding {
                what: format!("{name}, virtual time, {senders} sending, 2000 steps, {TURNS} runs"),
                found: format!("{all} different by what came in which step, {orders} by order"),
                wanted: "",
                met: true,
            });
        }
    }
    Ok(findings)
}

/// Half a round trip over a transport, beside that of a bare loop over the same library.
fn beside_bare_loop(
    name: &str,
    choices: &[(&str, &str)],
    bare: impl Fn() -> Result<f64>,
) -> Result<Finding> {
    let load = Load::new(500, Duration::from_millis(1), Mode::Continuous);
    let (mut theirs, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let before = bare()?;
        let trips = run_as(&Placement::local(), name, &load, 5, choices)?.round_trips;
        let ours = trips.context("no round trips")?.times.quantile(0.5).context("none")? as f64;
        let both = (before + bare()?) / 2.0;
        theirs.push(both / 2e3);
        ratios.push(ours / both);
    }
    Ok(Finding {
        what: format!("{name}, 500 B at 1 kHz: half a round trip beside a bare loop's"),
        found: format!("{} of {:.1} µs", percents(&ratios, 0), median(&theirs)),
        wanted: "at most 110 %",
        met: median(&ratios) <= 1.1,
    })
}

/// 10 MB at 10 Hz over an emulated gigabit: how even, beside TCP in the same
/// turn, without the windows in which a hypervisor took the machine away.
fn large() -> Result<Vec<Finding>> {
    let placement = Placement::emulated(&Emulation::build("1gbit".parse()?)?);
    let mut findings = Vec::new();
    for mode in [Mode::Continuous, Mode::Discrete] {
        let load = Load::new(10_000_000, Duration::from_millis(100), mode);
        let names = ["tcp", "dds", "zenoh"];
        let mut found = names.map(|_| Vec::new());
        for _ in 0..TURNS {
            for (name, found) in names.into_iter().zip(&mut found) {
                found.push(evenness(&run(&placement, name, &load, 12)?));
            }
        }
        let floor: Vec<f64> = found[0].iter().map(|(_, _, variance)| *variance).collect();
        for (name, found) in names.into_iter().zip(found) {
            let lost: u64 = found.iter().map(|(lost, ..)| lost).sum();
            let mean = median(&found.iter().map(|(_, mean, _)| *mean).collect::<Vec<f64>>());
            let variances: Vec<f64> = found.iter().map(|(.., variance)| *variance).collect();
            let ratios: Vec<f64> =
                variances.iter().zip(&floor).map(|(own, tcp)| own / tcp).collect();
            let ratio = median(&ratios);
            let variance = format!("{:.4} ({})", median(&variances), range(&variances, 4));
            let beside = match name {
                "tcp" => String::new(),
                _ => format!(", {ratio:.1} times TCP's ({})", range(&ratios, 1)),
            };
            findings.push(Finding {
                what: format!("{name}, {}, 1 Gbit/s", load.id()),
                found: format!("{lost} lost, {mean:.2} MB/s, variance {variance}{beside}"),
                wanted: "0 lost, 99.9–100.1 MB/s, at most 2 times TCP's",
                met: lost == 0 && (mean - 100.0).abs() < 0.1 && ratio <= 2.0,
            });
        }
    }
    Ok(findings)
}

/// What was lost, MB/s, and the variance of undisturbed windows.
fn evenness(record: &RunRecord) -> (u64, f64, f64) {
    let windows = &record.received[0].windows;
    let counted: Vec<&Window> = counted_windows(windows).iter().collect();
    let all: Vec<f64> = undisturbed(&counted).into_iter().map(throughput).collect();
    (lost(record), Arrival::from_windows(windows).throughput(), variance(&all).unwrap_or(f64::NAN))
}

/// From the least to the most, with so many decimals.
fn range(values: &[f64], decimals: usize) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{least:.decimals$}–{most:.decimals$}")
}

/// The median of ratios as a percentage, and from the least to the most.
fn percents(ratios: &[f64], decimals: usize) -> String {
    let percents: Vec<f64> = ratios.iter().map(|ratio| ratio * 100.0).collect();
    format!("{:.decimals$} % ({})", median(&percents), range(&percents, decimals))
}

/// As much as gets through an emulated gigabit, beside iperf3.
fn unthrottled() -> Result<Vec<Finding>> {
    let emulation = Emulation::build("1gbit".parse()?)?;
    let placement = Placement::emulated(&emulation);
    let load = Load::new(1_000_000, Duration::ZERO, Mode::Continuous);
    let wanted = [("tcp", 0.95, "at least 95 %"), ("zenoh", 0.95, "at least 95 %")];
    let wanted = wanted.into_iter().chain([("dds", 0.9, "at least 90 %")]);
    let mut ratios: Vec<_> = wanted.map(|wanted| (wanted, Vec::new())).collect();
    for _ in 0..TURNS {
        let theirs = iperf3(&emulation)?;
        for ((name, ..), ratios) in &mut ratios {
            ratios.push(mean_throughput(&run(&placement, name, &load, 8)?) / theirs);
        }
    }
    let finding =
        |((name, least, wanted), ratios): ((&str, f64, &'static str), Vec<f64>)| Finding {
            what: format!("{name}, unthrottled over 1 Gbit/s, beside iperf3"),
            found: percents(&ratios, 1),
            wanted,
            met: median(&ratios) >= least,
        };
    Ok(ratios.into_iter().map(finding).collect())
}

/// Throughput by iperf3 in MB/s.
fn iperf3(emulation: &Emulation) -> Result<f64> {
    let start = |host: &Host, words: &str| -> Result<Child> {
        let mut command = tool("iperf3", words);
        host.enter(&mut command)?;
        command.spawn().context("iperf3 is not installed; apt-get install iperf3")
    };
    let server = start(&emulation.receiver, "-s -1")?;
    std::thread::sleep(Duration::from_millis(300));
    let address = emulation.receiver.address();
    let client = start(&emulation.sender, &format!("-c {address} -t 5 -f m"))?;
    let said = output_of(client)?;
    let _ = output_or_kill(server);
    let line = said.lines().find(|line| line.contains("receiver")).unwrap_or_default();
    let rates = numbers(line, "MBytes ", " Mbits/sec");
    ensure!(!rates.is_empty(), "iperf3 says {said:?}");
    Ok(median(&rates) / 8.0)
}

/// One after the other to start, and what both said.
fn run_pair(program: &str, first: &str, second: &str) -> Result<(String, String)> {
    let start = |words: &str| {
        let child = tool(program, words).spawn();
        child.with_context(|| format!("{program} is not here; apt-get install cyclonedds-tools"))
    };
    let first = start(first)?;
    let second = start(second)?;
    let second = output_of(second)?;
    Ok((output_of(first)?, second))
}

fn tool(program: &str, words: &str) -> Command {
    let mut command = Command::new(program);
    command.args(words.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn output_of(child: Child) -> Result<String> {
    Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned())
}

fn output_or_kill(mut child: Child) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(2);
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The numbers that stand between these words, one a line at most.
fn numbers(text: &str, before: &str, after: &str) -> Vec<f64> {
    let number = |line: &str| {
        let (_, rest) = line.split_once(before)?;
        rest.split_once(after)?.0.trim().parse().ok()
    };
    text.lines().filter_map(number).collect()
}

fn run(placement: &Placement, name: &str, load: &Load, seconds: u64) -> Result<RunRecord> {
    run_as(placement, name, load, seconds, &[])
}

/// With these choices said to the transport.
fn run_as(
    placement: &Placement,
    name: &str,
    load: &Load,
    seconds: u64,
    choices: &[(&str, &str)],
) -> Result<RunRecord> {
    let times = (Duration::from_secs(seconds), Duration::from_secs(1), 1000);
    run_for(placement, name, load, times, choices)
}

/// For this time in windows of that, after so many round trips.
fn run_for(
    placement: &Placement,
    name: &str,
    load: &Load,
    (duration, window, round_trips): (Duration, Duration, u64),
    choices: &[(&str, &str)],
) -> Result<RunRecord> {
    let entry = all().into_iter().find(|entry| entry.id == name).context("no such transport")?;
    eprintln!("{name}, {}", load.id());
    let program = Program::prepare(entry.engine(), &build_folder()?, &|_, _, _| {})?;
    let terms = RunSettings {
        duration,
        window,
        patience: Duration::from_secs(5),
        announced: false,
        round_trips,
        alive: DEFAULT_SILENCE_LIMIT,
        realtime: Default::default(),
        background: Default::default(),
        seed: 1,
        choices: choices
            .iter()
            .map(|(name, value)| TransportOption {
                transport: entry.transport().into(),
                name: name.to_string(),
                value: value.to_string(),
            })
            .collect(),
    };
    let trial =
        Trial { placement, load, entry: &entry, program: &program, coding: None, settings: &terms };
    trial.run(&|_| {}, None)?.0.require_complete()
}

fn lost(record: &RunRecord) -> u64 {
    record.sent.due.unwrap_or(record.sent.samples) - record.received[0].samples
}

fn mean_throughput(record: &RunRecord) -> f64 {
    Arrival::from_windows(&record.received[0].windows).throughput()
}
