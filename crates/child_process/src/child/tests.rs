//! What children may do to us, and how their conversations end.

use super::*;
use wiregauge_testkit::own_process::run_alone;

fn shell(script: &str) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Child::spawn(command, Limits::default()).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(200)
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn died(broken: ChildFailure) -> Death {
    match broken {
        ChildFailure::Died(death) => death,
        other => panic!("{other}"),
    }
}

/// Whether a process runs; one that is dead and not reaped does not.
fn runs(id: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    !stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X'])
}

fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = later();
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn talks_in_lines_and_blocks() {
    let mut child = shell("read a; echo got $a; printf 'x\\r\\n1234567rest\\n'; cat");
    child.write_all(b"hello\n", later()).unwrap();
    assert_eq!(child.read_line(later()).unwrap(), "got hello");
    assert_eq!(child.read_line(later()).unwrap(), "x");
    assert_eq!(child.read_exact(0, later()).unwrap(), b"");
    assert_eq!(child.read_exact(7, later()).unwrap(), b"1234567");
    assert_eq!(child.read_line(later()).unwrap(), "rest");
    child.write_all(b"ab", later()).unwrap();
    assert_eq!(child.read_exact(2, later()).unwrap(), b"ab");
    let death = child.finish(later()).unwrap();
    assert_eq!(death.to_string(), "exit code 0");
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let result = Child::spawn(Command::new("/no/such/program"), Limits::default());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn silence_is_reported_in_time_and_ended() {
    for script in ["sleep 60", "trap '' TERM INT HUP; while :; do sleep 60; done"] {
        let mut child = shell(script);
        let id = child.id();
        let start = Instant::now();
        assert!(matches!(child.read_line(soon()), Err(ChildFailure::Hung)));
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(!runs(id));
    }
}

#[test]
fn who_takes_more_of_a_processor_than_it_may_hangs() {
    let mut child = shell("while read line; do while :; do :; done; done");
    let deadline = Instant::now() + Duration::from_secs(600);
    child.limit_processor_time(Some(Duration::from_millis(200)));
    child.write_all(b"go\n", deadline).unwrap();
    assert!(matches!(child.read_line(deadline), Err(ChildFailure::Hung)));
    assert!(Instant::now() < deadline);
}

#[test]
fn a_child_that_takes_nothing_hangs() {
    let mut child = shell("sleep 60");
    let bytes = vec![0; 4 << 20];
    assert!(matches!(child.write_all(&bytes, soon()), Err(ChildFailure::Hung)));
    // And stays dead.
    assert!(matches!(child.read_line(later()), Err(ChildFailure::Died(_))));
    assert!(matches!(child.write_all(b"x", later()), Err(ChildFailure::Died(_))));
}

#[test]
fn death_is_told_with_its_last_words() {
    let mut child = shell("echo early >&2; echo 'no such codec' >&2; kill -SEGV $$");
    let death = died(child.read_line(later()).unwrap_err());
    assert_eq!(death.to_string(), "killed by SIGSEGV (no such codec)");
    assert_eq!(death.stderr, "early\nno such codec\n");

    let mut child = shell("echo half; printf tail; exit 86");
    assert_eq!(child.read_line(later()).unwrap(), "half");
    let death = died(child.read_exact(100, later()).unwrap_err());
    assert_eq!(death.to_string(), "exit code 86");
    assert!(death.out_of_memory());
}

#[test]
fn only_the_end_of_standard_error_is_kept() {
    let mut child = shell("yes complaint | head -c 3000000 >&2; echo last >&2; echo done");
    assert_eq!(child.read_line(later()).unwrap(), "done");
    assert!(comes_true(|| {
        child.read_stderr();
        child.stderr().ends_with("last\n")
    }));
    assert!(child.stderr().len() <= STDERR_KEPT);
}

#[test]
fn nonsense_is_not_taken_for_an_answer() {
    let mut child = shell("printf '\\377\\376\\n'; sleep 60");
    let error = child.read_line(later()).unwrap_err();
    assert!(matches!(error, ChildFailure::Nonsense(_)), "{error}");

    // Without end, and without a line in it.
    let mut child = shell("exec cat /dev/zero");
    let error = child.read_line(later()).unwrap_err();
    assert!(matches!(error, ChildFailure::Nonsense(_)), "{error}");

    let mut child = shell("sleep 60");
    let error = child.read_exact(u64::MAX, later()).unwrap_err();
    assert!(matches!(error, ChildFailure::Nonsense(_)), "{error}");
}

#[test]
fn an_announced_size_takes_no_memory() {
    let mut child = shell("printf 12345; sleep 60");
    assert!(matches!(child.read_exact(LONGEST_ANSWER, soon()), Err(ChildFailure::Hung)));
}

#[test]
fn closing_the_pipes_ends_the_conversation() {
    let mut child = shell("exec 1>&-; sleep 60");
    let id = child.id();
    let death = died(child.read_line(later()).unwrap_err());
    assert_eq!(death.to_string(), "closed its pipes but kept running");
    assert!(!runs(id));

    let mut child = shell("exec 0<&-; sleep 60");
    let death = died(child.write_all(&vec![0; 4 << 20], later()).unwrap_err());
    assert_eq!(death.status, None);
}

#[test]
fn a_grandchild_dies_too() {
    for drop_it in [true, false] {
        let mut child = shell("sleep 60 & echo $!; read line");
        let grandchild = child.read_line(later()).unwrap().parse().unwrap();
        assert!(runs(grandchild));
        if drop_it {
            drop(child);
        } else {
            // The child ends by itself; the grandchild holds its pipes.
            child.write_all(b"\n", later()).unwrap();
            let death = died(child.read_line(later()).unwrap_err());
            assert_eq!(death.to_string(), "exit code 0");
        }
        assert!(comes_true(|| !runs(grandchild)));
    }
}

#[test]
fn what_a_child_detached_dies_too_and_nothing_else() {
    // Of another child, detached likewise, which stays.
    let mut other = shell("setsid sh -c 'echo $$; exec sleep 60' & read line");
    let others: u32 = other.read_line(later()).unwrap().parse().unwrap();
    // Ours, which no child started.
    let mut own = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
    for ends in [true, false] {
        let script =
            "setsid sh -c 'sh -c \"echo \\$\\$; exec sleep 60\" & sleep 60 & echo $!' & read line";
        let mut child = shell(script);
        let ids = [0, 1].map(|_| child.read_line(later()).unwrap().parse::<u32>().unwrap());
        assert!(comes_true(|| ids.iter().all(|&id| runs(id))));
        if ends {
            child.write_all(b"\n", later()).unwrap();
            child.finish(later()).unwrap();
        } else {
            drop(child);
        }
        assert!(!ids.iter().any(|&id| runs(id)), "{ends}");
    }
    assert!(runs(others) && runs(own.id()));
    drop(other);
    assert!(!runs(others) && runs(own.id()));
    own.kill().unwrap();
    own.wait().unwrap();
}

#[test]
fn what_is_being_detached_as_the_child_ends_dies_too() {
    // Each starts the next one and ends, while it is looked for them; also for those of another
    // thread's child.
    let script = "setsid sh -c 'hop() { [ $1 = 0 ] && exec sleep 60; hop $(($1 - 1)) & }; hop 9' &
                  echo begun; read line";
    let end_hops = |name: &str, round: u64| {
        let word = format!("HOPS=of {} in {name} {round}", std::process::id());
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("HOPS", &word[5..]);
        let mut child = Child::spawn(command, Limits::default()).unwrap();
        assert_eq!(child.read_line(later()).unwrap(), "begun");
        thread::sleep(Duration::from_micros(600 * round));
        drop(child);
        let has_word = |entry: std::fs::DirEntry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|of| of == word.as_bytes())
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        assert_eq!(entries.map(has_word).filter(|has| *has).count(), 0, "{name} {round}");
    };
    thread::scope(|scope| {
        for name in ["one", "another"] {
            scope.spawn(move || (0..25).for_each(|round| end_hops(name, round)));
        }
    });
}

