//! Faulty FMUs under the master: they are a result and not the end.

#[path = "support/couple.rs"]
mod couple;
mod support;

use std::time::{Duration, Instant};

use couple::fixture::Fixture;
use couple::{couple, fact, samples, write};
use support::{result, run, status};
use wiregauge_cosim::master::measure;
use wiregauge_cosim::master::plan::{Entrant, HostWork, Load, Pair, Plan};
use wiregauge_cosim::metric::METRICS;
use wiregauge_result::run::{Case, Measurement, Settings, Status, Subject};

/// A fault in one FMU makes the pair fail for a reason with these words.
fn fails(fmi: u8, whose: &str, fault: &str, more: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
    let set = format!("{whose}.fault={fault}");
    let said = couple(folder.path(), &[&["--set", &set][..], more].concat());
    let what = format!("FMI {fmi}, {whose}, {fault}");
    assert_eq!(said.code, Some(1), "{what}: {}{}", said.out, said.err);
    let status = status(&result(folder.path()), "fmus");
    assert!(status.contains("failed"), "{what}: {status}");
    let file = format!("{whose}.fmu");
    for word in words.iter().copied().chain([file.as_str()]) {
        assert!(status.contains(word), "{what}: no '{word}' in {status}");
    }
}

#[test]
fn a_step_that_is_not_carried_out() {
    for fmi in [2, 3] {
        for (number, name) in [(2, "discard"), (3, "error"), (4, "fatal")] {
            for whose in ["source", "model"] {
                let log = format!("[OSMP] the fixture was told to fail with {number}");
                let words = [&format!("DoStep returned {name}"), "at step 1", log.as_str()];
                fails(fmi, whose, name, &[], &words);
            }
        }
    }
}

#[test]
fn what_an_fmu_throws_is_told() {
    for fmi in [2, 3] {
        let mut places = vec!["set", "enter", "exit", "step", "terminate", "free"];
        places.extend((fmi == 2).then_some("setup"));
        for place in places {
            let fault = format!("throw in {place}");
            let text = format!("threw std::runtime_error: thrown in {place}");
            fails(fmi, "source", &fault, &[], &[&text]);
        }
        fails(fmi, "source", "throw in get", &[], &["OSMPSensorViewOut", "thrown in get"]);
        fails(fmi, "model", "throw in put", &[], &["OSMPSensorViewIn", "thrown in put"]);
        for (what, words) in
            [("number", "threw int: 7"), ("text", "a text"), ("odd", "threw fixture_throw::Odd")]
        {
            fails(fmi, "model", &format!("throw {what}"), &[], &["DoStep", words, "step 1"]);
        }
        let later = ["--set", "model.faultStep=3"];
        fails(fmi, "model", "throw in step", &later, &["thrown in step", "at step 4"]);
    }
}

#[test]
fn what_is_thrown_before_an_fmu_can_be_told_anything() {
    for fmi in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let failed = |source: Fixture, words: &[&str]| {
            write(folder.path(), &source, &Fixture::model(fmi));
            let said = couple(folder.path(), &[]);
            said.expect_code(1);
            let status = status(&result(folder.path()), "fmus");
            for word in words {
                assert!(status.contains(word), "no '{word}' in {status}");
            }
        };
        let thrower = Fixture::source(fmi).edit("modelName=\"Fixture\"", "modelName=\"thrower\"");
        failed(thrower, &["source.fmu", "threw std::runtime_error: thrown in instantiate"]);
        // As two FMUs do that share libprotobuf and bring OSI's code along.
        let words = [
            "source.fmu",
            "threw std::runtime_error: CHECK failed: GeneratedDatabase()->Add()",
            "printed last: [libprotobuf ERROR] File already exists in database",
            "one shared OSI library",
        ];
        failed(Fixture::source(fmi).throwing_on_load(), &words);
    }
}

