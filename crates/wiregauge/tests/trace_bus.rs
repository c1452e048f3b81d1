//! Traces that are played to the bus and recorded from it. The first run builds the
//! transports that are built apart, which takes minutes.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::{refuses, run, to_said, wiregauge, Said};

/// Sizes of the messages of [`trace`].
const SIZES: [usize; 9] = [0, 1, 100, 65_000, 0, 70_000, 3_000_000, 8, 200_000];
/// Where the token of a recorder over TCP is told.
const TOKEN: &str = "WIREGAUGE_TOKEN";

/// An MCAP file of so many messages, from time to time, in three channels.
fn trace(at: &Path, messages: usize, cycle: Duration) -> PathBuf {
    trace_of(at, messages, cycle, &SIZES)
}

/// The same with messages of these sizes in turn.
fn trace_of(at: &Path, messages: usize, cycle: Duration, sizes: &[usize]) -> PathBuf {
    let path = at.join("drive.mcap");
    let mut out = mcap::Writer::new(fs::File::create(&path).unwrap()).unwrap();
    let channels: Vec<u16> = ["/lidar", "/imu", "/raw"]
        .into_iter()
        .enumerate()
        .map(|(at, topic)| {
            let schema = match at {
                2 => 0,
                _ => out.add_schema(&format!("a/{at}"), "ros2msg", &[at as u8; 70_000]).unwrap(),
            };
            let metadata = BTreeMap::from([("frame".to_owned(), format!("f{at}"))]);
            out.add_channel(schema, topic, "cdr", &metadata).unwrap()
        })
        .collect();
    for number in 0..messages {
        let log_time = 1_700_000_000_000_000_000 + cycle.as_nanos() as u64 * number as u64;
        let header = mcap::records::MessageHeader {
            channel_id: channels[number % 3],
            sequence: 7 * number as u32,
            log_time,
            publish_time: log_time - 5,
        };
        let size = sizes[number % sizes.len()];
        // Repeated: a byte at a time takes seconds where nothing is optimized.
        let pattern: Vec<u8> = (0..256).map(|at| (at * 31 + number) as u8).collect();
        let mut data = pattern.repeat(size / 256 + 1);
        data.truncate(size);
        out.write_to_known_channel(&header, &data).unwrap();
    }
    let metadata = BTreeMap::from([("weather".to_owned(), "rain".to_owned())]);
    out.write_metadata(&mcap::records::Metadata { name: "drive".into(), metadata }).unwrap();
    out.finish().unwrap();
    path
}

/// A message with all that is said of it and of its channel.
type Recorded = (String, String, Option<(String, String, Vec<u8>)>, u32, u64, u64, Vec<u8>);

/// The messages of a file that must be whole.
fn messages(path: &Path) -> Vec<Recorded> {
    let bytes = fs::read(path).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().expect("it is finished");
    let read = |message: mcap::Message| {
        let mcap::Message { channel, sequence, log_time, publish_time, data } = message;
        let schema = channel.schema.as_ref();
        let schema = schema
            .map(|schema| (schema.name.clone(), schema.encoding.clone(), schema.data.to_vec()));
        let said = format!("{} {:?}", channel.message_encoding, channel.metadata);
        (channel.topic.clone(), said, schema, sequence, log_time, publish_time, data.to_vec())
    };
    let all: Vec<Recorded> =
        mcap::MessageStream::new(&bytes).unwrap().map(|message| read(message.unwrap())).collect();
    assert_eq!(summary.stats.expect("statistics").message_count, all.len() as u64);
    all
}

/// The names of the metadata of a file.
fn metadata(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    summary.metadata_indexes.iter().map(|index| index.name.clone()).collect()
}

/// A recorder that listens.
struct Recorder {
    child: Child,
    err: BufReader<ChildStderr>,
    token: String,
    to: Option<String>,
}

