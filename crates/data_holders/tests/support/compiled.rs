//! Compilers, and checkers of source, whose work is kept: the same files are not compiled by the
//! same command once more, in a later run of the tests either.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;

use wiregauge_build_tools::{hash, hash_file};

use super::{build_folder, succeeds};

/// How the names of sources end.
const SOURCES: [&str; 6] = ["cpp", "hpp", "java", "py", "rs", "txt"];

/// Has a compiler do its work in a folder, or puts there what it wrote the last time. It reads the
/// sources in the folder, the `inputs` that lie elsewhere, and what is installed.
///
/// # Panics
/// When it does not succeed: that is not kept.
pub fn compile(command: &mut Command, folder: &Path, inputs: &[&Path]) {
    let before = files(folder);
    let kept = build_folder().join("compiled").join(key(command, &before, folder, inputs));
    if kept.is_dir() {
        for file in files(&kept).keys() {
            copy(&kept, folder, file);
        }
        return;
    }
    succeeds(command.current_dir(folder));
    let parent = kept.parent().expect("it is in one");
    fs::create_dir_all(parent).expect("a folder");
    let half = tempfile::tempdir_in(parent).expect("a folder");
    let after = files(folder);
    for (file, _) in after.iter().filter(|(file, state)| before.get(*file) != Some(*state)) {
        copy(folder, half.path(), file);
    }
    // Another test may have compiled the same meanwhile; then this goes when it is dropped.
    let _ = fs::rename(half.path(), kept);
}

/// What its work depends on.
fn key(command: &Command, there: &Files, folder: &Path, inputs: &[&Path]) -> String {
    let text = |word: &std::ffi::OsStr| {
        word.to_string_lossy().replace(&*folder.to_string_lossy(), ".").into_bytes()
    };
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(text);
    let is_source = |file: &&PathBuf| {
        file.extension().is_some_and(|end| SOURCES.iter().any(|known| end == *known))
    };
    let content = |file: &Path| hash_file(file).expect("readable").into_bytes();
    let own = there.keys().filter(is_source);
    let own = own.flat_map(|file| [text(file.as_os_str()), content(&folder.join(file))]);
    let others = inputs.iter().map(|file| content(file));
    hash([installed(command)].into_iter().chain(words).chain(own).chain(others))
}

/// The version of the compiler, and when a package was installed last.
fn installed(compiler: &Command) -> Vec<u8> {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let program = compiler.get_program().to_string_lossy().into_owned();
    let mut known = KNOWN.lock().expect("no panic");
    let version = known.entry(program.clone()).or_insert_with(|| {
        let version = succeeds(Command::new(program).arg("--version"));
        let status = fs::metadata("/var/lib/dpkg/status").and_then(|status| status.modified());
        format!("{version}{:?}", status.ok())
    });
    version.clone().into_bytes()
}

/// Files by their path in a folder, with size and time.
type Files = BTreeMap<PathBuf, (u64, SystemTime)>;

/// All files below a folder.
fn files(folder: &Path) -> Files {
    let (mut found, mut folders) = (Files::new(), vec![PathBuf::new()]);
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below)).expect("a folder").flatten() {
            let (path, about) = (below.join(entry.file_name()), entry.metadata().expect("there"));
            match about.is_dir() {
                true => folders.push(path),
                false => {
                    found.insert(path, (about.len(), about.modified().expect("a time")));
                }
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path, file: &Path) {
    let target = to.join(file);
    fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
    fs::copy(from.join(file), target).expect("copied");
}
