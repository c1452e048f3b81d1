//! Bad input: one line that names the file and what to do, a non-zero exit,
//! and nothing in place of what was there.

use std::fs;

use wiregauge_testkit::prerequisites;
use zip::write::SimpleFileOptions;
use zip::ZipWriter;

use crate::support::{project, recording, refuses, run, to_said, wiregauge_beside_noexec};

/// A LiDAR run with one codec that is quick to build.
const QUICK: [&str; 5] = ["codecs", "--codecs", "bincode", "--duration", "1"];

#[test]
fn what_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refuses(at, &["codecs", "--message", "none.msg"], &["none.msg"]);
    refuses(at, &["codecs", "--input", "none.mcap"], &["none.mcap"]);
    refuses(at, &["report", "none.json"], &["none.json"]);
    refuses(at, &["compare", "none.json", "none.json"], &["none.json"]);
    refuses(at, &["codecs", "--codecs", "morse"], &["unknown codec 'morse'", "prost"]);
    refuses(at, &["codecs", "--experiments", "juggle"], &["unknown experiment 'juggle'", "encode"]);
    refuses(at, &["codecs", "--length", "dots=3"], &["points"]);
    refuses(at, &["codecs", "--fixed", "info.grid"], &["no field 'grid'"]);
    refuses(at, &["codecs", "--fixed", "info"], &["ends at a record"]);
}

#[test]
fn bad_definitions_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.msg"), "uint32 x\nWheel[] wheels\n").unwrap();
    refuses(at, &["codecs", "--message", "a.msg"], &["a.msg:2", "Wheel"]);
    fs::write(
        at.join("tree.proto"),
        "syntax = \"proto3\"; message Tree { repeated Tree sub = 1; }",
    )
    .unwrap();
    refuses(at, &["codecs", "--message", "tree.proto"], &["tree.proto", "Tree", "contains itself"]);
    let shown = run(at, &["schema", "tree.proto"]);
    shown.expect_code(0);
    assert!(shown.out.contains("prost                    rejected: Tree"), "{}", shown.out);
    fs::write(
        at.join("two.proto"),
        "syntax = \"proto3\"; message A { int32 x = 1; } message B { int32 x = 1; }",
    )
    .unwrap();
    refuses(at, &["codecs", "--message", "two.proto"], &["two.proto", "A", "B"]);
    refuses(at, &["codecs", "--message", "two.proto:C"], &["two.proto", "C"]);
    fs::write(at.join("text.txt"), "hello").unwrap();
    refuses(at, &["codecs", "--message", "text.txt"], &["text.txt", ".msg"]);
}

#[test]
fn bad_recordings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("foreign.mcap"), "this is no recording at all, however long it is").unwrap();
    refuses(at, &["codecs", "--input", "foreign.mcap"], &["foreign.mcap"]);
    let path = recording("mcap/ros2-chunks.mcap");
    refuses(at, &["codecs", "--input", &path], &["--channel", "/sweep", "/cloud"]);
    refuses(at, &["codecs", "--input", &path, "--channel", "/none"], &["/none", "/cloud"]);
    let bytes = fs::read(&path).unwrap();
    fs::write(at.join("cut.mcap"), &bytes[..bytes.len() / 2]).unwrap();
    refuses(
        at,
        &["codecs", "--input", "cut.mcap", "--channel", "/cloud"],
        &["cut.mcap", "truncated"],
    );
}

#[test]
fn a_result_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("text.json"), "hello").unwrap();
    refuses(at, &["report", "text.json"], &["text.json", "not JSON"]);
    fs::write(at.join("other.json"), "{\"format\": \"other\"}").unwrap();
    refuses(
        at,
        &["report", "other.json", "--rate", "10Hz"],
        &["other.json", "not a result of wiregauge"],
    );
    fs::write(at.join("new.json"), "{\"format\": \"wiregauge.run\", \"version\": 99}").unwrap();
    refuses(at, &["report", "new.json"], &["new.json", "99", "update"]);
    refuses(at, &["report", "."], &[". is a folder"]);
    fs::write(at.join("marked.json"), "\u{feff}{\"format\": \"other\"}").unwrap();
    refuses(at, &["report", "marked.json"], &["marked.json", "not a result of wiregauge"]);
    fs::write(at.join("half.json"), "{\"format\": \"wiregauge.run\", \"version\": 1}").unwrap();
    refuses(at, &["report", "half.json"], &["half.json", "damaged"]);
}