impl Recorder {
    fn start(at: &Path, words: &[&str]) -> Recorder {
        let mut child = wiregauge()
            .args(["trace", "record", "-o", "heard.mcap", "--over"])
            .args(words)
            .current_dir(at)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listens; ") {
            line.clear();
            assert!(err.read_line(&mut line).unwrap() > 0, "it does not listen");
        }
        let after = |mark: &str| {
            let (_, rest) = line.split_once(mark)?;
            rest.split_whitespace().next().map(str::to_owned)
        };
        let token = after(&format!("{TOKEN}=")).unwrap_or_default();
        Recorder { token, to: after("--recorder "), child, err }
    }

    /// The command of a player that comes to it.
    fn player(&self, at: &Path, words: &[&str], more: &[&str]) -> Command {
        let mut command = wiregauge();
        command.args(["trace", "play", "drive.mcap", "--over"]).args(words).args(more);
        if let Some(to) = &self.to {
            command.args(["--recorder", to]);
        }
        command.env(TOKEN, &self.token).current_dir(at);
        command
    }

    fn end(mut self) -> Said {
        let mut err = String::new();
        self.err.read_to_string(&mut err).unwrap();
        Said { out: String::new(), err, code: self.child.wait().unwrap().code() }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Of a test that failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A topic that nobody else has: tests run at the same time.
fn topic(name: &str) -> String {
    static TOPICS: AtomicUsize = AtomicUsize::new(0);
    format!("{name}_{}_{}", std::process::id(), TOPICS.fetch_add(1, Ordering::Relaxed))
}

/// Does this with each at the same time: they mostly wait.
fn side_by_side<T: Copy + Send>(all: &[T], test: fn(T)) {
    thread::scope(|scope| all.iter().copied().for_each(|one| drop(scope.spawn(move || test(one)))));
}

/// Plays a trace over a transport, and expects all of it on the other side.
fn carries(transport: &str, rate: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (at, topic) = (folder.path(), topic(&transport.replace('-', "_")));
    let played = trace(at, 60, Duration::from_millis(10));
    let recorder = Recorder::start(at, &[transport, "--topic", &topic]);
    let words = [transport, "--topic", &topic];
    let said = to_said(recorder.player(at, &words, &["--speed", rate]).output().unwrap());
    let heard = recorder.end();
    assert_eq!((said.code, heard.code), (Some(0), Some(0)), "{}{}", said.err, heard.err);
    assert!(!said.err.contains("still connected"), "{}", said.err);
    assert_eq!(said.err.contains("late by"), rate != "max", "{}", said.err);
    assert!(
        heard.err.contains("60 messages of 20145755") && heard.err.contains("they took"),
        "{}",
        heard.err
    );
    let recorded = at.join("heard.mcap");
    assert!(messages(&recorded) == messages(&played), "{transport}");
    assert_eq!(metadata(&recorded), ["drive"]);
}

#[test]
fn tcp_carries_a_trace() {
    carries("tcp", "1");
    carries("tcp", "max");
}

#[test]
fn dds_carries_a_trace() {
    carries("dds", "1");
    carries("dds", "max");
}

#[test]
fn fast_dds_carries_a_trace() {
    for transport in ["fastdds", "fastdds-memory"] {
        carries(transport, "max");
    }
}

/// At full speed, as a large message in the beginning is what was lost: Cyclone's reader took what
/// came before the first heartbeat of Fast DDS's writer for history. And to the end, which a writer
/// sees by the reader that leaves.
#[test]
fn cyclone_and_fast_dds_understand_each_other() {
    side_by_side(&[("dds", "fastdds"), ("fastdds", "dds")], |(writer, reader)| {
        let folder = tempfile::tempdir().unwrap();
        let (at, topic) = (folder.path(), topic(writer));
        let played = trace_of(at, 60, Duration::from_millis(10), &[3_000_000, 0, 1, 1000, 60_000]);
        let recorder = Recorder::start(at, &[reader, "--topic", &topic]);
        let words = [writer, "--topic", &topic];
        let said = to_said(recorder.player(at, &words, &["--speed", "max"]).output().unwrap());
        let heard = recorder.end();
        assert_eq!((said.code, heard.code), (Some(0), Some(0)), "{}{}", said.err, heard.err);
        assert!(!said.err.contains("still connected"), "{writer}: {}", said.err);
        assert!(messages(&at.join("heard.mcap")) == messages(&played), "{writer}");
    });
}

/// A reader that wants what was lost sent again does not take a writer that does not do so.
#[test]
fn a_quality_of_service_is_what_the_other_side_is_told() {
    side_by_side(&["dds", "fastdds"], |transport| {
        let folder = tempfile::tempdir().unwrap();
        let (at, topic) = (folder.path(), topic(&format!("quality_{transport}")));
        trace(at, 3, Duration::from_millis(1));
        let plain = [transport, "--topic", &topic];
        let option = format!("{transport}.reliability=best-effort");
        let lossy = [&plain[..], &["--option", &option]].concat();
        let reliable = Recorder::start(at, &plain);
        let play = ["trace", "play", "drive.mcap", "--wait", "1s", "--over"];
        refuses(at, &[&play[..], &lossy].concat(), &["found 0 of 1 readers in 1s"]);
        drop(reliable);
        let recorder = Recorder::start(at, &lossy);
        let said = to_said(recorder.player(at, &plain, &[]).output().unwrap());
        let heard = recorder.end();
        assert_eq!((said.code, heard.code), (Some(0), Some(0)), "{}{}", said.err, heard.err);
    });
}

#[test]
fn zenoh_carries_a_trace() {
    carries("zenoh", "1");
    carries("zenoh", "max");
}

/// A reader of it counts as there before it takes anything, which loses what is sent by then
/// where nobody looks: now and then.
#[test]
fn iceoryx2_carries_a_trace() {
    for transport in ["iceoryx2", "iceoryx2-copy"] {
        carries(transport, "1");
        for _ in 0..4 {
            carries(transport, "max");
        }
    }
}

#[test]
fn zenoh_that_may_drop_tells_what_did_not_come() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let played = messages(&trace(at, 60, Duration::from_millis(10)));
    let recorder = Recorder::start(at, &["zenoh-drop"]);
    let said = to_said(recorder.player(at, &["zenoh-drop"], &["--speed", "0.2"]).output().unwrap());
    let heard = recorder.end();
    assert_eq!((said.code, heard.code), (Some(0), Some(0)), "{}{}", said.err, heard.err);
    let recorded = messages(&at.join("heard.mcap"));
    assert!(recorded.iter().all(|message| played.contains(message)));
    // Those of a channel whose definition was dropped count, too.
    let told = |line: &&str| line.contains("did not arrive") || line.contains("not recorded");
    let numbers = heard
        .err
        .lines()
        .filter(told)
        .map(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(recorded.len() + numbers.sum::<usize>(), 60, "{}", heard.err);
}

#[test]
fn a_trace_without_definitions_is_described_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let source = support::recording("osi/20240101T000000Z_sv_380_7362_5_made_up.osi");
    fs::copy(&source, at.join("drive_sv.osi")).unwrap();
    let recorder = Recorder::start(at, &["tcp"]);
    let mut player = wiregauge();
    player.args(["trace", "play", "drive_sv.osi", "--over", "tcp", "--speed", "max", "--recorder"]);
    player.arg(recorder.to.as_ref().unwrap()).env(TOKEN, &recorder.token).current_dir(at);
    let said = to_said(player.output().unwrap());
    let heard = recorder.end();
    assert_eq!((said.code, heard.code), (Some(0), Some(0)), "{}{}", said.err, heard.err);
    let back = run(at, &["trace", "convert", "heard.mcap", "-o", "back_sv.osi"]);
    back.expect_code(0);
    assert!(fs::read(at.join("back_sv.osi")).unwrap() == fs::read(source).unwrap());
}

