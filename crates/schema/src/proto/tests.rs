use super::*;
use crate::model::{Cardinality, Element, Field, IntegerEncoding, ProtobufEncoding, Role};

const PROTO3: &str = r#"
        syntax = "proto3";
        package p;
        import "google/protobuf/timestamp.proto";
        message Root {
            int32 implicit = 1;
            optional int32 explicit = 2;
            repeated double list = 3;
            map<string, Inner> map = 4;
            oneof either { uint64 a = 5; Inner b = 6; }
            google.protobuf.Timestamp time = 8;
            Kind kind = 7;
            message Inner { bytes data = 1; }
            enum Kind { option allow_alias = true; NONE = 0; SOME = 1; ANY = 1; }
        }
    "#;

fn field<'a>(schema: &'a Schema, name: &str) -> &'a Field {
    schema.root().fields.iter().find(|f| f.name.original == name).unwrap()
}

#[test]
fn proto3_maps_to_the_model() {
    let schema = read_texts(&[("a.proto", PROTO3)], None).unwrap();
    assert_eq!(schema.root().name.original, "p.Root");
    assert_eq!(field(&schema, "implicit").cardinality, Cardinality::Implicit);
    assert_eq!(field(&schema, "explicit").cardinality, Cardinality::Optional);
    assert_eq!(field(&schema, "explicit").union, None);
    assert_eq!(field(&schema, "list").cardinality, Cardinality::List { bound: None });
    assert_eq!(field(&schema, "a").union.as_deref(), Some("either"));
    assert_eq!(field(&schema, "b").cardinality, Cardinality::Optional);
    let Element::Record(entry) = field(&schema, "map").element else { panic!() };
    assert_eq!(schema.record(entry).role, Role::MapEntry);
    assert!(schema.record(entry).fields.iter().all(|f| f.cardinality == Cardinality::Required));
    let Element::Record(time) = field(&schema, "time").element else { panic!() };
    assert_eq!(schema.record(time).role, Role::Timestamp);
    let Element::Enum(kind) = field(&schema, "kind").element else { panic!() };
    assert_eq!(schema.enumeration(kind).values.len(), 2);
    let ids: Vec<u32> = schema.root().fields.iter().map(|f| f.id).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 8, 7], "in the order of definition");
}

#[test]
fn comments_are_kept() {
    let text = "syntax = \"proto3\"; package p;
            // A message
            //  of two lines.
            message A {
              // Before.
              int32 x = 1; // Behind.
              B b = 2;
            }
            enum B {
              // Nothing.
              NONE = 0;
            }";
    let schema = read_texts(&[("a.proto", text)], None).unwrap();
    assert_eq!(schema.wording.find_type("p.A").unwrap().comment, "A message\nof two lines.");
    assert_eq!(schema.wording.find_member("p.A", "x").unwrap().comment, "Before.\nBehind.");
    assert_eq!(schema.wording.find_member("p.A", "b").unwrap().comment, "");
    assert_eq!(schema.wording.find_member("p.B", "NONE").unwrap().comment, "Nothing.");
}

