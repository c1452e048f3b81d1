//! Who is killed or stopped, or which link is cut, and when, over each transport:
//! what is written of it, how the command ends, what stays, and whether the next
//! load goes on. The table in docs/bus.md is what was seen here; WIREGAUGE_BLESS=1
//! writes it anew.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use support::faulty::{self, come_up, names, what_stays, Run};
use support::machine::Machine;
use support::{fact, project, result, send_signal, wiregauge};
use wiregauge_bus::placement::emulation::Emulation;
use wiregauge_testkit::prerequisites::HOSTS;

/// Runs at the same time: they mostly wait.
const AT_ONCE: usize = 14;
/// How many are tried again at the same time, when what was seen beside the others is not what is
/// documented: on a loaded machine a moment may be missed.
const AGAIN: [usize; 2] = [4, 1];

/// How much time a run has.
#[derive(Clone, Copy)]
struct Pace {
    /// How long a load takes: who is looked for on a starved machine is found before its end.
    load: &'static str,
    /// From when participants are there to the middle of the run.
    middle: Duration,
}

/// What does on a machine with time to spare.
const USUAL: Pace = Pace { load: "5s", middle: Duration::from_secs(2) };
/// What does on a loaded one.
const SLOW: Pace = Pace { load: "16s", middle: Duration::from_secs(8) };

const TRANSPORTS: [&str; 8] =
    ["tcp", "memory", "dds", "fastdds-sharing", "zenoh", "zenoh-drop", "iceoryx2", "iceoryx2-copy"];
/// Those that reach another machine, once each program.
const REMOTE: [&str; 3] = ["tcp", "dds", "zenoh"];
/// Those that cross a link.
const LINKED: [&str; 4] = ["tcp", "dds", "zenoh", "zenoh-drop"];
/// How a row begins that is of a link.
const LINK: &str = "| the link";

/// Of three loads the first two are disturbed.
const CASES: [&str; 3] =
    ["500 B, 20 ms, continuous", "600 B, 20 ms, continuous", "700 B, 20 ms, continuous"];
const WHEN: [&str; 2] = ["as it starts", "in mid-run"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Sender,
    Receiver,
    Conductor,
    Agent,
    /// What samples cross, and control channels do not.
    Samples,
    /// What is between two machines.
    Machines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Killed,
    Short,
    Long,
}

impl Who {
    fn describe(self) -> &'static str {
        match self {
            Who::Sender => "the sender",
            Who::Receiver => "the receiver",
            Who::Conductor => "the conductor",
            Who::Agent => "the agent",
            Who::Samples => "the link of an emulation",
            Who::Machines => "the link of two machines",
        }
    }

    fn is_link(self) -> bool {
        matches!(self, Who::Samples | Who::Machines)
    }
}

impl What {
    fn describe(self, who: Who) -> String {
        match self {
            What::Killed => "killed".into(),
            _ => {
                let what = if who.is_link() { "cut" } else { "stopped" };
                format!("{what} for {} s", self.time().as_secs_f64())
            }
        }
    }

    /// After which silence someone is lost: what is usual; or so much that nobody is lost for
    /// having no processor on a loaded machine.
    fn alive_within(self) -> &'static str {
        match self {
            What::Long => "3s",
            What::Killed | What::Short => "15s",
        }
    }

    /// How long it lasts: less and more than who is silent is missed after.
    fn time(self) -> Duration {
        match self {
            What::Killed => Duration::MAX,
            What::Short => Duration::from_millis(300),
            What::Long => Duration::from_secs(5),
        }
    }

    fn befalls(self, id: i32) {
        if self == What::Killed {
            return send_signal("-KILL", id);
        }
        send_signal("-STOP", id);
        thread::sleep(self.time());
        // Who was given up meanwhile is gone.
        let _ = Command::new("kill")
            .args(["-CONT", &id.to_string()])
            .stderr(std::process::Stdio::null())
            .status();
    }
}

/// What was seen of a fault, as cells of the table.
type TableCells = [String; 4];