/// A player that plays for a minute, once its recorder has something: on a loaded machine an engine
/// takes seconds to start.
fn long(at: &Path, words: &[&str]) -> (Recorder, Child) {
    trace(at, 600, Duration::from_millis(100));
    let recorder = Recorder::start(at, words);
    let mut player = recorder.player(at, words, &["--speed", "1"]);
    let player = player.stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(5));
    (recorder, player)
}

/// The processes that a process started.
fn children(id: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    list.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

fn signal(name: &str, id: u32) {
    assert!(Command::new("kill").args([name, &id.to_string()]).status().unwrap().success());
}

/// That a process ends soon.
fn is_soon_gone(id: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    let lives = || {
        let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    while lives() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(50));
    }
    !lives()
}

/// What was recorded is the beginning of what was played, and not all of it.
fn is_a_beginning(at: &Path) {
    let (played, heard) = (messages(&at.join("drive.mcap")), messages(&at.join("heard.mcap")));
    assert!(!heard.is_empty() && heard.len() < played.len(), "{}", heard.len());
    assert!(heard[..] == played[..heard.len()]);
}

#[test]
fn of_a_killed_player_what_came_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (recorder, mut player) = long(at, &["tcp"]);
    let carriers = children(player.id());
    assert_eq!(carriers.len(), 1);
    signal("-KILL", player.id());
    player.wait().unwrap();
    let heard = recorder.end();
    heard.expect_code(2);
    assert!(heard.err.contains("the file has everything before that"), "{}", heard.err);
    assert!(heard.err.contains("stopped before the end"), "{}", heard.err);
    is_a_beginning(at);
    assert!(is_soon_gone(carriers[0]), "what carried it stays");
}

