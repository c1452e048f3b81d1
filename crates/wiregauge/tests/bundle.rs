//! Bundles: what was packed measures without compilers, here and on another machine over ssh;
//! what is wrong with one is said in a line, and nothing is left behind.

#[path = "support/board.rs"]
mod board;
#[path = "support/couple.rs"]
mod couple;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use board::TestBoard;
use couple::fixture::Fixture;
use serde_json::Value;
use support::machine::{all_arrived, Machine, PAIR};
use support::{
    build_folder, has_its_form, project, result, run, send_signal, status, to_said, wiregauge,
    wiregauge_beside_noexec, Said,
};
use wiregauge_build_tools::toolchain::{EmulatorProgram, Target};
use wiregauge_build_tools::Toolchain;
use wiregauge_codec_run::libraries::cross_build;
use wiregauge_testkit::prerequisites;

/// Rows in both languages, with and without shared libraries, and one that cannot be packed.
const ROWS: [&str; 4] =
    ["--codecs", "prost,lcm,protobuf-cpp,java-serialization", "--length", "points=20"];
/// The shortest measurement.
const SHORT: [&str; 6] =
    ["--experiments=encode", "--experiments=decode", "--duration", "1s", "--processes", "1"];

/// The bundle of these rows, made once, and the program without what debuggers read. They lie in
/// the target folder: nobody removes a temporary one that all tests share.
fn bundle() -> &'static (PathBuf, PathBuf) {
    static BUNDLE: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bundle");
        fs::create_dir_all(&folder).unwrap();
        let [program, file] = ["program", "rows.tar.zst"].map(|name| folder.join(name));
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_wiregauge"));
        assert!(strip.status().unwrap().success());
        let mut command = wiregauge();
        command.arg("bundle").args(ROWS).arg("--program").arg(&program).arg("-o").arg(&file);
        let said = to_said(command.output().unwrap());
        said.expect_code(0);
        assert!(said.err.contains("java.io Java: it is not in the bundle"), "{}", said.err);
        (file, program)
    })
}

/// A program where there is nothing: no compiler, no shell's tools, no home.
fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

fn unpack(to: &Path) {
    let unpacked = Command::new("tar").arg("-xf").arg(&bundle().0).arg("-C").arg(to).status();
    assert!(unpacked.unwrap().success());
}

/// Rows and what is said of each.
type Named = BTreeSet<(String, String)>;

/// The ids of the rows with their status, and all names of figures.
fn form(run: &Value) -> (Named, Named) {
    let rows = run["subjects"].as_array().unwrap().iter();
    let rows = rows.map(|row| (row["id"].to_string(), row["status"].to_string())).collect();
    let figures = ["measurements", "facts"].map(|kind| run[kind].as_array().unwrap().iter());
    let name = |figure: &Value| (figure["subject"].to_string(), figure["metric"].to_string());
    (rows, figures.into_iter().flatten().map(name).collect())
}

/// The facts that are the same wherever they are counted.
fn counted(run: &Value) -> Vec<String> {
    let facts = run["facts"].as_array().unwrap().iter();
    let is_counted = |fact: &&Value| {
        let metric = fact["metric"].as_str().unwrap();
        metric == "size" || metric.starts_with("alloc")
    };
    facts.filter(is_counted).map(Value::to_string).collect()
}

fn measured_here() -> &'static Value {
    static RUN: OnceLock<Value> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let said = run(folder.path(), &[&["codecs"], &ROWS[..], &SHORT].concat());
        said.expect_code(0);
        result(folder.path())
    })
}

/// That a result of a bundle is the one of a measurement here, but for the times.
fn is_like_here(of_bundle: &Value) {
    let here = measured_here();
    has_its_form(of_bundle);
    assert_eq!(of_bundle["cases"], here["cases"]);
    assert_eq!(of_bundle["title"], here["title"]);
    let java = |run: &Value| status(run, "java-serialization");
    assert!(java(of_bundle).contains("a script that starts the Java"), "{}", java(of_bundle));
    assert!(!java(here).contains("script"));
    let without_java = |run: &Value| {
        let (rows, figures) = form(run);
        let is_java = |id: &String| id.contains("java");
        let rows: Vec<_> = rows.into_iter().filter(|(id, _)| !is_java(id)).collect();
        let figures: Vec<_> = figures.into_iter().filter(|(id, _)| !is_java(id)).collect();
        let facts: Vec<_> = counted(run).into_iter().filter(|fact| !is_java(fact)).collect();
        (rows, figures, facts)
    };
    assert_eq!(without_java(of_bundle), without_java(here));
    let tool = |run: &Value| run["environment"]["tools"]["C++ compiler"].clone();
    assert_eq!(tool(of_bundle), tool(here));
}

