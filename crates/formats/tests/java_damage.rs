//! Damaged bytes in Java: a decoder refuses them or reads something else, and where it wants
//! memory without bound its runner says so by its exit code. It ends in no other way.

mod converse;

use std::path::{Path, PathBuf};

use wiregauge_formats::{build, Codec};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{canonical, generate, Projection, Sizes, Value};

use converse::converse;

/// What the gauge knows want of memory by.
const OUT_OF_MEMORY: i32 = 86;

/// A runner's program, and a message in canonical bytes and as it is on the wire.
struct Subject {
    name: &'static str,
    program: PathBuf,
    message: Vec<u8>,
    wire: Vec<u8>,
}

/// The codecs in Java of these, by one message.
fn subjects(names: &[&str]) -> Vec<Subject> {
    let folder = match std::env::var_os("WIREGAUGE_BUILD") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join("java_damage"),
    };
    let line = "=".repeat(80);
    let definition = format!(
        "float64 height\nstring name\nuint8[] octets\nfloat64[] ranges\nstring[] texts\n\
         uint64 top\nuint64[] tops\nuint32 word\nInner[] inners\n{line}\nMSG: pkg/Inner\nfloat64 x\n"
    );
    let schema = msg::read_text(&definition, "pkg/msg/Scan", Dialect::Ros2, "scan.msg");
    let schema = schema.expect("it reads");
    let sizes = Sizes { list: 3, text: 3, bytes: 3, presence: 1.0, ..Sizes::default() };
    let mut value = generate(&schema, &sizes, 1).expect("sizes name no paths");
    let Value::Record(fields) = &mut value else { panic!("a record") };
    // Of every length in UTF-8.
    fields[1] = Value::String("aé€𝄞".into());
    // More than a number of Java's holds.
    fields[5] = Value::Unsigned(u64::MAX);
    fields[6] = Value::List(vec![Value::Unsigned(u64::MAX); 2]);
    fields[7] = Value::Unsigned(u32::MAX.into());
    let message = canonical::encode(&schema, &value).expect("it fits the schema");
    let codecs: Vec<_> = Codec::all()
        .into_iter()
        .filter(|codec| codec.language.key == "java" && !codec.is_bound)
        .filter(|codec| names.is_empty() || names.contains(&codec.name))
        .collect();
    build::build(&folder, &schema, &Projection::choose(&schema), &codecs, &|_, _, _| Ok(()))
        .expect("the build folder works")
        .into_iter()
        .map(|built| {
            let program = built.program.expect("it compiles");
            let (code, replies) = converse(&program, &[("message", &message)]);
            let said = String::from_utf8_lossy(&replies[0].1);
            let name = built.codec.name;
            assert_eq!((code, replies[0].0.as_str()), (Some(0), "ok"), "{name}: {said}");
            let wire = replies[0].1.clone();
            Subject { name: built.codec.name, program, message: message.clone(), wire }
        })
        .collect()
}

#[test]
fn damaged_bytes_end_no_runner() {
    for Subject { name, program, message, wire } in subjects(&[]) {
        let cut = (0..wire.len()).map(|end| wire[..end].to_vec());
        let flipped = (0..wire.len()).flat_map(|place| {
            [0x01, 0x80, 0xff].map(|bits| {
                let mut damaged = wire.clone();
                damaged[place] ^= bits;
                damaged
            })
        });
        let all: Vec<Vec<u8>> = cut.chain(flipped).collect();
        let (mut done, mut errors, mut unbounded) = (0, 0, 0);
        while done < all.len() {
            let mut requests: Vec<_> = all[done..].iter().map(|w| ("decode", &w[..])).collect();
            requests.push(("decode", &wire));
            let (code, replies) = converse(&program, &requests);
            errors += replies.iter().filter(|(word, _)| word == "error").count();
            done += replies.len();
            if code == Some(OUT_OF_MEMORY) {
                unbounded += 1;
                done += 1;
                continue;
            }
            assert_eq!(code, Some(0), "{name} ends at {:02x?}", all.get(done));
            assert_eq!(replies.last(), Some(&("ok".into(), message.clone())), "{name}");
        }
        println!("{name}: {} damaged, {errors} refused, {unbounded} without bound", all.len());
        assert!(errors > 0, "{name} refuses nothing");
    }
}