#[test]
fn of_a_killed_carrier_what_came_is_kept() {
    side_by_side(&["tcp", "dds", "fastdds-memory", "iceoryx2"], |transport| {
        let folder = tempfile::tempdir().unwrap();
        let (at, topic) =
            (folder.path(), topic(&format!("killed_{}", transport.replace('-', "_"))));
        let (recorder, mut player) = long(at, &[transport, "--topic", &topic]);
        signal("-KILL", children(player.id())[0]);
        let heard = recorder.end();
        heard.expect_code(2);
        assert!(heard.err.contains("did not finish"), "{}", heard.err);
        is_a_beginning(at);
        let mut err = String::new();
        player.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(player.wait().unwrap().code(), Some(2), "{err}");
        assert!(err.contains("signal: 9"), "{err}");
    });
}

#[test]
fn of_a_killed_recorder_the_player_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (at, topic) = (folder.path(), topic("nobody_left"));
    let (recorder, mut player) = long(at, &["iceoryx2", "--topic", &topic]);
    signal("-KILL", children(recorder.child.id())[0]);
    let heard = recorder.end();
    heard.expect_code(2);
    is_a_beginning(at);
    let is_gone = is_soon_gone(player.id());
    player.kill().unwrap();
    let mut err = String::new();
    player.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(is_gone && err.contains("no reader is left"), "{err}");
    assert_eq!(player.wait().unwrap().code(), Some(2));
}

#[test]
fn ctrl_c_ends_either_side_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (recorder, mut player) = long(at, &["tcp"]);
    signal("-INT", player.id());
    assert_eq!(player.wait().unwrap().code(), Some(130));
    let heard = recorder.end();
    heard.expect_code(2);
    is_a_beginning(at);

    let (recorder, mut player) = long(at, &["tcp"]);
    let carriers = [children(player.id()), children(recorder.child.id())].concat();
    signal("-INT", recorder.child.id());
    let heard = recorder.end();
    heard.expect_code(0);
    is_a_beginning(at);
    assert_eq!(player.wait().unwrap().code(), Some(2));
    assert_eq!(carriers.len(), 2);
    assert!(carriers.into_iter().all(is_soon_gone));
}

#[test]
fn a_late_recorder_says_what_it_missed() {
    // What the player would have to build first is no part of how late the recorder is.
    let built = run(Path::new("."), &["bus", "transports", "--build"]);
    built.expect_code(0);
    side_by_side(&["dds", "iceoryx2"], comes_late);
}

fn comes_late(transport: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (at, topic) = (folder.path(), topic(&format!("late_{transport}")));
    let played = messages(&trace(at, 200, Duration::from_millis(100)));
    let words = [transport, "--topic", &topic];
    let mut player = wiregauge();
    player.args(["trace", "play", "drive.mcap", "--wait", "0", "--over"]).args(words);
    let mut player = player.current_dir(at).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_secs(3));
    let heard = Recorder::start(at, &words).end();
    heard.expect_code(0);
    assert!(heard.err.contains("sent before it listened"), "{}", heard.err);
    assert_eq!(player.wait().unwrap().code(), Some(0));
    let recorded = messages(&at.join("heard.mcap"));
    assert!(recorded.len() > 10 && recorded.len() < 200, "{}", recorded.len());
    assert!(recorded[recorded.len() - 9..] == played[191..], "{transport}");
    assert!(recorded.iter().all(|message| played.contains(message)), "{transport}");
    // Those that came before their channel was told of again count, too.
    let told = |line: &&str| line.contains("before it") || line.contains("not recorded");
    let numbers = heard
        .err
        .lines()
        .filter(told)
        .map(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(recorded.len() + numbers.sum::<usize>(), 200, "{}", heard.err);
}

