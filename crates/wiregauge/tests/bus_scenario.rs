//! A scenario on several machines, which here are processes that meet on
//! loopback: who may join, what arrives, and what becomes of it when one of
//! them is gone.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use support::machine::{all_arrived, ranks, ranks_of_senders, slurm, Machine, PAIR};
use support::{fact, has_its_form, is_gone, refuses, result, run, send_signal, status, wiregauge};
use wiregauge_bus::machines::message::{version, AgentReport, JoinMessage};
use wiregauge_bus::scenario::Scenario;
use wiregauge_testkit::prerequisites;

/// A second receiver.
const GAMMA: &str = "\n[[participant]]\nname = \"gamma\"\nrole = \"receiver\"\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_scenario_with_an_unknown_key_is_refused() {
    let at = folder();
    fs::write(at.path().join("two.toml"), format!("duraton = \"1s\"{PAIR}")).unwrap();
    let words = ["two.toml:1", "`duraton`", "`duration`", "`transports`"];
    refuses(at.path(), &["bus", "run", "--scenario", "two.toml"], &words);
    let participant = ["bus", "participant", "--scenario", "two.toml", "--name", "alpha"];
    refuses(at.path(), &participant, &words);
}

#[test]
fn a_scenario_runs_on_one_machine() {
    let at = folder();
    fs::write(at.path().join("two.toml"), format!("{PAIR}count = 2\n")).unwrap();
    let said = run(at.path(), &["bus", "run", "--scenario", "two.toml"]);
    said.expect_code(0);
    let run = result(at.path());
    for case in
        ["500 B, 5 ms, discrete, 3 participants", "100 kB, 5 ms, continuous, 3 participants"]
    {
        all_arrived(&run, case, "tcp");
    }
    // What the scenario says, the command line does not say besides.
    let said = support::run(at.path(), &["bus", "run", "--scenario", "two.toml", "--seed", "2"]);
    assert!(said.code == Some(2) && said.err.contains("--seed"), "{}", said.err);
}

#[test]
fn all_arrives_on_another_machine() {
    let (here, there) = (folder(), folder());
    let scenario = PAIR.replace("\"tcp\"", "\"tcp\", \"iceoryx2\"");
    let (mut leader, port) = Machine::lead(here.path(), &scenario);
    let mut agent = Machine::join(there.path(), &scenario, "beta", &port);
    leader.expect_code(0);
    agent.expect_code(0);
    let run = result(here.path());
    has_its_form(&run);
    for case in ["500 B, 5 ms, discrete", "100 kB, 5 ms, continuous"] {
        all_arrived(&run, case, "tcp");
    }
    assert!(status(&run, "iceoryx2").contains("within one machine"));
    assert!(run["cases"][0]["notes"].to_string().contains("beta at 127.0.0.1"));
    assert!(!there.path().join("run.json").exists(), "the result is the leader's");
}

#[test]
fn several_machines_take_part_and_some_participants_are_the_leaders_own() {
    let (here, there, elsewhere) = (folder(), folder(), folder());
    let scenario = format!("{PAIR}{GAMMA}{}", GAMMA.replace("gamma", "delta"));
    let mut leader = Machine::start(
        wiregauge(),
        here.path(),
        &scenario,
        &["--name", "delta,alpha", "--peer", "127.0.0.1"],
    );
    let line = leader.hears("waiting for beta, gamma");
    let at = line.rsplit(' ').next().unwrap();
    let mut beta = Machine::join(there.path(), &scenario, "beta", at);
    leader.hears("beta joined");
    leader.hears("waiting for gamma");
    let mut gamma = Machine::join(elsewhere.path(), &scenario, "gamma", at);
    leader.expect_code(0);
    beta.expect_code(0);
    gamma.expect_code(0);
    let run = result(here.path());
    all_arrived(&run, "500 B, 5 ms, discrete, 4 participants", "tcp");
    let rows = run["measurements"][0]["samples"].as_array().map(Vec::len);
    assert_eq!(rows, Some(3), "one row a receiver");
}

