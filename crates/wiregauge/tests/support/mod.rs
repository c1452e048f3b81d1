//! What the end-to-end tests share: the program, a folder, and a look at what
//! it said.
#![allow(dead_code)] // Each test file uses its part.

pub mod faulty;
pub mod machine;
pub mod silkit;
pub mod traces;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wiregauge_testkit::prerequisites::unshare;

/// The program with a build folder that the tests share.
pub fn wiregauge() -> Command {
    wiregauge_in(env!("CARGO_BIN_EXE_wiregauge"))
}

/// Another program in the surroundings of [`wiregauge`].
pub fn wiregauge_in(program: &str) -> Command {
    with_build_folder(Command::new(program))
}

fn with_build_folder(mut command: Command) -> Command {
    command.env("WIREGAUGE_BUILD", build_folder());
    command.stdin(Stdio::null());
    command
}

/// The program where nothing in a folder can be started, as in many a hardened /tmp; wants
/// `prerequisites::NETWORK`.
pub fn wiregauge_beside_noexec(folder: &Path) -> Command {
    let mut command = unshare(&["--mount"]);
    let script = "mount -t tmpfs -o noexec none \"$0\" && exec \"$@\"";
    command.args(["sh", "-c", script]).arg(folder).arg(env!("CARGO_BIN_EXE_wiregauge"));
    with_build_folder(command)
}

/// The build folder that the tests share.
pub fn build_folder() -> PathBuf {
    let own = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("build");
    std::env::var_os("WIREGAUGE_BUILD").map_or_else(own, PathBuf::from)
}

/// What a run said and how it ended.
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Said {
    /// # Panics
    /// When it ended with another exit status: with all that it said.
    #[track_caller]
    pub fn expect_code(&self, wanted: i32) {
        assert_eq!(self.code, Some(wanted), "{}{}", self.out, self.err);
    }
}

/// Runs the program with these arguments in a folder.
///
/// A bus on a loaded machine may stand still for longer than the three seconds of its default: it
/// gets a minute where no other time is said.
pub fn run(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = wiregauge();
    command.args(arguments).current_dir(folder);
    let is_said = ["--alive-within", "--scenario"].iter().any(|flag| arguments.contains(flag));
    if arguments.starts_with(&["bus", "run"]) && !is_said {
        command.args(["--alive-within", "60s"]);
    }
    to_said(command.output().expect("wiregauge starts"))
}

pub fn to_said(output: Output) -> Said {
    // How far a command is that takes longer than 30 s, as any may on a loaded machine.
    let is_progress = |line: &&str| {
        line.split_once(" s: ").is_some_and(|(seconds, _)| seconds.parse::<u32>().is_ok())
    };
    let err = String::from_utf8_lossy(&output.stderr);
    Said {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: err.split_inclusive('\n').filter(|line| !is_progress(line)).collect(),
        code: output.status.code(),
    }
}

/// Runs the program and expects one line that holds all of `words`, and
/// exit status 2.
pub fn refuses(folder: &Path, arguments: &[&str], words: &[&str]) {
    let output = wiregauge().args(arguments).current_dir(folder).output();
    let said = to_said(output.expect("wiregauge starts"));
    assert_eq!(said.code, Some(2), "{arguments:?}: {}{}", said.out, said.err);
    assert_eq!(said.err.trim_end().lines().count(), 1, "{arguments:?}: one line, not {}", said.err);
    for word in words {
        assert!(said.err.contains(word), "{arguments:?}: no '{word}' in {}", said.err);
    }
    assert_eq!(said.out, "", "{arguments:?}: results where there are none");
}

