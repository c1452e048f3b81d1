//! FMUs under the master, in FMI 2 and 3: what they say, how they are coupled,
//! and what is left when they are gone.

#[path = "support/couple.rs"]
mod couple;
mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use couple::fixture::{self, Fixture};
use couple::{codes, couple, fact, samples, write, SHORT};
use support::{has_its_form, processes_below, result, run, status, wiregauge};

const PHASES: [&str; 5] = [
    "step/source generation",
    "step/source serialization",
    "step/model deserialization",
    "step/model calculation",
    "step/model serialization",
];

#[test]
fn a_pair_gives_phases_and_exchange_in_every_mixture_of_versions() {
    for (from, to) in [(2, 2), (3, 3), (2, 3), (3, 2)] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Fixture::source(from), &Fixture::model(to));
        let more = ["--set", "source.size=50000", "--rounds", "3", "--epoch-steps", "7"];
        let said = run(
            folder.path(),
            &[
                &["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"][..],
                &["--processes", "2", "--duration", "1"],
                &more,
            ]
            .concat(),
        );
        assert_eq!(said.code, Some(0), "{from} to {to}: {}{}", said.out, said.err);
        let run = result(folder.path());
        has_its_form(&run);
        assert_eq!(status(&run, "fmus"), r#"{"state":"measured"}"#);
        assert_eq!(fact(&run, "fmus", "size"), Some(50_000.0));
        assert_eq!(fact(&run, "fmus", "size/model output"), Some(16.0));
        let column = |metric: &str| -> Vec<f64> {
            let column = samples(&run, "fmus", metric);
            assert_eq!(column.len(), 6, "{metric}");
            column.into_iter().map(|sample| sample.expect("none is lost")).collect()
        };
        for (index, step) in column("step").into_iter().enumerate() {
            let sum: f64 = PHASES.iter().map(|phase| column(phase)[index]).sum();
            assert!((sum - step).abs() <= step * 1e-9, "{sum} is not {step}");
            let parts = column("source")[index] + column("model")[index];
            assert!((parts - step).abs() <= step * 1e-9);
            // The phases lie within what the master sees.
            assert!(step <= column("exchange")[index] * 1.5, "{step}");
        }
        let memcpy = samples(&run, "memcpy", "step");
        assert!(memcpy.len() == 6 && memcpy.iter().all(Option::is_some));
        assert!(run["kind"] == "cosim" && !codes(&run).contains(&"no-phases"));
    }
}

#[test]
fn each_phase_is_what_the_logs_say() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let set = ["--set", "source.fault=made-up times", "--set", "model.fault=made-up times"];
    let said = couple(folder.path(), &set);
    said.expect_code(0);
    let run = result(folder.path());
    for (metric, ns) in PHASES.into_iter().zip([10e3, 20e3, 30e3, 40e3, 50e3]) {
        assert_eq!(samples(&run, "fmus", metric), [Some(ns)], "{metric}");
    }
    for (metric, ns) in [("step", 150e3), ("source", 30e3), ("model", 120e3)] {
        assert_eq!(samples(&run, "fmus", metric), [Some(ns)], "{metric}");
    }
}

#[test]
fn a_step_that_goes_on_behind_the_call_is_awaited() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let said = couple(folder.path(), &["--set", "source.fault=asynchronous"]);
    said.expect_code(0);
}

#[test]
fn a_recorder_has_no_output() {
    for fmi in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let model = Fixture::model(fmi).edit("causality=\"output\"", "causality=\"local\"");
        write(folder.path(), &Fixture::source(fmi), &model);
        let said = couple(folder.path(), &["--set", "model.fault=sink"]);
        said.expect_code(0);
        let run = result(folder.path());
        assert_eq!(samples(&run, "fmus", "step/model deserialization").len(), 1);
        assert_eq!(samples(&run, "fmus", "source").len(), 1);
        assert!(samples(&run, "fmus", "step").is_empty());
        assert_eq!(fact(&run, "fmus", "size/model output"), None);
        assert!(!codes(&run).contains(&"no-phases"), "{:?}", codes(&run));
    }
}

#[test]
fn what_says_nothing_of_itself_is_coupled_by_name() {
    for fmi in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let (other, mime) = ("somebody.else", "mimeType=\"application/octet-stream");
        let bare = |fixture: Fixture| match fmi {
            2 => fixture.edit("net.pmsf.osmp", other),
            _ => fixture
                .edit("net.pmsf.osmp", other)
                .edit("mimeType=\"application/x-open-simulation-interface", mime),
        };
        write(folder.path(), &bare(Fixture::source(fmi)), &bare(Fixture::model(fmi)));
        let said = couple(folder.path(), &[]);
        said.expect_code(1);
        assert!(status(&result(folder.path()), "fmus").contains("--connect"));
        let connect = "OSMPSensorViewOut=OSMPSensorViewIn";
        let more = ["--connect", connect, "--result", "OSMPSensorDataOut"];
        let said = couple(folder.path(), &more);
        said.expect_code(0);
        assert_eq!(fact(&result(folder.path()), "fmus", "size/model output"), Some(16.0));
    }
}

