//! Instructions under an emulator: of this architecture, beside callgrind's; of others, by
//! runners that are built for them; and what is said where that cannot be.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{has_its_form, refuses, status, to_said, wiregauge, Said};
use wiregauge_build_tools::toolchain::Target;
use wiregauge_testkit::prerequisites::report_left_out;

/// The figures of a row may differ by so much from callgrind's: memory lies elsewhere, so what
/// grows is moved at other times.
const DIFFERENCE: f64 = 0.01;
/// And by so many instructions for each message: how the C library copies depends on the
/// processor, and callgrind and the emulator do not have the same. By its alignment a copy takes
/// a turn of that loop more or less.
const INSTRUCTIONS: f64 = 16.0;

/// Counts a small message.
fn count(folder: &Path, codecs: &str, words: &[&str]) -> (Said, Value) {
    let mut command = wiregauge();
    command.args(["codecs", "--metric", "instructions", "--length", "points=20"]);
    command.args(["--experiments", "encode,decode", "-o", "run.json", "--codecs", codecs]);
    let said = to_said(command.args(words).current_dir(folder).output().unwrap());
    let text = fs::read_to_string(folder.join("run.json")).unwrap_or_else(|_| "null".into());
    (said, serde_json::from_str(&text).unwrap())
}

/// Instructions of a message, by row and experiment.
fn counted(run: &Value) -> BTreeMap<(String, String), f64> {
    let facts = run["facts"].as_array().unwrap().iter();
    let of_messages = facts.filter_map(|fact| {
        let experiment = fact["metric"].as_str()?.strip_prefix("instructions/")?;
        Some(((fact["subject"].as_str()?.into(), experiment.into()), fact["value"].as_f64()?))
    });
    of_messages.collect()
}

fn tool<'a>(run: &'a Value, name: &str) -> &'a str {
    run["environment"]["tools"][name].as_str().unwrap_or_default()
}

/// Whether the network has what is unpacked; where not, it is said that a part is left out.
fn is_there(said: &Said) -> bool {
    let missing = said.code == Some(2) && said.err.contains("check the network");
    if missing {
        report_left_out(said.err.trim());
    }
    !missing
}

#[test]
fn the_emulator_counts_what_callgrind_counts_and_twice_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let codecs = "prost,lcm,flatbuffers-cpp-object";
    let machine = Target::machine().unwrap().name;
    let (said, emulated) = count(folder.path(), codecs, &["--target", machine]);
    if !is_there(&said) {
        return;
    }
    said.expect_code(0);
    has_its_form(&emulated);
    assert!(tool(&emulated, "emulator").starts_with("qemu-"), "{emulated}");
    assert_eq!(tool(&emulated, "target"), machine);
    assert!(said.out.contains(machine), "{}", said.out);

    let (said, again) =
        count(folder.path(), codecs, &["--target", Target::machine().unwrap().debian]);
    said.expect_code(0);
    assert_eq!(counted(&emulated), counted(&again));
    what_codecs_weigh_is_the_same_under_it(folder.path(), machine);

    let (said, by_callgrind) = count(folder.path(), codecs, &[]);
    said.expect_code(0);
    let (emulated, by_callgrind) = (counted(&emulated), counted(&by_callgrind));
    assert_eq!(emulated.keys().collect::<Vec<_>>(), by_callgrind.keys().collect::<Vec<_>>());
    assert!(emulated.len() >= 14, "{emulated:?}");
    for (row, value) in &by_callgrind {
        let difference = (emulated[row] - value).abs();
        assert!(
            difference <= (value * DIFFERENCE).max(INSTRUCTIONS),
            "{row:?}: {} by the emulator, {value} by callgrind",
            emulated[row]
        );
    }
}

/// What the codecs add to a program, with these words more.
fn weigh(folder: &Path, codecs: &str, words: &[&str]) -> Value {
    let mut command = wiregauge();
    command.args(["codecs", "--footprint", "--codecs", codecs, "-o", "weight.json"]);
    command.args(["--length", "points=20"]).args(words);
    // Outside of cargo, the compiler of this folder may be another one than the build folder's.
    command.env_remove("RUSTUP_TOOLCHAIN");
    let said = to_said(command.current_dir(folder).output().unwrap());
    assert_eq!(said.code, Some(0), "{words:?}: {}{}", said.out, said.err);
    serde_json::from_str(&fs::read_to_string(folder.join("weight.json")).unwrap()).unwrap()
}

