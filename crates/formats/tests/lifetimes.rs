//! What a runner says to messages that its library would change in silence, and
//! whether what it keeps between messages lives as long as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use wiregauge_formats::{build, Codec};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{canonical, Projection, Schema, Value};

/// A runner, and its replies with their first word.
struct Runner {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Runner {
    fn start(program: &Path) -> Runner {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the runner starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Runner { child, output }
    }

    fn ask(&mut self, request: &str, payload: &[u8]) -> (String, Vec<u8>) {
        let input = self.child.stdin.as_mut().expect("piped");
        writeln!(input, "{request}").and_then(|()| input.write_all(payload)).expect("it reads");
        input.flush().expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it replies");
        let (word, len) = line.trim_end().split_once(' ').expect("a reply");
        let mut reply = vec![0; len.parse().expect("a length")];
        self.output.read_exact(&mut reply).expect("all of the reply");
        (word.into(), reply)
    }

    fn load(&mut self, canonical: &[u8]) -> (String, Vec<u8>) {
        self.ask(&format!("message {}", canonical.len()), canonical)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn schema() -> Schema {
    let text = "float64[2] position\nfloat64 height\nfloat64[] ranges\n";
    msg::read_text(text, "pkg/msg/Scan", Dialect::Ros2, "scan.msg").expect("it reads")
}

fn message(position: [f64; 2], height: f64, ranges: Vec<f64>) -> Vec<u8> {
    let list = |numbers: &[f64]| Value::List(numbers.iter().copied().map(Value::F64).collect());
    let value = Value::Record(vec![list(&position), Value::F64(height), list(&ranges)]);
    canonical::encode(&schema(), &value).expect("it fits the schema")
}

/// Those of the named codecs that `WIREGAUGE_CODECS` does not leave out.
fn runners(names: &[&str]) -> Vec<(&'static str, Runner)> {
    let folder = match std::env::var_os("WIREGAUGE_BUILD") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("lifetimes"),
    };
    let wanted = std::env::var("WIREGAUGE_CODECS").ok();
    let is_wanted =
        |name: &str| wanted.as_ref().is_none_or(|all| all.split(',').any(|w| w == name));
    let names = names.iter().filter(|name| is_wanted(name));
    let codecs: Vec<_> = names.map(|name| Codec::find(name).expect("it is there")).collect();
    let schema = schema();
    let projection = Projection::choose(&schema);
    build::build(&folder, &schema, &projection, &codecs, &|_, _, _| Ok(()))
        .expect("the build folder works")
        .into_iter()
        .map(|built| (built.codec.name, Runner::start(&built.program.expect("it compiles"))))
        .collect()
}

#[test]
fn a_zero_whose_sign_a_table_leaves_out_is_rejected() {
    let tables = [
        "flatbuffers",
        "flatbuffers-cpp",
        "flatbuffers-cpp-object",
        "flatbuffers-cpp-structs",
        "flatbuffers-java",
        "flatbuffers-java-structs",
    ];
    for (name, mut runner) in runners(&tables) {
        for (refused, field) in [
            (message([1.0, 2.0], -0.0, vec![]), "Scan.height"),
            (message([1.0, -0.0], 3.0, vec![]), "Scan.position"),
        ] {
            let (word, reply) = runner.load(&refused);
            let why = String::from_utf8_lossy(&reply).into_owned();
            assert_eq!(word, "rejected", "{name}: {why}");
            assert_eq!(why, format!("loses the sign of zero: {field} is -0.0"), "{name}");
        }
        // Nothing is left out of a list.
        let carried = message([0.0, 2.0], 0.0, vec![-0.0, 0.0]);
        let (word, wire) = runner.load(&carried);
        assert_eq!(word, "ok", "{name}");
        let (word, decoded) = runner.ask(&format!("decode {}", wire.len()), &wire);
        assert_eq!((word.as_str(), decoded), ("ok", carried), "{name}");
    }
}

/// The first segment has no room for the message, unless it is the one that was
/// made for the message before.
#[test]
fn the_first_segment_lives_as_long_as_scratch_and_buffers() {
    let ranges = (0..10_000).map(f64::from).collect();
    let message = message([1.0, 2.0], 3.0, ranges);
    for (name, mut runner) in runners(&["capnproto", "capnproto-cpp"]) {
        assert_eq!(runner.load(&message).0, "ok");
        for (lifetimes, segments) in [
            ("scratch=reused objects=fresh buffers=reused", 1),
            ("scratch=reused objects=reused buffers=reused", 1),
            ("scratch=reused objects=fresh buffers=fresh", 2),
            ("scratch=fresh objects=fresh buffers=reused", 2),
        ] {
            let (word, reply) = runner.ask(&format!("run encode 3 {lifetimes} prove=0"), &[]);
            assert_eq!(word, "ok", "{name}: {}", String::from_utf8_lossy(&reply));
            let head = reply.windows(2).position(|pair| pair == b"\n\n").expect("a product");
            let wire = &reply[head + 2..];
            let found = u32::from_le_bytes(wire[..4].try_into().expect("a table")) + 1;
            assert_eq!(found, segments, "{name}: {lifetimes}");
            let (word, decoded) = runner.ask(&format!("decode {}", wire.len()), wire);
            assert_eq!((word.as_str(), &decoded), ("ok", &message), "{name}: {lifetimes}");
        }
    }
}