/// A fault at one time, and the transport.
type Fault = (Who, What, usize, &'static str);

fn arguments(transport: &str, what: What, pace: Pace) -> Vec<&str> {
    let words = ["bus", "run", "--transport", transport, "--size", "500,600,700", "--alive-within"];
    let more = ["--cycle", "20ms", "--window", "100ms", "--round-trips", "0", "--duration"];
    [&words[..], &[what.alive_within()], &more, &[pace.load]].concat()
}

/// What may be written of a load.
const WHOLE: &str = "all of it";
const MARKED: &str = "its windows, marked";
const FAILED: &str = "that it failed";

/// One of two, where it depends on the moment which.
fn either(seen: &str, of: [&str; 2]) -> String {
    match of.contains(&seen) {
        true => of.join(", or "),
        false => seen.into(),
    }
}

/// What is written of a load.
fn load(run: &Value, case: &str, transport: &str) -> String {
    let fact = |metric| fact(run, case, transport, metric);
    if fact("sent").is_none() {
        eprintln!("{transport}, {case}: {}", run["warnings"]);
    }
    match (fact("complete"), fact("sent")) {
        (Some(_), _) => MARKED,
        (None, Some(_)) => WHOLE,
        (None, None) => FAILED,
    }
    .into()
}

fn left(ids: &[i32], runs: &BTreeSet<String>, folder: &Path) -> String {
    match what_stays(ids, runs, folder) {
        left if left.is_empty() => "nothing".into(),
        left => left.join(", "),
    }
}

fn status(code: Option<i32>) -> String {
    code.map_or("-".into(), |code| code.to_string())
}

/// A participant of a load, when it is the load's time.
fn victim(
    of: &Child,
    (transport, pace): (&str, Pace),
    who: Who,
    at: usize,
    but: &mut Vec<String>,
) -> i32 {
    let whole =
        if transport == "memory" || matches!(who, Who::Agent | Who::Machines) { 1 } else { 2 };
    let wanted = |line: &str| match who {
        Who::Sender => line.contains("--name sender"),
        Who::Receiver | Who::Samples => line.contains("--name receiver"),
        _ => true,
    };
    let mut there = come_up(of, transport, but, |there| there.iter().any(|(_, line)| wanted(line)));
    if at == 1 {
        there = come_up(of, transport, but, |there| there.len() >= whole);
        thread::sleep(pace.middle);
    }
    let (found, line) = there.iter().find(|(_, line)| wanted(line)).unwrap();
    but.push(faulty::load(line));
    *found
}

/// A participant of the load that is disturbed, which is the only one: those
/// before it are left alone.
fn before(of: &Child, over: (&str, Pace), who: Who, at: usize) -> i32 {
    let mut loads = Vec::new();
    if at == 1 {
        victim(of, over, who, 0, &mut loads);
    }
    victim(of, over, who, at, &mut loads)
}

/// One after another in the first two loads of a run.
fn on_one_machine(
    transport: &'static str,
    who: Who,
    what: What,
    pace: Pace,
) -> Vec<(Fault, TableCells)> {
    let mut run = Run::start(&arguments(transport, what, pace));
    let (mut loads, mut known, mut runs) = (Vec::new(), Vec::new(), BTreeSet::new());
    for at in 0..2 {
        let id = victim(&run.child, (transport, pace), who, at, &mut loads);
        runs.extend(run.scratch());
        what.befalls(if who == Who::Conductor { run.child.id() as i32 } else { id });
        known.extend(support::participants(&run.child).iter().map(|(id, _)| *id));
    }
    let code = status(run.child.wait().unwrap().code());
    let stays = left(&known, &runs, &run.folder.path().join("tmp"));
    table_row(run.folder.path(), transport, (who, what), &code, &stays)
}

fn table_row(
    folder: &Path,
    transport: &'static str,
    (who, what): (Who, What),
    code: &str,
    stays: &str,
) -> Vec<(Fault, TableCells)> {
    let written = result(folder);
    let of = |at: usize| {
        // The second was disturbed when it ran; the third is whole.
        let next = match at == 0 || load(&written, CASES[2], transport) == "all of it" {
            true => "goes on",
            false => "does not",
        };
        let what_of_it = match (who, what, at) {
            // Whether participants had introduced themselves decides; until then they are
            // waited for, and wait.
            (Who::Sender | Who::Receiver | Who::Conductor, What::Long, 0) => {
                either(&load(&written, CASES[at], transport), [WHOLE, FAILED])
            }
            // What one side asks of the other at that moment may be cut off.
            (Who::Samples, _, 0) | (Who::Machines, What::Short, 0) => {
                either(&load(&written, CASES[at], transport), [WHOLE, FAILED])
            }
            (Who::Agent | Who::Machines, What::Long, 0) => {
                either(&load(&written, CASES[at], transport), [MARKED, FAILED])
            }
            _ => load(&written, CASES[at], transport),
        };
        // What comes again later than a second after the last counts as lost.
        let open = (who, what) == (Who::Samples, What::Long)
            || who.is_link() && what_of_it == [WHOLE, FAILED].join(", or ");
        let code = if open { either(code, ["0", "1"]) } else { code.into() };
        let cells = [what_of_it, code, stays.into(), next.into()];
        ((who, what, at, transport), cells)
    };
    (0..2).map(of).collect()
}

/// The end of the conductor is the end of all.
fn conductor_killed(transport: &'static str, at: usize, pace: Pace) -> Vec<(Fault, TableCells)> {
    let mut run = Run::start(&arguments(transport, What::Killed, pace));
    victim(&run.child, (transport, pace), Who::Conductor, at, &mut Vec::new());
    let known: Vec<i32> = support::participants(&run.child).iter().map(|(id, _)| *id).collect();
    let runs = run.scratch();
    What::Killed.befalls(run.child.id() as i32);
    let code = status(run.child.wait().unwrap().code());
    let stays = left(&known, &runs, &run.folder.path().join("tmp"));
    let written = match run.folder.path().join("run.json").exists() {
        true => "something",
        false => "nothing",
    };
    let cells = [written.into(), code, stays, "-".into()];
    vec![((Who::Conductor, What::Killed, at, transport), cells)]
}

/// The link of an emulation, in one load.
fn over_an_emulated_link(
    transport: &'static str,
    what: What,
    at: usize,
    pace: Pace,
) -> Vec<(Fault, TableCells)> {
    let who = Who::Samples;
    let mut run =
        Run::start(&[&arguments(transport, what, pace)[..], &["--emulate", "100mbit"]].concat());
    let (mut known, mut runs) = (Vec::new(), BTreeSet::new());
    let receiver = before(&run.child, (transport, pace), who, at).to_string();
    runs.extend(run.scratch());
    known.extend(support::participants(&run.child).iter().map(|(id, _)| *id));
    let lines = format!(
        "ip link set dev bus0 down && sleep {} && ip link set dev bus0 up \
         && ip route replace 224.0.0.0/4 dev bus0",
        what.time().as_secs_f64()
    );
    let cut = ["--target", &receiver, "--net", "sh", "-c", &lines];
    assert!(Command::new("nsenter").args(cut).status().unwrap().success());
    let code = status(run.child.wait().unwrap().code());
    let stays = left(&known, &runs, &run.folder.path().join("tmp"));
    let mut seen = table_row(run.folder.path(), transport, (who, what), &code, &stays);
    vec![seen.swap_remove(at)]
}

/// An agent that comes back by itself, or is started again.
fn on_two_machines(
    transport: &'static str,
    who: Who,
    what: What,
    ats: Range<usize>,
    pace: Pace,
) -> Vec<(Fault, TableCells)> {
    let [here, there, tmp] = [(), (), ()].map(|()| tempfile::tempdir().unwrap());
    let link =
        (who == Who::Machines).then(|| Emulation::build("100mbit".parse().unwrap()).unwrap());
    let listen = link.as_ref().map_or("127.0.0.1".into(), |link| link.sender.address().to_string());
    let mut scenario = format!(
        "transports = [\"{transport}\"]\nduration = \"{}\"\nwindow = \"100ms\"\nround_trips = 0\n\
         listen = \"{listen}:0\"\nalive_within = \"{}\"\n",
        pace.load,
        what.alive_within()
    );
    for size in [500, 600, 700] {
        scenario += &format!("[[load]]\nsize = {size}\ncycle = \"20ms\"\n");
    }
    for role in ["sender", "receiver"] {
        scenario += &format!("[[participant]]\nname = \"{role}\"\nrole = \"{role}\"\n");
    }
    let machine = |folder: &Path, words: &[&str]| {
        let mut command = wiregauge();
        command.env("TMPDIR", tmp.path()).current_dir(folder);
        if let Some(Emulation { sender, receiver, .. }) = &link {
            let host = if words.contains(&"sender") { sender } else { receiver };
            host.enter(&mut command).unwrap();
        }
        Machine::start(command, folder, &scenario, words)
    };
    let mut leader = machine(here.path(), &["--name", "sender"]);
    let line = leader.hears("waiting for");
    let port = line.rsplit(' ').next().unwrap().to_owned();
    let join = || machine(there.path(), &["--name", "receiver", "--peer", &port]);
    let mut agent = join();
    let (mut loads, mut known, mut runs) = (Vec::new(), Vec::new(), BTreeSet::new());
    for at in ats.clone() {
        match who {
            Who::Machines => before(&agent.child, (transport, pace), who, at),
            _ => victim(&agent.child, (transport, pace), who, at, &mut loads),
        };
        known.extend(support::participants(&agent.child).iter().map(|(id, _)| *id));
        runs.extend(names(tmp.path()));
        match &link {
            None => what.befalls(agent.child.id() as i32),
            Some(link) => {
                link.cut().unwrap();
                thread::sleep(what.time());
                link.restore().unwrap();
            }
        }
        if what == What::Killed {
            leader.hears("is lost");
            agent = join();
        }
    }
    let code = status(leader.code());
    agent.code();
    let stays = left(&known, &runs, tmp.path());
    let mut seen = table_row(here.path(), transport, (who, what), &code, &stays);
    seen.retain(|((_, _, at, _), _)| ats.contains(at));
    seen
}

type Job = Box<dyn Fn(Pace) -> Vec<(Fault, TableCells)> + Send + Sync>;

/// A run for each fault; of links where there can be some.
fn all_jobs(links: bool) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for transport in TRANSPORTS {
        for who in [Who::Sender, Who::Receiver, Who::Conductor] {
            // They are threads of one process.
            if (transport, who) == ("memory", Who::Receiver) {
                continue;
            }
            for what in [What::Killed, What::Short, What::Long] {
                if (who, what) != (Who::Conductor, What::Killed) {
                    jobs.push(Box::new(move |pace| on_one_machine(transport, who, what, pace)));
                }
            }
        }
        for at in 0..2 {
            jobs.push(Box::new(move |pace| conductor_killed(transport, at, pace)));
        }
    }
    for transport in REMOTE {
        for what in [What::Killed, What::Short, What::Long] {
            jobs.push(Box::new(move |pace| {
                on_two_machines(transport, Who::Agent, what, 0..2, pace)
            }));
        }
    }
    for transport in LINKED.into_iter().filter(|_| links) {
        for (what, at) in [(What::Short, 0), (What::Short, 1), (What::Long, 0), (What::Long, 1)] {
            jobs.push(Box::new(move |pace| over_an_emulated_link(transport, what, at, pace)));
            jobs.push(Box::new(move |pace| {
                on_two_machines(transport, Who::Machines, what, at..at + 1, pace)
            }));
        }
    }
    jobs
}