#[test]
fn what_an_fmu_printed_stands_with_its_error() {
    for fmi in [2, 3] {
        let words = ["DoStep returned error", "what standard output has", "standard error has"];
        fails(fmi, "model", "print and fail", &[], &words);
        fails(fmi, "model", "print and crash", &[], &["SIGSEGV", "the last line"]);
    }
}

#[test]
fn a_terminal_obeys_no_fmu() {
    let obeyed = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
    for fmi in [2, 3] {
        // XML has no escape, but what does the same in one character.
        let name = "modelName=\"Fixture\"";
        let model = Fixture::model(fmi).edit(name, "modelName=\"&#x9b;2Jname\"");
        for (fault, words) in [
            ("escape", &["\\u{1b}[2Jprinted", "[OSMP] \\u{1b}]0;logged\\u{7} 7"][..]),
            ("throw \u{1b}[2J", &["threw std::runtime_error: thrown in \\u{1b}[2J"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &Fixture::source(fmi), &model);
            for form in ["table", "md", "csv", "json"] {
                let set = format!("model.fault={fault}");
                let said = couple(folder.path(), &["--set", &set, "--format", form]);
                said.expect_code(1);
                let all = said.out + &said.err;
                assert!(!obeyed(&all), "{all:?}");
            }
            let run = result(folder.path());
            let why = run["subjects"][0]["status"]["reason"].as_str().unwrap();
            for word in words {
                assert!(why.contains(word), "no '{word}' in {why}");
            }
            assert!(run["subjects"][0]["options"].to_string().contains("\\u{9b}2Jname"));
        }
        let folder = tempfile::tempdir().unwrap();
        let nothing = model.edit("fmiVersion=\"", "fmiVersion=\"&#x9b;2J");
        write(folder.path(), &Fixture::source(fmi), &nothing);
        let said = couple(folder.path(), &[]);
        let all = said.out + &said.err;
        assert!(all.contains("fmiVersion is \\u{9b}2J") && !obeyed(&all), "{all:?}");
    }
}

#[test]
fn a_warning_goes_on_and_is_counted() {
    for fmi in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
        let more = ["--set", "model.fault=odd warnings", "--rounds", "6"];
        let pair = ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"];
        let least = ["--processes", "1", "--epoch-steps", "1", "--duration", "1", "--warm-up", "0"];
        let said = run(folder.path(), &[&pair[..], &least, &more].concat());
        said.expect_code(0);
        let run = result(folder.path());
        assert_eq!(samples(&run, "fmus", "exchange").len(), 6);
        let count = fact(&run, "fmus", "warnings/model").expect("they are counted");
        assert_eq!(count, 3.0, "every other step");
        assert_eq!(fact(&run, "fmus", "warnings/source"), None);
        let text = run["warnings"].to_string();
        assert!(text.contains("model.fmu: DoStep returned a warning in 3 of 6 steps"), "{text}");
        assert!(text.contains("the fixture warns of 1"), "{text}");
        assert!(said.out.contains("returned a warning"), "{}", said.out);
    }
}

#[test]
fn after_an_input_that_was_not_taken_there_is_no_step() {
    for fmi in [2, 3] {
        // The fixture aborts if there is.
        fails(fmi, "model", "refuse input", &[], &["OSMPSensorViewIn: setting it returned error"]);
    }
}

