//! What formats make of octets, and messages that a format cannot say: those are
//! rejected by the runner and are no fault of the codec.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wiregauge_formats::{build, Codec, Support};
use wiregauge_schema::{msg, Projection, Schema};

fn build_folder() -> PathBuf {
    match std::env::var_os("WIREGAUGE_BUILD") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("octets"),
    }
}

fn schema() -> Schema {
    let text = "float64 value\nstring text\nuint8[] octets\n";
    msg::read_text(text, "sample", msg::Dialect::Ros2, "sample.msg").expect("it loads")
}

/// The canonical bytes of a sample.
fn sample(value: f64, text: &str, octets: &[u8]) -> Vec<u8> {
    let mut bytes = value.to_le_bytes().to_vec();
    for block in [text.as_bytes(), octets] {
        bytes.extend((block.len() as u32).to_le_bytes());
        bytes.extend(block);
    }
    bytes
}

/// A runner's whole answer to one message.
fn answer(name: &str, canonical: &[u8]) -> String {
    let schema = schema();
    let codec = Codec::find(name).expect("it is there");
    let projection = Projection::choose(&schema);
    let built = build::build(&build_folder(), &schema, &projection, &[codec], &|_, _, _| Ok(()))
        .expect("the build folder works");
    let program = built.into_iter().next().expect("one").program.expect("it compiles");
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the runner starts");
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "message {}", canonical.len()).expect("it reads");
    input.write_all(canonical).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn json_writes_octets_by_base64() {
    let reply = answer("json", &sample(0.5, "a", b"\x00\xff\x10\x80"));
    assert_eq!(reply, "ok 50\n{\"value\":0.5,\"text_value\":\"a\",\"octets\":\"AP8QgA==\"}");
}

#[test]
fn json_rejects_what_is_not_finite() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let reply = answer("json", &sample(value, "", b""));
        assert!(reply.starts_with("rejected "), "{value}: {reply}");
    }
}

/// Of the Protobuf libraries in Rust that have plain structures, one tells -0.0 from 0.0.
#[test]
fn buffa_keeps_the_sign_of_zero() {
    let reply = answer("buffa", &sample(-0.0, "", b""));
    assert!(reply.starts_with("ok 9\n\x09"), "{reply:?}");
    assert_eq!(answer("buffa", &sample(0.0, "", b"")), "ok 0\n");
    assert!(answer("prost", &sample(-0.0, "", b"")).starts_with("rejected "));
}

#[test]
fn binary_formats_write_octets_as_a_block() {
    for name in ["cbor", "minicbor", "messagepack"] {
        let few = answer(name, &sample(0.5, "", &[200; 100]));
        let more = answer(name, &sample(0.5, "", &[200; 200]));
        let size = |reply: &str| -> usize {
            let (_, size) = reply.lines().next().and_then(|line| line.split_once(' ')).expect(name);
            size.parse().expect("a size")
        };
        assert_eq!(size(&more) - size(&few), 100, "{name}");
    }
}

#[test]
fn all_reject_an_array_of_no_elements() {
    let text = "uint8 before\nuint16[0] none\n";
    let schema = msg::read_text(text, "p/Sample", msg::Dialect::Ros1, "sample.msg");
    let schema = schema.expect("ROS 1 has such");
    for codec in Codec::all() {
        let answer = codec.check_schema(&schema);
        let Support::Rejected(why) = &answer else { panic!("{}: {answer:?}", codec.name) };
        assert!(why.contains("p/Sample.none is an array of 0 elements"), "{}: {why}", codec.name);
    }
}

#[test]
fn cdr_rejects_a_text_that_holds_a_zero() {
    let reply = answer("fastcdr", &sample(0.5, "a\0b", b""));
    assert!(reply.starts_with("rejected "), "{reply}");
}