#[test]
fn who_does_not_belong_is_refused_and_the_leader_goes_on_waiting() {
    let (here, there) = (folder(), folder());
    let scenario = format!("{PAIR}{GAMMA}");
    let (mut leader, port) = Machine::lead(here.path(), &scenario);
    let mut beta = Machine::join(there.path(), &scenario, "beta", &port);
    leader.hears("beta joined");

    // A name that the scenario has not is known on the spot.
    let at = folder();
    fs::write(at.path().join("two.toml"), &scenario).unwrap();
    let words = ["bus", "participant", "--scenario", "two.toml", "--peer", &port, "--name"];
    refuses(at.path(), &[&words[..], &["epsilon"]].concat(), &["two.toml", "'epsilon'", "gamma"]);
    // To some machine, but to which?
    let homeless = ["bus", "participant", "--scenario", "two.toml", "--name", "beta"];
    refuses(at.path(), &homeless, &["--peer", "'alpha' runs", "that of beta"]);

    let refused = |scenario: &str, name: &str, words: &[&str]| {
        let at = folder();
        let mut agent = Machine::join(at.path(), scenario, name, &port);
        let (there, here) = (agent.hears("refuses"), leader.hears("refused"));
        agent.expect_code(2);
        for word in words {
            assert!(there.contains(word) && here.contains(word), "'{word}': {there}; {here}");
        }
    };
    refused(&scenario, "beta", &["'beta'", "already"]);
    // What differs is for the leader's eyes.
    let elsewhere = folder();
    let other = scenario.replace("\"2s\"", "\"3s\"");
    let mut agent = Machine::join(elsewhere.path(), &other, "gamma", &port);
    let (said, known) = (agent.hears("refuses"), leader.hears("refused"));
    agent.expect_code(2);
    assert!(said.contains("its scenario differs") && !said.contains("duration"), "{said}");
    assert!(known.contains("'duration' is '3s' there and '2s' here"), "{known}");

    // Of another version, and no agent at all.
    let join = r#"{"join":{"version":"0.9","names":["gamma"],"scenario":{},"address":"127.0.0.1","machine":""}}"#;
    let mut old = TcpStream::connect(&port).unwrap();
    writeln!(old, "{join}").unwrap();
    let mut reply = String::new();
    BufReader::new(old).read_line(&mut reply).unwrap();
    assert!(reply.contains("refused") && reply.contains("0.9"), "{reply}");
    let mut stranger = TcpStream::connect(&port).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(stranger.read(&mut [0; 8]).unwrap_or(0), 0);

    // One that leaves is waited for again.
    beta.signal("-INT");
    beta.expect_code(130);
    leader.hears("is lost");
    leader.hears("waiting for beta, gamma");
    let mut both = Machine::join(there.path(), &scenario, "beta,gamma", &port);
    leader.expect_code(0);
    both.expect_code(0);
    all_arrived(&result(here.path()), "500 B, 5 ms, discrete, 3 participants", "tcp");
}

