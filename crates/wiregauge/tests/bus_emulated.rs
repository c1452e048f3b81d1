//! The bus between two hosts that this machine emulates: what crosses the link,
//! what happens when it is cut, and that nothing of it stays behind.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use support::machine::Machine;
use support::{build_folder, fact, has_its_form, result, run, status, to_said, wiregauge};
use wiregauge_build_tools::write_script;
use wiregauge_bus::background::Background;
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::catalogue::Reach;
use wiregauge_bus::conduct::conductor::conduct;
use wiregauge_bus::placement::emulation::{Emulation, Host};
use wiregauge_bus::placement::Placement;
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::transports::dds;
use wiregauge_participant::control::{Assignment, Mode, Role};
use wiregauge_participant::transport::Topic;
use wiregauge_testkit::prerequisites::{unshare, CLOCK, HOSTS};

/// A guard that keeps the tests apart, as namespaces are found by numbers that
/// the kernel gives again; none where emulation is left out.
#[track_caller]
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    HOSTS.is_met().then_some(guard)
}

/// Sends over these transports in both modes, and expects all to arrive.
fn carries(transports: &[&str], receivers: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (names, participants) = (transports.join(","), (receivers + 1).to_string());
    let words = ["bus", "run", "--emulate", "100mbit", "--mode", "both", "--cycle", "20ms"];
    let words = [&words[..], &["--duration", "2s", "--window", "250ms", "--size", "10,100kB"]];
    let words = [&words.concat()[..], &["--transport", &names, "--participants", &participants]];
    let said = run(folder.path(), &words.concat());
    said.expect_code(0);
    let run = result(folder.path());
    for case in run["cases"].as_array().unwrap() {
        let case = case["id"].as_str().unwrap();
        for subject in transports.iter().filter(|subject| **subject != "memory") {
            let fact = |metric| fact(&run, case, subject, metric);
            assert!(fact("sent") > Some(0.0), "{subject} at {case}");
            assert_eq!(fact("lost"), Some(0.0), "{subject} at {case}");
            let bad = ["repeated", "damaged", "foreign"].map(fact);
            assert_eq!(bad, [None; 3], "{subject} at {case}");
        }
        // Who reads a figure knows of what.
        for words in ["tbf rate 100mbit burst 64k limit 2mb", "two hosts emulated"] {
            assert!(said.out.contains(words), "{}", said.out);
        }
    }
    if transports.contains(&"memory") {
        assert!(status(&run, "memory").contains("within one process"), "{run}");
    }
    has_its_form(&run);
}

#[test]
fn tcp_crosses_the_link_and_memory_does_not() {
    let Some(_alone) = alone() else { return };
    carries(&["tcp", "memory"], 2);
}

#[test]
fn dds_and_zenoh_find_each_other_over_the_link() {
    let Some(_alone) = alone() else { return };
    carries(&["dds", "fastdds", "zenoh"], 1);
}

/// How far the clock of the second host is ahead, in seconds.
const AHEAD: i64 = 100_000;

/// A sender and a receiver on each of two hosts.
const TWO_SENDERS: &str = r#"
duration = "1s"
window = "140ms"
round_trips = 20
alive_within = "60s"
transports = ["tcp", "dds", "fastdds", "zenoh"]
listen = "10.0.0.1:0"

[[load]]
size = "500"
cycle = "10ms"
topics = 2

[[load]]
size = "500"
cycle = "10ms"
mode = "discrete"

[[participant]]
name = "alpha"
role = "sender"

[[participant]]
name = "beta"
role = "sender"

[[participant]]
name = "gamma"
role = "receiver"

[[participant]]
name = "delta"
role = "receiver"
"#;

