//! What the fuzz targets (fuzz/fuzz_targets) share: bytes where a reader wants
//! them, and what must hold for whatever it made of them.

mod definition;
pub mod holders;

use std::fs;
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

pub use definition::definition;
use holders::views;
use rustix::net::sockopt;
use tempfile::TempDir;
use wiregauge_schema::msg::{read_text, Dialect};
use wiregauge_schema::{canonical, Schema};
use wiregauge_system::text::escape_short;
use wiregauge_trace::check::check;
use wiregauge_trace::info::read_info;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::{Lookup, Recording};

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for files");
}

/// A file of this name that holds these bytes, until the next of this name.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    fs::write(&path, bytes).expect("a file can be written");
    path
}

/// What was read; an error is one that can be told in a line.
pub fn check_error<T>(outcome: anyhow::Result<T>) -> Option<T> {
    outcome
        .map_err(|error| assert!(!escape_short(&format!("{error:#}")).contains(char::is_control)))
        .ok()
}

/// The text that the bytes are; what is none is read by nobody.
pub fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A number from the front of the bytes, and what is left.
pub fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*head), rest))
}

/// Whoever came over a connection and has said all that it will. To be dropped
/// before the other end is.
pub struct Connection(#[allow(dead_code, reason = "it is held")] TcpStream);

/// Whoever comes to an address.
pub fn connection_to(address: SocketAddr, bytes: &[u8]) -> Connection {
    let mut stream = TcpStream::connect(address).expect("it is there");
    // Closed at once in the end: millions of connections would use up all ports.
    sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).expect("an option");
    stream.write_all(bytes).expect("it fits");
    stream.shutdown(Shutdown::Write).expect("it is open");
    Connection(stream)
}

/// Whoever comes, and the end of the connection that hears it.
pub fn connection(bytes: &[u8]) -> (Connection, TcpStream) {
    thread_local! {
        static DOOR: TcpListener = TcpListener::bind("127.0.0.1:0").expect("a port");
    }
    DOOR.with(|door| {
        let visitor = connection_to(door.local_addr().expect("it listens"), bytes);
        (visitor, door.accept().expect("it came").0)
    })
}

/// A field of each kind, as ROS writes it.
const KINDS: &str =
    "bool a\nint8 b\nuint64 c\nfloat64 d\nstring e\nuint8[] f\nint32[] g\nP[2] h\nP[] i\nstring[] j
================================================================================
MSG: p/P\nfloat32 x\nuint16[3] y\n";

/// A definition with a field of each kind.
pub fn one_of_each(dialect: Dialect) -> Schema {
    read_text(KINDS, "p/R", dialect, "fuzzed").expect("it is one")
}

/// A trace file of this name: what is whole of it is found, whatever is damaged; and it is
/// held against the rules.
pub fn trace(name: &str, bytes: &[u8]) {
    let path = file(name, bytes);
    let Some(mut reader) = check_error(open(&path, &OpenHints::default())) else { return };
    reader.salvage();
    let mut count = 0;
    while let Some(head) = check_error(reader.next()).flatten() {
        let data = check_error(reader.data().map(<[u8]>::len));
        assert!(data.is_none_or(|length| length as u64 == head.size));
        count += 1;
        assert!(count <= bytes.len().max(1 << 24), "there are more messages than bytes");
    }
    check_error(read_info(&path, &OpenHints::default(), false, &mut |_, _| {}));
    let definitions = || Ok(DESCRIPTORS.to_vec());
    check_error(check(&path, &OpenHints::default(), &definitions, &mut |_, _| {}).map(drop));
}

/// A small definition of a message of OSI, with all that Protobuf has.
pub const DESCRIPTORS: &[u8] = include_bytes!("../../../fuzz/corpus/descriptors/view.fds");

/// A result with figures of several kinds.
pub const RUN: &[u8] = include_bytes!("../../../fuzz/corpus/run_json/bus.json");

/// A recording in a file of this name: its first topics and some messages of
/// each.
pub fn recording(name: &str, bytes: &[u8]) {
    let lookup = Lookup { osi: Some(|| Ok(DESCRIPTORS.to_vec())), ..Lookup::default() };
    let Some(recording) = check_error(Recording::open_with(file(name, bytes), lookup)) else {
        return;
    };
    for topic in recording.topics().iter().take(4) {
        let Some(schema) = check_error(recording.schema(&topic.name)) else { continue };
        for value in check_error(recording.messages(&topic.name, 3)).unwrap_or_default() {
            canonical::encode(&schema, &value).expect("a message fits its definition");
        }
    }
}