/// What was seen of a fault; a run that ended too soon for what was to befall it panics.
type Outcome = thread::Result<Vec<(Fault, TableCells)>>;
/// Whether what was seen is what is documented.
type Expectation<'e> = dyn Fn(&[(Fault, TableCells)]) -> bool + Sync + 'e;

/// Runs so many of the jobs at a time, and adds what is expected to what was seen. The others, with
/// what was seen of them.
fn run_jobs<'j>(
    jobs: Vec<&'j Job>,
    (at_once, pace): (usize, Pace),
    is_expected: &Expectation,
    seen: &mut BTreeMap<Fault, TableCells>,
) -> Vec<(&'j Job, Outcome)> {
    let queue = Mutex::new(jobs.into_iter().rev());
    let (seen, others) = (Mutex::new(seen), Mutex::new(Vec::new()));
    let take = || queue.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(job) = take() {
                    match catch_unwind(AssertUnwindSafe(|| job(pace))) {
                        Ok(found) if is_expected(&found) => seen.lock().unwrap().extend(found),
                        found => others.lock().unwrap().push((job, found)),
                    }
                }
            });
        }
    });
    others.into_inner().unwrap()
}

/// What is seen of them, some at the same time; what is not documented is tried again with fewer
/// beside it, and then alone.
fn run_all(jobs: &[Job], documented: Option<&str>) -> BTreeMap<Fault, TableCells> {
    let is_expected = |found: &[(Fault, TableCells)]| {
        documented.is_none_or(|text| found.iter().all(|seen| is_documented(text, seen)))
    };
    let mut seen = BTreeMap::new();
    let mut others = run_jobs(jobs.iter().collect(), (AT_ONCE, USUAL), &is_expected, &mut seen);
    for at_once in AGAIN {
        let jobs = others.into_iter().map(|(job, _)| job).collect();
        others = run_jobs(jobs, (at_once, SLOW), &is_expected, &mut seen);
    }
    for (_, found) in others {
        seen.extend(found.unwrap_or_else(|why| resume_unwind(why)));
    }
    seen
}