#[test]
fn proto2_maps_to_the_model() {
    let text = "syntax = \"proto2\"; message Root {
            required int32 a = 1; optional string b = 2 [default = \"x\"]; repeated Root c = 3; }";
    let schema = read_texts(&[("a.proto", text)], None).unwrap();
    assert_eq!(field(&schema, "a").cardinality, Cardinality::Required);
    assert_eq!(field(&schema, "b").cardinality, Cardinality::Optional);
    assert_eq!(field(&schema, "b").default.as_deref(), Some("x"));
    assert!(schema.is_recursive(schema.root));
}

#[test]
fn unions_have_legal_names_in_the_scope_of_the_fields() {
    let text = "syntax = \"proto3\"; message A { int32 pick_one = 1;
            oneof pickOne { int32 a = 2; int32 b = 3; } oneof pick_one3 { int32 c = 4; } }";
    let schema = read_texts(&[("a.proto", text)], None).unwrap();
    let union = |name| field(&schema, name).union.as_deref();
    assert_eq!([union("a"), union("b")], [Some("pick_one2"), Some("pick_one2")]);
    assert_eq!(union("c"), Some("pick_one3"), "not taken by a second mention of the first");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let read = |text: &str, root| {
        let text = format!("syntax = \"proto2\"; {text}");
        format!("{:#}", read_texts(&[("a.proto", &text)], root).unwrap_err())
    };
    let several = read("message A {} message B {}", None);
    assert!(several.contains("among A, B"), "{several}");
    let missing = read("message A {}", Some("C"));
    assert!(missing.contains("no message C; it has A"), "{missing}");
    let broken = read("message A { int32 }", None);
    assert!(broken.contains("a.proto"), "{broken}");
    assert!(!broken.contains('\n'), "{broken}");
}

#[test]
fn a_files_own_messages_go_before_those_that_it_imports() {
    let files = [
        (
            "a.proto",
            "syntax = \"proto3\"; package own; import \"b.proto\";
                message Used { other.Kind kind = 1; } message Both { Used used = 1; }",
        ),
        (
            "b.proto",
            "syntax = \"proto3\"; package other;
                enum Kind { NONE = 0; } message Used {} message More {}",
        ),
    ];
    let read = |root| read_texts(&files, Some(root));
    assert_eq!(read("Used").unwrap().root().name.original, "own.Used");
    assert_eq!(read("More").unwrap().root().name.original, "other.More");
    let error = read("None").unwrap_err().to_string();
    assert_eq!(error, "a.proto has no message None; it has own.Used, own.Both");
    let error = read("Kind").unwrap_err().to_string();
    assert_eq!(error, "Kind is an enum; a message of a.proto is one of own.Used, own.Both");
    let text = "syntax = \"proto3\"; package p; enum E { X = 0; } service S {}";
    let error = read_texts(&[("e.proto", text)], None).unwrap_err().to_string();
    assert_eq!(error, "e.proto has no message; its enums are p.E; its services are p.S");
}

#[test]
fn all_messages_are_those_that_none_uses_and_what_these_do_not_reach() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.proto");
    let text = "syntax = \"proto3\"; package p;
            message Used { enum K { X = 0; } K k = 1; map<string, Used> more = 2; }
            message A { Used used = 1; message Inner { int32 x = 1; } }
            message B { int32 x = 1; }
            message C1 { C2 c = 1; } message C2 { C1 c = 1; }
            enum Unused { NONE = 0; }";
    std::fs::write(&path, text).unwrap();
    let all = read_all(&path, &[]).unwrap();
    let roots: Vec<&str> = all.schemas.iter().map(|s| &*s.root().name.original).collect();
    assert_eq!(roots, ["p.A", "p.B", "p.A.Inner", "p.C1"]);
    assert_eq!(all.unused, ["p.Unused"]);
}

#[test]
fn numbers_that_are_infinite_or_none_are_read() {
    let defaults = |text: &str| -> Vec<String> {
        let schema = read_texts(&[("a.proto", text)], Some("A")).expect(text);
        let fields = schema.root().fields.iter();
        fields.map(|f| f.default.clone().unwrap_or_default()).collect()
    };
    let fields = |label: &str| {
        let values = ["-inf", "inf", "nan", "-nan", "- inf", "-1.5"];
        let fields = values.iter().enumerate().map(|(at, value)| {
            format!("{label} double f{at} = {} [default = {value}, deprecated = true];", at + 1)
        });
        format!("message A {{ {} }}", fields.collect::<String>())
    };
    // A number that is none has no sign that would count.
    let wanted = ["-inf", "inf", "nan", "nan", "-inf", "-1.5"];
    assert_eq!(defaults(&format!("edition = \"2023\"; {}", fields(""))), wanted);
    assert_eq!(defaults(&format!("syntax = \"proto2\"; {}", fields("optional"))), wanted);
    let options = "import \"google/protobuf/descriptor.proto\";
            extend google.protobuf.MessageOptions { LABEL float limit = 7739973; LABEL O o = 7739974; }
            message O { LABEL float a = 1; }
            message A { option (limit) = VALUE; option (o) = { a: VALUE }; option (o).a = VALUE; \
            LABEL double low = 1; }"
            .replace("option (o) = { a: VALUE }; ", "");
    for value in ["-inf", "inf", "nan", "-nan"] {
        let text = options.replace("VALUE", value);
        defaults(&format!("syntax = \"proto2\"; {}", text.replace("LABEL", "optional")));
        defaults(&format!("edition = \"2023\"; {}", text.replace("LABEL", "")));
    }
}