#[test]
fn a_full_disk_leaves_the_old_result() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let made = run(at, &QUICK);
    made.expect_code(0);
    fs::write(at.join("report.html"), "the good old page").unwrap();
    let before = fs::read_dir(at).unwrap().count();
    // A file may grow to four blocks and no further: the disk is full.
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" report run.json -o report.html";
    let said = crate::support::to_said(
        std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_wiregauge")])
            .current_dir(at)
            .output()
            .unwrap(),
    );
    said.expect_code(2);
    assert!(said.err.contains("report.html") && said.err.contains("disk"), "{}", said.err);
    assert_eq!(fs::read_to_string(at.join("report.html")).unwrap(), "the good old page");
    assert_eq!(fs::read_dir(at).unwrap().count(), before, "something was left behind");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let lidar = project().join("schemas/lidar.msg").display().to_string();
    let script = "\"$0\" schema \"$1\" | true; \"$0\" schema --format json \"$1\" | head -1";
    let said = crate::support::to_said(
        std::process::Command::new("bash")
            .args(["-o", "pipefail", "-c", script, env!("CARGO_BIN_EXE_wiregauge"), &lidar])
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
}

/// What an option does not do with a command is refused, in every verb.
#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.msg"), "uint32 x\n").unwrap();
    fs::write(at.join("runs.json"), "{}").unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["repeat", "polysync", "--messages", "3"], "--messages"),
        (&["repeat", "polysync", "--length", "points=3"], "--length"),
        (&["repeat", "polysync", "--sweep", "points=1,2"], "--sweep"),
        (&["repeat", "polysync", "--presence", "0.5"], "--presence"),
        (&["repeat", "polysync", "--message", "a.msg"], "--message"),
        (&["repeat", "polysync", "--input", "a.mcap"], "--input"),
        (&["repeat", "rsb", "--messages", "3"], "--messages"),
        (&["repeat", "polysync", "--weight"], "--weight"),
        (&["repeat", "rsb", "--weight", "--codecs", "prost"], "unknown program 'prost'"),
        (&["repeat", "rsb", "--length", "data=3"], "--length"),
        (&["repeat", "rsb", "--sweep", "data=1,2"], "--sweep"),
        (&["repeat", "rsb", "--presence", "0.5"], "--presence"),
        (&["repeat", "rsb", "--fixed", "sequence_number"], "--fixed"),
        (&["repeat", "rsb", "--element", "causes[0]"], "--element"),
        (&["codecs", "--presence", "0.5"], "--presence"),
        (&["codecs", "--message", "a.msg", "--presence", "2"], "from 0 to 1"),
        (&["codecs", "--input", "a.mcap", "--length", "points=3"], "--length"),
        (&["codecs", "--input", "a.mcap", "--sweep", "points=1,2"], "--sweep"),
        (&["codecs", "--input", "a.mcap", "--presence", "0.5"], "--presence"),
        (&["codecs", "--message", "a.msg", "--channel", "/a"], "--channel"),
        (&["codecs", "--channel", "/a"], "--input"),
        (&["codecs", "--whole-schema"], "--input"),
        (&["codecs", "--quick", "--duration", "5"], "--duration"),
        (&["codecs", "--list", "--quick"], "--list"),
        (&["codecs", "--experiments", "encode", "--fixed", "info.guid"], "--fixed"),
        (&["codecs", "--experiments", "encode", "--element", "info.guid"], "--element"),
        (&["codecs", "--sweep", "points=1,1"], "given twice"),
        (&["codecs", "--sweep", "points=1,2", "--length", "points=3"], "two lengths"),
        (&["codecs", "--length", "points=1", "--length", "points=3"], "two lengths"),
        (&["codecs", "--duration", "0"], "--duration"),
        (&["codecs", "--runner", "a=true", "--runner", "a=false"], "two runners"),
        (
            &["cosim", "run", "--source", "a.fmu", "--model", "b.fmu", "--moving-objects", "3"],
            "--moving-objects",
        ),
        (&["cosim", "run", "--source", "a.fmu", "--reflections", "3"], "--reflections"),
        (&["cosim", "run", "--source", "a.fmu", "--scene", "full"], "--scene"),
        (&["cosim", "run", "--source", "a.fmu", "--codecs", "packed"], "--codecs"),
        (&["cosim", "run", "--source", "a.fmu", "--fresh"], "--fresh"),
        (&["cosim", "run", "--reflections", "10,10"], "twice"),
        (&["cosim", "run", "--moving-objects", "1,2,1"], "twice"),
        (&["repeat", "persival", "--quick", "--duration", "5"], "--duration"),
        (&["bus", "run", "--fast"], "--fast"),
        (&["bus", "run", "--timeout", "1s"], "--timeout"),
        (&["bus", "run", "--announce"], "--announce"),
        (&["bus", "run", "--size", "10,10"], "twice"),
        (&["bus", "run", "--message", "lidar", "--size", "10"], "--size"),
        (&["bus", "run", "--codecs", "prost"], "--message"),
        (&["bus", "run", "--length", "points=3"], "--message"),
        (&["bus", "run", "--channel", "/a"], "--input"),
        (&["repeat", "fep", "--quick", "--duration", "5s"], "--duration"),
        (&["schema", "a.msg", "--format", "json", "--idl", "lcm"], "--idl"),
        (&["report", "runs.json", "-o", "a.html", "--format", "md"], "--format"),
        (&["doctor", "--format", "csv"], "--format json"),
    ];
    for (arguments, word) in table {
        let said = run(at, arguments);
        assert_eq!(said.code, Some(2), "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(word), "{arguments:?}: no '{word}' in {}", said.err);
        assert_eq!(said.out, "", "{arguments:?}");
        assert!(said.err.lines().all(|l| l.chars().count() <= 100), "{arguments:?}: {}", said.err);
    }
    assert_eq!(fs::read_dir(at).unwrap().count(), 2, "something was written");
}

