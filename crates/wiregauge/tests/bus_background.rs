//! What loads the hosts beside a run of the bus: that it is there, measured and told, and
//! that nothing of it stays.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use support::machine::{all_arrived, Machine, PAIR};
use support::{
    fact, has_its_form, is_gone, processes_below, refuses, result, run, send_signal, wiregauge,
};
use wiregauge_testkit::prerequisites::HOSTS;

const CASE: &str = "500 B, 5 ms, discrete";

/// The scenario of a pair with one load, and this background.
fn scenario(background: &str) -> String {
    let (head, rest) = PAIR.split_once("[[load]]\nsize = \"100kB\"").unwrap();
    let participants = &rest[rest.find("[[participant]]").unwrap()..];
    format!("{head}\n[background]\n{background}\n\n{participants}")
}

/// The processes that load this machine for a command that runs in this folder.
fn loading(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
    ids.filter(|id: &i32| {
        let at = Path::new("/proc").join(id.to_string());
        let line = fs::read(at.join("cmdline")).unwrap_or_default();
        let here = fs::read_link(at.join("cwd")).is_ok_and(|cwd| cwd == folder);
        here && String::from_utf8_lossy(&line).contains("--load-machine") && !is_gone(*id)
    })
    .collect()
}

/// Waits until there is one.
fn await_loading(folder: &Path) -> i32 {
    let begun = Instant::now();
    loop {
        if let Some(id) = loading(folder).first() {
            return *id;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing loads this machine");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until nothing that ran in this folder is left.
fn await_nothing(folder: &Path) {
    let begun = Instant::now();
    while processes_below(folder) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "a process was left behind");
        thread::sleep(Duration::from_millis(20));
    }
}

fn start(folder: &Path, words: &[&str]) -> Child {
    let mut command: Command = wiregauge();
    command.args(["bus", "run", "--transport", "tcp", "--background", "processors=1"]);
    command.args(words).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn busy_loops_run_beside_samples_and_are_measured_and_compared() {
    let at = tempfile::tempdir().unwrap();
    fs::write(at.path().join("two.toml"), scenario("processors = 1")).unwrap();
    let said = run(at.path(), &["bus", "run", "--scenario", "two.toml"]);
    said.expect_code(0);
    assert!(said.out.contains("background load: 1 busy loop on each host"), "{}", said.out);
    let mut found = result(at.path());
    has_its_form(&found);
    all_arrived(&found, CASE, "tcp");
    let taken = fact(&found, CASE, "tcp", "background/processors").unwrap();
    assert!(taken > 0.0 && taken < 1.01, "{taken}");
    assert_eq!(fact(&found, CASE, "tcp", "background/sent"), None);
    // Held against the same without it.
    assert_eq!(found["settings"]["background"], "1 busy loop on each host");
    found["settings"].as_object_mut().unwrap().remove("background");
    has_its_form(&found);
    fs::write(at.path().join("quiet.json"), found.to_string()).unwrap();
    let said = run(at.path(), &["compare", "quiet.json", "run.json"]);
    let differ = said.out.split_once("The settings differ").expect("they differ").1;
    assert!(differ.contains("1 busy loop on each host"), "{}", said.out);
    let page = run(at.path(), &["report", "run.json", "-o", "page.html"]);
    page.expect_code(0);
    let page = fs::read_to_string(at.path().join("page.html")).unwrap();
    assert!(page.contains("<dt>background</dt><dd>1 busy loop on each host</dd>"));
}

#[test]
fn a_flow_goes_to_another_machine_and_ends_with_the_leader() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let both = scenario("processors = 1\nlink = \"5 Mbit/s\"");
    let (mut leader, port) = Machine::lead(here.path(), &both);
    let mut agent = Machine::join(there.path(), &both, "beta", &port);
    leader.expect_code(0);
    agent.expect_code(0);
    let found = result(here.path());
    all_arrived(&found, CASE, "tcp");
    let figure = |metric| fact(&found, CASE, "tcp", metric).unwrap();
    let (sent, arrived) = (figure("background/sent"), figure("background/arrived"));
    assert!(sent > 0.0 && sent < 5.2 && arrived > 0.0 && arrived <= sent, "{arrived} of {sent}");
    let taken = figure("background/processors");
    assert!(taken > 0.0 && taken < 1.01, "{taken}");

    let long = both.replace("\"2s\"", "\"60s\"");
    let (mut leader, port) = Machine::lead(here.path(), &long);
    let mut agent = Machine::join(there.path(), &long, "beta", &port);
    await_loading(here.path());
    await_loading(there.path());
    leader.signal("-KILL");
    leader.code();
    await_nothing(here.path());
    let begun = Instant::now();
    while !loading(there.path()).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the other machine is still loaded");
        thread::sleep(Duration::from_millis(20));
    }
    agent.signal("-INT");
    agent.code();
    await_nothing(there.path());
}