/// A file with a key of this digit.
fn key(folder: &Path, digit: &str) -> String {
    let path = folder.join(format!("{digit}.key"));
    fs::write(&path, digit.repeat(64)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

#[test]
fn who_has_not_the_key_is_not_heard() {
    let (here, there) = (folder(), folder());
    let (ours, theirs) = (key(here.path(), "a"), key(there.path(), "b"));
    let words = ["--name", "alpha", "--key", &ours];
    let mut leader = Machine::start(wiregauge(), here.path(), PAIR, &words);
    let line = leader.hears("waiting for");
    let port = line.rsplit(' ').next().unwrap();
    let words = ["--name", "beta", "--peer", port];
    let mut stranger = TcpStream::connect(port).unwrap();
    stranger.write_all(&[b'x'; 1000]).unwrap();
    assert_eq!(stranger.read(&mut [0; 8]).unwrap_or(0), 0, "it is told something");
    let mut keyless = Machine::start(wiregauge(), there.path(), PAIR, &words);
    keyless.hears("--key");
    keyless.expect_code(2);
    let wrong = [&words[..], &["--key", &theirs]].concat();
    let mut wrong = Machine::start(wiregauge(), there.path(), PAIR, &wrong);
    wrong.hears("does not have this key");
    wrong.expect_code(2);
    let right = [&words[..], &["--key", &ours]].concat();
    let mut right = Machine::start(wiregauge(), there.path(), PAIR, &right);
    leader.hears("beta joined");
    leader.expect_code(0);
    right.expect_code(0);
    all_arrived(&result(here.path()), "500 B, 5 ms, discrete", "tcp");
}

#[test]
fn what_a_stranger_says_is_neither_obeyed_nor_answered_with_the_scenario() {
    let here = folder();
    let (leader, port) = Machine::lead(here.path(), PAIR);
    let scenario = Scenario::read(&here.path().join("two.toml")).unwrap().content();
    let join = || JoinMessage {
        version: version(),
        names: vec!["beta".into()],
        scenario: scenario.clone(),
        address: [127, 0, 0, 1].into(),
        machine: String::new(),
    };
    let ask = |join: JoinMessage| {
        let stream = TcpStream::connect(&port).unwrap();
        let line = serde_json::to_string(&AgentReport::Join(join)).unwrap();
        writeln!(&stream, "{line}").unwrap();
        let mut reply = String::new();
        BufReader::new(stream).read_line(&mut reply).unwrap();
        (reply, leader.hears("refused"))
    };
    let (reply, _) = ask(JoinMessage { names: Vec::new(), ..join() });
    assert!(reply.contains("names no participant"), "{reply}");
    let (reply, shown) = ask(JoinMessage { version: "\u{1b}[2J\nforged".into(), ..join() });
    assert!(!shown.contains('\u{1b}') && shown.contains("\\u{1b}[2J forged"), "{shown:?}");
    assert!(reply.contains("version"), "{reply}");
    let names = vec!["\u{1b}]0;x\u{7}".to_owned()];
    let (reply, shown) = ask(JoinMessage { names, ..join() });
    assert!(!shown.chars().any(char::is_control), "{shown:?}");
    assert!(!reply.contains("beta"), "{reply}");
    let (reply, _) = ask(JoinMessage { names: vec!["beta".into(); 100_000], ..join() });
    assert!(reply.contains("does not have") && !reply.contains("beta"), "{reply}");
    for key in scenario.keys() {
        let mut other = scenario.clone();
        other.insert(key.clone(), "?".into());
        let (reply, _) = ask(JoinMessage { scenario: other, ..join() });
        assert_eq!(reply.trim(), r#"{"refused":"its scenario differs"}"#);
    }
}

#[test]
fn nobody_is_waited_for_for_ever() {
    let at = folder();
    fs::write(at.path().join("two.toml"), PAIR).unwrap();
    let words = ["bus", "participant", "--scenario", "two.toml", "--wait", "1s", "--name"];
    let said = run(at.path(), &[&words[..], &["alpha"]].concat());
    said.expect_code(2);
    assert!(said.err.contains("beta did not join at 127.0.0.1:"), "{}", said.err);
    // A port at which nobody listens.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let said = run(at.path(), &[&words[..], &["beta", "--peer", &closed]].concat());
    said.expect_code(2);
    assert!(said.err.contains(&format!("no sender answered at {closed}")), "{}", said.err);
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let at = folder();
    fs::write(at.path().join("two.toml"), PAIR.replace("127.0.0.1:0", &address)).unwrap();
    let words = ["bus", "participant", "--scenario", "two.toml", "--name", "alpha"];
    refuses(at.path(), &words, &[&address, "in use", "'listen'"]);
}

/// Two machines in the middle of a run of a minute.
struct Long {
    leader: Machine,
    agent: Machine,
    /// Participants of either.
    started: Vec<i32>,
}

impl Long {
    /// Nobody of these is lost for having no processor on a loaded machine.
    fn start(here: &Path, there: &Path, scenario: &str) -> Long {
        Long::start_with_silence(here, there, scenario, "20s")
    }

    /// Those of whom is lost who is silent for so long.
    fn start_with_silence(here: &Path, there: &Path, scenario: &str, limit: &str) -> Long {
        let duration = format!("\"60s\"\nalive_within = \"{limit}\"");
        // No window ends before somebody is lost: so none is kept.
        let scenario = scenario.replace("\"2s\"", &duration).replace("\"250ms\"", "\"10s\"");
        // What is not told to join is the leader's own.
        let own = if scenario.contains("gamma") { "alpha,gamma" } else { "alpha" };
        let words = ["--name", own, "--return-within", "1s"];
        let leader = Machine::start(wiregauge(), here, &scenario, &words);
        let line = leader.hears("waiting for");
        let port = line.rsplit(' ').next().unwrap().to_owned();
        let agent = Machine::join(there, &scenario, "beta", &port);
        let started = [leader.started(), agent.started()].concat();
        thread::sleep(Duration::from_millis(500));
        Long { leader, agent, started }
    }

    fn leaves_nothing(&self) {
        let begun = Instant::now();
        while !self.started.iter().all(|id| is_gone(*id)) {
            assert!(begun.elapsed() < support::END_PATIENCE, "a participant was left behind");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn an_agent_that_is_lost_is_missed_and_told() {
    // What it does is to receive, or to send beside the leader.
    let sends = PAIR.replace("\"receiver\"", "\"sender\"") + GAMMA;
    // A connection that is closed while something is unread is reset.
    let broken = ["closed the control", "the control connection broke: Connection reset"];
    let reasons = [("-KILL", "20s", &broken[..]), ("-STOP", "3s", &["silent for 3s"])];
    for (scenario, (signal, limit, reason)) in
        [PAIR, &sends].into_iter().flat_map(|scenario| reasons.map(|reason| (scenario, reason)))
    {
        let (here, there) = (folder(), folder());
        let mut run = Long::start_with_silence(here.path(), there.path(), scenario, limit);
        let begun = Instant::now();
        run.agent.signal(signal);
        let told = run.leader.hears("is lost");
        run.leader.expect_code(1);
        // Seconds, and not the minute of the run.
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
        let has_reason = |text: &str| reason.iter().any(|reason| text.contains(reason));
        assert!(told.contains("beta at 127.0.0.1") && has_reason(&told), "{told}");
        let status = status(&result(here.path()), "tcp");
        assert!(status.contains("beta is lost") && has_reason(&status), "{status}");
        if signal == "-STOP" {
            // It wakes up and finds that nobody leads any more.
            run.agent.signal("-CONT");
            run.agent.expect_code(2);
        }
        run.leaves_nothing();
    }
}

#[test]
fn a_participant_that_dies_on_another_machine_is_told_with_its_cause() {
    let (here, there) = (folder(), folder());
    let one = PAIR.replace("[[load]]\nsize = \"100kB\"\ncycle = \"5ms\"\n", "");
    for scenario in [one.clone(), one.replace("\"receiver\"", "\"sender\"") + GAMMA] {
        let mut run = Long::start(here.path(), there.path(), &scenario);
        send_signal("-KILL", *run.started.last().unwrap());
        run.leader.expect_code(1);
        // Its agent did what it was told to.
        run.agent.expect_code(0);
        let status = status(&result(here.path()), "tcp");
        assert!(status.contains("beta is lost: killed by SIGKILL"), "{status}");
        run.leaves_nothing();
    }
}

#[test]
fn when_the_leader_is_gone_the_agents_end() {
    for signal in ["-KILL", "-INT"] {
        let (here, there) = (folder(), folder());
        let mut run = Long::start(here.path(), there.path(), PAIR);
        run.leader.signal(signal);
        assert_eq!(run.leader.code(), (signal == "-INT").then_some(130));
        let told = run.agent.hears("is lost");
        assert!(told.contains("the leading machine at 127.0.0.1:"), "{told}");
        run.agent.expect_code(2);
        run.leaves_nothing();
        assert!(!here.path().join("run.json").exists());
    }
}

/// How far the other machine's clock is ahead, in seconds.
const AHEAD: i64 = 100_000;

#[test]
fn the_clock_of_another_machine_is_followed() {
    if !prerequisites::CLOCK.is_met() {
        return;
    }
    // Its monotonic clock is its own, as on another machine.
    let mut other = prerequisites::unshare(&["--time", "--monotonic", &AHEAD.to_string()]);
    other.args(["--fork", "--kill-child"]);
    let (here, there) = (folder(), folder());
    let (mut leader, port) = Machine::lead(here.path(), PAIR);
    other.arg(wiregauge().get_program()).env("WIREGAUGE_BUILD", support::build_folder());
    let words = ["--name", "beta", "--peer", &port];
    let mut agent = Machine::start(other, there.path(), PAIR, &words);
    leader.expect_code(0);
    agent.expect_code(0);
    let run = result(here.path());
    let table = support::run(here.path(), &["report", "run.json", "--format", "table"]);
    assert!(table.out.contains("uncertainty"), "{}{}", table.out, table.err);
    for case in ["500 B, 5 ms, discrete", "100 kB, 5 ms, continuous"] {
        all_arrived(&run, case, "tcp");
        assert_eq!(support::fact(&run, case, "tcp", "clock/apart"), Some(1.0));
        let fact = |metric| fact(&run, case, "tcp", metric).unwrap();
        let off = fact("clock/offset") + AHEAD as f64 * 1e9;
        assert!(off.abs() <= fact("clock/uncertainty"), "{off} ns at {case}");
        // Far from the offset: a machine that is slow is allowed for.
        assert!(fact("latency/p50") < 10e9);
    }
}

#[test]
fn an_engine_that_another_machine_cannot_have_is_skipped_with_the_reason() {
    let (here, there) = (folder(), folder());
    let scenario = PAIR.replace("\"tcp\"", "\"tcp\", \"dds\"");
    let (mut leader, port) = Machine::lead(here.path(), &scenario);
    let mut bare = wiregauge();
    // A machine without tools, on which nothing is built.
    bare.env("PATH", there.path()).env("WIREGAUGE_BUILD", there.path().join("build"));
    let mut agent =
        Machine::start(bare, there.path(), &scenario, &["--name", "beta", "--peer", &port]);
    leader.expect_code(0);
    agent.expect_code(0);
    let run = result(here.path());
    let status = status(&run, "dds");
    for words in ["skipped", "idlc", "on the machine of beta"] {
        assert!(status.contains(words), "{status}");
    }
    all_arrived(&run, "500 B, 5 ms, discrete", "tcp");
}

#[test]
fn dds_reaches_another_machine() {
    let (here, there) = (folder(), folder());
    let scenario = PAIR.replace("\"tcp\"", "\"dds\"") + "[option]\ndds.domain = 43\n";
    let (mut leader, port) = Machine::lead(here.path(), &scenario);
    let mut agent = Machine::join(there.path(), &scenario, "beta", &port);
    leader.expect_code(0);
    agent.expect_code(0);
    let run = result(here.path());
    for case in ["500 B, 5 ms, discrete", "100 kB, 5 ms, continuous"] {
        all_arrived(&run, case, "dds");
    }
}

#[test]
fn ranks_of_each_launcher_meet() {
    let key = "5a".repeat(32);
    // On Debian the host's own name is 127.0.1.1 there, and another address elsewhere.
    let secret = |rank| {
        let host = if rank == 1 { "localhost" } else { "127.0.1.1" };
        let own = [("WIREGAUGE_KEY", key.clone()), ("SLURM_JOB_NODELIST", host.into())];
        [slurm(rank), own.into()].concat()
    };
    // Of mpirun in a job, Slurm's variables are another process's.
    let mpi = |rank: usize| {
        let size = ("OMPI_COMM_WORLD_SIZE", "3".into());
        [slurm(0), vec![("OMPI_COMM_WORLD_RANK", rank.to_string()), size]].concat()
    };
    let pod = |rank: usize| vec![("JOB_COMPLETION_INDEX", rank.to_string())];
    let jobs = [
        ranks("\"1s\"", &["--wait", "1m"], secret),
        ranks("\"1s\"", &["--wait", "1m"], mpi),
        ranks("\"1s\"", &["--wait", "1m", "--peer", "localhost"], pod),
        ranks_of_senders(2, "\"1s\"", &["--wait", "1m"], slurm),
    ];
    for (number, mut job) in jobs.into_iter().enumerate() {
        let codes: Vec<_> = job.iter_mut().map(|(rank, _)| rank.code()).collect();
        assert_eq!(codes, [Some(0); 3]);
        let run = result(job[0].1.path());
        let sends = if number == 3 { ", 2 senders" } else { "" };
        all_arrived(&run, &format!("500 B, 5 ms, discrete, 3 participants{sends}"), "tcp");
        let (notes, other) = (run["cases"][0]["notes"].to_string(), ["beta-1", "alpha-1"]);
        assert!(notes.contains(&format!("{} at 127.0.0.1", other[number / 3])), "{notes}");
        assert!(!run.to_string().contains(&key), "the key is in the result");
    }
}

#[test]
fn ranks_that_do_not_meet_say_who_is_missing() {
    // The second is of another job, and the third is not there.
    let other = |rank: usize| match rank {
        1 => [slurm(1), vec![("SLURM_JOB_ID", "8".into())]].concat(),
        2 => vec![("PMI_RANK", "3".into())],
        _ => slurm(0),
    };
    let mut job = ranks("\"1s\"", &["--wait", "10s"], other);
    job[2].0.hears("rank 3 has no participant, as the scenario has 3");
    job[1].0.hears("refuses: its scenario differs");
    job[0].0.hears("'job' is 'Slurm 8' there and 'Slurm 7' here");
    job[0].0.hears("beta-0, beta-1 (ranks 1, 2) did not join at 0.0.0.0:");
    let codes: Vec<_> = job.iter_mut().map(|(rank, _)| rank.code()).collect();
    assert_eq!(codes, [Some(2); 3]);
    // Nobody leads; one waits for a name that nobody knows; one knows no leader.
    let orphans = |rank: usize| match rank {
        0 => slurm(1),
        1 => [slurm(2), vec![("SLURM_JOB_NODELIST", "no-such-host.invalid".into())]].concat(),
        _ => vec![("JOB_COMPLETION_INDEX", "2".into())],
    };
    let mut job = ranks("\"1s\"", &["--wait", "1s"], orphans);
    job[0].0.hears("no sender answered at 127.0.0.1:");
    job[1].0.hears("'alpha' was not found within 1s");
    job[2].0.hears("give --peer JOB-0.SERVICE");
    let codes: Vec<_> = job.iter_mut().map(|(rank, _)| rank.code()).collect();
    assert_eq!(codes, [Some(2); 3]);
}

#[test]
fn a_job_that_is_cancelled_leaves_nothing_but_what_was_measured() {
    let mut job = ranks("\"60s\"\nround_trips = 0", &[], slurm);
    let started: Vec<i32> = job.iter().flat_map(|(rank, _)| rank.started()).collect();
    started.iter().for_each(|id| support::await_wakeups(*id, 400));
    // As Slurm does it: to all processes of the job, whoever started them.
    job.iter().for_each(|(rank, _)| rank.signal("-TERM"));
    // Some end by the others' end before they hear of it.
    for id in &started {
        let _ = Command::new("kill").args(["-TERM", &id.to_string()]).output();
    }
    let codes: Vec<_> = job.iter_mut().map(|(rank, _)| rank.code()).collect();
    assert!(codes[0] == Some(130) && !codes.contains(&Some(0)), "{codes:?}");
    let run = result(job[0].1.path());
    assert!(run["warnings"].to_string().contains("interrupted"), "{}", run["warnings"]);
    assert!(started.len() == 3 && started.iter().all(|id| is_gone(*id)));
}