#[test]
fn a_player_waits_for_a_recorder_or_says_that_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    trace(at, 3, Duration::from_millis(1));
    let nobody = topic("nobody");
    let words = ["trace", "play", "drive.mcap", "--over", "dds", "--wait", "1s", "--topic"];
    refuses(at, &[&words[..], &[&nobody]].concat(), &["found 0 of 1 readers in 1s"]);
    let none = ["trace", "record", "-o", "heard.mcap", "--over", "tcp", "--wait", "1s"];
    let said = run(at, &none);
    said.expect_code(2);
    assert!(said.err.contains("no player connected within 1s"), "{}", said.err);
    assert!(!at.join("heard.mcap").exists());
}

#[test]
fn strangers_at_the_port_are_sent_away() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    trace(at, 9, Duration::from_millis(1));
    let recorder = Recorder::start(at, &["tcp"]);
    let mut stranger = TcpStream::connect(recorder.to.as_ref().unwrap()).unwrap();
    stranger.write_all(&[0xff; 4096]).unwrap();
    let mut wrong = recorder.player(at, &["tcp"], &[]);
    let wrong = to_said(wrong.env(TOKEN, "0123456789abcdef0123456789abcdef").output().unwrap());
    wrong.expect_code(2);
    assert!(wrong.err.contains("it expects another token"), "{}", wrong.err);
    let right = to_said(recorder.player(at, &["tcp"], &[]).output().unwrap());
    let heard = recorder.end();
    assert_eq!((right.code, heard.code), (Some(0), Some(0)), "{}{}", right.err, heard.err);
    assert!(messages(&at.join("heard.mcap")) == messages(&at.join("drive.mcap")));
}

#[test]
fn nonsense_of_who_has_the_token_is_counted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let said_by = |bytes: &[u8]| {
        let recorder = Recorder::start(at, &["tcp"]);
        let mut visitor = TcpStream::connect(recorder.to.as_ref().unwrap()).unwrap();
        visitor.write_all(recorder.token.as_bytes()).unwrap();
        visitor.read_exact(&mut [0]).unwrap();
        visitor.write_all(bytes).unwrap();
        drop(visitor);
        let heard = recorder.end();
        heard.expect_code(2);
        assert!(!at.join("heard.mcap").exists());
        heard.err
    };
    let large = said_by(&[0xff, 0xff, 0xff, 0xff, 1, 2]);
    assert!(large.contains("4294967295 bytes, more than the largest of 1073741896"), "{large}");
    let foreign = said_by(&[4, 0, 0, 0, 1, 2, 3, 4]);
    assert!(foreign.contains("1 samples came that are not from this trace"), "{foreign}");
    // A message of a channel that nobody told of.
    let mut frame = vec![72, 0, 0, 0, b'W', b'G', b'T', b'1', 2];
    frame.resize(76, 0);
    let unknown = said_by(&frame);
    assert!(unknown.contains("nothing was recorded"), "{unknown}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    trace(at, 3, Duration::from_millis(1));
    let play =
        |words: &[&'static str]| [&["trace", "play", "drive.mcap", "--over"], words].concat();
    refuses(at, &play(&["pigeon"]), &["unknown transport 'pigeon'; choose from tcp, memory"]);
    refuses(at, &play(&["memory"]), &["within one process", "trace convert"]);
    refuses(at, &play(&["iceoryx2", "--readers", "2"]), &["one recorder", "use dds"]);
    refuses(at, &play(&["tcp"]), &["--recorder"]);
    refuses(at, &play(&["tcp", "--recorder", "127.0.0.1:1"]), &[TOKEN]);
    refuses(at, &play(&["dds", "--recorder", "127.0.0.1:1"]), &["--topic"]);
    refuses(at, &play(&["dds", "--topic", "a b"]), &["letters, digits"]);
    refuses(
        at,
        &play(&["tcp", "--recorder", "x", "--option", "dds.domain=1"]),
        &["the transport is tcp"],
    );
    let record = ["trace", "record", "-o", "heard.doc", "--over", "tcp"];
    refuses(at, &record, &["heard.doc", ".mcap"]);
}
