//! Every codec on messages that hold everything the schema model has: what a
//! codec does not refuse it must carry without a change, and its projections
//! must read what the message holds.
//!
//! `WIREGAUGE_CODECS=prost,bincode` restricts the codecs,
//! `WIREGAUGE_BUILD=folder` keeps the build.

mod zoo;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use wiregauge_codegen::{build, Answer, Codec};
use wiregauge_schema::{arbitrary, canonical, generate, path, project};
use wiregauge_schema::{Projection, Schema, Sizes, Value};

/// A runner under test, spoken to as docs/runner-protocol.md says.
struct Runner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Runner {
    fn start(program: &Path) -> Runner {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the runner starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Runner { child, input, output }
    }

    /// The reply, or the codec's or the process's error.
    fn ask(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let broken = |error: std::io::Error| format!("the runner died on '{request}': {error}");
        let line = match request {
            "message" | "decode" => format!("{request} {}\n", payload.len()),
            other => format!("{other}\n"),
        };
        self.input.write_all(line.as_bytes()).map_err(broken)?;
        self.input.write_all(payload).map_err(broken)?;
        self.input.flush().map_err(broken)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(broken)?;
        let (word, size) =
            line.trim_end().split_once(' ').ok_or(format!("the runner died on '{request}'"))?;
        let mut reply = vec![0; size.parse().map_err(|_| format!("bad reply {line:?}"))?];
        self.output.read_exact(&mut reply).map_err(broken)?;
        match word {
            "ok" => Ok(reply),
            _ => Err(String::from_utf8_lossy(&reply).into_owned()),
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn build_folder() -> PathBuf {
    match std::env::var_os("WIREGAUGE_BUILD") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance"),
    }
}

fn codecs() -> Vec<&'static Codec> {
    let wanted = std::env::var("WIREGAUGE_CODECS").ok();
    let all = Codec::all().into_iter().filter(|codec| !codec.bound);
    match wanted {
        None => all.collect(),
        Some(names) => {
            let names: Vec<&str> = names.split(',').collect();
            let unknown = names.iter().find(|name| Codec::find(name).is_none());
            assert_eq!(unknown, None, "WIREGAUGE_CODECS names a codec that is not there");
            all.filter(|codec| names.contains(&codec.name)).collect()
        }
    }
}

/// Builds every codec that takes the schema, and checks each on the messages.
/// Returns what went wrong, a line each.
fn check(schema: &Schema, projection: &Projection, values: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut accepted = Vec::new();
    for codec in codecs() {
        match codec.answer_all(schema) {
            Answer::Rejected(why) => println!("{}: rejected: {why}", codec.name),
            _ => accepted.push(codec),
        }
    }
    let built = build::build(&build_folder(), schema, projection, &accepted, &|_, _, _| Ok(()))
        .expect("the build folder works");
    for built in built {
        let name = built.codec.name;
        let outcome = built.program.map_err(|error| format!("{error:#}")).and_then(|program| {
            let mut runner = Runner::start(&program);
            for (index, value) in values.iter().enumerate() {
                check_one(&mut runner, schema, projection, value, index)
                    .map_err(|fault| format!("message {index}: {fault}"))?;
            }
            check_loops(&mut runner)
        });
        match outcome {
            Ok(()) => println!("{name}: {} messages carried", values.len()),
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    faults
}

fn check_one(
    runner: &mut Runner,
    schema: &Schema,
    projection: &Projection,
    value: &Value,
    index: usize,
) -> Result<(), String> {
    let expected = canonical::encode(schema, value).map_err(|e| format!("{e:#}"))?;
    let wire = runner.ask("message", &expected)?;
    let returned = runner.ask("decode", &wire)?;
    if returned != expected {
        let found = canonical::decode(schema, &returned);
        return Err(format!("sent {value:?}, came back {found:?}"));
    }
    let text = runner.ask(&format!("values {index}"), &[])?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let wanted = [
        ("project", project::sum(value)),
        ("fixed", projection.fixed.as_ref().map_or(0.0, |p| project::at(schema, value, p))),
        ("element", projection.element.as_ref().map_or(0.0, |p| project::at(schema, value, p))),
    ];
    for (name, wanted) in wanted {
        let found: f64 = text
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|number| number.trim().parse().ok())
            .ok_or(format!("no {name} in {text:?}"))?;
        // The order of a sum is the codec's, and with it the rounding.
        if (found - wanted).abs() > 1e-9 * wanted.abs().max(1.0) {
            return Err(format!("{name} is {found}, should be {wanted}; {value:?}"));
        }
    }
    Ok(())
}

/// Every experiment runs, with fresh and with reused buffers and objects.
fn check_loops(runner: &mut Runner) -> Result<(), String> {
    let hello = runner.ask("hello 1", &[])?;
    let hello = String::from_utf8_lossy(&hello).into_owned();
    let experiments = hello
        .lines()
        .find_map(|line| line.strip_prefix("experiments "))
        .ok_or(format!("no experiments in {hello:?}"))?;
    for how in ["fresh", "reused"] {
        runner.ask(&format!("set buffers {how}"), &[])?;
        runner.ask(&format!("set objects {how}"), &[])?;
        for experiment in experiments.split_whitespace() {
            runner
                .ask(&format!("run {experiment} 20"), &[])
                .map_err(|error| format!("{experiment} with {how} buffers: {error}"))?;
        }
    }
    Ok(())
}

/// Messages of several shapes: empty, full and half-full, short and long.
fn messages(schema: &Schema, seed: u64) -> Vec<Value> {
    let mut values = vec![Value::empty_record(schema, schema.root)];
    for (index, (length, presence)) in
        [(0, 1.0), (1, 1.0), (3, 0.5), (3, 1.0), (9, 0.5), (12, 1.0)].into_iter().enumerate()
    {
        let sizes =
            Sizes { list: length, text: length, bytes: length, presence, ..Sizes::default() };
        values.push(generate(schema, &sizes, seed + index as u64).expect("sizes name no paths"));
    }
    values
}

/// No codec refuses the schema, and each carries the messages.
fn assert_all_carry(schema: &Schema, projection: &Projection, values: &[Value]) {
    for codec in codecs() {
        if let Answer::Rejected(why) = codec.answer_all(schema) {
            panic!("{} refuses what it is known to carry: {why}", codec.name);
        }
    }
    assert_carried(schema, projection, values);
}

fn assert_carried(schema: &Schema, projection: &Projection, values: &[Value]) {
    let faults = check(schema, projection, values);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn needs_are_here() {
    for codec in codecs() {
        for need in codec.needs {
            let (_, package) = need.names();
            assert!(need.is_here(), "{} needs {need:?}: apt-get install {package}", codec.name);
        }
    }
}

#[test]
fn everything_the_model_has() {
    for (name, schema) in zoo::all() {
        println!("== {name}");
        assert_all_carry(&schema, &Projection::choose(&schema), &messages(&schema, 1));
    }
}

#[test]
fn lidar() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/lidar.msg");
    let source = wiregauge_schema::Source::parse(&root.display().to_string());
    let schema = wiregauge_schema::source::load(&source).expect("lidar.msg loads");
    let projection = Projection {
        fixed: Some(path::parse(&schema, "info.guid").expect("a path")),
        element: Some(path::parse(&schema, "points[].position[1]").expect("a path")),
    };
    assert_all_carry(&schema, &projection, &messages(&schema, 7));
}

/// Every way in which a Protobuf definition may have its numbers written, and
/// the same bytes whoever writes them.
#[test]
fn protobuf_wire_choices() {
    let text = r#"
        syntax = "proto2";
        message Numbers {
            optional sint64 zigzag = 1;
            optional sfixed64 fixed = 2;
            repeated fixed32 unpacked_fixed = 3;
            repeated fixed64 packed_fixed = 4 [packed = true];
            repeated sint32 unpacked_zigzag = 5;
            repeated float packed = 6 [packed = true];
            repeated double unpacked = 7;
        }"#;
    let schema = wiregauge_schema::proto::read_texts(&[("wire.proto", text)], None).expect("loads");
    assert_all_carry(&schema, &Projection::choose(&schema), &messages(&schema, 3));
}

/// Random schemas: each takes a build of every codec, so there are few, and
/// each is the size of many. `WIREGAUGE_CASES` sets how many.
#[test]
fn random_schemas() {
    let cases = match std::env::var("WIREGAUGE_CASES") {
        Ok(cases) => cases.parse().expect("WIREGAUGE_CASES is a number"),
        Err(_) => 2,
    };
    let mut runner = TestRunner::deterministic();
    for case in 0..cases {
        let schema =
            arbitrary::schema().new_tree(&mut runner).expect("a schema can be made").current();
        assert_carried(&schema, &Projection::choose(&schema), &messages(&schema, case));
    }
}
