//! Several senders and several topics in a run, over all transports that carry them.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{fact, has_its_form, refuses, result, run};

/// A run of a second with windows of a seventh of one.
const SHORT: [&str; 8] =
    ["--duration", "1s", "--window", "140ms", "--cycle", "10ms", "--round-trips", "20"];

/// The result of a run of these words, of which all that was sent arrived over these transports.
fn carried(folder: &Path, words: &[&str], transports: &[&str]) -> Value {
    let said = run(folder, &[&["bus", "run"], words, &SHORT].concat());
    said.expect_code(0);
    let run = result(folder);
    has_its_form(&run);
    for case in run["cases"].as_array().unwrap() {
        let case = case["id"].as_str().unwrap();
        for subject in transports {
            let fact = |metric| fact(&run, case, subject, metric);
            assert!(fact("sent") > Some(0.0), "{subject} at {case}");
            let bad = ["lost", "reordered"].map(fact);
            assert_eq!(bad, [Some(0.0); 2], "{subject} at {case}");
            let bad = ["repeated", "damaged", "foreign", "timeouts"].map(fact);
            assert_eq!(bad, [None; 4], "{subject} at {case}");
        }
    }
    run
}

#[test]
fn topics_and_senders_are_told_by_case_figures_and_table() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--topics", "1,5", "--senders", "1,3", "--transport", "tcp,memory"];
    let run = carried(folder.path(), &words, &["tcp", "memory"]);
    let cases: Vec<&str> =
        run["cases"].as_array().unwrap().iter().map(|case| case["id"].as_str().unwrap()).collect();
    let one = "500 B, 10 ms, continuous";
    let senders = format!("{one}, 4 participants, 3 senders");
    let expected = [
        one.to_owned(),
        format!("{one}, 5 topics"),
        senders.clone(),
        format!("{senders}, 5 topics each"),
    ];
    assert_eq!(cases, expected);
    for subject in ["tcp", "memory"] {
        for (case, number) in expected.iter().zip([1.0, 5.0, 3.0, 15.0]) {
            let fact = |metric| fact(&run, case, subject, metric);
            let topics = (number > 1.0).then_some(number);
            assert_eq!(fact("topics"), topics, "{subject} at {case}");
            // 500 B each 10 ms on each topic.
            let offered = fact("offered").unwrap();
            assert!((offered - 0.05 * number).abs() < 1e-9, "{offered}");
            // How many were due in time is up to the machine, but none beyond.
            assert!(fact("sent") <= Some(100.0 * number));
            assert!(fact("sent").unwrap() + fact("unsent").unwrap_or(0.0) == 100.0 * number);
        }
        // With one topic it is no figure.
        assert_eq!(fact(&run, &expected[0], subject, "topic/p99"), None);
        let of_five = |metric| fact(&run, &expected[1], subject, metric);
        match of_five("topic/p99") {
            Some(worst) => {
                assert!(worst >= of_five("latency/p50").unwrap());
                let number = of_five("topic/number").unwrap();
                assert!((1.0..=5.0).contains(&number), "{number}");
            }
            // A hundred are due on each topic, and of fewer there is no p99.
            None => {
                assert!(["unsent", "late"].iter().any(|of| of_five(of) > Some(0.0)), "{subject}")
            }
        }
    }
    let all = &run["cases"][3]["notes"][0];
    assert!(all.as_str().unwrap().ends_with("each receiver reads all 15 topics"), "{all}");
}

#[test]
fn a_step_is_done_when_the_samples_of_all_topics_have_come() {
    let folder = tempfile::tempdir().unwrap();
    for announced in [&["--announce"][..], &[]] {
        let words = ["--topics", "4", "--mode", "discrete", "--transport", "tcp,memory"];
        let run = carried(folder.path(), &[&words[..], announced].concat(), &["tcp", "memory"]);
        let case = "500 B, 10 ms, discrete, 4 topics";
        for subject in ["tcp", "memory"] {
            let fact = |metric| fact(&run, case, subject, metric).unwrap();
            assert_eq!(fact("step/count") * 4.0, fact("sent"), "{subject}");
            // The sender sends the last sample of a step after it sent the others.
            assert!(fact("step/max") >= fact("write/max"), "{subject}");
        }
    }
}

