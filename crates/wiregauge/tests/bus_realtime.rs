//! What participants ask of the system: applied whole or refused before
//! anything is measured.

mod support;

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use support::machine::PAIR;
use support::{build_folder, participants, refuses, result, run, to_said, wiregauge};
use wiregauge_build_tools::write_script;
use wiregauge_participant::realtime::Realtime;
use wiregauge_testkit::prerequisites::{self, without_rights};

/// The first processor that we may use.
fn first_processor() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split(['-', ',']).next().unwrap().to_owned()
}

/// A run with all that can be asked for.
fn asked() -> Vec<String> {
    let words = ["--priority", "10", "--lock-memory", "--processors", &first_processor()];
    load(&words).into_iter().map(str::to_owned).collect()
}

fn load<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let words = ["bus", "run", "--size", "500", "--cycle", "1ms", "--transport", "tcp"];
    [&words[..], &["--duration", "2s", "--window", "250ms"], more].concat()
}

/// Policy and priority of the threads of this name.
fn scheduling(process: i32, name: &str) -> Vec<(u32, u32)> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let stats =
        tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let named = |stat: &String| stat.contains(&format!("({name})"));
    stats
        .filter(named)
        .filter_map(|stat| {
            // After the name come the third field and those behind it.
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            Some((fields.get(38)?.parse().ok()?, fields.get(37)?.parse().ok()?))
        })
        .collect()
}

#[test]
fn participants_run_as_they_were_asked_to() {
    if !prerequisites::REALTIME.is_met() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = wiregauge()
        .args(asked())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // SCHED_FIFO is policy 1.
    let asked = |process: i32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().trim().to_owned()
        };
        scheduling(process, "participant").contains(&(1, 10)) && line("VmLck:") != "0 kB"
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut seen = false;
    while !seen && Instant::now() < deadline && child.try_wait().unwrap().is_none() {
        let all = participants(&child);
        seen = all.len() == 2 && all.iter().all(|(process, _)| asked(*process));
        thread::sleep(Duration::from_millis(20));
    }
    assert!(seen, "sender and receiver under SCHED_FIFO 10 with locked memory");
    assert!(child.wait().unwrap().success());
    let run = result(folder.path());
    let first = first_processor();
    let noted = format!("participants run with SCHED_FIFO 10, processors {first}, memory locked");
    assert!(run["cases"][0]["notes"].to_string().contains(&noted), "{}", run["cases"]);
}

#[test]
fn what_cyclictest_says_of_the_machine_stands_with_each_case() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("cyclictest");
    let line = "T: 0 (14763) P:80 I:1000 C:   1000 Min:     18 Act:   40 Avg:   32 Max:     156";
    let text = format!("#!/bin/sh\necho \"$@\" > asked\necho '# hello'\necho '{line}'\n");
    write_script(&tool, &text).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let ran = wiregauge()
        .args(load(&["--processors", &first_processor()]))
        .env("PATH", path)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let ran = to_said(ran);
    ran.expect_code(0);
    assert!(ran.out.contains("wakes a thread up 32 µs late (18 to 156 µs"), "{}", ran.out);
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    let wanted = format!("--affinity={}", first_processor());
    assert!(asked.contains(&wanted) && !asked.contains("--priority"), "{asked}");
}

#[test]
fn what_is_not_granted_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    refuses(folder.path(), &load(&["--processors", "9999"]), &["processor 9999 does not exist"]);
    let refused = run(folder.path(), &load(&["--priority", "100"]));
    refused.expect_code(2);
    // Without the capability and without a limit that allows it.
    let output = without_rights(&["sys_nice", "sys_resource"], "--rtprio=0:0")
        .arg(env!("CARGO_BIN_EXE_wiregauge"))
        .args(load(&["--priority", "10"]))
        .env("WIREGAUGE_BUILD", build_folder())
        .current_dir(folder.path())
        .output()
        .expect("setpriv and prlimit are part of util-linux");
    let refused = to_said(output);
    refused.expect_code(2);
    for word in ["SCHED_FIFO with priority 10 is not granted", "ulimit -r"] {
        assert!(refused.err.contains(word), "{}", refused.err);
    }
    assert!(!folder.path().join("run.json").exists(), "nothing was measured");
}

#[test]
fn memory_that_is_not_granted_is_refused_before_anyone_waits() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!("lock_memory = true\n{PAIR}");
    fs::write(folder.path().join("two.toml"), scenario).unwrap();
    let participant = ["bus", "participant", "--scenario", "two.toml", "--wait", "5s"];
    for words in [
        load(&["--lock-memory"]),
        vec!["bus", "headroom", "--size", "500", "--lock-memory"],
        vec!["repeat", "fep", "--quick", "--transport", "tcp", "--lock-memory"],
        vec!["bus", "run", "--scenario", "two.toml"],
        [&participant[..], &["--name", "alpha"]].concat(),
        [&participant[..], &["--name", "beta", "--peer", "127.0.0.1:9"]].concat(),
    ] {
        let output = without_rights(&["ipc_lock", "sys_resource"], "--memlock=65536:65536")
            .arg(env!("CARGO_BIN_EXE_wiregauge"))
            .args(&words)
            .env("WIREGAUGE_BUILD", build_folder())
            .current_dir(folder.path())
            .output()
            .expect("setpriv and prlimit are part of util-linux");
        let refused = to_said(output);
        assert_eq!(refused.code, Some(2), "{words:?}: {}{}", refused.out, refused.err);
        assert_eq!(refused.err.lines().count(), 1, "{words:?}: {}", refused.err);
        for word in ["memory cannot be locked", "ulimit -l"] {
            assert!(refused.err.contains(word), "{words:?}: {}", refused.err);
        }
        assert!(!folder.path().join("run.json").exists(), "nothing was measured");
    }
}

/// What the system says of this process' memory, in kB.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn to_try_whether_memory_can_be_locked_locks_and_fetches_none_of_it() {
    if !prerequisites::REALTIME.is_met() {
        return;
    }
    let asked = Realtime { locked: true, ..Realtime::default() };
    // Mapped, and not there until someone writes to it.
    let reserved = std::hint::black_box(Vec::<u8>::with_capacity(256 << 20));
    let (locked, there) = (memory("VmLck:"), memory("VmRSS:"));
    asked.check_permissions().unwrap();
    assert_eq!(memory("VmLck:"), locked);
    assert!(memory("VmRSS:") < there + (128 << 10), "{} B were fetched", reserved.capacity());
}