#[test]
fn a_bundle_measures_where_there_is_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    unpack(at);
    let program = at.join("wiregauge");
    let mut command = bare(&program);
    command.args(["codecs", "--bundle", ".", "-o", "run.json"]).args(SHORT).current_dir(at);
    let said = to_said(command.output().unwrap());
    said.expect_code(0);
    let of_folder = result(at);
    is_like_here(&of_folder);
    let row =
        of_folder["subjects"].as_array().unwrap().iter().find(|row| row["id"] == "protobuf-cpp");
    let files = row.unwrap()["runner"]["files"].as_object().unwrap();
    let is_own = |path: &&String| Path::new(path).starts_with(at.canonicalize().unwrap());
    let own: Vec<_> = files.keys().filter(is_own).collect();
    assert!(own.iter().any(|path| path.contains("libprotobuf")), "{files:?}");
    // One row of it, from the file, which is unpacked for that long; nothing else changes.
    let place = tempfile::tempdir().unwrap();
    let mut command = bare(&program);
    command.args(["codecs", "--codecs", "prost", "-o", "one.json", "--bundle"]).arg(&bundle().0);
    command.args(SHORT).env("TMPDIR", place.path()).current_dir(at);
    let said = to_said(command.output().unwrap());
    said.expect_code(0);
    let one: Value = serde_json::from_slice(&fs::read(at.join("one.json")).unwrap()).unwrap();
    assert_eq!(
        one["subjects"].as_array().unwrap().iter().filter(|s| s["bound"] != true).count(),
        1
    );
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "something was left behind");
    for (words, told) in [
        (&["--codecs", "flatbuffers"][..], "no row of 'flatbuffers'"),
        (&["--message", "rsb"], "cannot be used with"),
        (&["--fail-above", "2%"], "--fail-above has no effect"),
        (&["--explain", "prost"], "cannot be used with"),
    ] {
        let said = run(at, &[&["codecs", "--bundle", "."], words].concat());
        assert!(said.code == Some(2) && said.err.contains(told), "{words:?}: {}", said.err);
    }
    what_else_needs_no_compiler(&program, at);
    // A count shows that the same code runs, with the same libraries.
    let counts = ["codecs", "--metric", "instructions", "--experiments", "encode,decode"];
    let said = run(at, &[&counts[..], &["--bundle", "."]].concat());
    said.expect_code(0);
    let of_bundle = instructions(&result(at));
    let said =
        run(at, &[&counts[..], &["--codecs", "prost,lcm,protobuf-cpp"], &ROWS[2..]].concat());
    said.expect_code(0);
    assert!(of_bundle.len() > 10, "{of_bundle:?}");
    assert_eq!(of_bundle, instructions(&result(at)));
}

/// Instructions of a message, by row and experiment.
fn instructions(run: &Value) -> BTreeSet<(String, String, String)> {
    let facts = run["facts"].as_array().unwrap().iter();
    let text = |fact: &Value, key: &str| fact[key].to_string();
    let facts = facts.map(|f| (text(f, "subject"), text(f, "metric"), text(f, "value")));
    facts.filter(|(_, metric, _)| metric.contains("instructions/")).collect()
}

/// A scenario of the bus and a pair of FMUs, by the program of the bundle.
fn what_else_needs_no_compiler(program: &Path, at: &Path) {
    let leader = Machine::start(bare(program), at, PAIR, &["--name", "alpha", "-o", "bus.json"]);
    let line = leader.hears("waiting for");
    let port = line.rsplit(' ').next().unwrap();
    let mut agent = Machine::start(bare(program), at, PAIR, &["--name", "beta", "--peer", port]);
    let mut leader = leader;
    assert_eq!((leader.code(), agent.code()), (Some(0), Some(0)));
    let bus: Value = serde_json::from_slice(&fs::read(at.join("bus.json")).unwrap()).unwrap();
    all_arrived(&bus, "500 B, 5 ms, discrete", "tcp");
    couple::write(at, &Fixture::source(2), &Fixture::model(2));
    let mut command = bare(program);
    command.args(["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"]);
    command.args(couple::SHORT).args(["-o", "cosim.json"]).current_dir(at);
    let said = to_said(command.output().unwrap());
    said.expect_code(0);
    let cosim: Value = serde_json::from_slice(&fs::read(at.join("cosim.json")).unwrap()).unwrap();
    assert!(status(&cosim, "fmus").contains("measured"), "{}", status(&cosim, "fmus"));
}

