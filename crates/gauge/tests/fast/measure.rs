//! The gauge beside a runner that logs its requests and has a fault, or none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use wiregauge_child_process::reply::{NumberDigest, Reading};
use wiregauge_child_process::runner::Launch;
use wiregauge_gauge::runners::plan::{Deviation, Entrant, Experiment, Judge, Load, Plan, Sample};
use wiregauge_gauge::runners::{measure, Measured};
use wiregauge_result::run::{Case, Settings, Status, Subject};
use wiregauge_runner::{Digest, Tally};

/// Points of large numbers, among which a small one is lost in any float sum.
const POINTS: [[u32; 2]; 3] = [[4_000_000_000, 3_000_000_000], [1, 2], [2_500_000_001, 17]];

fn sample() -> Sample {
    let mut canonical = (POINTS.len() as u32).to_le_bytes().to_vec();
    let mut all = Digest::default();
    for point in POINTS {
        let mut inner = Digest::default();
        for (place, number) in (0..).zip(point) {
            canonical.extend_from_slice(&number.to_le_bytes());
            inner.number(place, number);
        }
        all.record(0, inner);
    }
    let sum = POINTS.iter().flatten().map(|number| f64::from(*number)).sum();
    let numbers = NumberDigest { count: all.count, hash: all.hash };
    Sample {
        canonical,
        readings: [Reading { sum, numbers }, Reading::default(), Reading::default()],
    }
}

fn entrant(id: &str, log: &Path, fault: &str) -> Entrant {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_runner.py");
    let words = [script.display().to_string(), log.display().to_string(), fault.into()];
    Entrant {
        subject: Subject::new(id, id, "own"),
        runner: Some(Launch {
            id: id.into(),
            program: "python3".into(),
            arguments: words.to_vec(),
            schema: b"{}".to_vec(),
            libraries: Vec::new(),
        }),
        judge: None,
    }
}

fn plan(entrants: Vec<Entrant>, experiments: Vec<Experiment>) -> Plan {
    let case = Case { messages: 2, canonical_bytes: 28.0, ..Case::new("points", "Points", "test") };
    Plan {
        cases: vec![Load { case, samples: vec![sample(), sample()] }],
        entrants,
        experiments,
        settings: Settings {
            processes: 2,
            rounds: 4,
            epoch_ns: 50_000,
            scratch: "reused".into(),
            background: String::new(),
            buffers: "reused".into(),
            objects: "fresh".into(),
            seed: 1,
        },
        time: Duration::from_millis(1),
        patience: Duration::from_secs(60),
        most_rounds: 200,
        least_iterations: 0,
        counter: None,
        squeeze: true,
        corruptions: 0,
        timed: true,
        instructions: None,
        explained: None,
    }
}

fn run(plan: &Plan) -> Measured {
    measure(plan, &|_, _, _| ()).expect("nothing that concerns all")
}

fn experiments() -> Vec<Experiment> {
    ["encode", "decode", "project"].map(Experiment::plain).to_vec()
}

fn log() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    (folder, log)
}

/// An experiment's own setting holds for its requests and no others, from the
/// first round to the last.
#[test]
fn every_request_states_every_setting() {
    let (_folder, log) = log();
    let mut wanted = experiments();
    wanted.push(Experiment {
        metric: "encode-reused".into(),
        name: "encode".into(),
        otherwise: None,
        objects: Some("reused".into()),
    });
    let measured = run(&plan(vec![entrant("fake", &log, "none")], wanted));
    assert_eq!(measured.subjects[0].status, Status::Measured);

    let text = std::fs::read_to_string(&log).expect("it logged");
    let runs: Vec<&str> = text.lines().filter(|line| line.starts_with("run ")).collect();
    let of = |name: &str, objects: &str| {
        let settings = format!(" scratch=reused objects={objects} buffers=reused prove=");
        runs.iter()
            .filter(|line| line.starts_with(&format!("run {name} ")) && line.contains(&settings))
            .count()
    };
    let rounds = measured.rounds as usize * 2;
    for name in ["decode", "project"] {
        assert!(of(name, "fresh") >= rounds, "{name}: {text}");
        assert_eq!(of(name, "reused"), 0, "{name}: {text}");
    }
    assert!(of("encode", "fresh") >= rounds && of("encode", "reused") >= rounds, "{text}");
    let stated = of("encode", "fresh") + of("encode", "reused") + of("decode", "fresh");
    assert_eq!(stated + of("project", "fresh"), runs.len(), "{text}");
}

