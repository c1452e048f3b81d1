//! The project's FMUs under its own master and under FMPy, in every encoding.

#[path = "support/encodings.rs"]
mod encodings;
mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{json, Value};
use wiregauge_osi::fmus::{build, Build, Encoding, Fmu, Model, ENCODINGS};
use wiregauge_osi::python::Python;

use support::{build_folder, wiregauge};

const MODELS: [Model; 5] =
    [Model::Source, Model::Sensor, Model::Pedestrian, Model::Player, Model::Recorder];
const STEPS: u64 = 3;
const STEP_SIZE: f64 = 0.1;
const REFLECTIONS: u32 = 1_800;
const OBJECTS: u32 = 24;

/// One FMU of each kind, Release; built once for all tests. Those that play and record in the
/// encodings that are taken.
fn fmus() -> &'static [(Fmu, PathBuf)] {
    static FMUS: OnceLock<Vec<(Fmu, PathBuf)>> = OnceLock::new();
    FMUS.get_or_init(|| {
        let mut wanted = Vec::new();
        for model in MODELS {
            let plays = matches!(model, Model::Player | Model::Recorder);
            let taken = if plays { encodings::played() } else { ENCODINGS.into() };
            for encoding in taken {
                for fmi in if encoding.fmi3 { vec![2, 3] } else { vec![2] } {
                    wanted.push(Fmu { model, encoding, fmi, build: Build::Release });
                }
            }
        }
        let built = build(&build_folder(), &wanted, &|_, _, _| Ok(())).expect("the FMUs' tools");
        wanted.into_iter().zip(built).map(|(fmu, path)| (fmu, path.expect("it builds"))).collect()
    })
}

fn fmu(model: Model, encoding: &str, fmi: u8) -> &'static Path {
    let found = fmus()
        .iter()
        .find(|(f, _)| f.model == model && f.encoding.name == encoding && f.fmi == fmi);
    &found.expect("all are built").1
}

fn python() -> Python {
    Python::environment(&build_folder()).expect("Python and FMPy")
}

/// What a program in Python answers to a question in JSON. One program is asked for all FMUs:
/// its modules take a second to load.
fn ask(python: &Python, program: &str, question: &Value) -> Vec<u8> {
    let mut child = Command::new(&python.program)
        .args(["-c", program])
        .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../../python"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(question.to_string().as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{question}");
    output.stdout
}

/// The same, where the answer is a list in JSON.
fn ask_for_list(python: &Python, program: &str, question: &Value) -> Vec<Value> {
    serde_json::from_slice(&ask(python, program, question)).expect("a list")
}

