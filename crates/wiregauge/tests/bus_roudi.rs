//! Cyclone DDS in the shared memory of iceoryx, whose daemon RouDi a machine has one of: each test has
//! folders and a network of its own in its place.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use support::faulty::names;
use support::{build_folder, fact, result, run, status, to_said, wiregauge, Said};
use wiregauge_testkit::prerequisites::{self, NETWORK};

const ROW: &str = "dds-memory";
/// Short windows and cycles.
const SHORT: [&str; 8] = ["bus", "run", "--cycle", "20ms", "--duration", "1s", "--window", "140ms"];

/// Folders and a network that stand for a machine's.
struct Machine(tempfile::TempDir);

impl Machine {
    /// One, where the system grants it.
    fn new() -> Option<Machine> {
        if !NETWORK.is_met() {
            return None;
        }
        // Its program is built where there is a network.
        static BUILT: Once = Once::new();
        BUILT.call_once(|| {
            let words = ["--transport", "dds", "--round-trips", "0", "--alive-within", "60s"];
            let folder = tempfile::tempdir().unwrap();
            let said = run(folder.path(), &[&SHORT[..], &words].concat());
            said.expect_code(0);
        });
        // Not in the folder for temporary files, which is another one there.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for own in ["tmp", "shm", "run"] {
            fs::create_dir(folder.path().join(own)).unwrap();
        }
        Some(Machine(folder))
    }

    /// Where runs are.
    fn folder(&self) -> PathBuf {
        self.0.path().join("run")
    }

    /// A script on that machine, with these words.
    fn shell(&self, script: &str, words: &[&str]) -> Command {
        let here = self.0.path().display();
        let kept: String = kept_below_tmp()
            .iter()
            .map(|name| {
                let there = format!("'{here}/tmp/{name}'");
                format!("mkdir -p {there}; mount --bind '/tmp/{name}' {there}; ")
            })
            .collect();
        let made = format!(
            "set -e; {kept} mount --rbind '{here}/tmp' /tmp; mount --bind '{here}/shm' /dev/shm; \
             ip link set lo up; set +e; {script}"
        );
        let mut command = prerequisites::unshare(&["--net", "--mount"]);
        command.args(["sh", "-c", &made]).arg(wiregauge().get_program()).args(words);
        command.env("WIREGAUGE_BUILD", build_folder()).env_remove("TMPDIR");
        command.current_dir(self.folder());
        command
    }

    fn run_script(&self, script: &str, words: &[&str]) -> Said {
        // As `support::run` has it.
        let words = [words, &["--alive-within", "60s"]].concat();
        to_said(self.shell(script, &words).output().unwrap())
    }

    fn run(&self, words: &[&str]) -> Said {
        self.run_script("exec \"$0\" \"$@\"", words)
    }

    /// What is in the folders where iceoryx and runs leave something, once that is nothing, or after
    /// a time in which each of them has ended.
    fn what_stays(&self) -> BTreeSet<String> {
        let begun = Instant::now();
        loop {
            let found = ["tmp", "shm"].map(|own| names(&self.0.path().join(own)));
            let kept = kept_below_tmp();
            let found = found.into_iter().flatten().filter(|name| !kept.contains(name));
            let found: BTreeSet<String> = found.collect();
            if found.is_empty() || begun.elapsed() > Duration::from_secs(30) {
                return found;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Folders in the system's for temporary files that are there too, as the tree, what was built or
/// the tests' own files are in them.
fn kept_below_tmp() -> BTreeSet<String> {
    let program = wiregauge().get_program().into();
    let paths = [program, build_folder(), env!("CARGO_TARGET_TMPDIR").into()];
    let first = |path: &PathBuf| {
        let name = path.strip_prefix("/tmp").ok()?.iter().next()?;
        Some(name.to_string_lossy().into_owned())
    };
    paths.iter().filter_map(first).collect()
}

/// Of so many cases all arrived that was sent.
fn assert_carried(machine: &Machine, cases: usize, said: &Said) {
    said.expect_code(0);
    let run = result(&machine.folder());
    let found = run["cases"].as_array().unwrap();
    assert_eq!(found.len(), cases);
    for case in found.iter().map(|case| case["id"].as_str().unwrap()) {
        let fact = |metric| fact(&run, case, ROW, metric);
        assert!(fact("sent") > Some(0.0), "{case}: {}", status(&run, ROW));
        assert_eq!(fact("lost"), Some(0.0), "{case}");
        let bad = ["complete", "repeated", "damaged", "foreign"].map(fact);
        assert_eq!(bad, [None; 4], "{case}");
        let round_trips = fact("round-trip/count");
        assert!(round_trips > Some(0.0), "{case}: {round_trips:?}");
    }
}

#[test]
fn dds_carries_samples_in_shared_memory_and_nothing_stays() {
    let Some(machine) = Machine::new() else { return };
    let words = [&SHORT[..], &["--transport", ROW]].concat();
    for (more, cases) in [
        (&["--size", "10,1MB", "--mode", "both"][..], 4),
        (&["--topics", "3", "--senders", "2", "--mode", "discrete"], 1),
        (&["--option", "dds.wait=listener"], 1),
    ] {
        let said = machine.run(&[&words[..], more].concat());
        assert_carried(&machine, cases, &said);
        // What makes the row, and that it may lose samples.
        let run = result(&machine.folder());
        let options = run["subjects"].as_array().unwrap().iter().find(|own| own["id"] == ROW);
        let options = options.unwrap()["options"].to_string();
        for said in ["way=memory", "what one does not take in time is lost"] {
            assert!(options.contains(said), "no '{said}' in {options}");
        }
    }
    assert_eq!(machine.what_stays(), BTreeSet::new());
}

/// What the interfaces of a machine have sent, in bytes, as the kernel counts it.
fn bytes_sent(counters: &Path) -> f64 {
    let text = fs::read_to_string(counters).unwrap();
    let sent = |line: &str| {
        let (_, numbers) = line.split_once(':')?;
        numbers.split_whitespace().nth(8)?.parse::<f64>().ok()
    };
    text.lines().filter_map(sent).sum()
}

#[test]
fn no_sample_in_shared_memory_crosses_the_network() {
    let Some(machine) = Machine::new() else { return };
    let sent = |transport: &str| {
        let words = ["--transport", transport, "--size", "1MB", "--round-trips", "0"];
        let script = "\"$0\" \"$@\" && cat /proc/net/dev >counters";
        let said = machine.run_script(script, &[&SHORT[..], &words].concat());
        said.expect_code(0);
        let run = result(&machine.folder());
        let samples = |row| fact(&run, "1 MB, 20 ms, continuous", row, "sent").unwrap();
        // TCP, which is in every table, sends its own.
        let bytes = bytes_sent(&machine.folder().join("counters"));
        (bytes / 1e6 - samples("tcp")) / samples(transport)
    };
    // Of each megabyte, and of what else is said: all, and next to nothing.
    let (over, beside) = (sent("dds"), sent(ROW));
    assert!(over > 0.9 && beside < 0.1, "{over} of a sample over the network, and {beside}");
}

#[test]
fn a_roudi_of_somebody_else_is_used_where_it_can_be_and_left_alone() {
    let Some(machine) = Machine::new() else { return };
    let small =
        "[general]\nversion = 1\n[[segment]]\n[[segment.mempool]]\nsize = 1024\ncount = 2000\n";
    fs::write(machine.folder().join("small.toml"), small).unwrap();
    let script = "
        iox-roudi -c small.toml >roudi.log & roudi=$!
        until grep -q 'ready for clients' roudi.log; do kill -0 $roudi || exit 9; sleep 0.01; done
        \"$0\" \"$@\"; code=$?
        kill -TERM $roudi && wait $roudi && exit $code";
    let words = ["--transport", ROW, "--size", "100,1MB"];
    let said = machine.run_script(script, &[&SHORT[..], &words].concat());
    said.expect_code(1);
    let run = result(&machine.folder());
    assert_eq!(fact(&run, "100 B, 20 ms, continuous", ROW, "lost"), Some(0.0), "{}", said.out);
    assert_eq!(fact(&run, "1 MB, 20 ms, continuous", ROW, "sent"), None, "{}", said.out);
    let why = "has no memory for samples of 1000000 B: end it, and the run starts its own, or";
    assert!(said.out.contains(why), "{}", said.out);
    assert_eq!(machine.what_stays(), BTreeSet::new());
}

#[test]
fn a_conductor_that_is_killed_leaves_no_roudi() {
    let Some(machine) = Machine::new() else { return };
    // As it starts, and at work.
    for wait in ["0", "1.5"] {
        let script = format!(
            "\"$0\" \"$@\" >said & run=$!
            until [ -e /tmp/roudi ]; do kill -0 $run || exit 9; sleep 0.01; done
            sleep {wait}; ls /dev/shm >had; kill -KILL $run"
        );
        let words = ["bus", "run", "--transport", ROW, "--size", "1MB", "--cycle", "20ms"];
        let words = [&words[..], &["--duration", "4s", "--window", "500ms"]].concat();
        let said = machine.run_script(&script, &words);
        said.expect_code(0);
        let had = fs::read_to_string(machine.folder().join("had")).unwrap();
        assert!(had.contains("iceoryx_mgmt"), "{had}");
        assert_eq!(machine.what_stays(), BTreeSet::new(), "after {wait} s");
    }
}

#[test]
fn what_it_cannot_have_is_told_with_the_remedy() {
    let Some(machine) = Machine::new() else { return };
    let refused = |script: &str, more: &[&str], why: &str| {
        let said = machine.run_script(script, &[&SHORT[..], more].concat());
        said.expect_code(1);
        let status = status(&result(&machine.folder()), more[1]);
        assert!(status.contains(why), "no '{why}' in {status}");
    };
    let plain = "exec \"$0\" \"$@\"";
    let without = "PATH=/nowhere exec \"$0\" \"$@\"";
    let missing = "iox-roudi is not installed; apt-get install iceoryx";
    refused(without, &["--transport", ROW], missing);
    for (name, why) in [
        ("dds-memory:history=all", "history is 1 to 128 in shared memory"),
        ("dds-memory:history=129", "history is 1 to 128 in shared memory, not 129"),
        ("dds-memory:security=encrypted", "way=memory has no security"),
        ("dds:way=wire", "way is network or memory, not 'wire'"),
    ] {
        refused(plain, &["--transport", name], why);
    }
    let small = "mount -t tmpfs -o size=8m none /dev/shm && exec \"$0\" \"$@\"";
    refused(small, &["--transport", ROW], "MB of shared memory are needed, but /dev/shm has 8");
    assert_eq!(machine.what_stays(), BTreeSet::new());
}