#[test]
fn epochs_prove_themselves_first_and_last_in_each_process() {
    let (_folder, log) = log();
    run(&plan(vec![entrant("fake", &log, "none")], experiments()));
    let text = std::fs::read_to_string(&log).expect("it logged");
    let proven = |name: &str| {
        text.lines()
            .filter(|line| line.starts_with(&format!("run {name} ")))
            .filter(|line| !line.ends_with("prove=none"))
            .count()
    };
    for name in ["encode", "decode", "project"] {
        assert_eq!(proven(name), 4, "two processes, first and last: {text}");
    }
}

/// What becomes of a runner with a fault.
fn status(fault: &str) -> Status {
    let (_folder, log) = log();
    let measured = run(&plan(vec![entrant("fake", &log, fault)], experiments()));
    measured.subjects[0].status.clone()
}

fn failure(fault: &str) -> String {
    match status(fault) {
        Status::Failed(why) => why,
        other => panic!("{fault}: {other:?}"),
    }
}

#[test]
fn a_wrong_reading_fails_in_the_proof() {
    for fault in ["skips-a-point", "swaps-fields", "rounds-a-value"] {
        let why = failure(fault);
        assert!(why.contains("message 0 all numbers: "), "{fault}: {why}");
    }
}

#[test]
fn a_wrong_reading_fails_in_epochs() {
    for fault in ["skips-a-point", "swaps-fields", "rounds-a-value"] {
        let why = failure(&format!("{fault}-in-epochs"));
        assert!(why.contains("after an epoch of project: "), "{fault}: {why}");
    }
    let why = failure("decodes-zeros-in-epochs");
    assert!(why.contains("after an epoch of") && why.contains("comes back changed"), "{why}");
    let why = failure("proves-nothing");
    assert!(why.contains("did not answer with the encoded bytes"), "{why}");
}

/// What a client wrote must come back, and what it read be what it wrote.
#[test]
fn what_a_client_does_is_proven_in_both_directions() {
    let client = |fault: &str| {
        let (_folder, log) = log();
        let measured =
            run(&plan(vec![entrant("fake", &log, fault)], vec![Experiment::plain("client")]));
        measured.subjects[0].status.clone()
    };
    assert_eq!(client("none"), Status::Measured);
    for (fault, why) in [
        ("skips-a-point-in-epochs", "after an epoch of client: "),
        ("swaps-fields-in-epochs", "after an epoch of client: the codec reads other numbers"),
        ("rounds-a-value-in-epochs", "after an epoch of client: "),
        ("proves-nothing", "did not answer with the encoded bytes"),
    ] {
        match client(fault) {
            Status::Failed(said) => assert!(said.contains(why), "{fault}: {said}"),
            other => panic!("{fault}: {other:?}"),
        }
    }
}

/// Who does not offer an experiment is asked for the other that stands for it.
#[test]
fn an_experiment_has_another_name_where_a_runner_lacks_it() {
    let (_folder, log) = log();
    let experiment = |metric: &str, name: &str, otherwise: Option<&str>| Experiment {
        metric: metric.into(),
        name: name.into(),
        otherwise: otherwise.map(str::to_owned),
        objects: None,
    };
    let wanted = vec![
        experiment("whole/part", "encode/write", Some("encode")),
        experiment("own", "decode", Some("project")),
        experiment("none", "decode/parse", None),
    ];
    let measured = run(&plan(vec![entrant("fake", &log, "none")], wanted));
    let metrics: Vec<&str> = measured.measurements.iter().map(|m| m.metric.as_str()).collect();
    assert!(metrics.contains(&"whole/part") && metrics.contains(&"own"), "{metrics:?}");
    assert!(!metrics.contains(&"none"), "{metrics:?}");
    let text = std::fs::read_to_string(&log).expect("it logged");
    let asked = |name: &str| text.lines().any(|line| line.starts_with(&format!("run {name} ")));
    assert!(asked("encode") && asked("decode"), "{text}");
    assert!(!asked("encode/write") && !asked("project") && !asked("decode/parse"), "{text}");
}