/// The project's own folder.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder whose names are wanted, but not what was built.
pub fn files(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let built = project().join("build");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().expect("known").is_dir() {
            if path != built && name != "target" && !name.starts_with('.') {
                found.extend(files(&path, wanted));
            }
        } else if wanted(&name) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A small recording, of those that crates/trace keeps.
pub fn recording(name: &str) -> String {
    let path = project().join("crates/trace/tests/recordings").join(name);
    path.canonicalize().expect("it is there").display().to_string()
}

/// A result as JSON.
pub fn result(folder: &Path) -> serde_json::Value {
    let text = fs::read(folder.join("run.json")).expect("there is a result");
    serde_json::from_slice(&text).expect("the result is JSON")
}

/// The status of a subject in a result.
pub fn status(run: &serde_json::Value, subject: &str) -> String {
    run["subjects"]
        .as_array()
        .expect("subjects")
        .iter()
        .find(|s| s["id"] == subject)
        .map(|s| s["status"].to_string())
        .unwrap_or_else(|| panic!("no {subject} in {}", run["subjects"]))
}

/// A fact of a result, where there is one.
pub fn fact(run: &serde_json::Value, case: &str, subject: &str, metric: &str) -> Option<f64> {
    let facts = run["facts"].as_array().expect("facts");
    let of = |f: &&serde_json::Value| {
        f["case"] == case && f["subject"] == subject && f["metric"] == metric
    };
    facts.iter().find(of)?["value"].as_f64()
}

/// The result has the form that docs/run.schema.json says.
pub fn has_its_form(run: &serde_json::Value) {
    let schema = fs::read(project().join("docs/run.schema.json")).unwrap();
    let schema = serde_json::from_slice(&schema).unwrap();
    let faults: Vec<String> = jsonschema::validator_for(&schema)
        .expect("the schema is one")
        .iter_errors(run)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

/// The participants that a process started: processes whose parent it is, and
/// that were told of a conductor.
pub fn participants(of: &Child) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    for id in children(of) {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if ["--control", "--stage"].iter().any(|word| line.contains(word)) {
            found.push((id, line));
        }
    }
    found
}

/// The processes whose parent one is, and that have not ended.
pub fn children(of: &Child) -> Vec<i32> {
    let parent = of.id() as i32;
    processes()
        .iter()
        .filter(|process| process.parent == parent)
        .map(|process| process.id)
        .collect()
}

/// A process that has not ended.
struct LivingProcess {
    id: i32,
    parent: i32,
}

/// All processes. To read them takes milliseconds of a processor: tests that look at the same time
/// share what one has read just now.
fn processes() -> Arc<Vec<LivingProcess>> {
    type Reading = Option<(Instant, Arc<Vec<LivingProcess>>)>;
    static LAST: Mutex<Reading> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((read, all)) = &*last {
        if read.elapsed() < Duration::from_millis(20) {
            return Arc::clone(all);
        }
    }
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let living = ids.filter_map(|id: i32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut words = stat.rsplit_once(") ")?.1.split(' ');
        let is_living = words.next() != Some("Z");
        is_living.then_some(LivingProcess { id, parent: words.next()?.parse().ok()? })
    });
    let all = Arc::new(living.collect());
    *last = Some((Instant::now(), Arc::clone(&all)));
    all
}

/// Waits until a participant has been woken so often. Mostly samples do that, once its run has begun:
/// what its control connection and its clock need is twenty times a second.
pub fn await_wakeups(id: i32, number: u64) {
    let woken = || -> u64 {
        let tasks = fs::read_dir(format!("/proc/{id}/task")).expect("it runs").flatten();
        let status = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
        let count = |status: String| -> Option<u64> {
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        status.filter_map(count).sum()
    };
    let begun = Instant::now();
    while woken() < number {
        assert!(begun.elapsed() < Duration::from_secs(60), "it was woken {} times", woken());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How long what must end may take on a loaded machine; on a quiet one it is gone in three seconds.
pub const END_PATIENCE: Duration = Duration::from_secs(60);

/// Sends a signal such as `-KILL`.
pub fn send_signal(signal: &str, id: i32) {
    let sent = Command::new("kill").args([signal, &id.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whether a process has ended.
pub fn is_gone(id: i32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { return true };
    stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X'])
}

/// The processes whose working folder is below a folder.
pub fn processes_below(folder: &Path) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let folders = entries.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    folders.filter(|cwd| cwd.starts_with(folder)).count()
}