/// Measures the bundle that is in a folder or a file.
fn measure(at: &Path, bundle: &str) -> Said {
    let mut command = wiregauge();
    command.args(["codecs", "--bundle", bundle]).args(SHORT).env("TMPDIR", at.join("tmp"));
    to_said(command.current_dir(at).output().unwrap())
}

fn is_refused(at: &Path, bundle: &str, words: &[&str]) {
    let said = measure(at, bundle);
    assert_eq!(said.code, Some(2), "{bundle}: {}{}", said.out, said.err);
    assert_eq!(said.err.trim_end().lines().count(), 1, "{bundle}: one line, not {}", said.err);
    for word in words {
        assert!(said.err.contains(word), "{bundle}: no '{word}' in {}", said.err);
    }
    assert!(!at.join("run.json").exists());
    assert_eq!(fs::read_dir(at.join("tmp")).unwrap().count(), 0, "{bundle}: something is left");
}

#[test]
fn what_is_wrong_with_a_bundle_is_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("tmp")).unwrap();
    fs::create_dir(at.join("good")).unwrap();
    unpack(&at.join("good"));
    is_refused(at, "nothing.tar.zst", &["nothing.tar.zst"]);
    is_refused(at, "tmp", &["tmp is no bundle", "bundle.json"]);
    let whole = fs::read(&bundle().0).unwrap();
    for part in [2, 3, 10] {
        fs::write(at.join("short.tar.zst"), &whole[..whole.len() / part]).unwrap();
        is_refused(at, "short.tar.zst", &["short.tar.zst", "copy it again"]);
    }
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:6f8b\nsize 9\n";
    fs::write(at.join("pointer.tar.zst"), pointer).unwrap();
    is_refused(at, "pointer.tar.zst", &["pointer.tar.zst is only a pointer", "git lfs pull"]);
    fs::write(at.join("other.tar.zst"), "no archive").unwrap();
    is_refused(at, "other.tar.zst", &["other.tar.zst is no bundle"]);
    // To open it would wait for who writes into it.
    assert!(Command::new("mkfifo").arg(at.join("pipe.tar.zst")).status().unwrap().success());
    is_refused(at, "pipe.tar.zst", &["pipe.tar.zst is a pipe; give a regular file"]);
    // Nobody can make a folder there, not even root.
    let mut places = vec![(wiregauge(), PathBuf::from("/proc"))];
    if prerequisites::NETWORK.is_met() {
        places.push((wiregauge_beside_noexec(&at.join("tmp")), at.join("tmp")));
    }
    for (mut command, place) in places {
        command.args(["codecs", "--bundle"]).arg(&bundle().0).args(SHORT).env("TMPDIR", place);
        let said = to_said(command.current_dir(at).output().unwrap());
        assert_eq!((said.code, said.err.trim_end().lines().count()), (Some(2), 1), "{}", said.err);
        let is_told = said.err.contains("cannot unpack") && said.err.contains("set TMPDIR");
        assert!(is_told, "{}", said.err);
    }

    let manifest = fs::read_to_string(at.join("good/bundle.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut changed = manifest.clone();
        change(&mut changed);
        fs::write(at.join("good/bundle.json"), changed.to_string()).unwrap();
    };
    changed(&|m| m["version"] = 0.into());
    is_refused(at, "good", &["made by an older wiregauge", "make it again"]);
    changed(&|m| m["version"] = 99.into());
    is_refused(at, "good", &["made by a newer wiregauge", "make it again"]);
    changed(&|m| m["glibc"] = "2.99".into());
    is_refused(at, "good", &["this machine has glibc", "2.99"]);
    changed(&|m| m["target"] = "vax-linux-gnu".into());
    is_refused(at, "good", &["vax-linux-gnu", "--target"]);
    changed(&|m| m["made"] = 9_000_000_000_u64.into());
    is_refused(at, "good", &["the clock of this machine", "set it"]);
    for name in ["../escaped", "/tmp/escaped", "a/../../escaped"] {
        changed(&|m| m["files"][name] = m["files"]["schema.json"].clone());
        is_refused(at, "good", &[name, "not inside it"]);
    }
    changed(&|m| m["files"]["runners/more"] = m["files"]["schema.json"].clone());
    is_refused(at, "good", &["runners/more is missing", "unpack the bundle again"]);
    changed(&|_| {});
    // A runner that was changed is not started, nor what a link leads to.
    let runner = at.join("good/runners/prost");
    let kept = fs::read(&runner).unwrap();
    fs::write(&runner, "#!/bin/sh\ntouch started\n").unwrap();
    is_refused(at, "good", &["runners/prost is not what was packed"]);
    fs::remove_file(&runner).unwrap();
    fs::write(at.join("elsewhere"), &kept).unwrap();
    std::os::unix::fs::symlink(at.join("elsewhere"), &runner).unwrap();
    is_refused(at, "good", &["runners/prost is missing"]);
    assert!(!at.join("started").exists());
}