#[test]
fn all_senders_keep_the_steps_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let pair = ["tcp", "memory"];
    for more in [&["--announce", "--participants", "5"][..], &["--fast", "--topics", "2"], &[]] {
        let words = ["--senders", "3", "--mode", "discrete", "--transport", "tcp,memory"];
        let run = carried(folder.path(), &[&words[..], more].concat(), &pair);
        let case = run["cases"][0]["id"].as_str().unwrap();
        let topics = if more.contains(&"--topics") { 6.0 } else { 3.0 };
        for subject in pair {
            let fact = |metric| fact(&run, case, subject, metric);
            // Nobody is a step ahead, and nobody leaves one out.
            let steps = fact("step/count").unwrap();
            assert_eq!(steps * topics, fact("sent").unwrap(), "{subject} at {case}");
            assert!(fact("step/max") >= fact("write/p50"), "{subject} at {case}");
        }
        let note = run["cases"][0]["notes"][0].as_str().unwrap();
        assert!(note.contains("the first one announces the step to the others"), "{note}");
    }
}

#[test]
fn a_scenario_has_senders_and_topics() {
    let folder = tempfile::tempdir().unwrap();
    let scenario =
        "transports = [\"tcp\"]\nduration = \"1s\"\nwindow = \"140ms\"\nround_trips = 20\n\
                    [[load]]\nsize = 100\ncycle = \"10ms\"\ntopics = 3\n\
                    [[participant]]\nname = \"radar\"\nrole = \"sender\"\ncount = 2\n\
                    [[participant]]\nname = \"logger\"\nrole = \"receiver\"\n";
    fs::write(folder.path().join("bus.toml"), scenario).unwrap();
    let said = run(folder.path(), &["bus", "run", "--scenario", "bus.toml"]);
    said.expect_code(0);
    let case = "100 B, 10 ms, continuous, 3 participants, 2 senders, 3 topics each";
    let found = result(folder.path());
    assert_eq!(fact(&found, case, "tcp", "topics"), Some(6.0));
    assert_eq!(fact(&found, case, "tcp", "lost"), Some(0.0));
    // The machine of the first one leads.
    let apart = ["bus", "participant", "--scenario", "bus.toml", "--name", "radar-1"];
    refuses(folder.path(), &apart, &["--peer must name", "'radar-0' runs", "that of radar-1"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, said) in [
        (&["--topics", "0"][..], ["1 or more topics", ""]),
        (&["--topics", "257"], ["257 topics cannot be measured", "256 or fewer"]),
        (&["--topics", "2,2"], ["2 topics' is given twice", ""]),
        (&["--senders", "0"], ["0 senders cannot be measured", "1 to 255"]),
        (&["--senders", "2,2"], ["2 senders' is given twice", ""]),
        (&["--senders", "256"], ["256 senders cannot be measured", "1 to 255"]),
        (&["--senders", "4", "--topics", "65"], ["260 topics", "256 or fewer"]),
        (&["--senders", "2", "--participants", "2"], ["none receives", "--participants 3"]),
        (&["--topics", "2", "--samples", "s.arrow"], ["--samples", "one topic"]),
    ] {
        refuses(folder.path(), &[&["bus", "run"], words].concat(), &said);
    }
    let said = run(folder.path(), &["bus", "run", "--topics", "2", "--message", "lidar"]);
    assert!(said.code == Some(2) && said.err.contains("cannot be used with"), "{}", said.err);
}

#[test]
fn engines_carry_topics_of_several_senders() {
    let folder = tempfile::tempdir().unwrap();
    let transports = ["dds", "fastdds", "fastdds-sharing", "zenoh", "iceoryx2"];
    let names = transports.join(",");
    let words = ["--topics", "3", "--senders", "2", "--transport", &names];
    carried(folder.path(), &words, &transports);
    for senders in ["1", "2"] {
        let words = ["--topics", "3", "--mode", "discrete", "--senders", senders];
        carried(folder.path(), &[&words[..], &["--transport", &names]].concat(), &transports);
    }
}

#[test]
fn what_carries_one_topic_only_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--topics", "2", "--transport", "zenoh-memory"];
    let said = run(folder.path(), &[&words[..], &SHORT].concat());
    said.expect_code(1);
    assert!(said.out.contains("one sender and one topic only"), "{}", said.out);
    let case = "500 B, 10 ms, continuous, 2 topics";
    let found = result(folder.path());
    assert_eq!(fact(&found, case, "tcp", "lost"), Some(0.0));
    assert_eq!(fact(&found, case, "zenoh-memory", "sent"), None);
}
