//! What runs where simulators run Windows: the packed field's headers, generated holders and an
//! FMU, compiled by MinGW-w64 and run under Wine. Ignored, as both are large to install:
//! `make test-windows`.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{build_folder, project, run, to_said};
use wiregauge_osi::fmus::{build, Build, Fmu, Model, ENCODINGS};

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
    assert_eq!(said.code, Some(0), "{}", said.err);
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
    let encoding = *ENCODINGS.iter().find(|one| one.name == "flatbuffers-tables").expect("known");
    let fmu = Fmu { model: Model::Source, encoding, fmi: 2, build: Build::Release };
    let built = build(&build_folder(), &[fmu], &|_, _, _| Ok(())).expect("built");
    let linux = built.into_iter().next().expect("one").expect("it compiles");
    let output = linux.ancestors().nth(2).expect("the folder of the build").to_owned();
    let place = output.parent().expect("the folder of the FMUs").to_owned();
    let cache = fs::read_to_string(output.join("CMakeCache.txt")).expect("readable");
    let line = cache.lines().find_map(|line| line.strip_prefix("FMI_HEADERS:PATH="));
    let headers = PathBuf::from(line.expect("it was told"));

    fs::create_dir(folder.join("include")).expect("a folder");
    let flatbuffers = folder.join("include/flatbuffers");
    std::os::unix::fs::symlink("/usr/include/flatbuffers", flatbuffers).expect("linked");
    let toolchain = format!(
        "set(CMAKE_SYSTEM_NAME Windows)\nset(CMAKE_SYSTEM_PROCESSOR x86_64)\n\
         set(CMAKE_CXX_COMPILER {COMPILER})\nset(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)\n"
    );
    fs::write(folder.join("windows.cmake"), toolchain).expect("written");
    let settings = [
        format!("-DCMAKE_TOOLCHAIN_FILE={}", folder.join("windows.cmake").display()),
        "-DCMAKE_BUILD_TYPE=Release".to_owned(),
        "-DMODELS=source".to_owned(),
        "-DENCODINGS=flatbuffers-tables".to_owned(),
        format!("-DOSI_TABLES={}", place.join("definitions/tables.fbs").display()),
        format!("-DFMI_HEADERS={}", headers.display()),
        format!("-DCMAKE_CXX_FLAGS=-static -isystem {}", folder.join("include").display()),
    ];
    let source = place.join("source");
    let mut words = vec!["-S", text(&source), "-B", "windows", "-G", "Ninja"];
    words.extend(settings.iter().map(String::as_str));
    succeeds(folder, "cmake", &words);
    succeeds(folder, "cmake", &["--build", "windows"]);

    // One FMU for both.
    let both = folder.join("both");
    fs::create_dir_all(both.join("binaries/win64")).expect("a folder");
    succeeds(&both, "cmake", &["-E", "tar", "xf", text(&linux)]);
    let dll = "source_flatbuffers_tables.dll";
    let unpacked = folder.join("windows/unpacked/source-flatbuffers-tables/binaries/linux64");
    fs::copy(unpacked.join(dll), both.join("binaries/win64").join(dll)).expect("copied");
    let pack =
        ["-E", "tar", "cf", "../both.fmu", "--format=zip", "modelDescription.xml", "binaries"];
    succeeds(&both, "cmake", &pack);

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
    let dll = format!("both/binaries/win64/{dll}");
    let on_windows = succeeds(folder, "wine", &["step.exe", &dll.replace('/', "\\"), guid]);
    assert_eq!(on_linux.lines().count(), 3, "{on_linux}");
    assert_eq!(on_windows, on_linux);
}