#[test]
fn the_steps_before_an_end_are_measured() {
    for (fmi, whose, fault, words) in [
        (
            2,
            "source",
            "discard",
            "DoStep returned discard (it asked to end the simulation) at step 31",
        ),
        (3, "source", "discard", "DoStep returned discard at step 31"),
        (
            2,
            "model",
            "discard",
            "DoStep returned discard (it asked to end the simulation) at step 31",
        ),
        (3, "source", "end", "asked to end the simulation at step 31"),
        (3, "model", "end", "asked to end the simulation at step 31"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
        let pair = ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"];
        let set = format!("{whose}.fault={fault}");
        let at = format!("{whose}.faultStep=30");
        let more = ["--set", &set, "--set", &at, "--processes", "2", "--duration", "1"];
        let said = run(folder.path(), &[&pair[..], &more].concat());
        assert_eq!(said.code, Some(0), "{fmi} {fault}: {}{}", said.out, said.err);
        let run = result(folder.path());
        let text = run["warnings"].to_string();
        assert!(text.contains(words), "no '{words}' in {text}");
        // 28 or 29 steps after the warm-up, five rounds or more.
        let column = samples(&run, "fmus", "step");
        let found = column.iter().flatten().count();
        assert!(column.len() >= 10 && found >= 10, "{column:?}");
        assert!(run["measurements"][0]["iterations"][0].as_u64().unwrap() <= 4);
    }
}

#[test]
fn an_end_within_the_warm_up_is_no_measurement() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let pair =
        ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu", "--duration", "1"];
    let end = ["--set", "source.fault=discard", "--set", "source.faultStep=1", "--warm-up", "3"];
    let said = run(folder.path(), &[&pair[..], &end].concat());
    said.expect_code(1);
    let status = status(&result(folder.path()), "fmus");
    assert!(status.contains("at step 2") && status.contains("--warm-up 0"), "{status}");
}

#[test]
fn who_is_silent_at_first_is_waited_for() {
    for fmi in [2, 3] {
        for whose in ["source", "model"] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
            let set = [format!("{whose}.fault=silent"), format!("{whose}.faultStep=12")];
            let more = ["--set", &set[0], "--set", &set[1]];
            let said = couple(folder.path(), &more);
            assert_eq!(said.code, Some(0), "{fmi} {whose}: {}{}", said.out, said.err);
            let run = result(folder.path());
            assert_eq!(fact(&run, "fmus", "size/model output"), Some(16.0));
            let text = run["warnings"].to_string();
            let empty = text.contains("had no message in 12 of 13 steps");
            assert_eq!(empty, whose == "source", "{text}");
        }
    }
    let longer = ["--set", "model.faultStep=150"];
    fails(2, "model", "silent", &longer, &["OSMPSensorDataOut", "--warm-up"]);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let set = ["--set", "model.fault=silent", "--set", "model.faultStep=150", "--warm-up", "150"];
    let pair = ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"];
    let least = ["--processes", "1", "--rounds", "1", "--epoch-steps", "1", "--duration", "1"];
    let said = run(folder.path(), &[&pair[..], &least, &set].concat());
    said.expect_code(0);
}

#[test]
fn forms_for_programs_leave_the_reason_to_standard_error() {
    for form in ["csv", "json"] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Fixture::source(2), &Fixture::model(2));
        let said = couple(folder.path(), &["--set", "model.fault=error", "--format", form]);
        said.expect_code(1);
        assert!(
            said.err.contains("FMUs: failed: model.fmu: DoStep returned error"),
            "{}",
            said.err
        );
    }
}

#[test]
fn a_message_that_is_not_there() {
    let variable = |whose| match whose {
        "source" => "OSMPSensorViewOut",
        _ => "OSMPSensorDataOut",
    };
    for whose in ["source", "model"] {
        let name = variable(whose);
        fails(2, whose, "dangling", &[], &[name, "no readable memory", "step 1"]);
        fails(2, whose, "huge", &[], &[name, "size 2147483647", "less memory"]);
        fails(2, whose, "negative", &[], &[name, "negative size -5"]);
        fails(2, whose, "address of 0", &[], &[name, "but its address is 0", "step 1"]);
    }
    fails(3, "source", "dangling", &[], &["OSMPSensorViewOut", "no readable memory"]);
    fails(3, "source", "huge", &[], &["OSMPSensorViewOut", "less memory"]);
    for fault in ["null", "no size"] {
        fails(2, "source", fault, &[], &["OSMPSensorViewOut", "no message in the first 103"]);
        fails(3, "source", fault, &[], &["OSMPSensorViewOut", "no message in the first 103"]);
        fails(2, "model", fault, &[], &["OSMPSensorDataOut", "no message in the first 103 steps"]);
    }
}

