//! SOME/IP beside what AUTOSAR says of it, and a library that others wrote.

use wiregauge_data_holders::{HolderLanguage, Package, Wire};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{Schema, Value};

use super::support::lint::lint;
use super::support::message_files::MessageFiles;
use super::support::{self, reference, run_python, write};

/// A text as SOME/IP has it.
fn someip_text(text: &[u8]) -> Vec<u8> {
    let text = [b"\xef\xbb\xbf", text, b"\0"].concat();
    [&(text.len() as u32).to_be_bytes()[..], &text].concat()
}

/// As AUTOSAR's specification of the protocol has it (PRS_SOMEIPProtocol, serialization of
/// data structures): by hand here, and by a library that others wrote.
#[test]
fn someip_is_as_autosar_and_another_library_have_it() {
    let python = support::python();
    let line = "=".repeat(80);
    let text = format!(
        "bool flag\nint8 small\nuint16 middle\nint32 large\nuint64 largest\nfloat64 real\n\
         string name\nint16[3] three\nfloat32[] ranges\nPoint point\nPoint[] points\nuint8 last\n\
         {line}\nMSG: p/Point\nfloat32 x\nuint8 kind\n"
    );
    let schema = msg::read_text(&text, "p/Scan", Dialect::Ros2, "test").expect("a schema");
    let folder = tempfile::tempdir().expect("a folder");
    let package = Package::new(Some("scan"), vec![("test".into(), schema)]).expect("a package");
    write(&package, HolderLanguage::Python, &[Wire::SomeIp], folder.path());
    let module = folder.path().join("scan.py");
    lint(&python, &module);
    assert_eq!(run_python(&python, "someip.py", &[&module]).trim(), "4");
}

/// What is no message in SOME/IP.
pub fn strict(files: &mut MessageFiles) -> Schema {
    let text = "bool truth\nstring<=4 text\nint16[<=2] list\nstring[] words\n";
    let schema = msg::read_text(text, "p/Marked", Dialect::Ros2, "test").expect("a schema");
    files.add_generated(&schema, &[(2, 3, 1.0)], 1);
    let whole = |truth: u8, text: &[u8], list: &[u8], words: &[u8]| {
        let size = |bytes: &[u8]| (bytes.len() as u32).to_be_bytes();
        [&[truth][..], &someip_text(text), &size(list), list, &size(words), words].concat()
    };
    let word = someip_text(b"word");
    let good = whole(1, b"abc", &[1, 2, 0xff, 0xfe], &[word.clone(), word.clone()].concat());
    let truncated = [&word[..], &word[..9]].concat();
    let mut overlong = word.clone();
    overlong[3] += 1;
    let mut unmarked = good.clone();
    unmarked[5] = b'x';
    let mut unended = good.clone();
    unended[11] = 1;
    let bad = [
        whole(2, b"", &[], &[]),
        whole(1, b"12345", &[], &[]),
        whole(1, b"a\0b", &[], &[]),
        whole(1, b"\xc0\xaf", &[], &[]),
        whole(1, b"", &[0; 6], &[]),
        whole(1, b"", &[0; 3], &[]),
        whole(1, b"", &[], &truncated),
        whole(1, b"", &[], &overlong),
        whole(1, b"", &[], &[0; 4]),
        [&whole(1, b"", &[], &[])[..], &[0]].concat(),
        unmarked,
        unended,
    ];
    for bytes in bad {
        let none = ["cdr", "ros_msg", "xcdr2"].map(|end| (end, vec![0xff; 4]));
        files.add_bad("p/msg/Marked", none.into_iter().chain([("someip", bytes)]));
    }
    // That it is these bytes and nothing else that is wrong.
    let value = Value::Record(vec![
        Value::Bool(true),
        Value::String("abc".into()),
        Value::List(vec![Value::Signed(0x102), Value::Signed(-2)]),
        Value::List(vec![Value::String("word".into()); 2]),
    ]);
    assert_eq!(reference::encode(&schema, &value, Wire::SomeIp), good);
    schema
}