/// Archives that no bundle is, made by hand.
#[test]
fn nothing_is_unpacked_that_the_manifest_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["tmp", "good"] {
        fs::create_dir(at.join(name)).unwrap();
    }
    unpack(&at.join("good"));
    let pack = |words: &[&str]| {
        let mut tar = Command::new("tar");
        tar.args(["--zstd", "-cf", "made.tar.zst", "-C", "good"]).args(words).current_dir(at);
        assert!(tar.status().unwrap().success(), "{words:?}");
    };
    pack(&["schema.json", "bundle.json"]);
    is_refused(at, "made.tar.zst", &["does not begin with bundle.json"]);
    pack(&["bundle.json", "schema.json"]);
    is_refused(at, "made.tar.zst", &["is not whole", "copy it again"]);
    pack(&["-P", "--transform=s,^schema.json,../../escaped,", "bundle.json", "schema.json"]);
    is_refused(at, "made.tar.zst", &["../../escaped", "does not know"]);
    fs::remove_file(at.join("good/schema.json")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at.join("good/schema.json")).unwrap();
    pack(&["bundle.json", "schema.json"]);
    is_refused(at, "made.tar.zst", &["schema.json", "does not know"]);
    assert!(!at.parent().unwrap().join("escaped").exists());

    // No place to unpack in, and too little of it.
    let file = bundle().0.display().to_string();
    let mut command = wiregauge();
    command.args(["codecs", "--bundle", &file]).env("TMPDIR", "/nonexistent").current_dir(at);
    let said = to_said(command.output().unwrap());
    assert!(said.code == Some(2) && said.err.contains("set TMPDIR"), "{}", said.err);
    // A file may grow to the size of a result and no further: the disk is full.
    let script = "trap '' XFSZ; ulimit -f 400; exec \"$0\" codecs --bundle \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_wiregauge"), &file]);
    let said = to_said(command.env("TMPDIR", at.join("tmp")).current_dir(at).output().unwrap());
    assert!(said.code == Some(2) && said.err.contains("set TMPDIR"), "{}", said.err);
    assert_eq!(fs::read_dir(at.join("tmp")).unwrap().count(), 0);
}

/// A runner of the user's own: here one that was built for a row.
#[test]
fn a_runner_of_ones_own_is_packed_with_its_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let parts = at.join("parts");
    fs::create_dir(&parts).unwrap();
    unpack(&parts);
    let (_, program) = bundle();
    let pack = |runner: &str, file: &str| {
        let mut command = wiregauge();
        command.args(["bundle", "--codecs", "prost", "--runner", runner]).args(&ROWS[2..]);
        command.arg("--program").arg(program).args(["-o", file]).current_dir(at);
        to_said(command.output().unwrap())
    };
    let said = pack("mine=parts/runners/protobuf-cpp", "mine.tar.zst");
    said.expect_code(0);
    let mut command = bare(program);
    command.args(["codecs", "--bundle", "mine.tar.zst", "--codecs", "mine", "-o", "run.json"]);
    let said = to_said(command.args(SHORT).current_dir(at).output().unwrap());
    said.expect_code(0);
    let run = result(at);
    assert!(status(&run, "mine").contains("measured"), "{}", status(&run, "mine"));
    let row = run["subjects"].as_array().unwrap().iter().find(|row| row["id"] == "mine").unwrap();
    let files = row["runner"]["files"].as_object().unwrap();
    assert!(files.keys().any(|path| path.contains("libprotobuf")), "{files:?}");
    fs::write(at.join("script"), "#!/bin/sh\n").unwrap();
    for (runner, told) in [
        ("mine=script", "the runner mine is no program alone"),
        ("mine=parts/runners/prost --fast", "the runner mine is no program alone"),
        ("mine=nowhere", "the runner mine cannot be read; give the path of a program"),
    ] {
        let said = pack(runner, "refused.tar.zst");
        assert!(said.code == Some(2) && said.err.contains(told), "{runner}: {}", said.err);
        assert!(!at.join("refused.tar.zst").exists());
    }
}