#[test]
fn orphans_without_a_mark_die_with_the_last_child() {
    // Other tests have children.
    run_alone("child::tests::helper_whose_children_detach_others");
}

#[test]
#[ignore = "run by another test"]
fn helper_whose_children_detach_others() {
    let script = "env -i setsid sh -c 'echo $$; exec sleep 60' & read line";
    let (mut first, mut last) = (shell(script), shell(script));
    let ids = [&mut first, &mut last].map(|child| child.read_line(later()).unwrap());
    let runs = |id: &String| runs(id.parse().unwrap());
    let mut others = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
    // What it left may be the other one's.
    drop(first);
    assert!(ids.iter().all(runs));
    drop(last);
    assert!(!ids.iter().any(runs));
    assert!(runs(&others.id().to_string()));
    others.kill().unwrap();
    others.wait().unwrap();
}

/// As in a container that a shell outside has started: who leads our group and session has no
/// number here.
#[test]
fn orphans_die_where_the_leaders_of_group_and_session_are_elsewhere() {
    let apart = ["--pid", "--fork", "--mount-proc", "--user", "--map-root-user"];
    if !Command::new("unshare").args(apart).arg("true").status().is_ok_and(|of| of.success()) {
        eprintln!("skipped: there is no namespace of processes to be had");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(apart).arg(std::env::current_exe().unwrap());
    command.args(["child::tests::helper_whose_children_detach_others", "--exact", "--ignored"]);
    let helper = Child::spawn(command, Limits::default()).unwrap();
    assert_eq!(helper.finish(later()).unwrap().to_string(), "exit code 0");
}

#[test]
fn orphans_that_end_by_themselves_are_reaped() {
    // Not the leader of its session.
    let mut child = shell("setsid sh -c 'sh -c \"echo \\$\\$; sleep 0.1\" &' & read line");
    let id = child.read_line(later()).unwrap();
    assert!(comes_true(|| !runs(id.parse().unwrap())));
    drop(child);
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn dropping_reaps() {
    let child = shell("sleep 60");
    let id = child.id();
    drop(child);
    // Not even a zombie: its number is free.
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn both_sides_write_much_at_once() {
    let bytes: Vec<u8> = (0..50_000_000_u32).map(|i| ((i * 7) >> 3) as u8).collect();
    let mut child = shell("exec cat");
    let start = Instant::now();
    child.write_all(&bytes, later()).unwrap();
    let echo = child.read_exact(bytes.len() as u64, later()).unwrap();
    println!("50 MB there and back in {:?}", start.elapsed());
    assert!(echo == bytes);
    child.write_all(b"again\n", later()).unwrap();
    assert_eq!(child.read_line(later()).unwrap(), "again");
}

#[test]
fn a_child_outlives_the_thread_that_started_it() {
    let mut child = thread::spawn(|| shell("read line; echo $line")).join().unwrap();
    thread::sleep(Duration::from_millis(50));
    child.write_all(b"alive\n", later()).unwrap();
    assert_eq!(child.read_line(later()).unwrap(), "alive");
}

#[test]
fn who_takes_too_much_memory_is_ended() {
    // In a process of its own: the limit holds for all children.
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child::tests::helper_that_allows_little_memory", "--exact", "--ignored"]);
    command.arg("--nocapture");
    let mut helper = Child::spawn(command, Limits::default()).unwrap();
    assert_eq!(
        line_after(&mut helper, "broken "),
        "used more than 64 MiB of memory; --max-memory allows more"
    );
}

#[test]
#[ignore = "run by another test"]
fn helper_that_allows_little_memory() {
    memory::set_limit(64 << 20);
    // A shell that keeps what it reads, without end.
    let mut child = shell("x=$(cat /dev/zero | tr '\\0' x)");
    let death = died(child.read_line(later() + GRACE * 40).unwrap_err());
    assert!(death.out_of_memory());
    println!("\nbroken {death}");
}

#[test]
fn the_address_space_is_limited() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v; ulimit -c"]);
    let limits = Limits { address_space: Some(1 << 30), ..Limits::default() };
    let mut child = Child::spawn(command, limits).unwrap();
    assert_eq!(child.read_line(later()).unwrap(), "1048576");
    assert_eq!(child.read_line(later()).unwrap(), "0");
}

/// Not a test by itself: what the next two tests run in a process of its
/// own. It starts a child, tells its number, and waits for it.
#[test]
#[ignore = "run by other tests"]
fn helper_that_waits_for_a_child() {
    wiregauge_system::interrupt::install().unwrap();
    let mut child = shell("sleep 60 & echo $!; sleep 60");
    let grandchild = child.read_line(later()).unwrap();
    println!("\nids {} {grandchild}", child.id());
    let broken = child.read_line(later() + GRACE * 40).unwrap_err();
    println!("\nbroken {broken:?}");
    if std::env::var_os("WIREGAUGE_TEST_STUBBORN").is_some() {
        let _other = shell("sleep 60");
        loop {
            thread::park();
        }
    }
}

/// Starts the helper; its number is that of the test process. Whether it ignores SIGHUP is no
/// matter of who started the tests.
fn helper(stubborn: bool, hangup: &str) -> (Child, Vec<u32>) {
    let mut command = Command::new("env");
    command.arg(format!("--{hangup}-signal=HUP")).arg(std::env::current_exe().unwrap());
    command.args(["child::tests::helper_that_waits_for_a_child", "--exact", "--ignored"]);
    command.arg("--nocapture");
    if stubborn {
        command.env("WIREGAUGE_TEST_STUBBORN", "1");
    }
    let mut helper = Child::spawn(command, Limits::default()).unwrap();
    let ids = line_after(&mut helper, "ids ");
    (helper, ids.split(' ').map(|id| id.parse().unwrap()).collect())
}

fn line_after(child: &mut Child, start: &str) -> String {
    loop {
        if let Some(rest) = child.read_line(later()).unwrap().strip_prefix(start) {
            return rest.to_owned();
        }
    }
}

#[test]
fn children_do_not_outlive_us() {
    let (helper, ids) = helper(false, "default");
    rustix::process::kill_process(helper.group, Signal::KILL).unwrap();
    // The kernel ends children, but nobody ends grandchildren then.
    assert!(comes_true(|| !runs(ids[0])));
    let group = Pid::from_raw(ids[0] as i32).unwrap();
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
}

#[test]
fn an_interrupt_unwinds_and_a_second_one_ends() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (mut helper, ids) = helper(false, "default");
        rustix::process::kill_process(helper.group, signal).unwrap();
        assert_eq!(line_after(&mut helper, "broken "), "Interrupted");
        assert!(comes_true(|| !ids.iter().any(|&id| runs(id))));
        assert_eq!(helper.finish(later()).unwrap().to_string(), "exit code 0");
    }
    let (mut helper, _) = helper(true, "default");
    rustix::process::kill_process(helper.group, Signal::INT).unwrap();
    assert_eq!(line_after(&mut helper, "broken "), "Interrupted");
    rustix::process::kill_process(helper.group, Signal::INT).unwrap();
    assert_eq!(helper.finish(later()).unwrap().to_string(), "exit code 130");
}

/// As `nohup` starts it.
#[test]
fn who_ignores_the_end_of_the_terminal_goes_on() {
    let (mut helper, _) = helper(false, "ignore");
    rustix::process::kill_process(helper.group, Signal::HUP).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", helper.id())).unwrap();
    let has = |name: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & 1 << (Signal::HUP.as_raw() - 1) != 0
    };
    assert_eq!((has("SigIgn:"), has("SigCgt:")), (true, false), "{status}");
    rustix::process::kill_process(helper.group, Signal::TERM).unwrap();
    assert_eq!(line_after(&mut helper, "broken "), "Interrupted");
    assert_eq!(helper.finish(later()).unwrap().to_string(), "exit code 0");
}

#[test]
fn the_time_of_who_sleeps_is_read_behind_any_name() {
    let stat = |state: &str| format!("7 (a) b (c) {state} 1 7 7 0 -1 0 1 2 3 4 50 6 7 8 20 0 1\n");
    assert_eq!(parse_time_used(&stat("S")), Some((true, 56)));
    assert_eq!(parse_time_used(&stat("R")), Some((false, 56)));
    assert_eq!(parse_time_used("7 (a) S 1"), None);
}
