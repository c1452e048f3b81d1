//! SIL Kit's library and programs, from the wheel of its Python API.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use wiregauge_testkit::prerequisites::report_left_out;

use super::build_folder;

/// The wheel, pinned by its hash.
const WHEEL: &str = "silkit-py==1.0.5 \
                     --hash=sha256:7abdd65412ea5fba18edc9eaf4f295f1b4ae6a1fdf32f16883ad671e373137cc\n";

/// An unpacked wheel.
pub struct SilKit(PathBuf);

impl SilKit {
    /// Fetches it by pip, once; none, which is reported, where there is none for the machine
    /// or pip cannot reach it.
    #[track_caller]
    pub fn fetch() -> Option<SilKit> {
        let folder = build_folder().join("silkit-py-1.0.5");
        fs::create_dir_all(build_folder()).unwrap();
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let kit = SilKit(folder.clone());
        if !kit.library().exists() {
            if let Err(why) = unpack(&folder) {
                report_left_out(&format!("SIL Kit's wheel is not there: {why}"));
                return None;
            }
        }
        Some(kit)
    }

    /// The folder of Python's module.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Its library.
    pub fn library(&self) -> PathBuf {
        self.0.join("SilKit_py/libSilKit.so")
    }

    /// What wiregauge is told of it.
    pub fn option(&self) -> String {
        format!("silkit.library={}", self.library().display())
    }

    /// A registry of a test's own, and where it is.
    pub fn registry(&self) -> Registry {
        let mut child = Command::new(self.0.join("SilKit_py/bin/sil-kit-registry"))
            .args(["--listen-uri", "silkit://127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.find_map(|line| {
            line.unwrap().split_once("listening on ").map(|(_, uri)| uri.trim().to_owned())
        });
        // Its pipe stays open.
        std::mem::forget(lines);
        Registry { child, uri: told.expect("it listens") }
    }
}

fn unpack(folder: &Path) -> Result<(), String> {
    let aside = tempfile::tempdir_in(build_folder()).unwrap();
    let at = |name: &str| aside.path().join(name);
    fs::write(at("requirements.txt"), WHEEL).unwrap();
    let run = |program: &Path, words: &[&str]| {
        let output = Command::new(program).args(words).current_dir(aside.path()).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default().to_owned();
        if output.status.success() {
            Ok(())
        } else {
            Err(last)
        }
    };
    run(Path::new("python3"), &["-m", "venv", "venv"])?;
    let python = at("venv/bin/python");
    let download =
        ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"];
    let target = ["--python-version", "3.12", "--platform", "manylinux_2_28_x86_64"];
    run(&python, &[&download[..], &target, &["-r", "requirements.txt", "-d", "wheels"]].concat())?;
    let wheel = fs::read_dir(at("wheels")).unwrap().next().unwrap().unwrap().path();
    run(&python, &["-m", "zipfile", "-e", wheel.to_str().unwrap(), "unpacked"])?;
    for program in fs::read_dir(at("unpacked/SilKit_py/bin")).unwrap() {
        fs::set_permissions(program.unwrap().path(), PermissionsExt::from_mode(0o755)).unwrap();
    }
    fs::rename(at("unpacked"), folder).map_err(|error| error.to_string())
}

/// A registry, ended with its test.
pub struct Registry {
    child: Child,
    /// Where it is.
    pub uri: String,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
