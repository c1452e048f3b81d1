//! The bus over the transports that are built apart. The first run builds
//! them, which takes minutes.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use support::{fact, result, run, to_said, wiregauge, Said};
use wiregauge_testkit::prerequisites::{has_memory, REALTIME};

/// Sends over these transports in both modes, and expects all to arrive.
fn carries(transports: &[&str], sizes: &[&str]) {
    carries_with(transports, sizes, &[]);
}

/// The same with these words besides.
fn carries_with(transports: &[&str], sizes: &[&str], more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (names, all) = (transports.join(","), sizes.join(",").replace(' ', ""));
    let words = ["bus", "run", "--mode", "both", "--cycle", "20ms", "--duration", "2s"];
    let words = [&words[..], &["--window", "250ms", "--transport", &names, "--size", &all], more];
    let said = run(folder.path(), &words.concat());
    said.expect_code(0);
    let run = result(folder.path());
    for mode in ["continuous", "discrete"] {
        for size in sizes {
            let case = format!("{size}, 20 ms, {mode}");
            for subject in transports {
                let fact = |metric| fact(&run, &case, subject, metric);
                assert!(fact("sent") > Some(0.0), "{subject} at {case}");
                assert_eq!(fact("lost"), Some(0.0), "{subject} at {case}");
                let bad = ["repeated", "damaged", "foreign"].map(fact);
                assert_eq!(bad, [None; 3], "{subject} at {case}");
                let round_trips = fact("round-trip/count");
                assert!(round_trips > Some(0.0), "{subject} at {case}: {round_trips:?}");
            }
        }
    }
}

#[test]
fn dds_carries_all() {
    carries(&["dds"], &["10 B", "100 kB"]);
}

#[test]
fn dds_carries_all_to_who_listens() {
    carries_with(&["dds"], &["10 B", "100 kB"], &["--option", "dds.wait=listener"]);
    carries_with(&["dds"], &["1 kB"], &["--option", "dds.wait=listener", "--announce"]);
}

#[test]
fn dds_carries_a_gibibyte() {
    // Each side holds some of them, whole and in pieces.
    if !has_memory(10) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "dds", "--size", "1GiB", "--cycle", "0"];
    // Whoever writes waits until the sample before has arrived.
    let said = run(folder.path(), &[&words[..], &["--duration", "6s"]].concat());
    said.expect_code(0);
    let run = result(folder.path());
    let fact = |metric| fact(&run, "1 GiB, unthrottled, continuous", "dds", metric);
    // On a loaded machine one takes all the time there is.
    assert!(fact("sent") > Some(0.0), "{}{}", said.out, said.err);
    assert_eq!(fact("lost"), Some(0.0), "{}{}", said.out, said.err);
}

#[test]
fn a_way_to_wait_that_dds_does_not_have() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "dds", "--duration", "6s"];
    let said = run(folder.path(), &[&words[..], &["--option", "dds.wait=poll"]].concat());
    said.expect_code(1);
    assert!(said.out.contains("wait is waitset or listener, not 'poll'"), "{}", said.out);
}

#[test]
fn fast_dds_carries_all() {
    carries(&["fastdds", "fastdds-memory", "fastdds-sharing"], &["10 B", "1 MB"]);
}

/// Beside each other in one run; each row says what it is.
#[test]
fn rows_of_one_library_differ_by_quality_of_service() {
    let folder = tempfile::tempdir().unwrap();
    let lossy = ["dds", "fastdds"].map(|name| format!("{name}:reliability=best-effort:history=1"));
    let scenario = format!(
        "transports = [\"dds\", \"{}\", \"fastdds\", \"{}\"]\n\
         duration = \"2s\"\nwindow = \"250ms\"\nround_trips = 10\n\
         [[load]]\nsize = 500\ncycle = \"20ms\"\n\
         [[participant]]\nname = \"a\"\nrole = \"sender\"\n\
         [[participant]]\nname = \"b\"\nrole = \"receiver\"\n",
        lossy[0], lossy[1]
    );
    std::fs::write(folder.path().join("quality.toml"), scenario).unwrap();
    let said = run(folder.path(), &["bus", "run", "--scenario", "quality.toml"]);
    said.expect_code(0);
    let run = result(folder.path());
    let options = |id: &str| {
        let subjects = run["subjects"].as_array().unwrap();
        let subject = subjects.iter().find(|subject| subject["id"] == id).unwrap();
        subject["options"].as_array().unwrap().clone()
    };
    for name in &lossy {
        let (library, _) = name.split_once(':').unwrap();
        assert!(fact(&run, "500 B, 20 ms, continuous", name, "sent") > Some(0.0), "{name}");
        let own = options(name);
        let from = own.iter().position(|option| option == "reliability=best-effort").unwrap();
        assert_eq!(own[from + 1], "history=1", "{own:?}");
        let plain = options(library);
        let quality = |option: &&serde_json::Value| option.as_str().unwrap().starts_with("reliab");
        let default = plain.iter().find(quality).unwrap().as_str().unwrap();
        assert!(default.contains("reliability=reliable and history=all"), "{default}");
    }
}

