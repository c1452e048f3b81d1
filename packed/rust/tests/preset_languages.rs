//! Rust, C++ and Python know the same presets, make the same bytes by them, and refuse
//! the same.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::tools::{interpreter, Tool, TOOLS};
use common::{compile, encoding, format_precision, golden, kind_name, root, run, GOLDEN, HERE};
use wiregauge_packed::{pack, Fault, PackOptions, Plan, Preset, PRESETS};

const KNOWN: &str = "lidar-1mm, lidar-exact, radar-1cm, radar-exact";

/// What the tools' arguments mean in Rust.
fn options(given: &[&str]) -> PackOptions {
    let mut options = PackOptions::default();
    for text in given {
        match *text {
            "--whole-bytes" => options.plan.whole_bytes = true,
            text if text.contains('=') => options.encodings.push(encoding(text)),
            name => options.plan.presets.push(Preset::find(name).expect("a preset")),
        }
    }
    options
}

/// That a tool makes of a golden message what Rust makes, or says of it what Rust says;
/// gives the packed message where there is one.
fn same(tool: Tool, name: &str, given: &[&str], out: &Path) -> Result<Vec<u8>, Fault> {
    let (language, command) = tool;
    let what = format!("{name} by {given:?} in {language}");
    let from = golden(&format!("{name}.osi"));
    let message = fs::read(&from).expect("a golden message");
    let mut command = command();
    command.args(["pack", name.split('.').next().unwrap()]).arg(from).arg(out).args(given);
    match pack(root(name), &message, &options(given)) {
        Ok((packed, precision)) => {
            assert_eq!(run(&mut command), format_precision(&precision), "{what}");
            assert!(fs::read(out).unwrap() == packed, "{what}: other bytes");
            fs::remove_file(out).unwrap();
            Ok(packed)
        }
        Err(error) => {
            let output = command.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success(), "{what} is not refused");
            assert!(said.trim_end().ends_with(&error.to_string()), "{what}: {said}{error}");
            assert!(!out.exists(), "{what}: it writes what it refuses");
            Err(error.fault)
        }
    }
}

#[test]
fn all_languages_know_the_same_presets() {
    let mut expected = String::new();
    for preset in &PRESETS {
        expected += preset.name;
        for kind in preset.kinds {
            expected += &format!(" {}", kind_name(kind));
        }
        for (column, step) in preset.resolutions {
            expected += &format!(" {column}={:016x}", step.to_bits());
        }
        expected.push('\n');
    }
    for (language, command) in TOOLS {
        assert_eq!(run(command().arg("presets")), expected, "{language}");
    }
}

