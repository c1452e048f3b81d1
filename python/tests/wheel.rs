//! The wheel of the Python package: packed of what cargo built, and installed into an empty
//! environment, without a network and without a compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use wiregauge_build_tools::python::PythonEnvironment;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Where tests keep what they build.
fn build_folder() -> PathBuf {
    let own = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("build");
    std::env::var_os("WIREGAUGE_BUILD").map_or_else(own, PathBuf::from)
}

/// What a program printed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

/// The system's Python: what another tool put before it in PATH is no one's to trust.
fn python() -> &'static str {
    match Path::new("/usr/bin/python3").exists() {
        true => "/usr/bin/python3",
        false => "python3",
    }
}

/// Packs the wheel of the program and the module that cargo built, without what debuggers
/// want.
fn pack(folder: &Path) -> PathBuf {
    let exe = std::env::current_exe().expect("a program");
    let built = exe.parent().and_then(Path::parent).expect("target/debug/deps");
    let strip = |names: &[&str], to: &str| {
        // 'cargo build' leaves a second one, which 'cargo test' does not make anew.
        let there = names.iter().map(|name| built.join(name)).filter(|path| path.exists());
        let from =
            there.max_by_key(|path| fs::metadata(path).and_then(|file| file.modified()).ok());
        let from = from.unwrap_or_else(|| {
            panic!("{} is not there; build it by 'cargo build'", built.join(names[0]).display())
        });
        let to = folder.join(to);
        run(Command::new("strip").arg("-o").arg(&to).arg(from));
        to
    };
    let program = strip(&["wiregauge"], "program");
    let library = "libwiregauge_native.so";
    let module = strip(&[library, &format!("deps/{library}")], "module");
    let mut pack = Command::new(python());
    pack.arg(Path::new(HERE).join("pack_wheel.py")).arg("--store");
    pack.arg("--program").arg(program).arg("--module").arg(module).arg("-o").arg(folder);
    PathBuf::from(run(&mut pack).trim())
}

/// An empty environment with the wheel alone; its interpreter.
fn install(folder: &Path, wheel: &Path) -> PathBuf {
    let environment = folder.join("environment");
    run(Command::new(python()).args(["-m", "venv"]).arg(&environment));
    let interpreter = environment.join("bin/python");
    let mut pip = bare(&interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]).arg(wheel);
    run(&mut pip);
    interpreter
}

/// A program that finds no other, no settings of the user, and not the checkout's package,
/// which lies in the folder of this test.
fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    let folder = program.parent().expect("a folder");
    command.env_clear().env("PATH", folder).current_dir(folder);
    command.env("LANG", "C.UTF-8").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command
}

#[test]
fn the_package_is_installed_and_does_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let wheel = pack(folder.path());
    let name = wheel.file_name().expect("a name").to_string_lossy().into_owned();
    let version = env!("CARGO_PKG_VERSION");
    assert!(name.starts_with(&format!("wiregauge-{version}-cp39-abi3-manylinux_2_")), "{name}");
    let interpreter = install(folder.path(), &wheel);

    // Nothing else is there, not even NumPy.
    let program = interpreter.with_file_name("wiregauge");
    let recordings = Path::new(HERE).join("../crates/trace/tests/recordings");
    let info = run(bare(&program).args(["trace", "info"]).arg(recordings.join("osi/zstd.mcap")));
    assert!(info.contains("osi3.SensorView"), "{info}");
    let text = "import sys, wiregauge; print(len(list(wiregauge.open(sys.argv[1]).messages())))";
    let count = run(bare(&interpreter).args(["-c", text]).arg(recordings.join("osi/zstd.mcap")));
    assert_eq!(count.trim(), "10");

    let requirements = include_str!("../../packed/rust/tests/arrow_requirements.txt");
    let others = PythonEnvironment::create(&build_folder(), requirements).expect("packages");
    let place = "import numpy; print(numpy.__path__[0])";
    let numpy = run(Command::new(&others.program).args(["-c", place]));
    let packages = Path::new(numpy.trim()).parent().expect("a folder");
    let work = folder.path().join("work");
    fs::create_dir(&work).expect("writable");
    for file in ["tests/installed.py", "tests/plans.py"] {
        let mut tests = bare(&interpreter);
        tests.env("PYTHONPATH", packages).arg(Path::new(HERE).join(file));
        tests.env("PYTHONDONTWRITEBYTECODE", "1");
        print!("{}", run(tests.arg(Path::new(HERE).join("..")).arg(&work)));
    }

    check_types(&interpreter);
}

/// The stubs say what the module has, and a program that uses all of it is sound for mypy.
fn check_types(interpreter: &Path) {
    let requirements = include_str!("types_requirements.txt");
    let mypy = PythonEnvironment::create(&build_folder(), requirements).expect("mypy");
    let site = "import wiregauge; print(wiregauge.__path__[0])";
    let package = PathBuf::from(run(bare(interpreter).args(["-c", site])).trim());
    let site = package.parent().expect("a folder");
    let mut check = Command::new(&mypy.program);
    check.args(["-m", "mypy", "--strict", "--no-error-summary", "--cache-dir=/dev/null"]);
    check.arg("--python-executable").arg(interpreter);
    check.arg(Path::new(HERE).join("tests/typed.py")).current_dir(site);
    run(&mut check);
    let mut stubs = Command::new(&mypy.program);
    stubs
        .args(["-m", "mypy.stubtest", "wiregauge._native"])
        .env("PYTHONPATH", site)
        .current_dir(site);
    run(&mut stubs);
}

#[test]
fn the_same_files_give_the_same_wheel() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = |name: &str| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).expect("writable");
        fs::read(pack(&folder)).expect("a wheel")
    };
    assert!(bytes("one") == bytes("other"));
}