/// `java.io` believes the length of an array.
#[test]
fn a_length_without_bound_is_told_by_the_exit_code() {
    let subject = subjects(&["java-serialization"]).remove(0);
    let mut wire = subject.wire;
    // What a class's description ends with, before so many numbers.
    let class = wire.windows(5).position(|word| word == b"\x72\x00\x02[D").expect("a double[]");
    let length = (class..wire.len() - 6)
        .find(|at| wire[*at..][..6] == [0x78, 0x70, 0, 0, 0, 3])
        .expect("three numbers");
    wire[length + 2..][..4].copy_from_slice(&i32::MAX.to_be_bytes());
    let (code, replies) = converse(&subject.program, &[("decode", &wire)]);
    assert_eq!((code, replies.len()), (Some(OUT_OF_MEMORY), 0));
}

/// Libraries make room for as many records as a list's count says, and for a text of that length,
/// unless somebody holds it against the bytes.
#[test]
fn a_count_beyond_the_bytes_is_refused() {
    for Subject { name, program, message, wire } in
        subjects(&["avro-java", "thrift-java", "thrift-java-compact"])
    {
        let behind = |known: &[u8]| {
            let place = wire.windows(known.len()).rposition(|word| word == known);
            place.expect("it is there") + known.len()
        };
        // Where the three begins that becomes what a heap has no room for, and ends.
        let cases: &[(usize, usize, &[u8])] = match name {
            // Behind it stand three numbers and the list's end.
            "avro-java" => &[(wire.len() - 26, wire.len() - 25, b"\x80\x80\x80\x80\x08")],
            "thrift-java" => {
                let (list, text) = (behind(b"\x0c\0\0\0\x03"), behind(b"\x0b\0\x02\0\0\0\x0a"));
                &[(list - 4, list, b"\x40\0\0\0"), (text - 4, text, b"\x7f\xff\xff\xf0")]
            }
            _ => {
                // The number behind the count is the first of a structure.
                let list = behind(b"\x3c\x17") - 1;
                &[(list - 1, list, b"\xfc\x80\x80\x80\x80\x04")]
            }
        };
        for (begin, end, large) in cases {
            let damaged = [&wire[..*begin], large, &wire[*end..]].concat();
            let (code, replies) = converse(&program, &[("decode", &damaged), ("decode", &wire)]);
            assert_eq!(code, Some(0), "{name}");
            assert_eq!(replies[0].0, "error", "{name}");
            assert_eq!(replies[1], ("ok".into(), message.clone()), "{name}");
        }
    }
}

/// Arrays in arrays, each read by a call in the one before.
#[test]
fn too_deep_a_message_is_refused_and_the_next_one_read() {
    let subject = subjects(&["java-serialization"]).remove(0);
    let mut deep = b"\xac\xed\x00\x05\x75\x72\x00\x13[Ljava.lang.Object;".to_vec();
    deep.extend(b"\x90\xce\x58\x9f\x10\x73\x29\x6c\x02\x00\x00\x78\x70\x00\x00\x00\x01");
    for _ in 0..200_000 {
        deep.extend(b"\x75\x71\x00\x7e\x00\x00\x00\x00\x00\x01");
    }
    deep.push(0x70);
    let requests = [("decode", &deep[..]), ("decode", &subject.wire[..])];
    let (code, replies) = converse(&subject.program, &requests);
    assert_eq!(code, Some(0));
    let said = String::from_utf8_lossy(&replies[0].1).into_owned();
    assert!(replies[0].0 == "error" && said.contains("StackOverflowError"), "{said}");
    assert_eq!(replies[1], ("ok".into(), subject.message));
}
