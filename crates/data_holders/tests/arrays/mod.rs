//! Arrays of no elements, which ROS 1 has: they take no bytes, in each language as in genpy.

use std::fs;
use std::path::Path;
use std::process::Command;

use wiregauge_data_holders::{losses, HolderLanguage, Package, Wire};
use wiregauge_schema::msg;
use wiregauge_schema::{generate, Sizes};

use super::support::compiled::compile;
use super::support::lint::lint;
use super::support::{self, java, reference, run_python, rustc, succeeds, write};

const NONE: &str = "uint8[0] octets\nint32 before\nstring[0] texts\nfloat64[0] numbers\nbool[0] flags\n\
                    time[0] times\nInner[0] inners\nuint8[] list\nInner inner\nInner[] more\nInner[2] two\n";
const INNER: &str = "uint16[0] numbers\nuint8 x\nuint64[0] last\n";

const CPP: &str = "#include \"scan.view.hpp\"
#include \"wiregauge/ros_msg.hpp\"
#include <cstdio>
int main(int, char **arguments) {
  std::vector<std::uint8_t> bytes, out;
  std::FILE *file = std::fopen(arguments[1], \"rb\");
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
    bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  std::fclose(file);
  scan::Scan message;
  using wiregauge::Error;
  using wiregauge::RosMsg;
  if (wiregauge::deserialize<RosMsg>(bytes.data(), bytes.size(), message) != Error::none) return 1;
  if (wiregauge::serialize<RosMsg>(message, out) != Error::none || out != bytes) return 2;
  wiregauge::View<RosMsg, scan::Scan> view;
  if (wiregauge::check<RosMsg>(bytes.data(), bytes.size(), view) != Error::none) return 3;
  return view.octets().size() + view.inners().size() == 0 ? 0 : 4;
}
";

const RUST: &str = "mod scan;
mod scan_view;
mod wiregauge;
fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let message = wiregauge::deserialize::<wiregauge::RosMsg, scan::Scan>(&bytes).unwrap();
    let mut out = Vec::new();
    wiregauge::serialize::<wiregauge::RosMsg, _>(&message, &mut out).unwrap();
    assert_eq!(out, bytes);
}
";

const JAVA: &str = "public final class Main {
    private Main() {}
    public static void main(String[] arguments) throws Exception {
        byte[] bytes = java.nio.file.Files.readAllBytes(java.nio.file.Path.of(arguments[0]));
        scan.Scan message = new scan.Scan();
        wiregauge.Wire.ROS_MSG.deserialize(java.nio.ByteBuffer.wrap(bytes), message);
        if (!java.util.Arrays.equals(wiregauge.Wire.ROS_MSG.serialize(message).array(), bytes)) {
            throw new AssertionError(\"other bytes\");
        }
    }
}
";

#[test]
fn arrays_of_no_elements_take_no_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let put = |path: &str, bytes: &[u8]| {
        let path = at.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("written");
    };
    put("ros/p/msg/Scan.msg", NONE.as_bytes());
    put("ros/p/msg/Inner.msg", INNER.as_bytes());
    let path = at.join("ros/p/msg/Scan.msg");
    let schema = msg::read_file_as(None, &path, None, &[]).expect("it loads");
    assert_eq!(schema.root().name.original, "p/Scan", "ROS 1 alone has such");
    let package = Package::new(Some("scan"), vec![("Scan.msg".into(), schema.clone())]);
    let package = package.expect("a package");
    for wire in [Wire::Cdr, Wire::Xcdr2] {
        let error = losses(wire, &package).expect_err("DDS has none such").to_string();
        assert!(error.contains("p/Inner.numbers is an array of 0 elements"), "{error}");
    }
    for language in HolderLanguage::ALL {
        write(&package, language, &[Wire::RosMsg], at);
    }
    for count in 0..3usize {
        let sizes = Sizes { list: count, bytes: count, ..Sizes::default() };
        let value = generate(&schema, &sizes, count as u64).expect("a message");
        put(&format!("messages/{count:04}.type"), b"p/Scan");
        let bytes = reference::encode(&schema, &value, Wire::RosMsg);
        assert_eq!(bytes.len(), 4 + 4 + count + 1 + 4 + count + 2);
        put(&format!("messages/{count:04}.ros_msg"), &bytes);
    }
    let python = support::python();
    let (module, messages, ros) = (at.join("scan.py"), at.join("messages"), at.join("ros"));
    lint(&python, &module);
    assert_eq!(run_python(&python, "ros.py", &[&module, &ros, &messages]).trim(), "3");
    let script = "import sys\nimport scan\ndata = open(sys.argv[1], 'rb').read()\n\
                  for view in False, True:\n    \
                  message = scan.Scan.deserialize_ros_msg(data, view=view)\n    \
                  assert message.serialize_ros_msg() == data\n    \
                  assert len(message.octets) == len(message.inners) == 0\n\
                  assert scan.Scan().serialize_ros_msg() == bytes(15)\n";
    put("script.py", script.as_bytes());
    put("main.cpp", CPP.as_bytes());
    put("main.rs", RUST.as_bytes());
    put("Main.java", JAVA.as_bytes());
    let flags = "-std=c++17 -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
                 -fsanitize=address,undefined -fno-sanitize-recover=all -I. main.cpp -o main_cpp";
    compile(Command::new("g++").args(flags.split_whitespace()), at, &[]);
    rustc(at, "-C debug-assertions -o main_rust main.rs");
    let classes = java::compile(at, "scan", &[at.join("Main.java")]);
    for count in 0..3 {
        let message = messages.join(format!("{count:04}.ros_msg"));
        let run = |program: &Path, arguments: &[&Path]| {
            succeeds(Command::new(program).args(arguments).arg(&message).current_dir(at));
        };
        run(&python.program, &[Path::new("script.py")]);
        run(&at.join("main_cpp"), &[]);
        run(&at.join("main_rust"), &[]);
        run(Path::new("java"), &[Path::new("-cp"), &classes, Path::new("Main")]);
    }
}
