//! Libraries beside the machine's: a prefix of one's own, another release of a
//! crate, the newest ones; and what is said where these cannot be had.

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{build_folder, has_its_form, refuses, result, run, status, to_said, wiregauge, Said};
use wiregauge_build_tools::write_script;

/// Little enough to be quick.
const LITTLE: [&str; 8] = [
    "codecs",
    "--length",
    "points=10",
    "--duration",
    "1",
    "--processes",
    "1",
    "--experiments=encode",
];

fn little(folder: &Path, words: &[&str]) -> Said {
    run(folder, &[&LITTLE, words].concat())
}

/// A program that is a shell script.
fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_script(path, &format!("#!/bin/sh\n{text}\n")).unwrap();
}

/// The machine's FlatBuffers under another revision, as a prefix: headers, and a
/// generator whose code wants just these headers.
fn flatbuffers(folder: &Path, revision: u32) -> PathBuf {
    let prefix = folder.join(format!("fb{revision}"));
    let include = prefix.join("include");
    fs::create_dir_all(&include).unwrap();
    let copied =
        Command::new("cp").arg("-r").arg("/usr/include/flatbuffers").arg(&include).status();
    assert!(copied.unwrap().success(), "libflatbuffers-dev is there");
    let base = include.join("flatbuffers/base.h");
    let text = fs::read_to_string(&base).unwrap();
    let name = "#define FLATBUFFERS_VERSION_REVISION ";
    let (before, after) = text.split_once(name).unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    fs::write(&base, format!("{before}{name}{revision}\n{after}")).unwrap();
    script(
        &prefix.join("bin/flatc"),
        &format!(
            "/usr/bin/flatc \"$@\" && sed -i \
             's/FLATBUFFERS_VERSION_REVISION == [0-9]*/FLATBUFFERS_VERSION_REVISION == {revision}/' \
             message_generated.h"
        ),
    );
    prefix
}

fn subject<'a>(run: &'a Value, id: &str) -> &'a Value {
    let subjects = run["subjects"].as_array().unwrap();
    subjects.iter().find(|subject| subject["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn a_prefix_is_measured_beside_the_machine_s_library() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let prefix = flatbuffers(at, 99);
    let library = format!("flatbuffers-cpp={}", prefix.display());
    let said = little(at, &["--codecs", "flatbuffers-cpp", "--library", &library]);
    said.expect_code(0);
    let run = result(at);
    has_its_form(&run);
    let own = subject(&run, "flatbuffers-cpp@fb99");
    let version = own["library"].as_str().unwrap();
    assert!(version.ends_with(".99"), "{own}");
    let title = own["title"].as_str().unwrap();
    assert!(title.ends_with(".99 @fb99"), "{title}");
    assert!(own["built"].as_str().unwrap().contains(&*prefix.to_string_lossy()), "{own}");
    let machine = subject(&run, "flatbuffers-cpp");
    assert!(!machine["library"].as_str().unwrap().ends_with(".99"), "{machine}");
    assert!(machine["origin"]["packages"]["libflatbuffers-dev"].is_string(), "{machine}");
    assert_eq!(own["origin"]["compiler"], machine["origin"]["compiler"]);
    assert!(own["origin"]["packages"].is_null(), "it is of no package: {own}");
    assert!(said.out.contains(title), "{}", said.out);

    // Another build in the same place is another library.
    fs::remove_dir_all(&prefix).unwrap();
    fs::rename(flatbuffers(at, 98), &prefix).unwrap();
    let said = little(at, &["--codecs", "flatbuffers-cpp", "--library", &library]);
    said.expect_code(0);
    let run = result(at);
    let version = subject(&run, "flatbuffers-cpp@fb99")["library"].as_str().unwrap().to_owned();
    assert!(version.ends_with(".98"), "{version}");
}

#[test]
fn a_prefix_that_does_not_fit_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let prefix = flatbuffers(at, 97);
    // A generator of another version than the headers.
    script(&prefix.join("bin/flatc"), "exec /usr/bin/flatc \"$@\"");
    let library = format!("flatbuffers-cpp@mixed={}", prefix.display());
    let said = little(at, &["--codecs", "flatbuffers-cpp", "--library", &library]);
    said.expect_code(1);
    let run = result(at);
    assert!(status(&run, "flatbuffers-cpp@mixed").contains("does not compile"));
    assert!(status(&run, "flatbuffers-cpp").contains("measured"));

    // Headers and a generator, but no library.
    let empty = at.join("empty");
    script(&empty.join("bin/protoc"), "exec /usr/bin/protoc \"$@\"");
    fs::create_dir_all(empty.join("include/google/protobuf")).unwrap();
    fs::write(empty.join("include/google/protobuf/message.h"), "").unwrap();
    let library = format!("protobuf-cpp={}", empty.display());
    let said = little(at, &["--codecs", "flatbuffers-cpp", "--library", &library]);
    said.expect_code(1);
    let why = status(&result(at), "protobuf-cpp@empty");
    assert!(why.contains("no library 'protobuf'"), "{why}");
}

