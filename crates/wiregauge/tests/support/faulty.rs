//! A run whose participants are disturbed, and what it leaves behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{is_gone, participants, wiregauge, END_PATIENCE};

/// A run with a temporary folder of its own, killed if it is still there in the
/// end.
pub struct Run {
    pub child: Child,
    pub folder: tempfile::TempDir,
}

impl Run {
    pub fn start(words: &[&str]) -> Run {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        let child = wiregauge()
            .args(words)
            .current_dir(folder.path())
            .env("TMPDIR", folder.path().join("tmp"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Run { child, folder }
    }

    /// The run's folders that there are.
    pub fn scratch(&self) -> BTreeSet<String> {
        names(&self.folder.path().join("tmp"))
    }

    /// Its participants over a transport, but of these loads, once there are so many.
    pub fn participants_of(
        &self,
        transport: &str,
        but: &[String],
        number: usize,
    ) -> Vec<(i32, String)> {
        come_up(&self.child, transport, but, |there| there.len() >= number)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Shared memory of these runs.
pub fn shared(runs: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = names(Path::new("/dev/shm"));
    // The system puts this before the name of a semaphore.
    let bare = |name: &str| name.strip_prefix("sem.").unwrap_or(name).to_owned();
    found.retain(|name| runs.iter().any(|run| bare(name).starts_with(run)));
    found
}

/// The participants of a process over a transport, but of these loads, once those that are there are
/// what is wanted.
pub fn come_up(
    of: &Child,
    transport: &str,
    but: &[String],
    wanted: impl Fn(&[(i32, String)]) -> bool,
) -> Vec<(i32, String)> {
    let begun = Instant::now();
    // Those of a later load come after seconds, and who looks takes a processor's time.
    let pause = Duration::from_millis(if but.is_empty() { 25 } else { 100 });
    loop {
        let mut there = participants(of);
        there.retain(|(_, line)| !but.contains(&load(line)) && is_over(transport, line));
        if wanted(&there) {
            return there;
        }
        assert!(begun.elapsed() < Duration::from_secs(600), "they never came up");
        let ended = is_gone(of.id() as i32) && participants(of).is_empty();
        assert!(!ended, "it ended with {there:?} over {transport}, after those of {but:?}");
        thread::sleep(pause);
    }
}

/// The load that a participant is of: the address of its conductor, by its
/// command line.
pub fn load(line: &str) -> String {
    let address = line.split_whitespace().skip_while(|word| *word != "--control").nth(1);
    address.unwrap_or_default().to_owned()
}

/// Whether a participant's command line is that of a transport.
fn is_over(transport: &str, line: &str) -> bool {
    let own = line.contains("bus participant");
    // All of `memory` are in one process.
    let several = line.matches("--name").count() > 1;
    match transport {
        "tcp" => own && !several,
        "memory" => own && several,
        other => line.contains(&format!("/{} --control", other.split('-').next().unwrap())),
    }
}

/// Waits until nothing of these processes and runs is left; what is when it should have ended.
pub fn what_stays(ids: &[i32], runs: &BTreeSet<String>, folder: &Path) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let mut left: Vec<String> =
            ids.iter().filter(|id| !is_gone(**id)).map(|_| "processes".into()).collect();
        left.extend(shared(runs).iter().map(|_| "shared memory".into()));
        left.extend(names(folder).iter().map(|_| "a folder".into()));
        left.dedup();
        if left.is_empty() || begun.elapsed() > END_PATIENCE {
            return left;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
