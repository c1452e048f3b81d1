//! Definitions of a thousand fields.

use wiregauge_data_holders::{HolderLanguage, Package, Wire};
use wiregauge_schema::proto;

use crate::support::{java, write};

/// A message whose fields are of all kinds, alone or of one union.
fn large(count: usize, is_union: bool) -> Package {
    let kinds = ["int32", "string", "double", "bytes", "Part", "Kind", "bool", "sfixed64"];
    let fields: String =
        (0..count).map(|at| format!("{} f{at} = {};\n", kinds[at % 8], at + 1)).collect();
    let fields = if is_union { format!("oneof one {{ {fields} }}") } else { fields };
    let text = format!(
        "syntax = \"proto3\"; package p; enum Kind {{ NONE = 0; }} message Part {{ int32 x = 1; }}
         message All {{ {fields} }}"
    );
    let schema = proto::read_texts(&[("a.proto", &text)], Some("p.All")).expect("a schema");
    Package::new(Some("large"), vec![("a.proto".into(), schema)]).expect("a package")
}

/// Of five times as many fields there are five times as many lines, and no method is longer
/// than a class in Java may have.
#[test]
fn large_definitions_make_no_more_code_than_they_need() {
    for is_union in [true, false] {
        for language in HolderLanguage::ALL {
            for wires in [&Wire::SEQUENTIAL[..], &[Wire::Protobuf], &Wire::ALL] {
                let size = |count: usize| -> (usize, usize) {
                    let files =
                        wiregauge_data_holders::generate(&large(count, is_union), language, wires);
                    let files = files.expect("it can be generated");
                    let lines = files.iter().map(|file| file.text.lines().count()).sum();
                    (lines, files.iter().map(|file| file.text.len()).sum())
                };
                let (few, many) = (size(200), size(1000));
                let what = format!("{language:?} {wires:?} {is_union}: {few:?} {many:?}");
                assert!(many.0 <= few.0 * 5 && many.1 <= few.1 * 11 / 2, "{what}");
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        write(&large(1000, is_union), HolderLanguage::Java, &Wire::ALL, folder.path());
        java::compile_bare(folder.path());
    }
}