#[test]
fn an_fmu_that_dies() {
    for fmi in [2, 3] {
        fails(fmi, "model", "crash", &[], &["in DoStep, step 1", "SIGSEGV"]);
        fails(fmi, "source", "abort", &[], &["in DoStep, step 1", "SIGABRT"]);
        fails(fmi, "model", "exit", &[], &["in DoStep, step 1", "exit code 7"]);
        // By a signal that it sends itself, which Rust's runtime handles.
        fails(fmi, "model", "raise", &[], &["in DoStep, step 1", "SIGSEGV"]);
        for whose in ["source", "model"] {
            let words = ["in DoStep, step 1", "closed file descriptors"];
            fails(fmi, whose, "close all", &[], &words);
        }
    }
}

#[test]
fn an_fmu_that_fails_at_its_end_keeps_its_figures() {
    for fmi in [2, 3] {
        for (fault, whose, words) in [
            ("raise in terminate", "source", &["source.fmu in Terminate", "SIGSEGV"][..]),
            ("raise in free", "model", &["model.fmu in FreeInstance", "SIGSEGV"]),
            ("raise at exit", "model", &["model.fmu after all calls", "SIGSEGV"]),
            ("terminate", "source", &["source.fmu", "Terminate returned error"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
            let set = format!("{whose}.fault={fault}");
            let said = couple(folder.path(), &["--set", &set]);
            assert_eq!(said.code, Some(1), "{fault}: {}{}", said.out, said.err);
            let run = result(folder.path());
            let status = status(&run, "fmus");
            for word in words {
                assert!(status.contains(word), "{fault}: no '{word}' in {status}");
            }
            assert!(samples(&run, "fmus", "exchange")[0].is_some(), "{fault}");
        }
    }
    let hang = ["--timeout", "2"];
    fails(2, "model", "hang in terminate", &hang, &["in Terminate", "hung"]);
}

#[test]
fn a_step_that_returns_early() {
    let words = ["DoStep returned early", "returned early at 0.05 s", "step 1"];
    fails(3, "model", "early", &[], &words);
}

#[test]
fn an_fmu_that_will_not_begin_or_end() {
    fails(2, "model", "init", &[], &["fmi2EnterInitializationMode returned error", "not begin"]);
    fails(3, "source", "init", &[], &["fmi3EnterInitializationMode returned error", "not begin"]);
    fails(2, "source", "terminate", &[], &["fmi2Terminate returned error"]);
    fails(3, "model", "terminate", &[], &["fmi3Terminate returned error"]);
}

#[test]
fn an_fmu_that_fails_in_mid_run() {
    let later = ["--set", "model.faultStep=40", "--rounds", "100", "--processes", "1"];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let pair =
        ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu", "--epoch-steps", "1"];
    for (fault, words) in [("error", "returned error at step 41"), ("crash", "in DoStep, step 41")]
    {
        let set = format!("model.fault={fault}");
        let said = run(folder.path(), &[&pair[..], &later, &["--set", &set]].concat());
        said.expect_code(1);
        let run = result(folder.path());
        let status = status(&run, "fmus");
        assert!(status.contains("model.fmu") && status.contains(words), "{status}");
        // What was measured until then stays, the rest is lost.
        let column = samples(&run, "fmus", "exchange");
        assert_eq!(column.len(), 100);
        assert!(column[0].is_some() && column[99].is_none(), "{column:?}");
    }
}

#[test]
fn an_fmu_that_hangs() {
    let began = Instant::now();
    let words = ["in DoStep, step 1", "hung", "--timeout"];
    fails(2, "model", "hang", &["--timeout", "2"], &words);
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_message_that_stays_away_is_told() {
    let words = ["OSMPSensorViewOut had no message in 10000 steps, from step 4 on"];
    fails(2, "source", "null", &["--set", "source.faultStep=3"], &words);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let pair = ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"];
    let least = ["--processes", "1", "--rounds", "6", "--epoch-steps", "1", "--duration", "1"];
    let set = ["--set", "model.fault=null", "--set", "model.faultStep=4", "--warm-up", "0"];
    let said = run(folder.path(), &[&pair[..], &least, &set].concat());
    said.expect_code(0);
    let text = result(folder.path())["warnings"].to_string();
    assert!(text.contains("model.fmu: OSMPSensorDataOut had no message in 2 of 6 steps"), "{text}");
}

#[test]
fn an_fmu_whose_process_nothing_reaches() {
    let (short, words) = (["--timeout", "1"], ["in DoStep, step 1", "hung"]);
    fails(2, "model", "stop", &short, &words);
    fails(3, "source", "hang without signals", &short, &words);
    fails(2, "source", "pending", &short, &words);
}

#[test]
fn an_fmu_without_manners() {
    for fmi in [2, 3] {
        for whose in ["source", "model"] {
            let unknown = ["DoStep returned a status that FMI does not define at step 1"];
            fails(fmi, whose, "status 99", &[], &unknown);
            fails(fmi, whose, "crash in thread", &[], &["in DoStep, step 1", "SIGSEGV"]);
            fails(fmi, whose, "log much", &[], &["DoStep returned error at step 1", "xxx…"]);
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
            let set = format!("{whose}.fault=bad manners");
            let said = couple(folder.path(), &["--set", &set]);
            assert_eq!(said.code, Some(0), "{fmi}, {whose}: {}{}", said.out, said.err);
        }
    }
}

#[test]
fn an_fmu_that_takes_memory_without_end() {
    let words = ["in DoStep, step 1", "used more than 256 MiB of memory", "--max-memory"];
    for whose in ["source", "model"] {
        fails(2, whose, "devour", &["--max-memory", "256mib"], &words);
    }
}

#[test]
fn messages_must_be_the_same_again_and_what_they_are_declared_to_be() {
    let again = ["OSMPSensorViewOut", "differs between two runs at step 1"];
    fails(2, "source", "random", &[], &again);
    let version = ["OSMPSensorViewOut", "declares OSI 3.8.0", "says 3.7.0"];
    fails(2, "source", "other version", &[], &version);
    // Also after the proof, which sees three steps.
    let later = ["--set", "model.faultStep=3"];
    let garbage = ["model.fmu: OSMPSensorDataOut", "not Protobuf, at step 4"];
    fails(2, "model", "garbage", &later, &garbage);
    // So is one that ends in its first field.
    fails(2, "model", "cut", &later, &garbage);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    for (fault, flag) in [("random", "--varying"), ("other version", "--any-version")] {
        let set = format!("source.fault={fault}");
        let said = couple(folder.path(), &["--set", &set, flag]);
        assert_eq!(said.code, Some(0), "{fault}: {}{}", said.out, said.err);
    }
}

#[test]
fn settings_that_an_fmu_does_not_have() {
    let refusal = |setting: &str, words: &[&str]| {
        fails(2, "source", "none", &["--set", setting], words);
    };
    refusal("source.nonsense=1", &["no variable nonsense"]);
    refusal("source.size=many", &["'many' is not a value for size", "Integer"]);
    refusal("source.size=3000000000", &["too large for size"]);
}

/// A case in which the source's messages have so many bytes.
fn sized(bytes: u32) -> Load {
    Load {
        case: Case::new(format!("bytes={bytes}"), "bytes", "fixture"),
        source: vec![("size".into(), bytes.to_string())],
        model: Vec::new(),
    }
}

fn entrant(id: &str, work: HostWork, only: &[&str]) -> Entrant {
    Entrant {
        subject: Subject {
            bound: matches!(work, HostWork::Memcpy(_)),
            ..Subject::new(id, id, "C")
        },
        work: Some(work),
        only: only.iter().map(|id| id.to_string()).collect(),
    }
}

#[test]
fn the_run_of_the_others_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    Fixture::source(2).without_binary().write(&path("broken.fmu"));
    let pair = |source: &str, fault: &str| {
        HostWork::Fmus(Box::new(Pair {
            source: path(source),
            source_parameters: vec![
                ("fault".into(), fault.into()),
                // Beyond the proof, within the rounds.
                ("faultStep".into(), "12".into()),
            ],
            model: path("model.fmu"),
            ..Pair::default()
        }))
    };
    let plan = Plan {
        cases: vec![sized(2000), sized(4000)],
        entrants: vec![
            entrant("broken", pair("broken.fmu", ""), &[]),
            entrant("crashing", pair("source.fmu", "crash"), &[]),
            entrant("once", pair("source.fmu", ""), &["bytes=4000"]),
            entrant("fine", pair("source.fmu", ""), &[]),
            entrant("memcpy", HostWork::Memcpy(Some("fine".into())), &[]),
        ],
        host: (env!("CARGO_BIN_EXE_wiregauge").into(), vec!["cosim".into(), "host".into()]),
        settings: Settings {
            processes: 2,
            rounds: 6,
            epoch_ns: 1000,
            seed: 1,
            ..Settings::default()
        },
        time: Duration::from_secs(1),
        most_rounds: 6,
        patience: Duration::from_secs(30),
        steps: Some(2),
        warm_up: 1,
        dump: None,
    };
    let measured = measure(&plan, None, &|_, _, _| ()).unwrap();
    let status = |id: &str| &measured.subjects.iter().find(|s| s.id == id).unwrap().status;
    let failure = |id: &str| match status(id) {
        Status::Failed(reason) => reason.clone(),
        other => panic!("{id} is {other:?}"),
    };
    assert!(failure("broken").contains("broken.fmu") && failure("broken").contains("no binary"));
    let crash = failure("crashing");
    for word in ["at bytes=2000", "source.fmu in DoStep, step 13", "SIGSEGV"] {
        assert!(crash.contains(word), "no '{word}' in {crash}");
    }
    for id in ["once", "fine", "memcpy"] {
        assert_eq!(*status(id), Status::Measured, "{id}");
    }
    let rows = |subject: &str, case: &str, metric: &str| {
        let of = |m: &&Measurement| {
            (m.subject.as_str(), m.case.as_str(), m.metric.as_str()) == (subject, case, metric)
        };
        measured.measurements.iter().find(of).map(|m| m.samples.clone())
    };
    for case in ["bytes=2000", "bytes=4000"] {
        for metric in ["step", "exchange", "source", "model"] {
            for subject in ["fine", "memcpy"] {
                let rows = rows(subject, case, metric).expect("it is measured");
                assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6]);
                assert!(rows.iter().flatten().all(Option::is_some), "{subject} {metric}");
            }
        }
    }
    assert!(rows("once", "bytes=2000", "step").is_none());
    assert!(rows("once", "bytes=4000", "step").is_some());
    let before: Vec<bool> = rows("crashing", "bytes=2000", "exchange").unwrap()[0]
        .iter()
        .map(Option::is_some)
        .collect();
    // One step to warm up, three a round.
    assert_eq!(before, [true, true, true, false, false, false]);
    let size = |subject: &str, case: &str| {
        let facts = measured.facts.iter().filter(|f| f.metric == "size");
        facts.filter(|f| f.subject == subject && f.case == case).map(|f| f.value).next()
    };
    assert_eq!(size("fine", "bytes=2000"), Some(2000.0));
    assert_eq!(size("fine", "bytes=4000"), Some(4000.0));
    assert_eq!(size("memcpy", "bytes=4000"), None);
    let places: Vec<usize> = measured
        .measurements
        .iter()
        .map(|m| METRICS.iter().position(|metric| *metric == m.metric).unwrap())
        .collect();
    assert!(places.is_sorted(), "tables would have their columns in disorder");
}
