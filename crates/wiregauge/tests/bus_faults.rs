//! What becomes of a run when someone of it is killed, stopped or cut off, and
//! that nothing of it stays behind.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use support::{is_gone, participants, send_signal, wiregauge};

/// A run with a temporary folder of its own, killed if it is still there in the
/// end.
struct Run {
    child: Child,
    folder: tempfile::TempDir,
}

impl Run {
    fn start(words: &[&str]) -> Run {
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
    fn scratch(&self) -> BTreeSet<String> {
        names(&self.folder.path().join("tmp"))
    }

    /// Its participants over a transport, once both are there.
    fn participants_of(&self, transport: &str) -> Vec<(i32, String)> {
        let begun = Instant::now();
        loop {
            let mut there = participants(&self.child);
            there.retain(|(_, line)| line.contains(transport));
            if there.len() == 2 {
                return there;
            }
            assert!(begun.elapsed() < Duration::from_secs(600), "they never came up");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Shared memory of these runs.
fn shared(runs: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = names(Path::new("/dev/shm"));
    found.retain(|name| runs.iter().any(|run| name.starts_with(run)));
    found
}

#[test]
fn shared_memory_goes_with_a_conductor_that_is_killed() {
    // From before its participants are at work to when they are.
    for milliseconds in [0, 20, 50, 100, 200, 400, 800, 1500] {
        let words = ["bus", "run", "--transport", "iceoryx2", "--duration", "1s", "--size", "1MB"];
        let more = ["--window", "100ms", "--cycle", "1ms", "--round-trips", "0"];
        let mut run = Run::start(&[&words[..], &more].concat());
        let there = run.participants_of("iceoryx2 --control");
        let scratch = run.scratch();
        assert_eq!(scratch.len(), 1);
        thread::sleep(Duration::from_millis(milliseconds));
        let had = shared(&scratch);
        assert!(milliseconds != 800 || !had.is_empty(), "it has shared memory");
        send_signal("-KILL", run.child.id() as i32);
        run.child.wait().unwrap();
        let killed = Instant::now();
        loop {
            let runs = there.iter().any(|(id, _)| !is_gone(*id));
            let left: BTreeSet<String> = shared(&scratch).union(&run.scratch()).cloned().collect();
            if left.is_empty() && !runs {
                break;
            }
            let seconds = killed.elapsed().as_secs();
            assert!(seconds < 10, "killed after {milliseconds} ms: {left:?} of {had:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
