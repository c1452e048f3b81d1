//! What becomes of a run when someone of it is killed, stopped or cut off, and
//! that nothing of it stays behind.

mod support;

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use support::faulty::{shared, what_stays, Run};
use support::{
    build_folder, is_gone, result, send_signal, status, to_said, wiregauge, wiregauge_in,
};
use wiregauge_testkit::prerequisites;

#[test]
fn shared_memory_goes_with_a_conductor_that_is_killed() {
    // From before its participants are at work to when they are.
    for milliseconds in [0, 20, 50, 100, 200, 400, 800, 1500] {
        shared_memory_goes("iceoryx2", milliseconds);
    }
    // It locks what it takes.
    let later: &[u64] = if prerequisites::REALTIME.is_met() { &[200, 800] } else { &[] };
    for milliseconds in later {
        shared_memory_goes("zenoh-memory", *milliseconds);
    }
}

/// That nothing stays of a run whose conductor is killed so long after its participants came up.
fn shared_memory_goes(transport: &str, milliseconds: u64) {
    let words = ["bus", "run", "--transport", transport, "--duration", "4s", "--size", "1MB"];
    let more = ["--window", "100ms", "--cycle", "1ms", "--round-trips", "0"];
    let mut run = Run::start(&[&words[..], &more].concat());
    let there = run.participants_of(transport, &[], 2);
    let scratch = run.scratch();
    assert_eq!(scratch.len(), 1);
    thread::sleep(Duration::from_millis(milliseconds));
    let begun = Instant::now();
    let had = loop {
        let had = shared(&scratch);
        if milliseconds != 800 || !had.is_empty() {
            break had;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it has no shared memory");
        thread::sleep(Duration::from_millis(20));
    };
    send_signal("-KILL", run.child.id() as i32);
    run.child.wait().unwrap();
    let ids: Vec<i32> = there.iter().map(|(id, _)| *id).collect();
    let left = what_stays(&ids, &scratch, &run.folder.path().join("tmp"));
    assert!(left.is_empty(), "{transport} after {milliseconds} ms: {left:?} of {had:?}");
}

/// A run over one transport, beside TCP, in which something is done before any
/// window counts.
/// Its exit status and what became of the transport.
fn disturbed(transport: &str, disturb: impl Fn(&Run, &[(i32, String)])) -> (Option<i32>, String) {
    let words = ["bus", "run", "--transport", transport, "--duration", "8s", "--cycle", "5ms"];
    let more = ["--round-trips", "0", "--window", "1500ms"];
    let mut run = Run::start(&[&words[..], &more].concat());
    let there = run.participants_of(transport, &[], 2);
    thread::sleep(Duration::from_secs(1));
    disturb(&run, &there);
    let code = run.child.wait().unwrap().code();
    (code, status(&result(run.folder.path()), transport))
}

#[test]
fn a_conductor_that_stood_still_blames_nobody_else() {
    let (code, status) = disturbed("tcp", |run, there| {
        send_signal("-STOP", run.child.id() as i32);
        let begun = Instant::now();
        while !there.iter().all(|(id, _)| is_gone(*id)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "they wait for ever");
            thread::sleep(Duration::from_millis(20));
        }
        send_signal("-CONT", run.child.id() as i32);
    });
    assert_eq!(code, Some(1));
    assert!(status.contains("wiregauge itself was paused for"), "{status}");
    assert!(!status.contains("receiver") && !status.contains("exit code"), "{status}");
}

#[test]
fn a_network_whose_loopback_is_down_is_told_with_the_remedy() {
    if !prerequisites::NETWORK.is_met() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = prerequisites::unshare(&["--net"]);
    command.arg(wiregauge().get_program()).env("WIREGAUGE_BUILD", build_folder());
    command.current_dir(folder.path()).stdin(Stdio::null());
    let words = ["bus", "run", "--transport", "tcp", "--duration", "2s", "--window", "250ms"];
    let said = to_said(command.args(words).output().unwrap());
    said.expect_code(1);
    let status = status(&result(folder.path()), "tcp");
    assert!(status.contains("'ip link set lo up'"), "{status}");
}

#[test]
fn who_may_not_have_the_memory_that_a_run_takes_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "tcp", "--size", "10", "--cycle", "1us"];
    for more in [&["--duration", "99s", "--samples", "s.arrow"][..], &["--duration", "1h"]] {
        // Participants want 800 megabytes and more; the program has enough, also as it is here, not
        // optimized.
        let mut command = wiregauge_in("sh");
        command.args(["-c", "ulimit -v 600000; exec \"$0\" \"$@\""]);
        command.arg(wiregauge().get_program()).args(words).args(more);
        let said = to_said(command.current_dir(folder.path()).output().unwrap());
        assert_eq!(said.code, Some(1), "{more:?}: {}{}", said.out, said.err);
        let status = status(&result(folder.path()), "tcp");
        // Both want it, and whoever asks first is the one that is told.
        let words =
            ["receiver", "sender"].map(|name| format!("{name}: there is no memory to keep "));
        let said = words.iter().any(|words| status.contains(words));
        assert!(said && status.contains("ulimit -v"), "{more:?}: {status}");
    }
}

#[test]
fn lines_fit_into_a_terminal_of_80() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = wiregauge();
    command.args(["bus", "run", "--transport", "memory", "--mode", "both", "--cycle", "5ms"]);
    command.args(["--duration", "2s", "--window", "250ms"]).current_dir(folder.path());
    let said = to_said(command.env("COLUMNS", "80").output().unwrap());
    assert!(said.out.contains("memory") && said.out.contains("TCP"), "{}", said.out);
    let wide: Vec<&str> = said.out.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn shared_memory_that_was_too_small_is_told_with_the_remedy() {
    // As the system does where there is no page left.
    let (code, status) = disturbed("iceoryx2", |_, there| {
        let sender = there.iter().find(|(_, line)| line.contains("--name sender")).unwrap();
        send_signal("-BUS", sender.0);
        // The first only has the runtime's own handler step aside.
        thread::sleep(Duration::from_millis(200));
        send_signal("-BUS", sender.0);
    });
    assert_eq!(code, Some(1));
    for words in ["sender is lost: killed by SIGBUS", "remount,size=", "--shm-size"] {
        assert!(status.contains(words), "{status}");
    }
}

/// Who started it may have been killed: it ends as it would with somebody who reads.
#[test]
fn participants_end_though_nobody_reads_what_they_say() {
    for work in ["--stage", "--stream", "--load-machine"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = wiregauge();
        command.args(["bus", "participant", work]).stdin(Stdio::null()).stderr(writer);
        assert_eq!(command.status().unwrap().code(), Some(1), "{work}");
    }
}