/// What is a number in one option is the name of a value in another one.
#[test]
fn values_of_enums_may_be_called_as_what_is_no_number() {
    let text = "import \"google/protobuf/descriptor.proto\";
            enum Kind { KIND_UNKNOWN = 0; inf = 1; nan = 2; }
            extend google.protobuf.FieldOptions { LABEL Kind kind = 7739973; LABEL float low = 7739974; }
            extend google.protobuf.MessageOptions { LABEL Kind whole = 7739973; }
            extend google.protobuf.EnumValueOptions { LABEL Kind one = 7739973; }
            enum Other { OTHER = 0 [(one) = inf]; MORE = 1 [(one) = nan, deprecated = true]; }
            message A {
              option (whole) = nan;
              LABEL Kind a = 1 [(kind) = inf];
              LABEL Kind b = 2 [(kind) = nan, (low) = -inf];
              LABEL Kind c = 3 [(low) = inf, (kind) = inf, default = nan, (low) = nan];
              LABEL Kind d = 4 [default = inf, (kind) = KIND_UNKNOWN, (low) = nan, deprecated = true];
              LABEL double e = 5 [(low) = nan, default = -inf];
            }"
    .replace("(low) = nan]", "deprecated = true]");
    for text in [
        format!("syntax = \"proto2\"; {}", text.replace("LABEL", "optional")),
        format!("edition = \"2023\"; {}", text.replace("LABEL", "")),
    ] {
        let schema = read_texts(&[("a.proto", &text)], Some("A")).expect(&text);
        let fields = schema.root().fields.iter();
        let defaults: Vec<&str> =
            fields.map(|f| f.default.as_deref().unwrap_or_default()).collect();
        assert_eq!(defaults, ["", "", "nan", "inf", "-inf"]);
    }
}

#[test]
fn extensions_of_an_edition_may_have_defaults() {
    let text = "edition = \"2023\"; message A { int32 a = 1; extensions 100 to max;
            extend A { int32 inner = 101 [default = 5, features.field_presence = EXPLICIT]; } }
            extend A { int32 more = 100 [default = 41]; double low = 102 [default = -inf]; }
            service S { option deprecated = true; rpc Do(A) returns (A) { option deprecated = true; } }
            enum E { option features.enum_type = CLOSED; X = 1 [deprecated = true]; }";
    let schema = read_texts(&[("a.proto", text)], None).unwrap();
    assert_eq!(schema.root().fields.len(), 1);
}

#[test]
fn names_in_errors_are_all_there() {
    let messages: String = (0..500).map(|at| format!("message Message{at} {{}} ")).collect();
    let text = format!("syntax = \"proto3\"; {messages}");
    let error = read_texts(&[("a.proto", &text)], None).unwrap_err().to_string();
    assert!(error.ends_with("Message498, Message499"), "{error}");
}