/// Where the result cannot go is known before anything is measured, and no
/// input is replaced.
#[test]
fn a_share_of_what_is_never_absent_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plain.msg"), "int32 x\nfloat64[] list\n").unwrap();
    let words = ["codecs", "--message", "plain.msg", "--presence", "0.5"];
    refuses(folder.path(), &words, &["--presence has no effect", "has no optional field"]);
}

#[test]
fn an_output_that_cannot_be_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.msg"), "uint32 x\n").unwrap();
    fs::write(at.join("log.json"), "{}").unwrap();
    let verbs: &[&[&str]] = &[
        &["codecs"],
        &["repeat", "polysync"],
        &["cosim", "run"],
        &["repeat", "persival"],
        &["repeat", "pedestrian"],
        &["cosim", "import", "log.json"],
        &["bus", "run"],
        &["repeat", "fep"],
        &["bus", "headroom", "--size", "500"],
    ];
    for verb in verbs {
        for (output, word) in [("none/run.json", "none/run.json"), (".", "is a folder")] {
            let mut arguments = verb.to_vec();
            arguments.extend(["-o", output]);
            refuses(at, &arguments, &[word]);
        }
    }
    refuses(at, &["codecs", "--message", "a.msg", "-o", "a.msg"], &["a.msg", "another file"]);
    refuses(at, &["cosim", "import", "log.json", "-o", "log.json"], &["another file"]);
    assert_eq!(fs::read_to_string(at.join("a.msg")).unwrap(), "uint32 x\n");
}

/// A full device is an error, before anything is measured; a result that cannot be
/// written leaves the table and is kept elsewhere.
#[test]
fn what_is_written_to_a_full_device_is_not_lost_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let shell = |script: &str| {
        crate::support::to_said(
            crate::support::wiregauge_in("sh")
                .args(["-c", script, env!("CARGO_BIN_EXE_wiregauge")])
                .current_dir(at)
                .env("TMPDIR", at)
                .output()
                .unwrap(),
        )
    };
    for script in ["\"$0\" --help > /dev/full", "\"$0\" codecs --list > /dev/full"] {
        let said = shell(script);
        assert_eq!(said.code, Some(2), "{script}: {}", said.err);
        assert!(said.err.contains("standard output"), "{script}: {}", said.err);
    }
    let measure = format!("\"$0\" {}", QUICK.join(" "));
    refuses(at, &[&QUICK[..], &["-o", "/dev/full"]].concat(), &["cannot write /dev/full"]);
    // A pipe whose reader goes away meanwhile.
    let said = shell(&format!("mkfifo gone; : < gone & {measure} -o gone"));
    said.expect_code(2);
    assert!(said.out.contains("Bincode") && said.err.contains("cannot write gone"), "{}", said.err);
    let kept =
        said.err.rsplit("the result was written to ").next().unwrap().split(" instead").next();
    assert_eq!(run(at, &["report", kept.unwrap()]).code, Some(0), "{}", said.err);
    let said = shell(&format!("{measure} -o - | \"$0\" report /dev/stdin --format csv"));
    said.expect_code(0);
    assert!(said.out.starts_with("run,case") && said.err.contains("Bincode"), "{}", said.err);
    // The result and its page.
    let said = shell(&format!("{measure} && \"$0\" report run.json -o run.json"));
    said.expect_code(2);
    assert!(said.err.contains("run.json is also the input"), "{}", said.err);
    run(at, &["report", "run.json"]).expect_code(0);
    for columns in [60, 80] {
        let said = crate::support::to_said(
            crate::support::wiregauge()
                .args(["report", "run.json"])
                .env("COLUMNS", columns.to_string())
                .current_dir(at)
                .output()
                .unwrap(),
        );
        let wide = said.out.lines().find(|line| line.chars().count() > columns);
        assert_eq!(wide, None, "{columns} columns");
    }
}