/// The programs are the same; the C library copies in another way there, which takes other stack.
fn what_codecs_weigh_is_the_same_under_it(folder: &Path, machine: &str) {
    let weigh = |words: &[&str]| {
        let run = weigh(folder, "lcm", words);
        let facts = run["facts"].as_array().unwrap().iter();
        let named = |fact: &Value| {
            let metric = fact["metric"].as_str().unwrap().to_owned();
            (fact["subject"].as_str().unwrap().to_owned() + " " + &metric, fact["value"].as_f64())
        };
        facts.map(named).filter(|(name, _)| !name.contains("stack")).collect::<BTreeMap<_, _>>()
    };
    let emulated = weigh(&["--target", machine]);
    assert!(emulated["lcm text/both"] > Some(1000.0), "{emulated:?}");
    assert_eq!(emulated, weigh(&[]));
}

#[test]
fn what_an_emulator_does_not_do_is_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let target = ["codecs", "--target", "aarch64-linux-gnu"];
    for (words, said) in [
        (&[][..], "--metric instructions"),
        (&["--metric", "time,instructions"], "tells no times"),
        (&["--metric", "instructions", "--corrupt", "9"], "--corrupt"),
        (&["--metric", "instructions", "--quick"], "--quick has no effect"),
    ] {
        refuses(folder.path(), &[&target, words].concat(), &[said]);
    }
    let unknown = ["codecs", "--metric", "instructions", "--target", "vax-linux-gnu"];
    let known = ["vax-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu"];
    refuses(folder.path(), &unknown, &known);
    let mut command = wiregauge();
    command.args(["codecs", "--metric", "instructions", "--target", "armhf", "--codecs", "lcm"]);
    command.env("WIREGAUGE_MIRROR", "http://127.0.0.1:9/debian").env("WIREGAUGE_BUILD", "build");
    let said = to_said(command.current_dir(folder.path()).output().unwrap());
    said.expect_code(2);
    assert_eq!(said.err.trim_end().lines().count(), 1, "{}", said.err);
    assert!(said.err.contains("WIREGAUGE_MIRROR"), "{}", said.err);
    assert!(!folder.path().join("run.json").exists());
}

/// Both languages, with and without a shared library, and what cannot be had there.
#[test]
#[ignore = "downloads the compilers and libraries of other architectures: make test-targets"]
fn rows_for_other_architectures_are_right_and_count_twice_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu"] {
        let codecs = "prost,lcm,protobuf-cpp,java-serialization";
        let words = ["--target", target, "--language", "rust,cpp,java"];
        let (said, first) = count(folder.path(), codecs, &words);
        assert_eq!(said.code, Some(0), "{target}: {}{}", said.out, said.err);
        has_its_form(&first);
        let java = status(&first, "java-serialization");
        assert!(java.contains("no program is built for"), "{target}: {java}");
        let numbers = counted(&first);
        for codec in ["prost", "lcm", "protobuf-cpp"] {
            let status = status(&first, codec);
            assert!(status.contains("\"measured\""), "{target} {codec}: {status}");
            for experiment in ["encode", "decode"] {
                let value = numbers[&(codec.to_owned(), experiment.to_owned())];
                assert!((200.0..100_000.0).contains(&value), "{target} {codec}: {value}");
            }
        }
        let compiler = tool(&first, "C++ compiler");
        assert!(compiler.starts_with(target), "{target}: {compiler}");
        let (said, again) = count(folder.path(), codecs, &words);
        assert_eq!(said.code, Some(0), "{target}: {}{}", said.out, said.err);
        assert_eq!(numbers, counted(&again), "{target}");
        what_codecs_weigh_there(folder.path(), target);
    }
}

/// What a codec adds is measured there, too: by sections of the target's programs, which an
/// emulator executes.
fn what_codecs_weigh_there(folder: &Path, target: &str) {
    let (there, here) =
        (weigh(folder, "prost,lcm", &["--target", target]), weigh(folder, "prost,lcm", &[]));
    has_its_form(&there);
    assert_eq!(tool(&there, "target"), target);
    let rows = there["subjects"].as_array().unwrap();
    let lcm = rows.iter().find(|row| row["id"] == "lcm").unwrap();
    assert!(lcm["built"].as_str().unwrap().contains("linked statically"), "{target}: {lcm}");
    for codec in ["prost", "lcm"] {
        let of = |run: &Value, metric: &str| {
            let mut facts = run["facts"].as_array().unwrap().iter();
            let is_it = |fact: &&Value| fact["subject"] == codec && fact["metric"] == metric;
            facts.find(is_it).unwrap_or_else(|| panic!("{codec}: {metric}"))["value"]
                .as_f64()
                .unwrap()
        };
        for metric in ["text/both", "text-Os/both", "stack/encode", "stack/decode"] {
            let (own, other) = (of(&there, metric), of(&here, metric));
            assert!(
                own > other / 3.0 && own < other * 3.0,
                "{target} {codec} {metric}: {own}, {other}"
            );
        }
        assert_ne!(of(&there, "text/both"), of(&here, "text/both"), "{target} {codec}");
        let allocations = "first-allocations/decode";
        assert_eq!(of(&there, allocations), of(&here, allocations), "{target} {codec}");
    }
}
