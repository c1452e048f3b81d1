//! What codecs add to a program: held against `size`, and against a program whose sections,
//! stack and heap are known by hand.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use support::{build_folder, fact, has_its_form, project, refuses, result, run, status};
use wiregauge_build_tools::Toolchain;
use wiregauge_footprint::{Sections, SharedLibraries};

/// A message that no other test builds programs of.
const MESSAGE: &str = "uint32 id\nstring<=32 name\nfloat32[<=1000] values\n";

/// What `size` says of a file: code and what is only read, data, and zeros.
fn size(program: &Path) -> [u64; 3] {
    let output = Command::new("size").arg(program).output().expect("size is of binutils");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text.lines().nth(1).unwrap_or_else(|| panic!("{}", program.display()));
    let numbers: Vec<u64> = row.split_whitespace().flat_map(str::parse).collect();
    [numbers[0], numbers[1], numbers[2]]
}

fn as_size(sections: Sections) -> [u64; 3] {
    [sections.text + sections.read_only, sections.data, sections.zeros]
}

/// The folder with the programs of a row.
fn programs(row: &str) -> PathBuf {
    let messages = fs::read_dir(build_folder().join("messages")).unwrap().flatten();
    let is_own = |folder: &PathBuf| {
        let schema = fs::read_to_string(folder.join("schema.json")).unwrap_or_default();
        schema.contains("\"FootprintProbe\"")
    };
    let message = messages.map(|entry| entry.path()).find(is_own).expect("it was built");
    message.join("bin").join(format!("{row}.footprint"))
}

#[test]
fn what_codecs_add_is_measured_and_required() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("FootprintProbe.msg"), MESSAGE).unwrap();
    let words = [
        "codecs",
        "--footprint",
        "--message",
        "FootprintProbe.msg",
        "--length",
        "values=1000",
        "--codecs",
        "prost,lcm,fastcdr,generated-cdr-no-alloc-rust,java-serialization",
    ];
    let said = run(folder.path(), &words);
    said.expect_code(0);
    for heading in ["added to a program", "code of one direction", "stack and heap"] {
        assert!(said.out.contains(heading), "{heading}: {}", said.out);
    }
    let run_file = result(folder.path());
    has_its_form(&run_file);
    assert_eq!(run_file["measurements"].as_array().unwrap().len(), 0);
    let case = run_file["cases"][0]["id"].as_str().unwrap();
    let of = |row: &str, metric: &str| {
        fact(&run_file, case, row, metric).unwrap_or_else(|| panic!("{row}: {metric}"))
    };

    for row in ["prost", "lcm", "fastcdr"] {
        assert!(status(&run_file, row).contains("measured"), "{}", status(&run_file, row));
        for level in ["text", "text-Os"] {
            let [encode, decode, both] =
                ["encode", "decode", "both"].map(|part| of(row, &format!("{level}/{part}")));
            assert!(encode > 100.0 && decode > 100.0, "{row}: {encode}, {decode}");
            assert!(both >= encode.max(decode), "{row}: {encode}, {decode}, {both}");
            // Together they may be inlined otherwise: 9 % more than the sum was seen for prost.
            assert!(both <= (encode + decode) * 1.25, "{row}: {encode}, {decode}, {both}");
        }
        for part in ["encode", "decode"] {
            let stack = of(row, &format!("stack/{part}"));
            assert!(stack > of("noop", "stack/encode") && stack < 1e6, "{row}: {stack}");
        }
        // The decoded message alone has a thousand numbers.
        assert!(of(row, "heap-peak/decode") >= 4000.0);
    }
    assert!(of("noop", "text/both") < 2000.0 && of("noop-cpp", "text/both") < 4000.0);
    assert_eq!(of("noop", "first-allocations/encode"), 0.0);
    // Copying the message into a new one takes its bytes once.
    let canonical = run_file["cases"][0]["canonical_bytes"].as_f64().unwrap();
    let copied = of("memcpy", "heap-peak/decode");
    assert!(copied >= canonical && copied < canonical * 1.6 + 64.0, "{copied} of {canonical}");
    // Neither way asks for memory: message and buffer are the caller's.
    let no_alloc = "generated-cdr-no-alloc-rust";
    for part in ["encode", "decode"] {
        for metric in ["heap-peak", "first-allocations"] {
            assert_eq!(of(no_alloc, &format!("{metric}/{part}")), 0.0, "{metric}/{part}");
        }
    }
    assert!(of(no_alloc, "text/both") < 4000.0, "{}", of(no_alloc, "text/both"));
    assert!(status(&run_file, "java-serialization").contains("is not measured"));

    the_sections_are_those_of_size(&of);
    a_library_without_an_archive_counts_as_a_whole(&run_file, &of);
    what_is_required_is_judged(folder.path(), of("lcm", "text/both"));
}