#[test]
fn a_bundle_is_not_half_written_nor_made_for_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let script = at.join("script");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    let words = ["bundle", "--codecs", "prost", "--length", "points=20", "-o", "x.tar.zst"];
    let refused = |more: &[&str], told: &str| {
        let said = run(at, &[&words[..], more].concat());
        said.expect_code(2);
        assert_eq!(said.err.trim_end().lines().count(), 1, "{}", said.err);
        assert!(said.err.contains(told), "no '{told}' in {}", said.err);
        assert_eq!(fs::read_dir(at).unwrap().count(), 1, "something was left behind");
    };
    refused(&["--program", "script"], "no program of wiregauge");
    refused(&["--target", "armhf"], "--program FILE");
    let this = env!("CARGO_BIN_EXE_wiregauge");
    refused(&["--target", "armhf", "--program", this], "the bundle is for arm");
    refused(&["--target", "vax"], "unknown target 'vax'");
}

#[test]
fn a_board_measures_over_ssh_and_nothing_stays_there() {
    if !prerequisites::SSH.is_met() {
        return;
    }
    let board = TestBoard::start();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let on = |host: &str, words: &[&str]| {
        let mut command = board.wiregauge();
        command.args(["codecs", "--on", host]).args(ROWS).args(words).current_dir(at);
        command.arg("--program").arg(&bundle().1);
        command
    };
    let said = to_said(on("board", &SHORT).output().unwrap());
    said.expect_code(0);
    let run = result(at);
    is_like_here(&run);
    assert!(run["command"].to_string().contains("--on"), "{}", run["command"]);
    assert!(said.out.contains("prost"), "{}", said.out);
    board.await_nothing();
    fs::remove_file(at.join("run.json")).unwrap();

    let refused = |host: &str, words: &[&str]| {
        let said = to_said(on(host, &SHORT).output().unwrap());
        said.expect_code(2);
        assert_eq!(said.err.trim_end().lines().count(), 1, "one line, not {}", said.err);
        for word in words {
            assert!(said.err.contains(word), "no '{word}' in {}", said.err);
        }
        assert!(!at.join("run.json").exists());
        board.await_nothing();
    };
    refused("locked", &["locked", "ssh-copy-id"]);
    refused("board:/nonexistent", &["/nonexistent", "--on HOST:/FOLDER"]);
    for (name, script, words) in [
        ("date", "echo 86400", ["the clock of board", "set it"]),
        ("df", "echo x; echo /dev/x 1000 990 10 99% /", ["no space", "--on HOST:/FOLDER"]),
        ("uname", "echo vax", ["a machine of vax", "--target"]),
        ("getconf", "echo glibc 2.19", ["glibc 2.19", "or newer"]),
        (
            "mktemp",
            "echo mktemp: failed: Read-only file system >&2; exit 1",
            ["Read-only file system", "--on HOST:/FOLDER"],
        ),
        ("tar", "echo tar: No space left on device >&2; exit 2", ["No space", "--on HOST:/FOLDER"]),
    ] {
        board.replace(name, script);
        refused("board", &words);
        board.restore(name);
    }

    let long = ["--experiments=encode", "--duration", "10min"];
    let quiet = |mut command: Command| {
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    // Ctrl-C; the program is killed; the connection is lost.
    for (case, code) in [("-INT", Some(130)), ("-KILL", None), ("ssh", Some(2))] {
        let mut child = quiet(on("board", &long));
        board.await_measurement(&mut child);
        match case {
            "ssh" => clients(child.id()).into_iter().for_each(|id| send_signal("-KILL", id)),
            signal => send_signal(signal, child.id() as i32),
        }
        assert_eq!(child.wait().unwrap().code(), code, "{case}");
        board.await_nothing();
        assert!(!at.join("run.json").exists(), "{case}");
    }
    std::thread::sleep(Duration::from_millis(10));
}

/// The clients of ssh that a process started.
fn clients(of: u32) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).unwrap().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap());
    let ids: Vec<i32> = lists
        .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    assert!(!ids.is_empty(), "there is a client");
    ids
}

