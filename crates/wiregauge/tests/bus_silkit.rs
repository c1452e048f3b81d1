//! The bus over SIL Kit, with the library of its Python API's wheel.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use support::faulty::{what_stays, Run};
use support::silkit::SilKit;
use support::{fact, processes_below, result, run, send_signal, status, wiregauge};

#[test]
fn sil_kit_carries_all() {
    let Some(kit) = SilKit::fetch() else { return };
    let folder = tempfile::tempdir().unwrap();
    let transports = ["silkit", "silkit-local"];
    let words = ["bus", "run", "--mode", "both", "--cycle", "20ms", "--duration", "2s"];
    let more = ["--window", "250ms", "--size", "10,1MB", "--participants", "3", "--transport"];
    let option = kit.option();
    let option = [&transports.join(","), "--option", &option];
    let said = run(folder.path(), &[&words[..], &more, &option].concat());
    said.expect_code(0);
    let run = result(folder.path());
    for mode in ["continuous", "discrete"] {
        for size in ["10 B", "1 MB"] {
            let case = format!("{size}, 20 ms, {mode}, 3 participants");
            for subject in transports {
                let fact = |metric| fact(&run, &case, subject, metric);
                assert!(fact("sent") > Some(0.0), "{subject} at {case}");
                let gone = ["lost", "reordered"].map(fact);
                assert_eq!(gone, [Some(0.0); 2], "{subject} at {case}");
                let bad = ["repeated", "damaged", "foreign"].map(fact);
                assert_eq!(bad, [None; 3], "{subject} at {case}");
                assert!(fact("round-trip/count") > Some(0.0), "{subject} at {case}");
            }
        }
    }
    let subject = |id: &str| {
        let subjects = run["subjects"].as_array().unwrap();
        subjects.iter().find(|subject| subject["id"] == id).unwrap().clone()
    };
    assert_eq!(subject("silkit")["library"], "SIL Kit 5.0.3");
    assert_eq!(subject("silkit")["options"][0], "way=tcp");
    assert_eq!(subject("silkit-local")["options"][0], "way=local");
}

#[test]
fn sil_kit_carries_topics_of_several_senders() {
    let Some(kit) = SilKit::fetch() else { return };
    let folder = tempfile::tempdir().unwrap();
    let transports = ["silkit", "silkit-local"];
    let words = ["bus", "run", "--mode", "both", "--cycle", "20ms", "--duration", "1s"];
    let more = ["--window", "140ms", "--participants", "4", "--topics", "3", "--senders", "1,2"];
    let (option, names) = (kit.option(), transports.join(","));
    let option = ["--round-trips", "20", "--transport", &names, "--option", &option];
    let said = run(folder.path(), &[&words[..], &more, &option].concat());
    said.expect_code(0);
    let run = result(folder.path());
    let cases = run["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases.iter().map(|case| case["id"].as_str().unwrap()) {
        for subject in transports {
            let fact = |metric| fact(&run, case, subject, metric);
            let senders = if case.contains("2 senders") { 2.0 } else { 1.0 };
            assert_eq!(fact("topics"), Some(3.0 * senders), "{subject} at {case}");
            let all = fact("sent").unwrap() + fact("unsent").unwrap_or(0.0);
            assert_eq!(all, 150.0 * senders, "{subject} at {case}");
            let gone = ["lost", "reordered"].map(fact);
            assert_eq!(gone, [Some(0.0); 2], "{subject} at {case}");
            let bad = ["repeated", "damaged", "foreign", "timeouts"].map(fact);
            assert_eq!(bad, [None; 4], "{subject} at {case}");
            if case.contains("discrete") {
                let steps = fact("step/count").unwrap();
                assert_eq!(steps * 3.0 * senders, fact("sent").unwrap(), "{subject} at {case}");
            }
        }
    }
}

/// More than its own queue would hold back: a reader says to each sender how far it is.
#[test]
fn unthrottled_senders_over_sil_kit_wait_for_their_reader() {
    let Some(kit) = SilKit::fetch() else { return };
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "silkit-local", "--size", "1MB", "--cycle", "0"];
    let more = ["--duration", "3s", "--window", "300ms", "--senders", "1,2", "--option"];
    let said = run(folder.path(), &[&words[..], &more, &[&kit.option()]].concat());
    said.expect_code(0);
    let run = result(folder.path());
    let one = "1 MB, unthrottled, continuous";
    for (case, senders) in [(one, 1.0), (&format!("{one}, 3 participants, 2 senders"), 2.0)] {
        let fact = |metric| fact(&run, case, "silkit-local", metric);
        assert_eq!(fact("lost"), Some(0.0), "{}", said.out);
        // Of each 64 MiB may be on the way at once.
        assert!(fact("sent") > Some(68.0 * senders), "{}", said.out);
    }
}