/// Verbs that read files, each with the place of one.
const READERS: [&str; 37] = [
    "report @.json",
    "verify @.json --require lost=0",
    "compare @.json @.json",
    "report @.json --rate 10Hz",
    "cosim import @.json",
    "cosim run --source @.fmu --model @.fmu",
    "bus run --input @.mcap --channel a",
    "bus run --message @.proto",
    "bus run --cloud @.pcd",
    "bus participant --scenario @.toml --name a",
    "codecs --message @.proto",
    "codecs --input @.mcap",
    "codecs --input @.bag --channel a",
    "codecs points @.pcd",
    "codecs points @.mcap",
    "trace info @.mcap",
    "trace info @_sv.osi",
    "trace info @.db3",
    "trace info @.bag",
    "trace cat @.mcap",
    "trace index @_sv.osi",
    "trace convert @.mcap -o out.osi",
    "trace cut @.mcap -o out.mcap",
    "trace merge @.mcap @.mcap -o out.mcap",
    "trace split @.mcap -o out --by-size 1mb",
    "trace repair @.mcap -o out.mcap",
    "trace play @.mcap",
    "trace play @.mcap --into @.fmu",
    "trace record -o out.mcap --source @.fmu --steps 2",
    "packed info @.packed",
    "packed pack @.mcap -o out.mcap",
    "packed pack @.packed -o out.packed --point x:f32",
    "packed unpack @.packed -o out.bin",
    "schema @.proto",
    "schema @.msg",
    "generate @.proto --language python --wire protobuf -o out",
    "generate @.msg --language python --wire cdr -o out",
];

#[test]
fn no_verb_waits_for_what_need_not_end() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let _listens = std::os::unix::net::UnixListener::bind(at.join("socket")).unwrap();
    fs::create_dir(at.join("folder")).unwrap();
    for (name, target) in
        [("zero", "/dev/zero"), ("kmsg", "/proc/kmsg"), ("sock", "socket"), ("fold", "folder")]
    {
        for end in ".json .fmu .mcap .proto .msg .pcd .toml .bag .db3 .packed _sv.osi".split(' ') {
            std::os::unix::fs::symlink(target, at.join(format!("{name}{end}"))).unwrap();
        }
        for verb in READERS {
            let command = verb.replace('@', name);
            let said = run(at, &command.split(' ').collect::<Vec<_>>());
            // Pairs of FMUs that fail are a result.
            if command.starts_with("cosim run") {
                assert_eq!(said.code, Some(1), "{command}: {}{}", said.out, said.err);
                continue;
            }
            assert_eq!(said.code, Some(2), "{command}: {}{}", said.out, said.err);
            let lines = said.err.trim_end().lines().count();
            assert!(lines == 1 && said.err.contains(name), "{command}: {}", said.err);
        }
    }
}

#[test]
fn a_result_is_read_from_what_a_shell_passes() {
    let folder = tempfile::tempdir().unwrap();
    let script = "\"$0\" report <(echo '{}'); \"$0\" report /dev/stdin < <(echo '{}')";
    let said = crate::support::to_said(
        crate::support::wiregauge_in("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_wiregauge")])
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!(said.err.matches("is not a result of wiregauge").count(), 2, "{}", said.err);
}