#[test]
fn all_languages_reduce_by_presets_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let alone = PRESETS.iter().map(|preset| vec![preset.name]);
    // Of several that tell of the same rows the last one holds.
    let several = [
        vec!["lidar-1mm", "radar-1cm"],
        vec!["lidar-exact", "lidar-1mm", "radar-1cm", "radar-exact"],
        vec!["lidar-1mm", "lidar-exact", "radar-exact", "radar-1cm"],
    ];
    let (mut reduced, mut refused) = (0, 0);
    for presets in alone.chain(several) {
        for (name, _) in GOLDEN {
            let message = fs::read(golden(&format!("{name}.osi"))).unwrap();
            let (plain, _) = pack(root(name), &message, &PackOptions::default()).unwrap();
            for tool in TOOLS {
                let whole = [&presets[..], &["--whole-bytes"]].concat();
                let bits = same(tool, name, &presets, &out);
                let bytes = same(tool, name, &whole, &out);
                match (bits, bytes) {
                    (Ok(bits), Ok(bytes)) => reduced += usize::from(bits != plain && bits != bytes),
                    // The sparse view has times that no resolution holds.
                    (bits, bytes) => {
                        assert_eq!((bits, bytes), (Err(Fault::Steps), Err(Fault::Steps)));
                        assert_eq!(name, "SensorView.sparse");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(reduced > 16, "{reduced} messages were reduced, to bits and to whole bytes");
    assert!(refused > 4, "{refused} were refused");
}

#[test]
fn an_encoding_goes_before_the_presets() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (name, encodings) in GOLDEN {
        let presets = ["lidar-1mm", "radar-1cm"];
        let reduced = ["signal_strength=f64@0.5", "position.distance=f64@exact"];
        for encodings in [encodings, &reduced, &["time_of_flight=f64", "snr=f32"]] {
            for more in [&[][..], &["--whole-bytes"]] {
                // Before and behind the presets: their order says nothing.
                let before = [encodings, &presets, more].concat();
                let behind = [more, &presets, encodings].concat();
                for tool in TOOLS {
                    let packed = same(tool, name, &before, &out);
                    assert_eq!(packed, same(tool, name, &behind, &out), "{name} {before:?}");
                    if packed.is_ok() {
                        assert_ne!(packed, same(tool, name, &presets, &out), "{name} {before:?}");
                    }
                }
            }
        }
    }
    // A time that no resolution holds is no matter where an encoding says otherwise.
    for tool in TOOLS {
        same(tool, "SensorView.sparse", &["lidar-1mm", "time_of_flight=f64"], &out).unwrap();
    }
}

#[test]
fn a_preset_that_there_is_not_is_refused_with_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let from = golden("SensorView.full.osi");
    for unknown in ["lidar-1cm", "Lidar-1mm", "--whole-byte", ""] {
        for (language, command) in TOOLS {
            let mut command = command();
            command.args(["pack", "SensorView"]).arg(&from).arg(&out).args(["lidar-1mm", unknown]);
            let output = command.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{language}: {said}");
            let which = match language {
                "Python" if !unknown.is_empty() => format!("'{unknown}'"),
                _ => "1".into(),
            };
            let expected = format!("preset {which} is none of {KNOWN}");
            assert!(said.trim_end().ends_with(&expected), "{language}: {said}");
            assert!(!out.exists(), "{language} writes what it refuses");
        }
    }
    assert_eq!(PRESETS.map(|preset| preset.name).join(", "), KNOWN);
}

/// What Python's callers give: several names, one by itself, and encodings of their own.
#[test]
fn python_takes_one_name_and_several() {
    let text = r#"
import sys
from wiregauge.packed import Encoding, PackedError, pack

data = open(sys.argv[1], "rb").read()
one = pack("SensorView", data, presets="lidar-1mm")
assert one == pack("SensorView", data, presets=["lidar-1mm"]) == pack("SensorView", data, presets=iter(("lidar-1mm",)))
assert pack("SensorView", data) == pack("SensorView", data, presets=())
assert one != pack("SensorView", data, whole_bytes=True) == pack("SensorView", data)
given = {"signal_strength": Encoding("f64", None, True, 0.1, True)}
both = pack("SensorView", data, given, presets="lidar-1mm")
assert both != one != pack("SensorView", data, given)
for wrong in ("lidar", ["lidar-1mm", "radar"]):
    try:
        pack("SensorView", data, presets=wrong)
    except PackedError as error:
        assert (error.fault, error.name) == ("preset", wrong if wrong == "lidar" else "radar")
        continue
    raise AssertionError(wrong)
"#;
    run(interpreter().args(["-c", text]).arg(golden("SensorView.regular.osi")));
    let plan = Plan { whole_bytes: true, ..Plan::default() };
    let message = fs::read(golden("SensorView.regular.osi")).unwrap();
    let whole = PackOptions { plan, ..PackOptions::default() };
    let alike = [whole, PackOptions::default()].map(|options| {
        let (packed, _) = pack(root("SensorView.regular"), &message, &options).unwrap();
        packed
    });
    assert_eq!(alike[0], alike[1], "without a preset nothing is reduced to whole bytes");
}

/// The example of docs/packed.md in a language.
fn example(language: &str) -> String {
    let page = fs::read_to_string(Path::new(HERE).join("../../docs/packed.md")).unwrap();
    let (_, section) = page.split_once("\n### Presets\n").expect("the section");
    let (_, code) = section.split_once(&format!("\n```{language}\n")).expect("an example");
    code.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn the_examples_of_the_documentation_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let from = golden("SensorView.full.osi");
    let given = ["signal_strength=f64", "lidar-1mm", "radar-1cm"];
    let message = fs::read(&from).unwrap();
    let (expected, _) = pack(root("SensorView"), &message, &options(&given)).unwrap();

    let python = format!(
        "import sys\nfrom wiregauge.packed import Encoding, pack\n\
         message = open(sys.argv[1], 'rb').read()\n{}open(sys.argv[2], 'wb').write(reduced)\n",
        example("python")
    );
    run(interpreter().args(["-c", &python]).arg(&from).arg(&out));
    assert!(fs::read(&out).unwrap() == expected, "Python's example makes other bytes");

    let cpp = format!(
        "#include <fstream>\n#include <iterator>\n#include \"wiregauge/packed_convert.hpp\"\n\
         using namespace wiregauge::packed;\n\
         int main(int, char **arguments) {{\n\
         std::ifstream file(arguments[1], std::ios::binary);\n\
         const std::string read(std::istreambuf_iterator<char>(file), {{}});\n\
         const Bytes message{{reinterpret_cast<const std::uint8_t *>(read.data()), read.size()}};\n\
         std::vector<std::uint8_t> reduced;\n{}\n\
         std::ofstream(arguments[2], std::ios::binary)\n\
         .write(reinterpret_cast<const char *>(reduced.data()),\n\
         static_cast<std::streamsize>(reduced.size()));\n\
         return error ? 1 : 0;\n}}\n",
        example("cpp")
    );
    let source = folder.path().join("example.cpp");
    fs::write(&source, cpp).unwrap();
    let program = compile("preset_example", &[source.to_str().unwrap()]);
    run(Command::new(program).arg(&from).arg(&out));
    assert!(fs::read(&out).unwrap() == expected, "C++'s example makes other bytes");
}
