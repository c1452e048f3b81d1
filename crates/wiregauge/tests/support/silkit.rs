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

/// The Python that the wheel is for.
const PYTHON: &str = "python3.12";
/// What fetches that Python where the machine has none: it knows the hash of each that it fetches.
const UV: &str = "uv==0.13.9 \
                  --hash=sha256:d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19\n";

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

    /// The Python that its module was made for: the machine's, or one that is fetched once; none,
    /// which is reported, where it cannot be.
    #[track_caller]
    pub fn python(&self) -> Option<PathBuf> {
        let of_pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
        let of_pyenv = of_pyenv.or_else(|| Some(std::env::home_dir()?.join(".pyenv")));
        let fetched = self.0.with_file_name(PYTHON);
        // A command may be a shim, which only says that no such version is chosen.
        let mut found = vec![PathBuf::from(PYTHON)];
        found.extend(of_pyenv.iter().flat_map(|folder| installed(&folder.join("versions"))));
        found.extend(installed(&fetched));
        if let Some(python) = found.into_iter().find(|python| runs(python)) {
            return Some(python);
        }
        let lock = File::create(fetched.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let outcome = installed(&fetched).is_empty().then(|| fetch_python(&fetched)).transpose();
        if let Err(why) = outcome {
            report_left_out(&format!("SIL Kit's Python API wants {PYTHON}: {why}"));
            return None;
        }
        installed(&fetched).into_iter().find(|python| runs(python))
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

/// Pythons of the version that lie in folders below this one.
fn installed(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let pythons = folders.map(|version| version.path().join("bin").join(PYTHON));
    pythons.filter(|python| python.exists()).collect()
}

fn runs(python: &Path) -> bool {
    let output = Command::new(python).args(["-c", "import sys; print(sys.version)"]).output();
    output.is_ok_and(|output| output.status.success() && output.stdout.starts_with(b"3.12."))
}

/// A folder in which pip fetches things that are pinned.
struct Fetch(tempfile::TempDir);

impl Fetch {
    fn begin() -> Result<Fetch, String> {
        let fetch = Fetch(tempfile::tempdir_in(build_folder()).unwrap());
        fetch.run(Path::new("python3"), &["-m", "venv", "venv"])?;
        Ok(fetch)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a program; the last line of what it says is why it failed.
    fn run(&self, program: &Path, words: &[&str]) -> Result<(), String> {
        let output = Command::new(program).args(words).current_dir(self.0.path()).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(()),
            false => Err(said.lines().last().unwrap_or_default().to_owned()),
        }
    }

    /// Has pip do this with a package, whose hash stands beside its name.
    fn pip(&self, verb: &str, package: &str, words: &[&str]) -> Result<(), String> {
        fs::write(self.path("requirements.txt"), package).unwrap();
        let pip = ["-m", "pip", verb, "--no-deps", "--only-binary=:all:", "--require-hashes"];
        let words = [&pip[..], words, &["-r", "requirements.txt"]].concat();
        self.run(&self.path("venv/bin/python"), &words)
    }
}

fn unpack(folder: &Path) -> Result<(), String> {
    let fetch = Fetch::begin()?;
    let target = ["--python-version", "3.12", "--platform", "manylinux_2_28_x86_64"];
    fetch.pip("download", WHEEL, &[&target[..], &["-d", "wheels"]].concat())?;
    let wheel = fs::read_dir(fetch.path("wheels")).unwrap().next().unwrap().unwrap().path();
    let zip = ["-m", "zipfile", "-e", wheel.to_str().unwrap(), "unpacked"];
    fetch.run(&fetch.path("venv/bin/python"), &zip)?;
    for program in fs::read_dir(fetch.path("unpacked/SilKit_py/bin")).unwrap() {
        fs::set_permissions(program.unwrap().path(), PermissionsExt::from_mode(0o755)).unwrap();
    }
    fs::rename(fetch.path("unpacked"), folder).map_err(|error| error.to_string())
}

fn fetch_python(folder: &Path) -> Result<(), String> {
    let fetch = Fetch::begin()?;
    fetch.pip("install", UV, &[])?;
    let folder = folder.to_str().unwrap();
    let words = ["python", "install", "3.12.16", "--no-bin", "--no-config", "--install-dir"];
    fetch.run(&fetch.path("venv/bin/uv"), &[&words[..], &[folder]].concat())
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
