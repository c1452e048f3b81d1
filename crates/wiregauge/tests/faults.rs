//! Runners that fail and users who lose patience: a clear word, a non-zero
//! exit, no half result, no process left behind.

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::{has_its_form, project, result, run, send_signal, status, wiregauge, Said};

/// The start of a runner in Python that greets as it should.
const GREETING: &str = r#"
import sys
def reply(word, text):
    sys.stdout.buffer.write(f"{word} {len(text)}\n".encode() + text)
    sys.stdout.buffer.flush()
for line in iter(sys.stdin.buffer.readline, b""):
    verb, *words = line.decode().split()
    payload = sys.stdin.buffer.read(int(words[-1])) if verb in ("schema", "message", "decode") else b""
    if verb == "hello":
        reply("ok", b"library faulty\nexperiments encode decode project fixed element\n")
    elif verb in ("schema", "reset", "set"):
        reply("ok", b"")
"#;

/// Measures with a faulty runner beside a good codec.
fn run_with_faulty(folder: &Path, fault: &str) -> Said {
    fs::write(folder.join("faulty.py"), format!("{GREETING}{fault}")).unwrap();
    run(
        folder,
        &[
            "codecs",
            "--codecs",
            "bincode",
            "--length",
            "points=10",
            "--duration",
            "1",
            "--processes",
            "1",
            "--timeout",
            "6",
            "--runner",
            "faulty=python3 faulty.py",
        ],
    )
}

/// The faulty runner is shown as failed for this reason; the good codec has
/// its figures all the same.
fn fails_alone(fault: &str, reason: &str) {
    let folder = tempfile::tempdir().unwrap();
    let said = run_with_faulty(folder.path(), fault);
    said.expect_code(1);
    assert!(said.out.contains("faulty"), "{}", said.out);
    let run = result(folder.path());
    let status_of_faulty = status(&run, "faulty");
    assert!(status_of_faulty.contains("failed"), "{status_of_faulty}");
    assert!(status_of_faulty.contains(reason), "no '{reason}' in {status_of_faulty}");
    assert!(status(&run, "bincode").contains("measured"));
    assert!(run["measurements"].as_array().unwrap().iter().any(|m| m["subject"] == "bincode"));
}

#[test]
fn a_runner_that_dies() {
    fails_alone("    elif verb == 'message':\n        sys.exit('out of ideas')\n", "out of ideas");
}

#[test]
fn a_runner_that_is_killed() {
    fails_alone(
        "    elif verb == 'message':\n        import os; os.kill(os.getpid(), 11)\n",
        "SIGSEGV",
    );
}

#[test]
fn a_runner_that_hangs() {
    fails_alone("    elif verb == 'message':\n        import time; time.sleep(1000)\n", "hung");
}

#[test]
fn a_runner_that_answers_nonsense() {
    fails_alone(
        "    elif verb == 'message':\n        print('well, well', flush=True)\n",
        "well, well",
    );
}

#[test]
fn a_runner_that_promises_too_much() {
    fails_alone(
        "    elif verb == 'message':\n        print('ok 99999999999999', flush=True)\n",
        "99999999999999",
    );
}

#[test]
fn a_codec_that_changes_a_byte() {
    fails_alone(
        "    elif verb == 'message':\n        reply('ok', payload)\n    elif verb == 'decode':\n        \
         reply('ok', payload[:-1] + bytes([payload[-1] ^ 1]))\n",
        "comes back changed",
    );
}

#[test]
fn a_codec_that_reads_a_wrong_number() {
    fails_alone(
        "    elif verb in ('message', 'decode'):\n        reply('ok', payload)\n    elif verb == 'values':\n        \
         reply('ok', b'project 1.0 1 1\\nfixed 1.0 1 1\\nelement 1.0 1 1\\n')\n",
        "all numbers: the sum is",
    );
}

#[test]
fn a_runner_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(
        folder.path(),
        &["codecs", "--codecs", "bincode", "--duration", "1", "--runner", "ghost=/no/such/runner"],
    );
    said.expect_code(1);
    assert!(status(&result(folder.path()), "ghost").contains("/no/such/runner"));
}

/// Processes whose command line holds this word.
fn processes_with(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(word) {
            found.push(line);
        }
    }
    found
}

#[test]
fn an_interruption_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // The runner's name is how its process is found.
    let name = format!("waiting_{}.py", std::process::id());
    fs::write(
        at.join(&name),
        format!("{GREETING}    elif verb == 'message':\n        import time; time.sleep(1000)\n"),
    )
    .unwrap();
    fs::write(at.join("run.json"), "the good old result").unwrap();
    let mut child = wiregauge()
        .args(["codecs", "--codecs", "bincode", "--length", "points=10", "--duration", "60"])
        .args(["--runner", &format!("waiting=python3 {name}")])
        .current_dir(at)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    // One process is wiregauge itself, which has the name among its arguments.
    while processes_with(&name).len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(300), "the runner never started");
        std::thread::sleep(Duration::from_millis(50));
    }
    send_signal("-INT", child.id() as i32);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(processes_with(&name), Vec::<String>::new(), "a runner was left behind");
    assert_eq!(fs::read_to_string(at.join("run.json")).unwrap(), "the good old result");
}

#[test]
fn what_was_measured_before_an_interruption_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("Points.msg"), "Point[] points\n").unwrap();
    fs::write(at.join("Point.msg"), "uint32 x\nuint32 y\n").unwrap();
    let fake = project().join("crates/gauge/tests/fixtures/fake_runner.py");
    // It is proven and measured, and hangs when it is started for the sixth time.
    let script = format!(
        "echo x >> starts\n[ $(wc -l < starts) -ge 6 ] && exec sleep 1000\n\
         exec python3 {} log takes=10\n",
        fake.display()
    );
    fs::write(at.join("hangs.sh"), script).unwrap();
    let words = "codecs --message Points.msg --length points=5 --codecs noop --duration 2 \
                 --processes 9 --experiments encode,decode";
    let mut child = wiregauge()
        .args(words.split_whitespace())
        .args(["--runner", "hangs=sh hangs.sh"])
        .current_dir(at)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let starts = || fs::read_to_string(at.join("starts")).unwrap_or_default().lines().count();
    while starts() < 6 {
        assert_eq!(child.try_wait().unwrap(), None, "it was not started so often");
        assert!(begun.elapsed() < Duration::from_secs(300), "it was not started so often");
        std::thread::sleep(Duration::from_millis(50));
    }
    send_signal("-INT", child.id() as i32);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let run = result(at);
    has_its_form(&run);
    let codes: Vec<_> = run["warnings"].as_array().unwrap().iter().map(|w| &w["code"]).collect();
    assert!(codes.iter().any(|code| **code == "interrupted"), "{codes:?}");
    assert!(status(&run, "hangs").contains("measured"), "{}", status(&run, "hangs"));
    let all = run["measurements"].as_array().unwrap();
    let encode = all.iter().find(|m| m["subject"] == "hangs" && m["metric"] == "encode").unwrap();
    let samples = encode["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 9);
    // A cell that has fewer rounds than another one sits out some of them.
    assert!(samples[0].as_array().unwrap().iter().any(|one| one.is_number()), "{samples:?}");
    assert!(samples[8].as_array().unwrap().iter().all(|sample| sample.is_null()), "{samples:?}");
    let said = support::run(at, &["report", "run.json"]);
    said.expect_code(0);
    assert!(said.out.contains("interrupted"), "{}", said.out);
}