#[test]
fn a_flow_takes_its_share_of_an_emulated_link() {
    if !HOSTS.is_met() {
        return;
    }
    let at = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "tcp", "--cycle", "20ms", "--window", "100ms"];
    for (link, flow) in [("100mbit", "link=10mbit"), ("10mbit", "link=50mbit")] {
        let more = ["--duration", "1s", "--emulate", link, "--background", flow];
        let said = run(at.path(), &[&words[..], &more].concat());
        said.expect_code(0);
        let found = result(at.path());
        let figure = |metric| fact(&found, "500 B, 20 ms, continuous", "tcp", metric).unwrap();
        let (sent, arrived) = (figure("background/sent"), figure("background/arrived"));
        assert!(arrived > 0.0 && arrived <= sent, "{arrived} of {sent}");
        // More than the link carries cannot be there, and who reads the figures is told.
        if link == "10mbit" {
            assert!(arrived < 11.0, "{arrived}");
            assert!(said.out.contains("of 50.0 Mbit/s"), "{}", said.out);
        }
    }
}

#[test]
fn an_interruption_leaves_no_load() {
    for signal in ["-INT", "-KILL"] {
        let at = tempfile::tempdir().unwrap();
        let mut run = start(at.path(), &["--duration", "60s"]);
        await_loading(at.path());
        send_signal(signal, run.id() as i32);
        assert_eq!(run.wait().unwrap().code(), (signal == "-INT").then_some(130));
        await_nothing(at.path());
    }
}

/// It dies as soon as it is there, and when windows have been told that would count.
#[test]
fn a_load_that_dies_leaves_no_figures() {
    for after in [Duration::ZERO, Duration::from_secs(2)] {
        let at = tempfile::tempdir().unwrap();
        let run = start(at.path(), &["--duration", "60s", "--window", "100ms"]);
        let load = await_loading(at.path());
        thread::sleep(after);
        send_signal("-KILL", load);
        let begun = Instant::now();
        let output = run.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(50), "it is measured to the end");
        assert_eq!(output.status.code(), Some(1));
        let found = result(at.path());
        let failed = support::status(&found, "tcp");
        assert!(failed.contains("the background load is lost"), "{failed}");
        assert_eq!(found["facts"].as_array().map(Vec::len), Some(0));
    }
}

#[test]
fn what_cannot_load_anything_is_refused() {
    let at = tempfile::tempdir().unwrap();
    fs::write(at.path().join("two.toml"), scenario("link = \"5mbit\"")).unwrap();
    let words = ["link=5mbit needs a link", "--emulate"];
    refuses(at.path(), &["bus", "run", "--scenario", "two.toml"], &words);
    refuses(at.path(), &["bus", "run", "--background", "link=5mbit"], &words);
    let headroom = ["bus", "headroom", "--size", "500", "--background", "link=5mbit"];
    refuses(at.path(), &headroom, &words);
    fs::write(at.path().join("two.toml"), scenario("processors = 0")).unwrap();
    let words = ["two.toml:14", "1 to 256 busy loops"];
    refuses(at.path(), &["bus", "run", "--scenario", "two.toml"], &words);
    assert!(!at.path().join("run.json").exists());
}