/// Whether the table has a line that says this of the fault.
fn is_documented(table: &str, ((who, what, at, transport), seen): &(Fault, TableCells)) -> bool {
    table.lines().any(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [of, done, when, over, said @ ..] = &cells[..] else { return false };
        (*of, *done, *when) == (who.describe(), &what.describe(*who), WHEN[*at])
            && (*over == "all" || over.split(", ").any(|one| one == *transport))
            && said == seen
    })
}

/// The table: transports of which the same was seen share a line.
fn table(seen: &BTreeMap<Fault, TableCells>) -> String {
    let mut text = String::from(
        "| who | what | when | over | is written of the load | exit status | stays | the next load |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let faults: BTreeSet<_> = seen.keys().map(|(who, what, at, _)| (*who, *what, *at)).collect();
    for (who, what, at) in faults {
        let mut alike: Vec<(TableCells, Vec<&str>)> = Vec::new();
        for transport in TRANSPORTS {
            let Some(cells) = seen.get(&(who, what, at, transport)) else { continue };
            match alike.iter_mut().find(|(known, _)| known == cells) {
                Some((_, transports)) => transports.push(transport),
                None => alike.push((cells.clone(), vec![transport])),
            }
        }
        let one = alike.len() == 1;
        for (cells, transports) in alike {
            let over = if one { "all".to_owned() } else { transports.join(", ") };
            let words = [who.describe(), &what.describe(who), WHEN[at]].join(" | ");
            text += &format!("| {words} | {over} | {} |\n", cells.join(" | "));
        }
    }
    text
}

#[test]
fn what_is_documented_is_what_happens() {
    let links = HOSTS.is_met();
    let path = project().join("docs/bus.md");
    let text = fs::read_to_string(&path).unwrap();
    let [begin, end] = ["<!-- faults -->\n", "<!-- end of faults -->"];
    let from = text.find(begin).expect("docs/bus.md has the table's place") + begin.len();
    let to = text.find(end).expect("docs/bus.md has the table's end");
    let jobs = all_jobs(links);
    if std::env::var_os("WIREGAUGE_BLESS").is_some() {
        assert!(links, "without links there is no whole table");
        let table = table(&run_all(&jobs, None));
        fs::write(&path, format!("{}{table}{}", &text[..from], &text[to..])).unwrap();
        return;
    }
    let lines = text[from..to].split_inclusive('\n');
    let documented: String = lines.filter(|line| links || !line.starts_with(LINK)).collect();
    let table = table(&run_all(&jobs, Some(&documented)));
    assert_eq!(table, documented, "WIREGAUGE_BLESS=1 writes it anew");
}
