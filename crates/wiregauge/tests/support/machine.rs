//! Machines of a scenario, which in tests are processes that meet on loopback.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{fact, participants, send_signal, wiregauge};

/// One sends to one.
pub const PAIR: &str = r#"
duration = "2s"
window = "250ms"
timeout = "1s"
transports = ["tcp"]
listen = "127.0.0.1:0"

[[load]]
size = "500"
cycle = "5ms"
mode = "discrete"

[[load]]
size = "100kB"
cycle = "5ms"

[[participant]]
name = "alpha"
role = "sender"

[[participant]]
name = "beta"
role = "receiver"
"#;

/// A `wiregauge bus participant` or a machine of a chain, killed in the end if it still runs.
pub struct Machine {
    pub child: Child,
    said: Receiver<String>,
}

impl Machine {
    pub fn start(mut command: Command, folder: &Path, scenario: &str, words: &[&str]) -> Machine {
        fs::write(folder.join("two.toml"), scenario).unwrap();
        command.args(["bus", "participant", "--scenario", "two.toml"]).args(words);
        Machine::spawn(command, folder)
    }

    /// One that this command runs in a folder.
    pub fn spawn(mut command: Command, folder: &Path) -> Machine {
        let mut child = command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (tell, said) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Machine { child, said }
    }

    /// The one that leads, and the port at which it waits.
    pub fn lead(folder: &Path, scenario: &str) -> (Machine, String) {
        let leader = Machine::start(wiregauge(), folder, scenario, &["--name", "alpha"]);
        let line = leader.hears("waiting for");
        let at = line.rsplit(' ').next().unwrap().to_owned();
        (leader, at)
    }

    pub fn join(folder: &Path, scenario: &str, name: &str, at: &str) -> Machine {
        Machine::start(wiregauge(), folder, scenario, &["--name", name, "--peer", at])
    }

    /// The next line that it says with this in it, which a first building of codecs may keep it from
    /// for minutes.
    pub fn hears(&self, words: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(600);
        let mut others = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.said.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("it never says '{words}' but {others:?}"));
            if line.contains(words) {
                return line;
            }
            others.push(line);
        }
    }

    /// How it ends, which the first building of an engine keeps it from for
    /// minutes.
    pub fn code(&mut self) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1800) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end")
    }

    /// It ends, and with this status.
    ///
    /// # Panics
    /// When it is another one: with what it said and nobody has heard.
    #[track_caller]
    pub fn expect_code(&mut self, wanted: i32) {
        let code = self.code();
        let unheard = || self.said.recv_timeout(Duration::from_secs(1)).ok();
        assert!(
            code == Some(wanted),
            "{code:?} and not {wanted}: {:?}",
            std::iter::from_fn(unheard).collect::<Vec<_>>()
        );
    }

    /// The participants of it, once there are some.
    pub fn started(&self) -> Vec<i32> {
        let begun = Instant::now();
        loop {
            let there = participants(&self.child);
            if !there.is_empty() {
                return there.into_iter().map(|(id, _)| id).collect();
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "its participants never came up");
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn signal(&self, signal: &str) {
        send_signal(signal, self.child.id() as i32);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// That all samples of a load arrived, once.
pub fn all_arrived(run: &Value, case: &str, subject: &str) {
    let fact = |metric| fact(run, case, subject, metric);
    assert!(fact("sent") > Some(0.0) && fact("latency/p50") > Some(0.0), "{case}");
    assert_eq!([fact("lost"), fact("reordered")], [Some(0.0); 2], "{case}");
    assert_eq!(["repeated", "damaged", "foreign"].map(fact), [None; 3], "{case}");
}

/// A process for each of the three ranks of a job, which sends to two and finds its leader at a
/// port that is free now. `environment` is what the launcher says to a rank.
pub fn ranks(
    duration: &str,
    words: &[&str],
    environment: impl Fn(usize) -> Vec<(&'static str, String)>,
) -> Vec<(Machine, tempfile::TempDir)> {
    ranks_of_senders(1, duration, words, environment)
}

/// The same where so many of the three send.
pub fn ranks_of_senders(
    senders: usize,
    duration: &str,
    words: &[&str],
    environment: impl Fn(usize) -> Vec<(&'static str, String)>,
) -> Vec<(Machine, tempfile::TempDir)> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (head, rest) = PAIR.split_once("[[load]]\nsize = \"100kB\"").unwrap();
    let mut participants = rest[rest.find("[[participant]]").unwrap()..].to_owned();
    match senders {
        1 => participants += "count = 2\n",
        _ => participants = participants.replace("\"sender\"", "\"sender\"\ncount = 2"),
    }
    let head = head.replace("127.0.0.1:0", &format!("0.0.0.0:{port}"));
    let head = head.replace("\"2s\"", duration).replace("250ms", "100ms");
    let start = |rank: usize| {
        let at = tempfile::tempdir().unwrap();
        let mut command = wiregauge();
        for name in LAUNCHERS {
            command.env_remove(name);
        }
        command.envs(environment(rank));
        let words = [&["--rank"], words].concat();
        let scenario = format!("{head}{participants}");
        (Machine::start(command, at.path(), &scenario, &words), at)
    };
    (0..3).map(start).collect()
}

/// By which a launcher says a rank.
const LAUNCHERS: [&str; 4] =
    ["SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JOB_COMPLETION_INDEX"];

/// What Slurm says to a rank of three.
pub fn slurm(rank: usize) -> Vec<(&'static str, String)> {
    let said = [("SLURM_STEP_ID", "0"), ("SLURM_NTASKS", "3"), ("SLURM_JOB_ID", "7")];
    let hosts = ("SLURM_JOB_NODELIST", "localhost,n[2-3]");
    let said = [hosts].into_iter().chain(said).map(|(name, value)| (name, value.to_owned()));
    said.chain([("SLURM_PROCID", rank.to_string())]).collect()
}