#[test]
fn a_packed_sensor_takes_plain_messages() {
    let folder = tempfile::tempdir().unwrap();
    let packed = format!("{}; encoding=packed", fixture::MIME);
    write(folder.path(), &Fixture::source(2), &Fixture::model(2).mime(&packed));
    let said = couple(folder.path(), &[]);
    said.expect_code(0);
    write(folder.path(), &Fixture::source(2).mime(&packed), &Fixture::model(2));
    assert_eq!(couple(folder.path(), &[]).code, Some(1));
}

#[test]
fn the_step_size_is_one_and_is_told() {
    let options = |folder: &Path| result(folder)["subjects"][0]["options"].to_string();
    for (size, more, words) in [
        ("stepSize=\"0.1\"", &[][..], "steps of 0.1 s, as the source proposes"),
        ("stepSize=\"0.1\"", &["--step-size", "0.05"], "steps of 0.05 s, as asked for"),
        ("", &[], "steps of 0.1 s, as the model proposes"),
        ("stepSize=\"0\"", &["--step-size", "0.05"], "steps of 0.05 s"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let source = Fixture::source(2).edit("stepSize=\"0.1\"", size);
        write(folder.path(), &source, &Fixture::model(2));
        let said = couple(folder.path(), more);
        assert_eq!(said.code, Some(0), "{size}: {}{}", said.out, said.err);
        let options = options(folder.path());
        assert!(options.contains(words), "no '{words}' in {options}");
    }
    for bad in ["0", "-1", "a tenth", "1e300", "NaN"] {
        let folder = tempfile::tempdir().unwrap();
        let edit = format!("stepSize=\"{bad}\"");
        write(
            folder.path(),
            &Fixture::source(2).edit("stepSize=\"0.1\"", &edit),
            &Fixture::model(2),
        );
        let said = couple(folder.path(), &[]);
        assert_eq!(said.code, Some(1), "{bad}: {}{}", said.out, said.err);
        let status = status(&result(folder.path()), "fmus");
        for word in ["source.fmu", &format!("stepSize '{bad}'"), "--step-size"] {
            assert!(status.contains(word), "no '{word}' in {status}");
        }
    }
}

#[test]
fn a_path_is_relative_to_where_the_user_stands() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let set = ["--set", "source.log=logs/source.json", "--set", "model.log=./model.json"];
    let said = couple(folder.path(), &set);
    said.expect_code(0);
    assert!(folder.path().join("logs/source.json").exists());
    assert!(folder.path().join("model.json").exists());
}

#[test]
fn an_fmu_named_twice_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (name, fixture) in [("a", Fixture::source(2)), ("b", Fixture::model(2))] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fixture.write(&folder.path().join(name).join("same.fmu"));
    }
    let pair = ["cosim", "run", "--source", "a/same.fmu", "--model", "b/same.fmu"];
    let said = run(folder.path(), &[&pair[..], &SHORT, &["--set", "model.fault=error"]].concat());
    said.expect_code(1);
    let run = result(folder.path());
    assert!(status(&run, "fmus").contains("b/same.fmu: DoStep"), "{}", status(&run, "fmus"));
    let title = run["title"].as_str().unwrap();
    assert!(title.contains("a/same.fmu and b/same.fmu"), "{title}");
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let run = |set: &[&str]| {
        let mut command = wiregauge();
        command.args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"]);
        command.args(SHORT).args(set).current_dir(folder.path()).env("TMPDIR", &scratch);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut child = run(&["--set", "model.fault=hang"]);
    let patience = Instant::now() + Duration::from_secs(60);
    while processes_below(&scratch) == 0 {
        assert!(Instant::now() < patience, "no host was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    // While it lives, another run leaves its folders alone, however old.
    let folders = || fs::read_dir(&scratch).unwrap().flatten().map(|entry| entry.path());
    let age = || {
        for path in folders() {
            let long_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
            fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
    };
    age();
    let before = folders().count();
    assert!(before >= 3, "two FMUs and a host");
    assert!(run(&[]).wait().unwrap().success());
    assert_eq!(folders().count(), before);
    child.kill().unwrap();
    child.wait().unwrap();
    age();
    assert!(run(&[]).wait().unwrap().success());
    assert_eq!(folders().count(), 0, "what the killed run left");
}

#[test]
fn what_fmus_print_disturbs_nobody() {
    for fmi in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
        let set = ["--set", "source.fault=print", "--set", "model.fault=print"];
        let said = couple(folder.path(), &set);
        said.expect_code(0);
        assert!(!said.out.contains("yes"), "{}", said.out);
    }
}

#[test]
fn odd_logs_and_folders_disturb_nobody() {
    for fmi in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let scratch = folder.path().join("a folder of Jürgen's %41");
        fs::create_dir(&scratch).unwrap();
        write(folder.path(), &Fixture::source(fmi), &Fixture::model(fmi));
        let mut command = wiregauge();
        command.args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"]);
        command.args(SHORT).args(["--set", "source.fault=odd log", "--set", "model.fault=odd log"]);
        command.current_dir(folder.path()).env("TMPDIR", &scratch);
        let said = support::to_said(command.output().unwrap());
        said.expect_code(0);
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "files stay behind");
    }
}