#[test]
fn who_has_no_sil_kit_is_told_where_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "silkit", "--duration", "1s", "--window", "100ms"];
    let said = run(folder.path(), &[&words[..], &["--option", "silkit.library=/nowhere"]].concat());
    said.expect_code(1);
    let status = status(&result(folder.path()), "silkit");
    for word in ["/nowhere", "silkit.library=PATH", "silkit-py"] {
        assert!(status.contains(word), "{status}");
    }
}

/// What SIL Kit's own Python API receives and sends. The program says `joined`, and in the end
/// how many samples it had whose numbers followed each other.
const PYTHON: &str = r#"
import sys, time
sys.path.insert(0, sys.argv[1])
import SilKit_py as kit
configuration = kit.participant_configuration_from_String('{"Logging": {"Sinks": []}}')
participant = kit.create_participant(configuration, "python", sys.argv[2])
spec = lambda: kit.PubSubSpec("exchanged", "application/octet-stream")
heard = []
def hear(subscriber, event):
    data = bytes(event.data)
    if len(data) == 100:
        heard.append(int.from_bytes(data[:4], "little"))
publisher = participant.create_data_publisher("out", spec())
subscriber = participant.create_data_subscriber("in", spec(), hear)
print("joined", flush=True)
while len(heard) < 200:
    publisher.publish(b"x" * 1000)
    time.sleep(0.005)
print("followed" if heard[:200] == list(range(200)) else heard, flush=True)
"#;

#[test]
fn samples_are_exchanged_with_sil_kits_python_api() {
    let Some(kit) = SilKit::fetch() else { return };
    let Some(python) = kit.python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("exchange.py");
    fs::write(&program, PYTHON).unwrap();
    let registry = kit.registry();
    let mut python = Command::new(python)
        .arg(&program)
        .arg(kit.folder())
        .arg(&registry.uri)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(python.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "joined");
    let words = ["bus", "run", "--transport", "silkit", "--size", "100", "--cycle", "5ms"];
    let more = ["--duration", "3s", "--window", "250ms", "--round-trips", "0"];
    let mut command = wiregauge();
    command.args(words).args(more).current_dir(folder.path());
    let uri = format!("silkit.uri={}", registry.uri);
    for option in [&*kit.option(), &uri, "silkit.topic=exchanged"] {
        command.args(["--option", option]);
    }
    let said = support::to_said(command.output().unwrap());
    let heard = lines.next();
    let _ = python.kill();
    python.wait().unwrap();
    assert_eq!(heard.unwrap().unwrap(), "followed");
    let run = result(folder.path());
    let fact = |metric| fact(&run, "100 B, 5 ms, continuous", "silkit", metric);
    assert!(fact("foreign") > Some(50.0), "{:?} {}{}", fact("foreign"), said.out, said.err);
    assert_eq!((fact("lost"), fact("damaged")), (Some(0.0), None), "{}{}", said.out, said.err);
}

/// The registry goes too, which the first participant started.
#[test]
fn of_a_killed_run_over_sil_kit_nothing_stays() {
    let Some(kit) = SilKit::fetch() else { return };
    let words = ["bus", "run", "--transport", "silkit-local", "--duration", "4s", "--cycle", "5ms"];
    let more = ["--round-trips", "0", "--window", "250ms", "--option"];
    let option = kit.option();
    let words = [&words[..], &more, &[&*option]].concat();
    for victim in ["conductor", "receiver", "interrupted"] {
        let mut run = Run::start(&words);
        let there = run.participants_of("silkit", &[], 2);
        let runs = run.scratch();
        let begun = Instant::now();
        while processes_below(&run.folder.path().join("tmp")) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "there is no registry");
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_secs(1));
        let receiver = there.iter().find(|(_, line)| line.contains("receiver")).unwrap().0;
        match victim {
            "conductor" => send_signal("-KILL", run.child.id() as i32),
            "receiver" => send_signal("-KILL", receiver),
            _ => send_signal("-INT", run.child.id() as i32),
        }
        let code = run.child.wait().unwrap().code();
        let expected = match victim {
            "conductor" => None,
            "receiver" => Some(1),
            _ => Some(130),
        };
        assert_eq!(code, expected, "{victim}");
        let ids: Vec<i32> = there.iter().map(|(id, _)| *id).collect();
        let tmp = run.folder.path().join("tmp");
        let left = what_stays(&ids, &runs, &tmp);
        assert!(left.is_empty(), "{victim}: {left:?}");
        assert_eq!(processes_below(&tmp), 0, "{victim}: the registry stays");
    }
}