#[test]
fn senders_on_two_hosts_keep_the_time_of_the_first() {
    let Some(_alone) = alone() else { return };
    if !CLOCK.is_met() {
        return;
    }
    let emulation = Emulation::build("1gbit".parse().unwrap()).unwrap();
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut leads = wiregauge();
    leads.current_dir(here.path());
    emulation.sender.enter(&mut leads).unwrap();
    let own = ["--name", "alpha,gamma"];
    let mut leader = Machine::start(leads, here.path(), TWO_SENDERS, &own);
    let line = leader.hears("waiting for beta, delta");
    let mut joins = unshare(&["--time", "--monotonic", &AHEAD.to_string()]);
    joins.args(["--fork", "--kill-child"]).arg(wiregauge().get_program());
    joins.env("WIREGAUGE_BUILD", build_folder()).current_dir(there.path());
    emulation.receiver.enter(&mut joins).unwrap();
    let words = ["--name", "beta,delta", "--peer", line.rsplit(' ').next().unwrap()];
    let mut agent = Machine::start(joins, there.path(), TWO_SENDERS, &words);
    leader.expect_code(0);
    agent.expect_code(0);
    let run = result(here.path());
    has_its_form(&run);
    let both = "4 participants, 2 senders";
    for (case, topics) in [
        (format!("500 B, 10 ms, continuous, {both}, 2 topics each"), 4.0),
        (format!("500 B, 10 ms, discrete, {both}"), 2.0),
    ] {
        for subject in ["tcp", "dds", "fastdds", "zenoh"] {
            let fact = |metric| fact(&run, &case, subject, metric);
            let known = |metric| fact(metric).unwrap_or_else(|| panic!("{metric}: {subject}"));
            assert_eq!((known("senders"), known("topics")), (2.0, topics), "{subject} at {case}");
            let all = known("sent") + fact("unsent").unwrap_or(0.0);
            assert_eq!(all, 100.0 * topics, "{subject} at {case}");
            let bad = ["lost", "reordered"].map(fact);
            assert_eq!(bad, [Some(0.0); 2], "{subject} at {case}");
            let bad = ["repeated", "damaged", "foreign", "timeouts"].map(fact);
            assert_eq!(bad, [None; 4], "{subject} at {case}");
            // Their true clock is known: it is the first one's, and so much ahead.
            assert_eq!(known("clock/apart"), 2.0, "beta and delta");
            for (offset, uncertainty) in [
                ("clock/offset", "clock/uncertainty"),
                ("clock/sender/offset", "clock/sender/uncertainty"),
            ] {
                let off = known(offset) + AHEAD as f64 * 1e9;
                assert!(off.abs() <= known(uncertainty), "{offset}: {off}, {subject} at {case}");
            }
            // Both clocks are uncertain.
            assert!(known("clock/uncertainty") > known("clock/sender/uncertainty"));
            if case.contains("discrete") {
                // A sample is sent and has come within its step.
                let longest = known("step/max") + known("clock/uncertainty");
                assert!(known("latency/p50") <= longest, "{subject}: {}", known("latency/p50"));
            }
            // Far from the offset: a machine that is slow is allowed for.
            assert!(known("latency/max") < 60e9, "{subject} at {case}");
            assert!(known("write/max") < 60e9, "{subject} at {case}");
        }
    }
}

#[test]
fn as_much_as_gets_through_is_no_more_than_the_link_carries() {
    let Some(_alone) = alone() else { return };
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--emulate", "100mbit", "--cycle", "0", "--size", "100kB"];
    let more = ["--duration", "2s", "--window", "250ms", "--transport", "tcp"];
    let began = Instant::now();
    let said = run(folder.path(), &[&words[..], &more].concat());
    let seconds = began.elapsed().as_secs_f64();
    said.expect_code(0);
    let run = result(folder.path());
    let fact = |metric| fact(&run, "100 kB, unthrottled, continuous", "tcp", metric).unwrap();
    // All that was sent arrived, and the whole command took this long at least.
    assert_eq!(fact("lost"), 0.0);
    assert!(fact("sent") * 1e5 * 8.0 <= 1e8 * seconds, "{} in {seconds} s", fact("sent"));
}