/// Flags that take a size, and those that take a time: what the one grammar takes and
/// refuses, each of them does.
#[test]
fn every_flag_reads_sizes_and_times_alike() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let sizes = [
        "bus run --size @",
        "bus headroom --size @",
        "trace convert a.mcap -o b.mcap --chunk @",
        "trace split a.mcap -o out --by-size @",
        "codecs --max-memory @",
        "codecs points --max-memory @",
        "cosim run --max-memory @",
        "trace play a.mcap --max-memory @",
        "trace record -o a.mcap --source a.fmu --steps 1 --max-memory @",
    ];
    let times = [
        "bus run --cycle @",
        "bus run --duration @",
        "bus headroom --cycle @",
        "bus participant --scenario a.toml --name a --wait @",
        "bus participant --scenario a.toml --name a --return-within @",
        "trace split a.mcap -o out --by-duration @",
        "trace cut a.mcap -o b.mcap --from @",
        "trace cut a.mcap -o b.mcap --to @",
        "trace record -o a.mcap --source a.fmu --duration @",
        "trace record -o a.mcap --over tcp --wait @",
        "trace record -o a.mcap --source a.fmu --steps 1 --timeout @",
        "trace play a.mcap --into a.fmu --timeout @",
        "trace play a.mcap --into a.fmu --step-size @",
        "trace play a.mcap --over tcp --wait @",
        "cosim run --step-size @",
        "cosim run --duration @",
        "cosim run --timeout @",
        "codecs --duration @",
        "codecs --timeout @",
        "codecs points --duration @",
    ];
    // A flag is read before any other is asked for: what is taken ends otherwise.
    let told = |verb: &str, value: &str| {
        let mut arguments: Vec<&str> = verb.split(' ').filter(|word| *word != "@").collect();
        let last = arguments.pop().unwrap();
        let flag = format!("{last}={value}");
        arguments.push(&flag);
        arguments.push("--no-such-flag");
        run(at, &arguments).err
    };
    let sets: [(&[&str], &[&str], &[&str]); 2] = [
        (
            &sizes,
            &["1000", "1mib", "1MIB", "1MiB", "1 kB", "1.5kB", "1GB"],
            &["1.5", "0.0001kB", "1e3", "1 parsec", "MB", "99999999999999999999GB"],
        ),
        (
            &times,
            &["1s", "1S", "1500ms", "1.5s", "1m", "1 min", "1m 30s", "1m30s"],
            &[
                "soon",
                "1 parsec",
                "0.1ns",
                "1,5s",
                "99999999999999999999999999999999999999h",
                "1s 5",
            ],
        ),
    ];
    for (verbs, taken, refused) in sets {
        for verb in verbs {
            for value in taken {
                let error = told(verb, value);
                assert!(!error.contains("invalid value"), "{verb} {value}: {error}");
            }
            for value in refused {
                let error = told(verb, value);
                assert!(error.contains("invalid value"), "{verb} {value}: {error}");
            }
        }
    }
}

#[test]
fn a_path_is_shown_so_that_no_terminal_obeys_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("\u{1b}[2Ja.msg"), "uint32 x\n").unwrap();
    let source = recording("mcap/ros2-chunks.mcap");
    let commands: [&[&str]; 7] = [
        &["schema", "\u{1b}[2Ja.msg"],
        &["schema", "\u{1b}[2Jnone.msg"],
        &["report", "\u{1b}[2Jnone.json"],
        &["trace", "convert", &source, "-o", "\u{1b}[2Jb.mcap"],
        &["trace", "split", &source, "-o", "\u{1b}[2Jparts", "--by-channel"],
        &["generate", "\u{1b}[2Ja.msg", "--language=cpp", "--wire=cdr", "-o", "\u{1b}[2Jout"],
        &["report", "--form\u{1b}[2J"],
    ];
    for command in commands {
        let said = run(at, command);
        let all = format!("{}{}", said.out, said.err);
        assert!(!all.contains('\u{1b}'), "{command:?}: {all:?}");
        // What is no flag is shown without them by the command line's library.
        let is_shown = all.contains("\\u{1b}[2J") || command[1].starts_with('\u{1b}');
        assert!(is_shown || command[1].starts_with("--"), "{command:?}: {all}");
    }
}

#[test]
fn where_no_program_starts_another_folder_is_named() {
    if !prerequisites::NETWORK.is_met() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut model = ZipWriter::new(fs::File::create(at.join("a.fmu")).unwrap());
    model.start_file("modelDescription.xml", SimpleFileOptions::default()).unwrap();
    model.finish().unwrap();
    fs::create_dir(at.join("here")).unwrap();
    // What is wrong with an FMU is said in its row.
    let cases = [
        ("WIREGAUGE_BUILD", 2, &["codecs", "--codecs", "lcm"][..]),
        ("TMPDIR", 1, &["cosim", "run", "--source", "a.fmu", "--model", "a.fmu"]),
    ];
    for (variable, code, arguments) in cases {
        let mut command = wiregauge_beside_noexec(&at.join("here"));
        command.args(arguments).env(variable, at.join("here")).current_dir(at);
        let said = to_said(command.output().unwrap());
        said.expect_code(code);
        let all = said.out + &said.err;
        let remedy = format!("set {variable} to another folder");
        assert!(all.contains("noexec") && all.contains(&remedy), "{all}");
    }
}