#[test]
fn a_quality_of_service_that_there_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for (name, why) in [
        ("dds:history=none", "history is 'all', or how many samples are kept, not 'none'"),
        ("fastdds:reliability=always", "reliability is reliable or best-effort, not 'always'"),
    ] {
        let words = ["bus", "run", "--duration", "6s", "--transport", name];
        let said = run(folder.path(), &words);
        said.expect_code(1);
        assert!(said.out.contains(why), "{}", said.out);
    }
}

#[test]
fn zenoh_carries_all() {
    carries(&["zenoh"], &["10 B", "100 kB"]);
}

#[test]
fn zenoh_carries_samples_in_its_shared_memory() {
    // It locks what it takes.
    if !REALTIME.is_met() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let words = ["bus", "run", "--transport", "zenoh-memory", "--cycle", "20ms"];
    let more = ["--duration", "2s", "--window", "250ms", "--size", "10,1MB"];
    let said = run(folder.path(), &[&words[..], &more].concat());
    let run = result(folder.path());
    for case in run["cases"].as_array().unwrap() {
        let case = case["id"].as_str().unwrap();
        let fact = |metric| fact(&run, case, "zenoh-memory", metric);
        // A reader that gets no processor for a tenth of a second loses samples, as zenoh has it:
        // then the run says so. One that came over TCP would have ended the run.
        assert!(fact("throughput") > Some(0.0), "{case}: {}{}", said.out, said.err);
        assert!(fact("lost") < fact("sent"), "{case}: {}{}", said.out, said.err);
        let bad = ["complete", "repeated", "damaged", "foreign"].map(fact);
        assert_eq!(bad, [None; 4], "{case}");
    }
}

#[test]
fn iceoryx2_carries_all() {
    carries(&["iceoryx2", "iceoryx2-copy"], &["10 B", "1 MB"]);
}

/// A DDS domain that only those of one test are in: others on the machine, and
/// other tests, have another tag, whatever the number of their domain.
struct Domain(String);

impl Domain {
    fn for_folder(folder: &Path) -> Domain {
        Domain(format!(
            "<CycloneDDS><Domain><Discovery><Tag>{}</Tag></Discovery></Domain></CycloneDDS>",
            folder.display()
        ))
    }

    /// Cyclone's own tool, killed in the end.
    fn ddsperf(&self, words: &[&str]) -> Ddsperf {
        let child = Command::new("ddsperf")
            .args(["-D", "60", "-1"])
            .args(words)
            .env("CYCLONEDDS_URI", &self.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("ddsperf starts; apt-get install cyclonedds-tools");
        Ddsperf(child)
    }

    /// Sends what ddsperf understands.
    fn run(&self, folder: &Path) -> Said {
        let words = ["bus", "run", "--transport", "dds", "--size", "100", "--cycle", "5ms"];
        let more = ["--duration", "6s", "--option", "dds.topic=DDSPerfRDataKS"];
        let mut command = wiregauge();
        command.args(words).args(more).env("CYCLONEDDS_URI", &self.0).current_dir(folder);
        to_said(command.output().unwrap())
    }
}

/// Cyclone's own tool.
struct Ddsperf(Child);

impl Drop for Ddsperf {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ddsperf_receives_what_we_send() {
    let folder = tempfile::tempdir().unwrap();
    let domain = Domain::for_folder(folder.path());
    let mut ddsperf = domain.ddsperf(&["sub"]);
    let output = BufReader::new(ddsperf.0.stdout.take().unwrap());
    let heard = thread::spawn(move || {
        // Such as: `[123] 4.000 size 112 total 1999 lost 0 delta 500 …`.
        output.lines().map_while(Result::ok).filter(|line| line.contains(" lost ")).find_map(
            |line| {
                let word = |name: &str| {
                    let mut words = line.split_whitespace().skip_while(|word| *word != name);
                    words.nth(1)?.parse::<u64>().ok()
                };
                (word("total")? >= 100).then(|| (word("size"), word("lost")))
            },
        )
    });
    let said = domain.run(folder.path());
    let run = result(folder.path());
    let case = "100 B, 5 ms, continuous";
    assert_eq!(fact(&run, case, "dds", "lost"), Some(0.0), "{}{}", said.out, said.err);
    drop(ddsperf);
    // It counts the fixed part of its type as payload.
    assert_eq!(heard.join().unwrap(), Some((Some(112), Some(0))));
}

#[test]
fn what_ddsperf_sends_is_received_and_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let domain = Domain::for_folder(folder.path());
    let _ddsperf = domain.ddsperf(&["pub", "200Hz", "size", "1000"]);
    // It publishes only once it has found someone.
    thread::sleep(Duration::from_millis(500));
    let said = domain.run(folder.path());
    let run = result(folder.path());
    let fact = |metric| fact(&run, "100 B, 5 ms, continuous", "dds", metric);
    assert!(fact("foreign") > Some(100.0), "{:?} {}{}", fact("foreign"), said.out, said.err);
    assert_eq!((fact("lost"), fact("damaged")), (Some(0.0), None));
}