#[test]
fn what_is_no_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("empty")).unwrap();
    let refuses = |words: &[&str], said: &[&str]| {
        refuses(at, &[&LITTLE[..], words].concat(), said);
    };
    refuses(&["--library", "flatbuffers-cpp=none"], &["none"]);
    refuses(&["--library", "flatbuffers-cpp=empty"], &["empty/bin/flatc is missing"]);
    refuses(&["--library", "morse=empty"], &["unknown codec 'morse'", "--list"]);
    refuses(&["--library", "sbe=empty"], &["sbe has no library"]);
    refuses(&["--library", "memcpy=empty"], &["memcpy has no library"]);
    refuses(&["--library", "prost=empty"], &["Cargo.toml"]);
    refuses(&["--library", "prost"], &["NAME=PREFIX"]);
    refuses(&["--library", "flatbuffers=23.5.26"], &["generator"]);
    refuses(&["--library", "prost@a/b=0.13.5"], &["'a/b'", "LABEL"]);
    let twice = ["--library", "prost=0.13.5", "--library", "prost=0.13.5"];
    refuses(&twice, &["prost@0.13.5", "label"]);
    refuses(&["--libraries-expired"], &["has no effect"]);
}

#[test]
fn flags_are_a_row_of_their_own_or_of_a_library_s() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let prefix = format!("flatbuffers-cpp={}", flatbuffers(at, 96).display());
    let words = ["--codecs", "flatbuffers-cpp", "--library", &prefix];
    let flags = ["flatbuffers-cpp@slow=-O0", "flatbuffers-cpp@fb96=-O1 -g", "lcm@odd=-fno-such"];
    let flags: Vec<String> = flags.iter().map(|flags| format!("--cflags={flags}")).collect();
    let words: Vec<&str> = words.into_iter().chain(flags.iter().map(String::as_str)).collect();
    let said = little(at, &words);
    said.expect_code(1);
    let run = result(at);
    has_its_form(&run);
    let flags = |id: &str| subject(&run, id)["origin"]["flags"].as_str().unwrap().to_owned();
    assert!(flags("flatbuffers-cpp@slow").ends_with(" -O0"));
    assert!(flags("flatbuffers-cpp@fb96").ends_with(" -O1 -g"));
    assert!(!flags("flatbuffers-cpp").contains("-O1"));
    let title = subject(&run, "flatbuffers-cpp@slow")["title"].as_str().unwrap().to_owned();
    assert!(title.ends_with("@slow"), "{title}");
    for id in ["flatbuffers-cpp", "flatbuffers-cpp@slow", "flatbuffers-cpp@fb96"] {
        assert!(status(&run, id).contains("measured"), "{id}");
    }
    assert!(status(&run, "lcm@odd").contains("does not compile"));
}

#[test]
fn a_profile_is_a_row_more_in_every_language_that_is_linked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let said = little(at, &["--codecs", "bincode,ros-msg,json-python", "--profile", "lto"]);
    said.expect_code(0);
    let run = result(at);
    has_its_form(&run);
    for (id, end) in [("bincode@lto", " lto=\"fat\""), ("ros-msg@lto", " -flto")] {
        assert!(status(&run, id).contains("measured"), "{id}");
        let flags = subject(&run, id)["origin"]["flags"].as_str().unwrap();
        assert!(flags.ends_with(end), "{id}: {flags}");
        let plain = subject(&run, id.trim_end_matches("@lto"));
        assert!(!plain["origin"]["flags"].as_str().unwrap().contains("lto"), "{plain}");
    }
    let subjects = run["subjects"].as_array().unwrap();
    let marked = subjects.iter().filter(|s| s["id"].as_str().unwrap().contains('@'));
    assert_eq!(marked.count(), 2, "no other language and no bound");
}