#[test]
fn a_time_that_cannot_be_is_nonsense() {
    for fault in ["claims-ages", "claims-zero", "claims-nan", "claims-less"] {
        let why = failure(fault);
        assert!(why.contains("malformed") && why.contains(" ns"), "{fault}: {why}");
        assert!(!why.contains("hung"), "{fault}: {why}");
    }
}

#[test]
fn a_terminal_obeys_no_runner() {
    let (_folder, log) = log();
    let measured = run(&plan(vec![entrant("fake", &log, "escapes")], experiments()));
    assert_eq!(measured.subjects[0].library, "\\u{1b}[2Jfake");
    for (fault, words) in [
        ("rejects-and-escapes", "\\u{1b}]0;this cannot be said\\u{7}"),
        ("fails-and-escapes", "\\u{9b}2Jno"),
        ("dies-and-escapes", "(\\u{1b}[2Jfarewell)"),
        ("reads-and-escapes", "project \\u{1b}[2J"),
    ] {
        let (Status::Failed(why) | Status::Rejected(why)) = status(fault) else {
            panic!("{fault}: it is measured")
        };
        assert!(why.contains(words) && !why.contains(char::is_control), "{fault}: {why:?}");
    }
}

#[test]
fn a_runner_that_offers_nothing_is_not_measured() {
    let why = failure("offers-nothing");
    assert!(why.contains("offers none of the experiments (dance)"), "{why}");
}

#[test]
fn what_a_format_cannot_say_is_rejected_and_no_failure() {
    assert_eq!(status("rejects"), Status::Rejected("this cannot be said".into()));
}

/// What becomes of a corrupt message.
fn corrupted(fault: &str) -> (Status, Vec<(String, f64)>) {
    let (_folder, log) = log();
    let mut plan = plan(vec![entrant("fake", &log, fault)], experiments());
    plan.corruptions = 1;
    let measured = run(&plan);
    let facts = measured.facts.iter().filter(|fact| fact.metric.starts_with("corrupt/"));
    let facts = facts.map(|fact| (fact.metric.clone(), fact.value)).collect();
    (measured.subjects[0].status.clone(), facts)
}

/// Only a decoder that takes a processor for as long has hung: on a loaded machine others wait
/// for one.
#[test]
fn who_answers_late_has_not_hung_and_who_spins_has() {
    for (fault, hung) in [("decodes-late", 0.0), ("decodes-for-ever", 1.0)] {
        let (status, facts) = corrupted(fault);
        assert_eq!(status, Status::Measured, "{fault}");
        assert!(facts.contains(&("corrupt/hung".into(), hung)), "{fault}: {facts:?}");
    }
}

/// A judge that measures how far a value is off, and refuses other lengths.
fn judge() -> Judge {
    Box::new(|sent, back| {
        if sent.len() != back.len() {
            return Err(format!("{} bytes come back as {}", sent.len(), back.len()));
        }
        let words = |bytes: &[u8]| -> Vec<u32> {
            let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
            bytes.chunks_exact(4).map(word).collect()
        };
        let apart = words(sent).iter().zip(words(back)).map(|(a, b)| a.abs_diff(b)).max();
        let value = f64::from(apart.unwrap_or_default());
        Ok(vec![Deviation { metric: "error/x".into(), unit: "m".into(), value }])
    })
}

#[test]
fn who_is_judged_may_change_values_but_not_from_epoch_to_epoch() {
    let judged = |fault: &str| {
        let (_folder, log) = log();
        let mut entrant = entrant("fake", &log, fault);
        entrant.judge = Some(judge());
        let measured = run(&plan(vec![entrant], experiments()));
        let error = measured.facts.iter().find(|fact| fact.metric == "error/x");
        (measured.subjects[0].status.clone(), error.map(|fact| fact.value))
    };
    // The readers of numbers are not asked: they would not find what was sent.
    for fault in ["none", "rounds-a-value"] {
        assert_eq!(judged(fault), (Status::Measured, Some(0.0)), "{fault}");
    }
    let (Status::Failed(why), _) = judged("decodes-zeros-in-epochs") else {
        panic!("zeros are taken for what was proven")
    };
    assert!(why.contains("differs from the message that was decoded before timing"), "{why}");
}