/// Each program less the one without a codec.
fn the_sections_are_those_of_size(of: &dyn Fn(&str, &str) -> f64) {
    for (row, base) in [("prost", "without-codec"), ("lcm", "without-codec-cpp")] {
        for (level, suffix) in [("O2", ""), ("Os", "-Os")] {
            let without = size(&programs(base).join(format!("nothing-{level}")));
            for part in ["encode", "decode", "both"] {
                let own = size(&programs(row).join(format!("{part}-{level}")));
                let named = |name: &str| of(row, &format!("{name}{suffix}/{part}"));
                let text = named("text") + named("rodata");
                assert_eq!(text, (own[0] - without[0]) as f64, "{row}: {part}-{level}");
                for (at, name) in [(1, "data"), (2, "bss")] {
                    let more = own[at].saturating_sub(without[at]) as f64;
                    assert_eq!(named(name), more, "{row}: {name} of {part}-{level}");
                }
            }
        }
    }
}

fn a_library_without_an_archive_counts_as_a_whole(run: &Value, of: &dyn Fn(&str, &str) -> f64) {
    let both = programs("fastcdr").join("both-O2");
    let libraries = SharedLibraries::find(&both, &Toolchain::System).unwrap();
    let own = libraries.0.iter().find(|library| library.name.starts_with("libfastcdr"));
    let own = own.expect("Debian has no archive of it").sections;
    assert!(of("fastcdr", "text/both") > own.text as f64);
    assert_eq!(of("fastcdr", "libraries/text"), libraries.beyond_language().text as f64);
    assert!(libraries.0.iter().any(|library| library.name == "libc.so.6"), "{libraries:?}");
    let subjects = run["subjects"].as_array().unwrap();
    let built = |id: &str| {
        let subject = subjects.iter().find(|subject| subject["id"] == id).unwrap();
        subject["built"].as_str().unwrap().to_owned()
    };
    assert!(built("fastcdr").contains("libfastcdr.so"), "{}", built("fastcdr"));
    assert!(built("lcm").contains("linked statically"), "{}", built("lcm"));
}

fn what_is_required_is_judged(folder: &Path, text: f64) {
    for (limit, wanted) in [(text + 1.0, 0), (text, 1)] {
        let required = format!("text/both of lcm < {} kB", limit / 1000.0);
        let said = run(folder, &["verify", "run.json", "--require", &required]);
        assert_eq!(said.code, Some(wanted), "{required}: {}{}", said.out, said.err);
    }
    let said = run(folder, &["report", "run.json", "--format", "md"]);
    assert!(said.out.contains("| stack and heap"), "{}", said.out);
}

#[test]
fn what_has_no_effect_is_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for option in [&["--quick"][..], &["--metric", "time"], &["--runner", "a=b"]] {
        let words = [&["codecs", "--footprint"][..], option].concat();
        let said = run(folder.path(), &words);
        said.expect_code(2);
        assert!(said.err.contains("cannot be used with"), "{}", said.err);
    }
    refuses(
        folder.path(),
        &["codecs", "--footprint", "--codecs", "nothing"],
        &["unknown codec 'nothing'"],
    );
}

/// A program in C that takes 3 times 10,000 bytes of stack and something more, 5,000 bytes of
/// heap in two blocks and 700 in a third, has 6,000 bytes that are read only, 7,000 of data
/// and 8,000 of zeros, as long as these are not left out.
const KNOWN: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct block { const uint8_t *data; size_t size; };
struct cost { uint64_t stack, heap_peak, allocations; };
void wiregauge_input(struct block out[2]);
void wiregauge_measure(void (*call)(void *), void *context, struct cost *out);
void wiregauge_output(const struct cost costs[2], const struct block blocks[2]);
_Noreturn void wiregauge_refuse(const char *text, size_t size, int status);