/// The runners of a bundle for aarch64 answer under an emulator, by the libraries of the bundle.
/// There is no program of the project for it here: another one takes its place.
#[test]
#[ignore = "downloads the compilers and libraries of another architecture: make test-targets"]
fn a_bundle_for_another_architecture_has_what_its_runners_load() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let target = Target::find("aarch64-linux-gnu").unwrap();
    let quiet = |_: &str, _, _| Ok(());
    let words = ["--target", target.name, "--program", "stand-in", "-o", "arm.tar.zst"];
    let build = || {
        to_said(wiregauge().arg("bundle").args(ROWS).args(words).current_dir(at).output().unwrap())
    };
    let said = build();
    assert!(said.code == Some(2) && said.err.contains("stand-in"), "{}", said.err);
    let cross = cross_build(&mut [], target, &build_folder(), &quiet).unwrap();
    let sysroot = cross.sysroot();
    let compiler = Toolchain::Cross(cross).c_compiler().unwrap();
    let source = build_folder().join("stand-in.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let program = build_folder().join("stand-in");
    let mut command = Command::new(compiler);
    command.arg("-o").arg(&program).arg(&source).current_dir(build_folder());
    assert!(command.status().unwrap().success());
    fs::copy(&program, at.join("stand-in")).unwrap();
    fs::remove_file(program).and_then(|()| fs::remove_file(source)).unwrap();
    let said = build();
    said.expect_code(0);
    assert!(Command::new("tar")
        .args(["-xf", "arm.tar.zst"])
        .current_dir(at)
        .status()
        .unwrap()
        .success());
    let manifest: Value =
        serde_json::from_slice(&fs::read(at.join("bundle.json")).unwrap()).unwrap();
    assert_eq!(manifest["target"], target.name);
    is_refused_elsewhere(at);

    let emulator = EmulatorProgram::open_or_create(&build_folder(), target, &quiet).unwrap();
    let mut answered = 0;
    for row in manifest["rows"].as_array().unwrap() {
        let Some(runner) = row["program"].as_str() else { continue };
        let folders = row["libraries"].as_array().unwrap().iter();
        let folders =
            folders.map(|file| at.join(file.as_str().unwrap()).parent().unwrap().to_owned());
        let path = std::env::join_paths(folders).unwrap().into_string().unwrap();
        let emulated = |setting: &str| {
            let mut command = Command::new(&emulator.words[0]);
            command.args(&emulator.words[1..]).arg("-L").arg(&sysroot);
            command.args(["-E", &format!("LD_LIBRARY_PATH={path}"), "-E", setting]);
            command.arg(at.join(runner)).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"hello 2\n").unwrap();
            String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
        };
        let said = emulated("X=1");
        assert!(said.starts_with("ok "), "{runner}: {said}");
        let loaded = emulated("LD_TRACE_LOADED_OBJECTS=1");
        for file in row["libraries"].as_array().unwrap() {
            assert!(loaded.contains(file.as_str().unwrap()), "{runner}: {file} in {loaded}");
        }
        answered += 1;
    }
    assert!(answered >= 5, "{answered} runners");
}

/// A machine of another architecture starts nothing of it.
fn is_refused_elsewhere(at: &Path) {
    let said = run(at, &["codecs", "--bundle", "."]);
    assert!(said.code == Some(2) && said.err.contains("aarch64-linux-gnu"), "{}", said.err);
}

/// What the largest bundle that people make weighs; the figure stands in docs/targets.md.
#[test]
#[ignore = "builds all rows of the LiDAR message"]
fn all_rows_of_the_message_are_under_a_hundred_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["bundle", "-o", "all.tar.zst"]);
    said.expect_code(0);
    let size = fs::metadata(folder.path().join("all.tar.zst")).unwrap().len();
    println!("{size} bytes; {}", said.err);
    assert!(size < 100_000_000, "{size}");
    assert!(project().exists());
}