#[test]
fn logs_are_found_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let measured = |model: &Fixture, set: &[&str]| {
        write(folder.path(), &Fixture::source(2), model);
        let said = couple(folder.path(), set);
        said.expect_code(0);
        result(folder.path())
    };
    let run = measured(&Fixture::model(2), &["--set", "model.fault=no log"]);
    assert!(codes(&run).contains(&"no-phases"));
    assert!(samples(&run, "fmus", "step").is_empty());
    assert_eq!(samples(&run, "fmus", "source").len(), 1, "one log has its phases");
    assert_eq!(samples(&run, "fmus", "step/source generation").len(), 1);
    assert_eq!(samples(&run, "fmus", "exchange").len(), 1);

    let run = measured(&Fixture::model(2), &["--set", "model.fault=open log"]);
    assert!(codes(&run).contains(&"log"));
    assert_eq!(samples(&run, "fmus", "step").len(), 1);

    // One that takes no path and writes into the working folder.
    let without = Fixture::model(2).edit("name=\"log\"", "name=\"logLevel\"");
    let run = measured(&without, &["--set", "model.fault=log here"]);
    assert_eq!(samples(&run, "fmus", "step").len(), 1);
}

#[test]
fn messages_can_be_written_down() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(3));
    let said = couple(folder.path(), &["--dump", "out", "--set", "source.size=500"]);
    said.expect_code(0);
    let out = folder.path().join("out/own/source+model");
    let mut wanted: Vec<u8> = (0..500usize).map(|at| (at * 7) as u8).collect();
    // Fields that OSI does not know; the second has all that is left, 486 bytes.
    wanted[..14].copy_from_slice(b"\x7a\x06......\xfa\x7f\xe6\x83\x80\x00");
    for step in 0..3u8 {
        assert_eq!(fs::read(out.join(format!("source-00000{step}.bin"))).unwrap(), wanted);
        let made = fs::read(out.join(format!("model-00000{step}.bin"))).unwrap();
        assert_eq!(made[11..15], 500u32.to_le_bytes());
        assert_eq!(made[15], step);
    }
    assert_eq!(fs::read_dir(out).unwrap().count(), 6);
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let refuses = |arguments: &[&str], words: &[&str]| {
        support::refuses(folder.path(), &[&["cosim"], arguments].concat(), words);
    };
    refuses(&["run", "--codecs", "morse"], &["morse", "flatbuffers-tables"]);
    refuses(&["run", "--source", "a.fmu"], &["--model"]);
    refuses(&["import", "nothing.json"], &["nothing.json", "cannot read"]);
    fs::write(folder.path().join("not.json"), "{}").unwrap();
    refuses(&["import", "not.json"], &["not.json", "Header", "SET Level"]);
    refuses(&["import", "/dev/zero"], &["/dev/zero", "is a device"]);
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refuses(&["import", "pipe"], &["pipe", "without a writer"]);
    for size in ["0", "-1", "1e300", "NaN"] {
        let size = format!("--step-size={size}");
        let said = run(folder.path(), &["cosim", "run", "--source", "a", "--model", "b", &size]);
        said.expect_code(2);
        assert!(said.err.contains("not a step size"), "{}", said.err);
    }
}

#[test]
fn an_interruption_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let mut child = wiregauge()
        .args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"])
        .args(["--set", "model.fault=hang", "--set", "model.faultStep=2"])
        .current_dir(folder.path())
        .env("TMPDIR", &scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    while processes_below(&scratch) == 0 {
        assert!(Instant::now() < patience, "no host was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        assert!(Instant::now() < patience, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(ended.code(), Some(130));
    assert_eq!(processes_below(&scratch), 0, "a host stays behind");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "files stay behind");
    assert!(!folder.path().join("run.json").exists(), "half a result");
}

#[test]
fn what_an_fmu_detaches_is_ended_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let said = wiregauge()
        .args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"])
        .args(["--set", "model.fault=detach", "--set", "model.faultStep=1"])
        .args(SHORT)
        .current_dir(folder.path())
        .env("TMPDIR", &scratch)
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(processes_below(&scratch), 0, "a process stays behind");
}