#ifdef FILLED
const uint8_t constants[6000] = {1};
uint8_t values[7000] = {1};
uint8_t zeros[8000];
#endif

__attribute__((noinline)) static int descend(volatile int *depth) {
  volatile uint8_t frame[10000];
  for (size_t i = 0; i < sizeof frame; ++i) frame[i] = (uint8_t)i;
  if (--*depth > 0) return descend(depth) + frame[*depth];
  return frame[1];
}

static void call(void *context) {
  void *volatile block = malloc(2000);
  block = realloc(block, 5000);
  free(block);
  block = malloc(700);
  free(block);
  volatile int depth = 3;
  *(int *)context = descend(&depth);
}

int main(void) {
  struct block blocks[2];
  struct cost costs[2] = {{0}};
  int result = 0;
  wiregauge_input(blocks);
  if (blocks[0].size == 1) wiregauge_refuse("the message is too short", 24, 1);
  wiregauge_measure(call, &result, &costs[0]);
#ifdef FILLED
  values[result & 7] += constants[result & 1023] + zeros[result & 1023];
  zeros[result & 63] = values[result & 511];
  ((volatile uint8_t *)zeros)[result & 31] += ((const volatile uint8_t *)constants)[result & 15];
#endif
  wiregauge_output(costs, blocks);
  return 0;
}
"#;

/// Links the known program; `filled` is with its constants, values and zeros.
fn link_known_program(folder: &Path, filled: bool) -> PathBuf {
    let source = folder.join("known.c");
    fs::write(&source, KNOWN).unwrap();
    let program = folder.join(if filled { "filled" } else { "plain" });
    let fixed = project().join("runners/footprint");
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-O1", "-fno-builtin", "-static", "-no-pie", "-fno-pie"]);
    command.args(filled.then_some("-DFILLED")).arg(&source);
    command.args(["counter.c", "measure.c"].map(|name| fixed.join(name)));
    for name in ["malloc", "calloc", "realloc", "free", "memalign", "posix_memalign"] {
        command.arg(format!("-Wl,--wrap={name}"));
    }
    for name in ["aligned_alloc", "valloc", "pvalloc"] {
        command.arg(format!("-Wl,--wrap={name}"));
    }
    assert!(command.arg("-o").arg(&program).status().unwrap().success());
    program
}

#[test]
fn a_program_whose_figures_are_known_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let plain = link_known_program(folder.path(), false);
    let patience = Duration::from_secs(20);
    let outcome =
        wiregauge_footprint::run(Command::new(&plain), b"message", b"wire", patience).unwrap();
    // Frames, return addresses and what is saved besides.
    assert!((30_000..30_600).contains(&outcome.encode.stack), "{outcome:?}");
    // The block that grows counts once, rounded up.
    assert!((5000..=5032).contains(&outcome.encode.heap_peak), "{outcome:?}");
    assert_eq!(outcome.encode.allocations, 3);
    assert_eq!((&*outcome.encoded, &*outcome.canonical), (&b"message"[..], &b"wire"[..]));
    let failed =
        wiregauge_footprint::run(Command::new(&plain), b"m", b"wire", patience).unwrap_err();
    assert!(failed.to_string().contains("the message is too short"), "{failed}");

    let filled = link_known_program(folder.path(), true);
    let (without, with) = (Sections::read(&plain).unwrap(), Sections::read(&filled).unwrap());
    let added = with.beyond(&without);
    assert!((6000..6100).contains(&added.read_only), "{added:?}");
    assert!((7000..7100).contains(&added.data), "{added:?}");
    assert!((8000..8100).contains(&added.zeros), "{added:?}");
    assert!((20..500).contains(&added.text), "{added:?}");
    for program in [&plain, &filled] {
        assert_eq!(as_size(Sections::read(program).unwrap()), size(program));
    }
    assert!(SharedLibraries::find(&plain, &Toolchain::System).unwrap().0.is_empty());
}
