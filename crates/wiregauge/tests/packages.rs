//! What other projects take of this one: the packed field's headers, crates, and holders that
//! their builds have generated. Each example below `examples` is built as it stands there.
//! What downloads or compiles much is ignored here and run by `make test-packages`.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{files, project, to_said, Said};
use wiregauge_testkit::prerequisites::report_left_out;

/// The crates that are published.
const CRATES: [&str; 6] = [
    "wiregauge-build",
    "wiregauge-packed",
    "wiregauge-packed-arrow",
    "wiregauge-result",
    "wiregauge-runner",
    "wiregauge-system",
];

/// What each example of a scan prints.
const SCAN: &str = "a scan of 2 ranges in 30 bytes";
/// What those of the packed field print, too.
const REFLECTIONS: &str = "3 reflections, the second has -6 dB";

const PROGRAM: &str = env!("CARGO_BIN_EXE_wiregauge");

/// Runs a program in a folder, and expects that it succeeds.
fn succeeds(folder: &Path, program: &str, arguments: &[&str]) -> Said {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("WIREGAUGE", PROGRAM).stdin(Stdio::null());
    let said = to_said(command.output().unwrap_or_else(|error| panic!("{program}: {error}")));
    assert_eq!(said.code, Some(0), "{program} {arguments:?}: {}{}", said.out, said.err);
    said
}

/// Whether a program is there.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A copy of the files below a folder of the project.
fn copy(from: &str, to: &Path) {
    let from = project().join(from);
    for path in files(&from, &|_| true) {
        let place = to.join(path.strip_prefix(&from).expect("below it"));
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::copy(&path, place).expect("copied");
    }
}

/// The text of a path, as arguments take it.
fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A folder with the examples of C++ and, in `prefix`, the headers as CMake installs them.
fn cpp() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    copy("examples/cpp", &folder.path().join("cpp"));
    let packed = project().join("packed");
    let prefix = folder.path().join("prefix");
    let to = format!("-DCMAKE_INSTALL_PREFIX={}", prefix.display());
    succeeds(folder.path(), "cmake", &["-S", text(&packed), "-B", "packed", &to]);
    succeeds(folder.path(), "cmake", &["--install", "packed"]);
    (folder, prefix)
}

/// Configures and builds a project of CMake in `NAME`, and runs its example.
fn build_by_cmake(folder: &Path, name: &str, options: &[&str]) {
    let source = format!("cpp/{name}");
    let program = format!("-DWIREGAUGE_PROGRAM={PROGRAM}");
    let words =
        ["-S", &source, "-B", name, "-G", "Ninja", &program, "-DCMAKE_CXX_FLAGS=-Wall -Werror"];
    succeeds(folder, "cmake", &[&words[..], options].concat());
    succeeds(folder, "cmake", &["--build", name]);
    is_example(&folder.join(name).join("example"));
}

fn is_example(program: &Path) {
    let said = succeeds(Path::new("/"), text(program), &[]);
    assert_eq!(said.out, format!("{SCAN}\n{REFLECTIONS}\n"));
}