#[test]
fn what_was_measured_before_an_interruption_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    write(folder.path(), &Fixture::source(2), &Fixture::model(2));
    let mut child = wiregauge()
        .args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"])
        .args(["--set", "model.fault=hang", "--set", "model.faultStep=60"])
        .args(["--epoch-steps", "1", "--rounds", "100", "--processes", "2"])
        .current_dir(folder.path())
        .env("TMPDIR", &scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The step that a host is in stands in its file, which is empty at first.
    let hangs = || {
        let hosts = fs::read_dir(&scratch).unwrap().flatten();
        let places = hosts.filter_map(|host| fs::read(host.path().join("place")).ok());
        let mut steps =
            places.filter_map(|place| Some(u64::from_le_bytes(*place.get(16..)?.first_chunk()?)));
        steps.any(|step| step == 60)
    };
    let patience = Instant::now() + Duration::from_secs(60);
    while !hangs() {
        assert!(Instant::now() < patience, "no step was measured");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let run = result(folder.path());
    has_its_form(&run);
    assert!(couple::codes(&run).contains(&"interrupted"), "{}", run["warnings"]);
    let column = samples(&run, "fmus", "exchange");
    assert!(column[0].is_some() && column[199].is_none(), "{column:?}");
    assert_eq!(processes_below(&scratch), 0, "a host stays behind");
}

#[test]
fn logs_of_others_become_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str, identity: &str, types: &str, rows: &str, end: &str| {
        let text = format!(
            r#"{{"Header":{{"EventTypes":[{types}]}},"Data":[{{"Instance":{{"ModelIdentity":
            "{identity}"}},"OsiEvents":[{rows}{end}"#
        );
        fs::write(folder.path().join(name), text).unwrap();
    };
    log(
        "source.json",
        "Source Flatbuf",
        r#""StartSourceCalc","StartOSISerialize","StopOSISerialize""#,
        "[0,1648482698.771,0.1,0,5,23226752],[1,1648482698.817,0.1,0,5,23226752],\
         [2,1648482698.83,0.1,0,5,23226752],[0,1648482698.901,0.2,0,5,23226752],\
         [1,1648482698.942,0.2,0,5,23226752],[2,1648482698.951,0.2,0,5,23226752]",
        "]}]}",
    );
    // Other ids, microseconds, no end.
    log(
        "model.json",
        "Model Flatbuf",
        r#""StartOSISerialize","StopOSISerialize","StartOSIDeserialize","StopOSIDeserialize""#,
        "[2,1648482698831000.0,0.1,0,5,8],[3,1648482698831001.0,0.1,0,5,8],\
         [0,1648482698840001.0,0.1,0,5,8],[1,1648482698840003.0,0.1,0,5,8],\
         [2,1648482698952000.0,0.2,0,5,8],[3,1648482698952001.0,0.2,0,5,8],\
         [0,1648482698962001.0,0.2,0,5,8],[1,1648482698962003.0,0.2,0,5,8],",
        "",
    );
    let said = run(folder.path(), &["cosim", "import", "model.json", "source.json"]);
    said.expect_code(0);
    let run = result(folder.path());
    has_its_form(&run);
    let column = |metric: &str| -> Vec<f64> {
        samples(&run, "flatbuf", metric).into_iter().map(Option::unwrap).collect()
    };
    assert_eq!(column("step/source generation"), [46e6, 41e6]);
    assert_eq!(column("step/source serialization"), [13e6, 9e6]);
    assert_eq!(column("step/model deserialization"), [1e3, 1e3]);
    assert_eq!(column("step/model calculation"), [9e6, 10e6]);
    assert_eq!(column("step"), [59e6 + 9e6 + 3e3, 50e6 + 10e6 + 3e3]);
    assert_eq!(fact(&run, "flatbuf", "size"), Some(23_226_752.0));
    let text = run["warnings"].to_string();
    for word in
        ["multiples of 1000 µs", "sizeof", "the end of the file is missing", "did not take turns"]
    {
        assert!(text.contains(word), "no '{word}' in {text}");
    }
    assert!(said.err.contains("2 steps were paired by simulation time"), "{}", said.err);
    // It can be shown in every form.
    for form in ["table", "md", "csv", "json"] {
        let shown = support::run(folder.path(), &["report", "run.json", "--format", form]);
        assert_eq!(shown.code, Some(0), "{form}: {}", shown.err);
    }
    let page = support::run(folder.path(), &["report", "run.json", "-o", "page.html"]);
    page.expect_code(0);
}
