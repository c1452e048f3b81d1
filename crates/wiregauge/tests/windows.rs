//! What runs where simulators run Windows: the packed field's headers, generated holders and an
//! FMU, compiled by MinGW-w64 and run under Wine. Ignored, as both are large to install:
//! `make test-windows`.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{build_folder, project, run, to_said};
use wiregauge_osi::python::Python;

/// The compiler: with threads as POSIX has them, which the standard library wants.
const COMPILER: &str = "x86_64-w64-mingw32-g++-posix";

/// Runs a program in a folder, expects that it succeeds, and returns what it printed, with the
/// ends of lines as Linux has them.
fn succeeds(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    // Wine keeps its own files where the test removes them, and says nothing of its own.
    command.env("WINEPREFIX", folder.join("wine")).env("WINEDEBUG", "-all");
    let output = command.output().unwrap_or_else(|error| {
        panic!("{program}: {error}; apt-get install g++-mingw-w64-x86-64-posix wine wine64")
    });
    let said = to_said(output);
    assert_eq!(said.code, Some(0), "{program} {arguments:?}: {}{}", said.out, said.err);
    said.out.replace("\r\n", "\n")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
#[ignore = "wants MinGW-w64 and Wine; make test-windows"]
fn headers_and_holders_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let message = project().join("examples/cpp/scan.msg");
    let words = ["generate", text(&message), "--language", "cpp", "--wire", "cdr,ros-msg,xcdr2"];
    let said = run(folder, &[&words[..], &["--module", "scan", "-o", "holders"]].concat());
    said.expect_code(0);
    let include = project().join("packed/include");
    // All headers, also those that the example does not use.
    let headers = fs::read_dir(include.join("wiregauge")).expect("a folder").flatten();
    let names = headers.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut source: String = names.map(|name| format!("#include \"wiregauge/{name}\"\n")).collect();
    for name in ["scan.view.hpp", "wiregauge/ros_msg.hpp", "wiregauge/xcdr2.hpp"] {
        source += &format!("#include \"{name}\"\n");
    }
    fs::write(folder.join("all.cpp"), source).expect("written");
    let flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Iholders", "-I", text(&include)];
    succeeds(folder, COMPILER, &[&flags[..], &["-fsyntax-only", "all.cpp"]].concat());
    let example = project().join("examples/cpp/main.cpp");
    let words = ["-static", "-o", "example.exe", text(&example)];
    succeeds(folder, COMPILER, &[&flags[..], &words].concat());
    let printed = succeeds(folder, "wine", &["example.exe"]);
    let wanted = "a scan of 2 ranges in 30 bytes\n3 reflections, the second has -6 dB\n";
    assert_eq!(printed, wanted);
}

/// An FMU with a library for Windows beside that of Linux makes the same messages on both.
#[test]
#[ignore = "wants MinGW-w64 and Wine; make test-windows"]
fn an_fmu_makes_the_same_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let words = ["cosim", "build", "--codecs", "flatbuffers-tables", "--windows", "-o", "fmus"];
    let said = run(folder, &words);
    said.expect_code(0);
    let models = ["source", "sensor", "pedestrian", "player", "recorder"];
    let names = models.map(|model| format!("fmus/{model}-flatbuffers-tables.fmu\n"));
    assert_eq!(said.out, names.concat());
    for name in &names {
        let list = succeeds(folder, "cmake", &["-E", "tar", "tf", name.trim()]);
        for end in ["binaries/linux64/", ".so", "binaries/win64/", ".dll"] {
            assert!(list.contains(end), "{name} has no {end}: {list}");
        }
    }
    let refused = run(folder, &["cosim", "build", "--codecs", "packed", "--windows", "-o", "fmus"]);
    refused.expect_code(2);
    assert!(refused.err.contains("packed links Protobuf's library"), "{}", refused.err);

    let both = folder.join("both");
    fs::create_dir(&both).expect("a folder");
    succeeds(&both, "cmake", &["-E", "tar", "xf", &format!("../{}", names[0].trim())]);
    let headers = Python::environment(&build_folder()).expect("it is there");
    let headers = headers.fmi_headers().expect("it has them");
    let step = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/windows/step.cpp");
    let flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-isystem", text(&headers)];
    let compile = |compiler: &str, name: &str, more: &[&str]| {
        succeeds(folder, compiler, &[&flags[..], &["-o", name, text(&step)], more].concat());
    };
    compile("g++", "step", &["-ldl"]);
    compile(COMPILER, "step.exe", &["-static"]);
    let description = fs::read_to_string(both.join("modelDescription.xml")).expect("readable");
    let guid = description.split("guid=\"").nth(1).and_then(|rest| rest.split('"').next());
    let guid = guid.expect("it has one");
    let so = both.join("binaries/linux64/source_flatbuffers_tables.so");
    let on_linux = succeeds(folder, "./step", &[text(&so), guid]);
    let dll = "both\\binaries\\win64\\source_flatbuffers_tables.dll";
    let on_windows = succeeds(folder, "wine", &["step.exe", dll, guid]);
    assert_eq!(on_linux.lines().count(), 3, "{on_linux}");
    assert_eq!(on_windows, on_linux);
}