#[test]
fn find_package_takes_the_installed_headers_and_generates_what_changes() {
    let (folder, prefix) = cpp();
    let folder = folder.path();
    build_by_cmake(folder, "find_package", &[&format!("-DCMAKE_PREFIX_PATH={}", prefix.display())]);
    let again = succeeds(folder, "cmake", &["--build", "find_package"]);
    assert!(again.out.contains("no work to do"), "{}", again.out);

    // A definition that changes is generated and compiled again, in one build.
    let message = folder.join("cpp/scan.msg");
    let definition = fs::read_to_string(&message).expect("readable");
    fs::write(&message, format!("{definition}int8 added\n")).expect("written");
    let changed = succeeds(folder, "cmake", &["--build", "find_package"]);
    assert!(changed.out.contains("scan_holders/scan.hpp"), "{}", changed.out);
    assert!(changed.out.contains("main.cpp.o"), "{}", changed.out);
    let header = fs::read_to_string(folder.join("find_package/scan_holders/scan.hpp"));
    assert!(header.expect("generated").contains("added"));

    // The version is compared: a newer one than there is, is not found.
    let lists = folder.join("cpp/find_package/CMakeLists.txt");
    let text = fs::read_to_string(&lists).expect("readable");
    fs::write(&lists, text.replace("(wiregauge-packed ", "(wiregauge-packed 7")).expect("written");
    let mut cmake = Command::new("cmake");
    cmake.args(["-S", "cpp/find_package", "-B", "find_package"]).current_dir(folder);
    let said = to_said(cmake.output().expect("cmake starts"));
    assert_ne!(said.code, Some(0));
    assert!(said.err.contains("compatible with requested version \"70.1\""), "{}", said.err);
}

#[test]
fn fetch_content_takes_the_archive_of_a_release() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    copy("examples/cpp", &folder.join("cpp"));
    // As an archive of the tree: a folder with `packed` in it.
    copy("packed/include", &folder.join("wiregauge-0.1.0/packed/include"));
    copy("packed/cmake", &folder.join("wiregauge-0.1.0/packed/cmake"));
    let lists = folder.join("wiregauge-0.1.0/packed/CMakeLists.txt");
    fs::copy(project().join("packed/CMakeLists.txt"), lists).expect("copied");
    succeeds(folder, "tar", &["-czf", "release.tar.gz", "wiregauge-0.1.0"]);
    let archive = format!("-DWIREGAUGE_ARCHIVE={}", folder.join("release.tar.gz").display());
    build_by_cmake(folder, "fetch_content", &[&archive]);
}

#[test]
fn pkg_config_finds_the_installed_headers() {
    let (folder, prefix) = cpp();
    let place = folder.path().join("cpp/pkg_config");
    let mut make = Command::new("make");
    make.current_dir(&place).env("PKG_CONFIG_PATH", prefix.join("share/pkgconfig"));
    make.env("WIREGAUGE", PROGRAM);
    let said = to_said(make.output().expect("make starts"));
    said.expect_code(0);
    is_example(&place.join("example"));
}

#[test]
fn the_function_of_cmake_refuses_what_it_cannot_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = project().join("packed/cmake/WiregaugeGenerate.cmake");
    for (call, words) in [
        ("TARGET a WIRE cdr", "DEFINITIONS is missing"),
        ("TARGET a DEFINITIONS a.msg", "WIRE is missing"),
        ("TARGET a DEFINITIONS a.msg WIRE cdr", "a.msg; correct DEFINITIONS"),
        ("TARGET a DEFINITIONS script.cmake INCLUDE nowhere WIRE cdr", "nowhere; correct INCLUDE"),
        ("TARGET", "TARGET is missing"),
        ("LIBRARY a", "unknown argument LIBRARY"),
    ] {
        let script = folder.path().join("script.cmake");
        let text = format!(
            "set(WIREGAUGE_PROGRAM {PROGRAM})\ninclude({})\nwiregauge_generate({call})\n",
            module.display()
        );
        fs::write(&script, text).expect("written");
        let cmake =
            Command::new("cmake").arg("-P").arg(&script).current_dir(folder.path()).output();
        let said = to_said(cmake.expect("cmake starts"));
        let err = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.code != Some(0) && err.contains(words), "{call}: {err}");
    }
}