#[test]
fn files_import_from_the_folders_above() {
    use std::fs;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("osi");
    fs::create_dir(&inner).unwrap();
    let write = |name: &str, text: &str| fs::write(inner.join(name), text).unwrap();
    write(
        "a.proto",
        "syntax = \"proto2\"; import \"osi/b.proto\"; message A { optional B b = 1; }",
    );
    write("b.proto", "syntax = \"proto2\"; message B { optional int32 x = 1; }");
    let schema = read_file(&inner.join("a.proto"), None, &[]).unwrap();
    assert_eq!(schema.types.len(), 2);
}

#[test]
fn imports_may_be_deep_but_not_endless() {
    let folder = tempfile::tempdir().unwrap();
    let write = |at: usize, import: &str| {
        let text = format!("syntax = \"proto3\"; {import} message M{at} {{ int32 x = 1; }}");
        std::fs::write(folder.path().join(format!("f{at}.proto")), text).unwrap();
    };
    let import = |at: usize| format!("import \"f{at}.proto\";");
    (0..999).for_each(|at| write(at, &import(at + 1)));
    write(999, "");
    let read = || read_file(&folder.path().join("f0.proto"), None, &[]);
    assert_eq!(read().unwrap().root().name.original, "M0");
    write(999, &import(1000));
    write(1000, "");
    let error = format!("{:#}", read().unwrap_err());
    assert!(error.contains("it imports more than 1000 files"), "{error}");
    write(9, &import(3));
    let error = format!("{:#}", read().unwrap_err());
    assert!(error.contains("f3.proto imports itself, directly or through others"), "{error}");
    write(9, &import(5000));
    let error = format!("{:#}", read().unwrap_err());
    assert!(
        error.contains("f9.proto:1:20: import 'f5000.proto' not found; give the folder"),
        "{error}"
    );
}

#[test]
fn descriptor_sets_load() {
    let mut compiler = protox::Compiler::with_file_resolver(Resolver {
        texts: HashMap::from([("a.proto".into(), PROTO3.into())]),
        folders: Vec::new(),
        found: Rc::default(),
    });
    compiler.include_imports(true).open_file("a.proto").unwrap();
    let bytes = compiler.encode_file_descriptor_set();
    let schema = read_descriptors(&bytes, None, "a.fds").unwrap();
    assert_eq!(schema, read_texts(&[("a.proto", PROTO3)], None).unwrap());
    assert!(read_descriptors(b"nonsense", None, "a.fds").is_err());
}

#[test]
fn a_group_is_a_delimited_message() {
    let text = "syntax = \"proto2\"; message Root { optional group One = 1 {
            repeated group Many = 1 { optional Root back = 1; } }
            oneof which { group Two = 2 {} Root plain = 3; } }";
    let schema = read_texts(&[("a.proto", text)], Some("Root")).unwrap();
    let is_delimited = |name| field(&schema, name).wire.delimited;
    assert_eq!(["one", "two", "plain"].map(is_delimited), [true, true, false]);
    let Element::Record(one) = field(&schema, "one").element else { panic!() };
    let many = &schema.record(one).fields[0];
    assert!(many.wire.delimited && matches!(many.cardinality, Cardinality::List { .. }));
}

#[test]
fn the_choices_of_the_wire_are_kept() {
    let text = r#"
            syntax = "proto2";
            message Root {
                optional int32 plain = 1;
                optional sint64 zigzag = 2;
                repeated fixed32 fixed = 3;
                repeated float packed = 4 [packed = true];
                repeated string texts = 5;
            }"#;
    let schema = read_texts(&[("wire.proto", text)], None).unwrap();
    let wire: Vec<ProtobufEncoding> = schema.root().fields.iter().map(|field| field.wire).collect();
    let of = |integer, unpacked| ProtobufEncoding { integer, unpacked, delimited: false };
    assert_eq!(
        wire,
        [
            ProtobufEncoding::default(),
            of(IntegerEncoding::Zigzag, false),
            of(IntegerEncoding::Fixed, true),
            ProtobufEncoding::default(),
            ProtobufEncoding::default(),
        ]
    );
}