/// Moves bytes from a host to another, and tells how long it took.
fn transfer(from: &Host, to: &Host, size: usize) -> Duration {
    let listener = to.run_inside(|| TcpListener::bind((to.address(), 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let receives = thread::spawn(move || {
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        received.len()
    });
    let began = Instant::now();
    let mut stream = from.run_inside(|| TcpStream::connect(address)).unwrap().unwrap();
    stream.write_all(&vec![1; size]).unwrap();
    drop(stream);
    assert_eq!(receives.join().unwrap(), size);
    began.elapsed()
}

#[test]
fn the_rate_holds_in_both_directions_and_links_do_not_meet() {
    let Some(_alone) = alone() else { return };
    let fast = Emulation::build("1gbit".parse().unwrap()).unwrap();
    let slow = Emulation::build("50mbit".parse().unwrap()).unwrap();
    // But for the 64 KiB that may pass at once; headers come on top.
    let least = |size: usize| Duration::from_secs_f64((size - 65536) as f64 * 8.0 / 50e6);
    for (from, to) in [(&slow.sender, &slow.receiver), (&slow.receiver, &slow.sender)] {
        let (size, took) = (2_000_000, transfer(from, to, 2_000_000));
        assert!(took >= least(size), "{took:?} for {size} B");
    }
    // Same addresses, but another world.
    let listener = slow.receiver.run_inside(|| TcpListener::bind((slow.receiver.address(), 0)));
    let address: SocketAddr = listener.unwrap().unwrap().local_addr().unwrap();
    assert!(fast.sender.run_inside(|| TcpStream::connect(address)).unwrap().is_err());
    slow.cut().unwrap();
    transfer(&fast.sender, &fast.receiver, 1000);
    slow.restore().unwrap();
    transfer(&slow.sender, &slow.receiver, 1000);
}

/// What a command prints that runs in a host.
fn prints(host: &Host, words: &[&str], folder: Option<&Path>) -> String {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    host.enter(&mut command).unwrap();
    let said = to_said(command.output().unwrap());
    assert_eq!(said.code, Some(0), "{words:?}: {}", said.err);
    said.out
}

#[test]
fn any_command_runs_in_a_host_with_shared_memory_of_its_own() {
    let Some(_alone) = alone() else { return };
    let Emulation { sender, receiver, .. } = Emulation::build("1gbit".parse().unwrap()).unwrap();
    for host in [&sender, &receiver] {
        let shown = prints(host, &["ip", "-brief", "address"], None);
        assert!(shown.contains(&format!("{}/24", host.address())), "{shown}");
        assert!(shown.contains("127.0.0.1") && shown.lines().count() == 2, "{shown}");
    }
    let folder = tempfile::tempdir().unwrap();
    let at = prints(&sender, &["pwd"], Some(folder.path()));
    assert_eq!(Path::new(at.trim()), folder.path().canonicalize().unwrap());
    for kind in ["net", "ipc", "mnt"] {
        let link = format!("/proc/self/ns/{kind}");
        let of = |host| prints(host, &["readlink", &link], None).trim().to_owned();
        let own = fs::read_link(&link).unwrap().display().to_string();
        assert_eq!(BTreeSet::from([own, of(&sender), of(&receiver)]).len(), 3, "{kind}");
    }
    let name = format!("/dev/shm/wiregauge-{}", std::process::id());
    prints(&sender, &["touch", &name], None);
    assert_eq!(prints(&sender, &["ls", "/dev/shm"], None).lines().count(), 1);
    assert_eq!(prints(&receiver, &["ls", "/dev/shm"], None), "");
    assert!(!Path::new(&name).exists());
}

/// Waits until some samples have come to a host.
fn carries_samples(host: &Host) {
    let begun = Instant::now();
    let received = || -> u64 {
        let table = host.run_inside(|| fs::read_to_string("/proc/thread-self/net/dev"));
        let table = table.unwrap().unwrap();
        let link = table.lines().skip(2).find(|line| !line.trim().starts_with("lo:")).unwrap();
        link.split_once(':').unwrap().1.split_whitespace().next().unwrap().parse().unwrap()
    };
    let before = received();
    while received() < before + 50_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing comes over the link");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Runs over TCP at a millisecond for three seconds, and cuts the link for one.
fn interrupted(mode: Mode) -> anyhow::Result<RunRecord> {
    let folder = tempfile::tempdir().unwrap();
    // Another program than this test takes part.
    let script = folder.path().join("participant");
    let program = env!("CARGO_BIN_EXE_wiregauge");
    let text = format!("#!/bin/sh\nexec '{program}' bus participant \"$@\"\n");
    write_script(&script, &text).unwrap();
    let emulation = Emulation::build("100mbit".parse().unwrap()).unwrap();
    let placement = Placement::emulated(&emulation);
    let second = 1_000_000_000;
    let assignment = Assignment {
        role: Role::Receiver,
        transport: "tcp".into(),
        topic: Topic {
            several: None,
            name: "cut".into(),
            size: 500,
            varies: false,
            bind: emulation.sender.address(),
            readers: 1,
            token: String::new(),
            scratch: None,
            options: Default::default(),
        },
        seed: 1,
        mode,
        cycle: second / 1000,
        fast: false,
        duration: 3 * second,
        window: second / 4,
        announced: false,
        patience: second / 4,
        round_trips: 0,
        // As long as a busy machine may stand still.
        alive: 30 * second,
        realtime: Default::default(),
        coding: None,
        keep: 0,
    };
    let show = |state: &str| {
        if state == "running" {
            let emulation = emulation.clone();
            thread::spawn(move || {
                // Before all of them have started, nobody could.
                carries_samples(&emulation.receiver);
                emulation.cut().unwrap();
                thread::sleep(Duration::from_secs(1));
                emulation.restore().unwrap();
            });
        }
    };
    let plans = placement.plans(1, Reach::Network);
    conduct(
        &placement,
        &Program::Engine(&dds::ENGINE, script),
        plans,
        &assignment,
        Background::default(),
        &show,
        None,
    )
}

#[test]
fn a_link_that_is_cut_for_a_second_is_told_by_the_figures() {
    let Some(_alone) = alone() else { return };
    let record = interrupted(Mode::Continuous).unwrap();
    let received = &record.received[0];
    // What was sent meanwhile came when the link was back.
    assert_eq!(received.samples, record.sent.samples);
    assert!(received.latency.most > 500_000_000, "{:?}", received.latency.most);
    // How many the kernel takes before it has the sender wait is its own affair.
    assert!(received.late > 0);

    let record = interrupted(Mode::Discrete).unwrap();
    assert!(record.sent.timeouts > 0, "{:?}", record.sent);
    assert!(record.sent.step.count > 500, "it goes on: {:?}", record.sent);
}

/// The processes below one, and itself.
fn family(of: &Child) -> Vec<i32> {
    [vec![of.id() as i32], support::children(of)].concat()
}

/// The namespaces of a process that are not ours.
fn foreign(id: i32) -> BTreeSet<String> {
    let of = |process: &str, kind: &str| fs::read_link(format!("/proc/{process}/ns/{kind}")).ok();
    ["net", "ipc", "mnt"]
        .iter()
        .filter(|kind| of("self", kind) != of(&id.to_string(), kind))
        .filter_map(|kind| Some(of(&id.to_string(), kind)?.display().to_string()))
        .collect()
}

/// Who keeps one of these namespaces there: by being in it, by a descriptor, or
/// by a mount.
fn keeper(namespaces: &BTreeSet<String>) -> Option<String> {
    let links = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    for process in links(Path::new("/proc")) {
        let mut folders = vec![process.path().join("fd")];
        folders.extend(links(&process.path().join("task")).map(|task| task.path().join("ns")));
        for link in folders.iter().flat_map(|folder| links(folder)) {
            let Ok(target) = fs::read_link(link.path()) else { continue };
            if namespaces.contains(&target.display().to_string()) {
                return Some(format!("{} is {}", link.path().display(), target.display()));
            }
        }
        let mounts = fs::read_to_string(process.path().join("mountinfo")).unwrap_or_default();
        if let Some(line) = mounts.lines().find(|line| namespaces.iter().any(|n| line.contains(n)))
        {
            return Some(line.to_owned());
        }
    }
    None
}

/// A run of a minute, killed if it is still there in the end.
struct Long(Child);

impl Drop for Long {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nothing_stays_behind_however_it_ends() {
    let Some(_alone) = alone() else { return };
    let interfaces = || fs::read_dir("/sys/class/net").unwrap().count();
    let before = interfaces();
    for signal in ["-INT", "-KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let mut long = Long(
            wiregauge()
                .args(["bus", "run", "--emulate", "1gbit", "--transport", "tcp"])
                .args(["--duration", "60s"])
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        );
        let began = Instant::now();
        let (family, namespaces) = loop {
            assert!(began.elapsed() < Duration::from_secs(60), "the participants never came up");
            thread::sleep(Duration::from_millis(300));
            let family = family(&long.0);
            let namespaces: BTreeSet<String> = family.iter().flat_map(|id| foreign(*id)).collect();
            // The conductor and two participants on two hosts.
            if family.len() >= 3 && namespaces.len() == 6 {
                break (family, namespaces);
            }
        };
        assert!(keeper(&namespaces).is_some(), "they are not found while they are there");
        let id = long.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let code = long.0.wait().unwrap().code();
        assert_eq!(code, (signal == "-INT").then_some(130));
        let ended = Instant::now();
        let left = || {
            let runs = family.iter().find(|id| !support::is_gone(**id));
            let process = runs.map(|id| format!("process {id} runs"));
            process.or_else(|| keeper(&namespaces))
        };
        while let Some(left) = left() {
            assert!(ended.elapsed() < support::END_PATIENCE, "{signal}: {left}");
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(interfaces(), before, "interfaces of the machine itself");
    }
}

/// Runs with an emulated link in another situation, and expects one line with
/// these words.
fn refuses(situation: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let command = wiregauge();
    let output = Command::new(situation[0])
        .args(&situation[1..])
        .arg(command.get_program())
        .args(["bus", "run", "--emulate", "1gbit", "--transport", "tcp"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = to_said(output);
    said.expect_code(2);
    assert_eq!(said.err.trim_end().lines().count(), 1, "{}", said.err);
    for word in words {
        assert!(said.err.contains(word), "no '{word}' in {}", said.err);
    }
    assert!(!folder.path().join("run.json").exists());
}

#[test]
fn without_the_right_or_the_tools_it_says_so() {
    let Some(_alone) = alone() else { return };
    let powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    refuses(&powerless, &["CAP_SYS_ADMIN", "CAP_NET_ADMIN", "as root"]);
    // Where the tools are, there is nothing.
    let hide = "mount -t tmpfs none \"$(dirname \"$(command -v ethtool)\")\" && exec \"$@\"";
    refuses(
        &["unshare", "--mount", "sh", "-c", hide, "sh"],
        &["is not installed; apt-get install"],
    );
}

#[test]
fn what_is_no_rate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for rate in ["fast", "1gb", "0mbit", "125mbps"] {
        let said = run(folder.path(), &["bus", "run", "--emulate", rate]);
        said.expect_code(2);
        assert!(said.err.contains(rate) && said.err.contains("gbit"), "{}", said.err);
    }
}