#[test]
fn a_build_script_has_holders_generated() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    copy("examples/rust-build", &folder.join("examples/rust-build"));
    copy("crates/build/src", &folder.join("crates/build/src"));
    // Away from the workspace, whose version and other fields the manifest has.
    let manifest =
        "[package]\nname = \"wiregauge-build\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fs::write(folder.join("crates/build/Cargo.toml"), manifest).expect("written");
    let example = folder.join("examples/rust-build");
    let target = folder.join("target");
    let run = || {
        let mut cargo = Command::new("cargo");
        cargo.args(["run", "--offline", "--verbose"]).current_dir(&example);
        cargo.env("CARGO_TARGET_DIR", &target).env("WIREGAUGE", PROGRAM);
        let said = to_said(cargo.output().expect("cargo starts"));
        said.expect_code(0);
        assert_eq!(said.out.trim(), SCAN);
        said.err
    };
    assert!(run().contains("build-script-build"));
    let again = run();
    assert!(again.contains("Fresh scan-example"), "nothing changed: {again}");
    let message = example.join("scan.msg");
    let definition = fs::read_to_string(&message).expect("readable");
    // Cargo compares times to the nanosecond where the file system has them.
    fs::write(&message, format!("{definition}int8[] added\n")).expect("written");
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--offline"]).current_dir(&example);
    cargo.env("CARGO_TARGET_DIR", &target).env("WIREGAUGE", PROGRAM);
    let said = to_said(cargo.output().expect("cargo starts"));
    assert!(said.out.contains("a scan of 2 ranges in 36 bytes"), "{}{}", said.out, said.err);
}

/// The arguments that name all published crates.
fn crates() -> Vec<&'static str> {
    CRATES.iter().flat_map(|name| ["-p", name]).collect()
}

#[test]
fn published_crates_can_be_packed() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("target");
    let words = ["package", "--offline", "--allow-dirty", "--no-verify", "--target-dir", text(&to)];
    succeeds(&project(), "cargo", &[&words[..], &crates()].concat());
    for name in CRATES {
        let version = env!("CARGO_PKG_VERSION");
        let archive = format!("package/{name}-{version}.crate");
        let listed = succeeds(&to, "tar", &["-tzf", &archive]).out;
        let listed: BTreeSet<&str> =
            listed.lines().filter_map(|line| Some(line.split_once('/')?.1)).collect();
        for file in ["README.md", "LICENSE", "src/lib.rs"] {
            assert!(listed.contains(file), "{name}: no {file} in {listed:?}");
        }
        let has_example = listed.iter().any(|file| file.starts_with("examples/"));
        assert!(has_example || name == "wiregauge-build", "{name}: no example in {listed:?}");
        let inside = |path: &str| format!("{name}-{version}/{path}");
        let manifest = succeeds(&to, "tar", &["-xOzf", &archive, &inside("Cargo.toml")]).out;
        let manifest: toml::Table = manifest.parse().expect("a manifest");
        let package = manifest["package"].as_table().expect("a table");
        for key in ["description", "keywords", "categories", "repository", "readme", "license"] {
            assert!(package.contains_key(key), "{name}: its manifest has no {key}");
        }
        let licence = succeeds(&to, "tar", &["-xOzf", &archive, &inside("LICENSE")]).out;
        assert!(licence.contains("Apache License"), "{name}: the licence's text is packed");
    }
}

/// All other crates stay where they are.
#[test]
fn no_other_crate_is_published() {
    let words = ["metadata", "--format-version=1", "--no-deps", "--offline", "--locked"];
    let metadata = succeeds(&project(), "cargo", &words).out;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let published = packages.filter(|package| package["publish"].is_null());
    let published: BTreeSet<&str> =
        published.map(|package| package["name"].as_str().expect("a name")).collect();
    assert_eq!(published, CRATES.into_iter().collect());
}

/// The page of a crate shows pieces of its examples, which are compiled.
#[test]
fn the_page_of_the_runner_shows_its_example() {
    let folder = project().join("crates/runner");
    let page = fs::read_to_string(folder.join("README.md")).expect("readable");
    let example = fs::read_to_string(folder.join("examples/plain.rs")).expect("readable");
    let shown = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    assert!(example.contains(shown.expect("a piece")), "README.md shows another encoder");
}