/// Runs our master on all encodings; the folder of messages of one encoding is
/// `<out>/<case>/<source>+<model>`.
fn dump(model: Model, out: &Path) {
    let output = wiregauge()
        .args(["cosim", "run", "--codecs", "all", "--fmi", "2,3", "--model"])
        .arg(model.to_string())
        .args(["--reflections", &REFLECTIONS.to_string(), "--moving-objects", &OBJECTS.to_string()])
        .args(["--processes", "1", "--rounds", "1", "--epoch-steps", "1", "--duration", "1"])
        .arg("--dump")
        .arg(out)
        .arg("-o")
        .arg(out.join("run.json"))
        .output()
        .expect("wiregauge runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn dumped(out: &Path, model: Model, encoding: &str, fmi: u8) -> PathBuf {
    let stem = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let pair = [Model::Source, model].map(|model| stem(fmu(model, encoding, fmi))).join("+");
    out.join(format!("reflections={REFLECTIONS},objects={OBJECTS}")).join(pair)
}

/// The encodings with the FMI versions that they have FMUs for.
fn kinds() -> impl Iterator<Item = (Encoding, u8)> {
    ENCODINGS.into_iter().flat_map(|e| {
        [2, 3].into_iter().filter(move |fmi| *fmi == 2 || e.fmi3).map(move |fmi| (e, fmi))
    })
}

#[test]
fn fmpy_as_master_gets_the_same_messages() {
    let python = python();
    let folder = tempfile::tempdir().expect("a folder");
    for model in [Model::Sensor, Model::Pedestrian] {
        let ours = folder.path().join(model.to_string());
        fs::create_dir(&ours).expect("writable");
        dump(model, &ours);
        let theirs = |encoding: Encoding, fmi: u8| {
            folder.path().join(format!("{model}-{}-{fmi}", encoding.name))
        };
        let jobs = kinds().map(|(encoding, fmi)| {
            let out = theirs(encoding, fmi);
            fs::create_dir(&out).expect("writable");
            json!({
                "source": fmu(Model::Source, encoding.name, fmi),
                "model": fmu(model, encoding.name, fmi),
                "source_parameters": { "reflections": REFLECTIONS, "objects": OBJECTS },
                "model_parameters": {},
                "step": STEP_SIZE,
                "steps": STEPS,
                "out": out,
            })
        });
        ask(&python, include_str!("cosim/fmpy_master.py"), &jobs.collect());
        for (encoding, fmi) in kinds() {
            let theirs = theirs(encoding, fmi);
            let ours = dumped(&ours, model, encoding.name, fmi);
            for number in 0..STEPS {
                for who in ["source", "model"] {
                    let name = format!("{who}-{number:06}.bin");
                    let [a, b] = [&ours, &theirs].map(|folder| {
                        fs::read(folder.join(&name))
                            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
                    });
                    assert!(!a.is_empty());
                    assert!(a == b, "{model}, {}, FMI {fmi}: {name} differs", encoding.name);
                }
            }
        }
    }
}

#[test]
fn all_encodings_say_the_same() {
    let python = python();
    let folder = tempfile::tempdir().expect("a folder");
    dump(Model::Sensor, folder.path());
    let build = build_folder();
    let bytes = wiregauge_osi::descriptors::descriptors(&build, &python).expect("descriptors");
    let definitions =
        wiregauge_osi::flatbuffers::Definitions::from_descriptors(&bytes).expect("definitions");
    let definition = |encoding: &str| {
        let path = folder.path().join(format!("{encoding}.fbs"));
        let structs = encoding == "flatbuffers-structs";
        let text = if structs { &definitions.structs } else { &definitions.tables };
        fs::write(&path, text).expect("writable");
        path
    };
    let definitions = ["flatbuffers-tables", "flatbuffers-structs"].map(definition);
    let message = |(encoding, fmi): (Encoding, u8), number: u64| {
        let path = dumped(folder.path(), Model::Sensor, encoding.name, fmi)
            .join(format!("model-{number:06}.bin"));
        json!([encoding.name, path, definitions[usize::from(encoding.name.ends_with("structs"))]])
    };
    let messages = (0..STEPS).flat_map(|number| kinds().map(move |kind| (kind, number)));
    let messages: Value = messages.map(|(kind, number)| message(kind, number)).collect();
    let found = ask_for_list(&python, include_str!("cosim/detections.py"), &messages);
    assert_eq!(found.len() as u64, STEPS * kinds().count() as u64);
    for step in found.chunks(kinds().count()) {
        let wanted = &step[0];
        assert_eq!(wanted["detections"].as_array().map(Vec::len), Some(100), "every 18th");
        assert_eq!(wanted["objects"].as_array().map(Vec::len), Some(23), "all but the host");
        for ((encoding, _), found) in kinds().zip(step).skip(1) {
            for part in ["detections", "objects"] {
                let [a, b] = [found, wanted].map(|c| c[part].as_array().expect("a list"));
                assert_eq!(a.len(), b.len(), "{}: {part}", encoding.name);
                for (a, b) in a.iter().zip(b) {
                    assert!(
                        alike(a, b, loss(encoding)),
                        "{}, {part}: {a} is not {b}",
                        encoding.name
                    );
                }
            }
        }
    }
}

/// What an encoding may change of a number: half a millimetre of a distance where it is said,
/// 24 bits of it, and otherwise what flatc cuts off after twelve decimals.
fn loss(encoding: Encoding) -> f64 {
    match encoding.name {
        "packed-reduced" => 0.000_5,
        "packed-f32" => 0.000_02,
        _ => 1e-11,
    }
}

fn alike(a: &Value, b: &Value, loss: f64) -> bool {
    let alike = |a, b| alike(a, b, loss);
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| alike(v, w)))
        }
        (Value::Number(a), Value::Number(b)) => {
            let [a, b] = [a, b].map(|number| number.as_f64().expect("finite"));
            (a - b).abs() <= loss + 1e-11
        }
        _ => a == b,
    }
}

#[test]
fn fmpy_finds_no_problem_in_any_fmu() {
    let text = "if True:
        import json, sys
        from fmpy.validation import validate_fmu
        json.dump([validate_fmu(path) for path in json.load(sys.stdin)], sys.stdout)
    ";
    let problems =
        ask_for_list(&python(), text, &fmus().iter().map(|(_, path)| json!(path)).collect());
    assert_eq!(problems.len(), fmus().len());
    for ((fmu, _), problems) in fmus().iter().zip(&problems) {
        assert_eq!(problems, &json!([]), "{}", fmu.name());
    }
}