#[test]
fn flags_that_mean_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuses = |words: &[&str], said: &[&str]| {
        refuses(folder.path(), &[&LITTLE[..], words].concat(), said);
    };
    refuses(&["--cflags=lcm=-O2"], &["label", "lcm@LABEL=-O2"]);
    refuses(&["--cflags=lcm@current=-O2"], &["label"]);
    refuses(&["--cflags=lcm@a"], &["NAME@LABEL=FLAGS"]);
    refuses(&["--cflags=lcm@a="], &["flags"]);
    refuses(&["--cflags=prost@a=-O2"], &["prost", "C++ compiler"]);
    refuses(&["--cflags=morse@a=-O2"], &["unknown codec 'morse'"]);
    refuses(&["--cflags=lcm@a=-O2", "--cflags=lcm@a=-O1"], &["lcm@a has flags already"]);
}

/// The newest libraries by a mmdebstrap that says this and fails; what was built
/// before is there.
fn by(folder: &Path, mmdebstrap: &str) -> Said {
    script(&folder.join("bin/mmdebstrap"), mmdebstrap);
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let build = folder.join("build");
    fs::create_dir(&build).unwrap();
    for part in ["common", "messages", "target", "tools"] {
        let shared = build_folder().join(part);
        fs::create_dir_all(&shared).unwrap();
        symlink(shared.canonicalize().unwrap(), build.join(part)).unwrap();
    }
    let words = ["--codecs", "lcm", "--libraries", "system,recompiled,current"];
    to_said(
        wiregauge()
            .args([&LITTLE[..], &words].concat())
            .current_dir(folder)
            .env("PATH", path)
            .env("WIREGAUGE_BUILD", build)
            .output()
            .unwrap(),
    )
}

#[test]
fn why_there_are_no_newest_libraries_is_one_line_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let said = little(folder.path(), &["--codecs", "lcm"]);
    said.expect_code(0);
    for (mmdebstrap, remedy) in [
        (
            "echo 'E: Release file for x is expired (invalid since 1d).' >&2; exit 25",
            "--libraries-expired",
        ),
        ("echo 'E: Unable to locate package nonsuch' >&2; exit 25", "does not have this package"),
        ("echo 'E: Failed to fetch http://x' >&2; exit 25", "WIREGAUGE_MIRROR"),
        ("echo 'libx : Depends: liby (= 2) but 3 is to be installed' >&2; exit 25", "do not fit"),
        // It says that all is well, and there is nothing.
        ("exit 0", "did not unpack all"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let said = by(folder.path(), mmdebstrap);
        said.expect_code(1);
        let run = result(folder.path());
        has_its_form(&run);
        for id in ["lcm@current", "lcm@recompiled"] {
            let why = status(&run, id);
            assert!(why.contains("failed") && why.contains(remedy), "{why}");
            assert_eq!(why.lines().count(), 1, "{why}");
        }
        assert!(status(&run, "lcm").contains("measured"));
        let left = fs::read_dir(folder.path().join("build/roots")).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).filter(|n| n != "lock").collect();
        assert!(left.is_empty(), "half a root was left: {left:?}");
    }
}

#[test]
fn the_newest_libraries_are_measured_beside_the_machine_s() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let all = "system,recompiled,current";
    let codecs = "lcm,protobuf-cpp,flatbuffers-cpp";
    let words = ["--libraries", all, "--libraries-expired", "--codecs", codecs];
    let said = little(at, &words);
    let run = result(at);
    has_its_form(&run);
    let why = status(&run, "lcm@current");
    if ["WIREGAUGE_MIRROR", "does not have this package"].iter().any(|remedy| why.contains(remedy))
    {
        wiregauge_testkit::prerequisites::report_left_out(&why);
        return;
    }
    said.expect_code(0);
    let (newest, machine) = (subject(&run, "lcm@current"), subject(&run, "lcm"));
    assert_ne!(newest["origin"]["compiler"], machine["origin"]["compiler"]);
    assert!(newest["origin"]["packages"]["liblcm-dev"].is_string(), "{newest}");
    assert!(newest["built"].as_str().unwrap().contains("newest suites"), "{newest}");
    assert!(newest["title"].as_str().unwrap().ends_with("@current"), "{newest}");
    for codec in codecs.split(',') {
        let of = |label: &str| subject(&run, &format!("{codec}{label}")).clone();
        let (machine, recompiled, current) = (of(""), of("@recompiled"), of("@current"));
        // The library of the one, the compiler of the other.
        assert_eq!(recompiled["library"], machine["library"]);
        assert_eq!(recompiled["origin"]["packages"], machine["origin"]["packages"]);
        assert_eq!(recompiled["origin"]["compiler"], current["origin"]["compiler"]);
    }
}
