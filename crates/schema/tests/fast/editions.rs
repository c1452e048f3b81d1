//! Definitions of Protobuf's editions, as text and as descriptor sets that
//! protoc 35.1 made of it: `protoc -I. --descriptor_set_out=edition2023.fds
//! edition2023.proto`. Debian's protoc knows no editions.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wiregauge_schema::{proto, source, Cardinality, Element, Field, Schema, SchemaSource};

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/editions").join(file)
}

fn load(file: &str, type_name: Option<&str>) -> Schema {
    let type_name = type_name.map(str::to_owned);
    source::load(&SchemaSource { path: path(file), type_name, folders: Vec::new() }).unwrap()
}

fn field<'a>(schema: &'a Schema, record: &str, name: &str) -> &'a Field {
    let (_, record) = schema.records().find(|(_, r)| r.name.original == record).unwrap();
    record.fields.iter().find(|f| f.name.original == name).unwrap()
}

#[test]
fn edition_2023_is_read_with_its_features() {
    let schema = load("edition2023.fds", Some("Root"));
    let root = |name| field(&schema, "p.Root", name);
    assert_eq!(root("implicit").cardinality, Cardinality::Implicit, "the file's");
    assert_eq!(root("loose").cardinality, Cardinality::Implicit);
    assert_eq!(root("explicit").cardinality, Cardinality::Optional, "the field's");
    assert_eq!(root("explicit").default.as_deref(), Some("5"));
    assert_eq!(root("required").cardinality, Cardinality::Required);
    assert_eq!(root("kind").cardinality, Cardinality::Optional);
    assert_eq!(root("inner").cardinality, Cardinality::Optional, "a message is never implicit");
    assert_eq!([root("a").cardinality, root("b").cardinality], [Cardinality::Optional; 2]);
    assert_eq!(root("a").union.as_deref(), Some("either"));
    assert_eq!(field(&schema, "p.Root.Inner", "data").cardinality, Cardinality::Optional);
    assert_eq!(field(&schema, "p.Root.Inner.Deep", "x").cardinality, Cardinality::Implicit);
    assert!(!root("packed").wire.unpacked, "the field's");
    assert!(root("expanded").wire.unpacked, "the file's");
    assert!(field(&schema, "p.Root.Inner", "list").wire.unpacked);
    assert!(matches!(root("delimited").element, Element::Record(_)));
    assert!(root("delimited").wire.delimited && root("b").wire.delimited, "the file's");
    assert!(field(&schema, "p.Root.Inner", "deep").wire.delimited);
    assert!(!root("inner").wire.delimited, "the field's");
    let Element::Enum(kind) = root("kind").element else { panic!() };
    assert_eq!(schema.enumeration(kind).values[0].number, 1, "a closed enum need not have zero");
    let Element::Record(entry) = root("map").element else { panic!() };
    let entry = schema.record(entry);
    assert_eq!(entry.fields[0].cardinality, Cardinality::Required);
    // Maps are what they were before there were editions.
    assert!(!root("map").wire.delimited && !entry.fields[1].wire.delimited);
}

#[test]
fn a_text_is_read_as_its_descriptors_are() {
    for (name, root) in [("edition2023", "Root"), ("edition2024", "Root"), ("declarations", "Root")]
    {
        let text = load(&format!("{name}.proto"), Some(root));
        let set = load(&format!("{name}.fds"), Some(root));
        assert_eq!(text, set, "{name}");
    }
    let schema = load("edition2024.proto", Some("Root"));
    assert_eq!(field(&schema, "p.Root", "explicit").cardinality, Cardinality::Optional);
    assert!(!field(&schema, "p.Root", "packed").wire.unpacked);
}

#[test]
fn other_editions_are_refused() {
    let error = |text: &str| {
        let error = proto::read_texts(&[("a.proto", text)], None).unwrap_err();
        format!("{error:#}")
    };
    let newer = error("edition = \"2042\"; message A { int32 x = 1; }");
    assert_eq!(newer, "cannot compile a.proto: a.proto has edition 2042; use 2023 or 2024");
    let set = std::fs::read(path("edition2023.fds")).unwrap();
    // 1000, the edition's number, as the last varint of the file: 14 = 1000.
    let at = set.windows(3).rposition(|bytes| bytes == [0x70, 0xe8, 0x07]).unwrap();
    let mut newer = set.clone();
    newer[at + 2] = 0x0f;
    let error = format!("{:#}", proto::read_descriptors(&newer, None, "new.fds").unwrap_err());
    assert!(error.contains("the unknown edition number 2024"), "{error}");
    let wrong = error_line("edition = \"2023\"; message A {\n int32 x }");
    assert!(wrong.contains("a.proto:2"), "{wrong}");
}

#[test]
fn names_of_descriptors_are_checked() {
    let set = std::fs::read(path("declarations.fds")).unwrap();
    let at = set.windows(5).position(|bytes| bytes == b"\x04Root").unwrap();
    for (byte, name) in [(b'\n', "R\\not"), (b' ', "R ot"), (b'.', "R.ot")] {
        let mut damaged = set.clone();
        damaged[at + 2] = byte;
        let error = proto::read_descriptors(&damaged, None, "damaged.fds").unwrap_err();
        assert!(format!("{error:#}").contains(&format!("'{name}' is not a name")), "{error:#}");
    }
}

fn error_line(text: &str) -> String {
    let error = format!("{:#}", proto::read_texts(&[("a.proto", text)], None).unwrap_err());
    assert!(!error.contains('\n'), "{error}");
    error
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/seeds/editions.txt"))),
        ..ProptestConfig::default()
    })]
    #[test]
    fn damaged_descriptors_are_read_or_refused(
        file in prop::sample::select(vec!["edition2023.fds", "edition2024.fds", "declarations.fds"]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 0..4),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let mut bytes = std::fs::read(path(file)).unwrap();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Err(error) = proto::read_descriptors(&bytes, Some("Root"), "damaged.fds") {
            let error = format!("{error:#}");
            prop_assert!(!error.contains('\n'), "{}", error);
        }
    }
}