#[test]
#[ignore = "wants actionlint; make test-packages"]
fn workflows_are_workflows() {
    if !is_there("actionlint") {
        report_left_out(
            "wants actionlint: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7",
        );
        return;
    }
    let folder = project().join(".github/workflows");
    let paths = files(&folder, &|name| name.ends_with(".yml"));
    succeeds(&folder, "actionlint", &paths.iter().map(|path| text(path)).collect::<Vec<_>>());
}

#[test]
#[ignore = "downloads Conan; make test-packages"]
fn conan_takes_the_recipe() {
    let (folder, _) = cpp();
    let folder = folder.path();
    succeeds(folder, "python3", &["-m", "venv", "venv"]);
    let pip = folder.join("venv/bin/pip");
    let mut install = Command::new(&pip);
    install.args(["install", "--quiet", "conan==2.34.0"]);
    if !install.status().expect("pip starts").success() {
        report_left_out("wants Conan, which cannot be downloaded");
        return;
    }
    let conan = |arguments: &[&str]| {
        let mut command = Command::new(folder.join("venv/bin/conan"));
        command.args(arguments).current_dir(folder).env("CONAN_HOME", folder.join("conan"));
        let said = to_said(command.output().expect("conan starts"));
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.err);
    };
    conan(&["profile", "detect"]);
    let recipe = project().join("packed");
    conan(&["create", text(&recipe)]);
    let presets = "tools.cmake.cmaketoolchain:user_presets=";
    conan(&["install", "cpp/conan", "--output-folder=conan_build", "-c", presets]);
    let toolchain = folder.join("conan_build/conan_toolchain.cmake");
    let toolchain = format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.display());
    build_by_cmake(folder, "conan", &[&toolchain, "-DCMAKE_BUILD_TYPE=Release"]);
}

#[test]
#[ignore = "downloads plugins of Maven; make test-packages"]
fn maven_has_holders_generated() {
    let folder = tempfile::tempdir().expect("a folder");
    copy("examples/java-maven", folder.path());
    let program = format!("-Dwiregauge={PROGRAM}");
    let words =
        ["--batch-mode", "--quiet", "-Dstyle.color=never", &program, "compile", "exec:exec@run"];
    let said = succeeds(folder.path(), "mvn", &words);
    assert!(said.out.contains(SCAN), "{}", said.out);
    let words = ["--offline", "--batch-mode", "--quiet", &program, "compile"];
    let again = succeeds(folder.path(), "mvn", &words);
    assert!(!again.out.contains("Scan.java"), "nothing is written again: {}", again.out);
}

