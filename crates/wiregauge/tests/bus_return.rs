//! A machine of a scenario that is lost and comes back, and one that comes late.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use support::machine::{all_arrived, Machine, PAIR};
use support::{fact, has_its_form, result, wiregauge};
use wiregauge_bus::machines::message::{version, AgentReport, JoinMessage};
use wiregauge_bus::scenario::Scenario;

const LOADS: [&str; 3] =
    ["500 B, 20 ms, continuous", "600 B, 20 ms, continuous", "700 B, 20 ms, continuous"];

/// Three loads, the first long enough to be disturbed with windows that count. Nobody is lost for
/// having no processor on a loaded machine.
fn scenario() -> String {
    scenario_with_silence("4s", "20s")
}

/// The same with loads of another length, where who is silent for so long is lost.
fn scenario_with_silence(duration: &str, limit: &str) -> String {
    let begin = PAIR.find("[[load]]").unwrap();
    let end = PAIR.find("[[participant]]").unwrap();
    let load = |size| format!("[[load]]\nsize = {size}\ncycle = \"20ms\"\n\n");
    let loads: String = [500, 600, 700].into_iter().map(load).collect();
    let head = PAIR[..begin].replace("timeout = \"1s\"\n", "round_trips = 0\n");
    let times = format!("\"{duration}\"\nalive_within = \"{limit}\"");
    let head = head.replace("\"2s\"", &times).replace("250ms", "100ms");
    format!("{head}{loads}{}", &PAIR[end..])
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A leader with these words besides, and the address at which it waits.
fn lead(folder: &Path, scenario: &str, words: &[&str]) -> (Machine, String) {
    let words = [&["--name", "alpha"], words].concat();
    let leader = Machine::start(wiregauge(), folder, scenario, &words);
    let line = leader.hears("waiting for");
    let at = line.rsplit(' ').next().unwrap().to_owned();
    (leader, at)
}

/// The first load failed or broke off, and the others went well.
fn others_went_well(folder: &Path, reason: &str) {
    let run = result(folder);
    has_its_form(&run);
    let warnings = run["warnings"].as_array().unwrap();
    let failed: Vec<&Value> = warnings.iter().filter(|w| w["code"] == "failed").collect();
    assert_eq!(failed.len(), 1, "{warnings:?}");
    let text = failed[0]["text"].as_str().unwrap();
    assert!(text.contains(LOADS[0]) && text.contains(reason), "{text}");
    for case in &LOADS[1..] {
        all_arrived(&run, case, "tcp");
    }
}

/// Waits until the participants are there, and windows of theirs that count.
fn in_the_middle(machine: &Machine) {
    machine.started();
    thread::sleep(Duration::from_millis(1500));
}

#[test]
fn an_agent_that_was_silent_comes_back_by_itself() {
    let (here, there) = (folder(), folder());
    let scenario = scenario_with_silence("9s", "4s");
    let (mut leader, at) = lead(here.path(), &scenario, &[]);
    let mut agent = Machine::join(there.path(), &scenario, "beta", &at);
    in_the_middle(&agent);
    agent.signal("-STOP");
    let told = leader.hears("is lost");
    assert!(told.contains("silent for 4s") && told.contains("waiting up to 30s"), "{told}");
    agent.signal("-CONT");
    agent.hears("trying to reach it again for 30s");
    leader.hears("beta is back from 127.0.0.1");
    agent.hears("joined the leading machine");
    leader.expect_code(1);
    agent.expect_code(0);
    others_went_well(here.path(), "the machine of beta");
    // What it had of the first load stays.
    let run = result(here.path());
    if fact(&run, LOADS[0], "tcp", "complete").is_some() {
        assert!(fact(&run, LOADS[0], "tcp", "throughput") > Some(0.0));
    }
}

#[test]
fn an_agent_that_is_started_again_may_join_with_the_key_only() {
    let (here, there) = (folder(), folder());
    let key = |folder: &Path, digit: &str| {
        let path = folder.join("bus.key");
        std::fs::write(&path, digit.repeat(64)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let (ours, stranger) = (key(here.path(), "a"), folder());
    let theirs = key(stranger.path(), "b");
    let (mut leader, at) = lead(here.path(), &scenario(), &["--key", &ours]);
    let join = |folder: &Path, key: &str| {
        let words = ["--name", "beta", "--peer", &at, "--key", key];
        Machine::start(wiregauge(), folder, &scenario(), &words)
    };
    let agent = join(there.path(), &ours);
    in_the_middle(&agent);
    agent.signal("-KILL");
    leader.hears("is lost");
    let mut other = join(stranger.path(), &theirs);
    other.hears("does not have this key");
    other.expect_code(2);
    let mut again = join(there.path(), &ours);
    leader.hears("beta is back");
    leader.expect_code(1);
    again.expect_code(0);
    others_went_well(here.path(), "the machine of beta");
}

#[test]
fn one_that_does_not_come_back_is_waited_for_once() {
    let (here, there) = (folder(), folder());
    let (mut leader, at) = lead(here.path(), &scenario(), &["--return-within", "1s"]);
    let agent = Machine::join(there.path(), &scenario(), "beta", &at);
    in_the_middle(&agent);
    agent.signal("-KILL");
    leader.hears("waiting up to 1s for it to come back");
    let last = leader.hears("is lost");
    assert!(!last.contains("waiting"), "it is waited for again: {last}");
    leader.expect_code(1);
    let run = result(here.path());
    let warnings = run["warnings"].as_array().unwrap();
    let failed = warnings.iter().filter(|w| w["code"] == "failed").count();
    assert_eq!(failed, 3, "{warnings:?}");
}

#[test]
fn who_comes_late_is_told_that_the_runs_have_begun() {
    let (here, there, late) = (folder(), folder(), folder());
    let (mut leader, at) = lead(here.path(), &scenario(), &[]);
    let mut agent = Machine::join(there.path(), &scenario(), "beta", &at);
    agent.started();
    let mut other = Machine::join(late.path(), &scenario(), "beta", &at);
    let told = other.hears("refuses");
    assert!(told.contains("the runs have begun"), "{told}");
    other.expect_code(2);
    // Who knows nothing is told no more than that.
    let join = JoinMessage {
        version: version(),
        names: vec!["beta".into()],
        scenario: Default::default(),
        address: [127, 0, 0, 1].into(),
        machine: String::new(),
    };
    let stream = TcpStream::connect(&at).unwrap();
    writeln!(&stream, "{}", serde_json::to_string(&AgentReport::Join(join)).unwrap()).unwrap();
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).unwrap();
    assert!(reply.contains("the runs have begun"), "{reply}");
    leader.expect_code(0);
    agent.expect_code(0);
    let scenario = Scenario::read(&here.path().join("two.toml")).unwrap();
    assert_eq!(scenario.loads.len(), LOADS.len());
}