#[test]
#[ignore = "wants Gradle; make test-packages"]
fn gradle_has_holders_generated() {
    if !is_there("gradle") {
        report_left_out("wants gradle: apt-get install gradle");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    copy("examples/java-maven", &folder.path().join("java-maven"));
    let place = folder.path().join("java-gradle");
    copy("examples/java-gradle", &place);
    let home = folder.path().join("home");
    let classes = ["--offline", "--no-daemon", "--console=plain", "-g", text(&home), "classes"];
    succeeds(&place, "gradle", &classes);
    let words = ["-cp", "build/classes/java/main", "org.example.Example"];
    assert_eq!(succeeds(&place, "java", &words).out.trim(), SCAN);
    let again = succeeds(&place, "gradle", &classes);
    assert!(again.out.contains(":generateHolders UP-TO-DATE"), "{}", again.out);
}

#[test]
#[ignore = "wants Bazel and its rules of C++; make test-packages"]
fn bazel_has_holders_generated() {
    let Some(bazel) = ["bazel", "bazelisk"].into_iter().find(|name| is_there(name)) else {
        report_left_out("wants bazel: apt-get install bazel-bootstrap");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    copy("examples/bazel", folder.path());
    let root = format!("--output_user_root={}", folder.path().join("root").display());
    // Where the rules of C++ lie, on a machine that cannot download them.
    let flags = std::env::var("WIREGAUGE_BAZEL_FLAGS").unwrap_or_default();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let words = [&["--batch", &root, "build"][..], &flags, &["//:example"]].concat();
    succeeds(folder.path(), bazel, &words);
    let program = folder.path().join("bazel-bin/example");
    assert_eq!(succeeds(folder.path(), text(&program), &[]).out.trim(), SCAN);
}

#[test]
#[ignore = "compiles all published crates; make test-packages"]
fn published_crates_are_taken_by_cargo() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("publish");
    let words = ["publish", "--dry-run", "--allow-dirty", "--target-dir", text(&target)];
    succeeds(&project(), "cargo", &[&words[..], &crates()].concat());
}

/// Asks a runner what an earlier gauge asked, and expects what the runner answered then; times
/// are others.
fn answers_as_released(program: &Path) {
    let exchange = project().join("crates/wiregauge/tests/released/0.1.0/exchange.jsonl");
    let exchange = fs::read_to_string(exchange).expect("readable");
    let bytes = |text: &serde_json::Value| -> Vec<u8> {
        let digits = text.as_str().expect("digits");
        let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
        pairs.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect()
    };
    let (mut asked, mut wanted) = (Vec::new(), Vec::new());
    for line in exchange.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let request = line["request"].as_str().expect("a text");
        asked.extend([request.as_bytes(), b"\n", &bytes(&line["payload"])].concat());
        wanted.push((request.to_owned(), line["word"].clone(), bytes(&line["reply"])));
    }
    let mut runner = Command::new(program);
    let mut runner = runner.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    runner.stdin.take().expect("a pipe").write_all(&asked).expect("asked");
    let mut answers = BufReader::new(runner.stdout.take().expect("a pipe"));
    for (request, word, reply) in wanted {
        let mut head = String::new();
        answers.read_line(&mut head).expect("an answer");
        let (said, size) = head.trim_end().split_once(' ').expect("a word and a size");
        assert_eq!(said, word, "{request}");
        let mut answer = vec![0; size.parse().expect("a size")];
        answers.read_exact(&mut answer).expect("the answer");
        let untimed = |reply: &[u8]| match reply.strip_prefix(b"ns ") {
            Some(rest) => rest.iter().skip_while(|byte| **byte != b'\n').copied().collect(),
            None => reply.to_vec(),
        };
        assert_eq!(untimed(&answer), untimed(&reply), "{request}");
    }
    assert!(runner.wait().expect("it ends").success());
}

#[test]
#[ignore = "measures; make test-packages"]
fn the_examples_of_the_runner_are_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("publish");
    let words = ["build", "--offline", "--locked", "-p", "wiregauge-runner", "--examples"];
    succeeds(&project(), "cargo", &[&words[..], &["--target-dir", text(&target)]].concat());
    let example = |name: &str| target.join("debug/examples").join(name);
    answers_as_released(&example("columns"));
    let runner = |name: &str| format!("--runner={name}={}", example(name).display());
    let (columns, plain) = (runner("columns"), runner("plain"));
    let words = ["codecs", "--quick", "--length", "points=100", "--codecs", "noop-cpp"];
    let words = [&words[..], &[&columns, &plain]].concat();
    let said = support::run(folder.path(), &[&words[..], &["-o", "run.json"]].concat());
    said.expect_code(0);
    let result = support::result(folder.path());
    for name in ["columns", "plain"] {
        let status = support::status(&result, name);
        assert!(status.contains("measured"), "{name}: {status}");
    }
    // And the example that reads results reads this one.
    let medians =
        ["run", "--offline", "--locked", "-p", "wiregauge-result", "--example", "medians"];
    let path = folder.path().join("run.json");
    let words = [&medians[..], &["--target-dir", text(&target), "--", text(&path)]].concat();
    let said = succeeds(&project(), "cargo", &words);
    assert!(said.out.contains("columns  encode: "), "{}", said.out);
}
